/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what every socket under one of our controllers publishes: one record for each that TCP has
 * in the reader's network namespace, in every state, also if the controller has not begun on it.
 */
#include "siblings.h"

#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct seq_file {
};

struct list_head___prev {
	struct list_head___prev *prev;
};

struct tcp_congestion_ops___listed {
	struct list_head___prev list;
};

#pragma clang attribute pop

#define AF_INET6 10

#define AB_FRESH 1000000 /* us; an older rate sample is of a connection that is idle now */

static inline void ab_addresses(struct ab_subflow *row, struct sock_common *sk)
{
	row->local_port = sk->skc_num;
	row->remote_port = __builtin_bswap16(sk->skc_dport);
	if (sk->skc_family == AF_INET6) {
		row->flags |= AB_IPV6;
		bpf_probe_read_kernel(row->local, 16, &sk->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(row->remote, 16, &sk->skc_v6_daddr);
	} else {
		bpf_probe_read_kernel(row->local, 4, &sk->skc_rcv_saddr);
		bpf_probe_read_kernel(row->remote, 4, &sk->skc_daddr);
	}
}

/* Whether the path manager keeps a subflow as a backup. */
static inline bool ab_backup(struct tcp_sock *tp)
{
	struct mptcp_subflow_context *context;

	if (!tp->is_mptcp || !tp->inet_conn.icsk_ulp_data)
		return false;
	context = ab_cast(mptcp_subflow_context, tp->inet_conn.icsk_ulp_data);
	return BPF_CORE_READ_BITFIELD_PROBED(context, backup);
}

/* Whether a control is no longer in the kernel's list: removing it leaves there a pointer that
 * cannot be read (LIST_POISON2). Another one of the same name may be in the list meanwhile. */
static inline bool ab_departed(const struct tcp_congestion_ops *ops)
{
	const struct tcp_congestion_ops___listed *entry = (const void *)ops;
	u64 node;

	return bpf_probe_read_kernel(&node, sizeof(node), entry->list.prev) < 0;
}

/* Names of our controllers begin with ab, or with law_ where the law is a user's. */
static inline bool ab_ours(const u8 *name)
{
	if (name[0] == 'a' && name[1] == 'b')
		return true;
	return name[0] == 'l' && name[1] == 'a' && name[2] == 'w' && name[3] == '_';
}

SEC("iter/tcp")
int ab_status(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct ab_subflow row = {};
	struct tcp_sock *tp;

	if (!sk)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	bpf_probe_read_kernel(row.controller, sizeof(row.controller),
			      tp->inet_conn.icsk_ca_ops->name);
	if (!ab_ours(row.controller))
		return 0;
	bpf_probe_read_kernel(&row.path, sizeof(row.path), tp->inet_conn.icsk_ca_priv);
	if (row.path.magic - AB_MAGIC <= AB_MOST_NOTES)
		row.flags |= AB_BEGUN;
	else
		__builtin_memset(&row.path, 0, sizeof(row.path));
	if (ab_backup(tp))
		row.flags |= AB_BACKUP;
	if (ab_departed(tp->inet_conn.icsk_ca_ops))
		row.flags |= AB_DEPARTED;
	ab_addresses(&row, sk);
	row.state = sk->skc_state;
	row.ca_state = BPF_CORE_READ_BITFIELD_PROBED(&tp->inet_conn, icsk_ca_state);
	row.cwnd = tp->snd_cwnd;
	row.ssthresh = tp->snd_ssthresh;
	row.srtt_us = tp->srtt_us >> 3;
	row.delivered = tp->delivered;
	row.sent_us = tp->rack.mstamp;
	row.rtt_us = tp->rack.rtt_us;
	row.mss = tp->mss_cache;
	if (bpf_ktime_get_ns() / 1000 - row.sent_us < AB_FRESH + row.srtt_us) {
		row.rate_segments = tp->rate_delivered;
		row.rate_us = tp->rate_interval_us;
	}
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

char _license[] SEC("license") = "GPL";
