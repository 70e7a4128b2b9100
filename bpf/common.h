/* SPDX-License-Identifier: GPL-2.0-only */
/* What the controllers use and no header of the kernel has. */
#ifndef AB_COMMON_H
#define AB_COMMON_H

#include "access.h"

/* Flags of an ACK in tcp_ack(). */
#define FLAG_DATA_ACKED 0x04
#define FLAG_SYN_ACKED 0x10
#define FLAG_DATA_SACKED 0x20
#define FLAG_SND_UNA_ADVANCED 0x400
#define FLAG_FORWARD_PROGRESS (FLAG_DATA_ACKED | FLAG_SYN_ACKED | FLAG_DATA_SACKED)

static inline u32 ab_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 ab_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Whether the kernel reduces the rate in this state: the window then follows delivered segments. */
static inline bool ab_reducing(u8 state)
{
	return state == TCP_CA_CWR || state == TCP_CA_RECOVERY;
}

#endif
