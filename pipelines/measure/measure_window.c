/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiment/workload/packet_file.h"
#include "switch/congestion_control.h"
#include "switch/contention.h"
#include "switch/fecn.h"
#include "traffic/traffic_pattern.h"

#define BATCH_FIRST_PS PS_PER_US /* if the duration of the measurement is unknown */

/* Traffic entries in a measuring window. */

/* Returns the capacity of a host's link per unit of the window's time: in bits per second, or one
 * byte per cycle; 0 without a link. */
static double measure_capacity(
	const struct measure_window *window, const struct topology *topology, uint32_t host)
{
	int32_t link = topology->host_link[host];

	if (link < 0)
		return 0;
	/* A window in cycles counts bytes. */
	return window->second == 1 ? 1 : (double)topology->link_at[link].rate_bps;
}

/* Returns the bytes as a share of what 'capacity' carries in this time. */
static double measure_share(
	const struct measure_window *window, double capacity, uint64_t bytes, weft_time time_ps)
{
	double carried = capacity * ((double)time_ps / window->second);

	return carried > 0 ? window->unit * (double)bytes / carried : 0;
}

static int add_entry(struct measure_window *window, unsigned which, const struct run_hosts *traffic,
	const struct run_goal *goal)
{
	const struct run_config_traffic *config = &window->run->traffic.at[which];
	struct measure_entry *entry = &window->entry[which];

	entry->sender = traffic->entry[which].from;
	entry->senders = traffic->entry[which].from_count;
	if (config->pattern->schedule && goal != NULL) {
		entry->sender = run_goal_senders(goal, (uint8_t)which, &entry->senders);
	}
	entry->start_ps = config->start_ps;
	entry->first_ps = WEFT_TIME_NEVER;
	for (uint32_t i = 0; i < entry->senders; i++)
		entry->capacity += measure_capacity(window, window->topology, entry->sender[i]);
	entry->end_ps = config->stop_ps;
	if (traffic->entry[which].packets != NULL) {
		const struct run_packets *packets = traffic->entry[which].packets;
		weft_time last_ps = config->start_ps + packets->end_ps;

		entry->packets = packets->count;
		entry->end_ps = last_ps < entry->end_ps ? last_ps : entry->end_ps;
	}
	if (!config->pattern->schedule && entry->end_ps == WEFT_TIME_NEVER)
		return 0;
	entry->flow = calloc((size_t)window->topology->hosts + 1, sizeof(*entry->flow));
	return entry->flow == NULL ? -ENOMEM : 0;
}

int measure_window_add_entries(struct measure_window *window, const struct topology *topology,
	const struct run_config *run, const struct run_hosts *traffic, const struct run_goal *goal)
{
	int result = 0;

	window->run = run;
	window->topology = topology;
	window->entry = calloc((size_t)traffic->entries + 1, sizeof(*window->entry));
	if (window->entry == NULL)
		return -ENOMEM;
	window->entries = traffic->entries;
	for (unsigned i = 0; i < window->entries && result == 0; i++)
		result = add_entry(window, i, traffic, goal);
	return result;
}

void measure_window_source(
	struct measure_window *window, const struct traffic *source, weft_time from_ps)
{
	struct measure_entry *entry = &window->entry[traffic_config(source)->entry];
	weft_time next = traffic_next(source);

	if (next != WEFT_TIME_NEVER && run_result_minus(next, from_ps) < entry->first_ps)
		entry->first_ps = run_result_minus(next, from_ps);
}

static int add_flows(const struct measure_window *window, const struct measure_entry *from,
	struct run_entry *entry)
{
	entry->finite = from->flow != NULL;
	for (uint32_t i = 0; entry->finite && i < from->senders; i++) {
		const struct measure_flow *flow = &from->flow[from->sender[i]];
		struct run_flow *added = run_entry_add_flow(entry);

		if (added == NULL)
			return -ENOMEM;
		snprintf(added->from, sizeof(added->from), "%s",
			window->topology->host_at[from->sender[i]].name);
		added->generated = flow->generated;
		added->delivered = flow->delivered;
		added->last_ns = ps_to_ns(run_result_minus(flow->last_ps, from->start_ps));
	}
	return 0;
}

/* Returns the number of hosts to which the sending ports belong, or -ENOMEM. */
static int count_hosts(const struct measure_window *window, const struct measure_entry *entry)
{
	bool *seen = calloc((size_t)window->topology->hosts + 1, sizeof(*seen));
	int hosts = 0;

	if (seen == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < entry->senders; i++) {
		uint32_t host = window->topology->host_at[entry->sender[i]].owner;

		hosts += !seen[host];
		seen[host] = true;
	}
	free(seen);
	return hosts;
}

static int add_result(
	const struct measure_window *window, unsigned which, struct run_result *result)
{
	const struct measure_entry *from = &window->entry[which];
	weft_time time_ps = run_result_minus(window->to.at_ps, window->from.at_ps);
	struct run_entry *entry = run_result_add_entry(result);
	int hosts = count_hosts(window, from);

	if (entry == NULL || hosts < 0)
		return -ENOMEM;
	snprintf(entry->pattern, sizeof(entry->pattern), "%s",
		window->run->traffic.at[which].pattern->name);
	entry->senders = (uint32_t)hosts;
	entry->generated = from->now.generated_messages;
	entry->delivered = from->now.messages;
	entry->offered = measure_share(window, from->capacity,
		run_result_minus(from->to.generated_wire_bytes, from->from.generated_wire_bytes),
		time_ps);
	entry->accepted = measure_share(window, from->capacity,
		run_result_minus(from->to.wire_bytes, from->from.wire_bytes), time_ps);
	entry->released = measure_share(window, from->capacity,
		run_result_minus(from->to.released_wire_bytes, from->from.released_wire_bytes),
		time_ps);
	entry->first_ps = from->first_ps;
	/* True if the entry sends during the entire measurement; a schedule's messages may wait. */
	entry->continuous = !window->run->traffic.at[which].pattern->schedule &&
			    window->run->traffic.at[which].start_ps <= window->from.at_ps &&
			    from->end_ps >= window->to.at_ps;
	memcpy(entry->batch, from->batch, sizeof(entry->batch));
	/* A schedule's 'generated' counts only the messages that its operations have reached. */
	if (window->run->traffic.at[which].pattern->schedule)
		entry->ended = run_result_counter(result, "goal_unfinished") == 0;
	else
		entry->ended = from->end_ps <= window->to.at_ps;
	entry->packets = from->packets;
	return add_flows(window, from, entry);
}

/* Checks start at half of the maximum number of batches and recur every further eighth. */
#define LOOKS_FROM (STEADINESS_BATCHES / 2)
#define LOOKS_EACH (STEADINESS_BATCHES / 8)
/* Minimum length of the measurement, in mean latencies. */
#define LATENCIES_MIN 20

struct values {
	double latency[STEADINESS_BATCHES], timed[STEADINESS_BATCHES];
	double sum[STEADINESS_BATCHES], weight[STEADINESS_BATCHES]; /* requested value, per batch */
};

/* Returns false if no check is due, or if too little was measured. */
static bool read_values(const struct measure_window *window, struct values *values)
{
	uint64_t messages = 0, sum_ns = 0;

	if (window->batches < LOOKS_FROM || window->batches % LOOKS_EACH != 0)
		return false;
	*values = (struct values){0};
	for (unsigned i = 0; i < window->batches; i++) {
		for (unsigned k = 0; k < window->entries; k++) {
			const struct run_batch *batch = &window->entry[k].batch[i];

			values->latency[i] += (double)batch->latency_sum_ns;
			values->timed[i] += (double)batch->timed;
			run_until_add(&window->run->measure.until, batch, &values->sum[i],
				&values->weight[i]);
			messages += batch->timed;
			sum_ns += batch->latency_sum_ns;
		}
	}
	return messages >= RUN_MESSAGES_MIN && window->batches * (window->batch_ps / PS_PER_NS) >=
						       LATENCIES_MIN * (sum_ns / messages);
}

bool measure_is_warm(const struct measure_window *window)
{
	double mean[STEADINESS_BATCHES];
	struct values values;
	unsigned count = 0;

	if (!read_values(window, &values))
		return false;
	for (unsigned i = 0; i < window->batches; i++)
		if (values.timed[i] > 0)
			mean[count++] = values.latency[i] / values.timed[i];
	return mser5(mean, count) < count;
}

bool measure_until_reached(const struct measure_window *window)
{
	struct values values;

	return read_values(window, &values) &&
	       run_until_of(&window->run->measure.until, values.sum, values.weight, window->batches)
		       .reached &&
	       steadiness_of(values.latency, values.timed, window->batches).verdict == VERDICT_YES;
}

void measure_window_open(
	struct measure_window *window, const struct topology *topology, weft_time cycle_ps)
{
	*window = (struct measure_window){.unit = 8, .second = (double)PS_PER_S};
	if (cycle_ps != 0)
		*window = (struct measure_window){.unit = (double)cycle_ps, .second = 1};
	for (uint32_t i = 0; i < topology->hosts; i++)
		window->capacity += measure_capacity(window, topology, i);
}

void measure_window_close(struct measure_window *window)
{
	run_result_free(&window->samples);
	measure_links_close(&window->links);
	for (unsigned i = 0; i < window->entries; i++)
		free(window->entry[i].flow);
	free(window->entry);
	window->entry = NULL;
	window->entries = 0;
}

static double share(const struct measure_window *window, uint64_t bytes, weft_time time_ps)
{
	return measure_share(window, window->capacity, bytes, time_ps);
}

void measure_window_begin(struct measure_window *window, const struct measure_totals *now)
{
	run_result_free(&window->samples);
	window->from = window->sampled = *now;
	window->batches = 0;
	window->batch_ps = window->length_ps >= STEADINESS_BATCHES
				   ? window->length_ps / STEADINESS_BATCHES
				   : BATCH_FIRST_PS;
	measure_links_begin(&window->links);
	for (unsigned i = 0; i < window->entries; i++) {
		struct measure_entry *entry = &window->entry[i];

		entry->from = entry->batched = entry->now;
		memset(entry->batch, 0, sizeof(entry->batch));
	}
}

static double mean(uint64_t sum, uint64_t count)
{
	return count > 0 ? (double)sum / (double)count : 0;
}

/* Returns NAN if nothing arrived. */
static double latency_ns(uint64_t sum_ps, uint64_t count)
{
	return count > 0 ? (double)sum_ps / (double)PS_PER_NS / (double)count : NAN;
}

static void sample_control(struct run_sample *sample, const struct source_control_sums *now,
	const struct source_control_sums *since)
{
	sample->paths = mean(now->open_paths - since->open_paths, now->messages - since->messages);
	sample->waiting_ns =
		mean(now->waiting_ns - since->waiting_ns, now->notices - since->notices);
	sample->ccti = mean(now->ccti - since->ccti, now->packets - since->packets);
}

int measure_window_sample(struct measure_window *window, const struct measure_totals *now)
{
	const struct measure_totals *since = &window->sampled;
	uint64_t timed = now->timed - since->timed;
	const uint32_t *values;
	struct run_sample *sample;

	if (window->samples.samples == RUN_SAMPLES_MAX)
		return 0;
	sample = run_result_add_sample(&window->samples);
	if (sample == NULL ||
		measure_links_sample(&window->links, now->at_ps - since->at_ps, &values) < 0)
		return -ENOMEM;
	sample->t_ns = ps_to_ns(now->at_ps);
	sample->accepted = share(window, run_result_minus(now->wire_bytes, since->wire_bytes),
		now->at_ps - since->at_ps);
	sample->released = share(window,
		run_result_minus(now->released_wire_bytes, since->released_wire_bytes),
		now->at_ps - since->at_ps);
	sample->edges =
		share(window, run_result_minus(now->edge_wire_bytes, since->edge_wire_bytes),
			now->at_ps - since->at_ps);
	sample->latency_ns = latency_ns(now->latency_sum_ps - since->latency_sum_ps, timed);
	sample->released_latency_ns =
		latency_ns(now->released_latency_sum_ps - since->released_latency_sum_ps,
			now->released_timed - since->released_timed);
	sample->itb = now->absorbed - since->absorbed;
	sample->adapted = now->adapted - since->adapted;
	sample->arn = now->arns - since->arns;
	sample_control(sample, &now->control, &since->control);
	window->sampled = *now;
	if (window->stream != NULL)
		run_stream_add(window->stream, sample, values);
	return 0;
}

weft_time measure_window_batch_end(const struct measure_window *window)
{
	return window->from.at_ps + (window->batches + 1) * window->batch_ps;
}

static void add_batch(struct run_batch *into, const struct run_batch *batch)
{
	into->generated += batch->generated;
	into->delivered += batch->delivered;
	into->timed += batch->timed;
	into->latency_sum_ns += batch->latency_sum_ns;
}

/* Merges pairs of batches and doubles the batch duration. */
static void join_batches(struct measure_window *window)
{
	for (unsigned i = 0; i < STEADINESS_BATCHES; i++) {
		for (unsigned k = 0; k < window->entries; k++) {
			struct run_batch batch = window->entry[k].batch[i];

			memset(&window->entry[k].batch[i], 0, sizeof(batch));
			add_batch(&window->entry[k].batch[i / 2], &batch);
		}
	}
	window->batches = STEADINESS_BATCHES / 2;
	window->batch_ps *= 2;
}

static void take_batch(struct measure_entry *entry, struct run_batch *batch)
{
	const struct measure_entry_totals *now = &entry->now, *since = &entry->batched;

	*batch = (struct run_batch){
		.generated = run_result_minus(now->generated_messages, since->generated_messages),
		.delivered = run_result_minus(now->messages, since->messages),
		.timed = run_result_minus(now->timed, since->timed),
		.latency_sum_ns = run_result_minus(now->latency_sum_ns, since->latency_sum_ns)};
	entry->batched = entry->now;
}

/* A delayed loop records several batches as one: the last one, with the earlier ones empty. */
bool measure_window_batch(struct measure_window *window, weft_time at_ps)
{
	unsigned before = window->batches;
	uint64_t number;

	while ((number = run_result_minus(at_ps, window->from.at_ps) / window->batch_ps) >
		STEADINESS_BATCHES)
		join_batches(window);
	if (number <= before)
		return false;
	for (unsigned i = 0; i < window->entries; i++)
		take_batch(&window->entry[i], &window->entry[i].batch[number - 1]);
	window->batches = (unsigned)number;
	return window->length_ps > 0 && before < STEADINESS_BATCHES / 2 &&
	       number >= STEADINESS_BATCHES / 2;
}

void measure_window_end(struct measure_window *window, const struct measure_totals *now)
{
	window->to = *now;
	for (unsigned i = 0; i < window->entries; i++)
		window->entry[i].to = window->entry[i].now;
}

int measure_window_counts(
	const struct measure_window *window, uint32_t switches, struct run_result *result)
{
	const struct measure_totals *from = &window->from, *to = &window->to;
	weft_time time_ps = run_result_minus(to->at_ps, from->at_ps);
	int code = 0;

	result->batches = window->batches;
	if (window->run != NULL)
		result->until = window->run->measure.until;
	result->from_ns = ps_to_ns(from->at_ps);
	result->to_ns = ps_to_ns(to->at_ps);
	result->offered = share(window,
		run_result_minus(to->generated_wire_bytes, from->generated_wire_bytes), time_ps);
	result->accepted =
		share(window, run_result_minus(to->wire_bytes, from->wire_bytes), time_ps);
	result->released = share(window,
		run_result_minus(to->released_wire_bytes, from->released_wire_bytes), time_ps);
	result->edges.offered = share(window,
		run_result_minus(to->edge_generated_wire_bytes, from->edge_generated_wire_bytes),
		time_ps);
	result->edges.accepted = share(
		window, run_result_minus(to->edge_wire_bytes, from->edge_wire_bytes), time_ps);
	if (time_ps > 0 && switches > 0)
		result->flits_per_ns_per_switch = (double)(to->bytes - from->bytes) /
						  ((double)time_ps / (double)PS_PER_NS) /
						  (double)switches;
	for (unsigned i = 0; i < window->entries && code == 0; i++)
		code = add_result(window, i, result);
	return code;
}

int measure_window_result(
	const struct measure_window *window, uint32_t switches, struct run_result *result)
{
	if (measure_window_counts(window, switches, result) < 0)
		return -ENOMEM;
	if (run_link_series_copy(&result->link_series, &window->links.series) < 0)
		return -ENOMEM;
	return run_result_copy_samples(result, &window->samples);
}

static void count(void *ctx, const char *name, uint64_t value)
{
	run_result_count(ctx, name, value);
}

void measure_congestion(const struct weft_switch *sw, struct run_result *result)
{
	if (sw->fecn != NULL)
		run_result_count(result, "packets_marked", sw->fecn->marked);
	if (sw->contention != NULL) {
		run_result_count(result, "contention_recorded", sw->contention->recorded);
		run_result_count(result, "extension_bad", sw->contention->bad);
	}
	if (sw->congestion != NULL)
		congestion_control_counters(sw->congestion, count, result);
}

double measure_wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
