/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coupling only where paths share a bottleneck: `lia+sbd`.
 *
 * Each subflow keeps the round trips of its last packets, by the time when they were sent, in
 * local storage of its socket. A process outside reads them, decides which subflows share
 * (crates/sharing), and tells each its group; the next reading puts the answer into the storage.
 * The decision is not made here: to correlate a thousand delays of each pair of subflows is no work
 * for an ACK. The storage goes with its socket. A group that was told longer than AB_BELIEVED ago
 * does not count: without the process, all subflows of a connection are coupled.
 */
#ifndef AB_SENSE_H
#define AB_SENSE_H

#include "counters.h"
#include "siblings.h"

#define AB_BELIEVED 5000000000ULL /* ns */

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ab_sense);
} ab_senses SEC(".maps");

/* What the process says: the group of each subflow, by `born`. Written before each reading. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u64);
	__type(value, u32);
} ab_groups SEC(".maps");

/* Keeps the round trip of an ACK, and takes over the group that was told. */
static __attribute__((noinline)) void ab_feel(struct sock *sk, struct ab_path *p,
					      const struct rate_sample *rs)
{
	struct ab_sense *s = bpf_sk_storage_get(&ab_senses, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	u64 now = bpf_ktime_get_ns(), sent;
	struct ab_bin *bin;
	u32 number;

	if (!s)
		return;
	if (!s->born)
		s->born = now;
	s->connection = p->connection;
	s->srtt = tcp_sk(sk)->srtt_us >> 3;
	s->losses = p->losses;
	p->group = s->group && now - s->told < AB_BELIEVED ? s->group : 0;
	if (rs->rtt_us <= 0)
		return;
	sent = now - (u64)rs->rtt_us * 1000;
	number = sent / AB_BIN;
	bin = &s->bin[number & (AB_BINS - 1)];
	if (bin->number != number) {
		bin->number = number;
		bin->count = 0;
		bin->sum = 0;
	}
	bin->count++;
	bin->sum += (u32)rs->rtt_us;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};

#pragma clang attribute pop

/* Tells a subflow its group, and writes out what it felt. */
static inline int ab_exchanged(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct ab_sense *s = ctx->value;
	u32 *group;
	u64 born;

	if (!s)
		return 0;
	born = s->born;
	group = bpf_map_lookup_elem(&ab_groups, &born);
	if (group) {
		s->group = *group;
		s->told = bpf_ktime_get_ns();
	}
	bpf_seq_write(ctx->meta->seq, s, sizeof(*s));
	return 0;
}

#endif
