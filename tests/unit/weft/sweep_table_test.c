/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The rows and the CSV of a sweep. */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sweep_table.h"

#define POINTS   4
#define TEXT_MAX 8192

struct bench {
	struct sweep_plan plan;
	json_t *rows[POINTS];
};

static json_t *latency(double mean)
{
	return json_pack("{s:f,s:f,s:i,s:i,s:i,s:i}", "mean", mean, "stddev", 1.5, "p50", 10, "p99",
		20, "p999", 30, "max", 40);
}

/* A result as weft-fabric writes it, as far as the table looks at it. */
static json_t *make_result(double accepted, int seed)
{
	return json_pack(
		"{s:i,s:{s:f,s:f,s:f},s:{s:o,s:o,s:o,s:o,s:o},s:{s:i,s:i,s:i,s:i,s:i},s:{s:i,s:i,s:i},"
		"s:{s:i,s:i,s:i,s:b},s:n,s:b,s:b,s:n}",
		"seed", seed, "throughput", "offered", accepted, "accepted", accepted, "released",
		0.125, "latency_ns", "network", latency(100), "total", latency(200),
		"network_released", latency(90), "total_released", latency(180), "resequencer",
		json_pack("{s:i,s:i,s:i,s:i}", "frames", 3, "mean", 50, "p99", 60, "max", 70),
		"packets", "injected", 7, "delivered", 6, "dropped", 5, "retransmitted", 4,
		"pending", 1, "messages", "generated", 3, "delivered", 2, "pending", 1, "checks",
		"lost", 0, "duplicated", 0, "out_of_order", 0, "deadlock", 0, "fingerprint",
		"incomplete", 0, "saturated", 0, "steady");
}

static int make(void **state)
{
	static const double accepted[POINTS] = {0.1, 0.3, 0.5, 0.5};
	struct bench *bench = calloc(1, sizeof(*bench));
	struct fault fault;

	bench->plan = (struct sweep_plan){.first_seed = 8, .seeds = 2};
	assert_int_equal(sweep_plan_add(&bench->plan, "to=\"a,b\",[h1]", &fault), 0);
	assert_int_equal(sweep_plan_finish(&bench->plan, &fault), 0);
	assert_int_equal(bench->plan.points, POINTS);
	for (unsigned i = 0; i < POINTS; i++) {
		json_t *result = make_result(accepted[i], 8 + (int)i % 2);

		bench->rows[i] = sweep_row(&bench->plan, i, result);
		json_decref(result);
	}
	*state = bench;
	return 0;
}

static int drop(void **state)
{
	struct bench *bench = *state;

	for (unsigned i = 0; i < POINTS; i++)
		json_decref(bench->rows[i]);
	sweep_plan_fini(&bench->plan);
	free(bench);
	return 0;
}

typedef void write_fn(const struct sweep_plan *, json_t *const *, FILE *);

/* The written table, as text. */
static void text_of(write_fn *write, const struct bench *bench, char text[TEXT_MAX])
{
	FILE *out = fmemopen(text, TEXT_MAX, "w");

	assert_non_null(out);
	write(&bench->plan, bench->rows, out);
	assert_int_equal(fclose(out), 0);
}

UNIT_WITH(a_row_for_each_point_in_their_order, make, drop)
{
	char text[TEXT_MAX];

	text_of(sweep_table_write, *state, text);

	assert_string_equal(text,
		"to,seed,offered,accepted,flits_per_ns_per_switch,"
		"network_ns_mean,network_ns_stddev,network_ns_p50,network_ns_p99,network_ns_p999,"
		"network_ns_max,total_ns_mean,total_ns_stddev,total_ns_p50,total_ns_p99,"
		"total_ns_p999,total_ns_max,released,network_released_ns_mean,"
		"total_released_ns_mean,resequencer_frames,resequencer_ns_mean,resequencer_ns_p99,"
		"resequencer_ns_max,packets_injected,packets_delivered,packets_dropped,"
		"packets_retransmitted,packets_pending,messages_generated,messages_delivered,"
		"messages_pending,lost,duplicated,out_of_order,deadlock,fingerprint,until_reached,"
		"until_interval,saturated,steady,goal_completion_ns\n"
		"\"\"\"a,b\"\"\",8,0.1,0.1,,100,1.5,10,20,30,40,200,1.5,10,20,30,40,"
		"0.125,90,180,3,50,60,70,7,6,5,4,1,3,2,1,0,0,0,0,,,,0,,\n"
		"\"\"\"a,b\"\"\",9,0.3,0.3,,100,1.5,10,20,30,40,200,1.5,10,20,30,40,"
		"0.125,90,180,3,50,60,70,7,6,5,4,1,3,2,1,0,0,0,0,,,,0,,\n"
		"[h1],8,0.5,0.5,,100,1.5,10,20,30,40,200,1.5,10,20,30,40,"
		"0.125,90,180,3,50,60,70,7,6,5,4,1,3,2,1,0,0,0,0,,,,0,,\n"
		"[h1],9,0.5,0.5,,100,1.5,10,20,30,40,200,1.5,10,20,30,40,"
		"0.125,90,180,3,50,60,70,7,6,5,4,1,3,2,1,0,0,0,0,,,,0,,\n");
}

/* Field 'index' of line 'line', both from 0; fields with commas are not looked for. */
static void assert_field(const char *text, unsigned line, unsigned index, const char *expected)
{
	char field[64];

	while (line-- > 0)
		text = strchr(text, '\n') + 1;
	while (index-- > 0)
		text = strchr(text, ',') + 1;
	snprintf(field, sizeof(field), "%.*s", (int)strcspn(text, ",\n"), text);
	assert_string_equal(field, expected);
}

UNIT_WITH(a_row_tells_if_a_value_was_not_known_well_enough, make, drop)
{
	const struct bench *bench = *state;
	json_t *result = make_result(0.1, 8), *row;

	json_object_set_new(
		result, "until", json_pack("{s:b,s:f}", "reached", 0, "interval", 0.25));
	row = sweep_row(&bench->plan, 0, result);
	assert_int_equal(json_integer_value(json_object_get(row, "until_reached")), 0);
	assert_true(json_is_integer(json_object_get(row, "until_reached")));
	assert_true(json_real_value(json_object_get(row, "until_interval")) == 0.25);
	assert_true(json_is_null(json_object_get(bench->rows[0], "until_reached")));
	json_decref(row);
	json_decref(result);
}

UNIT_WITH(means_have_their_interval_and_counts_their_sum, make, drop)
{
	struct bench *bench = *state;
	char text[TEXT_MAX];

	text_of(sweep_means_write, bench, text);

	assert_field(text, 0, 1, "seeds");
	assert_field(text, 0, 4, "accepted");
	assert_field(text, 0, 5, "accepted_ci95");
	/* The first value has a comma, so everything stands one field later. */
	assert_field(text, 1, 2, "2");
	assert_field(text, 1, 5, "0.2");
	assert_field(text, 1, 6, "1.27062047"); /* 12.7062 * (0.2 / sqrt 2) / sqrt 2 */
	assert_field(text, 2, 4, "0.5");
	assert_field(text, 2, 5, "0");
	assert_field(text, 2, 6, ""); /* flits_per_ns_per_switch is in no result */
	assert_field(text, 0, 32, "released");
	assert_field(text, 2, 32, "0.125");
	assert_field(text, 0, 38, "resequencer_frames");
	assert_field(text, 2, 38, "6");
	assert_field(text, 0, 45, "packets_injected");
	assert_field(text, 2, 45, "14");
}

UNIT_WITH(one_seed_has_no_interval, make, drop)
{
	struct bench *bench = *state;
	char text[TEXT_MAX];

	json_decref(bench->rows[3]);
	bench->rows[3] = NULL;
	text_of(sweep_means_write, bench, text);
	assert_field(text, 2, 1, "1");
	assert_field(text, 2, 4, "0.5");
	assert_field(text, 2, 5, "");
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

UNIT_WITH(points_that_are_missing_are_left_out, make, drop)
{
	struct bench *bench = *state;
	char text[TEXT_MAX];

	json_decref(bench->rows[0]);
	json_decref(bench->rows[1]);
	bench->rows[0] = bench->rows[1] = NULL;
	text_of(sweep_table_write, bench, text);
	assert_field(text, 1, 0, "[h1]");
	assert_field(text, 1, 1, "8");
	text_of(sweep_means_write, bench, text);
	assert_field(text, 1, 0, "[h1]");
	assert_int_equal(lines_of(text), 2);
}

static void set_no_latency(struct bench *bench, unsigned point)
{
	json_t *result = make_result(0.0, 8 + (int)point % 2);
	json_t *nothing = json_pack(
		"{s:n,s:n,s:n,s:n,s:n,s:n}", "mean", "stddev", "p50", "p99", "p999", "max");

	json_object_set(json_object_get(result, "latency_ns"), "network", nothing);
	json_object_set(json_object_get(result, "latency_ns"), "total", nothing);
	json_decref(nothing);
	json_decref(bench->rows[point]);
	bench->rows[point] = sweep_row(&bench->plan, point, result);
	json_decref(result);
}

UNIT_WITH(a_run_that_delivered_nothing_has_no_latency, make, drop)
{
	struct bench *bench = *state;
	char text[TEXT_MAX];

	set_no_latency(bench, 2);

	assert_true(json_is_null(json_object_get(bench->rows[2], "network_ns_mean")));
	assert_true(json_is_null(json_object_get(bench->rows[2], "total_ns_max")));
	text_of(sweep_table_write, bench, text);
	assert_field(text, 3, 3, "0");   /* accepted */
	assert_field(text, 3, 5, "");    /* network_ns_mean */
	assert_field(text, 3, 11, "");   /* total_ns_mean */
	assert_field(text, 4, 5, "100"); /* the other seed */
	text_of(sweep_means_write, bench, text);
	assert_field(text, 0, 8, "network_ns_mean");
	assert_field(text, 2, 1, "2");
	assert_field(text, 2, 4, "0.25"); /* accepted, of both */
	assert_field(text, 2, 8, "100");
	assert_field(text, 2, 9, "");
}

/* Line 'line' (from 0) ends with this text. */
static void assert_last_fields(const char *text, unsigned line, const char *expected)
{
	const char *end;

	while (line-- > 0)
		text = strchr(text, '\n') + 1;
	end = strchr(text, '\n');
	assert_true((size_t)(end - text) > strlen(expected));
	assert_memory_equal(end - strlen(expected), expected, strlen(expected));
}

UNIT_TEST(a_result_with_a_loss_is_bad)
{
	static const char *const checks[] = {"lost", "duplicated", "out_of_order"};

	for (unsigned i = 0; i < 3; i++) {
		json_t *result = make_result(0.5, 1);

		assert_false(sweep_result_is_bad(result));
		json_object_set_new(json_object_get(result, "checks"), checks[i], json_integer(1));
		assert_true(sweep_result_is_bad(result));
		json_decref(result);
	}
}

UNIT_TEST(a_result_in_which_nothing_was_measured_is_empty_unless_it_is_bad)
{
	json_t *result = make_result(0.5, 1);

	json_object_set_new(result, "nothing_measured", json_null());
	assert_false(sweep_result_is_empty(result));
	json_object_set_new(result, "nothing_measured", json_string("there is no traffic"));
	assert_true(sweep_result_is_empty(result));
	assert_false(sweep_result_is_bad(result));
	json_object_set_new(json_object_get(result, "checks"), "deadlock", json_true());
	assert_false(sweep_result_is_empty(result));
	assert_true(sweep_result_is_bad(result));
	json_decref(result);
}

/* Answers of two seeds: 0, 1 or, for 2, null. */
static void answers_of(struct bench *bench, unsigned first, unsigned second, char text[TEXT_MAX])
{
	for (unsigned i = 0; i < 2; i++) {
		unsigned answer = i == 0 ? first : second;
		json_t *result = make_result(0.5, 8 + (int)i);

		json_object_set_new(
			result, "steady", answer == 2 ? json_null() : json_boolean(answer == 1));
		json_decref(bench->rows[2 + i]);
		bench->rows[2 + i] = sweep_row(&bench->plan, 2 + i, result);
		json_decref(result);
	}
	text_of(sweep_means_write, bench, text);
}

UNIT_WITH(an_answer_of_several_seeds_is_that_of_all, make, drop)
{
	char text[TEXT_MAX];

	answers_of(*state, 1, 1, text);
	assert_last_fields(text, 2, ",0,1,,");
	answers_of(*state, 0, 0, text);
	assert_last_fields(text, 2, ",0,0,,");
	answers_of(*state, 0, 1, text);
	assert_last_fields(text, 2, ",0,,,");
	answers_of(*state, 1, 2, text);
	assert_last_fields(text, 2, ",0,,,");
}

/* Two rows of a sweep over keys of these values. */
static void table_of_vary(write_fn *write, const char *const *vary, unsigned varies,
	char text[TEXT_MAX], const char *counters)
{
	struct bench bench = {.plan = {.varies = 0}};
	struct fault fault;

	for (unsigned i = 0; i < varies; i++)
		assert_int_equal(sweep_plan_add(&bench.plan, vary[i], &fault), 0);
	assert_int_equal(sweep_plan_finish(&bench.plan, &fault), 0);
	assert_int_equal(bench.plan.points, 2);
	for (unsigned i = 0; i < 2; i++) {
		json_t *result = make_result(0.5, 1);

		json_object_set_new(result, "counters", json_loads(counters, 0, NULL));
		bench.rows[i] = sweep_row(&bench.plan, i, result);
		json_decref(result);
	}
	text_of(write, &bench, text);
	for (unsigned i = 0; i < 2; i++)
		json_decref(bench.rows[i]);
	sweep_plan_fini(&bench.plan);
}

UNIT_TEST(quantities_are_also_numbers_at_the_end_of_a_row)
{
	static const char *const vary[] = {"traffic.0.load=0.5%,20%", "switch.buffer=4KiB",
		"link.delay=1.5us", "link.rate=100Gbps", "switch.vcs=2", "switch.voq=true",
		"queuing=1q"};
	char text[TEXT_MAX];

	table_of_vary(sweep_table_write, vary, 7, text, "{}");
	assert_last_fields(text, 0,
		",goal_completion_ns,traffic.0.load_share,switch.buffer_bytes,link.delay_ns,"
		"link.rate_bps");
	assert_last_fields(text, 1, ",,0.005,4096,1500,100000000000");
	assert_last_fields(text, 2, ",,0.2,4096,1500,100000000000");
	table_of_vary(sweep_means_write, vary, 7, text, "{}");
	assert_last_fields(text, 0,
		",traffic.0.load_share,switch.buffer_bytes,link.delay_ns,"
		"link.rate_bps");
	assert_last_fields(text, 2, ",,,0.2,4096,1500,100000000000");
}

UNIT_TEST(words_among_quantities_make_no_numbers)
{
	static const char *const vary[] = {"traffic.0.stop=1ms,end"};
	char text[TEXT_MAX];

	table_of_vary(sweep_table_write, vary, 1, text, "{}");
	assert_last_fields(text, 0, ",saturated,steady,goal_completion_ns");
}

UNIT_TEST(the_time_of_a_schedule_is_a_measure)
{
	static const char *const vary[] = {"a=1,2"};
	char text[TEXT_MAX];

	table_of_vary(sweep_table_write, vary, 1, text,
		"{\"goal_completion_ns\": 7000, \"goal_unfinished\": 0}");
	assert_last_fields(text, 1, ",,0,,7000");
	table_of_vary(sweep_means_write, vary, 1, text,
		"{\"goal_completion_ns\": 7000, \"goal_unfinished\": 0}");
	assert_last_fields(text, 0, ",saturated,steady,goal_completion_ns,goal_completion_ns_ci95");
	assert_last_fields(text, 1, ",0,,7000,");
}

UNIT_TEST(a_schedule_that_did_not_end_has_no_time)
{
	static const char *const vary[] = {"a=1,2"};
	char text[TEXT_MAX];

	table_of_vary(sweep_table_write, vary, 1, text,
		"{\"goal_completion_ns\": 7000, \"goal_unfinished\": 3}");
	assert_last_fields(text, 1, ",,0,,");
}

UNIT_MAIN(NULL, NULL)
