/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The structures that the controllers share with Rust. Rust has the same fields under the same
 * names: `RawView`, `RawViews`, `Window` and `RawStep` in crates/ports/src/step.rs, for laws
 * without notes; `Constants`, `Counters`, `Path` and `Row` in crates/kernel/src. With notes,
 * `Views::to_bytes` and `Step::from_bytes` have the same order; crates/ports/tests/generated.rs
 * holds them to it.
 *
 * AB_SIZE and AB_FIELD state the layout. The C compiler checks these lines against the structures
 * here; crates/ports/build.rs reads the same lines, and the Rust compiler checks them against the
 * structures there. Enumerations and AB_PATHS state their values themselves: build.rs reads their
 * definitions, and the Rust compiler checks that `Fault`, `Flag` and `PATHS` have the same ones. A
 * change of one side alone does not compile.
 */
#ifndef AB_INTF_H
#define AB_INTF_H

#include "types.h"

#define AB_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define AB_FIELD(type, field, offset) \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset), #type "." #field)

/* Number of a law's own notes of each path; its header may define it first. */
#ifndef AB_NOTES
#define AB_NOTES 0
#endif

/* Whether congestion avoidance makes something of them; likewise. */
#ifndef AB_NOTES_GROW
#define AB_NOTES_GROW 0
#endif

/* The fewest usable paths that the law decides for; likewise. Below it the kernel's Reno does. */
#ifndef AB_LEAST
#define AB_LEAST 2
#endif

#define AB_MOST_NOTES 4 /* the room in icsk_ca_priv */
_Static_assert(AB_NOTES <= AB_MOST_NOTES, "AB_NOTES");

/* Most subflows of a connection that is coupled; a power of two, as masks bound places by it. The
 * kernel's path manager opens 9 at most. With notes fewer fit the stack of BPF. */
#if !AB_NOTES
#define AB_PATHS 16
#elif AB_NOTES <= 2
#define AB_PATHS 8
#else
#define AB_PATHS 4
#endif

/* A law's view of one subflow. Zero `srtt` marks a place without a usable subflow. */
struct ab_view {
	ab_u32 cwnd; /* segments; in recovery the window that recovery will end with */
	ab_u32 srtt; /* us */
	ab_u32 since_loss; /* segments acknowledged since the last loss */
	ab_u32 between_losses; /* segments acknowledged between the last two losses */
#if AB_NOTES
	ab_u64 note[AB_NOTES]; /* ab_signed, under laws in text */
#endif
};

AB_SIZE(ab_view, 16 + 8 * AB_NOTES);
AB_FIELD(ab_view, cwnd, 0);
AB_FIELD(ab_view, srtt, 4);
AB_FIELD(ab_view, since_loss, 8);
AB_FIELD(ab_view, between_losses, 12);

/* A law's view of a connection. */
struct ab_views {
	ab_u32 paths; /* number of usable subflows */
	ab_u32 me; /* the subflow being evaluated, below AB_PATHS */
	struct ab_view path[AB_PATHS];
};

AB_SIZE(ab_views, 8 + (16 + 8 * AB_NOTES) * AB_PATHS);
AB_FIELD(ab_views, paths, 0);
AB_FIELD(ab_views, me, 4);
AB_FIELD(ab_views, path, 8);

/* A window in whole segments with a fraction moved by a law. */
struct ab_window {
	ab_s64 credit; /* gain of the window beyond `cwnd`, in 2^-32 segments */
	ab_u32 cwnd; /* segments, at least 1 */
};

AB_SIZE(ab_window, 16);
AB_FIELD(ab_window, credit, 0);
AB_FIELD(ab_window, cwnd, 8);

/* One step of a window under the law: its views and its answer. Recorded by an attached
 * controller, and replayed by `ab_replay`, by the same C built natively and by the readable law. */
struct ab_step {
	ab_u32 acked; /* segments acknowledged */
	ab_u32 before_cwnd, after_cwnd; /* segments */
	ab_u32 srtt; /* of the socket itself, us */
	ab_u32 socket; /* a hash of its ports and its own address */
	ab_u32 breaks; /* changes when a cause other than the law may have moved the window */
	ab_s64 before_credit, after_credit; /* 2^-32 segments */
	ab_s64 growth; /* for each acknowledged segment, in 2^-32 segments */
	ab_s64 backoff; /* segments, not floored; only a replay sets it, a record has zero */
	struct ab_views views; /* last, because its size depends on the law */
};

AB_SIZE(ab_step, 64 + (16 + 8 * AB_NOTES) * AB_PATHS);
AB_FIELD(ab_step, acked, 0);
AB_FIELD(ab_step, before_cwnd, 4);
AB_FIELD(ab_step, after_cwnd, 8);
AB_FIELD(ab_step, srtt, 12);
AB_FIELD(ab_step, socket, 16);
AB_FIELD(ab_step, breaks, 20);
AB_FIELD(ab_step, before_credit, 24);
AB_FIELD(ab_step, after_credit, 32);
AB_FIELD(ab_step, growth, 40);
AB_FIELD(ab_step, backoff, 48);
AB_FIELD(ab_step, views, 56);

/* Settings of a controller, written before it is loaded. */
struct ab_settings {
	ab_u32 min_ssthresh; /* of coupled subflows, in segments; 0: AB_MIN_SSTHRESH of the law */
	ab_u32 skips; /* callbacks to ignore, of 2^32: only to test the repairs */
	ab_u32 record; /* whether to record steps */
	ab_u32 fault; /* enum ab_fault: planted, only to test that such a fault is found */
	ab_u32 sbd; /* whether only subflows that share a bottleneck are coupled */
};

AB_SIZE(ab_settings, 20);
AB_FIELD(ab_settings, min_ssthresh, 0);
AB_FIELD(ab_settings, skips, 4);
AB_FIELD(ab_settings, record, 8);
AB_FIELD(ab_settings, fault, 12);
AB_FIELD(ab_settings, sbd, 16);

/* Faults that can be planted; Rust and Python take their names from here. */
enum ab_fault {
	AB_SOUND = 0,
	AB_REMAINDER_DROPPED = 1, /* drops the fraction of a step beyond whole segments */
	AB_TRIPS_SWAPPED = 2, /* swaps the round-trip times of two paths */
	AB_CREDIT_RESET = 3,
	AB_IDLE_IGNORED = 4, /* omits the decay of a window in idle time */
};

/* Counts of a controller over all sockets since it was loaded. */
struct ab_counters {
	ab_u64 acks; /* calls of cong_control */
	ab_u64 coupled; /* ACKs at which the law moved the window */
	ab_u64 losses; /* congestion events */
	ab_u64 missed; /* ACKs that passed without a callback */
	ab_u64 mismatches; /* congestion states that changed without a callback */
	ab_u64 repairs; /* windows and thresholds corrected after a missed callback */
	ab_u64 skipped; /* callbacks ignored on purpose */
	ab_u64 crowded; /* ACKs of connections with more paths than AB_PATHS: each is alone */
	ab_u64 unrecorded; /* steps that did not fit the buffer of records */
};

AB_SIZE(ab_counters, 72);
AB_FIELD(ab_counters, acks, 0);
AB_FIELD(ab_counters, coupled, 8);
AB_FIELD(ab_counters, losses, 16);
AB_FIELD(ab_counters, missed, 24);
AB_FIELD(ab_counters, mismatches, 32);
AB_FIELD(ab_counters, repairs, 40);
AB_FIELD(ab_counters, skipped, 48);
AB_FIELD(ab_counters, crowded, 56);
AB_FIELD(ab_counters, unrecorded, 64);

/* A subflow's own and published state, in icsk_ca_priv: 104 bytes at most. */
struct ab_path {
	ab_u64 connection; /* address of the MPTCP socket; zero for plain TCP */
	ab_s64 credit; /* fraction of the window, in 2^-32 segments */
	ab_s64 growth; /* the law's last growth, in 2^-32 segments; zero while it does not decide */
	ab_u32 magic; /* AB_MAGIC once the controller has started on the socket */
	ab_u32 since_loss; /* segments acknowledged since the last loss */
	ab_u32 between_losses; /* segments acknowledged between the last two losses */
	ab_u32 cwnd; /* the window after the last callback */
	ab_u32 ssthresh; /* set by the last congestion event; zero: take the kernel's */
	ab_u32 delivered; /* tp->delivered after the last ACK */
	ab_u32 reduced; /* segments delivered since rate reduction began */
	ab_u32 losses; /* congestion events */
	ab_u32 missed; /* ACKs that passed without a callback */
	ab_u32 repairs; /* windows or thresholds corrected after a missed callback */
	ab_u8 state; /* congestion state after the last callback */
	ab_u8 pending; /* ssthresh() was called, and set_state() will follow */
	ab_u8 paths; /* usable paths at the last ACK; 1 while alone */
	ab_u8 running; /* whether an ACK has arrived */
	ab_u16 breaks; /* incremented when a cause other than the law may move the window */
	ab_u8 group; /* subflows of another group are not coupled with it; zero: all are */
	ab_u8 unused;
#if AB_NOTES
	ab_u64 note[AB_NOTES]; /* ab_signed */
#endif
};

AB_SIZE(ab_path, 72 + 8 * AB_NOTES);
AB_FIELD(ab_path, connection, 0);
AB_FIELD(ab_path, credit, 8);
AB_FIELD(ab_path, growth, 16);
AB_FIELD(ab_path, magic, 24);
AB_FIELD(ab_path, since_loss, 28);
AB_FIELD(ab_path, between_losses, 32);
AB_FIELD(ab_path, cwnd, 36);
AB_FIELD(ab_path, ssthresh, 40);
AB_FIELD(ab_path, delivered, 44);
AB_FIELD(ab_path, reduced, 48);
AB_FIELD(ab_path, losses, 52);
AB_FIELD(ab_path, missed, 56);
AB_FIELD(ab_path, repairs, 60);
AB_FIELD(ab_path, state, 64);
AB_FIELD(ab_path, pending, 65);
AB_FIELD(ab_path, paths, 66);
AB_FIELD(ab_path, running, 67);
AB_FIELD(ab_path, breaks, 68);
AB_FIELD(ab_path, group, 70);
AB_FIELD(ab_path, unused, 71);

#define AB_BIN 10000000 /* ns; the width of a bin of round trips */
#define AB_BINS 128 /* a power of two */

/* The round trips of packets that were sent in one bin of time. */
struct ab_bin {
	ab_u32 number; /* the bin since boot, modulo 2^32 */
	ab_u32 count;
	ab_u64 sum; /* us */
};

AB_SIZE(ab_bin, 16);
AB_FIELD(ab_bin, number, 0);
AB_FIELD(ab_bin, count, 4);
AB_FIELD(ab_bin, sum, 8);

/* What a subflow feels of its bottleneck, and what it was told: local storage of its socket. */
struct ab_sense {
	ab_u64 born; /* ns since boot; names the subflow */
	ab_u64 told; /* when `group` was, ns since boot */
	ab_u64 connection; /* as in ab_path */
	ab_u32 srtt; /* us */
	ab_u32 losses; /* congestion events */
	ab_u32 group; /* as in ab_path */
	ab_u32 unused;
	struct ab_bin bin[AB_BINS];
};

AB_SIZE(ab_sense, 2088);
AB_FIELD(ab_sense, born, 0);
AB_FIELD(ab_sense, told, 8);
AB_FIELD(ab_sense, connection, 16);
AB_FIELD(ab_sense, srtt, 24);
AB_FIELD(ab_sense, losses, 28);
AB_FIELD(ab_sense, group, 32);
AB_FIELD(ab_sense, unused, 36);
AB_FIELD(ab_sense, bin, 40);

#if AB_NOTES
/* The notes of a path as an argument of a law's functions. */
struct ab_notes {
	ab_u64 note[AB_NOTES]; /* ab_signed */
};

/* The event that updates notes: an ACK; or a congestion event, which leaves the first three and
 * `slow` zero. */
struct ab_news {
	ab_u32 acked; /* segments acknowledged */
	ab_u32 rtt; /* the newest sample of the round-trip time, us; zero while there is none */
	ab_u32 srtt; /* us */
	ab_u32 since_loss; /* as in ab_path, before the event */
	ab_u32 between_losses;
	ab_u32 cwnd; /* segments, before the event */
	ab_u32 now; /* us, modulo 2^32 */
	ab_u32 slow; /* whether the path is in slow start */
};

AB_SIZE(ab_news, 32);
AB_FIELD(ab_news, acked, 0);
AB_FIELD(ab_news, rtt, 4);
AB_FIELD(ab_news, srtt, 8);
AB_FIELD(ab_news, since_loss, 12);
AB_FIELD(ab_news, between_losses, 16);
AB_FIELD(ab_news, cwnd, 20);
AB_FIELD(ab_news, now, 24);
AB_FIELD(ab_news, slow, 28);
#endif

/* One socket under a controller, as written by the iterator of status.bpf.c. */
struct ab_subflow {
	ab_u8 controller[16]; /* its name in the kernel, padded with zeros */
	ab_u8 local[16], remote[16]; /* addresses; IPv4 in the first four bytes */
	ab_u16 local_port, remote_port;
	ab_u8 flags; /* enum ab_flag */
	ab_u8 state; /* TCP state, as in TCP_ESTABLISHED */
	ab_u8 ca_state; /* congestion state of the socket, as in TCP_CA_OPEN */
	ab_u8 unused;
	ab_u32 cwnd, ssthresh, srtt_us, delivered; /* of the socket */
	struct ab_path path; /* zero if the controller has not started on it */
	ab_u64 sent_us; /* when the newest packet that was delivered was sent, us since boot */
	ab_u32 rtt_us; /* round trip of the last packet that was delivered, not smoothed */
	ab_u32 mss; /* bytes of data in a segment */
	ab_u32 rate_segments, rate_us; /* a rate sample of the last second, or zero */
};

AB_SIZE(ab_subflow, 168 + 8 * AB_NOTES);
AB_FIELD(ab_subflow, controller, 0);
AB_FIELD(ab_subflow, local, 16);
AB_FIELD(ab_subflow, remote, 32);
AB_FIELD(ab_subflow, local_port, 48);
AB_FIELD(ab_subflow, remote_port, 50);
AB_FIELD(ab_subflow, flags, 52);
AB_FIELD(ab_subflow, state, 53);
AB_FIELD(ab_subflow, ca_state, 54);
AB_FIELD(ab_subflow, unused, 55);
AB_FIELD(ab_subflow, cwnd, 56);
AB_FIELD(ab_subflow, ssthresh, 60);
AB_FIELD(ab_subflow, srtt_us, 64);
AB_FIELD(ab_subflow, delivered, 68);
AB_FIELD(ab_subflow, path, 72);
AB_FIELD(ab_subflow, sent_us, 144 + 8 * AB_NOTES);
AB_FIELD(ab_subflow, rtt_us, 152 + 8 * AB_NOTES);
AB_FIELD(ab_subflow, mss, 156 + 8 * AB_NOTES);
AB_FIELD(ab_subflow, rate_segments, 160 + 8 * AB_NOTES);
AB_FIELD(ab_subflow, rate_us, 164 + 8 * AB_NOTES);

/* Bits of ab_subflow.flags. */
enum ab_flag {
	AB_IPV6 = 1,
	AB_BEGUN = 2, /* the controller has started on the socket */
	AB_BACKUP = 4, /* the path manager keeps the subflow as a backup */
	AB_DEPARTED = 8, /* its controller was removed from the kernel */
};

#endif
