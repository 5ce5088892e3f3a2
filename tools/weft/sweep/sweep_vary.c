/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_plan.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"

#define NUMBER_MAX 64 /* bytes of one number of a range */

/* A range in whole numbers of its base unit. */
struct range {
	int kind; /* enum quantity_kind; -1: numbers without a unit */
	uint64_t low, high, step;
};

static int refuse_memory(struct fault *fault)
{
	return fault_set(fault, ENOMEM, "--vary: no memory");
}

/* Takes ownership of the text, which may be NULL. */
static int add_value(struct sweep_vary *vary, char *text, struct fault *fault)
{
	char **more = text != NULL ? realloc(vary->value, (vary->count + 1) * sizeof(*vary->value))
				   : NULL;

	if (more == NULL) {
		free(text);
		return refuse_memory(fault);
	}
	vary->value = more;
	vary->value[vary->count++] = text;
	if (vary->count > SWEEP_VALUES_MAX)
		return fault_set(fault, EINVAL, "--vary %s: more than %u values", vary->key,
			SWEEP_VALUES_MAX);
	for (unsigned i = 0; i + 1 < vary->count; i++)
		if (strcmp(vary->value[i], text) == 0)
			return fault_set(fault, EINVAL, "--vary %s: '%s' stands there twice",
				vary->key, text);
	return 0;
}

/* A number of this kind, or without a unit for kind -1. */
static bool parse_number(int kind, const char *text, uint64_t *value)
{
	char *end;

	if (kind >= 0)
		return quantity_parse((enum quantity_kind)kind, text, value) == 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* Three numbers of one kind. */
static bool parse_range(const char *text, size_t length, struct range *range)
{
	char part[3][NUMBER_MAX];
	const char *end = text + length;

	for (unsigned i = 0; i < 3; i++) {
		const char *stop = i < 2 ? memchr(text, ':', (size_t)(end - text)) : end;

		if (stop == NULL || stop - text >= NUMBER_MAX)
			return false;
		memcpy(part[i], text, (size_t)(stop - text));
		part[i][stop - text] = '\0';
		text = stop + 1;
	}
	for (range->kind = -1; range->kind < QUANTITY_KIND_COUNT; range->kind++)
		if (parse_number(range->kind, part[0], &range->low) &&
			parse_number(range->kind, part[1], &range->high) &&
			parse_number(range->kind, part[2], &range->step))
			return true;
	return false;
}

static int add_range(struct sweep_vary *vary, const char *text, size_t length, struct fault *fault)
{
	struct range range;

	if (!parse_range(text, length, &range))
		return fault_set(fault, EINVAL,
			"--vary %s: '%.*s': expected LO:HI:STEP, three numbers with the same kind "
			"of unit or none, such as 10%%:100%%:10%%",
			vary->key, (int)length, text);
	if (range.step == 0 || range.low > range.high)
		return fault_set(fault, EINVAL,
			"--vary %s: '%.*s': counts up from LO to HI by a STEP above 0", vary->key,
			(int)length, text);
	for (uint64_t i = 0; i <= (range.high - range.low) / range.step; i++) {
		uint64_t number = range.low + i * range.step;
		char value[QUANTITY_TEXT];
		int result;

		if (range.kind < 0)
			snprintf(value, sizeof(value), "%" PRIu64, number);
		else
			quantity_format((enum quantity_kind)range.kind, number, value);
		result = add_value(vary, strdup(value), fault);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Numbers with a colon are a range: no value of a run file has that form. */
static bool looks_like_range(const char *text, size_t length)
{
	return text[0] >= '0' && text[0] <= '9' && memchr(text, ':', length) != NULL;
}

static int add_element(
	struct sweep_vary *vary, const char *text, size_t length, struct fault *fault)
{
	if (length == 0)
		return fault_set(fault, EINVAL, "--vary %s: an empty value", vary->key);
	if (looks_like_range(text, length))
		return add_range(vary, text, length, fault);
	return add_value(vary, strndup(text, length), fault);
}

/* A comma inside a generator's text, "rlft:ports=4,stages=2", is followed by an option. */
static bool option_follows(const char *comma)
{
	const char *next = strpbrk(comma + 1, ",:=[{\"'");

	return next != NULL && *next == '=';
}

/* Length of the value at 'text': up to a comma outside brackets, quotes and generators. */
static size_t element_length(const char *text)
{
	const char *at = text;
	unsigned depth = 0;
	char quote = '\0';

	for (; *at != '\0'; at++) {
		if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '[' || *at == '{')
			depth++;
		else if ((*at == ']' || *at == '}') && depth > 0)
			depth--;
		else if (*at == ',' && depth == 0 && !option_follows(at))
			break;
	}
	return (size_t)(at - text);
}

/* "traffic[0].load" as "traffic.0.load", so that one key has one name. */
static char *normal_key(const char *text, size_t length)
{
	char *key = strndup(text, length), *out = key;

	for (const char *at = key; key != NULL && *at != '\0'; at++)
		if (*at != ']')
			*out++ = *at == '[' ? '.' : *at;
	if (key != NULL)
		*out = '\0';
	return key;
}

int sweep_vary_parse(struct sweep_vary *vary, const char *text, struct fault *fault)
{
	const char *equals = strchr(text, '='), *at;

	*vary = (struct sweep_vary){.key = NULL};
	if (equals == NULL || equals == text)
		return fault_set(
			fault, EINVAL, "--vary %s: expected KEY=A,B,C or KEY=LO:HI:STEP", text);
	vary->key = normal_key(text, (size_t)(equals - text));
	if (vary->key == NULL)
		return refuse_memory(fault);
	for (at = equals + 1;; at++) {
		size_t length = element_length(at);
		int result = add_element(vary, at, length, fault);

		if (result < 0)
			return result;
		at += length;
		if (*at == '\0')
			return 0;
	}
}

void sweep_vary_fini(struct sweep_vary *vary)
{
	for (unsigned i = 0; i < vary->count; i++)
		free(vary->value[i]);
	free(vary->value);
	free(vary->key);
	*vary = (struct sweep_vary){.key = NULL};
}

int sweep_seeds_parse(const char *text, uint64_t *first, unsigned *count, struct fault *fault)
{
	const char *colon = strchr(text, ':');
	char low[NUMBER_MAX];
	uint64_t last;

	snprintf(low, sizeof(low), "%.*s", colon != NULL ? (int)(colon - text) : NUMBER_MAX, text);
	if (!parse_number(-1, low, first) ||
		!parse_number(-1, colon != NULL ? colon + 1 : low, &last))
		return fault_set(fault, EINVAL, "--seeds %s: expected LO:HI, such as 1:10", text);
	if (last < *first || last - *first >= SWEEP_VALUES_MAX)
		return fault_set(fault, EINVAL, "--seeds %s: expected 1 to %u seeds, counted up",
			text, SWEEP_VALUES_MAX);
	*count = (unsigned)(last - *first) + 1;
	return 0;
}
