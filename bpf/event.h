/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A congestion event: the threshold that the law, or Reno where the law does not decide, sets after
 * it. A glue file includes the law's header first.
 */
#ifndef AB_EVENT_H
#define AB_EVENT_H

#include "counters.h"
#include "notes.h"
#include "siblings.h"

/* The threshold after a congestion event at window `cwnd`. Not inlined: the views of two callers in
 * one chain of calls do not fit BPF's stack of 512 bytes together. */
static __attribute__((noinline)) u32 ab_event(struct tcp_sock *tp, struct ab_path *p, u32 cwnd)
{
	struct ab_views v = {};
	u32 ssthresh = ab_max(cwnd / 2, 2), floor = ab_settings.min_ssthresh;

	if (!floor)
		floor = AB_MIN_SSTHRESH;
	ab_news_of_loss(tp, p, cwnd);
	if (p->since_loss) {
		p->between_losses = p->since_loss;
		p->since_loss = 0;
	}
	if (ab_decides(tp, &v, cwnd, AB_COUPLED ? ab_gather(tp, &v, cwnd) : 1)) {
		s64 after = ab_backoff(&v);
		ssthresh = after > (s64)floor ? (u32)after : floor;
	}
	p->credit = 0; /* like snd_cwnd_cnt of the kernel's Reno */
	p->reduced = 0;
	p->ssthresh = ssthresh;
	p->losses++;
	ab_count(losses, 1);
	return ssthresh;
}

#endif
