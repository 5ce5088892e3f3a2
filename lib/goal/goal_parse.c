/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Parses a GOAL text statement by statement. Labels are resolved at the end of their rank
 * (goal_build.c). Edges are sorted and checked for cycles at the end (goal_edges.c). */

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/file_text.h"
#include "goal.h"
#include "goal_build.h"

struct parser {
	struct goal_lexer lexer;
	struct goal_token token;
	struct goal_builder build;
	uint32_t rank;
};

static int advance(struct parser *parser)
{
	return goal_lexer_next(&parser->lexer, &parser->token);
}

static bool is_word(const struct parser *parser, const char *word)
{
	return parser->token.kind == GOAL_TOKEN_WORD && parser->token.length == strlen(word) &&
	       memcmp(parser->token.text, word, parser->token.length) == 0;
}

static bool is_mark(const struct parser *parser, char mark)
{
	return parser->token.kind == GOAL_TOKEN_MARK && *parser->token.text == mark;
}

static int expected(const struct parser *parser, const char *what)
{
	return goal_expected(&parser->lexer, &parser->token, what);
}

static int skip_breaks(struct parser *parser)
{
	int result = 0;

	while (result == 0 && parser->token.kind == GOAL_TOKEN_BREAK)
		result = advance(parser);
	return result;
}

static int take_word(struct parser *parser, const char *word)
{
	return is_word(parser, word) ? advance(parser) : expected(parser, word);
}

static int take_mark(struct parser *parser, char mark)
{
	char what[] = {'\'', mark, '\'', '\0'};

	return is_mark(parser, mark) ? advance(parser) : expected(parser, what);
}

static int take_number(struct parser *parser, const char *what, uint64_t max, uint64_t *number)
{
	if (parser->token.kind != GOAL_TOKEN_NUMBER)
		return expected(parser, what);
	if (parser->token.number > max)
		return GOAL_REFUSE(&parser->lexer, &parser->token,
			"expected %s of at most %llu, found %.*s", what, (unsigned long long)max,
			parser->token.length > 32 ? 32 : (int)parser->token.length,
			parser->token.text);
	*number = parser->token.number;
	return advance(parser);
}

/* Parses a number, or -1 in a recv. */
static int take_match(struct parser *parser, const char *what, struct goal_op *op, uint64_t max,
	uint32_t *number, bool *any)
{
	uint64_t value = 0;
	int result;

	*any = op->kind == GOAL_RECV && parser->token.kind == GOAL_TOKEN_ANY;
	if (*any)
		return advance(parser);
	result = take_number(parser, what, max, &value);
	if (result == 0)
		*number = (uint32_t)value;
	return result;
}

static int take_peer(struct parser *parser, struct goal_op *op)
{
	bool recv = op->kind == GOAL_RECV, any = false;
	int result = take_word(parser, recv ? "from" : "to");

	if (result == 0)
		result = take_match(parser, recv ? "a rank, or -1" : "a rank", op,
			parser->build.goal->ranks - 1, &op->peer, &any);
	if (any)
		op->peer = GOAL_ANY;
	return result;
}

static int take_options(struct parser *parser, struct goal_op *op)
{
	uint64_t number = 0;
	int result = 0;

	if (op->kind != GOAL_CALC && is_word(parser, "tag")) {
		result = advance(parser);
		if (result == 0)
			result =
				take_match(parser, "a tag", op, UINT32_MAX, &op->tag, &op->any_tag);
	}
	if (result == 0 && is_word(parser, "cpu")) {
		if ((result = advance(parser)) == 0)
			result = take_number(parser, "a CPU number", GOAL_CPU_MAX, &number);
		op->cpu = (uint16_t)number;
	}
	if (result == 0 && is_word(parser, "nic")) {
		if ((result = advance(parser)) == 0)
			result = take_number(parser, "an interface number", UINT32_MAX, &number);
		if (number != 0 && parser->build.goal->nic_line == 0)
			parser->build.goal->nic_line = op->line;
	}
	return result;
}

static int take_transfer(struct parser *parser, struct goal_op *op)
{
	int result = advance(parser);

	if (result == 0)
		result = take_number(parser, "a number of bytes", GOAL_BYTES_MAX, &op->amount);
	if (result == 0)
		result = take_word(parser, "b");
	if (result == 0)
		result = take_peer(parser, op);
	return result;
}

static int take_calc(struct parser *parser, struct goal_op *op)
{
	int result = advance(parser);

	return result < 0 ? result
			  : take_number(parser, "a number of nanoseconds", GOAL_CALC_MAX_NS,
				    &op->amount);
}

static int take_end(struct parser *parser)
{
	if (parser->token.kind == GOAL_TOKEN_BREAK)
		return advance(parser);
	return is_mark(parser, '}') ? 0 : expected(parser, "the end of the statement");
}

static bool at_operation(const struct parser *parser)
{
	return is_word(parser, "send") || is_word(parser, "recv") || is_word(parser, "calc");
}

/* Parses a send, recv or calc; 'label' may be NULL. */
static int take_operation(struct parser *parser, const struct goal_token *label)
{
	struct goal_op op = {.line = parser->token.line};
	int result;

	op.kind = is_word(parser, "send")   ? GOAL_SEND
		  : is_word(parser, "recv") ? GOAL_RECV
					    : GOAL_CALC;
	result = op.kind == GOAL_CALC ? take_calc(parser, &op) : take_transfer(parser, &op);
	if (result == 0)
		result = take_options(parser, &op);
	if (result == 0)
		result = take_end(parser);
	return result == 0 ? goal_build_op(&parser->build, &op, label) : result;
}

static bool is_label(const struct parser *parser)
{
	return parser->token.kind == GOAL_TOKEN_WORD || parser->token.kind == GOAL_TOKEN_NUMBER;
}

/* Parses 'LABEL: operation', 'LABEL requires LABEL', or an operation without a label. */
static int take_statement(struct parser *parser)
{
	struct goal_token label = parser->token, other;
	bool started;
	int result;

	if (at_operation(parser))
		return take_operation(parser, NULL);
	if (!is_label(parser))
		return expected(parser, "a label, send, recv, calc or '}'");
	if ((result = advance(parser)) < 0)
		return result;
	if (is_mark(parser, ':')) {
		if ((result = advance(parser)) < 0)
			return result;
		return at_operation(parser) ? take_operation(parser, &label)
					    : expected(parser, "send, recv or calc");
	}
	started = is_word(parser, "irequires");
	if (!started && !is_word(parser, "requires"))
		return expected(parser, "':', requires or irequires");
	if ((result = advance(parser)) < 0)
		return result;
	other = parser->token;
	if (!is_label(parser))
		return expected(parser, "a label");
	if ((result = advance(parser)) < 0 || (result = take_end(parser)) < 0)
		return result;
	return goal_build_requires(&parser->build, &label, &other, started);
}

static int take_rank(struct parser *parser)
{
	struct goal_token place;
	uint64_t rank = 0;
	int result = take_word(parser, "rank");

	place = parser->token;
	if (result == 0)
		result = take_number(parser, "a rank", parser->build.goal->ranks - 1, &rank);
	if (result == 0)
		result = take_mark(parser, '{');
	if (result == 0)
		result = goal_build_rank(&parser->build, (uint32_t)rank, &place);
	parser->rank = (uint32_t)rank;
	while (result == 0 && (result = skip_breaks(parser)) == 0 && !is_mark(parser, '}'))
		result = take_statement(parser);
	if (result == 0)
		result = goal_build_rank_end(&parser->build);
	return result == 0 ? advance(parser) : result;
}

static int take_all(struct parser *parser)
{
	uint64_t ranks = 0;
	int result = advance(parser);

	if (result == 0)
		result = skip_breaks(parser);
	if (result == 0)
		result = take_word(parser, "num_ranks");
	if (result == 0 && parser->token.kind == GOAL_TOKEN_NUMBER && parser->token.number == 0)
		return expected(parser, "at least one rank");
	if (result == 0)
		result = take_number(parser, "a number of ranks", GOAL_RANKS_MAX, &ranks);
	if (result == 0)
		result = goal_build_begin(&parser->build, &parser->lexer, (uint32_t)ranks);
	while (result == 0 && (result = skip_breaks(parser)) == 0 &&
		parser->token.kind != GOAL_TOKEN_END)
		result = take_rank(parser);
	return result == 0 ? goal_build_edges(&parser->build) : result;
}

struct goal *goal_parse(const char *text, size_t length, const char *origin, struct error *error)
{
	struct parser parser = {.rank = 0};
	int result;

	goal_lexer_init(&parser.lexer, text, length, origin, error);
	parser.build.goal = calloc(1, sizeof(*parser.build.goal));
	if (parser.build.goal == NULL)
		result = -ENOMEM;
	else if (goal_binary_is(text, length))
		result = goal_binary_read(parser.build.goal, text, length, origin, error);
	else
		result = take_all(&parser);
	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: out of memory", origin);
	goal_build_fini(&parser.build);
	if (result == 0)
		return parser.build.goal;
	goal_destroy(parser.build.goal);
	errno = -result;
	return NULL;
}

const char *goal_kind_name(enum goal_kind kind)
{
	static const char *const names[] = {"send", "recv", "calc"};

	return names[kind];
}

static const struct goal_name *part_of(const struct goal *goal, uint32_t rank)
{
	const struct goal_name *part = NULL;

	for (uint32_t i = 0; i < goal->parts && goal->part[i].first_rank <= rank; i++)
		part = &goal->part[i];
	return part;
}

uint32_t goal_rank_number(const struct goal *goal, uint32_t rank)
{
	const struct goal_name *part = part_of(goal, rank);

	return part != NULL ? rank - part->first_rank : rank;
}

const char *goal_rank_text(const struct goal *goal, uint32_t rank, char text[GOAL_RANK_TEXT])
{
	const struct goal_name *part = part_of(goal, rank);

	snprintf(text, GOAL_RANK_TEXT, "%s%srank %u", part != NULL ? part->name : "",
		part != NULL ? ": " : "", goal_rank_number(goal, rank));
	return text;
}

void goal_destroy(struct goal *goal)
{
	if (goal == NULL)
		return;
	free(goal->rank);
	spill_free(goal->op);
	spill_free(goal->first_edge);
	spill_free(goal->edge);
	spill_free(goal->labels);
	free(goal->part);
	free(goal);
}

struct goal *goal_load(const char *path, struct error *error)
{
	size_t length;
	char *text = file_text_read_spill(path, GOAL_FILE_MAX, &length, error);
	struct goal *goal = text != NULL ? goal_parse(text, length, path, error) : NULL;
	int number = errno;

	spill_free(text);
	errno = number;
	return goal;
}
