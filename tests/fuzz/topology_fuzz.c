/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads topology files and generator texts. An accepted topology is complete, and is written and
 * read again without a change. Refused input gives a one-line reason with the position. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "topo/topology.h"

static char *write_text(const struct topology *topology, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	REQUIRE(out != NULL);
	REQUIRE(topology_write(topology, out) == 0);
	fclose(out);
	return text;
}

static void check_links(const struct topology *topology)
{
	struct topology_port peer;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		REQUIRE(topology_link_at(topology, link->a) == link);
		REQUIRE(topology_link_at(topology, link->b) == link);
		REQUIRE(topology_peer(topology, link->a, &peer) && peer.device == link->b.device);
	}
}

static void check_accepted(const struct topology *topology)
{
	size_t first_length, second_length;
	char *first = write_text(topology, &first_length), *second;
	struct topology *again = topology_parse(first, first_length, "again", NULL);

	check_links(topology);
	topology_check_connected(topology, "fuzz", NULL);
	REQUIRE(again != NULL);
	second = write_text(again, &second_length);
	REQUIRE(first_length == second_length && memcmp(first, second, first_length) == 0);
	topology_destroy(again);
	free(first);
	free(second);
}

/* Returns true if there are more than three digits in a row. */
static bool has_big_number(const char *spec)
{
	unsigned digits = 0;

	for (; *spec != '\0' && digits < 4; spec++)
		digits = *spec >= '0' && *spec <= '9' ? digits + 1 : 0;
	return digits == 4;
}

/* The text of a generator, kept small. Other tests use large networks. */
static void try_generator(const uint8_t *data, size_t size)
{
	struct topology *topology;
	struct error error = {""};
	char spec[64];

	if (size == 0 || size >= sizeof(spec) || memchr(data, '\0', size) != NULL)
		return;
	memcpy(spec, data, size);
	spec[size] = '\0';
	if (!topology_is_generated(spec) || has_big_number(spec))
		return;
	topology = topology_generate(spec, &error);
	REQUIRE(topology != NULL || error.text[0] != '\0');
	if (topology != NULL && topology->links < 2000)
		check_accepted(topology);
	topology_destroy(topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {""};
	struct topology *topology = topology_parse((const char *)data, size, "fuzz", &error);

	if (topology != NULL)
		check_accepted(topology);
	else
		REQUIRE(strncmp(error.text, "fuzz:", 5) == 0 && strchr(error.text, '\n') == NULL);
	topology_destroy(topology);
	try_generator(data, size);
	return 0;
}
