/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the callbacks of shell.h become programs, and a congestion control by struct_ops. A kernel
 * module has `module/attach.h` in its place.
 */
#ifndef AB_ATTACH_H
#define AB_ATTACH_H

#include "sense.h"

#include <bpf/bpf_tracing.h>

#include "include/window.h"

/* Replays a step from its views; for tests, by the kernel's test run of a program. */
static inline int ab_replayed(struct ab_step *step)
{
	struct ab_window w = { .credit = step->before_credit, .cwnd = step->before_cwnd };
	struct ab_views v;

	/* an assignment would need stack for a second copy */
	if (bpf_probe_read_kernel(&v, sizeof(v), &step->views))
		return 1;
	step->growth = ab_growth(&v);
	step->backoff = ab_backoff(&v);
	ab_grow(&w, step->growth, step->acked);
	step->after_credit = w.credit;
	step->after_cwnd = w.cwnd;
	return 0;
}

#define AB_CALLBACK(type, name, ...) SEC("struct_ops") type BPF_PROG(name, ##__VA_ARGS__)

#define AB_REGISTER(name_)							\
	SEC(".struct_ops.link")							\
	struct tcp_congestion_ops ab_controller = {				\
		.init = (void *)ab_on_init,					\
		.cong_control = (void *)ab_on_ack,				\
		.ssthresh = (void *)ab_on_ssthresh,				\
		.set_state = (void *)ab_on_set_state,				\
		.undo_cwnd = (void *)ab_on_undo_cwnd,				\
		.cwnd_event = (void *)ab_on_event,				\
		.cwnd_event_tx_start = (void *)ab_on_tx_start,			\
		.flags = TCP_CONG_NON_RESTRICTED,				\
		.name = name_,							\
	};									\
	SEC("iter/bpf_sk_storage_map")						\
	int ab_exchange(struct bpf_iter__bpf_sk_storage_map *ctx)		\
	{									\
		return ab_exchanged(ctx);					\
	}									\
	SEC("syscall")								\
	int ab_replay(struct ab_step *step)					\
	{									\
		return ab_replayed(step);					\
	}									\
	char _license[] SEC("license") = "GPL"

#endif
