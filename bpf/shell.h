/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller around a law: what the kernel's Reno does in slow start, recovery and undo, and the
 * law in congestion avoidance as soon as a connection has two usable paths. A glue file says
 *
 *     #include "include/lia.h"
 *     AB_CONTROLLER("ab_lia")
 *
 * and has no arithmetic of its own.
 *
 * A callback may be missed (docs/explanation/linux.md says when), and one that returns a value then
 * returns whatever the caller found. So every callback first compares the socket with what the last
 * one left, and repairs it before the window can run away.
 */
#ifndef AB_SHELL_H
#define AB_SHELL_H

#include "siblings.h"

#include <bpf/bpf_tracing.h>

#include "include/window.h"

/* Set before loading; crates/kernel/src/settings.rs has the same. */
const volatile struct ab_settings {
	u32 min_ssthresh; /* of coupled paths, in segments; a path alone has 2 */
	u32 skips; /* callbacks to ignore, of 2^32: only to test the repairs */
	u32 record; /* whether to keep what the law saw and said */
} ab_settings = { .min_ssthresh = 1 };

/* Over all sockets, since loading; crates/kernel/src/counters.rs has the same. */
struct ab_counters {
	u64 acks; /* calls in congestion avoidance */
	u64 coupled; /* of which the law decided */
	u64 losses; /* congestion events */
	u64 missed; /* ACKs that passed without a callback */
	u64 mismatches; /* states that changed without one */
	u64 repairs; /* windows and thresholds set right */
	u64 skipped; /* callbacks ignored on purpose */
	u64 crowded; /* ACKs of connections with more paths than AB_PATHS: plain Reno */
	u64 unrecorded; /* records for which there was no room */
} ab_counters;

#define ab_count(name, n) __sync_fetch_and_add(&ab_counters.name, n)

/* One step of a window under the law: what it saw and what it said. Recorded by an attached controller,
 * and replayed by `ab_replay`, by the same C built natively and by the readable law: crates/ports. */
struct ab_step {
	struct ab_views views;
	u32 acked;
	u32 before_cwnd, after_cwnd;
	u32 unused;
	s64 before_credit, after_credit;
	s64 growth;
	s64 backoff; /* of a replay only */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ab_records SEC(".maps");

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* Above this a threshold is no threshold but what a missed callback left, unless it is infinite. */
#define AB_PLAUSIBLE (1U << 24)

static inline bool ab_skip(void)
{
	if (!ab_settings.skips || bpf_get_prandom_u32() >= ab_settings.skips)
		return false;
	ab_count(skipped, 1);
	return true;
}

static inline u32 ab_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

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
}

/* The threshold after a congestion event at window `cwnd`, and the law's memory of it. */
static inline u32 ab_event(struct tcp_sock *tp, struct ab_path *p, u32 cwnd)
{
	struct ab_views v = {};
	u32 ssthresh = ab_max(cwnd / 2, 2);

	if (AB_COUPLED && ab_gather(tp, &v) > 1) {
		v.path[v.me & (AB_PATHS - 1)].cwnd = cwnd;
		s64 after = ab_backoff(&v);
		ssthresh = after > (s64)ab_settings.min_ssthresh ? (u32)after : ab_settings.min_ssthresh;
	}
	if (p->since_loss) {
		p->between_losses = p->since_loss;
		p->since_loss = 0;
	}
	p->credit = 0; /* as snd_cwnd_cnt of the kernel's Reno */
	p->ssthresh = ssthresh;
	p->losses++;
	ab_count(losses, 1);
	return ssthresh;
}

static inline void ab_repaired(struct ab_path *p)
{
	p->repairs++;
	ab_count(repairs, 1);
}

/* Sets right what a missed ssthresh(), set_state() or undo_cwnd() has left, before entering `state`. */
static __attribute__((noinline)) void ab_guard(struct tcp_sock *tp, struct ab_path *p, u8 state)
{
	bool reducing = state >= TCP_CA_CWR;
	u32 ssthresh = tp->snd_ssthresh, bound;

	if (reducing && p->state < TCP_CA_CWR && !p->pending) {
		tp->snd_ssthresh = ab_event(tp, p, p->cwnd); /* ssthresh() was missed */
		ab_repaired(p);
	} else if (reducing ? ssthresh != p->ssthresh
			    : ssthresh >= AB_PLAUSIBLE && ssthresh != TCP_INFINITE_SSTHRESH) {
		tp->snd_ssthresh = p->ssthresh < AB_PLAUSIBLE ? p->ssthresh : ab_max(p->cwnd / 2, 2);
		ab_repaired(p);
	}
	if (reducing || p->state >= TCP_CA_CWR)
		p->delivered = 0;
	/* Between callbacks a window only falls, or goes back to the threshold when recovery ends; rate
	 * reduction may exceed both by a few segments. */
	bound = p->cwnd;
	if ((reducing || p->state >= TCP_CA_CWR) && tp->snd_ssthresh < AB_PLAUSIBLE)
		bound = ab_max(bound, tp->snd_ssthresh) + 10;
	if (p->running && tp->snd_cwnd > bound) {
		tp->snd_cwnd = ab_max(p->cwnd, 1);
		ab_repaired(p);
	}
}

/* What every callback begins with. */
static inline struct ab_path *ab_enter(struct tcp_sock *tp)
{
	struct ab_path *p = ab_path(tp);
	u8 state = ab_state(tp);

	if (p->magic != AB_MAGIC)
		ab_begin(tp, p); /* init() was missed */
	if (state != p->state)
		ab_count(mismatches, 1);
	ab_guard(tp, p, state);
	p->state = state;
	return p;
}

static inline bool ab_cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD_PROBED(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static inline void ab_keep(struct ab_views *v, struct ab_window *before, struct ab_window *after,
			   u32 acked, s64 growth)
{
	struct ab_step *r = bpf_ringbuf_reserve(&ab_records, sizeof(*r), 0);

	if (!r) {
		ab_count(unrecorded, 1);
		return;
	}
	r->views = *v;
	r->acked = acked;
	r->before_cwnd = before->cwnd;
	r->after_cwnd = after->cwnd;
	r->unused = 0;
	r->before_credit = before->credit;
	r->after_credit = after->credit;
	r->growth = growth;
	r->backoff = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Congestion avoidance under the law. */
static __attribute__((noinline)) void ab_avoid(struct tcp_sock *tp, struct ab_path *p, struct ab_views *v, u32 acked)
{
	struct ab_window before, w;

	before.credit = w.credit = p->credit;
	before.cwnd = w.cwnd = tp->snd_cwnd;
	p->growth = ab_growth(v);
	ab_grow(&w, p->growth, acked);
	p->credit = w.credit;
	tp->snd_cwnd = w.cwnd < tp->snd_cwnd_clamp ? w.cwnd : tp->snd_cwnd_clamp;
	ab_count(coupled, 1);
	if (ab_settings.record)
		ab_keep(v, &before, &w, acked, p->growth);
}

static inline void ab_cong_avoid(struct tcp_sock *tp, u32 acked)
{
	struct ab_path *p = ab_enter(tp);
	struct ab_views v = {};
	u32 passed = tp->delivered - acked - p->delivered;

	ab_count(acks, 1);
	if (p->delivered && p->state == TCP_CA_OPEN && passed && passed < AB_PLAUSIBLE) {
		p->missed++;
		ab_count(missed, 1);
	}
	p->delivered = p->state == TCP_CA_OPEN ? tp->delivered : 0;
	p->running = 1;
	if (!ab_cwnd_limited(tp))
		goto out;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			goto out;
	}
	p->paths = AB_COUPLED ? ab_gather(tp, &v) : 1;
	if (p->paths > 1)
		ab_avoid(tp, p, &v, acked);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
out:
	p->cwnd = tp->snd_cwnd;
}

static inline void ab_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct ab_path *p = ab_enter(tp);

	p->since_loss += sample->pkts_acked;
	p->cwnd = tp->snd_cwnd;
}

static inline u32 ab_ssthresh(struct tcp_sock *tp)
{
	struct ab_path *p = ab_enter(tp);
	u32 ssthresh = ab_event(tp, p, tp->snd_cwnd);

	p->pending = 1;
	p->cwnd = tp->snd_cwnd;
	return ssthresh;
}

/* Comes just before the state changes to `state`. */
static inline void ab_set_state(struct tcp_sock *tp, u8 state)
{
	struct ab_path *p = ab_path(tp);

	if (p->magic != AB_MAGIC)
		ab_begin(tp, p);
	ab_guard(tp, p, state);
	p->state = state;
	p->pending = 0;
	p->cwnd = tp->snd_cwnd;
}

static inline u32 ab_undo_cwnd(struct tcp_sock *tp)
{
	struct ab_path *p = ab_enter(tp);

	p->cwnd = tcp_reno_undo_cwnd((struct sock *)tp);
	return p->cwnd;
}

/* A step again, from what it saw; for tests, by the kernel's own run of a program. */
static inline int ab_replayed(struct ab_step *step)
{
	struct ab_window w = { .credit = step->before_credit, .cwnd = step->before_cwnd };
	struct ab_views v = step->views;

	step->growth = ab_growth(&v);
	step->backoff = ab_backoff(&v);
	ab_grow(&w, step->growth, step->acked);
	step->after_credit = w.credit;
	step->after_cwnd = w.cwnd;
	return 0;
}

#define AB_CONTROLLER(name_)							\
	SEC("struct_ops")							\
	void BPF_PROG(ab_on_init, struct sock *sk)				\
	{									\
		if (!ab_skip())							\
			ab_begin(tcp_sk(sk), ab_path(tcp_sk(sk)));		\
	}									\
	SEC("struct_ops")							\
	void BPF_PROG(ab_on_cong_avoid, struct sock *sk, u32 ack, u32 acked)	\
	{									\
		if (!ab_skip())							\
			ab_cong_avoid(tcp_sk(sk), acked);			\
	}									\
	SEC("struct_ops")							\
	void BPF_PROG(ab_on_acked, struct sock *sk, const struct ack_sample *s)	\
	{									\
		if (!ab_skip())							\
			ab_acked(tcp_sk(sk), s);				\
	}									\
	SEC("struct_ops")							\
	u32 BPF_PROG(ab_on_ssthresh, struct sock *sk)				\
	{									\
		return ab_skip() ? bpf_get_prandom_u32() : ab_ssthresh(tcp_sk(sk)); \
	}									\
	SEC("struct_ops")							\
	void BPF_PROG(ab_on_set_state, struct sock *sk, u8 state)		\
	{									\
		if (!ab_skip())							\
			ab_set_state(tcp_sk(sk), state);			\
	}									\
	SEC("struct_ops")							\
	u32 BPF_PROG(ab_on_undo_cwnd, struct sock *sk)				\
	{	/* a negative window would be a kernel warning of our own making */ \
		return ab_skip() ? bpf_get_prandom_u32() >> 1 : ab_undo_cwnd(tcp_sk(sk)); \
	}									\
	SEC(".struct_ops.link")							\
	struct tcp_congestion_ops ab_controller = {				\
		.init = (void *)ab_on_init,					\
		.cong_avoid = (void *)ab_on_cong_avoid,				\
		.pkts_acked = (void *)ab_on_acked,				\
		.ssthresh = (void *)ab_on_ssthresh,				\
		.set_state = (void *)ab_on_set_state,				\
		.undo_cwnd = (void *)ab_on_undo_cwnd,				\
		.flags = TCP_CONG_NON_RESTRICTED,				\
		.name = name_,							\
	};									\
	SEC("syscall")								\
	int ab_replay(struct ab_step *step)					\
	{									\
		return ab_replayed(step);					\
	}									\
	char _license[] SEC("license") = "GPL"

#endif
