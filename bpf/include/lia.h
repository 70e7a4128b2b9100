/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* LIA: growth min(max_s(w_s/rtt_s^2) / (sum x_s)^2, 1/w_r), backoff w_r/2
 * (RFC 6356 section 3, eq. 2).
 * Error of growth: too large by at most 32u, being divided twice by a sum that is low by 16u; too
 * small by at most 4u, from rate, quality and two divisions. */
#ifndef AB_LIA_H
#define AB_LIA_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 2 /* of coupled subflows, in segments */
#define AB_RELATIVE 33 /* of growth, in 2^-31 */
#define AB_OF_RENO 0 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 1 /* 2^-32 segments */

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	ab_number best = 0, x, linked, alone;

	if (!v)
		return 0;
	x = ab_total_rate(v);
	for (int i = 0; i < AB_PATHS; i++) {
		const struct ab_view *s = &v->path[i];
		ab_number quality = s->srtt ? ab_over(ab_rate(s), ab_whole(s->srtt)) : 0;

		if (quality > best)
			best = quality;
	}
	linked = ab_over(ab_over(best, x), x);
	alone = ab_over(AB_ONE, ab_whole(ab_me(v)->cwnd));
	return ab_fixed(linked < alone ? linked : alone);
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	return v ? ab_me(v)->cwnd / 2 : 0;
}

#endif
