/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* SEMICOUPLED: growth (1/n)/w_tot, backoff w_r/2 (Wischik et al., NSDI 2011, section 2.4).
 * Error of growth: two divisions, the second one by an exact sum, 2u. */
#ifndef AB_SEMICOUPLED_H
#define AB_SEMICOUPLED_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 2 /* of coupled subflows, in segments */
#define AB_RELATIVE 3 /* of growth, in 2^-31 */
#define AB_OF_RENO 0 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 1 /* 2^-32 segments */

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	if (!v)
		return 0;
	return ab_fixed(ab_over(ab_over(AB_ONE, ab_whole(v->paths)), ab_whole(ab_total_window(v))));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	return v ? ab_me(v)->cwnd / 2 : 0;
}

#endif
