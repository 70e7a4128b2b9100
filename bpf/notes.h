/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a law remembers of a path beside the segments between losses. The functions of the law
 * take memory of their own: the verifier lets no socket's be handed on.
 */
#ifndef AB_LAW_NOTES_H
#define AB_LAW_NOTES_H

#include "common.h"

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

static inline void ab_recall_notes(struct ab_path *p, struct ab_notes *n)
{
#pragma unroll
	for (int i = 0; i < AB_NOTES; i++)
		n->note[i] = p->note[i];
}

/* What an event at window `cwnd` has of a path. */
static inline struct ab_news ab_news_of(struct tcp_sock *tp, struct ab_path *p, u32 cwnd)
{
	struct ab_news e = {
		.since_loss = p->since_loss,
		.between_losses = p->between_losses,
		.cwnd = cwnd,
		.now = (u32)tp->tcp_mstamp,
	};

	return e;
}

/* Updates the notes of a path for an ACK. */
static __attribute__((noinline)) void ab_news(struct tcp_sock *tp, struct ab_path *p, u32 acked,
					      const struct rate_sample *rs)
{
	struct ab_news e = ab_news_of(tp, p, tp->snd_cwnd);
	struct ab_notes n = {};

	ab_recall_notes(p, &n);
	e.acked = acked;
	e.rtt = rs->rtt_us > 0 ? rs->rtt_us : tp->rack.rtt_us;
	e.srtt = tp->srtt_us >> 3;
	e.slow = !ab_reducing(p->state) && tp->snd_cwnd < tp->snd_ssthresh;
	ab_note_ack(&n, &e);
	ab_keep_notes(p, &n);
}

/* Updates them for a congestion event at window `cwnd`. */
static __attribute__((noinline)) void ab_news_of_loss(struct tcp_sock *tp, struct ab_path *p,
						      u32 cwnd)
{
	struct ab_news e = ab_news_of(tp, p, cwnd);
	struct ab_notes n = {};

	ab_recall_notes(p, &n);
	ab_note_loss(&n, &e);
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

static inline void ab_news_of_loss(struct tcp_sock *tp, struct ab_path *p, u32 cwnd)
{
}

#endif

#if AB_NOTES_GROW

/* Puts notes into the view of `me`. Global, for then the verifier takes the views as written: see
 * ab_visit. */
AB_FUNCTION int ab_see_notes(struct ab_views *v, const struct ab_notes *n)
{
	if (!v || !n)
		return 0;
#pragma unroll
	for (int i = 0; i < AB_NOTES; i++)
		v->path[v->me & (AB_PATHS - 1)].note[i] = n->note[i];
	return 0;
}

/* Updates the notes of a path for an ACK in congestion avoidance, and what the law sees of them. */
static __attribute__((noinline)) void ab_news_of_growth(struct tcp_sock *tp, struct ab_path *p,
							struct ab_views *v, u32 acked)
{
	struct ab_news e = ab_news_of(tp, p, tp->snd_cwnd);
	struct ab_notes n = {};

	ab_recall_notes(p, &n);
	e.acked = acked;
	e.srtt = tp->srtt_us >> 3;
	ab_note_growth(&n, &e, v);
	ab_keep_notes(p, &n);
	ab_see_notes(v, &n);
}

#else

static inline void ab_news_of_growth(struct tcp_sock *tp, struct ab_path *p, struct ab_views *v,
				     u32 acked)
{
}

#endif

#endif
