/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The words of one concept: routing algorithms, selectors, traffic patterns, adaptive modes,
 * queuing schemes, topology kinds. Each concept has one list, kept with its functions, from which
 * files, options, help texts and messages take the words. An entry is a constant struct whose first
 * member is 'const char *name', the word that users type. */

#include <stddef.h>

#define WORD_LIST_MAX  64  /* entries */
#define WORD_LIST_HINT 384 /* bytes of name_table_hint() */

/* Extracts the texts from an X-macro list of (id, text): {COUNTERS(WORD_TEXT)}. */
#define WORD_TEXT(id, text) text,

struct name_table {
	const void *const *entry;
	unsigned count;
};

/* From an array of pointers to the entries. */
#define WORD_LIST(entries)                                        \
	{                                                         \
		(entries), sizeof(entries) / sizeof((entries)[0]) \
	}

static inline const char *name_table_name(const void *entry)
{
	return *(const char *const *)entry;
}

/* The meaning of the word, in one line. The entries of the list must have a 'summary' after the
 * name.
 */
static inline const char *name_table_summary(const void *entry)
{
	return ((const char *const *)entry)[1];
}

/* Entry i, NULL after the last. */
static inline const void *name_table_at(const struct name_table *list, unsigned i)
{
	return i < list->count ? list->entry[i] : NULL;
}

/* Returns NULL if no entry has this name. */
const void *name_table_find(const struct name_table *list, const char *name);

/* All names in the order of the list; NULL ends them. */
void name_table_names(const struct name_table *list, const char *names[WORD_LIST_MAX + 1]);

/* All names, for messages: "a, b, c". If 'word' is similar to one of them, that one is added: "a,
 * b, c; nearest is 'b'". 'word' NULL: only the names. */
void name_table_hint(const struct name_table *list, const char *word, char hint[WORD_LIST_HINT]);

/* Finds the known name closest to a misspelt one, for messages: offer every known name, then read
 * 'best'. Distance is Levenshtein's, where a swap of neighbouring letters counts one. */

#define DID_YOU_MEAN_KNOWN 384

struct did_you_mean {
	const char *text;               /* as written */
	const char *best;               /* the closest name offered so far; NULL if none is close */
	unsigned distance;              /* from 'text' to 'best' */
	char known[DID_YOU_MEAN_KNOWN]; /* the names offered so far: "a, b, c", cut if too long */
	unsigned used;                  /* bytes of 'known' */
};

void did_you_mean_init(struct did_you_mean *nearest, const char *text);
/* 'name' must live as long as 'nearest'. The first of several equally close names is kept. */
void did_you_mean_offer(struct did_you_mean *nearest, const char *name);

/* Insertions, deletions, substitutions and swaps between 'a' and 'b'; UINT_MAX over 63 bytes. */
unsigned did_you_mean_distance(const char *a, const char *b);
