/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel's own types that the controllers touch. Offsets are relocated at load
 * time (CO-RE), so that only names and types must agree with the running kernel.
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

/* The BPF constants used here. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27
};
enum { BPF_F_NO_PREALLOC = 1, BPF_RB_NO_WAKEUP = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct in6_addr {
	u8 in6_u[16];
};

struct netns_ipv4 {
	int sysctl_tcp_reordering;
	int sysctl_tcp_pacing_ss_ratio;
	int sysctl_tcp_pacing_ca_ratio;
	u8 sysctl_tcp_slow_start_after_idle;
};

struct net {
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	possible_net_t skc_net;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate; /* bytes per second */
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	__u32 icsk_rto;
	__u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
};

struct tcp_rack {
	u64 mstamp; /* when the newest delivered segment was sent, us since boot */
	u32 rtt_us; /* sample of the last delivered segment */
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp; /* the clock of this ACK or timer, us */
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_ssthresh;
	u32 snd_cwnd_clamp;
	u32 srtt_us; /* eight times the smoothed round-trip time */
	u32 mss_cache;
	u32 delivered;
	u32 rate_delivered; /* segments of the last rate sample */
	u32 rate_interval_us; /* its time */
	u32 max_packets_out;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 reordering;
	u32 prior_cwnd; /* before the reduction */
	u32 prr_out; /* sent since it began */
	u32 undo_marker;
	struct tcp_rack rack;
	u32 lsndtime;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_subflow_context {
	struct list_head node;
	u32 backup : 1;
	struct sock *tcp_sock;
	struct sock *conn;
};

struct mptcp_sock {
	struct list_head conn_list;
};

struct rate_sample {
	long rtt_us; /* negative without a sample */
	int losses; /* newly marked lost */
	u32 acked_sacked; /* newly delivered */
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	void (*cwnd_event_tx_start)(struct sock *sk); /* since Linux 7.1; not registered before */
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	u32 flags;
};

#pragma clang attribute pop

enum { TCP_ESTABLISHED = 1, TCP_CLOSE_WAIT = 8 };
enum { TCP_CA_OPEN, TCP_CA_DISORDER, TCP_CA_CWR, TCP_CA_RECOVERY, TCP_CA_LOSS };

enum { CA_EVENT_TX_START };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_CONG_NON_RESTRICTED 1 /* also in separate network namespaces */

#endif
