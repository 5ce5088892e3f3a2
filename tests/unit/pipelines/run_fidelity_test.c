/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_fidelity.h"

#define MS       1000000u
#define HELLO_PS (10 * PS_PER_MS)

static int create(void **state)
{
	*state = calloc(1, sizeof(struct run_result));
	return *state == NULL;
}

static int destroy(void **state)
{
	run_result_free(*state);
	free(*state);
	return 0;
}

/* The loops were away for 0.3 ms for nearly all of the time, once for so long. */
static void fill(struct run_result *result, uint64_t longest_ns)
{
	histogram_record_times(&result->wall.spent_ns, 300000, 1000 * MS);
	histogram_record_times(&result->wall.spent_ns, longest_ns, longest_ns);
	result->wall.away_ns = longest_ns;
}

static void assert_table(struct run_result *result, const char *wanted)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	run_fidelity_print(result, HELLO_PS, out);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void a_bound_is_the_next_round_time(void **state)
{
	(void)state;
	assert_int_equal(run_fidelity_step(0), 1);
	assert_int_equal(run_fidelity_step(1), 1);
	assert_int_equal(run_fidelity_step(3), 5);
	assert_int_equal(run_fidelity_step(5), 5);
	assert_int_equal(run_fidelity_step(6), 10);
	assert_int_equal(run_fidelity_step(9 * MS), 10 * MS);
	assert_int_equal(run_fidelity_step(10 * MS), 10 * MS);
	assert_int_equal(run_fidelity_step(11 * MS), 20 * MS);
	assert_int_equal(run_fidelity_step(410 * MS), 500 * MS);
}

static void the_line_says_from_where_on_times_are_trustworthy(void **state)
{
	fill(*state, 9 * MS);
	assert_table(*state, "  loops away             p99 0.3 ms, longest 9 ms: link times are "
			     "trustworthy above 10 ms\n");
}

static void times_are_told_without_exponents(void **state)
{
	struct run_result *result = *state;

	result->wall.away_ns = 99700;
	histogram_record_times(&result->wall.spent_ns, 99700, 1000);
	assert_table(result, "  loops away             p99 0.1 ms, longest 0.1 ms: link times are "
			     "trustworthy above 0.1 ms\n");
}

static void a_result_without_loops_has_no_line(void **state)
{
	assert_table(*state, "");
}

static void a_starved_machine_is_named_if_links_went_down(void **state)
{
	struct run_result *result = *state;

	fill(result, 410 * MS);
	strcpy(result->wall.away_who, "s0");
	run_result_count(result, "link_downs", 2);
	run_result_count(result, "host_link_downs", 1);
	assert_table(result,
		"  CPU starved            s0's loop was away 410 ms: 3 ends of links went down, 0 "
		"messages were refused\n"
		"  loops away             p99 409 ms, longest 410 ms: link times are trustworthy "
		"above 500 ms\n");
}

static void a_starved_machine_is_named_if_messages_were_refused(void **state)
{
	struct run_result *result = *state;
	char text[160];

	fill(result, 31 * MS);
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
	result->messages.dropped = 1;
	assert_true(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
	assert_string_equal(text, "a loop was away 31 ms");
}

static void links_that_somebody_has_cut_do_not_count(void **state)
{
	struct run_result *result = *state;
	char text[160];

	fill(result, 410 * MS);
	result->messages.dropped = 1; /* by the cut, too */
	run_result_count(result, "link_downs", 1);
	run_result_count(result, "host_link_downs", 1);
	run_result_count(result, "link_downs_ordered", 1);
	run_result_count(result, "host_link_downs_ordered", 1);
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
	run_result_count(result, "link_downs", 1);
	assert_true(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

static void messages_that_are_refused_after_a_cut_do_not_count(void **state)
{
	struct run_result *result = *state;
	char text[160];

	fill(result, 410 * MS);
	result->messages.dropped = 1;
	result->wall.cut_ends = 1;
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

/* Of a run with refused messages and a loop that was away, before which a cable had been cut. */
static bool is_starved_after_a_cut(struct run_result *result, uint64_t cut_ends)
{
	struct run_result *before = calloc(1, sizeof(*before));
	char text[160];
	bool starved;

	before->wall.cut_ends = cut_ends;
	run_result_count(before, "link_downs", 2);
	run_result_count(before, "link_downs_ordered", 2);
	fill(result, 410 * MS);
	result->messages.dropped = 1;
	run_result_count(result, "link_downs", 2);
	run_result_count(result, "link_downs_ordered", 2);
	run_result_take_off(result, before);
	starved = run_fidelity_starved(result, HELLO_PS, text, sizeof(text));
	run_result_free(before);
	free(before);
	return starved;
}

static void a_cable_that_was_joined_before_the_run_is_no_excuse(void **state)
{
	assert_true(is_starved_after_a_cut(*state, 0));
}

static void a_cable_that_was_still_cut_when_the_run_began_is_one(void **state)
{
	assert_false(is_starved_after_a_cut(*state, 2));
}

static void loops_that_were_never_away_for_long_are_not_the_cause(void **state)
{
	struct run_result *result = *state;
	char text[160];

	fill(result, 30 * MS);
	run_result_count(result, "link_downs", 2);
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

static void parts_of_a_lab_come_together(void **state)
{
	struct run_result *result = *state, *sum = calloc(1, sizeof(*sum));
	json_t *part;

	fill(result, 9 * MS);
	result->wall.cut_ends = 2;
	part = run_result_part_json(result);
	assert_int_equal(run_result_add_part(sum, part), 0);
	assert_int_equal(run_result_add_part(sum, part), 0);
	assert_int_equal(sum->wall.spent_ns.count, 2 * result->wall.spent_ns.count);
	assert_int_equal(sum->wall.spent_ns.max, 9 * MS);
	assert_int_equal(sum->wall.cut_ends, 4);
	json_decref(part);
	run_result_free(sum);
	free(sum);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, create, destroy)

static const struct CMUnitTest tests[] = {
	CLAIM(a_bound_is_the_next_round_time),
	CLAIM(the_line_says_from_where_on_times_are_trustworthy),
	CLAIM(times_are_told_without_exponents),
	CLAIM(a_result_without_loops_has_no_line),
	CLAIM(a_starved_machine_is_named_if_links_went_down),
	CLAIM(a_starved_machine_is_named_if_messages_were_refused),
	CLAIM(links_that_somebody_has_cut_do_not_count),
	CLAIM(messages_that_are_refused_after_a_cut_do_not_count),
	CLAIM(a_cable_that_was_joined_before_the_run_is_no_excuse),
	CLAIM(a_cable_that_was_still_cut_when_the_run_began_is_one),
	CLAIM(loops_that_were_never_away_for_long_are_not_the_cause),
	CLAIM(parts_of_a_lab_come_together),
};

UNIT_MAIN(tests)
