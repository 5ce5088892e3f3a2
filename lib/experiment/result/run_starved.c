/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts and queues that were not served for a long time, and in-transit buffers that fill up. */

#include <errno.h>
#include <inttypes.h>

#include "run_result_private.h"

/* Maximum numbers printed; the result document has all. */
#define SHOWN       8
#define CYCLE_SHOWN 16

struct run_starved *run_result_add_starved(struct run_result *result)
{
	return run_result_grow(&result->starved, &result->starved_count, sizeof(*result->starved));
}

struct run_pool *run_result_add_pool(struct run_result *result)
{
	return run_result_grow(&result->pool, &result->pools, sizeof(*result->pool));
}

static json_t *starved_json(const struct run_result *result)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < result->starved_count; i++) {
		const struct run_starved *starved = &result->starved[i];
		json_t *entry = json_pack("{s:I,s:b}", "waited_ns", (json_int_t)starved->waited_ns,
			"stuck", starved->stuck);

		if (starved->host[0] != '\0') {
			json_object_set_new(entry, "host", json_string(starved->host));
		} else {
			json_object_set_new(entry, "input", json_string(starved->input));
			json_object_set_new(entry, "output", json_string(starved->output));
		}
		json_array_append_new(list, entry);
	}
	return list;
}

json_t *run_result_starved_json(const struct run_result *result)
{
	return result->starvation_known || result->starved_count > 0 ? starved_json(result)
								     : json_null();
}

json_t *run_result_starved_part(const struct run_result *result)
{
	json_t *cycle = json_array();

	for (unsigned i = 0; i < result->cycles; i++)
		json_array_append_new(cycle, json_string(result->cycle[i].from));
	return json_pack("{s:b,s:o,s:I,s:o,s:o}", "known", result->starvation_known, "cycle", cycle,
		"channels", (json_int_t)result->channels, "list", starved_json(result), "pools",
		run_result_pools_json(result));
}

static int add_starved(struct run_result *into, json_t *entry)
{
	struct run_starved *starved = run_result_add_starved(into);
	const char *host = "", *input = "", *output = "";
	json_int_t waited;
	int stuck;

	if (starved == NULL)
		return -ENOMEM;
	if (json_unpack(entry, "{s:I,s:b,s?s,s?s,s?s}", "waited_ns", &waited, "stuck", &stuck,
		    "host", &host, "input", &input, "output", &output) != 0)
		return -EINVAL;
	starved->waited_ns = (uint64_t)waited;
	starved->stuck = stuck != 0;
	snprintf(starved->host, sizeof(starved->host), "%s", host);
	snprintf(starved->input, sizeof(starved->input), "%s", input);
	snprintf(starved->output, sizeof(starved->output), "%s", output);
	return 0;
}

static int add_channel(struct run_result *into, const char *from)
{
	struct run_cycle *channel =
		from != NULL ? run_result_grow(&into->cycle, &into->cycles, sizeof(*channel))
			     : NULL;

	if (channel != NULL)
		snprintf(channel->from, sizeof(channel->from), "%s", from);
	return channel != NULL ? 0 : from != NULL ? -ENOMEM : -EINVAL;
}

static int add_pool(struct run_result *into, json_t *entry)
{
	const char *host;
	json_int_t came, left;
	struct run_pool *pool;

	if (json_unpack(entry, "{s:s,s:I,s:I}", "host", &host, "came", &came, "left", &left) != 0)
		return -EINVAL;
	pool = run_result_add_pool(into);
	if (pool == NULL)
		return -ENOMEM;
	snprintf(pool->host, sizeof(pool->host), "%s", host);
	pool->came = (uint64_t)came;
	pool->left = (uint64_t)left;
	return 0;
}

/* Keeps the first of several cycles. Starvation is known only if all parts know it. */
int run_result_add_starved_part(struct run_result *into, const json_t *part)
{
	const json_t *cycle = json_object_get(part, "cycle"), *list = json_object_get(part, "list");
	const json_t *pools = json_object_get(part, "pools");
	bool known = json_is_true(json_object_get(part, "known")), first = into->cycles == 0;
	int result =
		json_is_array(cycle) && json_is_array(list) && json_is_array(pools) ? 0 : -EINVAL;

	into->starvation_known = known && (into->parts <= 1 || into->starvation_known);
	for (size_t i = 0; first && i < json_array_size(cycle) && result == 0; i++)
		result = add_channel(into, json_string_value(json_array_get(cycle, i)));
	if (first)
		into->channels = (unsigned)json_integer_value(json_object_get(part, "channels"));
	for (size_t i = 0; i < json_array_size(list) && result == 0; i++)
		result = add_starved(into, json_array_get(list, i));
	for (size_t i = 0; i < json_array_size(pools) && result == 0; i++)
		result = add_pool(into, json_array_get(pools, i));
	return result;
}

json_t *run_result_pools_json(const struct run_result *result)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < result->pools; i++)
		json_array_append_new(list, json_pack("{s:s,s:I,s:I}", "host", result->pool[i].host,
						    "came", (json_int_t)result->pool[i].came,
						    "left", (json_int_t)result->pool[i].left));
	return list;
}

/* In the result of a lab, hosts and queues are interleaved, because each part has both. */
static void print_names(const struct run_result *result, unsigned hosts, FILE *out)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < result->starved_count && shown < SHOWN; i++)
		if (result->starved[i].host[0] != '\0')
			fprintf(out, "%s%s", shown++ == 0 ? " (" : " ", result->starved[i].host);
	if (hosts > 0)
		fputs(hosts > shown ? " ...)" : ")", out);
}

void run_result_print_starved(const struct run_result *result, FILE *out)
{
	unsigned hosts = 0, stuck = 0, queues;

	for (unsigned i = 0; i < result->starved_count; i++) {
		hosts += result->starved[i].host[0] != '\0';
		stuck += result->starved[i].stuck;
	}
	queues = result->starved_count - hosts;
	if (result->starved_count > 0) {
		fprintf(out, "  %-22s %u host%s", "starved", hosts, hosts == 1 ? "" : "s");
		print_names(result, hosts, out);
		fprintf(out, ", %u queue%s of switches", queues, queues == 1 ? "" : "s");
		if (stuck > 0)
			fprintf(out, "; %u of them permanently stuck", stuck);
		putc('\n', out);
	}
	if (result->pools == 0)
		return;
	fprintf(out, "  %-22s", "filling");
	for (unsigned i = 0; i < result->pools && i < SHOWN; i++)
		fprintf(out, "%s %s (%" PRIu64 " arrived, %" PRIu64 " left)", i > 0 ? "," : "",
			result->pool[i].host, result->pool[i].came, result->pool[i].left);
	fputs(result->pools > SHOWN ? " ...\n" : "\n", out);
}

void run_result_print_deadlock(const struct run_result *result, const char *prefix, FILE *out)
{
	if (!result->deadlock)
		return;
	if (result->cycles == 0) {
		fprintf(out, "%spackets wait for each other\n", prefix);
		return;
	}
	fprintf(out, "%s%u channels wait for each other:", prefix, result->channels);
	for (unsigned i = 0; i < result->cycles && i < CYCLE_SHOWN; i++)
		fprintf(out, " %s", result->cycle[i].from);
	fprintf(out, "%s\n", result->channels > CYCLE_SHOWN ? " ..." : "");
}
