/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the shared headers read memory that is not their own, in a kernel module. `bpf/access.h` has
 * the same names.
 *
 * The structures of MPTCP are private to the kernel, and its headers do not have them. Offsets of
 * the five fields used here are in `ab_layout`, which layout.h measures when the module is loaded.
 * Reads are fault-safe. The callbacks hold the RCU lock: a subflow's context and its socket, once
 * reached, stay mapped until they end.
 */
#ifndef AB_ACCESS_H
#define AB_ACCESS_H

#include "kernel.h"

#include <linux/random.h>
#include <linux/uaccess.h>

/* Offsets in bytes. */
struct ab_layout {
	u32 node, tcp_sock, conn; /* in the context of a subflow */
	u32 conn_list; /* in the socket of a connection */
	u32 backup; /* in the context: a word of 32 bits, and the bit in it */
	u32 backup_bit;
};

static struct ab_layout ab_layout __ro_after_init;

/* Copies of the fields that are used; not the kernel's structures of these names. */
struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
	bool backup;
};

struct mptcp_sock {
	struct list_head conn_list;
};

/* The words of BPF in the shared headers. */
#define bpf_probe_read_kernel(to, size, from) copy_from_kernel_nofault(to, from, size)
#define BPF_CORE_READ_BITFIELD_PROBED(structure, field) ((structure)->field)
#define bpf_get_prandom_u32() get_random_u32()
#define bpf_jiffies64() get_jiffies_64()

#define ab_offset(type, field) ab_layout.field
#define ab_cast(type, pointer) ab_cast_##type((const u8 *)(pointer))
#define ab_cast_mptcp_subflow_context(at) ((struct mptcp_subflow_context[]){ ab_context(at) })
#define ab_cast_mptcp_sock(at) ((struct mptcp_sock[]){ ab_connected(at) })

/* The fields of a subflow's context; zero if one cannot be read. */
static inline struct mptcp_subflow_context ab_context(const u8 *at)
{
	struct mptcp_subflow_context found = {}, none = {};
	u32 bits;

	if (get_kernel_nofault(found.node, (struct list_head *)(at + ab_layout.node)) ||
	    get_kernel_nofault(found.tcp_sock, (struct sock **)(at + ab_layout.tcp_sock)) ||
	    get_kernel_nofault(found.conn, (struct sock **)(at + ab_layout.conn)) ||
	    get_kernel_nofault(bits, (u32 *)(at + ab_layout.backup)))
		return none;
	found.backup = bits & ab_layout.backup_bit;
	return found;
}

static inline struct mptcp_sock ab_connected(const u8 *at)
{
	struct mptcp_sock found = {}, none = {};

	if (get_kernel_nofault(found.conn_list, (struct list_head *)(at + ab_layout.conn_list)))
		return none;
	return found;
}

/* In place of a socket that cannot be read: no controller has marked it. */
static struct tcp_sock ab_nobody;

static inline struct tcp_sock *ab_cast_tcp_sock(const u8 *at)
{
	const u8 *last = at + sizeof(struct tcp_sock) - 1;
	u8 byte;

	for (; at < last; at += PAGE_SIZE)
		if (get_kernel_nofault(byte, at))
			return &ab_nobody;
	if (get_kernel_nofault(byte, last))
		return &ab_nobody;
	return (struct tcp_sock *)(last + 1 - sizeof(struct tcp_sock));
}

#endif
