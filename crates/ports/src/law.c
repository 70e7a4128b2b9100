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

#ifdef AB_IN_C
/* The rest of a law that is written in C: for one in text, its text has it. */

const ab_u32 AB_NAME(told)[4] = { AB_NOTES, AB_LEAST, AB_COUPLED, AB_MIN_SSTHRESH };

#if !AB_NOTES
struct ab_notes;
struct ab_news;
#endif

void AB_NAME(first_notes)(struct ab_notes *notes)
{
#if AB_NOTES
	ab_first_notes(notes);
#else
	(void)notes;
#endif
}

void AB_NAME(note_ack)(struct ab_notes *notes, const struct ab_news *news)
{
#if AB_NOTES
	ab_note_ack(notes, news);
#else
	(void)notes, (void)news;
#endif
}

void AB_NAME(note_loss)(struct ab_notes *notes, const struct ab_news *news)
{
#if AB_NOTES
	ab_note_loss(notes, news);
#else
	(void)notes, (void)news;
#endif
}

void AB_NAME(note_growth)(struct ab_notes *notes, const struct ab_news *news,
			  const struct ab_views *views)
{
#if AB_NOTES_GROW
	ab_note_growth(notes, news, views);
#else
	(void)notes, (void)news, (void)views;
#endif
}
#endif
