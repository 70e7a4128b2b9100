/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Functions of what a law sees: what every usable subflow of the connection last published. The
 * same as `PathView` of the readable laws in crates/control, in whole numbers.
 *
 * A law's header gives two functions and two numbers:
 *   ab_growth(views)   what one acknowledged segment adds to the window of `me`, in 2^-32 segments;
 *   ab_backoff(views)  the window of `me` after a congestion event, in whole segments, not floored;
 *   AB_COUPLED         whether paths influence each other;
 *   AB_MIN_SSTHRESH    the smallest threshold of coupled subflows, in segments.
 *
 * One that is not Reno on a path alone defines, before it includes this file,
 *   AB_LEAST           the fewest usable paths that it decides for: 1.
 *
 * One that keeps notes of a path has three functions and a number more:
 *   AB_NOTES           how many, up to 4, before it includes this file;
 *   ab_first_notes(notes)        what they are when the path joins;
 *   ab_note_ack(notes, news)     what an ACK makes of them;
 *   ab_note_loss(notes, news)    what a congestion event makes of them, before ab_backoff.
 * Where they follow the window, as in CUBIC, it has one more, and defines AB_NOTES_GROW as 1:
 *   ab_note_growth(notes, news, views)  what an ACK in congestion avoidance makes of the notes of
 *                                `me`, after ab_note_ack and before ab_growth.
 *
 * crates/formula writes such headers from the texts of laws, with a bound on the error of growth
 * (crates/formula/src/integer/bound.rs derives it). For those who write one themselves, with
 * u = 2^-31: an operation of number.h takes less than u of its result away, and whole numbers below
 * 2^32 are exact. Errors of factors add up; a quotient is too large by the error of its divisor; a
 * sum of positive numbers has the larger error of the two, and the addition's own. So ab_rate is
 * low by at most u, and ab_total_rate, which adds up to AB_PATHS rates, by at most 16u. ab_fixed
 * takes away less than 2^-32 segments.
 *
 * Domain: windows from 1 to 2^24 segments, round-trip times from 1 us to 2^31 us, up to AB_PATHS
 * paths.
 */
#ifndef AB_VIEWS_H
#define AB_VIEWS_H

#include "intf.h"
#include "number.h"

/* The rate x = w/rtt in segments per us; zero in a place without a usable path. */
static inline ab_number ab_rate(const struct ab_view *s)
{
	return s->srtt ? ab_over(ab_whole(s->cwnd), ab_whole(s->srtt)) : 0;
}

/* Sums over the usable paths. */
AB_FUNCTION ab_number ab_total_rate(const struct ab_views *v)
{
	ab_number x = 0;

	if (!v)
		return 0;
	for (int i = 0; i < AB_PATHS; i++)
		if (v->path[i].srtt) /* most places are empty: this saves calls */
			x = ab_plus(x, ab_rate(&v->path[i]));
	return x;
}

AB_FUNCTION ab_u64 ab_total_window(const struct ab_views *v)
{
	ab_u64 w = 0;

	if (!v)
		return 0;
	for (int i = 0; i < AB_PATHS; i++)
		w += v->path[i].srtt ? v->path[i].cwnd : 0;
	return w;
}

/* The path being evaluated; the bound is for the verifier. */
static inline const struct ab_view *ab_me(const struct ab_views *v)
{
	return &v->path[v->me & (AB_PATHS - 1)];
}

#endif
