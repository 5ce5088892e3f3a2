/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/file_text.h"
#include "base/quantity.h"
#include "goal.h"
#include "goal_build.h"

/* Sorts the edges of a schedule by source, and checks them for cycles. */

static uint32_t target(uint32_t edge)
{
	return edge & ~GOAL_EDGE_STARTED;
}

static int sort_edges(struct goal_builder *build)
{
	struct goal *goal = build->goal;

	goal->edges = (uint32_t)build->pairs;
	goal->first_edge = spill_zeroed((size_t)goal->ops + 2, sizeof(*goal->first_edge));
	goal->edge = spill_zeroed(build->pairs + 1, sizeof(*goal->edge));
	if (goal->first_edge == NULL || goal->edge == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < build->pairs; i++) {
		goal->first_edge[build->pair[i].from + 2]++;
		goal->op[target(build->pair[i].to)].waits++;
	}
	for (uint32_t op = 0; op < goal->ops; op++)
		goal->first_edge[op + 2] += goal->first_edge[op + 1];
	for (size_t i = 0; i < build->pairs; i++)
		goal->edge[goal->first_edge[build->pair[i].from + 1]++] = build->pair[i].to;
	return 0;
}

/* Kahn's algorithm: removes operations that wait for no remaining one. Returns their number. */
static uint32_t take_away(const struct goal *goal, uint32_t *waits, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t op = 0; op < goal->ops; op++) {
		waits[op] = goal->op[op].waits;
		if (waits[op] == 0)
			queue[tail++] = op;
	}
	while (head < tail) {
		uint32_t op = queue[head++];

		for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++)
			if (--waits[target(goal->edge[i])] == 0)
				queue[tail++] = target(goal->edge[i]);
	}
	return tail;
}

/* Returns an operation of a cycle. Each remaining operation waits for another remaining one, so
 * following predecessors eventually leads into a cycle. */
static uint32_t find_cycle(const struct goal *goal, const uint32_t *waits, uint32_t *before)
{
	uint32_t at = 0;

	for (uint32_t op = 0; op < goal->ops; op++)
		for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++)
			if (waits[op] != 0 && waits[target(goal->edge[i])] != 0)
				before[target(goal->edge[i])] = op;
	while (waits[at] == 0)
		at++;
	for (uint32_t step = 0; step < goal->ops; step++)
		at = before[at];
	return at;
}

static int refuse_cycle(const struct goal_builder *build, uint32_t op)
{
	return error_set(build->lexer->error, EINVAL,
		"%s:%u:1: '%.32s' waits for itself through its dependencies", build->lexer->origin,
		build->goal->op[op].line, goal_label(build->goal, op));
}

int goal_build_edges(struct goal_builder *build)
{
	const struct goal *goal = build->goal;
	uint32_t *waits, *queue;
	int result = sort_edges(build);

	if (result < 0)
		return result;
	waits = spill_zeroed((size_t)goal->ops + 1, sizeof(*waits));
	queue = spill_zeroed((size_t)goal->ops + 1, sizeof(*queue));
	if (waits == NULL || queue == NULL)
		result = -ENOMEM;
	else if (take_away(goal, waits, queue) < goal->ops)
		result = refuse_cycle(build, find_cycle(goal, waits, queue));
	spill_free(waits);
	spill_free(queue);
	return result;
}

#define COLUMNS    3
#define DELIMITERS " \t\r,"

static int take_line(char *line, unsigned number, const char *path, uint32_t ranks,
	uint64_t *matrix, struct error *error)
{
	char *column[COLUMNS], *rest = NULL, *word;
	uint64_t from, to, bytes;
	unsigned columns = 0;

	line[strcspn(line, "#")] = '\0';
	for (word = strtok_r(line, DELIMITERS, &rest); word != NULL && columns < COLUMNS;
		word = strtok_r(NULL, DELIMITERS, &rest))
		column[columns++] = word;
	if (columns == 0)
		return 0;
	if (columns < COLUMNS || word != NULL)
		return error_at(error, path, number, 0, "expected SRC DST BYTES");
	if (!quantity_number(column[0], 0, ranks - 1, &from) ||
		!quantity_number(column[1], 0, ranks - 1, &to))
		return error_at(error, path, number, 0, "ranks must be from 0 to %u", ranks - 1);
	if (!quantity_number(column[2], 0, GOAL_BYTES_MAX, &bytes))
		return error_at(error, path, number, 0,
			"'%s': expected a number of bytes up to 2^40", column[2]);
	matrix[from * ranks + to] = bytes;
	return 0;
}

int goal_matrix_parse(char *text, size_t length, const char *path, uint32_t ranks, uint64_t *matrix,
	struct error *error)
{
	unsigned number = 0;
	int result = 0;

	if (memchr(text, '\0', length) != NULL)
		return error_set(
			error, EINVAL, "%s: contains a zero byte; a text file is required", path);
	for (char *line = text, *next; result == 0 && line < text + length; line = next) {
		next = line + strcspn(line, "\n");
		if (next < text + length)
			*next++ = '\0';
		result = take_line(line, ++number, path, ranks, matrix, error);
	}
	return result;
}

int goal_matrix_load(const char *path, uint32_t ranks, uint64_t **matrix, struct error *error)
{
	size_t length;
	char *text;
	int result;

	*matrix = NULL;
	if (ranks < 2 || ranks > GOAL_MATRIX_RANKS_MAX)
		return error_set(error, EINVAL, "%s: there must be 2 to %u ranks", path,
			GOAL_MATRIX_RANKS_MAX);
	text = file_text_read(path, GOAL_TEXT_MAX, &length, error);
	if (text == NULL)
		return -errno;
	*matrix = calloc((size_t)ranks * ranks, sizeof(**matrix));
	if (*matrix == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", path);
	else
		result = goal_matrix_parse(text, length, path, ranks, *matrix, error);
	free(text);
	return result;
}
