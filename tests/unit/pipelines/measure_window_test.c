/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "measure_window.h"

#include "unit.h"

/* Three hosts at 10 Gbps: 3.75 bytes a ns. */
static void open_window(struct measure_window *window, weft_time cycle_ps)
{
	struct topology *topology = topology_generate("ring:switches=3,hosts=1", NULL);

	assert_non_null(topology);
	for (uint32_t i = 0; i < topology->links; i++)
		topology->link_at[i].rate_bps = 10000000000;
	measure_window_open(window, topology, cycle_ps);
	topology_destroy(topology);
}

static void a_share_is_of_what_the_links_of_all_hosts_carry(void **state)
{
	const struct measure_totals from = {.at_ps = PS_PER_US};
	const struct measure_totals to = {
		.at_ps = 2 * PS_PER_US, .wire_bytes = 1875, .generated_wire_bytes = 3750};

	for (unsigned by_cycle = 0; by_cycle < 2; by_cycle++) {
		struct run_result result = {0};
		struct measure_window window;

		open_window(&window, by_cycle ? 800 : 0);
		measure_window_begin(&window, &from);
		measure_window_end(&window, &to);
		assert_int_equal(measure_window_result(&window, 0, &result), 0);
		assert_true(result.accepted == 0.5);
		assert_true(result.offered == 1);
		measure_window_close(&window);
		run_result_free(&result);
	}
}

static void the_latency_of_a_sample_is_that_of_what_was_timed(void **state)
{
	const struct measure_totals from = {.timed = 5, .latency_sum_ps = 5 * PS_PER_US};
	/* 100 messages came, 10 of them from hosts on this clock. */
	const struct measure_totals to = {.at_ps = PS_PER_MS,
		.messages = 100,
		.timed = 15,
		.latency_sum_ps = 5 * PS_PER_US + 10 * 30 * PS_PER_NS};
	struct measure_window window;

	open_window(&window, 0);
	measure_window_begin(&window, &from);
	assert_int_equal(measure_window_sample(&window, &to), 0);
	assert_true(window.samples.sample[0].latency_ns == 30);
	measure_window_close(&window);
}

static void each_sample_counts_from_the_one_before(void **state)
{
	struct measure_totals now = {.at_ps = PS_PER_US};
	struct measure_window window;

	open_window(&window, 0);
	measure_window_begin(&window, &now);
	for (unsigned i = 0; i < 2; i++) {
		now.at_ps += PS_PER_US;
		now.wire_bytes += 375 * (i + 1);
		now.adapted += i + 1;
		assert_int_equal(measure_window_sample(&window, &now), 0);
		assert_int_equal(window.samples.sample[i].t_ns, 2000 + 1000 * i);
		assert_true(window.samples.sample[i].accepted == (i + 1) / 10.0);
		assert_int_equal(window.samples.sample[i].adapted, i + 1);
	}
	measure_window_begin(&window, &now);
	assert_int_equal(window.samples.samples, 0);
	measure_window_close(&window);
}

static void a_window_without_time_shows_nothing(void **state)
{
	const struct measure_totals now = {.at_ps = PS_PER_US, .wire_bytes = 375};
	struct run_result result = {0};
	struct measure_window window;

	open_window(&window, 0);
	measure_window_begin(&window, &now);
	measure_window_end(&window, &now);
	assert_int_equal(measure_window_result(&window, 3, &result), 0);
	assert_true(result.accepted == 0 && result.offered == 0);
	assert_true(result.flits_per_ns_per_switch == 0);
	measure_window_close(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_is_of_what_the_links_of_all_hosts_carry),
		cmocka_unit_test(the_latency_of_a_sample_is_that_of_what_was_timed),
		cmocka_unit_test(each_sample_counts_from_the_one_before),
		cmocka_unit_test(a_window_without_time_shows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
