/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "option_key.h"

#include <argp.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "name_table.h"

/* Returns the option that the word stands for, which may be abbreviated, or NULL. */
static const struct option *find(const struct option *known, const char *name)
{
	const struct option *longer = NULL;
	size_t length = strlen(name);

	for (; known->name != NULL; known++)
		if (strcmp(known->name, name) == 0)
			return known;
		else if (longer == NULL && strncmp(known->name, name, length) == 0)
			longer = known;
	return longer;
}

static void find_nearest(const struct option *known, const char *name, char hint[OPTION_HINT_MAX])
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, name);
	for (; known->name != NULL; known++)
		did_you_mean_offer(&nearest, known->name);
	hint[0] = '\0';
	if (nearest.best != NULL)
		snprintf(hint, OPTION_HINT_MAX, "; nearest is '--%s'", nearest.best);
}

bool option_find_unknown(const struct option *known, bool in_order, int argc, char *const *argv,
	char name[OPTION_NAME_MAX], char hint[OPTION_HINT_MAX])
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const struct option *option;

		if (in_order && argv[i][0] != '-')
			return false;
		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		snprintf(
			name, OPTION_NAME_MAX, "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
		option = find(known, name);
		if (option == NULL) {
			find_nearest(known, name, hint);
			return true;
		}
		if (option->has_arg == required_argument && strchr(argv[i], '=') == NULL)
			i++;
	}
	return false;
}

void option_of_argp(const struct argp_option *options, struct option *known)
{
	static const char *const own[] = {"help", "usage", "version"};
	unsigned count = 0;

	for (; count < sizeof(own) / sizeof(own[0]); count++)
		known[count] = (struct option){own[count], no_argument, NULL, 0};
	for (; count < OPTION_KNOWN_MAX && (options->name != NULL || options->key != 0); options++)
		if (options->name != NULL)
			known[count++] = (struct option){options->name,
				options->arg == NULL                          ? no_argument
				: (options->flags & OPTION_ARG_OPTIONAL) != 0 ? optional_argument
									      : required_argument,
				NULL, 0};
	known[count] = (struct option){NULL, 0, NULL, 0};
}
