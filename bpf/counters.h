/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings of a controller, and its counters. */
#ifndef AB_COUNTERS_H
#define AB_COUNTERS_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "include/intf.h"

/* Set before loading. */
const volatile struct ab_settings ab_settings = {};

/* One for each processor, so that processors do not share a cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ab_counters);
} ab_counts SEC(".maps");

/* Atomic, because a softirq may interrupt it. */
#define ab_count(name, n)                                                \
	do {                                                             \
		u32 only = 0;                                            \
		struct ab_counters *c = bpf_map_lookup_elem(&ab_counts, &only); \
		if (c)                                                   \
			__sync_fetch_and_add(&c->name, n);               \
	} while (0)

static inline bool ab_skip(void)
{
	if (!ab_settings.skips || bpf_get_prandom_u32() >= ab_settings.skips)
		return false;
	ab_count(skipped, 1);
	return true;
}

#endif
