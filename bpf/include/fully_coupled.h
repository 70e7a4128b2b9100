/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* COUPLED: growth 1/w_tot, backoff w_r - w_tot/2 (Kelly and Voice 2005; Wischik et al., NSDI 2011,
 * section 2.4). Error of growth: one division by an exact sum, u. Backoff is rounded down; it may
 * be negative, and the shell applies the floor. */
#ifndef AB_FULLY_COUPLED_H
#define AB_FULLY_COUPLED_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_MIN_SSTHRESH 2 /* of coupled subflows, in segments */
#define AB_RELATIVE 2 /* of growth, in 2^-31 */
#define AB_OF_RENO 0 /* of 1/w, in 2^-31 */
#define AB_ABSOLUTE 1 /* 2^-32 segments */

AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	if (!v)
		return 0;
	return ab_fixed(ab_over(AB_ONE, ab_whole(ab_total_window(v))));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	if (!v)
		return 0;
	return (2 * (ab_s64)ab_me(v)->cwnd - (ab_s64)ab_total_window(v)) >> 1;
}

#endif
