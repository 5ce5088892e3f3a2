/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A schedule under construction. For goal_parse.c and goal_binary.c. All functions return 0,
 * -ENOMEM, or -EINVAL with error. */

#include <stdbool.h>

#include "goal.h"
#include "goal_lexer.h"

struct goal_requires {
	const char *waiting, *other; /* labels in the text */
	uint32_t waiting_length, other_length;
	bool started;
};

/* Sorted by 'from', then 'to', which may have GOAL_EDGE_STARTED. */
struct goal_pair {
	uint32_t from, to;
};

struct goal_builder {
	struct goal *goal;
	const struct goal_lexer *lexer;
	uint32_t rank;
	uint32_t *rank_line; /* [ranks] line on which a rank starts; 0: not seen yet */
	size_t labels_length;
	uint32_t ops_room, labels_room;
	/* Requirements in the current rank. */
	struct goal_requires *requires;
	size_t requires_count;
	uint32_t requires_room;
	uint32_t *by_label; /* operations with labels, sorted */
	size_t labelled;
	uint32_t by_label_room;
	uint16_t *cpu_at; /* [GOAL_CPU_MAX + 1] scratch: each CPU's place among the named ones */
	/* Pairs over all ranks. */
	struct goal_pair *pair;
	size_t pairs;
	uint32_t pairs_room;
};

int goal_build_begin(struct goal_builder *build, const struct goal_lexer *lexer, uint32_t ranks);
int goal_build_rank(struct goal_builder *build, uint32_t rank, const struct goal_token *place);
/* 'label' may be NULL. */
int goal_build_op(
	struct goal_builder *build, const struct goal_op *op, const struct goal_token *label);
int goal_build_requires(struct goal_builder *build, const struct goal_token *waiting,
	const struct goal_token *other, bool started);
/* Operation 'to', which may have GOAL_EDGE_STARTED, waits for 'from'. */
int goal_build_pair(struct goal_builder *build, uint32_t from, uint32_t to);
int goal_build_rank_end(struct goal_builder *build);
/* Frees everything except the schedule. */
void goal_build_fini(struct goal_builder *build);

/* Sorts 'pairs' into the schedule's edges and refuses cycles. */
int goal_build_edges(struct goal_builder *build);
