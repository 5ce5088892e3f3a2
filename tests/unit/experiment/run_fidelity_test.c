/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "base/rng.h"
#include "experiment/result/run_fidelity.h"

#define US       1000u
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

/* The loops stalled for 0.3 ms most of the time, and once for 'longest_ns'. */
static void fill(struct run_result *result, uint64_t longest_ns)
{
	histogram_record_times(&result->wall.spent_ns, 300000, 1000 * MS);
	histogram_record_times(&result->wall.spent_ns, longest_ns, longest_ns);
	result->wall.stall_ns = longest_ns;
}

static void assert_table(struct run_result *result, const char *wanted)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	run_fidelity_print(result, HELLO_PS, out);
	fclose(out);
	assert_string_equal(text, wanted);
}

#define CLAIM(function) UNIT_BED(function, create, destroy, struct run_result *result)

CLAIM(a_bound_is_the_next_round_time)
{
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

CLAIM(the_line_says_from_where_on_times_are_trustworthy)
{
	fill(result, 9 * MS);
	assert_table(result, "  loop stalls            p99 300 us, longest 9 ms: link times are "
			     "trustworthy above 10 ms\n");
}

CLAIM(times_are_told_without_exponents)
{
	result->wall.stall_ns = 99700;
	histogram_record_times(&result->wall.spent_ns, 99700, 1000);
	assert_table(result, "  loop stalls            p99 100 us, longest 100 us: link times are "
			     "trustworthy above 100 us\n");
}

CLAIM(a_result_without_loops_has_no_line)
{
	assert_table(result, "");
}

CLAIM(a_starved_machine_is_named_if_links_went_down)
{
	fill(result, 410 * MS);
	strcpy(result->wall.stall_who, "s0");
	run_result_count(result, "link_downs", 2);
	run_result_count(result, "host_link_downs", 1);
	assert_table(result,
		"  CPU starved            s0's loop stalled for 410 ms: 3 link ends went down, 0 "
		"messages were refused\n"
		"  loop stalls            p99 410 ms, longest 410 ms: link times are trustworthy "
		"above 500 ms\n");
}

CLAIM(a_starved_machine_is_named_if_messages_were_refused)
{
	char text[160];

	fill(result, 31 * MS);
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
	result->messages.dropped = 1;
	assert_true(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
	assert_string_equal(text, "a loop stalled for 31 ms");
	run_result_count(result, "link_downs", 1);
	result->wall.process_ended = true;
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

CLAIM(links_that_somebody_has_cut_do_not_count)
{
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

CLAIM(messages_that_are_refused_after_a_cut_do_not_count)
{
	char text[160];

	fill(result, 410 * MS);
	result->messages.dropped = 1;
	result->wall.cut_ends = 1;
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

/* A run with refused messages and a stalled loop, before which a cable was cut. */
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
	run_result_subtract(result, before);
	starved = run_fidelity_starved(result, HELLO_PS, text, sizeof(text));
	run_result_free(before);
	free(before);
	return starved;
}

CLAIM(a_cable_that_was_joined_before_the_run_is_no_excuse)
{
	assert_true(is_starved_after_a_cut(result, 0));
}

CLAIM(a_cable_that_was_still_cut_when_the_run_began_is_one)
{
	assert_false(is_starved_after_a_cut(result, 2));
}

CLAIM(loops_that_were_never_away_for_long_are_not_the_cause)
{
	char text[160];

	fill(result, 30 * MS);
	run_result_count(result, "link_downs", 2);
	assert_false(run_fidelity_starved(result, HELLO_PS, text, sizeof(text)));
}

CLAIM(parts_of_a_lab_come_together)
{
	struct run_result *sum = calloc(1, sizeof(*sum));
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

static void assert_json(json_t *json, const char *wanted)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	assert_string_equal(text, wanted);
	free(text);
	json_decref(json);
}

static const struct run_config_fidelity demand = {100 * PS_PER_US, 990000};

/* 1,000 arrivals are late by 3 us, and more arrivals by 410 us. */
static void make_late(struct run_result *result, unsigned more)
{
	histogram_record_times(&result->fidelity.late_ns, 3 * US, 1000);
	histogram_record_times(&result->fidelity.late_ns, 410 * US, more);
}

CLAIM(lateness_is_one_line)
{
	make_late(result, 20);
	assert_table(result, "  arrivals late          by p50 3 us, p99 410 us, max 410 us\n");
	result->fidelity.frames = 3000;
	result->fidelity.within_tenth = 2999;
	histogram_record_times(&result->network_due_ns, 40 * US, 3000);
	assert_table(result, "  arrivals late          by p50 3 us, p99 410 us, max 410 us; 99.9 % "
			     "within 10 % of the path's latency\n");
}

CLAIM(transmissions_that_were_moved_are_a_line_and_counts_of_the_document)
{
	json_t *fidelity;

	run_result_count(result, "transmissions_moved", 3);
	run_result_count(result, "transmissions_moved_ns", 11 * MS);
	run_result_count(result, "host_transmissions_moved", 1);
	run_result_count(result, "host_transmissions_moved_ns", 1 * MS);
	assert_table(result,
		"  transmissions delayed  4, by 3 ms on average: loops fell too far behind to "
		"catch up\n");
	fidelity = run_fidelity_json(result);
	assert_json(json_incref(json_object_get(fidelity, "moved")),
		"{\"transmissions\":4,\"ns\":12000000}");
	json_decref(fidelity);
}

CLAIM(a_run_as_good_as_demanded_has_no_reason)
{
	make_late(result, 10);
	run_fidelity_judge(result, &demand, 1);
	assert_int_equal(run_result_exit(result), EXIT_DONE);
	run_fidelity_judge(result, &(struct run_config_fidelity){WEFT_TIME_NEVER, 990000}, 1);
	assert_int_equal(run_result_exit(result), EXIT_DONE);
}

CLAIM(a_run_worse_than_demanded_is_a_bad_answer_and_names_a_dilation)
{
	make_late(result, 20);
	run_fidelity_judge(result, &demand, 1);
	assert_int_equal(run_result_exit(result), EXIT_BAD_ANSWER);
	assert_string_equal(result->reason[0].text,
		"fidelity: only 98.03 % of arrivals were late by at most 100us; fidelity.share "
		"requires 99 %, and 99 % were late by up to 410 us; a dilation of at most 5 "
		"would be enough");
}

CLAIM(where_nothing_arrived_a_demand_is_not_met)
{
	run_fidelity_judge(result, &demand, 1);
	assert_int_equal(run_result_exit(result), EXIT_BAD_ANSWER);
	assert_null(strstr(result->reason[0].text, "dilation"));
}

CLAIM(the_dilation_is_the_lowest_that_meets_the_demand)
{
	const struct histogram *late = &result->fidelity.late_ns;

	assert_int_equal(run_fidelity_dilation(late, &demand, 1), 0);
	make_late(result, 10);
	assert_int_equal(run_fidelity_dilation(late, &demand, 1), 1);
	make_late(result, 100);
	assert_int_equal(run_fidelity_dilation(late, &demand, 1), 5);
	assert_int_equal(run_fidelity_dilation(late, &demand, 10), 50);
	histogram_record_times(&result->fidelity.late_ns, 20000 * (uint64_t)MS, 1000);
	assert_int_equal(run_fidelity_dilation(late, &demand, 1), 0);
	run_fidelity_judge(result, &demand, 1);
	assert_non_null(
		strstr(result->reason[0].text, "were late by up to 20 s; 'dilation: auto' finds"));
}

/* Returns the lateness of arrivals on a machine that stalls, with a clock dilated by 'dilation'.
 * The same seed gives the same arrivals. */
static uint64_t stall(struct run_result *result, uint64_t seed, uint64_t dilation)
{
	uint64_t stall_ns, late_ns = 0;
	uint32_t stalled_ppm;
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	stall_ns = 1000 + rng_below(&rng, 20 * MS);
	stalled_ppm = (uint32_t)(10000 + rng_below(&rng, 700000));
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t left_ns =
			rng_chance_ppm(&rng, stalled_ppm) ? rng_below(&rng, stall_ns) : 0;

		late_ns += left_ns / dilation;
		histogram_record(&result->fidelity.late_ns, left_ns / dilation);
	}
	histogram_record_times(&result->network_due_ns, 200 + rng_below(&rng, 100 * US), 100);
	return late_ns;
}

CLAIM(without_a_demand_lateness_is_compared_with_the_latency)
{
	const struct run_config_fidelity none = {WEFT_TIME_NEVER, 990000};
	unsigned times[2] = {0};

	for (uint64_t seed = 0; seed < 100; seed++) {
		bool met = false, before;

		for (uint64_t dilation = 1; dilation <= RUN_DILATION_MAX;
			dilation = run_fidelity_step(dilation + 1)) {
			struct run_result *sum = calloc(1, sizeof(*sum));
			uint64_t late_ns = stall(sum, seed, dilation);

			before = met;
			met = run_fidelity_meets(sum, &none);
			assert_int_equal(met, late_ns * 5 <= sum->network_due_ns.sum);
			assert_true(met || !before);
			times[met]++;
			run_result_free(sum);
			free(sum);
		}
	}
	assert_true(times[0] > 100 && times[1] > 100);
}

CLAIM(a_run_without_frames_is_not_in_time)
{
	const struct run_config_fidelity none = {WEFT_TIME_NEVER, 990000};

	assert_false(run_fidelity_meets(result, &none));
	assert_false(run_fidelity_meets(result, &demand));
	make_late(result, 0);
	assert_false(run_fidelity_meets(result, &none));
	assert_true(run_fidelity_meets(result, &demand));
}

CLAIM(a_late_run_without_a_demand_names_the_cure)
{
	histogram_record_times(&result->fidelity.late_ns, 3 * US, 1000);
	result->fidelity.frames = result->fidelity.within_tenth = 1000;
	histogram_record_times(&result->network_due_ns, 14900, 1000);
	assert_table(result,
		"  arrivals late          by p50 3 us, p99 3 us, max 3 us; 100.0 % within 10 % of the path's "
		"latency\n"
		"                         above 20 % of the latency in total: 'dilation: auto' measures how "
		"slow the clock has to be\n");
	run_fidelity_judge(result, &demand, 1);
	assert_table(result,
		"  arrivals late          by p50 3 us, p99 3 us, max 3 us; 100.0 % within 10 % of the path's "
		"latency\n");
}

CLAIM(what_was_not_measured_is_null)
{
	assert_json(run_fidelity_json(result),
		"{\"arrivals\":0,\"late_ns\":null,\"frames\":0,\"within_tenth\":null,\"moved\":{\"transmissions\":0,\"ns\":0},\"demand\":null}");
	assert_json(run_fidelity_late_json(&(struct lateness_summary){.arrivals = 0}), "null");
	run_fidelity_judge(result, &demand, 1);
	assert_json(run_fidelity_json(result),
		"{\"arrivals\":0,\"late_ns\":null,\"frames\":0,\"within_tenth\":null,\"moved\":{\"transmissions\":0,\"ns\":0},\"demand\":{\"late_ns\":"
		"100000,\"share\":0.99,\"reached\":null,\"met\":false}}");
}

/* The parts of a lab are judged together. */
CLAIM(lateness_of_parts_comes_together)
{
	struct run_result *sum = calloc(1, sizeof(*sum));
	json_t *part;

	make_late(result, 20);
	result->fidelity.frames = 500;
	result->fidelity.within_tenth = 400;
	part = run_result_part_json(result);
	assert_int_equal(run_result_add_part(sum, part), 0);
	assert_int_equal(run_result_add_part(sum, part), 0);
	run_fidelity_judge(sum, &(struct run_config_fidelity){500 * PS_PER_US, 990000}, 1);
	assert_json(run_fidelity_json(sum),
		"{\"arrivals\":2040,\"late_ns\":{\"p50\":3007,\"p99\":410000,\"max\":410000},\"frames\":1000,"
		"\"within_tenth\":0.8,\"moved\":{\"transmissions\":0,\"ns\":0},\"demand\":{\"late_ns\":500000,\"share\":0.99,\"reached\":1.0,\"met\":true}}");
	json_decref(part);
	run_result_free(sum);
	free(sum);
}
