/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "permutation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

#define LINE_MAX_BYTES     256
#define STREAM_PERMUTATION 0x7065726d

struct reader {
	const char *path;
	const struct topology *topology;
	unsigned line;
	uint32_t *source_line, *destination_line; /* [hosts]: where it stood first; 0: nowhere */
	struct fault *fault;
};

static int find_host(
	const struct reader *reader, const char *name, uint32_t *line_of, uint16_t *host)
{
	int32_t found = topology_find_host(reader->topology, name);

	if (found < 0)
		return fault_set(reader->fault, EINVAL, "%s:%u: topology %s has no host '%s'",
			reader->path, reader->line, reader->topology->name, name);
	if (line_of[found] != 0)
		return fault_set(reader->fault, EINVAL, "%s:%u: host %s is %s in line %u already",
			reader->path, reader->line, name,
			line_of == reader->source_line ? "a source" : "a destination",
			line_of[found]);
	line_of[found] = reader->line;
	*host = (uint16_t)found;
	return 0;
}

/* 1: a pair; 0: nothing in the line. */
static int read_line(const struct reader *reader, char *line, uint16_t *from, uint16_t *to)
{
	char *rest, *source, *destination;
	int result;

	line[strcspn(line, "#")] = '\0';
	source = strtok_r(line, " \t\r\n", &rest);
	if (source == NULL)
		return 0;
	destination = strtok_r(NULL, " \t\r\n", &rest);
	if (destination == NULL || strtok_r(NULL, " \t\r\n", &rest) != NULL)
		return fault_set(reader->fault, EINVAL, "%s:%u: SOURCE DESTINATION was expected",
			reader->path, reader->line);
	if (strcmp(source, destination) == 0)
		return fault_set(reader->fault, EINVAL, "%s:%u: host %s would send to itself",
			reader->path, reader->line, source);
	result = find_host(reader, source, reader->source_line, from);
	if (result == 0)
		result = find_host(reader, destination, reader->destination_line, to);
	return result < 0 ? result : 1;
}

static int read_pairs(
	struct reader *reader, FILE *in, uint16_t *from, uint16_t *to, uint32_t *count)
{
	char line[LINE_MAX_BYTES];
	int result = 0;

	while (result >= 0 && fgets(line, sizeof(line), in) != NULL) {
		reader->line++;
		if (strchr(line, '\n') == NULL && !feof(in))
			return fault_set(reader->fault, EINVAL, "%s:%u: the line is too long",
				reader->path, reader->line);
		/* No overflow: each host is a source once. */
		result = read_line(reader, line, &from[*count], &to[*count]);
		*count += result == 1;
	}
	if (result >= 0 && ferror(in))
		return fault_set(reader->fault, errno, "%s: %s", reader->path, strerror(errno));
	if (result >= 0 && *count == 0)
		return fault_set(
			reader->fault, EINVAL, "%s: no pair of hosts is in it", reader->path);
	return result < 0 ? result : 0;
}

int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct fault *fault)
{
	size_t room = (size_t)topology->hosts + 1;
	struct reader reader = {
		.path = path,
		.topology = topology,
		.source_line = calloc(room, sizeof(uint32_t)),
		.destination_line = calloc(room, sizeof(uint32_t)),
		.fault = fault,
	};
	FILE *in;
	int result;

	*from = calloc(room, sizeof(**from));
	*to = calloc(room, sizeof(**to));
	*count = 0;
	in = fopen(path, "r");
	if (in == NULL)
		result = fault_set(fault, errno, "%s: %s", path, strerror(errno));
	else if (*from == NULL || *to == NULL || reader.source_line == NULL ||
		 reader.destination_line == NULL)
		result = fault_set(fault, ENOMEM, "%s: no memory", path);
	else
		result = read_pairs(&reader, in, *from, *to, count);
	if (in != NULL)
		fclose(in);
	free(reader.source_line);
	free(reader.destination_line);
	return result;
}

int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct fault *fault)
{
	uint32_t hosts = topology->hosts;
	struct rng rng;

	*from = calloc((size_t)hosts + 1, sizeof(**from));
	*to = calloc((size_t)hosts + 1, sizeof(**to));
	*count = 0;
	if (*from == NULL || *to == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", origin);
	if (hosts < 2)
		return fault_set(fault, EINVAL,
			"%s: a permutation of %u hosts, two or more were "
			"expected",
			origin, hosts);
	for (uint32_t i = 0; i < hosts; i++)
		(*from)[i] = (*to)[i] = (uint16_t)i;
	/* Sattolo: swapping with an earlier place only makes one cycle of all. */
	rng_init(&rng, seed, stream, STREAM_PERMUTATION);
	for (uint32_t i = hosts - 1; i > 0; i--) {
		uint32_t other = (uint32_t)rng_below(&rng, i);
		uint16_t swapped = (*to)[i];

		(*to)[i] = (*to)[other];
		(*to)[other] = swapped;
	}
	*count = hosts;
	return 0;
}
