/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal.h"

#include <stdlib.h>
#include <string.h>

const char *goal_kind_name(enum goal_kind kind)
{
	static const char *const names[] = {"send", "recv", "calc"};

	return names[kind];
}

void goal_destroy(struct goal *goal)
{
	if (goal == NULL)
		return;
	free(goal->rank);
	free(goal->op);
	free(goal->first_edge);
	free(goal->edge);
	free(goal->labels);
	free(goal);
}

/* All of a file; NULL with errno, EFBIG if it is longer than GOAL_TEXT_MAX. */
static char *read_all(FILE *in, size_t *length)
{
	size_t room = 65536, got;
	char *text = malloc(room), *grown;

	*length = 0;
	while (text != NULL && (got = fread(text + *length, 1, room - *length, in)) > 0) {
		*length += got;
		if (*length < room)
			continue;
		grown = room < GOAL_TEXT_MAX ? realloc(text, room * 2) : NULL;
		if (grown == NULL) {
			errno = room < GOAL_TEXT_MAX ? ENOMEM : EFBIG;
			free(text);
			return NULL;
		}
		text = grown;
		room *= 2;
	}
	if (text != NULL && ferror(in)) {
		free(text); /* leaves errno as it is */
		return NULL;
	}
	return text;
}

struct goal *goal_load(const char *path, struct fault *fault)
{
	FILE *in = fopen(path, "r");
	struct goal *goal = NULL;
	size_t length;
	char *text;
	int error;

	text = in != NULL ? read_all(in, &length) : NULL;
	if (text == NULL) {
		error = errno;
		fault_set(fault, error, "%s: %s", path, strerror(error));
		error = error == EFBIG ? EINVAL : error;
	} else {
		goal = goal_parse(text, length, path, fault);
		error = errno;
	}
	free(text);
	if (in != NULL)
		fclose(in);
	errno = error;
	return goal;
}
