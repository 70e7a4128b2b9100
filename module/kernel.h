/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own headers, in place of `bpf/kernel.h`, and what a kernel must have. */
#ifndef AB_KERNEL_H
#define AB_KERNEL_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#error "these controllers need Linux 6.10 or later: cong_control had other arguments before"
#endif
#ifndef CONFIG_64BIT
#error "these controllers need a 64-bit kernel: they divide and count in 64 bits"
#endif
#ifndef CONFIG_MPTCP
#error "these controllers need a kernel with CONFIG_MPTCP=y: they couple its subflows"
#endif
#ifndef CONFIG_NET_NS
#error "these controllers need a kernel with CONFIG_NET_NS=y: they read its settings of TCP"
#endif

#undef pr_fmt
#define pr_fmt(text) KBUILD_MODNAME ": " text

#include <linux/module.h>
#include <net/tcp.h>

/* The shared headers spell it as an attribute. */
#undef noinline

/* As the shared headers have it, for all of the kernel's other states are in capitals. */
#define TCP_CA_RECOVERY TCP_CA_Recovery
#define TCP_CA_LOSS TCP_CA_Loss

#endif
