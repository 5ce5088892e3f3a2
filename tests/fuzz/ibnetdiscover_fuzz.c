/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Input that claims to be in a format of another program is read with every format. An accepted
 * input is a topology that Weft's own file preserves, and that survives export and import. A
 * refused one gives a one-line reason with the position. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "topo/formats/topology_format.h"

static char *write_file(const struct topology *topology, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	REQUIRE(out != NULL);
	REQUIRE(topology_write(topology, out) == 0);
	fclose(out);
	return text;
}

/* Returns NULL if the format cannot express the topology. */
static char *export_text(
	const struct topology_format *format, const struct topology *topology, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	int result;

	REQUIRE(out != NULL);
	result = format->write(topology, out, NULL);
	fclose(out);
	if (result == 0)
		return text;
	free(text);
	return NULL;
}

/* Weft's file is read back with all names. */
static void check_file(const struct topology *topology)
{
	size_t length;
	char *text = write_file(topology, &length);
	struct topology *again = topology_parse(text, length, "again", NULL);

	REQUIRE(again != NULL);
	REQUIRE(again->links == topology->links && again->hosts == topology->hosts);
	topology_destroy(again);
	free(text);
}

/* A second export equals the first. */
static void check_round_trip(const struct topology_format *format, const struct topology *topology)
{
	size_t first_length, second_length;
	char *first = export_text(format, topology, &first_length), *second;
	struct topology_import strict = {.strict = true};
	struct topology *again;

	if (first == NULL)
		return;
	again = format->read(first, first_length, "fuzz", &strict, NULL);
	REQUIRE(again != NULL);
	second = export_text(format, again, &second_length);
	REQUIRE(second != NULL && first_length == second_length &&
		memcmp(first, second, first_length) == 0);
	topology_destroy(again);
	free(first);
	free(second);
}

static void check_note(void *context, const char *text)
{
	(void)context;
	REQUIRE(strncmp(text, "fuzz:", 5) == 0 && strchr(text, '\n') == NULL);
}

/* A network that is read leniently is connected. */
static void check(
	const struct topology_format *format, const uint8_t *data, size_t size, bool strict)
{
	struct topology_import import = {.strict = strict, .note = check_note};
	struct error error = {""};
	struct topology *topology = format->read((const char *)data, size, "fuzz", &import, &error);

	if (topology == NULL) {
		check_note(NULL, error.text);
		return;
	}
	REQUIRE(strict || topology_check_connected(topology, "fuzz", NULL) == 0);
	check_file(topology);
	if (format->write != NULL && topology->switches > 0)
		check_round_trip(format, topology);
	topology_destroy(topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned i = 0; topology_format_at(i) != NULL; i++) {
		if (topology_format_at(i)->read == NULL)
			continue;
		check(topology_format_at(i), data, size, true);
		check(topology_format_at(i), data, size, false);
	}
	return 0;
}
