/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ib_listing.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/file_text.h"

#define PORTS_MAX   254 /* ports per node; InfiniBand's limit */
#define SHOWN       40  /* characters of the input in a message */
#define INCLUDES    8   /* maximum depth of included files */
#define INCLUDE_MAX ((size_t)64 << 20)

/* State of the file that is being read. */
struct file {
	const char *origin;
	bool in_node;           /* port lines belong to the last node */
	bool aggregation_devid; /* the last devid= was an aggregation node's */
	uint8_t width, speed;   /* ibsim: width and speed of the following ports; 0 if not set */
	unsigned depth;         /* 0 if not included */
};

struct line {
	struct ib_listing *listing;
	struct topology_import *import;
	struct file *file;
	const char *start, *at, *end;
	uint32_t number;
	struct error *error;
};

#define REFUSE(line, at, ...)                                         \
	error_at((line)->error, (line)->file->origin, (line)->number, \
		(uint32_t)((at) - (line)->start) + 1, __VA_ARGS__)

/* Returns the length of the unread rest of the line, limited for messages. */
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

/* Reads an id such as "S-0002c90200404780". */
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

/* Skips what may follow a port number: a chassis number "[ext 12]" and a port GUID
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

/* Returns the text between the first and the last quote of the comment, or an empty text. */
static int find_description(const struct line *line, struct ib_text *text)
{
	const char *open = memchr(line->at, '"', (size_t)(line->end - line->at));
	const char *close = memrchr(line->at, '"', (size_t)(line->end - line->at));

	*text = (struct ib_text){line->at, 0};
	if (open == NULL)
		return 0;
	if (close == open)
		return REFUSE(line, open, "the closing quote of the description is missing");
	*text = (struct ib_text){open + 1, (uint32_t)(close - open - 1)};
	return 0;
}

static uint32_t find_lid(const char *from, const char *end)
{
	const char *word = memmem(from, (size_t)(end - from), " lid ", 5), *at;
	uint64_t lid = 0;

	if (word == NULL)
		return 0;
	for (at = word += 5; at < end && isdigit((unsigned char)*at);)
		at++;
	ib_number((struct ib_text){word, (uint32_t)(at - word)}, 10, UINT16_MAX, &lid);
	return (uint32_t)lid;
}

static int read_node(struct line *line, enum device_kind kind)
{
	struct ib_listing *listing = line->listing;
	struct ib_node node = {.kind = kind,
		.aggregation = line->file->aggregation_devid,
		.origin = line->file->origin,
		.line = line->number};
	int result;

	skip_blanks(line);
	result = read_number(line, 1, PORTS_MAX, "a number of ports", &node.ports);
	skip_blanks(line);
	node.column = (uint32_t)(line->at - line->start) + 1;
	if (result == 0)
		result = read_id(line, &node.id);
	if (result == 0)
		result = expect_end(line);
	if (result == 0)
		result = find_description(line, &node.name);
	if (result < 0)
		return result;
	if (node.id.length > 2)
		ib_number((struct ib_text){node.id.start + 2, node.id.length - 2}, 16, UINT64_MAX,
			&node.guid);
	node.lid = find_lid(
		node.name.length > 0 ? node.name.start + node.name.length : line->at, line->end);
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

/* Reads the rate, a word at the end of the comment: # "leaf 1" lid 3 4xQDR. */
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
		if (ib_rate_parse(word, length, rate_bps))
			return 0;
		if (looks_like_rate(word, length))
			return REFUSE(line, word, "'%.*s' is not a rate such as 4xEDR",
				length < SHOWN ? (int)length : SHOWN, word);
	}
	return 0;
}

/* Reads the far end: "S-0002c90200404780"[5]. */
static int read_peer(struct line *line, struct ib_port *port)
{
	int result;

	skip_blanks(line);
	port->column = (uint32_t)(line->at - line->start) + 1;
	result = read_id(line, &port->peer);
	skip_blanks(line);
	if (result == 0 && take(line, '[')) {
		result = read_number(line, 1, PORTS_MAX, "a port", &port->peer_port);
		if (result == 0)
			result = expect(line, ']', "']'");
	}
	return result < 0 ? result : skip_extras(line);
}

/* ibsim: reads w=1 s=4 after the far end. */
static int read_abilities(struct line *line, struct ib_port *port)
{
	unsigned bits;
	int result = 0;

	for (skip_blanks(line); result == 0 && line->end - line->at > 2 && line->at[1] == '=';
		skip_blanks(line)) {
		char letter = line->at[0];

		if (letter != 'w' && letter != 's')
			return REFUSE(line, line->at, "expected w= or s=, found '%.*s'", rest(line),
				line->at);
		line->at += 2;
		result = letter == 'w' ? read_number(line, 1, 31, "widths as bits", &bits)
				       : read_number(line, 1, 7, "speeds as bits", &bits);
		*(letter == 'w' ? &port->widths : &port->speeds) = (uint8_t)bits;
	}
	return result;
}

/* Reads the GUID of an adapter's port: [1](2c903000a1b2d). */
static void read_port_guid(const struct line *line, uint64_t *guid)
{
	const char *close = memchr(line->at, ')', (size_t)(line->end - line->at));

	if (close != NULL)
		ib_number((struct ib_text){line->at + 1, (uint32_t)(close - line->at - 1)}, 16,
			UINT64_MAX, guid);
}

static int read_port(struct line *line)
{
	struct ib_listing *listing = line->listing;
	struct ib_port port = {.node = listing->nodes - 1,
		.widths = line->file->width,
		.speeds = line->file->speed,
		.delay_ps = WEFT_TIME_NEVER,
		.origin = line->file->origin,
		.line = line->number};
	int result;

	if (!line->file->in_node)
		return REFUSE(line, line->at, "a port without a node above it");
	line->at++;
	result = read_number(line, 1, listing->node_at[port.node].ports, "a port", &port.port);
	if (result == 0)
		result = expect(line, ']', "']'");
	if (result == 0 && line->at < line->end && *line->at == '(')
		read_port_guid(line, &port.guid);
	if (result == 0)
		result = skip_extras(line);
	if (result == 0)
		result = read_peer(line, &port);
	if (result == 0)
		result = read_abilities(line, &port);
	if (result == 0)
		result = expect_end(line);
	if (result == 0)
		result = find_description(line, &port.peer_name);
	if (result == 0 && port.peer_name.length > 0)
		port.lid = find_lid(line->at, port.peer_name.start);
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

static bool take_word(struct line *line, const char *word)
{
	if (!begins_with(line, word))
		return false;
	line->at += strlen(word);
	return true;
}

/* Returns true for lines without cabling information. */
static bool is_ignored(const struct line *line)
{
	static const char *const words[] = {"vendid=", "sysimgguid=", "switchguid=", "caguid=",
		"hcaguids", "rtguid=", "Chassis ", "Non-Chassis Nodes", "Hostname:"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins_with(line, words[i]))
			return true;
	return false;
}

static int read_text(struct ib_listing *listing, struct topology_import *import, struct file *file,
	const char *text, size_t length, struct error *error);

static int read_source(struct line *line, struct ib_source *source)
{
	struct file file = {.origin = source->origin,
		.width = line->file->width,
		.speed = line->file->speed,
		.depth = line->file->depth + 1};
	size_t length;

	source->text = file_text_read(source->origin, INCLUDE_MAX, &length, line->error);
	if (source->text == NULL) {
		error_prefix(line->error, "%s:%u: include", line->file->origin, line->number);
		return errno == EINVAL ? -EISDIR : -errno;
	}
	return read_text(line->listing, line->import, &file, source->text, length, line->error);
}

/* Reads include "FILE", relative to the folder of the including file. */
static int read_include(struct line *line)
{
	const char *origin = line->file->origin, *slash = strrchr(origin, '/');
	size_t folder = slash != NULL ? (size_t)(slash + 1 - origin) : 0;
	struct ib_source *source;
	struct ib_text name;

	skip_blanks(line);
	if (line->file->depth == INCLUDES)
		return error_set(line->error, ERANGE, "%s:%u: more than %u nested includes", origin,
			line->number, INCLUDES);
	if (read_id(line, &name) < 0)
		return -EINVAL;
	source = calloc(1, sizeof(*source) + folder + name.length + 1);
	if (source == NULL)
		return -ENOMEM;
	memcpy(source->origin, origin, name.start[0] == '/' ? 0 : folder);
	memcpy(source->origin + (name.start[0] == '/' ? 0 : folder), name.start, name.length);
	source->next = line->listing->sources;
	line->listing->sources = source;
	return read_source(line, source);
}

static int read_bits(struct line *line, unsigned max, const char *what, uint8_t *bits)
{
	unsigned number;
	int result = read_number(line, 1, max, what, &number);

	if (result == 0)
		*bits = (uint8_t)number;
	return result;
}

/* Reads a setting of ibsim: an upper limit for the ports below. If only one of width and speed is
 * set, the other has its default. */
static int read_setting(struct line *line, bool *known)
{
	struct file *file = line->file;
	int result;

	*known = true;
	if (take_word(line, "width="))
		result = read_bits(line, 31, "widths as bits", &file->width);
	else if (take_word(line, "speed="))
		result = read_bits(line, 7, "speeds as bits", &file->speed);
	else if (take_word(line, "include"))
		return read_include(line);
	else if (begins_with(line, "module") || begins_with(line, "@"))
		return error_set(line->error, ERANGE,
			"%s:%u: ibsim modules and aliases are not supported", line->file->origin,
			line->number);
	else {
		*known = false;
		return 0;
	}
	return result == 0 ? expect_end(line) : result;
}

static int read_node_line(struct line *line, bool *known)
{
	static const struct {
		const char *word;
		enum device_kind kind;
		bool router;
	} kinds[] = {{"Switch", DEVICE_SWITCH, false}, {"Ca", DEVICE_HOST, false},
		{"Hca", DEVICE_HOST, false}, {"Rt", DEVICE_HOST, true}};
	int result = 0;

	*known = false;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !*known; i++) {
		const char *after = line->at + strlen(kinds[i].word);

		if (!begins_with(line, kinds[i].word) || after == line->end ||
			(*after != ' ' && *after != '\t'))
			continue;
		*known = true;
		line->at = after;
		result = read_node(line, kinds[i].kind);
		line->file->in_node = result == 0;
		if (result == 0)
			line->listing->node_at[line->listing->nodes - 1].router = kinds[i].router;
	}
	return result;
}

/* An unknown line does not end a node, because it may be output of another program on the same
 * terminal. */
static int read_line(struct line *line)
{
	bool known;
	int result;

	skip_blanks(line);
	if (line->at < line->end && *line->at == '#')
		return 0;
	if (line->at < line->end && *line->at == '[')
		return read_port(line);
	result = read_node_line(line, &known);
	if (!known)
		result = read_setting(line, &known);
	if (known)
		return result;
	if (line->at == line->end || is_ignored(line) || begins_with(line, "devid=")) {
		line->file->in_node = false;
		if (begins_with(line, "devid="))
			line->file->aggregation_devid = begins_with(line, "devid=0xcf09");
		return 0;
	}
	return REFUSE(line, line->at,
		"expected a node (Switch, Ca, Rt), a port such as [1] or a comment, found '%.*s'",
		rest(line), line->at);
}

static int read_text(struct ib_listing *listing, struct topology_import *import, struct file *file,
	const char *text, size_t length, struct error *error)
{
	struct line line = {.listing = listing, .import = import, .file = file};
	const char *end = text + length, *next;
	int result = 0;

	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	for (; text < end && result == 0; text = next + 1) {
		struct error odd = {""};

		next = memchr(text, '\n', (size_t)(end - text));
		if (next == NULL)
			next = end;
		line.start = line.at = text;
		line.end = next > text && next[-1] == '\r' ? next - 1 : next;
		line.number++;
		line.error = &odd;
		result = read_line(&line);
		if (result == -EINVAL)
			result = topology_import_odd(import, &odd, "the line is left out", error);
		else if (result < 0 && error != NULL)
			*error = odd;
	}
	return result;
}

int ib_listing_read(struct ib_listing *listing, const char *text, size_t length, const char *origin,
	struct topology_import *import, struct error *error)
{
	struct file file = {.origin = origin};
	int result;

	*listing = (struct ib_listing){.origin = origin};
	result = read_text(listing, import, &file, text, length, error);
	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: out of memory", origin);
	return result;
}

void ib_listing_free(struct ib_listing *listing)
{
	struct ib_source *next;

	for (struct ib_source *source = listing->sources; source != NULL; source = next) {
		next = source->next;
		free(source->text);
		free(source);
	}
	free(listing->node_at);
	free(listing->port_at);
}
