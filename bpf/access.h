/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a program of BPF reads memory that is not its own, and which functions of the kernel it
 * calls. Headers that include this one are also compiled into a kernel module: there
 * `module/access.h` stands in its place, with the same names.
 */
#ifndef AB_ACCESS_H
#define AB_ACCESS_H

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym;

/* A pointer to a structure that can only be read, and whose fields read as zero where they cannot
 * be. */
#define ab_cast(type, pointer) \
	((struct type *)bpf_rdonly_cast((void *)(pointer), bpf_core_type_id_kernel(struct type)))

#define ab_offset(type, field) bpf_core_field_offset(struct type, field)

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

#endif
