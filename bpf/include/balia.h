/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* BALIA: growth x_r/(rtt_r (sum x_s)^2) (1+a)/2 (4+a)/5, backoff w_r - w_r/2 min(a, 3/2),
 * a = max_s x_s / x_r (draft-walid-mptcp-congestion-control-04; Peng et al. 2016).
 *
 * Error of growth: too large by at most 34u, 32u from two divisions by a sum that is low by 16u and
 * u from a in either factor; too small by at most 13u: 4u as in LIA, 4u for each factor (2u of a,
 * the sum, the product), and the last division. Backoff is rounded down. */
#ifndef AB_BALIA_H
#define AB_BALIA_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 1 /* of coupled subflows, in segments */
#define AB_RELATIVE 35 /* of growth, in 2^-31 */
#define AB_OF_RENO 0 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 1 /* 2^-32 segments */

/* max_s x_s / x_r, at least 1. */
AB_FUNCTION ab_number ab_imbalance(const struct ab_views *v)
{
	ab_number most = 0;

	if (!v)
		return AB_ONE;
	for (int i = 0; i < AB_PATHS; i++) {
		ab_number rate = ab_rate(&v->path[i]);

		if (rate > most)
			most = rate;
	}
	return ab_over(most, ab_rate(ab_me(v)));
}

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	ab_number a, x, growth;

	if (!v)
		return 0;
	a = ab_imbalance(v);
	x = ab_total_rate(v);
	growth = ab_over(ab_over(ab_rate(ab_me(v)), x), x);
	growth = ab_over(growth, ab_whole(ab_me(v)->srtt));
	growth = ab_times(growth, ab_plus(AB_ONE, a));
	growth = ab_times(growth, ab_plus(ab_whole(4), a));
	return ab_fixed(ab_over(growth, ab_whole(10)));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	ab_number a, half_and_one = AB_CONSTANT(0xc0000000ULL, -31); /* 3/2 */
	ab_s64 w;

	if (!v)
		return 0;
	a = ab_imbalance(v);
	if (a > half_and_one)
		a = half_and_one;
	w = (ab_s64)ab_me(v)->cwnd << 32;
	w -= ab_fixed(ab_times(ab_whole(ab_me(v)->cwnd), a)) >> 1;
	return w >> 32;
}

#endif
