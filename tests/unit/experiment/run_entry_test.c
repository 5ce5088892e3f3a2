/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "experiment/result/run_result.h"
#include "unit.h"

#define BATCH 100u /* messages */

/* A run of 1 ms with one entry that generates BATCH messages in each batch. In each batch, 'left'
 * messages stay behind, and a latency of 1 us grows by 'grows' ns. */
static struct run_result *make_run(double left, double grows)
{
	struct run_result *result = calloc(1, sizeof(*result));
	struct run_entry *entry = result != NULL ? run_result_add_entry(result) : NULL;
	double behind = 0;

	assert_non_null(entry);
	result->to_ns = 1000000;
	result->batches = STEADINESS_BATCHES;
	entry->continuous = true;
	for (unsigned i = 0; i < STEADINESS_BATCHES; i++) {
		/* The values differ, so that there is something to estimate. */
		uint64_t noise = i % 3;

		behind += left;
		entry->batch[i].generated = BATCH;
		entry->batch[i].delivered = BATCH - (uint64_t)behind;
		behind -= (double)(uint64_t)behind;
		entry->batch[i].timed = entry->batch[i].delivered;
		entry->batch[i].latency_sum_ns =
			entry->batch[i].timed * (1000 + noise + (uint64_t)(grows * i));
		histogram_record_times(&entry->total_ns, 1000, entry->batch[i].timed);
	}
	histogram_record(&result->network_ns, 1000);
	histogram_record(&entry->network_ns, 1000);
	return result;
}

static void free_run(struct run_result *result)
{
	run_result_free(result);
	free(result);
}

static enum verdict saturated(const struct run_result *result)
{
	return run_result_is_saturated(result).verdict;
}

static enum verdict steady(const struct run_result *result)
{
	return run_result_is_steady(result).verdict;
}

UNIT_TEST(more_than_2_percent_that_stays_behind_is_saturation)
{
	static const struct {
		double left;
		enum verdict verdict;
	} cases[] = {{0, VERDICT_NO}, {1.5, VERDICT_NO}, {2.5, VERDICT_YES}, {60, VERDICT_YES}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run_result *result = make_run(cases[i].left, 0);

		assert_int_equal(saturated(result), cases[i].verdict);
		assert_int_equal(run_entry_is_saturated(result, &result->entry[0]).verdict,
			cases[i].verdict);
		free_run(result);
	}
}

UNIT_TEST(a_trend_of_more_than_10_percent_is_not_steady)
{
	static const struct {
		double grows; /* from 1000 ns on, over 128 batches */
		enum verdict verdict;
	} cases[] = {{0, VERDICT_YES}, {0.5, VERDICT_YES}, {1.2, VERDICT_NO}, {20, VERDICT_NO}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run_result *result = make_run(0, cases[i].grows);

		assert_int_equal(steady(result), cases[i].verdict);
		assert_int_equal(saturated(result), VERDICT_NO);
		free_run(result);
	}
}

UNIT_TEST(throughput_that_falls_is_not_steady)
{
	struct run_result *result = make_run(0, 0);

	for (unsigned i = 0; i < STEADINESS_BATCHES; i++)
		result->entry[0].batch[i].delivered = BATCH - i / 5;
	assert_int_equal(steady(result), VERDICT_NO);
	free_run(result);
}

/* Each with the reason, and the time that would be sufficient. */
UNIT_TEST(too_little_gives_no_answer)
{
	struct run_result *result = make_run(0, 0);
	struct run_verdict verdict;

	result->entry[0].continuous = false;
	verdict = run_result_is_steady(result);
	assert_int_equal(verdict.verdict, VERDICT_UNKNOWN);
	assert_int_equal(verdict.needed_ns, 0);
	assert_int_equal(saturated(result), VERDICT_UNKNOWN);
	result->entry[0].continuous = true;
	/* 20 network latencies of 1 us are 20 us. */
	result->to_ns = 19000;
	verdict = run_result_is_steady(result);
	assert_int_equal(verdict.verdict, VERDICT_UNKNOWN);
	assert_int_equal(verdict.needed_ns, 20000);
	result->to_ns = 21000;
	assert_int_equal(steady(result), VERDICT_YES);
	/* 50 messages. */
	for (unsigned i = 0; i < STEADINESS_BATCHES; i++)
		result->entry[0].batch[i] = (struct run_batch){.generated = i < 50,
			.delivered = i < 50,
			.timed = i < 50,
			.latency_sum_ns = i < 50 ? 1000 : 0};
	verdict = run_result_is_saturated(result);
	assert_int_equal(verdict.verdict, VERDICT_UNKNOWN);
	assert_int_equal(verdict.needed_ns, 42000);
	assert_int_equal(run_result_is_steady(result).needed_ns, 42000);
	free_run(result);
}

/* Nothing is delivered in the first 10 batches, and then everything. */
UNIT_TEST(a_fabric_that_fills_is_not_called_saturated)
{
	struct run_result *result = make_run(0, 0);

	for (unsigned i = 0; i < 10; i++)
		result->entry[0].batch[i].delivered = 0;
	assert_int_not_equal(saturated(result), VERDICT_YES);
	free_run(result);
}

UNIT_TEST(one_saturated_entry_makes_a_saturated_result)
{
	struct run_result *result = make_run(0, 0), *other = make_run(50, 0);
	struct run_entry *entry = run_result_add_entry(result);

	assert_non_null(entry);
	*entry = other->entry[0];
	assert_int_equal(saturated(result), VERDICT_YES);
	assert_int_equal(run_entry_is_saturated(result, &result->entry[0]).verdict, VERDICT_NO);
	entry->continuous = false;
	assert_int_equal(saturated(result), VERDICT_UNKNOWN);
	free_run(result);
	free_run(other);
}

UNIT_TEST(a_part_of_a_lab_is_not_judged)
{
	struct run_result *result = make_run(60, 0);
	struct run_config_traffic traffic = {0};
	const struct run_config run = {.traffic = {.at = &traffic, .count = 1}};
	const struct topology topology = {0};

	assert_int_equal(saturated(result), VERDICT_YES);
	result->entry[0].generated = result->entry[0].delivered = 1;
	result->network_ns.count = result->entry[0].network_ns.count = 0;
	run_result_judge_nothing(result, &run, &topology);
	assert_string_not_equal(result->nothing, "");
	result->nothing[0] = result->entry[0].nothing[0] = '\0';
	result->partial = true;
	assert_int_equal(saturated(result), VERDICT_UNKNOWN);
	assert_int_equal(steady(result), VERDICT_UNKNOWN);
	assert_string_equal(
		run_result_is_steady(result).why, "hosts on other machines are not in this result");
	run_result_judge_nothing(result, &run, &topology);
	assert_string_equal(result->nothing, "");
	assert_string_equal(result->entry[0].nothing, "");
	free_run(result);
}

static struct run_flow *add_flow(
	struct run_entry *entry, uint64_t generated, uint64_t delivered, uint64_t last_ns)
{
	struct run_flow *flow = run_entry_add_flow(entry);

	assert_non_null(flow);
	*flow = (struct run_flow){
		.generated = generated, .delivered = delivered, .last_ns = last_ns};
	return flow;
}

UNIT_TEST(an_entry_is_complete_with_its_last_flow)
{
	struct run_entry *entry = calloc(1, sizeof(*entry));
	uint64_t ns;

	assert_non_null(entry);
	entry->finite = entry->ended = true;
	add_flow(entry, 3, 3, 700);
	add_flow(entry, 5, 5, 900);
	add_flow(entry, 0, 0, 0); /* it had nothing to send */
	assert_true(run_entry_completion(entry, &ns));
	assert_int_equal(ns, 900);
	add_flow(entry, 2, 1, 800);
	assert_false(run_entry_completion(entry, &ns));
	free(entry->flow);
	free(entry);
}

UNIT_TEST(an_entry_that_could_still_send_is_not_complete)
{
	struct run_entry *entry = calloc(1, sizeof(*entry));
	uint64_t ns;

	assert_non_null(entry);
	entry->finite = true;
	add_flow(entry, 3, 3, 700);
	assert_false(run_entry_completion(entry, &ns));
	entry->ended = true;
	assert_true(run_entry_completion(entry, &ns));
	free(entry->flow);
	free(entry);
}

UNIT_TEST(a_flow_that_sent_nothing_has_no_completion)
{
	const struct run_flow flow = {.generated = 0};
	uint64_t ns;

	assert_false(run_flow_completion(&flow, &ns));
}
