/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The form that LogGOPSim's txt2bin writes: little-endian numbers, packed.
 *
 *     0   u64  4223; all positions below count from byte 8
 *     8   u32  ranks; u8 highest cpu; u8 highest nic
 *     14       for each rank: u64 begin and u64 end of its part
 *
 * A rank's part is
 *
 *     u32 operations; u32 operations without requirements, and the u32 numbers of these
 *     for each operation 39 bytes: u32 requirements; u8 kind (1 send, 2 recv, 3 calc); u32 peer;
 *         u64 bytes or nanoseconds; u32 tag; u8 cpu; u8 nic; u32 operations that wait for its end
 *         and u32 index of the first of them in the list; then the same for its start
 *     the list: u32 numbers of operations that wait
 *
 * In a recv, peer or tag 2^32 - 1 matches any. Operations have no labels. An operation's number in
 * its rank, from 1, serves as its line number. */

#include "goal.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "goal_build.h"

#define COOKIE   4223u
#define ORIGIN   8
#define HEADER   6
#define PLACES   16 /* bytes per rank: begin and end of its part */
#define OP_BYTES 39

struct reader {
	const unsigned char *from; /* the file, from ORIGIN */
	uint64_t length;
	struct goal_lexer lexer; /* for messages */
	struct goal_builder build;
};

/* A rank's part of the file. */
struct part {
	const unsigned char *op, *list;
	uint32_t rank, ops;
	uint64_t listed;
};

static uint32_t number32(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof(number));
	return le32toh(number);
}

static uint64_t number64(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return le64toh(number);
}

bool goal_binary_is(const char *bytes, size_t length)
{
	return length >= ORIGIN && number64((const unsigned char *)bytes) == COOKIE;
}

#define REFUSE(reader, format, ...) \
	error_set((reader)->lexer.error, EINVAL, "%s: " format, (reader)->lexer.origin, __VA_ARGS__)

static int refuse_op(
	const struct reader *reader, const struct part *part, uint32_t number, const char *what)
{
	return REFUSE(reader, "rank %" PRIu32 ", operation %" PRIu32 ": %s", part->rank, number + 1,
		what);
}

static int find_part(const struct reader *reader, uint32_t rank, struct part *part)
{
	const unsigned char *places = reader->from + HEADER + (size_t)rank * PLACES;
	uint64_t begin = number64(places), end = number64(places + 8), roots, left;

	*part = (struct part){.rank = rank};
	if (end > reader->length || begin > end || end - begin < 8)
		return REFUSE(reader,
			"rank %" PRIu32 ": the part from offset %" PRIu64 " to %" PRIu64
			" is outside the file",
			rank, begin, end);
	part->ops = number32(reader->from + begin);
	roots = number32(reader->from + begin + 4);
	left = end - begin - 8;
	if (roots > left / 4 || part->ops > (left - 4 * roots) / OP_BYTES)
		return REFUSE(reader,
			"rank %" PRIu32 ": the part is too small for %" PRIu32 " operations", rank,
			part->ops);
	part->op = reader->from + begin + 8 + 4 * roots;
	part->list = part->op + (size_t)part->ops * OP_BYTES;
	part->listed = (left - 4 * roots - (uint64_t)part->ops * OP_BYTES) / 4;
	return 0;
}

static int read_op(struct reader *reader, const struct part *part, uint32_t number)
{
	const unsigned char *at = part->op + (size_t)number * OP_BYTES;
	uint32_t ranks = reader->build.goal->ranks;
	struct goal_op op = {.amount = number64(at + 9),
		.peer = number32(at + 5),
		.tag = number32(at + 17),
		.line = number + 1,
		.cpu = at[21]};

	if (at[4] < 1 || at[4] > 3)
		return refuse_op(
			reader, part, number, "the kind must be 1 (send), 2 (recv) or 3 (calc)");
	op.kind = at[4] == 1 ? GOAL_SEND : at[4] == 2 ? GOAL_RECV : GOAL_CALC;
	if (op.kind == GOAL_CALC) {
		op.peer = op.tag = 0;
		if (op.amount > GOAL_CALC_MAX_NS)
			return refuse_op(reader, part, number, "the time must be at most 2^63 ns");
	} else if (op.amount > GOAL_BYTES_MAX) {
		return refuse_op(reader, part, number, "the length must be at most 2^40 bytes");
	} else if (op.peer >= ranks && (op.kind == GOAL_SEND || op.peer != GOAL_ANY)) {
		return refuse_op(reader, part, number, "the peer is not a rank");
	}
	op.any_tag = op.kind == GOAL_RECV && op.tag == UINT32_MAX;
	if (at[22] != 0 && reader->build.goal->nic_line == 0)
		reader->build.goal->nic_line = op.line;
	return goal_build_op(&reader->build, &op, NULL);
}

/* Reads the operations that wait for the end, or for the start, of an operation. */
static int read_waiting(struct reader *reader, const struct part *part, uint32_t number,
	const unsigned char *at, uint32_t started)
{
	uint32_t first = reader->build.goal->rank[part->rank].first;
	uint32_t count = number32(at), index = number32(at + 4);
	int result = 0;

	if (count > part->listed || (count > 0 && index > part->listed - count))
		return refuse_op(
			reader, part, number, "the list of dependencies is outside the file");
	for (uint32_t i = 0; i < count && result == 0; i++) {
		uint32_t to = number32(part->list + 4 * (size_t)(index + i));

		if (to >= part->ops)
			return refuse_op(reader, part, number,
				"an operation that does not exist waits "
				"for it");
		result = goal_build_pair(&reader->build, first + number, (first + to) | started);
	}
	return result;
}

static int read_rank(struct reader *reader, uint32_t rank)
{
	const struct goal_token place = {.line = 1};
	struct part part;
	int result = find_part(reader, rank, &part);

	if (result == 0)
		result = goal_build_rank(&reader->build, rank, &place);
	for (uint32_t i = 0; i < part.ops && result == 0; i++)
		result = read_op(reader, &part, i);
	for (uint32_t i = 0; i < part.ops && result == 0; i++) {
		const unsigned char *at = part.op + (size_t)i * OP_BYTES + 23;

		result = read_waiting(reader, &part, i, at, 0);
		if (result == 0)
			result = read_waiting(reader, &part, i, at + 8, GOAL_EDGE_STARTED);
	}
	return result == 0 ? goal_build_rank_end(&reader->build) : result;
}

/* Checks the requirement counts, which are redundant, against the lists. */
static int check_waits(const struct reader *reader)
{
	const struct goal *goal = reader->build.goal;
	struct part part;

	for (uint32_t rank = 0; rank < goal->ranks; rank++) {
		find_part(reader, rank, &part);
		for (uint32_t i = 0; i < part.ops; i++)
			if (number32(part.op + (size_t)i * OP_BYTES) !=
				goal->op[goal->rank[rank].first + i].waits)
				return refuse_op(reader, &part, i,
					"the number of requirements contradicts the lists");
	}
	return 0;
}

int goal_binary_read(struct goal *goal, const char *bytes, size_t length, const char *origin,
	struct error *error)
{
	struct reader reader = {.from = (const unsigned char *)bytes + ORIGIN,
		.length = length - ORIGIN,
		.build.goal = goal};
	uint32_t ranks = 0;
	int result = 0;

	goal_lexer_init(&reader.lexer, bytes, length, origin, error);
	if (reader.length >= HEADER)
		ranks = number32(reader.from);
	if (ranks == 0 || ranks > GOAL_RANKS_MAX)
		return REFUSE(&reader,
			"a binary schedule of %" PRIu32
			" ranks is not possible; it must have 1 to %u",
			ranks, GOAL_RANKS_MAX);
	if ((reader.length - HEADER) / PLACES < ranks)
		return REFUSE(
			&reader, "the binary schedule of %" PRIu32 " ranks is truncated", ranks);
	result = goal_build_begin(&reader.build, &reader.lexer, ranks);
	for (uint32_t rank = 0; rank < ranks && result == 0; rank++)
		result = read_rank(&reader, rank);
	if (result == 0)
		result = goal_build_edges(&reader.build);
	if (result == 0)
		result = check_waits(&reader);
	goal_build_fini(&reader.build);
	return result;
}
