/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Whole numbers by their width, under names that no header of the kernel or of libc has, and how
 * functions of laws are defined. */
#ifndef AB_TYPES_H
#define AB_TYPES_H

typedef unsigned char ab_u8;
typedef unsigned short ab_u16;
typedef unsigned int ab_u32;
typedef unsigned long long ab_u64;
typedef long long ab_s64;

/* For BPF each function is verified by itself, once, and not again at every call. */
#ifdef __bpf__
#define AB_FUNCTION __attribute__((noinline, weak))
#else
#define AB_FUNCTION static inline __attribute__((unused))
#endif

#endif
