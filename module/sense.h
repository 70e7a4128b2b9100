/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module couples all subflows of a connection. To couple only those that share a bottleneck
 * (`+sbd`) takes a process beside the controller, and that works with programs of BPF alone.
 */
#ifndef AB_SENSE_H
#define AB_SENSE_H

#include "counters.h"
#include "siblings.h"

/* Not called: `ab_settings.sbd` is zero in a module. */
static inline void ab_feel(struct sock *sk, struct ab_path *p, const struct rate_sample *rs)
{
}

#endif
