/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Input that claims to be from ibnetdiscover. An accepted one is a topology that our own file
 * keeps and that survives export and import; a refused one has a reason in one line that names
 * the place. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "topology_format.h"

static char *write_file(const struct topology *topology, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	REQUIRE(out != NULL);
	REQUIRE(topology_write(topology, out) == 0);
	fclose(out);
	return text;
}

static char *export_text(const struct topology *topology, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	REQUIRE(out != NULL);
	REQUIRE(format_ibnetdiscover.write(topology, out, NULL) == 0);
	fclose(out);
	return text;
}

/* Our file reads back, names and all. */
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

/* A second export says the same as the first. */
static void check_round_trip(const struct topology *topology)
{
	size_t first_length, second_length;
	char *first = export_text(topology, &first_length), *second;
	struct topology_import strict = {.strict = true};
	struct topology *again =
		format_ibnetdiscover.read(first, first_length, "fuzz", &strict, NULL);

	REQUIRE(again != NULL);
	second = export_text(again, &second_length);
	REQUIRE(first_length == second_length && memcmp(first, second, first_length) == 0);
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
static void check(const uint8_t *data, size_t size, bool strict)
{
	struct topology_import import = {.strict = strict, .note = check_note};
	struct fault fault = {""};
	struct topology *topology =
		format_ibnetdiscover.read((const char *)data, size, "fuzz", &import, &fault);

	if (topology == NULL) {
		check_note(NULL, fault.text);
		return;
	}
	REQUIRE(strict || topology_check_connected(topology, "fuzz", NULL) == 0);
	check_file(topology);
	check_round_trip(topology);
	topology_destroy(topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, true);
	check(data, size, false);
	return 0;
}
