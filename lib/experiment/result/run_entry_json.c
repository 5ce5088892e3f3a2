/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Writes the traffic entries to the result document and to a part, and reads them from a part. */

#include <errno.h>
#include <stdio.h>

#include "run_result_private.h"

static json_t *flows_json(const struct run_entry *entry)
{
	json_t *flows = json_array();

	for (unsigned i = 0; i < entry->flows; i++) {
		const struct run_flow *flow = &entry->flow[i];
		uint64_t ns = 0;
		bool complete = entry->ended && run_flow_completion(flow, &ns);

		json_array_append_new(
			flows, json_pack("{s:s,s:I,s:I,s:o}", "from", flow->from, "generated",
				       (json_int_t)flow->generated, "delivered",
				       (json_int_t)flow->delivered, "completion_ns",
				       run_completion_json(complete, ns)));
	}
	return flows;
}

static json_t *packets_json(const struct run_packets_count *packets)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "read", (json_int_t)packets->read, "no_source",
		(json_int_t)packets->no_source, "no_destination",
		(json_int_t)packets->no_destination, "same_host", (json_int_t)packets->same_host);
}

static int add_packets(struct run_packets_count *into, const json_t *part)
{
	json_int_t read, no_source, no_destination, same_host;

	if (json_unpack((json_t *)part, "{s:I,s:I,s:I,s:I}", "read", &read, "no_source", &no_source,
		    "no_destination", &no_destination, "same_host", &same_host) != 0)
		return -EINVAL;
	/* Every part read the whole capture, so the counts are not added up. */
	*into = (struct run_packets_count){
		(uint64_t)read, (uint64_t)no_source, (uint64_t)no_destination, (uint64_t)same_host};
	return 0;
}

static json_t *entry_json(
	const struct run_result *result, const struct run_entry *entry, bool histograms)
{
	const struct run_latencies latencies = {
		.network_ns = &entry->network_ns, .total_ns = &entry->total_ns};
	struct run_verdict saturated = run_entry_is_saturated(result, entry);
	bool nothing = entry->generated == 0 || entry->nothing[0] != '\0';
	json_t *json = json_pack("{s:s,s:I,s:{s:I,s:I},s:{s:f,s:o,s:o},s:o,s:I,s:o,s:o,s:o}",
		"pattern", entry->pattern, "senders", (json_int_t)entry->senders, "messages",
		"generated", (json_int_t)entry->generated, "delivered",
		(json_int_t)entry->delivered, "throughput", "offered", entry->offered, "accepted",
		nothing ? json_null() : json_real(entry->accepted), "released",
		nothing ? json_null() : json_real(entry->released), "latency_ns",
		run_result_latencies_json(&latencies, histograms), "measured_messages",
		(json_int_t)entry->total_ns.count, "nothing_measured",
		run_text_json(entry->nothing), "saturated", run_verdict_json(saturated),
		"saturated_needs", run_verdict_needs_json(saturated));
	uint64_t ns = 0;
	bool complete = run_entry_completion(entry, &ns);

	if (json != NULL && entry->packets.read > 0)
		json_object_set_new(json, "packets", packets_json(&entry->packets));
	if (json == NULL || !entry->finite)
		return json;
	json_object_set_new(json, "completion_ns", run_completion_json(complete, ns));
	json_object_set_new(json, "flows", flows_json(entry));
	return json;
}

json_t *run_result_entries_json(const struct run_result *result, bool histograms)
{
	json_t *entries = json_array();

	for (unsigned i = 0; i < result->entries; i++)
		json_array_append_new(entries, entry_json(result, &result->entry[i], histograms));
	return entries;
}

/* --- parts --- */

static json_t *batches_part(const struct run_entry *entry, unsigned count)
{
	json_t *batches = json_array();

	for (unsigned i = 0; i < count; i++) {
		const struct run_batch *batch = &entry->batch[i];

		json_array_append_new(
			batches, json_pack("[I,I,I,I]", (json_int_t)batch->generated,
					 (json_int_t)batch->delivered, (json_int_t)batch->timed,
					 (json_int_t)batch->latency_sum_ns));
	}
	return batches;
}

static json_t *entry_part(const struct run_entry *entry, unsigned batches)
{
	json_t *flows = json_array();

	for (unsigned i = 0; i < entry->flows; i++) {
		const struct run_flow *flow = &entry->flow[i];

		json_array_append_new(
			flows, json_pack("[s,I,I,I]", flow->from, (json_int_t)flow->generated,
				       (json_int_t)flow->delivered, (json_int_t)flow->last_ns));
	}
	return json_pack("{s:s,s:I,s:I,s:I,s:f,s:f,s:f,s:o,s:o,s:b,s:o,s:b,s:b,s:I,s:o,s:o}",
		"pattern", entry->pattern, "senders", (json_int_t)entry->senders, "generated",
		(json_int_t)entry->generated, "delivered", (json_int_t)entry->delivered, "offered",
		entry->offered, "accepted", entry->accepted, "released", entry->released,
		"network_ns", run_result_histogram_part(&entry->network_ns), "total_ns",
		run_result_histogram_part(&entry->total_ns), "continuous", entry->continuous,
		"batches", batches_part(entry, batches), "finite", entry->finite, "ended",
		entry->ended, "first", (json_int_t)entry->first_ps, "flows", flows, "packets",
		packets_json(&entry->packets));
}

json_t *run_result_entries_part(const struct run_result *result)
{
	json_t *entries = json_array();

	for (unsigned i = 0; i < result->entries; i++)
		json_array_append_new(entries, entry_part(&result->entry[i], result->batches));
	return entries;
}

static int add_batch(struct run_batch *into, json_t *part)
{
	json_int_t generated, delivered, timed, sum;

	if (json_unpack(part, "[I,I,I,I]", &generated, &delivered, &timed, &sum) != 0)
		return -EINVAL;
	into->generated += (uint64_t)generated;
	into->delivered += (uint64_t)delivered;
	into->timed += (uint64_t)timed;
	into->latency_sum_ns += (uint64_t)sum;
	return 0;
}

/* Adds a flow. All parts list the same senders in the same order. */
static int add_flow(struct run_entry *into, size_t index, json_t *part)
{
	struct run_flow *flow = index < into->flows ? &into->flow[index] : run_entry_add_flow(into);
	json_int_t generated, delivered, last;
	const char *from;

	if (flow == NULL)
		return -ENOMEM;
	if (json_unpack(part, "[s,I,I,I]", &from, &generated, &delivered, &last) != 0)
		return -EINVAL;
	snprintf(flow->from, sizeof(flow->from), "%s", from);
	flow->generated += (uint64_t)generated;
	flow->delivered += (uint64_t)delivered;
	flow->last_ns = (uint64_t)last > flow->last_ns ? (uint64_t)last : flow->last_ns;
	return 0;
}

static int add_lists(struct run_entry *into, json_t *part)
{
	json_t *batches = json_object_get(part, "batches"), *flow, *batch;
	int result;

	for (size_t index = 0; (batch = json_array_get(batches, index)) != NULL; index++) {
		if (index >= STEADINESS_BATCHES || add_batch(&into->batch[index], batch) < 0)
			return -EINVAL;
	}
	if ((result = run_result_add_histogram(
		     &into->network_ns, json_object_get(part, "network_ns"))) < 0 ||
		(result = run_result_add_histogram(
			 &into->total_ns, json_object_get(part, "total_ns"))) < 0)
		return result;
	for (size_t index = 0;
		(flow = json_array_get(json_object_get(part, "flows"), index)) != NULL; index++) {
		result = add_flow(into, index, flow);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Adds an entry. Shares of the senders' links add up over parts, as over hosts. */
static int add_entry(struct run_entry *into, json_t *part)
{
	json_int_t senders, generated, delivered, first;
	double offered, accepted, released;
	int continuous, finite, ended;
	const char *pattern;

	if (json_unpack(part, "{s:s,s:I,s:I,s:I,s:F,s:F,s:F,s:b,s:b,s:b,s:I}", "pattern", &pattern,
		    "senders", &senders, "generated", &generated, "delivered", &delivered,
		    "offered", &offered, "accepted", &accepted, "released", &released, "continuous",
		    &continuous, "finite", &finite, "ended", &ended, "first", &first) != 0)
		return -EINVAL;
	snprintf(into->pattern, sizeof(into->pattern), "%s", pattern);
	into->senders = (uint32_t)senders;
	into->generated += (uint64_t)generated;
	into->delivered += (uint64_t)delivered;
	into->offered += offered;
	into->accepted += accepted;
	into->released += released;
	into->continuous = continuous != 0;
	into->finite = finite != 0;
	into->ended |= ended != 0;
	into->first_ps = (weft_time)first < into->first_ps ? (weft_time)first : into->first_ps;
	if (add_packets(&into->packets, json_object_get(part, "packets")) < 0)
		return -EINVAL;
	return add_lists(into, part);
}

int run_result_add_entries(struct run_result *into, const json_t *entries)
{
	json_t *part;

	for (size_t index = 0; (part = json_array_get((json_t *)entries, index)) != NULL; index++) {
		struct run_entry *entry =
			index < into->entries ? &into->entry[index] : run_result_add_entry(into);
		int result = entry == NULL ? -ENOMEM : add_entry(entry, part);

		if (result < 0)
			return result;
	}
	return 0;
}
