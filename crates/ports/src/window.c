/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* How a window moves in the kernel, natively. */
#include "window.h"

void ab_native_grow(struct ab_window *window, ab_s64 growth, ab_u32 acked)
{
	ab_grow(window, growth, acked);
}
