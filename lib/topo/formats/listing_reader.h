/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads cabling from files with one statement per line into a listing (ib_listing.h). A format
 * reads the words of a line and names nodes by any text that is unique in the file. The listing
 * handles invalid lines, contradictions and the choice of names. */

#include <stddef.h>

#include "ib_listing.h"

/* A node or a port as identified by a line. */
struct listing_node {
	enum device_kind kind;
	struct ib_text id, name; /* empty if not in the line */
	uint32_t port, lid;
	uint64_t guid; /* GUID and LID are 0 if unknown */
};

struct listing_reader {
	struct ib_listing *listing;
	struct topology_import *import;
	/* Called for each line, without its newline. Returns 0, -EINVAL after listing_refuse(),
	 * -ERANGE after it for a line that must not be left out, or -ENOMEM. */
	int (*line)(struct listing_reader *reader);
	/* Called after the last line; may be NULL. Returns 0, -EINVAL or -ENOMEM with 'error' set.
	 */
	int (*finish)(struct listing_reader *reader, struct error *error);
	void *context; /* owned by the format */
	bool comments; /* 'line' is also called for lines that start with # */
	const char *origin;
	const char *start, *at, *end; /* current line, and its unread rest */
	uint32_t number;
	bool twice; /* as in struct ib_listing */
	struct error odd;
	uint32_t *slot; /* hash table of nodes by id: number + 1, 0 if free */
	uint32_t slots;
};

/* Reads all lines and builds the topology. Leaves out invalid lines or, if strict, fails. Returns
 * NULL with errno as for topology_format.read. */
struct topology *listing_reader_run(struct listing_reader *reader, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error);

/* Defines topology_format.read of a format: a listing_reader with these members, whose context is a
 * zeroed 'state'. */
#define LISTING_READER(name, state, ...)                                                  \
	static struct topology *name(const char *text, size_t length, const char *origin, \
		struct topology_import *import, struct error *error)                      \
	{                                                                                 \
		state context = {0};                                                      \
		struct listing_reader reader = {.context = &context, __VA_ARGS__};        \
                                                                                          \
		return listing_reader_run(&reader, text, length, origin, import, error);  \
	}

/* Only reads the lines. The caller sets 'line', 'origin' and 'import'. Returns 0, or -EINVAL,
 * -ERANGE or -ENOMEM with 'error' set. */
int listing_reader_lines(
	struct listing_reader *reader, const char *text, size_t length, struct error *error);

/* Sets the error of the current line, at the position reader->at. Returns -EINVAL. */
int listing_refuse(struct listing_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the next word, up to a space; empty at the end of the line. */
struct ib_text listing_word(struct listing_reader *reader);
bool listing_is(struct ib_text text, const char *word);
/* Skips spaces and, if it follows, the text. Returns false if the text does not follow. */
bool listing_take(struct listing_reader *reader, const char *text);
/* Returns the text before 'mark' and skips both. Returns -EINVAL if there is no mark. */
int listing_until(struct listing_reader *reader, const char *mark, struct ib_text *text);
/* Returns -EINVAL if the text is not a number of this base up to 'max'. */
int listing_number(struct listing_reader *reader, struct ib_text text, unsigned base, uint32_t max,
	uint32_t *number);
/* Reads an end in a line of opensm-subnet.lst: { SW Ports:24 … {leaf 1} LID:0002 PN:15 } */
int listing_subnet_end(struct listing_reader *reader, struct listing_node *end);
/* Formats a text that remains valid as long as the listing. May return -ENOMEM. */
int listing_keep(struct listing_reader *reader, struct ib_text *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Finds the node with this id, or adds one. Returns -EINVAL if the existing node has a different
 * kind or name. Nodes are finally sorted by 'order', initially the line number, and then by first
 * appearance. */
int listing_node(struct listing_reader *reader, enum device_kind kind, struct ib_text id,
	struct ib_text name, uint32_t *node);
/* Returns UINT32_MAX if there is no such node. */
uint32_t listing_find(const struct listing_reader *reader, struct ib_text id);

/* One end of a cable. Port 0 selects the node's next port; ports above 254 are invalid. */
struct listing_end {
	uint32_t node;
	unsigned port;
};

/* Adds port 'a', cabled to 'b', to the listing (this direction only). A rate of 0 or a delay of
 * WEFT_TIME_NEVER means unknown. */
int listing_connect(struct listing_reader *reader, struct listing_end a, struct listing_end b,
	uint64_t rate_bps, weft_time delay_ps);

/* Returns the nominal rate of an InfiniBand link, from "4x" or "4X" and Gbps per lane such as
 * "25.78125" or "10"; 0 if unknown. */
uint64_t ib_rate_of_lanes(struct ib_text width, struct ib_text lane_gbps);
