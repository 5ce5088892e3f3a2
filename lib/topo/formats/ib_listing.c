/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ib_listing.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

#define PORTS_MAX 254 /* of a channel adapter; InfiniBand's limit */
#define SHOWN     40  /* characters of the input in a message */

struct line {
	struct ib_listing *listing;
	const char *start, *at, *end;
	uint32_t number;
	struct fault *fault;
};

#define REFUSE(line, at, ...)                                            \
	fault_at((line)->fault, (line)->listing->origin, (line)->number, \
		(uint32_t)((at) - (line)->start) + 1, __VA_ARGS__)

/* Length of the unread rest of the line, cut to fit into a message. */
static int rest(const struct line *line)
{
	return line->end - line->at < SHOWN ? (int)(line->end - line->at) : SHOWN;
}

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

static bool take(struct line *line, char letter)
{
	if (line->at == line->end || *line->at != letter)
		return false;
	line->at++;
	return true;
}

static int expect(struct line *line, char letter, const char *what)
{
	if (take(line, letter))
		return 0;
	return REFUSE(line, line->at, "expected %s, found '%.*s'", what, rest(line), line->at);
}

static int read_number(
	struct line *line, unsigned min, unsigned max, const char *what, unsigned *number)
{
	const char *start = line->at;
	unsigned value = 0;

	while (line->at < line->end && isdigit((unsigned char)*line->at) && value <= max)
		value = value * 10 + (unsigned)(*line->at++ - '0');
	*number = value;
	if (line->at != start && value >= min && value <= max)
		return 0;
	line->at = start;
	return REFUSE(line, start, "expected %s from %u to %u, found '%.*s'", what, min, max,
		rest(line), start);
}

/* "S-0002c90200404780" */
static int read_id(struct line *line, struct ib_text *id)
{
	const char *close;

	if (expect(line, '"', "a node in quotes") < 0)
		return -EINVAL;
	close = memchr(line->at, '"', (size_t)(line->end - line->at));
	if (close == NULL)
		return REFUSE(line, line->at - 1, "the closing quote is missing");
	if (close == line->at)
		return REFUSE(line, line->at - 1, "a node without a name");
	*id = (struct ib_text){line->at, (uint32_t)(close - line->at)};
	line->at = close + 1;
	return 0;
}

/* Skips the parts after a port number: the chassis number "[ext 12]", the port GUID
 * "(2c903000a1b2d)". */
static int skip_extras(struct line *line)
{
	for (skip_blanks(line); line->at < line->end && (*line->at == '[' || *line->at == '(');
		skip_blanks(line)) {
		char closing = *line->at == '[' ? ']' : ')';
		const char *close = memchr(line->at, closing, (size_t)(line->end - line->at));

		if (close == NULL)
			return REFUSE(line, line->at, "the closing '%c' is missing", closing);
		line->at = close + 1;
	}
	return 0;
}

static int expect_end(struct line *line)
{
	skip_blanks(line);
	if (line->at == line->end || *line->at == '#')
		return 0;
	return REFUSE(line, line->at, "expected '#' or the end of the line, found '%.*s'",
		rest(line), line->at);
}

/* The description is the text between the first and the last quote of the comment. */
static struct ib_text find_description(const struct line *line, struct ib_text otherwise)
{
	const char *open = memchr(line->at, '"', (size_t)(line->end - line->at));
	const char *close = memrchr(line->at, '"', (size_t)(line->end - line->at));

	if (open == NULL || close <= open + 1)
		return otherwise;
	return (struct ib_text){open + 1, (uint32_t)(close - open - 1)};
}

static int read_node(struct line *line, enum device_kind kind)
{
	struct ib_listing *listing = line->listing;
	struct ib_node node = {.kind = kind, .line = line->number};
	int result;

	skip_blanks(line);
	result =
		kind == DEVICE_SWITCH
			? read_number(line, 1, TOPOLOGY_PORTS_MAX, "a number of ports", &node.ports)
			: read_number(line, 1, PORTS_MAX, "a number of ports", &node.ports);
	skip_blanks(line);
	node.column = (uint32_t)(line->at - line->start) + 1;
	if (result == 0)
		result = read_id(line, &node.id);
	if (result == 0)
		result = expect_end(line);
	if (result < 0)
		return result;
	node.name = find_description(line, node.id);
	if (!array_reserve(
		    &listing->node_at, &listing->node_room, listing->nodes + 1u, sizeof(node)))
		return -ENOMEM;
	listing->node_at[listing->nodes++] = node;
	return 0;
}

static bool looks_like_rate(const char *text, size_t length)
{
	const char *x = memchr(text, 'x', length);

	return x != NULL && x != text && isdigit((unsigned char)text[0]) && x + 1 < text + length &&
	       isupper((unsigned char)x[1]);
}

/* The rate is a word at the end of the comment: # "leaf 1" lid 3 4xQDR. */
static int read_rate(struct line *line, uint64_t *rate_bps)
{
	const char *quote = memrchr(line->at, '"', (size_t)(line->end - line->at));

	if (quote != NULL)
		line->at = quote + 1;
	for (skip_blanks(line); line->at < line->end; skip_blanks(line)) {
		const char *word = line->at;
		size_t length;

		while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
			line->at++;
		length = (size_t)(line->at - word);
		if (ib_rate_parse(word, length, rate_bps)) {
			if (*rate_bps <= TOPOLOGY_RATE_MAX_BPS)
				return 0;
			return REFUSE(line, word, "%.*s: expected a rate from " TOPOLOGY_RATE_RANGE,
				(int)length, word);
		}
		if (looks_like_rate(word, length))
			return REFUSE(line, word, "'%.*s' is no rate, expected one such as 4xEDR",
				length < SHOWN ? (int)length : SHOWN, word);
	}
	return 0;
}

/* The far end: "S-0002c90200404780"[5]; port 1 by default. */
static int read_peer(struct line *line, struct ib_port *port)
{
	int result;

	skip_blanks(line);
	port->column = (uint32_t)(line->at - line->start) + 1;
	port->peer_port = 1;
	result = read_id(line, &port->peer);
	if (result == 0 && take(line, '[')) {
		result = read_number(line, 1, PORTS_MAX, "a port", &port->peer_port);
		if (result == 0)
			result = expect(line, ']', "']'");
	}
	return result < 0 ? result : skip_extras(line);
}

static int read_port(struct line *line, bool in_node)
{
	struct ib_listing *listing = line->listing;
	struct ib_port port = {.node = listing->nodes - 1, .line = line->number};
	int result;

	if (!in_node)
		return REFUSE(line, line->at, "a port without a node above it");
	line->at++;
	result = read_number(line, 1, listing->node_at[port.node].ports, "a port", &port.port);
	if (result == 0)
		result = expect(line, ']', "']'");
	if (result == 0)
		result = skip_extras(line);
	if (result == 0)
		result = read_peer(line, &port);
	if (result == 0)
		result = expect_end(line);
	if (result == 0)
		result = read_rate(line, &port.rate_bps);
	if (result < 0)
		return result;
	if (!array_reserve(
		    &listing->port_at, &listing->port_room, listing->ports + 1u, sizeof(port)))
		return -ENOMEM;
	listing->port_at[listing->ports++] = port;
	return 0;
}

static bool begins_with(const struct line *line, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(line->end - line->at) >= length && memcmp(line->at, word, length) == 0;
}

/* Lines without cabling information. */
static bool is_ignored(const struct line *line)
{
	static const char *const words[] = {"vendid=", "devid=", "sysimgguid=", "switchguid=",
		"caguid=", "rtguid=", "Chassis ", "Non-Chassis Nodes", "Hostname:"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins_with(line, words[i]))
			return true;
	return false;
}

static int read_line(struct line *line, bool *in_node)
{
	static const struct {
		const char *word;
		enum device_kind kind;
	} kinds[] = {{"Switch", DEVICE_SWITCH}, {"Ca", DEVICE_HOST}, {"Hca", DEVICE_HOST},
		{"Rt", DEVICE_HOST}};

	skip_blanks(line);
	if (line->at < line->end && *line->at == '#')
		return 0;
	if (line->at < line->end && *line->at == '[')
		return read_port(line, *in_node);
	*in_node = false;
	if (line->at == line->end || is_ignored(line))
		return 0;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *after = line->at + strlen(kinds[i].word);

		if (!begins_with(line, kinds[i].word) || after == line->end ||
			(*after != ' ' && *after != '\t'))
			continue;
		line->at = after;
		*in_node = true;
		return read_node(line, kinds[i].kind);
	}
	return REFUSE(line, line->at,
		"expected a node (Switch, Ca, Rt), a port such as [1] or a comment, found '%.*s'",
		rest(line), line->at);
}

int ib_listing_read(struct ib_listing *listing, const char *text, size_t length, const char *origin,
	struct fault *fault)
{
	struct line line = {.listing = listing, .fault = fault};
	const char *end = text + length, *next;
	bool in_node = false;
	int result = 0;

	*listing = (struct ib_listing){.origin = origin};
	for (; text < end && result == 0; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (next == NULL)
			next = end;
		line.start = line.at = text;
		line.end = next > text && next[-1] == '\r' ? next - 1 : next;
		line.number++;
		result = read_line(&line, &in_node);
	}
	if (result == -ENOMEM)
		fault_set(fault, ENOMEM, "%s: no memory", origin);
	return result;
}

void ib_listing_free(struct ib_listing *listing)
{
	free(listing->node_at);
	free(listing->port_at);
}
