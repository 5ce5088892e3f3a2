/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "name_table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const void *name_table_find(const struct name_table *list, const char *name)
{
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(name_table_name(list->entry[i]), name) == 0)
			return list->entry[i];
	return NULL;
}

void name_table_names(const struct name_table *list, const char *names[WORD_LIST_MAX + 1])
{
	unsigned count = list->count < WORD_LIST_MAX ? list->count : WORD_LIST_MAX;

	for (unsigned i = 0; i < count; i++)
		names[i] = name_table_name(list->entry[i]);
	names[count] = NULL;
}

void name_table_hint(const struct name_table *list, const char *word, char hint[WORD_LIST_HINT])
{
	struct did_you_mean nearest;
	char best[DID_YOU_MEAN_HINT];

	did_you_mean_init(&nearest, word != NULL ? word : "");
	for (unsigned i = 0; i < list->count; i++)
		did_you_mean_offer(&nearest, name_table_name(list->entry[i]));
	snprintf(hint, WORD_LIST_HINT, "%s%s", nearest.known,
		did_you_mean_hint(&nearest, "; ", best));
}

/* --- did you mean --- */

#define NAME_MAX_BYTES 63
#define DISTANCE_MAX   2

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned did_you_mean_distance(const char *a, const char *b)
{
	/* Rows of the distance table for the current letter and the two letters before it. */
	unsigned rows[3][NAME_MAX_BYTES + 1];
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > NAME_MAX_BYTES || length_b > NAME_MAX_BYTES)
		return UINT_MAX;
	for (unsigned j = 0; j <= length_b; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= length_a; i++) {
		unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= length_b; j++) {
			row[j] = min(last[j], row[j - 1]) + 1;
			row[j] = min(row[j], last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
	}
	return rows[length_a % 3][length_b];
}

void did_you_mean_init(struct did_you_mean *nearest, const char *text)
{
	unsigned half = (unsigned)min((unsigned)strlen(text) / 2, DISTANCE_MAX);

	/* With more edits, it is a different word, not a misspelling. */
	*nearest = (struct did_you_mean){.text = text, .distance = half + 1};
}

void did_you_mean_offer(struct did_you_mean *nearest, const char *name)
{
	size_t length = strlen(nearest->text);
	unsigned distance = did_you_mean_distance(nearest->text, name);

	/* A prefix of the name counts as one edit. */
	if (length > 1 && strncmp(nearest->text, name, length) == 0)
		distance = min(distance, 1);
	if (distance < nearest->distance) {
		nearest->best = name;
		nearest->distance = distance;
	}
	if (nearest->used < sizeof(nearest->known))
		nearest->used += (unsigned)snprintf(nearest->known + nearest->used,
			sizeof(nearest->known) - nearest->used, "%s%s",
			nearest->used == 0 ? "" : ", ", name);
}

const char *did_you_mean_hint(
	const struct did_you_mean *nearest, const char *before, char hint[DID_YOU_MEAN_HINT])
{
	hint[0] = '\0';
	if (nearest->best != NULL)
		snprintf(hint, DID_YOU_MEAN_HINT, "%snearest is '%s'", before, nearest->best);
	return hint;
}
