/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "metrics_text.h"

#include <stdio.h>
#include <string.h>

/* Unit of the page; the word for it in names of counters; base unit. */
static const struct unit {
	const char *unit, *word, *base;
	double scale;
} units[] = {
	{"ns", "ns", "seconds", 1e-9},
	{"Mbps", "mbps", "bytes_per_second", 125000},
	{"bps", "bps", "bytes_per_second", 0.125},
	{"ps", "ps", "seconds", 1e-12},
	{"ppm", "ppm", "ratio", 1e-6},
	{"bytes", "bytes", "bytes", 1},
	{"frames", "frames", "frames", 1},
	{"messages", "messages", "messages", 1},
	{"blocks", "blocks", "blocks", 1},
	{"entries", "entries", "entries", 1},
	{"outputs", "outputs", "outputs", 1},
};

static const struct unit *find_unit(const char *text)
{
	static const struct unit none = {"", "", "", 1};

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, text) == 0)
			return &units[i];
	return &none;
}

static void append(char *text, const char *word, size_t length)
{
	size_t used = strlen(text);

	if (length > 0)
		snprintf(text + used, METRIC_NAME_MAX - used, "_%.*s", (int)length, word);
}

void metric_name_make(const char *class, const struct counter_info *info, struct metric_name *name)
{
	const struct unit *unit = find_unit(info->unit);
	const char *word = info->name;

	snprintf(name->text, sizeof(name->text), "weft_%s", class);
	/* "link_downs" of a link is weft_link_downs. */
	if (strncmp(word, class, strlen(class)) == 0 && word[strlen(class)] == '_')
		word += strlen(class) + 1;
	for (size_t length; *word != '\0'; word += length + (word[length] == '_')) {
		length = strcspn(word, "_");
		if (strlen(unit->word) != length || strncmp(word, unit->word, length) != 0)
			append(name->text, word, length);
	}
	append(name->text, unit->base, strlen(unit->base));
	name->unit = unit->base;
	name->scale = unit->scale;
}
