/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* EWTCP: growth a/w_r with a = 1/n^2, backoff w_r/2 (Honda et al. 2009; Wischik et al., NSDI 2011).
 * Error of growth: two divisions, 2u. */
#ifndef AB_EWTCP_H
#define AB_EWTCP_H

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
	return ab_fixed(ab_over(ab_over(AB_ONE, ab_whole((ab_u64)v->paths * v->paths)),
				ab_whole(ab_me(v)->cwnd)));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	return v ? ab_me(v)->cwnd / 2 : 0;
}

#endif
