/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The reasons why a result is incomplete. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "run_result_private.h"

static void add_text(struct run_result *result, bool asked_for, const char *text)
{
	struct run_reason *reason;

	result->incomplete = true;
	for (unsigned i = 0; i < result->reasons; i++)
		if (strcmp(result->reason[i].text, text) == 0)
			return;
	reason = run_result_grow(&result->reason, &result->reasons, sizeof(*reason));
	if (reason == NULL)
		return;
	snprintf(reason->text, sizeof(reason->text), "%s", text);
	reason->asked_for = asked_for;
}

void run_result_add_reason(struct run_result *result, bool asked_for, const char *format, ...)
{
	char text[RUN_REASON_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_text(result, asked_for, text);
}

void run_result_add_warning(void *ctx, const char *text)
{
	struct run_result *result = ctx;
	struct run_reason *warning =
		run_result_grow(&result->warning, &result->warnings, sizeof(*warning));

	if (warning != NULL)
		snprintf(warning->text, sizeof(warning->text), "%s", text);
}

void run_result_judge_away(struct run_result *result, const char *who, uint64_t away_ns)
{
	if (away_ns <= RUN_AWAY_MAX_NS)
		return;
	run_result_add_reason(result, false,
		"%s%sthe loop was away for %.2f s, stopped or without a CPU; at most %.1f s is "
		"tolerated",
		who, who[0] != '\0' ? ": " : "", (double)away_ns / 1e9, RUN_AWAY_MAX_NS / 1e9);
}

uint64_t run_result_under_way(const struct run_result *result)
{
	return run_result_minus(
		result->messages.injected, result->messages.delivered + result->behind);
}

void run_result_judge_under_way(struct run_result *result, uint64_t most)
{
	uint64_t under_way = run_result_under_way(result);

	if (under_way > most)
		run_result_add_reason(result, false,
			"%" PRIu64 " messages have left their hosts and not arrived", under_way);
}

/* A reason may have found no memory. */
bool run_result_is_broken(const struct run_result *result)
{
	bool stopped = false;

	for (unsigned i = 0; i < result->reasons; i++) {
		if (!result->reason[i].asked_for)
			return true;
		stopped = stopped || strcmp(result->reason[i].text, RUN_REASON_SIGNAL) == 0;
	}
	if (result->nothing[0] != '\0' && !stopped)
		return true;
	return result->incomplete && result->reasons == 0;
}

void run_result_print_reasons(const struct run_result *result, const char *prefix, FILE *out)
{
	for (unsigned i = 0; i < result->reasons; i++)
		fprintf(out, "%s%s\n", prefix, result->reason[i].text);
}

json_t *run_result_reasons_json(const struct run_result *result)
{
	json_t *reasons = json_array();

	for (unsigned i = 0; i < result->reasons; i++)
		json_array_append_new(reasons, json_string(result->reason[i].text));
	return reasons;
}

json_t *run_result_reasons_part(const struct run_result *result)
{
	json_t *reasons = json_array();

	for (unsigned i = 0; i < result->reasons; i++)
		json_array_append_new(reasons,
			json_pack("[b,s]", result->reason[i].asked_for, result->reason[i].text));
	return reasons;
}

int run_result_add_reasons(struct run_result *into, const json_t *reasons)
{
	json_t *reason;
	size_t index;

	if (!json_is_array(reasons))
		return -EINVAL;
	json_array_foreach((json_t *)reasons, index, reason)
	{
		const char *text;
		int asked_for;

		if (json_unpack(reason, "[b,s]", &asked_for, &text) != 0)
			return -EINVAL;
		add_text(into, asked_for != 0, text);
	}
	return 0;
}
