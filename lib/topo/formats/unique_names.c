/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ib_listing.h"

#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define ENDING_MAX 16 /* "-4294967295" */

struct taken {
	char name[TOPOLOGY_NAME_MAX];
	uint32_t last; /* largest number appended to this name so far */
};

struct unique_names {
	void *tree; /* tsearch(3) of struct taken */
};

struct unique_names *unique_names_create(void)
{
	return calloc(1, sizeof(struct unique_names));
}

void unique_names_destroy(struct unique_names *names)
{
	if (names == NULL)
		return;
	tdestroy(names->tree, free);
	free(names);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct taken *)a)->name, ((const struct taken *)b)->name);
}

/* Reserves 'name'. '*taken' is its entry; '*fresh' is true if the name was not reserved before. */
static int take(struct unique_names *names, const char *name, struct taken **taken, bool *fresh)
{
	struct taken *mine = calloc(1, sizeof(*mine));
	struct taken **found;

	if (mine == NULL)
		return -ENOMEM;
	snprintf(mine->name, sizeof(mine->name), "%s", name);
	mine->last = 1;
	found = tsearch(mine, &names->tree, compare);
	if (found == NULL || *found != mine) {
		if (found != NULL)
			*taken = *found;
		free(mine);
		*fresh = false;
		return found == NULL ? -ENOMEM : 0;
	}
	*taken = mine;
	*fresh = true;
	return 0;
}

static bool may_stand(char letter, bool first)
{
	return isalnum((unsigned char)letter) || letter == '_' ||
	       (!first && (letter == '.' || letter == '-'));
}

void unique_names_spell(
	const char *text, size_t length, const char *ending, char out[TOPOLOGY_NAME_MAX])
{
	size_t room = TOPOLOGY_NAME_MAX - 1 - strlen(ending), used = 0;
	bool replaced = false;

	for (size_t i = 0; i < length && used < room; i++) {
		if (may_stand(text[i], used == 0)) {
			out[used++] = text[i];
			replaced = false;
		} else if (!replaced) {
			out[used++] = '_';
			replaced = true;
		}
	}
	while (replaced && used > 1 && out[used - 1] == '_')
		used--;
	if (used == 0)
		out[used++] = '_';
	memcpy(out + used, ending, strlen(ending) + 1);
}

int unique_names_add(struct unique_names *names, const char *text, size_t length,
	const char *ending, char out[TOPOLOGY_NAME_MAX])
{
	char numbered[TOPOLOGY_NAME_MAX], number[ENDING_MAX];
	struct taken *wanted, *other;
	bool fresh;
	int result;

	unique_names_spell(text, length, ending, out);
	result = take(names, out, &wanted, &fresh);
	while (result == 0 && !fresh) {
		snprintf(number, sizeof(number), "-%u", ++wanted->last);
		unique_names_spell(wanted->name, strlen(wanted->name), number, numbered);
		result = take(names, numbered, &other, &fresh);
		if (result == 0 && fresh)
			memcpy(out, numbered, sizeof(numbered));
	}
	return result;
}
