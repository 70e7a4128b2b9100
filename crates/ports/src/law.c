/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* One law under names of its own; build.rs includes its header and defines AB_NAME first. */

ab_s64 AB_NAME(growth)(const struct ab_views *views)
{
	return ab_growth(views);
}

ab_s64 AB_NAME(backoff)(const struct ab_views *views)
{
	return ab_backoff(views);
}
