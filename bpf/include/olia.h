/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* OLIA: growth (w_r/rtt_r^2)/(sum x_s)^2 + alpha_r/w_r, backoff w_r/2
 * (draft-khalili-mptcp-congestion-control-02; Khalili et al., CoNEXT 2012). M: the paths of the
 * largest window; B: the best ones by l/rtt^2; l: segments between losses, each counted once: in
 * a kernel when it is delivered, in the readable law when it is acknowledged cumulatively, which
 * differs while a hole is open. Ties as in the readable law.
 *
 * Error of growth g = P + alpha/w: the pooled term P is too large by at most 32u or too small by at
 * most 4u, as in LIA, and alpha/w too small by 2u. Where alpha is negative, the terms cancel and
 * P = g + |alpha|/w: 32u |g| + 34u |alpha|/w, with |alpha| at most 1/2. Two terms are fixed. */
#ifndef AB_OLIA_H
#define AB_OLIA_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 1 /* of coupled subflows, in segments */
#define AB_RELATIVE 33 /* of growth, in 2^-31 */
#define AB_OF_RENO 18 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 2 /* 2^-32 segments */

/* 1 - 10^-6: windows and qualities within this fraction of the largest count as largest. */
#define AB_TIE AB_CONSTANT(4294963001ULL, -32)

/* l/rtt^2; zero where no usable path is. */
static inline ab_number ab_quality(const struct ab_view *s)
{
	ab_u32 l = s->since_loss > s->between_losses ? s->since_loss : s->between_losses;

	if (!s->srtt)
		return 0;
	return ab_over(ab_over(ab_whole(l), ab_whole(s->srtt)), ab_whole(s->srtt));
}

/* |alpha_r|, and in the sign whether `me` gives (-1), takes (+1) or neither (0). */
struct ab_alpha {
	ab_number size;
	ab_s64 sign;
};

/* The least window of M and the least quality of B. */
struct ab_bar {
	ab_number window;
	ab_number quality;
};

AB_FUNCTION int ab_bar(const struct ab_views *v, struct ab_bar *bar)
{
	ab_number best = 0;
	ab_u32 most = 0;

	if (!v || !bar)
		return 0;
	for (int i = 0; i < AB_PATHS; i++) {
		const struct ab_view *s = &v->path[i];
		ab_number quality = ab_quality(s);

		best = quality > best ? quality : best;
		most = s->srtt && s->cwnd > most ? s->cwnd : most;
	}
	bar->window = ab_times(ab_whole(most), AB_TIE);
	bar->quality = ab_times(best, AB_TIE);
	return 0;
}

/* Bit 0: in M. Bit 1: in B and not in M. */
enum ab_set { AB_NEITHER, AB_IN_M, AB_IN_B_NOT_M };

AB_FUNCTION ab_u32 ab_set_of(const struct ab_view *s, ab_number window, ab_number quality)
{
	if (!s || !s->srtt)
		return AB_NEITHER;
	if (ab_whole(s->cwnd) >= window)
		return AB_IN_M;
	return ab_quality(s) >= quality ? AB_IN_B_NOT_M : AB_NEITHER;
}

AB_FUNCTION int ab_alpha(const struct ab_views *v, struct ab_alpha *alpha)
{
	ab_u32 largest = 0, collected = 0, mine;
	struct ab_bar bar = {};

	if (!v || !alpha)
		return 0;
	alpha->size = 0;
	alpha->sign = 0;
	ab_bar(v, &bar);
	for (int i = 0; i < AB_PATHS; i++) {
		ab_u32 set = v->path[i].srtt ? ab_set_of(&v->path[i], bar.window, bar.quality)
					     : AB_NEITHER;

		largest += set & AB_IN_M;
		collected += set >> 1;
	}
	mine = ab_set_of(ab_me(v), bar.window, bar.quality);
	if (!collected || mine == AB_NEITHER)
		return 0;
	alpha->sign = mine == AB_IN_B_NOT_M ? 1 : -1;
	alpha->size = ab_over(AB_ONE, ab_whole((ab_u64)v->paths *
					       (mine == AB_IN_M ? largest : collected)));
	return 0;
}

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	struct ab_alpha alpha = {};
	ab_number x, pooled;

	if (!v)
		return 0;
	x = ab_total_rate(v);
	pooled = ab_over(ab_over(ab_rate(ab_me(v)), x), x);
	pooled = ab_over(pooled, ab_whole(ab_me(v)->srtt));
	ab_alpha(v, &alpha);
	return (ab_s64)ab_fixed(pooled) +
	       alpha.sign * (ab_s64)ab_fixed(ab_over(alpha.size, ab_whole(ab_me(v)->cwnd)));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	return v ? ab_me(v)->cwnd / 2 : 0;
}

#endif
