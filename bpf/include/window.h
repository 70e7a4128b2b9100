/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Moves a window in whole segments by fractions. The fraction is carried, so that nothing is lost
 * however small a step is.
 */
#ifndef AB_WINDOW_H
#define AB_WINDOW_H

#include "intf.h"

/* growth for one segment: 2^15 segments, more than a window gains in its life */
#define AB_MOST (1LL << 47)

/* The window after `acked` segments that add `growth` each: whole segments move from the credit
 * to the window. With `acked` at most 2^14 and |growth| at most AB_MOST, no overflow occurs. */
static inline void ab_grow(struct ab_window *w, ab_s64 growth, ab_u32 acked)
{
	ab_s64 segments;

	growth = growth > AB_MOST ? AB_MOST : growth < -AB_MOST ? -AB_MOST : growth;
	w->credit += growth * (ab_s64)(acked < (1U << 14) ? acked : (1U << 14));
	/* rounds down, so the credit stays from 0 to below one segment */
	segments = w->credit >> 32;
	w->credit -= segments << 32;
	if (segments < 0 && (ab_u64)-segments >= w->cwnd) {
		w->cwnd = 1;
		w->credit = 0;
	} else {
		w->cwnd += (ab_u32)segments;
	}
}

#endif
