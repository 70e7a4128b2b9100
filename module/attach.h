/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the callbacks of shell.h become a congestion control in a module, with the files in debugfs:
 * `counters`, `layout`, and `steps` if the parameter `record` is set.
 */
#ifndef AB_ATTACH_H
#define AB_ATTACH_H

#include "counters.h"
#include "layout.h"
#include "records.h"

#include <linux/debugfs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

static struct dentry *ab_folder;

#define AB_SHOW_COUNTER(name)                                                      \
	do {                                                                       \
		u64 sum = 0;                                                       \
		int cpu;                                                           \
		for_each_possible_cpu(cpu)                                         \
			sum += READ_ONCE(per_cpu_ptr(&ab_counts, cpu)->name);      \
		seq_printf(file, #name " %llu\n", sum);                            \
	} while (0)

static int ab_counters_show(struct seq_file *file, void *unused)
{
	AB_SHOW_COUNTER(acks);
	AB_SHOW_COUNTER(coupled);
	AB_SHOW_COUNTER(losses);
	AB_SHOW_COUNTER(missed);
	AB_SHOW_COUNTER(mismatches);
	AB_SHOW_COUNTER(repairs);
	AB_SHOW_COUNTER(crowded);
	AB_SHOW_COUNTER(unrecorded);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ab_counters);

static int ab_layout_show(struct seq_file *file, void *unused)
{
	seq_printf(file, "node %u\ntcp_sock %u\nconn %u\nconn_list %u\nbackup %u bit %u\n",
		   ab_layout.node, ab_layout.tcp_sock, ab_layout.conn, ab_layout.conn_list,
		   ab_layout.backup, ffs(ab_layout.backup_bit) - 1);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ab_layout);

static int __init ab_start(struct tcp_congestion_ops *controller)
{
	int error = ab_measure();

	if (error)
		return error;
	if (ab_settings.record) {
		ab_records = vcalloc(AB_RECORDS, sizeof(*ab_records));
		if (!ab_records)
			return -ENOMEM;
	}
	error = tcp_register_congestion_control(controller);
	if (error) {
		vfree(ab_records);
		if (error != -EEXIST)
			return error;
		pr_err("the kernel has a controller %s already\n", controller->name);
		/* modprobe takes EEXIST for a module that is loaded already, and is silent */
		return -EBUSY;
	}
	/* without debugfs these do nothing */
	ab_folder = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0400, ab_folder, NULL, &ab_counters_fops);
	debugfs_create_file("layout", 0400, ab_folder, NULL, &ab_layout_fops);
	if (ab_records)
		debugfs_create_file("steps", 0400, ab_folder, NULL, &ab_steps);
	return 0;
}

/* Sockets hold the module: none is under the controller. */
static void __exit ab_stop(struct tcp_congestion_ops *controller)
{
	tcp_unregister_congestion_control(controller);
	debugfs_remove(ab_folder);
	vfree(ab_records);
}

#define AB_CALLBACK(type, name, ...) static type name(__VA_ARGS__)

/* The kernel has had a callback of its own for CA_EVENT_TX_START since 7.1. */
#ifdef AB_TX_START
#define AB_REGISTER_TX_START						\
	static void ab_locked_tx_start(struct sock *sk)			\
	{								\
		guard(rcu)();						\
		ab_on_tx_start(sk);					\
	}
#define AB_TX_START_FIELD .cwnd_event_tx_start = ab_locked_tx_start,
#else
#define AB_REGISTER_TX_START						\
	static void (*ab_no_tx_start)(struct sock *) __maybe_unused = ab_on_tx_start;
#define AB_TX_START_FIELD
#endif

#define AB_REGISTER(name_)						\
	static void ab_locked_init(struct sock *sk)			\
	{								\
		guard(rcu)();						\
		ab_on_init(sk);						\
	}								\
	static void ab_locked_ack(struct sock *sk, u32 ack, int flag,	\
				  const struct rate_sample *rs)		\
	{								\
		guard(rcu)();						\
		ab_on_ack(sk, ack, flag, rs);				\
	}								\
	static u32 ab_locked_ssthresh(struct sock *sk)			\
	{								\
		guard(rcu)();						\
		return ab_on_ssthresh(sk);				\
	}								\
	static void ab_locked_set_state(struct sock *sk, u8 state)	\
	{								\
		guard(rcu)();						\
		ab_on_set_state(sk, state);				\
	}								\
	static u32 ab_locked_undo_cwnd(struct sock *sk)			\
	{								\
		guard(rcu)();						\
		return ab_on_undo_cwnd(sk);				\
	}								\
	static void ab_locked_event(struct sock *sk, enum tcp_ca_event event) \
	{								\
		guard(rcu)();						\
		ab_on_event(sk, event);					\
	}								\
	AB_REGISTER_TX_START						\
	static struct tcp_congestion_ops ab_controller __read_mostly = {	\
		.init = ab_locked_init,					\
		.cong_control = ab_locked_ack,				\
		.ssthresh = ab_locked_ssthresh,				\
		.set_state = ab_locked_set_state,			\
		.undo_cwnd = ab_locked_undo_cwnd,			\
		.cwnd_event = ab_locked_event,				\
		AB_TX_START_FIELD					\
		.flags = TCP_CONG_NON_RESTRICTED,			\
		.owner = THIS_MODULE,					\
		.name = name_,						\
	};								\
	static int __init ab_load(void)					\
	{								\
		BUILD_BUG_ON(sizeof(struct ab_path) > ICSK_CA_PRIV_SIZE); \
		return ab_start(&ab_controller);			\
	}								\
	static void __exit ab_unload(void)				\
	{								\
		ab_stop(&ab_controller);				\
	}								\
	module_init(ab_load);						\
	module_exit(ab_unload);						\
	MODULE_ALIAS("tcp_" name_); /* asked for when the name is used */ \
	MODULE_DESCRIPTION("Coupled congestion control of MPTCP: " name_); \
	MODULE_LICENSE("GPL")

#endif
