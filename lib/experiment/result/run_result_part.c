/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The parts of a result that several processes of a lab measured together. Shares are relative to
 * the total link rate of all hosts in the fabric, so they can be summed like counts. */

#include "run_result_jobs.h"
#include "run_result_private.h"

#include <math.h>
#include <string.h>

#define FORMAT "weft-result-part/12"

/* Sums: name in a part, member of the result. */
#define SUMS(X)                                             \
	X("hosts", hosts)                                   \
	X("host_ports", host_ports)                         \
	X("switches", switches)                             \
	X("packets_generated", packets.generated)           \
	X("packets_injected", packets.injected)             \
	X("packets_delivered", packets.delivered)           \
	X("packets_dropped", packets.dropped)               \
	X("packets_retransmitted", packets.retransmitted)   \
	X("messages_generated", messages.generated)         \
	X("messages_injected", messages.injected)           \
	X("messages_delivered", messages.delivered)         \
	X("messages_dropped", messages.dropped)             \
	X("messages_retransmitted", messages.retransmitted) \
	X("lost", lost)                                     \
	X("duplicated", duplicated)                         \
	X("out_of_order", out_of_order)                     \
	X("behind", behind)                                 \
	X("sending", sending)                               \
	X("absent_ns", wall.absent_ns)                      \
	X("cut_ends", wall.cut_ends)                        \
	X("clock_timed", clocks.timed)                      \
	X("clock_bounds_ns", clocks.bounds_ns)              \
	X("clock_untimed", clocks.untimed)                  \
	X("fidelity_frames", fidelity.frames)               \
	X("fidelity_within_tenth", fidelity.within_tenth)   \
	X("edges", edges.count)                             \
	X("packet_hops", wall.packet_hops)                  \
	X("peak_rss_bytes", wall.peak_rss_bytes)

/* Maxima. */
#define MAXIMA(X)                    \
	X("stall_ns", wall.stall_ns) \
	X("clock_bound_ns", clocks.bound_ns)

/* Shares, which also add up. */
#define SHARES(X)                           \
	X("offered", offered)               \
	X("accepted", accepted)             \
	X("released", released)             \
	X("flits", flits_per_ns_per_switch) \
	X("edges_offered", edges.offered)   \
	X("edges_accepted", edges.accepted)

#define HISTOGRAMS(X)                                        \
	X("network_ns", network_ns)                          \
	X("total_ns", total_ns)                              \
	X("network_due_ns", network_due_ns)                  \
	X("total_due_ns", total_due_ns)                      \
	X("spent_ns", wall.spent_ns)                         \
	X("late_ns", fidelity.late_ns)                       \
	X("network_arrived_ns", waited.network_arrived_ns)   \
	X("network_released_ns", waited.network_released_ns) \
	X("total_arrived_ns", waited.total_arrived_ns)       \
	X("total_released_ns", waited.total_released_ns)     \
	X("waited_ns", waited.waited_ns)                     \
	X("edges_ns", edges.network_ns)

/* --- writing --- */

json_t *run_result_histogram_part(const struct histogram *histogram)
{
	json_t *buckets = json_array();

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (histogram->bucket[i] != 0)
			json_array_append_new(buckets, json_pack("[I,I]", (json_int_t)i,
							       (json_int_t)histogram->bucket[i]));
	return json_pack("{s:I,s:I,s:I,s:o}", "count", (json_int_t)histogram->count, "max",
		(json_int_t)histogram->max, "sum", (json_int_t)histogram->sum, "buckets", buckets);
}

static json_t *samples_part(const struct run_result *result)
{
	json_t *samples = json_array();

	for (unsigned i = 0; i < result->samples; i++) {
		const struct run_sample *sample = &result->sample[i];

		json_array_append_new(samples,
			json_pack("[I,f,o,f,o,f,I,I,I]", (json_int_t)sample->t_ns, sample->accepted,
				run_number_json(sample->latency_ns), sample->released,
				run_number_json(sample->released_latency_ns), sample->edges,
				(json_int_t)sample->adapted, (json_int_t)sample->arn,
				(json_int_t)sample->itb));
	}
	return samples;
}

json_t *run_result_part_json(const struct run_result *result)
{
	json_t *part = json_pack("{s:s,s:I,s:s,s:f,s:b}", "weft", FORMAT, "seed",
		(json_int_t)result->seed, "topology", result->topology, "seconds",
		result->wall.seconds, "deadlock", result->deadlock);

	if (part == NULL)
		return NULL;
#define X(name, field) json_object_set_new(part, name, json_integer((json_int_t)result->field));
	SUMS(X)
	MAXIMA(X)
#undef X
#define X(name, field) json_object_set_new(part, name, json_real(result->field));
	SHARES(X)
#undef X
#define X(name, field) json_object_set_new(part, name, run_result_histogram_part(&result->field));
	HISTOGRAMS(X)
#undef X
	json_object_set_new(part, "samples", samples_part(result));
	json_object_set_new(part, "batches", json_integer(result->batches));
	json_object_set_new(part, "counters", run_result_counters_json(result));
	json_object_set_new(part, "measured_ns",
		json_pack("[I,I]", (json_int_t)result->from_ns, (json_int_t)result->to_ns));
	json_object_set_new(part, "traffic", run_result_entries_part(result));
	json_object_set_new(part, "reasons", run_result_reasons_part(result));
	json_object_set_new(part, "starved", run_result_starved_part(result));
	json_object_set_new(part, "events", run_result_events_part(result));
	return part;
}

/* --- reading --- */

int run_result_add_histogram(struct histogram *into, const json_t *part)
{
	uint64_t max = (uint64_t)json_integer_value(json_object_get(part, "max"));
	json_t *buckets = json_object_get(part, "buckets"), *bucket;

	if (!json_is_array(buckets))
		return -EINVAL;
	for (size_t i = 0; (bucket = json_array_get(buckets, i)) != NULL; i++) {
		json_int_t at, count;

		if (json_unpack(bucket, "[I,I]", &at, &count) != 0 || at < 0 ||
			at >= HISTOGRAM_BUCKETS || count < 0)
			return -EINVAL;
		into->bucket[at] += (uint64_t)count;
		into->count += (uint64_t)count;
	}
	into->sum += (uint64_t)json_integer_value(json_object_get(part, "sum"));
	if (max > into->max)
		into->max = max;
	return 0;
}

static struct run_sample *sample_at(struct run_result *into, size_t index)
{
	struct run_sample *sample;

	if (index < into->samples)
		return &into->sample[index];
	sample = run_result_add_sample(into);
	if (sample != NULL)
		sample->latency_ns = sample->released_latency_ns = NAN;
	return sample;
}

/* Updates a mean latency, weighted by the number of delivered frames; null: there were none. */
static void add_weighed(double *mean, double *weight, const json_t *other, double its_weight)
{
	double sum = *weight + its_weight, value = json_number_value(other);

	if (isnan(*mean))
		*mean = json_is_null(other) ? NAN : value;
	else if (sum > 0 && !json_is_null(other))
		*mean = (*mean * *weight + value * its_weight) / sum;
	*weight = sum;
}

static int add_samples(struct run_result *into, json_t *samples)
{
	json_t *entry;

	for (size_t index = 0; (entry = json_array_get(samples, index)) != NULL; index++) {
		struct run_sample *sample = sample_at(into, index);
		json_int_t t_ns, adapted, arn, itb;
		double accepted, released, edges;
		json_t *latency, *released_latency;

		if (sample == NULL)
			return -ENOMEM;
		if (json_unpack(entry, "[I,F,o,F,o,F,I,I,I]", &t_ns, &accepted, &latency, &released,
			    &released_latency, &edges, &adapted, &arn, &itb) != 0)
			return -EINVAL;
		add_weighed(&sample->latency_ns, &sample->accepted, latency, accepted);
		add_weighed(&sample->released_latency_ns, &sample->released, released_latency,
			released);
		sample->edges += edges;
		sample->t_ns = (uint64_t)t_ns;
		sample->adapted += (uint64_t)adapted;
		sample->arn += (uint64_t)arn;
		sample->itb += (uint64_t)itb;
	}
	return 0;
}

/* All processes start and end at nearly the same time, so the measured time lasts from the first
 * start to the last end. Their batches have the same length. */
static int add_measured(struct run_result *into, const json_t *part)
{
	json_int_t from, to, batches;

	if (json_unpack(json_object_get(part, "measured_ns"), "[I,I]", &from, &to) != 0)
		return -EINVAL;
	batches = json_integer_value(json_object_get(part, "batches"));
	if (batches < 0 || batches > STEADINESS_BATCHES)
		return -EINVAL;
	into->batches = batches > into->batches ? (unsigned)batches : into->batches;
	if ((uint64_t)to > into->to_ns)
		into->to_ns = (uint64_t)to;
	if (into->parts == 0 || (uint64_t)from < into->from_ns)
		into->from_ns = (uint64_t)from;
	into->parts++;
	return 0;
}

static int add_counters(struct run_result *into, json_t *counters)
{
	const char *name;
	json_t *value;
	int result = 0;

	json_object_foreach(counters, name, value) {
		result = run_result_count(into, name, (uint64_t)json_integer_value(value));
		if (result < 0)
			break;
	}
	return result;
}

static int add_numbers(struct run_result *into, const json_t *part)
{
	json_t *value;
	int result = 0;

#define X(name, field)                       \
	value = json_object_get(part, name); \
	if (!json_is_integer(value))         \
		return -EINVAL;              \
	into->field += (uint64_t)json_integer_value(value);
	SUMS(X)
#undef X
#define X(name, field)                                         \
	value = json_object_get(part, name);                   \
	if (!json_is_integer(value))                           \
		return -EINVAL;                                \
	if ((uint64_t)json_integer_value(value) > into->field) \
		into->field = (uint64_t)json_integer_value(value);
	MAXIMA(X)
#undef X
#define X(name, field)                       \
	value = json_object_get(part, name); \
	if (!json_is_real(value))            \
		return -EINVAL;              \
	into->field += json_real_value(value);
	SHARES(X)
#undef X
#define X(name, field)   \
	if (result == 0) \
		result = run_result_add_histogram(&into->field, json_object_get(part, name));
	HISTOGRAMS(X)
#undef X
	return result;
}

static int add_head(struct run_result *into, const json_t *part)
{
	const char *format, *topology;
	json_int_t seed;
	double seconds;
	int deadlock;

	/* json_unpack() only reads 'part', but its parameter is not const. */
	if (json_unpack((json_t *)part, "{s:s,s:I,s:s,s:F,s:b}", "weft", &format, "seed", &seed,
		    "topology", &topology, "seconds", &seconds, "deadlock", &deadlock) != 0 ||
		strcmp(format, FORMAT) != 0)
		return -EINVAL;
	into->seed = (uint64_t)seed;
	snprintf(into->topology, sizeof(into->topology), "%s", topology);
	if (seconds > into->wall.seconds)
		into->wall.seconds = seconds;
	into->deadlock |= deadlock != 0;
	return 0;
}

int run_result_add_part(struct run_result *into, const json_t *part)
{
	int result = add_head(into, part);

	if (result == 0)
		result = add_numbers(into, part);
	/* Not added up, because sender and receiver of a message may be in different parts. */
	run_result_count_pending(into);
	if (result == 0)
		result = add_samples(into, json_object_get(part, "samples"));
	if (result == 0)
		result = add_counters(into, json_object_get(part, "counters"));
	if (result == 0)
		result = add_measured(into, part);
	if (result == 0)
		result = run_result_add_entries(into, json_object_get(part, "traffic"));
	if (result == 0)
		result = run_result_add_reasons(into, json_object_get(part, "reasons"));
	if (result == 0)
		result = run_result_add_starved_part(into, json_object_get(part, "starved"));
	if (result == 0)
		result = run_result_add_events_part(into, json_object_get(part, "events"));
	if (into->wall.seconds > 0)
		into->wall.packet_hops_per_second =
			(double)into->wall.packet_hops / into->wall.seconds;
	return result;
}
