/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Reno: growth 1/w, backoff w/2 (RFC 5681 section 3.1): the wrapped control beside the coupled
 * ones. Error of growth: one division, u. */
#ifndef AB_RENO_H
#define AB_RENO_H

#include "views.h"

#define AB_COUPLED 0 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 2 /* of coupled subflows, in segments */
#define AB_RELATIVE 2 /* of growth, in 2^-31 */
#define AB_OF_RENO 0 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 1 /* 2^-32 segments */

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	if (!v)
		return 0;
	return ab_fixed(ab_over(AB_ONE, ab_whole(ab_me(v)->cwnd)));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	return v ? ab_me(v)->cwnd / 2 : 0;
}

#endif
