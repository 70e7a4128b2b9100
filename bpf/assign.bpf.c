/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chooses the congestion control of the TCP sockets of a control group, when their handshake is
 * complete. A subflow of MPTCP is such a socket: the kernel puts those that it opens itself into
 * the group of their connection (mptcp_attach_cgroup), and those that it accepts into the group of
 * the socket that listens.
 *
 * The socket of the connection is out of reach, and remembers the congestion control that it was
 * opened with. Where a process has set an option on it, the kernel sets its options on a subflow
 * that joins, the congestion control among them: mostly before the end of the handshake, but later
 * if the process was using the connection just then. So the first answers look after the choice.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

/* Of enum bpf_sock_ops in linux/bpf.h. */
enum {
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_RTT_CB = 12
};
enum { BPF_SOCK_OPS_RTT_CB_FLAG = 1 << 3 };

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_CA_NAME_MAX 16

/* The beginning of the context of a program for sockets, as linux/bpf.h fixes it. */
struct bpf_sock_ops {
	u32 op;
	u32 reply;
	u32 arguments[3];
	u32 addresses[13];
	u32 is_fullsock;
	u32 snd_cwnd;
	u32 srtt_us;
	u32 bpf_sock_ops_cb_flags;
	u32 state;
	u32 rtt_min;
	u32 snd_ssthresh;
	u32 sequences[3];
	u32 mss_cache;
	u32 ecn_flags;
	u32 rates[2];
	u32 packets_out;
	u32 retrans_out;
	u32 total_retrans;
	u32 segs_in;
	u32 segments[3];
	u32 lost_out;
	u32 sacked_out;
	u32 sk_txhash;
	u64 bytes[2];
	struct bpf_sock *sk;
};

_Static_assert(__builtin_offsetof(struct bpf_sock_ops, is_fullsock) == 72, "is_fullsock");
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, segs_in) == 140, "segs_in");
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, sk) == 184, "sk");

/* Set before loading; ends with a zero. */
const volatile char ab_name[TCP_CA_NAME_MAX] = {};

/* What a program for an inner group replies, so that one for an outer group, which runs after it,
 * leaves its choice alone. No round trip has so many microseconds. */
#define AB_CHOSEN 0x616e6162

/* Segments after which a choice is no longer looked after. */
#define AB_SETTLED 64

static inline void ab_choose(struct bpf_sock_ops *ctx)
{
	bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, (void *)ab_name, TCP_CA_NAME_MAX);
}

static inline bool ab_is_chosen(struct bpf_sock_ops *ctx)
{
	char name[TCP_CA_NAME_MAX] = {};

	if (bpf_getsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return true;
	for (int i = 0; i < TCP_CA_NAME_MAX; i++) {
		if (name[i] != ab_name[i])
			return false;
		if (!name[i])
			break;
	}
	return true;
}

static inline bool ab_is_subflow(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;

	return tp && tp->is_mptcp;
}

/* Asks for a call at each round-trip time, or for no further one. */
static inline void ab_look_after(struct bpf_sock_ops *ctx, bool on)
{
	u32 flags = ctx->bpf_sock_ops_cb_flags;

	flags = on ? flags | BPF_SOCK_OPS_RTT_CB_FLAG : flags & ~BPF_SOCK_OPS_RTT_CB_FLAG;
	bpf_sock_ops_cb_flags_set(ctx, flags);
}

SEC("sockops")
int ab_assign(struct bpf_sock_ops *ctx)
{
	u32 op = ctx->op;

	if (ctx->reply == AB_CHOSEN)
		return 1;
	if (op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) {
		ab_choose(ctx);
		if (op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB && ab_is_subflow(ctx))
			ab_look_after(ctx, true);
	} else if (op == BPF_SOCK_OPS_RTT_CB) {
		if (!ab_is_chosen(ctx))
			ab_choose(ctx);
		if (ctx->segs_in > AB_SETTLED)
			ab_look_after(ctx, false);
	} else {
		return 1;
	}
	ctx->reply = AB_CHOSEN;
	return 1;
}

char _license[] SEC("license") = "GPL";
