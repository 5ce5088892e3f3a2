/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "run_result.h"
#include "unit.h"

/* Of 1000 messages 100 more stay behind in each half, and those that come are later and later. */
static const struct run_entry growing = {.senders = 4,
	.halved = true,
	.half = {{.generated = 1000, .delivered = 900, .timed = 900, .latency_sum_ns = 900 * 100},
		{.generated = 1000, .delivered = 900, .timed = 900, .latency_sum_ns = 900 * 200}}};

static struct run_entry *copy_growing(void)
{
	struct run_entry *entry = malloc(sizeof(*entry));

	assert_non_null(entry);
	*entry = growing;
	return entry;
}

static void backlog_and_latency_that_grow_are_saturation(void **state)
{
	assert_true(run_entry_is_saturated(&growing));
}

static void a_backlog_that_grows_in_one_half_only_is_none(void **state)
{
	struct run_entry *entry = copy_growing();

	for (unsigned i = 0; i < 2; i++) {
		entry->half[i].delivered = 990; /* 1 % */
		assert_false(run_entry_is_saturated(entry));
		entry->half[i].delivered = 900;
	}
	free(entry);
}

static void a_backlog_of_one_message_a_sender_is_under_way(void **state)
{
	struct run_entry *entry = copy_growing();

	entry->senders = 100;
	assert_false(run_entry_is_saturated(entry));
	entry->senders = 99;
	assert_true(run_entry_is_saturated(entry));
	free(entry);
}

static void latency_that_stays_is_no_saturation(void **state)
{
	struct run_entry *entry = copy_growing();

	entry->half[1].latency_sum_ns = 900 * 104;
	assert_false(run_entry_is_saturated(entry));
	free(entry);
}

static void without_halves_nothing_is_said(void **state)
{
	struct run_entry *entry = copy_growing();

	entry->halved = false;
	assert_false(run_entry_is_saturated(entry));
	free(entry);
}

static void one_saturated_entry_makes_a_saturated_result(void **state)
{
	struct run_result *result = calloc(1, sizeof(*result));
	struct run_entry *entry;

	assert_non_null(result);
	assert_non_null(run_result_add_entry(result));
	assert_false(run_result_is_saturated(result));
	entry = run_result_add_entry(result);
	assert_non_null(entry);
	*entry = growing;
	assert_true(run_result_is_saturated(result));
	run_result_free(result);
	free(result);
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

static void an_entry_is_complete_with_its_last_flow(void **state)
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

static void an_entry_that_could_still_send_is_not_complete(void **state)
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

static void a_flow_that_sent_nothing_has_no_completion(void **state)
{
	const struct run_flow flow = {.generated = 0};
	uint64_t ns;

	assert_false(run_flow_completion(&flow, &ns));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(backlog_and_latency_that_grow_are_saturation),
	cmocka_unit_test(a_backlog_that_grows_in_one_half_only_is_none),
	cmocka_unit_test(a_backlog_of_one_message_a_sender_is_under_way),
	cmocka_unit_test(latency_that_stays_is_no_saturation),
	cmocka_unit_test(without_halves_nothing_is_said),
	cmocka_unit_test(one_saturated_entry_makes_a_saturated_result),
	cmocka_unit_test(an_entry_is_complete_with_its_last_flow),
	cmocka_unit_test(an_entry_that_could_still_send_is_not_complete),
	cmocka_unit_test(a_flow_that_sent_nothing_has_no_completion),
};

UNIT_MAIN(tests)
