/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callbacks that the kernel did not make.
 *
 * A callback may be missed: docs/explanation/linux.md says when. One that returns a value then
 * returns whatever its caller found. So each callback leaves a mirror of the socket in
 * icsk_ca_priv, and the next one compares, and repairs before it does anything else. The shell sets
 * windows in cong_control alone, and a missed cong_control moves nothing. Two values that a missed
 * callback returned are still taken by the kernel: a threshold, on which no window depends before
 * the next callback, and the window of an undo, which stands until then.
 */
#ifndef AB_GUARD_H
#define AB_GUARD_H

#include "event.h"
#include "notes.h"

static inline u8 ab_state(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD_PROBED(&tp->inet_conn, icsk_ca_state);
}

static inline void ab_begin(struct tcp_sock *tp, struct ab_path *p)
{
	__builtin_memset(p, 0, sizeof(*p));
	p->magic = AB_MAGIC;
	p->connection = ab_connection(tp);
	p->cwnd = tp->snd_cwnd;
	p->ssthresh = tp->snd_ssthresh;
	p->state = ab_state(tp);
	p->paths = 1;
	ab_begin_notes(p);
}

static inline void ab_repaired(struct ab_path *p)
{
	p->repairs++;
	ab_count(repairs, 1);
}

/* The threshold on entering `state`: if ssthresh() was missed, it is computed now. */
static inline void ab_guard_threshold(struct tcp_sock *tp, struct ab_path *p, u8 state)
{
	u32 ssthresh = tp->snd_ssthresh;

	if (state == TCP_CA_LOSS && !tp->undo_marker && ssthresh < AB_PLAUSIBLE) {
		p->ssthresh = ssthresh; /* tcp_simple_retransmit: a loss without congestion */
	} else if (state >= TCP_CA_CWR && p->state < TCP_CA_CWR && !p->pending) {
		tp->snd_ssthresh = ab_event(tp, p, p->cwnd);
		ab_repaired(p);
	} else if (!p->ssthresh && (ssthresh < AB_PLAUSIBLE || ssthresh == TCP_INFINITE_SSTHRESH)) {
		p->ssthresh = ssthresh;
	} else if (state >= TCP_CA_CWR
			   ? ssthresh != p->ssthresh
			   : ssthresh >= AB_PLAUSIBLE && ssthresh != TCP_INFINITE_SSTHRESH) {
		tp->snd_ssthresh = p->ssthresh && p->ssthresh < AB_PLAUSIBLE
					   ? p->ssthresh
					   : ab_max(p->cwnd / 2, 2);
		p->ssthresh = tp->snd_ssthresh;
		ab_repaired(p);
	}
}

/* The window: between callbacks it only falls, because only callbacks raise it; but a timeout
 * may leave one segment more than is in flight. */
static inline void ab_guard_window(struct tcp_sock *tp, struct ab_path *p)
{
	if (!p->running || tp->snd_cwnd <= p->cwnd + 1)
		return;
	tp->snd_cwnd = ab_max(p->cwnd, 1);
	ab_repaired(p);
}

/* Rate reduction ends at the threshold, unless the reduction was undone (tcp_end_cwnd_reduction,
 * which leaves it to a controller that has cong_control). */
static inline void ab_end_reduction(struct tcp_sock *tp, struct ab_path *p, u8 state)
{
	if (!ab_reducing(p->state) || state >= TCP_CA_CWR)
		return;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH && (p->state == TCP_CA_CWR || tp->undo_marker))
		tp->snd_cwnd = ab_max(tp->snd_ssthresh, 1);
}

/* Segments in flight, like tcp_packets_in_flight. */
static inline s32 ab_pipe(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Recovery begins with one segment more than is in flight. After an ACK cong_control goes on
 * from there at once. After RACK's timer, which may find rate reduction or a timeout's recovery
 * under way, the kernel makes no callback (tcp_rack_reo_timeout). */
static inline void ab_begin_recovery(struct tcp_sock *tp, struct ab_path *p, u8 state)
{
	s32 pipe = ab_pipe(tp);

	if (state == TCP_CA_RECOVERY && p->state != TCP_CA_RECOVERY)
		tp->snd_cwnd = pipe > 0 ? pipe + 1 : 1;
}

/* Updates the mirror to `state`, after the kernel's changes since the last callback. */
static __attribute__((noinline)) void ab_follow(struct tcp_sock *tp, struct ab_path *p, u8 state)
{
	ab_guard_threshold(tp, p, state);
	ab_guard_window(tp, p);
	ab_end_reduction(tp, p, state);
	ab_begin_recovery(tp, p, state);
	if (state != p->state)
		p->pending = 0;
	p->state = state;
	p->cwnd = tp->snd_cwnd;
}

/* The beginning of every callback. */
static inline struct ab_path *ab_enter(struct tcp_sock *tp)
{
	struct ab_path *p = ab_path(tp);
	u8 state = ab_state(tp);

	if (p->magic != AB_MAGIC)
		ab_begin(tp, p); /* init() was missed */
	if (state != p->state)
		ab_count(mismatches, 1);
	ab_follow(tp, p, state);
	return p;
}

#endif
