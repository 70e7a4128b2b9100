/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a law remembers of a path beside the segments between losses. The functions of the law
 * take memory of their own: the verifier lets no socket's be handed on.
 */
#ifndef AB_LAW_NOTES_H
#define AB_LAW_NOTES_H

#include "kernel.h"

#include "include/intf.h"

#if AB_NOTES

static inline void ab_keep_notes(struct ab_path *p, const struct ab_notes *n)
{
#pragma unroll
	for (int i = 0; i < AB_NOTES; i++)
		p->note[i] = n->note[i];
}

static inline void ab_begin_notes(struct ab_path *p)
{
	struct ab_notes n = {};

	ab_first_notes(&n);
	ab_keep_notes(p, &n);
}

/* Updates the notes of a path for an event; without `rs` it is a congestion event. */
static __attribute__((noinline)) void ab_news(struct tcp_sock *tp, struct ab_path *p, u32 acked,
					      const struct rate_sample *rs)
{
	struct ab_news e = { .since_loss = p->since_loss, .between_losses = p->between_losses };
	struct ab_notes n = {};

#pragma unroll
	for (int i = 0; i < AB_NOTES; i++)
		n.note[i] = p->note[i];
	if (rs) {
		e.acked = acked;
		e.rtt = rs->rtt_us > 0 ? rs->rtt_us : tp->rack.rtt_us;
		e.srtt = tp->srtt_us >> 3;
		ab_note_ack(&n, &e);
	} else {
		ab_note_loss(&n, &e);
	}
	ab_keep_notes(p, &n);
}

#else

static inline void ab_begin_notes(struct ab_path *p)
{
}

static inline void ab_news(struct tcp_sock *tp, struct ab_path *p, u32 acked,
			   const struct rate_sample *rs)
{
}

#endif

#endif
