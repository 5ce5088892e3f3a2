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
	struct topology *again = format_ibnetdiscover.read(first, first_length, "fuzz", NULL);

	REQUIRE(again != NULL);
	second = export_text(again, &second_length);
	REQUIRE(first_length == second_length && memcmp(first, second, first_length) == 0);
	topology_destroy(again);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {""};
	struct topology *topology =
		format_ibnetdiscover.read((const char *)data, size, "fuzz", &fault);

	if (topology == NULL) {
		REQUIRE(strncmp(fault.text, "fuzz:", 5) == 0 && strchr(fault.text, '\n') == NULL);
		return 0;
	}
	check_file(topology);
	check_round_trip(topology);
	topology_destroy(topology);
	return 0;
}
