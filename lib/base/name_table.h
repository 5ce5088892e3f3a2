/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lists of words, one list per concept: routing algorithms, selectors, traffic patterns, adaptive
 * modes, queuing schemes, topology kinds. Each list is defined next to the functions of its
 * concept. Files, options, help texts and messages take their words from it. An entry is a constant
 * struct whose first member is 'const char *name', the word that users type. */

#include <stddef.h>

#define WORD_LIST_MAX  64  /* entries */
#define WORD_LIST_HINT 384 /* bytes of a name_table_hint() buffer */

/* Extracts the texts of an X-macro list of (id, text): {COUNTERS(WORD_TEXT)}. */
#define WORD_TEXT(id, text) text,

struct name_table {
	const void *const *entry;
	unsigned count;
};

/* Initialises a name_table from an array of pointers to entries. */
#define WORD_LIST(entries)                                        \
	{                                                         \
		(entries), sizeof(entries) / sizeof((entries)[0]) \
	}

static inline const char *name_table_name(const void *entry)
{
	return *(const char *const *)entry;
}

/* Returns the one-line description of the word. Entries must have a 'summary' after the name. */
static inline const char *name_table_summary(const void *entry)
{
	return ((const char *const *)entry)[1];
}

/* Returns entry i, or NULL after the last. */
static inline const void *name_table_at(const struct name_table *list, unsigned i)
{
	return i < list->count ? list->entry[i] : NULL;
}

/* Returns the entry with this name, or NULL. */
const void *name_table_find(const struct name_table *list, const char *name);

/* Copies all names in list order, followed by NULL. */
void name_table_names(const struct name_table *list, const char *names[WORD_LIST_MAX + 1]);

/* Lists all names for a message: "a, b, c". If 'word' is similar to one of them, appends the
 * nearest: "a, b, c; nearest is 'b'". 'word' may be NULL. */
void name_table_hint(const struct name_table *list, const char *word, char hint[WORD_LIST_HINT]);

/* Finds the known name closest to a misspelt one, for messages: offer every known name, then read
 * 'best'. The distance is Levenshtein's, but swapping two adjacent letters counts as one edit. */

#define DID_YOU_MEAN_KNOWN 384
#define DID_YOU_MEAN_HINT  128

struct did_you_mean {
	const char *text;               /* misspelt name */
	const char *best;               /* closest name offered so far; NULL if none is close */
	unsigned distance;              /* from 'text' to 'best' */
	char known[DID_YOU_MEAN_KNOWN]; /* names offered so far: "a, b, c", truncated if too long */
	unsigned used;                  /* bytes used in 'known' */
};

void did_you_mean_init(struct did_you_mean *nearest, const char *text);
/* 'name' must outlive 'nearest'. If several names are equally close, the first is kept. */
void did_you_mean_offer(struct did_you_mean *nearest, const char *name);

/* Returns "; nearest is 'NAME'", where 'before' is "; ", or "" if no name is close. */
const char *did_you_mean_hint(
	const struct did_you_mean *nearest, const char *before, char hint[DID_YOU_MEAN_HINT]);

/* Returns the number of insertions, deletions, substitutions and swaps between 'a' and 'b', or
 * UINT_MAX if one is longer than 63 bytes. */
unsigned did_you_mean_distance(const char *a, const char *b);
