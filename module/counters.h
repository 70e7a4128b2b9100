/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings of a controller, which are parameters of its module, and its counters. */
#ifndef AB_COUNTERS_H
#define AB_COUNTERS_H

#include "kernel.h"

#include <linux/percpu.h>

#include "include/intf.h"

/* What only tests of programs of BPF set stays zero: faults, skipped callbacks, `+sbd`. */
static struct ab_settings ab_settings __ro_after_init;

module_param_named(min_ssthresh, ab_settings.min_ssthresh, uint, 0444);
MODULE_PARM_DESC(min_ssthresh, "smallest threshold of coupled subflows in segments; 0: the law's");
module_param_named(record, ab_settings.record, uint, 0444);
MODULE_PARM_DESC(record, "1: keep the steps of the law in debugfs, in the file steps");

static DEFINE_PER_CPU(struct ab_counters, ab_counts);

#define ab_count(name, n) this_cpu_add(ab_counts.name, n)

/* The kernel makes each callback of a module. */
static inline bool ab_skip(void)
{
	return false;
}

#endif
