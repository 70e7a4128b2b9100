/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel's own types that the controllers touch. Offsets are relocated at load time
 * (CO-RE), so that only names and types must agree with the running kernel.
 */
#ifndef AB_KERNEL_H
#define AB_KERNEL_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef _Bool bool;
enum { false, true };

/* Of the constants of BPF those that are used here. */
enum { BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_RB_NO_WAKEUP = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct sock {
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	__u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_ssthresh;
	u32 snd_cwnd_clamp;
	u32 srtt_us; /* eight times the smoothed round-trip time */
	u32 delivered;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
};

struct mptcp_sock {
	struct list_head conn_list;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	u32 flags;
};

#pragma clang attribute pop

enum { TCP_CA_OPEN, TCP_CA_DISORDER, TCP_CA_CWR, TCP_CA_RECOVERY, TCP_CA_LOSS };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CONG_NON_RESTRICTED 1 /* also in network namespaces of their own */

#endif
