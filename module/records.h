/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffer of recorded steps: written by callbacks on any processor, one at a time, and read by
 * one reader at a time. It is there only if the parameter `record` is set.
 */
#ifndef AB_RECORDS_H
#define AB_RECORDS_H

#include "access.h"

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>

#include "include/intf.h"

#define AB_RECORDS 4096U /* a power of two: places are taken modulo it */

static struct ab_step *ab_records;
static u32 ab_written, ab_read; /* steps since the module was loaded, modulo 2^32 */
static DEFINE_SPINLOCK(ab_writing);
static DEFINE_MUTEX(ab_reading);

/* Room for a step, or null; with room the lock is held until ab_record_end. */
static inline struct ab_step *ab_record_begin(void)
{
	if (!ab_records)
		return NULL;
	spin_lock_bh(&ab_writing);
	if (ab_written - smp_load_acquire(&ab_read) < AB_RECORDS)
		return &ab_records[ab_written % AB_RECORDS];
	spin_unlock_bh(&ab_writing);
	return NULL;
}

static inline void ab_record_end(struct ab_step *step)
{
	smp_store_release(&ab_written, ab_written + 1);
	spin_unlock_bh(&ab_writing);
}

/* Each step once, in the order of writing. A reader may take it in parts: `ab_taken` bytes of the
 * oldest one are gone. */
static ssize_t ab_read_steps(struct file *file, char __user *to, size_t size, loff_t *at)
{
	static size_t ab_taken;
	size_t done = 0;

	mutex_lock(&ab_reading);
	while (ab_records && done < size && ab_read != smp_load_acquire(&ab_written)) {
		const u8 *step = (const u8 *)&ab_records[ab_read % AB_RECORDS];
		size_t part = min(size - done, sizeof(struct ab_step) - ab_taken);

		if (copy_to_user(to + done, step + ab_taken, part)) {
			mutex_unlock(&ab_reading);
			return -EFAULT;
		}
		done += part;
		ab_taken += part;
		if (ab_taken < sizeof(struct ab_step))
			break;
		ab_taken = 0;
		smp_store_release(&ab_read, ab_read + 1);
	}
	mutex_unlock(&ab_reading);
	return done;
}

static const struct file_operations ab_steps = {
	.owner = THIS_MODULE,
	.read = ab_read_steps,
	.llseek = noop_llseek,
};

#endif
