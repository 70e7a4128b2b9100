/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Numbers of either sign, and roots, for laws that are generated from text (crates/formula).
 *
 * A signed number is an ab_number with its sign in bit 63; zero has none. Every operation truncates
 * its result towards zero, with a relative error below 2^-31 as those of number.h. That holds for a
 * difference too: what it is relative to is the difference itself.
 */
#ifndef AB_SIGNED_H
#define AB_SIGNED_H

#include "number.h"

typedef ab_u64 ab_signed;

#define AB_SIGN (1ULL << 63)

/* One second in microseconds. */
#define AB_SECOND AB_CONSTANT(0xf4240000ULL, -12)

static inline ab_number ab_size(ab_signed a)
{
	return a & ~AB_SIGN;
}

static inline ab_signed ab_negative(ab_signed a)
{
	return a ? a ^ AB_SIGN : 0;
}

/* a - b, where a is not below b. */
AB_FUNCTION ab_number ab_less(ab_number a, ab_number b)
{
	ab_s64 apart = ab_exponent(a) - ab_exponent(b);

	if (!b || apart > 62 || apart < 0)
		return a >= b ? a : 0;
	/* 31 bits more than the mantissa has: the bits shifted out are less than a truncation */
	return ab_normal((ab_mantissa(a) << 31) - ((ab_mantissa(b) << 31) >> apart),
			 ab_exponent(a) - 31);
}

AB_FUNCTION ab_signed ab_add(ab_signed a, ab_signed b)
{
	ab_number x = ab_size(a), y = ab_size(b), rest;

	if ((a & AB_SIGN) == (b & AB_SIGN))
		return ab_plus(x, y) | (a & AB_SIGN);
	rest = x > y ? ab_less(x, y) : ab_less(y, x);
	return rest ? rest | ((x > y ? a : b) & AB_SIGN) : 0;
}

AB_FUNCTION ab_signed ab_multiply(ab_signed a, ab_signed b)
{
	ab_number product = ab_times(ab_size(a), ab_size(b));

	return product ? product | ((a ^ b) & AB_SIGN) : 0;
}

AB_FUNCTION ab_signed ab_divide(ab_signed a, ab_signed b)
{
	ab_number quotient = ab_over(ab_size(a), ab_size(b));

	return quotient ? quotient | ((a ^ b) & AB_SIGN) : 0;
}

/* Whether a is below b. */
AB_FUNCTION ab_u64 ab_below(ab_signed a, ab_signed b)
{
	if ((a ^ b) & AB_SIGN)
		return a >> 63;
	return a & AB_SIGN ? ab_size(a) > ab_size(b) : a < b;
}

/* The square root of a number that is not negative, bit by bit. */
AB_FUNCTION ab_number ab_root(ab_number a)
{
	ab_s64 e = ab_exponent(a);
	ab_u64 rest, root = 0;

	if (!a)
		return 0;
	/* an even exponent, and a mantissa from 2^62 to 2^64: the root has 32 bits */
	rest = ab_mantissa(a) << (e & 1 ? 31 : 32);
	e -= e & 1 ? 31 : 32;
	for (int bit = 31; bit >= 0; bit--) {
		ab_u64 next = root | (1ULL << bit);

		/* next^2 is below 2^64 */
		if (next * next <= rest)
			root = next;
	}
	return ab_pack(root, e >> 1); /* even: above */
}

/* The cube root of a number that is not negative, within 3 u: from the chord of the root, which is
 * 12 % low at most, by steps of Newton's, each of which squares the error. Without branches, which
 * the verifier would all follow. */
AB_FUNCTION ab_number ab_cube_root(ab_number a)
{
	/* more by a multiple of 3 than any exponent is below zero, so that thirds are whole */
	ab_u64 e = (ab_u64)(ab_exponent(a) + 6144), shift = 29 + (e - 29) % 3;
	ab_u64 value = ab_mantissa(a) << shift; /* from 2^60 to 2^63: the root from 2^20 to 2^21 */
	ab_u64 root = (1 << 20) + (value - (1ULL << 60)) / (7ULL << 40);
	ab_number near;

	if (!a)
		return 0;
	root = (2 * root + value / (root * root)) / 3; /* the divisors are not zero: above */
	root = (2 * root + value / (root * root)) / 3;
	root = (2 * root + value / (root * root)) / 3;
	near = ab_normal(root, (ab_s64)((e - shift) / 3) - 2048);
	return ab_over(ab_plus(ab_times(near, ab_whole(2)), ab_over(a, ab_times(near, near))),
		       ab_whole(3));
}

/* A signed number in 2^-32 segments, towards zero. */
static inline ab_s64 ab_signed_fixed(ab_signed a)
{
	ab_s64 fixed = (ab_s64)ab_fixed(ab_size(a));

	return a & AB_SIGN ? -fixed : fixed;
}

/* The whole segments of a signed number, rounded down. */
static inline ab_s64 ab_floor(ab_signed a)
{
	return ab_signed_fixed(a) >> 32;
}

#endif
