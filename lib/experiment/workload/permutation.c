/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "base/rng.h"

#define STREAM_PERMUTATION 0x7065726d

#define LINE_MAX_BYTES 256
#define BLANKS         " \t\r\n"

static int take_line(struct pair_file *file, char *line)
{
	char *rest, *first, *second;

	line[strcspn(line, "#")] = '\0';
	first = strtok_r(line, BLANKS, &rest);
	if (first == NULL)
		return 0;
	second = strtok_r(NULL, BLANKS, &rest);
	if (second == NULL || strtok_r(NULL, BLANKS, &rest) != NULL)
		return error_set(file->error, EINVAL, "%s:%u: expected %s", file->path, file->line,
			file->words);
	return file->take(file->ctx, first, second);
}

int pair_file_read(struct pair_file *file)
{
	FILE *in = file_text_open(file->path, file->error);
	char line[LINE_MAX_BYTES];
	int result = 0;

	if (in == NULL)
		return -errno;
	while (result == 0 && fgets(line, sizeof(line), in) != NULL) {
		file->line++;
		if (strchr(line, '\n') == NULL && !feof(in))
			result = error_set(file->error, EINVAL, "%s:%u: the line is too long",
				file->path, file->line);
		else
			result = take_line(file, line);
	}
	if (result == 0 && ferror(in))
		result = error_set(file->error, errno, "%s: %s", file->path, strerror(errno));
	fclose(in);
	return result;
}

struct reader {
	struct pair_file file;
	const struct topology *topology;
	uint32_t *source_line, *destination_line; /* [hosts]: line that lists the host; 0: none */
	uint16_t *from, *to;
	uint32_t count;
};

static int find_host(
	const struct reader *reader, const char *name, uint32_t *line_of, uint16_t *host)
{
	int32_t found = topology_find_host(reader->topology, name);

	if (found < 0)
		return error_set(reader->file.error, EINVAL, "%s:%u: topology %s has no host '%s'",
			reader->file.path, reader->file.line, reader->topology->name, name);
	if (line_of[found] != 0)
		return error_set(reader->file.error, EINVAL,
			"%s:%u: host %s is already %s in line %u", reader->file.path,
			reader->file.line, name,
			line_of == reader->source_line ? "a source" : "a destination",
			line_of[found]);
	line_of[found] = reader->file.line;
	*host = (uint16_t)found;
	return 0;
}

/* The arrays cannot overflow, because each host is a source at most once. */
static int take_pair(void *ctx, char *source, char *destination)
{
	struct reader *reader = ctx;
	int result;

	if (strcmp(source, destination) == 0)
		return error_set(reader->file.error, EINVAL, "%s:%u: host %s would send to itself",
			reader->file.path, reader->file.line, source);
	result = find_host(reader, source, reader->source_line, &reader->from[reader->count]);
	if (result < 0)
		return result;
	return find_host(
		reader, destination, reader->destination_line, &reader->to[reader->count++]);
}

int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct error *error)
{
	size_t room = (size_t)topology->hosts + 1;
	struct reader reader = {
		.file = {path, "SOURCE DESTINATION", take_pair, &reader, error},
		.topology = topology,
		.source_line = calloc(room, sizeof(uint32_t)),
		.destination_line = calloc(room, sizeof(uint32_t)),
		.from = calloc(room, sizeof(**from)),
		.to = calloc(room, sizeof(**to)),
	};
	int result;

	if (reader.from == NULL || reader.to == NULL || reader.source_line == NULL ||
		reader.destination_line == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", path);
	else
		result = pair_file_read(&reader.file);
	if (result == 0 && reader.count == 0)
		result = error_set(error, EINVAL, "%s: contains no pairs of hosts", path);
	*from = reader.from;
	*to = reader.to;
	*count = reader.count;
	free(reader.source_line);
	free(reader.destination_line);
	return result;
}

int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct error *error)
{
	uint32_t hosts = topology_present_nodes(topology);
	struct rng rng;

	*from = calloc((size_t)hosts + 1, sizeof(**from));
	*to = calloc((size_t)hosts + 1, sizeof(**to));
	*count = 0;
	if (*from == NULL || *to == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", origin);
	if (hosts < 2)
		return error_set(error, EINVAL,
			"%s: a permutation requires two or more hosts; there are %u", origin,
			hosts);
	for (uint32_t i = 0, next = 0; i < topology->hosts; i++)
		if (!topology->host_at[i].absent && topology->host_at[i].owner == i) {
			(*from)[next] = (*to)[next] = (uint16_t)i;
			next++;
		}
	/* Sattolo's algorithm: swaps only with earlier positions, which yields a single cycle. */
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
