/* SPDX-License-Identifier: GPL-2.0-only */
/* The buffer of recorded steps. A kernel module has `module/records.h` in its place. */
#ifndef AB_RECORDS_H
#define AB_RECORDS_H

#include "access.h"

#include "include/intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ab_records SEC(".maps");

/* Room for a step, or null. Macros: the verifier wants the size as a constant. */
#define ab_record_begin() bpf_ringbuf_reserve(&ab_records, sizeof(struct ab_step), 0)
#define ab_record_end(step) bpf_ringbuf_submit(step, BPF_RB_NO_WAKEUP)

#endif
