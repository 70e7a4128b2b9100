/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* COUPLED: growth 1/w_tot, backoff w_r - w_tot/2 (Kelly and Voice 2005; Wischik et al., NSDI 2011,
 * section 2.4). Against the readable law: growth within 2^-26, and 2^-32 segments; backoff rounded
 * down, and it may be negative: the shell applies the floor. */
#ifndef AB_FULLY_COUPLED_H
#define AB_FULLY_COUPLED_H

#include "views.h"

#define AB_COUPLED 1 /* whether paths influence each other */
#define AB_CANCELS 0 /* whether terms of growth may cancel */

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
