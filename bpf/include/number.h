/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Positive numbers in integer arithmetic: m * 2^e with a mantissa of 32 significant bits.
 *
 * The kernel has no floating point, and rates of windows over round-trip times span more than fixed
 * point holds. Each operation truncates, with a relative error below 2^-31, whatever the magnitude;
 * nothing overflows, and a division by zero gives AB_INFINITY. No kernel type is known here.
 */
#ifndef AB_NUMBER_H
#define AB_NUMBER_H

#include "types.h"

/* Bits 0..31: the mantissa, at least 2^31. Bits 32..47: e + AB_BIAS. So the order of numbers is the
 * order of their representation, and zero is 0. */
typedef ab_u64 ab_number;

#define AB_BIAS 4096
#define AB_INFINITY (((ab_u64)2 * AB_BIAS << 32) | 0xffffffffULL)

/* mantissa * 2^exponent, for constants; the mantissa is normal. */
#define AB_CONSTANT(mantissa, exponent) (((ab_u64)((exponent) + AB_BIAS) << 32) | (mantissa))
#define AB_ONE AB_CONSTANT(0x80000000ULL, -31)

static inline ab_u64 ab_mantissa(ab_number a)
{
	return a & 0xffffffffULL;
}

static inline ab_s64 ab_exponent(ab_number a)
{
	return (ab_s64)(a >> 32) - AB_BIAS;
}

/* A normal mantissa with its exponent; too small a number becomes zero, too large a one
 * infinity. */
static inline ab_number ab_pack(ab_u64 mantissa, ab_s64 exponent)
{
	if (exponent < -AB_BIAS)
		return 0;
	if (exponent >= AB_BIAS)
		return AB_INFINITY;
	return ((ab_u64)(exponent + AB_BIAS) << 32) | (mantissa & 0xffffffffULL);
}

/* value * 2^e. Inlined: the verifier follows eight calls one inside the other. */
static inline ab_number ab_normal(ab_u64 value, ab_s64 e)
{
	if (!value)
		return 0;
	e += 32; /* exponent of the mantissa, the upper half of `value` */
	if (!(value >> 32)) { value <<= 32; e -= 32; }
	if (!(value >> 48)) { value <<= 16; e -= 16; }
	if (!(value >> 56)) { value <<= 8; e -= 8; }
	if (!(value >> 60)) { value <<= 4; e -= 4; }
	if (!(value >> 62)) { value <<= 2; e -= 2; }
	if (!(value >> 63)) { value <<= 1; e -= 1; }
	return ab_pack(value >> 32, e);
}

/* A whole number. */
AB_FUNCTION ab_number ab_whole(ab_u64 value)
{
	return ab_normal(value, 0);
}

AB_FUNCTION ab_number ab_times(ab_number a, ab_number b)
{
	ab_u64 product = ab_mantissa(a) * ab_mantissa(b);
	ab_s64 e = ab_exponent(a) + ab_exponent(b);

	if (!a || !b)
		return 0;
	return product >> 63 ? ab_pack(product >> 32, e + 32) : ab_pack(product >> 31, e + 31);
}

AB_FUNCTION ab_number ab_over(ab_number a, ab_number b)
{
	ab_u64 divisor = ab_mantissa(b), quotient;
	ab_s64 e = ab_exponent(a) - ab_exponent(b);

	if (!divisor)
		return AB_INFINITY;
	if (!a)
		return 0;
	quotient = (ab_mantissa(a) << 32) / divisor; /* the divisor is not zero: above */
	return quotient >> 32 ? ab_pack(quotient >> 1, e - 31) : ab_pack(quotient, e - 32);
}

AB_FUNCTION ab_number ab_plus(ab_number a, ab_number b)
{
	ab_number large = a > b ? a : b, small = a > b ? b : a;
	ab_s64 apart = ab_exponent(large) - ab_exponent(small), e = ab_exponent(large);
	ab_u64 sum;

	if (!small || apart > 31 || apart < 0)
		return large;
	sum = ab_mantissa(large) + (ab_mantissa(small) >> apart);
	return sum >> 32 ? ab_pack(sum >> 1, e + 1) : ab_pack(sum, e);
}

/* The whole part of a * 2^32: segments as windows count them. At most 2^62. */
AB_FUNCTION ab_u64 ab_fixed(ab_number a)
{
	ab_s64 shift = ab_exponent(a) + 32;

	if (!a || shift < -31)
		return 0;
	if (shift > 30)
		return 1ULL << 62;
	return shift < 0 ? ab_mantissa(a) >> -shift : ab_mantissa(a) << shift;
}

#endif
