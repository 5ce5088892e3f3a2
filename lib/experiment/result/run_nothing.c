/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Explains why a run measured nothing. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/quantity.h"
#include "run_result_private.h"
#include "traffic/traffic_pattern.h"

/* Reasons for an incomplete result. */

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

void run_result_judge_stall(struct run_result *result, const char *who, uint64_t stall_ns)
{
	if (stall_ns <= RUN_STALL_MAX_NS)
		return;
	run_result_add_reason(result, false,
		"%s%sthe loop was stopped or had no CPU for %.2f s; at most %.1f s is tolerated",
		who, who[0] != '\0' ? ": " : "", (double)stall_ns / 1e9, RUN_STALL_MAX_NS / 1e9);
}

void run_result_judge_under_way(struct run_result *result, uint64_t max)
{
	uint64_t under_way = run_result_under_way(result);

	if (under_way > max)
		run_result_add_reason(result, false,
			"%" PRIu64 " messages left their hosts but did not arrive", under_way);
}

/* An incomplete result without reasons is also broken: there was not enough memory for the text. */
static bool is_broken(const struct run_result *result, bool stopped)
{
	for (unsigned i = 0; i < result->reasons; i++)
		if (!result->reason[i].asked_for)
			return true;
	if (result->nothing[0] != '\0' && !stopped)
		return true;
	return result->incomplete && result->reasons == 0;
}

enum weft_exit run_result_exit(const struct run_result *result)
{
	bool stopped = false;

	for (unsigned i = 0; i < result->reasons; i++)
		stopped = stopped || strcmp(result->reason[i].text, RUN_REASON_SIGNAL) == 0;
	if ((result->lost | result->duplicated | result->out_of_order) != 0 || result->deadlock ||
		is_broken(result, stopped))
		return EXIT_BAD_ANSWER;
	return stopped ? EXIT_INTERRUPTED : EXIT_DONE;
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

	if (!json_is_array(reasons))
		return -EINVAL;
	for (size_t i = 0; (reason = json_array_get((json_t *)reasons, i)) != NULL; i++) {
		const char *text;
		int asked_for;

		if (json_unpack(reason, "[b,s]", &asked_for, &text) != 0)
			return -EINVAL;
		add_text(into, asked_for != 0, text);
	}
	return 0;
}

struct entry_case {
	const struct run_result *result;
	const struct run_entry *entry;
	const struct run_config_traffic *config;
	const struct run_config *run;
	const struct topology *topology;
	char name[16];
	char *text;
	size_t size;
};

static const char *time_text(weft_time time_ps, char text[QUANTITY_TEXT])
{
	return quantity_time_text(time_ps / PS_PER_NS, 4, text);
}

/* Returns a lower bound on a message's latency: its serialisation plus two host cable delays. */
static weft_time min_time(const struct entry_case *of, uint64_t *rate_bps, weft_time *delay_ps)
{
	*rate_bps = 0;
	*delay_ps = WEFT_TIME_NEVER;
	for (uint32_t i = 0; i < of->topology->links; i++) {
		const struct topology_link *link = &of->topology->link_at[i];

		if (link->a.kind != DEVICE_HOST && link->b.kind != DEVICE_HOST)
			continue;
		*delay_ps = link->delay_ps < *delay_ps ? link->delay_ps : *delay_ps;
		*rate_bps = link->rate_bps > *rate_bps ? link->rate_bps : *rate_bps;
	}
	if (*rate_bps == 0)
		return 0;
	return 2 * *delay_ps + bytes_ps(of->config->value.message_bytes, byte_time_of(*rate_bps));
}

static void explain_late(const struct entry_case *of)
{
	char min[QUANTITY_TEXT], end[QUANTITY_TEXT], rate[QUANTITY_TEXT], delay[QUANTITY_TEXT];
	weft_time end_ps = of->result->to_ns * PS_PER_NS, delay_ps, time_ps;
	uint64_t rate_bps;

	time_ps = min_time(of, &rate_bps, &delay_ps);
	time_text(time_ps, min);
	time_text(end_ps, end);
	if (of->config->start_ps + time_ps > end_ps && !of->config->pattern->packets)
		snprintf(of->text, of->size,
			"a message of %s takes at least %s (%" PRIu32
			" bytes at %s, two host links with a delay of %s), but the run ends at %s",
			of->name, min, of->config->value.message_bytes,
			(quantity_format(QUANTITY_RATE, rate_bps, rate), rate),
			(quantity_format(QUANTITY_TIME, delay_ps, delay), delay), end);
	else
		snprintf(of->text, of->size,
			"%" PRIu64 " messages of %s were generated, but none arrived before the "
			"end at %s",
			of->entry->generated, of->name, end);
}

/* Explains why nothing was generated. */
static void explain_silence(const struct entry_case *of)
{
	char first[QUANTITY_TEXT], end[QUANTITY_TEXT];

	time_text(of->entry->first_ps, first);
	time_text(of->result->to_ns * PS_PER_NS, end);
	if (of->config->start_ps / PS_PER_NS >= of->result->to_ns)
		snprintf(of->text, of->size, "%s starts at %s, but the run ends at %s", of->name,
			time_text(of->config->start_ps, first), end);
	else if (of->config->pattern->schedule &&
		 run_result_counter(of->result, "goal_unfinished") > 0)
		snprintf(of->text, of->size, "nothing of %s was sent before the end at %s",
			of->name, end);
	else if (of->config->pattern->schedule)
		snprintf(of->text, of->size, "%s is a schedule without messages", of->name);
	else if (of->config->value.load_ppm == 0 && !of->config->pattern->packets)
		snprintf(of->text, of->size, "the load of %s is 0 %%", of->name);
	else if (of->entry->senders == 0 || of->entry->first_ps == WEFT_TIME_NEVER)
		snprintf(of->text, of->size,
			"no host sends with %s: pattern %s assigns no messages", of->name,
			of->config->pattern->name);
	else
		snprintf(of->text, of->size,
			"the first message of %s is due after %s, but the run ends at %s", of->name,
			first, end);
}

static void explain_entry(const struct entry_case *of)
{
	const struct run_entry *entry = of->entry;
	char from[QUANTITY_TEXT];

	if (entry->generated == 0)
		explain_silence(of);
	else if (entry->delivered > 0)
		snprintf(of->text, of->size,
			"all %" PRIu64
			" messages of %s that arrived did so before the measurement started at %s",
			entry->delivered, of->name,
			time_text(of->result->from_ns * PS_PER_NS, from));
	else if (run_result_refused(of->result) > 0 &&
		 run_result_refused(of->result) >= of->result->messages.generated)
		snprintf(of->text, of->size,
			"all %" PRIu64
			" messages were refused at their hosts: there is no route to "
			"their destinations, or the destinations do not answer",
			of->result->messages.generated);
	else
		explain_late(of);
}

static bool is_measured(uint64_t frames, double accepted)
{
	return frames > 0 || accepted > 0;
}

static void judge_entry(struct run_result *result, unsigned which, const struct run_config *run,
	const struct topology *topology)
{
	struct run_entry *entry = &result->entry[which];
	struct entry_case of = {.result = result,
		.entry = entry,
		.config = &run->traffic.at[which],
		.run = run,
		.topology = topology,
		.text = entry->nothing,
		.size = sizeof(entry->nothing)};

	snprintf(of.name, sizeof(of.name), "traffic[%u]", which);
	if (!is_measured(entry->network_ns.count, entry->accepted))
		explain_entry(&of);
}

void run_result_judge_nothing(
	struct run_result *result, const struct run_config *run, const struct topology *topology)
{
	bool replayed = run_result_counter(result, "goal_operations") >
			run_result_counter(result, "goal_unfinished");

	if (result->partial)
		return;
	for (unsigned i = 0; i < result->entries && i < run->traffic.count && !replayed; i++)
		judge_entry(result, i, run, topology);
	if (replayed ||
		is_measured(result->network_ns.count + result->clocks.untimed, result->accepted))
		return;
	/* Programs behind TAPs may have nothing to send. */
	if (run->edges.count > 0 && run->traffic.count == 0)
		return;
	snprintf(result->nothing, sizeof(result->nothing), "%s",
		result->deadlock       ? RUN_REASON_DEADLOCK
		: result->entries == 0 ? "there is no traffic"
		: result->from_ns >= result->to_ns && result->reasons > 0
			? result->reason[0].text
			: result->entry[0].nothing);
}
