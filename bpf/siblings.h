/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paths of a connection, as one of them sees its siblings.
 *
 * Each subflow publishes in its own socket (icsk_ca_priv) and reads its siblings' by walking the
 * connection's list of subflows. So no map is needed, nothing can fill up, and nothing outlives a
 * connection. The walk holds no lock: a subflow that leaves meanwhile costs at most a wrong view
 * for one ACK. What a sibling publishes is what its last callback left, repaired (guard.h), and not
 * what its socket holds now. Every read of memory that is not ours is fault-safe, the walk is
 * bounded, and a socket counts only if one of our controllers has marked it and it belongs to the
 * same connection.
 */
#ifndef AB_SIBLINGS_H
#define AB_SIBLINGS_H

#include "common.h"

#include "include/intf.h"

/* A finite threshold above this is garbage left by a missed callback. */
#define AB_PLAUSIBLE (1U << 24)

/* "bana", the arm of a river that comes back; another number for each layout of `struct ab_path`. */
#define AB_MAGIC (0x616e6162 + AB_NOTES)

static inline struct ab_path *ab_path(struct tcp_sock *tp)
{
	return (struct ab_path *)tp->inet_conn.icsk_ca_priv;
}

/* The MPTCP socket of a subflow; zero for a plain TCP socket. */
static inline u64 ab_connection(struct tcp_sock *tp)
{
	if (!tp->is_mptcp || !tp->inet_conn.icsk_ulp_data)
		return 0;
	return (u64)ab_cast(mptcp_subflow_context, tp->inet_conn.icsk_ulp_data)->conn;
}

/* The state of a walk over the subflows of a connection. */
struct ab_walk {
	u64 connection;
	u64 socket; /* the socket that walks */
	u64 node; /* the next one in the list; zero at the end */
	u32 paths; /* usable subflows so far */
	u32 me; /* the place of `socket`, or AB_PATHS */
	u32 group; /* of `socket`; zero: all subflows are coupled with it */
	u32 cwnd; /* of `socket`, now */
};

/* Fills `view` with the published state of the subflow at `w->node`, if it takes part, as the
 * one in `place`. For BPF it is a global function, which is verified separately: the verifier need
 * not follow the walk. */
AB_FUNCTION int ab_visit(struct ab_walk *w, struct ab_view *view, u32 place)
{
	struct mptcp_subflow_context *context;
	struct tcp_sock *ssk;
	struct ab_path path;
	u8 state, reducing;

	if (!w || !view || !w->node)
		return 0;
	context = ab_cast(mptcp_subflow_context, w->node - ab_offset(mptcp_subflow_context, node));
	w->node = (u64)context->node.next;
	if (w->node == w->connection + ab_offset(mptcp_sock, conn_list))
		w->node = 0;
	ssk = ab_cast(tcp_sock, context->tcp_sock);
	if (bpf_probe_read_kernel(&path, sizeof(path), ssk->inet_conn.icsk_ca_priv))
		return 0;
	if (path.magic != AB_MAGIC || path.connection != w->connection || !(ssk->srtt_us >> 3))
		return 0;
	state = ssk->inet_conn.icsk_inet.sk.__sk_common.skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		return 0;
	if (BPF_CORE_READ_BITFIELD_PROBED(context, backup))
		return 0;
	if (w->group && path.group && path.group != w->group)
		return 0;
	reducing = path.state == TCP_CA_CWR || path.state == TCP_CA_RECOVERY;
	view->cwnd = reducing && path.ssthresh && path.ssthresh < AB_PLAUSIBLE ? path.ssthresh
									       : path.cwnd;
	view->srtt = ssk->srtt_us >> 3;
	view->since_loss = path.since_loss;
	view->between_losses = path.between_losses;
#if AB_NOTES
#pragma unroll
	for (int i = 0; i < AB_NOTES; i++)
		view->note[i] = path.note[i];
#endif
	w->paths++;
	if ((u64)context->tcp_sock == w->socket) {
		w->me = place;
		/* Not the one that the last callback left. The caller has the view on its stack and
		 * would write at a place that is only known at run time: some verifiers, as that of
		 * Linux 6.18.15, then take half of a slot of the stack as never written. */
		view->cwnd = w->cwnd;
	}
	return 0;
}

/* Fills `v` with the usable paths of the connection, the own one with the window `cwnd`, and
 * returns their number. It is 1 for plain TCP, for a connection that fell back to it, for one
 * without usable siblings, and while the own path is not among them, for example as a backup. It is
 * 0 for a connection of more than AB_PATHS subflows. */
static inline u32 ab_gather(struct tcp_sock *tp, struct ab_views *v, u32 cwnd)
{
	struct ab_path *own = ab_path(tp);
	struct ab_walk w = {
		.socket = (u64)tp, .me = AB_PATHS, .group = own->group, .cwnd = cwnd
	};

	/* changes when a connection falls back */
	own->connection = w.connection = ab_connection(tp);
	if (!own->connection)
		return 1;
	w.node = (u64)ab_cast(mptcp_sock, own->connection)->conn_list.next;
	for (u32 i = 0; i < AB_PATHS && w.node; i++)
		ab_visit(&w, &v->path[i], i);
	v->paths = w.paths;
	v->me = w.me & (AB_PATHS - 1);
	if (w.node)
		return 0;
	return w.me < AB_PATHS ? w.paths : 1;
}

/* Whether the law decides at a window of `cwnd`, of so many paths as ab_gather found. A law that
 * does so for a path alone then sees that path, and nothing else. */
static inline bool ab_decides(struct tcp_sock *tp, struct ab_views *v, u32 cwnd, u32 paths)
{
#if AB_LEAST < 2
	struct ab_path *own = ab_path(tp);

	if (paths < 2) {
		__builtin_memset(v, 0, sizeof(*v));
		v->paths = 1;
		v->path[0].cwnd = cwnd;
		v->path[0].srtt = tp->srtt_us >> 3;
		v->path[0].since_loss = own->since_loss;
		v->path[0].between_losses = own->between_losses;
#if AB_NOTES
#pragma unroll
		for (int i = 0; i < AB_NOTES; i++)
			v->path[0].note[i] = own->note[i];
#endif
	}
	return true;
#else
	return paths > 1;
#endif
}

#endif
