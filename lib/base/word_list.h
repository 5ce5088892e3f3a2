/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The words of one concept: routing algorithms, selectors, traffic patterns, adaptive modes,
 * queuing schemes, topology kinds. Each concept has one list, beside its functions; files, options,
 * help texts and messages read that list. An entry is a constant struct whose first member is
 * 'const char *name', the word that people type. */

#include <stddef.h>

#define WORD_LIST_MAX  64  /* entries */
#define WORD_LIST_HINT 384 /* bytes of word_list_hint() */

/* For the texts of an X-macro list of (id, text), in its order: {COUNTERS(WORD_TEXT)}. */
#define WORD_TEXT(id, text) text,

struct word_list {
	const void *const *entry;
	unsigned count;
};

/* From an array of pointers to the entries. */
#define WORD_LIST(entries)                                        \
	{                                                         \
		(entries), sizeof(entries) / sizeof((entries)[0]) \
	}

static inline const char *word_list_name(const void *entry)
{
	return *(const char *const *)entry;
}

/* Entry i, NULL after the last. */
static inline const void *word_list_at(const struct word_list *list, unsigned i)
{
	return i < list->count ? list->entry[i] : NULL;
}

/* NULL if no entry has this name. */
const void *word_list_find(const struct word_list *list, const char *name);

/* All names in the order of the list; NULL ends them. */
void word_list_names(const struct word_list *list, const char *names[WORD_LIST_MAX + 1]);

/* All names: "a, b, c"; for messages about an unknown word with the one that is nearest to it, if
 * one is similar: "a, b, c; nearest is 'b'". NULL: there is no such word. */
void word_list_hint(const struct word_list *list, const char *word, char hint[WORD_LIST_HINT]);
