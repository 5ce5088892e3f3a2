/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A schedule under construction, for goal_parse.c and goal_binary.c. All functions return 0,
 * -ENOMEM, or -EINVAL with 'error' set. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "goal.h"

/* The tokens of a GOAL text with their positions, for goal_parse.c. */

enum goal_token_kind {
	GOAL_TOKEN_WORD,   /* a keyword or label */
	GOAL_TOKEN_NUMBER, /* non-negative */
	GOAL_TOKEN_ANY,    /* -1 */
	GOAL_TOKEN_MARK,   /* one of : { } */
	GOAL_TOKEN_BREAK,  /* line end or ; */
	GOAL_TOKEN_END,    /* end of the text */
};

struct goal_token {
	enum goal_token_kind kind;
	const char *text;
	size_t length;
	uint64_t number; /* UINT64_MAX if larger */
	uint32_t line, column;
};

struct goal_lexer {
	const char *at, *start, *end, *line_start;
	uint32_t line;
	const char *origin;
	struct error *error;
};

void goal_lexer_init(struct goal_lexer *lexer, const char *text, size_t length, const char *origin,
	struct error *error);
/* Reads the next token. Returns -EINVAL for an invalid character or an unterminated comment. */
int goal_lexer_next(struct goal_lexer *lexer, struct goal_token *token);

/* Finds the line and column of a position in the text. */
void goal_lexer_place(const struct goal_lexer *lexer, const char *text, struct goal_token *token);

/* Returns -EINVAL with "ORIGIN:LINE:COLUMN: expected WHAT, found 'TOKEN'". */
int goal_expected(
	const struct goal_lexer *lexer, const struct goal_token *token, const char *expected);
/* Returns -EINVAL with the token's position and this text. */
#define GOAL_REFUSE(lexer, token, ...) \
	error_at((lexer)->error, (lexer)->origin, (token)->line, (token)->column, __VA_ARGS__)

struct goal_requires {
	const char *waiting, *other; /* labels, in the text */
	uint32_t waiting_length, other_length;
	bool started;
};

/* Operation 'to', which may include GOAL_EDGE_STARTED, waits for 'from'. */
struct goal_pair {
	uint32_t from, to;
};

struct goal_builder {
	struct goal *goal;
	const struct goal_lexer *lexer;
	uint32_t rank;
	uint32_t *rank_line; /* [ranks]: line where the rank starts; 0: not seen yet */
	size_t labels_length;
	uint32_t ops_room, labels_room;
	/* Requirements of the current rank. */
	struct goal_requires *requires;
	size_t requires_count;
	uint32_t requires_room;
	uint32_t *table; /* hash table of the labelled operations, counted from 1; 0: free */
	size_t labelled, table_size;
	uint32_t table_room;
	uint16_t *cpu_at; /* [GOAL_CPU_MAX + 1]: scratch for the index of each CPU */
	/* Pairs of all ranks. */
	struct goal_pair *pair;
	size_t pairs;
	uint32_t pairs_room;
};

int goal_build_begin(struct goal_builder *build, const struct goal_lexer *lexer, uint32_t ranks);
int goal_build_rank(struct goal_builder *build, uint32_t rank, const struct goal_token *place);
/* Adds an operation to the current rank. 'label' may be NULL. */
int goal_build_op(
	struct goal_builder *build, const struct goal_op *op, const struct goal_token *label);
int goal_build_requires(struct goal_builder *build, const struct goal_token *waiting,
	const struct goal_token *other, bool started);
/* Makes operation 'to', which may include GOAL_EDGE_STARTED, wait for 'from'. */
int goal_build_pair(struct goal_builder *build, uint32_t from, uint32_t to);
int goal_build_rank_end(struct goal_builder *build);
/* Frees everything except the schedule. */
void goal_build_fini(struct goal_builder *build);

/* Sorts 'pairs' into the schedule's edges and refuses cycles. */
int goal_build_edges(struct goal_builder *build);
