/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller around a law: what the kernel's Reno does in slow start, recovery and undo, and
 * the law in congestion avoidance as soon as a connection has AB_LEAST usable paths, two for most
 * laws. A glue file says
 *
 *     #include "lia.h"
 *     #include "shell.h"
 *     AB_CONTROLLER("ab_lia");
 *
 * and has no arithmetic of its own. The shell takes over all of cong_control, rate reduction and
 * pacing rate included: so a missed callback cannot move a window (guard.h). The price: the kernel
 * no longer lets the window of a sender that does not use it decay (RFC 2861); only an idle one's
 * does, below.
 */
#ifndef AB_SHELL_H
#define AB_SHELL_H

#include "attach.h"
#include "guard.h"
#include "records.h"
#include "sense.h"

#include "include/window.h"

static inline void ab_keep(struct tcp_sock *tp, struct ab_views *v, struct ab_window *before,
			   struct ab_window *after, u32 acked)
{
	struct sock_common *sk = &tp->inet_conn.icsk_inet.sk.__sk_common;
	struct ab_step *r = ab_record_begin();

	if (!r) {
		ab_count(unrecorded, 1);
		return;
	}
	r->views = *v;
	r->acked = acked;
	r->before_cwnd = before->cwnd;
	r->after_cwnd = after->cwnd;
	r->srtt = tp->srtt_us >> 3;
	r->socket = (sk->skc_num | (u32)sk->skc_dport << 16) ^ sk->skc_rcv_saddr;
	r->breaks = ab_path(tp)->breaks;
	r->before_credit = before->credit;
	r->after_credit = after->credit;
	r->growth = ab_path(tp)->growth;
	r->backoff = 0;
	ab_record_end(r);
}

/* Plants a fault before a step, or in its result. */
static inline void ab_plant(struct ab_views *v, struct ab_path *p, struct ab_window *left)
{
	u32 srtt = v->path[0].srtt;

	if (ab_settings.fault == AB_REMAINDER_DROPPED && left) {
		left->credit = 0;
	} else if (ab_settings.fault == AB_TRIPS_SWAPPED && !left) {
		v->path[0].srtt = v->path[1].srtt;
		v->path[1].srtt = srtt;
	} else if (ab_settings.fault == AB_CREDIT_RESET && !left) {
		p->credit = 0;
	}
}

/* Congestion avoidance under the law. */
static __attribute__((noinline)) void ab_avoid(struct tcp_sock *tp, struct ab_path *p,
					       struct ab_views *v, u32 acked)
{
	struct ab_window before, w;

	ab_plant(v, p, 0);
	before.credit = w.credit = p->credit;
	before.cwnd = w.cwnd = tp->snd_cwnd;
	ab_news_of_growth(tp, p, v, acked);
	p->growth = ab_growth(v);
	ab_grow(&w, p->growth, acked);
	ab_plant(v, p, &w);
	p->credit = w.credit;
	tp->snd_cwnd = ab_min(w.cwnd, tp->snd_cwnd_clamp);
	ab_count(coupled, 1);
	if (ab_settings.record)
		ab_keep(tp, v, &before, &w, acked);
}

/* tcp_is_cwnd_limited: a window that was not used does not grow. */
static inline bool ab_cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD_PROBED(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* tcp_may_raise_cwnd: while segments may only be reordered, each delivery counts. */
static inline bool ab_may_grow(struct tcp_sock *tp, int flag)
{
	int most = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ipv4.sysctl_tcp_reordering;

	return flag & (tp->reordering > (u32)most ? FLAG_FORWARD_PROGRESS : FLAG_DATA_ACKED);
}

/* Slow start up to the threshold, then avoidance for the rest of the acknowledged segments. Not
 * inlined, like ab_event: their views do not fit BPF's stack together. */
static __attribute__((noinline)) void ab_raise(struct tcp_sock *tp, struct ab_path *p, u32 acked)
{
	struct ab_views v = {};

	if (!ab_cwnd_limited(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		/* a window below the threshold by a fraction would gain a whole segment */
		p->credit = 0;
		p->breaks++;
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	p->paths = AB_COUPLED ? ab_gather(tp, &v, tp->snd_cwnd) : 1;
	if (!p->paths)
		ab_count(crowded, 1);
	if (ab_decides(tp, &v, tp->snd_cwnd, p->paths)) {
		ab_avoid(tp, p, &v, acked);
	} else {
		p->growth = 0;
		p->breaks++;
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
	}
}

/* Proportional rate reduction (RFC 6937) as in tcp_cwnd_reduction. */
static inline void ab_reduce(struct tcp_sock *tp, struct ab_path *p, int flag, int losses,
			     u32 acked)
{
	s32 pipe = ab_pipe(tp);
	s32 delta = (s32)tp->snd_ssthresh - pipe, out = tp->prr_out, send;
	u32 prior = tp->prior_cwnd;

	if (!acked || !prior)
		return;
	p->reduced += acked;
	if (delta < 0) { /* the window before the reduction is not zero: above */
		send = (s32)(((u64)tp->snd_ssthresh * p->reduced + prior - 1) / prior) - out;
	} else {
		send = (s32)p->reduced - out;
		if (send < (s32)acked)
			send = acked;
		if ((flag & FLAG_SND_UNA_ADVANCED) && losses <= 0)
			send++;
		if (send > delta)
			send = delta;
	}
	if (send < !out)
		send = !out; /* entering recovery sends one segment whatever the rate */
	tp->snd_cwnd = pipe + send > 0 ? pipe + send : 1;
}

/* tcp_update_pacing_rate: usually two windows a round trip in slow start, and 1.2 later. */
static inline void ab_pace(struct tcp_sock *tp)
{
	struct netns_ipv4 *settings = &tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ipv4;
	u64 ratio = tp->snd_cwnd < tp->snd_ssthresh / 2 ? settings->sysctl_tcp_pacing_ss_ratio
							 : settings->sysctl_tcp_pacing_ca_ratio;
	u64 rate = (u64)tp->mss_cache * 80000 * ratio * ab_max(tp->snd_cwnd, tp->packets_out);
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	u32 srtt = tp->srtt_us;

	if (srtt) /* the divisor is not zero */
		rate /= srtt;
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

/* MPTCP's scheduler takes a subflow's first pacing rate, and forgets it slowly. */
static inline void ab_init(struct tcp_sock *tp)
{
	ab_begin(tp, ab_path(tp));
	ab_pace(tp);
}

static inline void ab_control(struct tcp_sock *tp, int flag, const struct rate_sample *rs)
{
	struct ab_path *p = ab_enter(tp);
	u32 acked = rs->acked_sacked;
	u32 since = tp->delivered - p->delivered; /* the last callback */

	ab_count(acks, 1);
	if (p->running && since != acked) {
		p->missed++;
		ab_count(missed, 1);
	}
	since = p->running ? ab_min(since, AB_PLAUSIBLE) : acked;
	p->delivered = tp->delivered;
	p->running = 1;
	if (AB_COUPLED && ab_settings.sbd)
		ab_feel(&tp->inet_conn.icsk_inet.sk, p, rs);
	if (since) /* not for an ACK without new data */
		ab_news(tp, p, since, rs);
	p->since_loss = ab_max(p->since_loss, p->since_loss + since); /* saturates */
	if (ab_reducing(p->state))
		ab_reduce(tp, p, flag, rs->losses, since);
	else if (ab_may_grow(tp, flag))
		ab_raise(tp, p, acked);
	p->cwnd = tp->snd_cwnd;
	ab_pace(tp);
}

static inline u32 ab_ssthresh(struct tcp_sock *tp)
{
	struct ab_path *p = ab_enter(tp);
	u32 ssthresh = ab_event(tp, p, tp->snd_cwnd);

	p->pending = 1;
	return ssthresh;
}

/* Called just before the state changes to `state`. */
static inline void ab_set_state(struct tcp_sock *tp, u8 state)
{
	struct ab_path *p = ab_path(tp);

	if (p->magic != AB_MAGIC)
		ab_begin(tp, p);
	p->breaks++;
	ab_follow(tp, p, state);
}

static inline u32 ab_undo_cwnd(struct tcp_sock *tp)
{
	struct ab_path *p = ab_enter(tp);

	p->cwnd = tcp_reno_undo_cwnd((struct sock *)tp);
	p->ssthresh = 0; /* the kernel restores the previous one */
	return p->cwnd;
}

/* After an idle time the window decays (tcp_cwnd_restart, RFC 2861), if the kernel is configured
 * to do so. */
static inline void ab_idle(struct tcp_sock *tp)
{
	u32 rto = tp->inet_conn.icsk_rto, cwnd = tp->snd_cwnd, floor = ab_min(cwnd, TCP_INIT_CWND);
	s32 idle = (u32)bpf_jiffies64() - tp->lsndtime;

	if (!tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ipv4
		     .sysctl_tcp_slow_start_after_idle || ab_settings.fault == AB_IDLE_IGNORED)
		return;
	/* with outstanding segments, this is a retransmission */
	if (tp->packets_out || !rto || idle <= (s32)rto)
		return;
	tp->snd_ssthresh = ab_max(tp->snd_ssthresh, (cwnd >> 1) + (cwnd >> 2));
	for (int i = 0; i < 24 && idle > (s32)rto && cwnd > floor; i++) {
		cwnd >>= 1;
		idle -= rto;
	}
	tp->snd_cwnd = ab_max(cwnd, floor);
}

/* The callbacks of a controller. */
#define AB_CONTROLLER(name_)							\
	AB_CALLBACK(void, ab_on_init, struct sock *sk)				\
	{									\
		if (!ab_skip())							\
			ab_init(tcp_sk(sk));					\
	}									\
	AB_CALLBACK(void, ab_on_ack, struct sock *sk, u32 ack, int flag,	\
		    const struct rate_sample *rs)				\
	{									\
		if (!ab_skip())							\
			ab_control(tcp_sk(sk), flag, rs);			\
	}									\
	AB_CALLBACK(u32, ab_on_ssthresh, struct sock *sk)			\
	{									\
		return ab_skip() ? bpf_get_prandom_u32() : ab_ssthresh(tcp_sk(sk)); \
	}									\
	AB_CALLBACK(void, ab_on_set_state, struct sock *sk, u8 state)		\
	{									\
		if (!ab_skip())							\
			ab_set_state(tcp_sk(sk), state);			\
	}									\
	AB_CALLBACK(u32, ab_on_undo_cwnd, struct sock *sk)			\
	{	/* a negative window would be a kernel warning of our own making */ \
		return ab_skip() ? bpf_get_prandom_u32() >> 1 : ab_undo_cwnd(tcp_sk(sk)); \
	}									\
	AB_CALLBACK(void, ab_on_event, struct sock *sk, u32 event)		\
	{									\
		if (event == CA_EVENT_TX_START && !ab_skip())			\
			ab_idle(tcp_sk(sk));					\
	}									\
	AB_CALLBACK(void, ab_on_tx_start, struct sock *sk)			\
	{									\
		if (!ab_skip())							\
			ab_idle(tcp_sk(sk));					\
	}									\
	AB_REGISTER(name_)

#endif
