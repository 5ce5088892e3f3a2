/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"

#define COLUMNS    3
#define DELIMITERS " \t\r,"

static bool take_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number <= max;
}

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
	if (!take_number(column[0], ranks - 1, &from) || !take_number(column[1], ranks - 1, &to))
		return error_at(error, path, number, 0, "expected ranks from 0 to %u", ranks - 1);
	if (!take_number(column[2], GOAL_BYTES_MAX, &bytes))
		return error_at(error, path, number, 0,
			"'%s': expected a number of bytes up to 2^40", column[2]);
	if (from == to)
		return error_at(error, path, number, 0, "rank %s would send to itself", column[0]);
	matrix[from * ranks + to] = bytes;
	return 0;
}

int goal_matrix_parse(char *text, size_t length, const char *path, uint32_t ranks, uint64_t *matrix,
	struct error *error)
{
	unsigned number = 0;
	int result = 0;

	if (memchr(text, '\0', length) != NULL)
		return error_set(error, EINVAL, "%s: has a byte 0, expected lines of text", path);
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
		return error_set(
			error, EINVAL, "%s: expected 2 to %u ranks", path, GOAL_MATRIX_RANKS_MAX);
	text = file_text_read(path, GOAL_TEXT_MAX, &length, error);
	if (text == NULL)
		return -errno;
	*matrix = calloc((size_t)ranks * ranks, sizeof(**matrix));
	if (*matrix == NULL)
		result = error_set(error, ENOMEM, "%s: no memory", path);
	else
		result = goal_matrix_parse(text, length, path, ranks, *matrix, error);
	free(text);
	return result;
}
