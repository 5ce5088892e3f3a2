/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal_build.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 32 /* maximum characters of a token in messages */

void goal_lexer_init(struct goal_lexer *lexer, const char *text, size_t length, const char *origin,
	struct error *error)
{
	*lexer = (struct goal_lexer){.at = text,
		.start = text,
		.end = text + length,
		.line_start = text,
		.line = 1,
		.origin = origin,
		.error = error};
}

static void next_line(struct goal_lexer *lexer)
{
	lexer->line++;
	lexer->line_start = lexer->at + 1;
}

static bool starts(const struct goal_lexer *lexer, const char *what)
{
	return lexer->end - lexer->at >= 2 && memcmp(lexer->at, what, 2) == 0;
}

static void set_place(const struct goal_lexer *lexer, struct goal_token *token)
{
	token->text = lexer->at;
	token->length = 1;
	token->line = lexer->line;
	token->column = (uint32_t)(lexer->at - lexer->line_start) + 1;
}

void goal_lexer_place(const struct goal_lexer *lexer, const char *text, struct goal_token *token)
{
	const char *start = lexer->start, *end;

	for (token->line = 1; (end = memchr(start, '\n', (size_t)(text - start))) != NULL;
		token->line++)
		start = end + 1;
	token->column = (uint32_t)(text - start) + 1;
}

static int skip_comment(struct goal_lexer *lexer)
{
	struct goal_token begin;

	set_place(lexer, &begin);
	for (lexer->at += 2; !starts(lexer, "*/"); lexer->at++) {
		if (lexer->at == lexer->end)
			return GOAL_REFUSE(lexer, &begin, "an unterminated comment");
		if (*lexer->at == '\n')
			next_line(lexer);
	}
	lexer->at += 2;
	return 0;
}

static int skip_blanks(struct goal_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		if (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\r') {
			lexer->at++;
		} else if (starts(lexer, "//") || *lexer->at == '#') {
			while (lexer->at < lexer->end && *lexer->at != '\n')
				lexer->at++;
		} else if (starts(lexer, "/*")) {
			if (skip_comment(lexer) < 0)
				return -EINVAL;
		} else {
			break;
		}
	}
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void take_number(struct goal_lexer *lexer, struct goal_token *token)
{
	token->kind = GOAL_TOKEN_NUMBER;
	token->number = 0;
	for (; lexer->at < lexer->end && is_digit(*lexer->at); lexer->at++) {
		uint64_t digit = (uint64_t)(*lexer->at - '0');

		token->number = token->number > (UINT64_MAX - digit) / 10
					? UINT64_MAX
					: token->number * 10 + digit;
	}
}

static void take_word(struct goal_lexer *lexer, struct goal_token *token)
{
	token->kind = GOAL_TOKEN_WORD;
	while (lexer->at < lexer->end && (is_letter(*lexer->at) || is_digit(*lexer->at)))
		lexer->at++;
}

int goal_lexer_next(struct goal_lexer *lexer, struct goal_token *token)
{
	char c;

	if (skip_blanks(lexer) < 0)
		return -EINVAL;
	set_place(lexer, token);
	if (lexer->at == lexer->end) {
		token->kind = GOAL_TOKEN_END;
		return 0;
	}
	c = *lexer->at;
	if (is_digit(c)) {
		take_number(lexer, token);
	} else if (is_letter(c)) {
		take_word(lexer, token);
	} else if (starts(lexer, "-1")) {
		token->kind = GOAL_TOKEN_ANY;
		lexer->at += 2;
	} else if (c == ':' || c == '{' || c == '}') {
		token->kind = GOAL_TOKEN_MARK;
		lexer->at++;
	} else if (c == '\n' || c == ';') {
		token->kind = GOAL_TOKEN_BREAK;
		if (c == '\n')
			next_line(lexer);
		lexer->at++;
	} else {
		return goal_expected(lexer, token, "a word, a number, ':', '{' or '}'");
	}
	token->length = (size_t)(lexer->at - token->text);
	return 0;
}

static void describe(const struct goal_token *token, char *out, size_t size)
{
	if (token->kind == GOAL_TOKEN_END)
		snprintf(out, size, "the end of the file");
	else if (token->kind == GOAL_TOKEN_BREAK && *token->text == '\n')
		snprintf(out, size, "the end of the line");
	else if (token->length == 1 && (*token->text < ' ' || *token->text > '~'))
		snprintf(out, size, "byte 0x%02x", (unsigned char)*token->text);
	else
		snprintf(out, size, "'%.*s'", token->length > SHOWN ? SHOWN : (int)token->length,
			token->text);
}

int goal_expected(
	const struct goal_lexer *lexer, const struct goal_token *token, const char *expected)
{
	char found[SHOWN + 16];

	describe(token, found, sizeof(found));
	return GOAL_REFUSE(lexer, token, "expected %s, found %s", expected, found);
}
