/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "permutation_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

struct reader {
	const char *at, *end; /* of the line that is being read */
	const char *begin;
	const char *origin;
	unsigned line;
	uint16_t hosts;
	struct fault *fault;
};

static int complain(const struct reader *reader, const char *what)
{
	return fault_set(reader->fault, EINVAL, "%s:%u:%u: %s", reader->origin, reader->line,
		(unsigned)(reader->at - reader->begin) + 1, what);
}

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end &&
		(*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r'))
		reader->at++;
}

static bool at_end(struct reader *reader)
{
	skip_blanks(reader);
	return reader->at == reader->end || *reader->at == '#';
}

/* 'h12' or '12'. */
static int read_host(struct reader *reader, uint16_t *host)
{
	uint32_t number = 0;
	const char *digits;

	skip_blanks(reader);
	digits = reader->at;
	if (digits < reader->end && *digits == 'h')
		digits++;
	if (digits == reader->end || *digits < '0' || *digits > '9')
		return complain(reader, "not a host, expected h0, h1, … or its number");
	for (; digits < reader->end && *digits >= '0' && *digits <= '9'; digits++) {
		number = number * 10 + (uint32_t)(*digits - '0');
		if (number >= reader->hosts)
			return complain(reader, "there is no such host");
	}
	if (digits < reader->end && *digits != ' ' && *digits != '\t' && *digits != '\r' &&
		*digits != '#')
		return complain(reader, "not a host, expected h0, h1, … or its number");
	reader->at = digits;
	*host = (uint16_t)number;
	return 0;
}

static int read_line(struct reader *reader, uint16_t *to, bool *receives)
{
	uint16_t source, destination;

	if (at_end(reader))
		return 0;
	if (read_host(reader, &source) < 0)
		return -EINVAL;
	if (to[source] != TRAFFIC_NOWHERE)
		return complain(reader, "this host sends to another one already");
	if (read_host(reader, &destination) < 0)
		return -EINVAL;
	if (receives[destination])
		return complain(reader, "another host sends to this one already");
	if (!at_end(reader))
		return complain(reader, "more than two hosts on a line");
	to[source] = destination;
	receives[destination] = true;
	return 0;
}

int permutation_parse(uint16_t *to, uint16_t hosts, const char *text, size_t bytes,
	const char *origin, struct fault *fault)
{
	struct reader reader = {.origin = origin, .hosts = hosts, .fault = fault};
	bool *receives = calloc(hosts, sizeof(receives[0]));
	const char *end = text + bytes;
	int result = 0;

	if (receives == NULL)
		return fault_set(fault, ENOMEM, "no memory for a permutation");
	for (unsigned i = 0; i < hosts; i++)
		to[i] = TRAFFIC_NOWHERE;
	while (result == 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		reader.begin = reader.at = text;
		reader.end = newline != NULL ? newline : end;
		reader.line++;
		result = read_line(&reader, to, receives);
		text = newline != NULL ? newline + 1 : end;
	}
	free(receives);
	return result;
}
