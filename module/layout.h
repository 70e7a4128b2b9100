/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures where MPTCP keeps the fields that access.h reads.
 *
 * The structures are in net/mptcp/protocol.h, which no package of headers has, and they differ
 * between versions and configurations. A table of offsets would read wrong ones on a kernel that is
 * not in it. So the module makes a socket of MPTCP of its own, which sends nothing, and looks for
 * values that it knows:
 *
 * - The context has the address of its socket (`tcp_sock`) and of the connection (`conn`).
 * - The connection has the head (`conn_list`) of a list with one entry, the context's (`node`): each
 *   of the two has the address of the other, twice.
 * - The flags that the kernel reports of a subflow (`get_info`, as `ss` shows them) are computed
 *   from a copy of the context. In the copy the word of flags is the one in which clearing a bit
 *   clears MCAP_LOC, and `backup` the bit of that word that changes BKUP_REM and nothing else.
 *
 * Each must be found exactly once, or the module is not loaded, and says what is missing. No memory
 * of MPTCP is written, and in the copy no word that may be a pointer.
 */
#ifndef AB_LAYOUT_H
#define AB_LAYOUT_H

#include "access.h"

#include <linux/in.h>
#include <linux/inet_diag.h>
#include <linux/mptcp.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <net/netlink.h>

/* Bytes of a context that are searched; it has 272 in Linux 6.12, 280 in 7.3. */
#ifndef AB_MOST_CONTEXT
#define AB_MOST_CONTEXT 1024
#endif
#define AB_MOST_CONNECTION 8192
#define AB_REPORT 1024 /* bytes of what get_info writes: some 100 */

#define AB_NOWHERE (~0U)

/* What is looked at: addresses, and the bytes there. */
struct ab_specimen {
	struct sock *connection, *subflow;
	u8 *context;
	u32 connection_bytes, context_bytes;
	/* copies, of which get_info reports */
	struct tcp_sock *socket_copy;
	u8 *context_copy;
	struct sk_buff *report;
};

/* The word of eight bytes at an address; zero if it cannot be read. */
static u64 __init ab_word(const void *at)
{
	u64 word;

	return get_kernel_nofault(word, (const u64 *)at) ? 0 : word;
}

/* The only place of a word with this value in an object, or AB_NOWHERE. */
static u32 __init ab_find(const void *object, u32 bytes, const void *value)
{
	u32 found = AB_NOWHERE;

	for (u32 at = 0; at + 8 <= bytes; at += 8) {
		if (ab_word(object + at) != (u64)value)
			continue;
		if (found != AB_NOWHERE)
			return AB_NOWHERE;
		found = at;
	}
	return found;
}

/* Whether an address may be that of a subflow: a socket with the upper layer `mptcp`. */
static bool __init ab_is_subflow(u64 address)
{
	const struct inet_connection_sock *socket = (const void *)address;
	char name[sizeof("mptcp")];
	const struct tcp_ulp_ops *layer;

	if (!address || get_kernel_nofault(layer, &socket->icsk_ulp_ops) || !layer)
		return false;
	return !copy_from_kernel_nofault(name, layer->name, sizeof(name)) &&
	       !memcmp(name, "mptcp", sizeof(name));
}

/* The only subflow to which a connection points, or null. */
static struct sock *__init ab_only_subflow(const struct ab_specimen *s)
{
	u64 found = 0;

	for (u32 at = 0; at + 8 <= s->connection_bytes; at += 8) {
		u64 word = ab_word((u8 *)s->connection + at);

		if (word == found || !ab_is_subflow(word))
			continue;
		if (found)
			return NULL;
		found = word;
	}
	return (struct sock *)found;
}

/* Whether the head at an address has one entry, in the context. */
static bool __init ab_is_list(const struct ab_specimen *s, const u8 *head)
{
	u64 entry = ab_word(head), place = entry - (u64)s->context;

	if (entry != ab_word(head + 8) || place + 16 > s->context_bytes || place >= entry)
		return false;
	return ab_word((void *)entry) == (u64)head && ab_word((void *)(entry + 8)) == (u64)head;
}

static const char *__init ab_measure_list(const struct ab_specimen *s, struct ab_layout *found)
{
	found->conn_list = AB_NOWHERE;
	for (u32 at = 0; at + 16 <= s->connection_bytes; at += 8) {
		if (!ab_is_list(s, (u8 *)s->connection + at))
			continue;
		if (found->conn_list != AB_NOWHERE)
			return "one list of subflows";
		found->conn_list = at;
		found->node = ab_word((u8 *)s->connection + at) - (u64)s->context;
	}
	return found->conn_list == AB_NOWHERE ? "the list of subflows" : NULL;
}

/* Kernels before 6.19 did not ask who wants to know. */
static int __init __maybe_unused ab_ask_2(int (*ask)(struct sock *, struct sk_buff *), struct sock *sk,
			   struct sk_buff *skb)
{
	return ask(sk, skb);
}

static int __init __maybe_unused ab_ask_3(int (*ask)(struct sock *, struct sk_buff *, bool), struct sock *sk,
			   struct sk_buff *skb)
{
	return ask(sk, skb, true);
}

#define ab_ask(ask, sk, skb)                                                    \
	_Generic(ask, int (*)(struct sock *, struct sk_buff *): ab_ask_2,       \
		 int (*)(struct sock *, struct sk_buff *, bool): ab_ask_3)(ask, sk, skb)

/* The flags that the kernel reports of the copies; negative if it reports none. */
static s64 __init ab_flags(const struct ab_specimen *s)
{
	struct sock *sk = (struct sock *)s->socket_copy;
	const struct nlattr *nest, *flags;

	skb_trim(s->report, 0);
	if (ab_ask(inet_csk(sk)->icsk_ulp_ops->get_info, sk, s->report) || !s->report->len)
		return -1;
	nest = (const struct nlattr *)s->report->data;
	flags = nla_find_nested(nest, MPTCP_SUBFLOW_ATTR_FLAGS);
	return flags && nla_len(flags) == 4 ? nla_get_u32(flags) : -1;
}

/* Whether a word of the copy may be a pointer: then it is left as it is. */
static bool __init ab_may_point(const u8 *word)
{
	u8 byte;

	return !get_kernel_nofault(byte, *(const u8 *const *)word);
}

/* Whether clearing a bit of a word clears a flag in the report. */
static bool __init ab_has_flag(const struct ab_specimen *s, u32 *word, u32 flag)
{
	u32 before = *word;
	bool found = false;

	for (u32 bit = 1; bit && !found; bit <<= 1) {
		s64 flags;

		if (!(before & bit))
			continue;
		*word = before & ~bit;
		flags = ab_flags(s);
		*word = before;
		found = flags >= 0 && !(flags & flag);
	}
	return found;
}

static const char *__init ab_measure_backup(const struct ab_specimen *s, struct ab_layout *found)
{
	s64 flags = ab_flags(s);
	u32 *word;

	if (flags < 0 || !(flags & MPTCP_SUBFLOW_FLAG_MCAP_LOC))
		return "the flags of a subflow";
	found->backup = AB_NOWHERE;
	found->backup_bit = 0;
	for (u32 at = 0; at + 4 <= s->context_bytes; at += 4) {
		if (ab_may_point(s->context_copy + (at & ~7U)) ||
		    !ab_has_flag(s, (u32 *)(s->context_copy + at), MPTCP_SUBFLOW_FLAG_MCAP_LOC))
			continue;
		if (found->backup != AB_NOWHERE)
			return "one word of flags";
		found->backup = at;
	}
	if (found->backup == AB_NOWHERE)
		return "the word of flags";
	word = (u32 *)(s->context_copy + found->backup);
	for (u32 bit = 1; bit; bit <<= 1) {
		*word ^= bit;
		if (ab_flags(s) == (flags ^ MPTCP_SUBFLOW_FLAG_BKUP_REM)) {
			if (found->backup_bit)
				return "one bit of a backup";
			found->backup_bit = bit;
		}
		*word ^= bit;
	}
	return found->backup_bit ? NULL : "the bit of a backup";
}

/* Makes the copies. The one of the socket has a lock of its own, which nobody holds. */
static bool __init ab_copy(struct ab_specimen *s)
{
	struct sock *sk;

	s->socket_copy = kzalloc(sizeof(*s->socket_copy), GFP_KERNEL);
	s->context_copy = kzalloc(s->context_bytes, GFP_KERNEL);
	s->report = alloc_skb(AB_REPORT, GFP_KERNEL);
	if (!s->socket_copy || !s->context_copy || !s->report ||
	    copy_from_kernel_nofault(s->socket_copy, s->subflow, sizeof(*s->socket_copy)) ||
	    copy_from_kernel_nofault(s->context_copy, s->context, s->context_bytes))
		return false;
	sk = (struct sock *)s->socket_copy;
	spin_lock_init(&sk->sk_lock.slock);
	init_waitqueue_head(&sk->sk_lock.wq);
	sk->sk_lock.owned = 0;
	RCU_INIT_POINTER(inet_csk(sk)->icsk_ulp_data, s->context_copy);
	return inet_csk(sk)->icsk_ulp_ops->get_info;
}

/* What could not be found, or null. */
static const char *__init ab_measure_all(struct ab_specimen *s, struct ab_layout *found)
{
	const char *missing;

	s->connection_bytes = min_t(u32, s->connection->sk_prot->obj_size, AB_MOST_CONNECTION);
	s->subflow = ab_only_subflow(s);
	if (!s->subflow)
		return "one subflow of a new connection";
	s->context = (u8 *)ab_word(&inet_csk(s->subflow)->icsk_ulp_data);
	if (!s->context || !virt_addr_valid(s->context))
		return "the context of a subflow";
	s->context_bytes = min_t(u32, ksize(s->context), AB_MOST_CONTEXT);
	found->tcp_sock = ab_find(s->context, s->context_bytes, s->subflow);
	if (found->tcp_sock == AB_NOWHERE)
		return "the socket of a subflow";
	found->conn = ab_find(s->context, s->context_bytes, s->connection);
	if (found->conn == AB_NOWHERE)
		return "the connection of a subflow";
	missing = ab_measure_list(s, found);
	if (missing)
		return missing;
	return ab_copy(s) ? ab_measure_backup(s, found) : "a copy of a subflow";
}

/* Measures `ab_layout`. Zero, or a negative error after a line in the kernel's log. */
static int __init ab_measure(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	struct ab_specimen specimen = {};
	const char *missing;
	struct socket *socket;
	int error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_MPTCP, &socket);

	if (error) {
		pr_err("no socket of MPTCP can be made (error %d): is net.mptcp.enabled 1?\n", error);
		return error;
	}
	/* binding makes the first subflow; the type of the argument differs between versions */
	error = kernel_bind(socket, (void *)&address, sizeof(address));
	if (error) {
		pr_err("a socket of MPTCP cannot be bound to 127.0.0.1 (error %d)\n", error);
	} else {
		specimen.connection = socket->sk;
		missing = ab_measure_all(&specimen, &ab_layout);
		if (missing) {
			pr_err("the layout of MPTCP in Linux %s is unknown, without %s: not loaded\n",
			       utsname()->release, missing);
			error = -EOPNOTSUPP;
		}
	}
	kfree_skb(specimen.report);
	kfree(specimen.context_copy);
	kfree(specimen.socket_copy);
	sock_release(socket);
	return error;
}

#endif
