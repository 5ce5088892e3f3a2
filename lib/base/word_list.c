/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "word_list.h"

#include <stdio.h>
#include <string.h>

#include "did_you_mean.h"

const void *word_list_find(const struct word_list *list, const char *name)
{
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(word_list_name(list->entry[i]), name) == 0)
			return list->entry[i];
	return NULL;
}

void word_list_names(const struct word_list *list, const char *names[WORD_LIST_MAX + 1])
{
	unsigned count = list->count < WORD_LIST_MAX ? list->count : WORD_LIST_MAX;

	for (unsigned i = 0; i < count; i++)
		names[i] = word_list_name(list->entry[i]);
	names[count] = NULL;
}

void word_list_hint(const struct word_list *list, const char *word, char hint[WORD_LIST_HINT])
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, word != NULL ? word : "");
	for (unsigned i = 0; i < list->count; i++)
		did_you_mean_offer(&nearest, word_list_name(list->entry[i]));
	if (word != NULL && nearest.best != NULL)
		snprintf(hint, WORD_LIST_HINT, "%s; nearest is '%s'", nearest.known, nearest.best);
	else
		snprintf(hint, WORD_LIST_HINT, "%s", nearest.known);
}
