/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Coupled CUBIC: on each path a CUBIC (RFC 9438) that grows with C part^2 and with alpha part,
 * where part = x max x / (sum x)^2 and x is the rate of a path. A path alone has part 1.
 *
 * Growth depends on time. RFC 9438 has W(t) = C (t - K)^3 + W_max with the time t since the stage
 * began. Here the root of that cube is kept itself, y = C^(1/3) (t - K): it advances by
 * C^(1/3) part^(2/3) times what has passed. So neither t nor K is needed, a pause is simply not
 * added, and when the part changes, the window goes on along the new curve from where it is.
 *
 * The root advances by whole 2^-40, and the estimate of a Reno window by whole 2^-32 segments: no
 * error of a sum grows with its number of terms beyond that of one term. Error of growth: at most
 * 64 u of ((|y| + C^(1/3) part^(2/3) srtt)^3 + W_max + w)/w, with u = 2^-31, and 2^-32 segments.
 */
#ifndef AB_LAW_H
#define AB_LAW_H

#define AB_NOTES 4
#define AB_NOTES_GROW 1
#define AB_LEAST 1 /* a path alone is CUBIC and not Reno */

#include "views.h"
#include "signed.h"

#define AB_COUPLED 1
#define AB_MIN_SSTHRESH 2 /* RFC 9438 section 4.6 */

#define AB_CUBIC_C AB_CONSTANT(0xccccccccULL, -33) /* 0.4 segments/s^3 */
#define AB_CUBIC_ALPHA AB_CONSTANT(0x87878787ULL, -32) /* 9/17: section 4.3 */

/* Notes. The stage has not begun while the estimate is zero. */
#define AB_CUBE 0 /* y, ab_s64 in 2^-40 of a segment's cube root */
#define AB_RENO 1 /* W_est in 2^-32 segments */
#define AB_LARGE 2 /* W_max in 2^-7 segments, and 32 bits up cwnd_prior in segments */
#define AB_TIMES 3 /* when the last ACK came, us; 32 bits up the time before it that counts, us */

/* Bounds far beyond windows of 2^24 segments: nothing overflows however long there is no loss. */
#define AB_CUBE_MOST (1LL << 49)
#define AB_RENO_MOST (1ULL << 58)

static inline ab_u64 ab_pair(ab_u32 high, ab_u32 low)
{
	return (ab_u64)high << 32 | low;
}

static inline ab_u32 ab_high(ab_u64 pair)
{
	return (ab_u32)(pair >> 32);
}

static inline ab_u32 ab_low(ab_u64 pair)
{
	return (ab_u32)pair;
}

static inline ab_u64 ab_capped(ab_number a, ab_u64 most)
{
	ab_u64 fixed = ab_fixed(a);

	return fixed < most ? fixed : most;
}

/* The part of `me` in growth. */
AB_FUNCTION ab_number ab_cubic_part(const struct ab_views *v)
{
	ab_number total = 0, most = 0, x;

	if (!v)
		return 0;
	if (v->paths < 2)
		return AB_ONE;
	for (int i = 0; i < AB_PATHS; i++) {
		if (!v->path[i].srtt)
			continue;
		x = ab_rate(&v->path[i]);
		total = ab_plus(total, x);
		most = x > most ? x : most;
	}
	if (!total)
		return 0;
	x = ab_rate(ab_me(v));
	return ab_over(ab_times(x, most), ab_times(total, total));
}

/* By how much y advances in `us`. */
AB_FUNCTION ab_number ab_cubic_advance(ab_number part, ab_u32 us)
{
	ab_number speed = ab_cube_root(ab_times(AB_CUBIC_C, ab_times(part, part)));

	return ab_times(speed, ab_over(ab_whole(us), AB_SECOND));
}

static inline ab_signed ab_cubic_root(ab_s64 y)
{
	ab_signed size = ab_normal(y < 0 ? -y : y, -40);

	return y < 0 ? ab_negative(size) : size;
}

/* y^3 + W_max, which may be below zero. */
AB_FUNCTION ab_signed ab_cubic_window(ab_signed y, ab_u32 w_max)
{
	return ab_add(ab_multiply(ab_multiply(y, y), y), ab_normal(w_max, -7));
}

static inline void ab_first_notes(struct ab_notes *n)
{
	n->note[AB_CUBE] = n->note[AB_RENO] = n->note[AB_LARGE] = n->note[AB_TIMES] = 0;
}

/* A pause longer than a round trip is none in which the window was in use (section 5.8). After slow
 * start a stage begins at its plateau (section 4.8). */
AB_FUNCTION int ab_note_ack(struct ab_notes *n, const struct ab_news *e)
{
	ab_u32 since;

	if (!n || !e)
		return 0;
	since = e->now - ab_low(n->note[AB_TIMES]);
	n->note[AB_TIMES] = ab_pair(since < e->srtt ? since : e->srtt, e->now);
	if (e->slow) {
		n->note[AB_RENO] = 0;
		n->note[AB_LARGE] = ab_pair(ab_high(n->note[AB_LARGE]), 0);
	}
	return 0;
}

/* Sections 4.6 and 4.7: fast convergence to (1 + 0.7)/2 of the window. */
AB_FUNCTION int ab_note_loss(struct ab_notes *n, const struct ab_news *e)
{
	ab_u64 w;

	if (!n || !e)
		return 0;
	w = (ab_u64)e->cwnd << 7;
	if (w < ab_low(n->note[AB_LARGE]))
		w = w * 17 / 20;
	n->note[AB_LARGE] = ab_pair(e->cwnd, (ab_u32)w);
	n->note[AB_RENO] = 0;
	return 0;
}

/* A stage begins (section 4.2): where there was no reduction before it, at its plateau. */
static inline void ab_cubic_begin(struct ab_notes *n, ab_u32 w)
{
	ab_u64 large = n->note[AB_LARGE], below = (ab_u64)w << 7;
	ab_s64 y = 0;

	if (below < ab_low(large))
		/* 2^8 more than ab_fixed's unit */
		y = -(ab_s64)(ab_fixed(ab_cube_root(ab_normal(ab_low(large) - below, -7))) << 8);
	else
		large = ab_pair(ab_high(large), (ab_u32)below);
	n->note[AB_CUBE] = (ab_u64)y;
	n->note[AB_RENO] = (ab_u64)w << 32;
	n->note[AB_LARGE] = large;
}

/* An ACK in congestion avoidance: y and W_est (section 4.3) go on. */
AB_FUNCTION int ab_note_growth(struct ab_notes *n, const struct ab_news *e,
			       const struct ab_views *v)
{
	ab_number part, more;
	ab_u32 w;

	if (!n || !e || !v)
		return 0;
	w = ab_me(v)->cwnd;
	part = ab_cubic_part(v);
	if (!n->note[AB_RENO]) {
		ab_cubic_begin(n, w);
	} else if ((ab_s64)n->note[AB_CUBE] < AB_CUBE_MOST) {
		more = ab_cubic_advance(part, ab_high(n->note[AB_TIMES]));
		n->note[AB_CUBE] += ab_capped(ab_times(more, ab_whole(1 << 8)), AB_CUBE_MOST);
	}
	more = ab_over(ab_times(part, ab_whole(e->acked)), ab_whole(w));
	if (n->note[AB_RENO] >> 32 < ab_high(n->note[AB_LARGE]))
		more = ab_times(more, AB_CUBIC_ALPHA);
	if (n->note[AB_RENO] < AB_RENO_MOST)
		n->note[AB_RENO] += ab_capped(more, AB_RENO_MOST);
	return 0;
}

/* Towards W_est in the Reno-friendly region, else towards W a round trip later, but to no more than
 * 1.5 w (sections 4.3 to 4.5). */
AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)
{
	const struct ab_view *me;
	ab_signed y, target;
	ab_number w, reno;

	if (!v)
		return 0;
	me = ab_me(v);
	w = ab_whole(me->cwnd);
	y = ab_cubic_root((ab_s64)me->note[AB_CUBE]);
	reno = ab_normal(me->note[AB_RENO], -32);
	target = ab_cubic_window(y, ab_low(me->note[AB_LARGE]));
	if (ab_below(target, reno)) {
		target = reno;
	} else {
		ab_number most = ab_times(w, AB_CONSTANT(0xc0000000ULL, -31));

		y = ab_add(y, ab_cubic_advance(ab_cubic_part(v), me->srtt));
		target = ab_cubic_window(y, ab_low(me->note[AB_LARGE]));
		target = ab_below(most, target) ? most : target;
	}
	if (!ab_below(w, target))
		return 0;
	return ab_fixed(ab_over(ab_less(target, w), w));
}

AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)
{
	if (!v)
		return 0;
	return (ab_u64)ab_me(v)->cwnd * 7 / 10;
}

#endif
