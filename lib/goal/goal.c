/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal.h"

#include <stdlib.h>

#include "file_text.h"

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

struct goal *goal_load(const char *path, struct fault *fault)
{
	size_t length;
	char *text = file_text_read(path, GOAL_TEXT_MAX, &length, fault);
	struct goal *goal = text != NULL ? goal_parse(text, length, path, fault) : NULL;
	int error = errno;

	free(text);
	errno = error;
	return goal;
}
