/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The tokens of a GOAL text with their places. For goal_parse.c. */

#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

enum goal_token_kind {
	GOAL_TOKEN_WORD,   /* a keyword or label */
	GOAL_TOKEN_NUMBER, /* 0 or more */
	GOAL_TOKEN_ANY,    /* -1 */
	GOAL_TOKEN_MARK,   /* one of : { } */
	GOAL_TOKEN_BREAK,  /* line end or ; */
	GOAL_TOKEN_END,    /* end of the text */
};

struct goal_token {
	enum goal_token_kind kind;
	const char *text;
	size_t length;
	uint64_t number; /* UINT64_MAX: that or more */
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
/* The next token. Returns -EINVAL with error set for a character outside all tokens or an
 * unterminated comment. */
int goal_lexer_next(struct goal_lexer *lexer, struct goal_token *token);

/* Finds the line and column of a place in the text. */
void goal_lexer_place(const struct goal_lexer *lexer, const char *text, struct goal_token *token);

/* Returns -EINVAL with "ORIGIN:LINE:COLUMN: 'TOKEN': expected WHAT". */
int goal_expected(
	const struct goal_lexer *lexer, const struct goal_token *token, const char *expected);
/* Returns -EINVAL with the place and this text. */
#define GOAL_REFUSE(lexer, token, ...) \
	error_at((lexer)->error, (lexer)->origin, (token)->line, (token)->column, __VA_ARGS__)
