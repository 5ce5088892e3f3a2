/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "measure/measure_window.h"

#include "unit.h"
#include "wire/frame.h"

/* Three hosts at 10 Gbps: 3.75 bytes per ns. */
static void open_window(struct measure_window *window, weft_time cycle_ps)
{
	OWNED(topology) *topology = topology_generate("ring:switches=3,hosts=1", NULL);

	assert_non_null(topology);
	for (uint32_t i = 0; i < topology->links; i++)
		topology->link_at[i].rate_bps = 10000000000;
	measure_window_open(window, topology, cycle_ps);
}

UNIT_TEST(a_share_is_of_what_the_links_of_all_hosts_carry)
{
	const struct measure_totals from = {.at_ps = PS_PER_US};
	const struct measure_totals to = {
		.at_ps = 2 * PS_PER_US, .wire_bytes = 1875, .generated_wire_bytes = 3750};

	for (unsigned by_cycle = 0; by_cycle < 2; by_cycle++) {
		OWNED(run_result) result = {0};
		OWNED(measure_window) window;

		open_window(&window, by_cycle ? 800 : 0);
		measure_window_begin(&window, &from);
		measure_window_end(&window, &to);
		assert_int_equal(measure_window_result(&window, 0, &result), 0);
		assert_true(result.accepted == 0.5);
		assert_true(result.offered == 1);
	}
}

/* Counters of several loops are not read at the same moment. */
UNIT_TEST(totals_that_fall_give_nothing)
{
	const struct measure_totals from = {
		.at_ps = PS_PER_US, .wire_bytes = 100, .edge_wire_bytes = 50};
	const struct measure_totals to = {
		.at_ps = 2 * PS_PER_US, .wire_bytes = 99, .edge_wire_bytes = 49};
	OWNED(run_result) result = {0};
	OWNED(measure_window) window;

	open_window(&window, 0);
	measure_window_begin(&window, &from);
	assert_int_equal(measure_window_sample(&window, &to), 0);
	assert_true(window.samples.sample[0].accepted == 0);
	assert_true(window.samples.sample[0].edges == 0);
	measure_window_end(&window, &to);
	assert_int_equal(measure_window_counts(&window, 0, &result), 0);
	assert_true(result.accepted == 0);
	assert_true(result.edges.accepted == 0);
}

UNIT_TEST(the_latency_of_a_sample_is_that_of_what_was_timed)
{
	const struct measure_totals from = {.timed = 5, .latency_sum_ps = 5 * PS_PER_US};
	/* 100 messages arrived, 10 of them from hosts on this clock. */
	const struct measure_totals to = {.at_ps = PS_PER_MS,
		.messages = 100,
		.timed = 15,
		.latency_sum_ps = 5 * PS_PER_US + 10 * 30 * PS_PER_NS};
	OWNED(measure_window) window;

	open_window(&window, 0);
	measure_window_begin(&window, &from);
	assert_int_equal(measure_window_sample(&window, &to), 0);
	assert_true(window.samples.sample[0].latency_ns == 30);
}

UNIT_TEST(each_sample_counts_from_the_one_before)
{
	struct measure_totals now = {.at_ps = PS_PER_US};
	OWNED(measure_window) window;

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
}

UNIT_TEST(a_window_without_time_shows_nothing)
{
	const struct measure_totals now = {.at_ps = PS_PER_US, .wire_bytes = 375};
	struct run_result result = {0};
	OWNED(measure_window) window;

	open_window(&window, 0);
	measure_window_begin(&window, &now);
	measure_window_end(&window, &now);
	assert_int_equal(measure_window_result(&window, 3, &result), 0);
	assert_true(result.accepted == 0 && result.offered == 0);
	assert_true(result.flits_per_ns_per_switch == 0);
}

static uint64_t generated_in(const struct run_entry *entry, unsigned batches)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < batches; i++)
		sum += entry->batch[i].generated;
	return sum;
}

/* h0 sends for both entries, and h1 only for the second. */
UNIT_TEST(an_entrys_share_is_of_what_its_senders_links_carry)
{
	static const char text[] =
		"weft: run/1\ntopology: \"ring:switches=3,hosts=1\"\nclock: virtual\n"
		"link: {rate: 10Gbps, delay: 30ns}\ntraffic:\n"
		"  - {pattern: uniform, from: [h0], to: all, load: 10%}\n"
		"  - {pattern: uniform, from: [h0, h1], to: all, load: 10%, start: 1us, stop: 1ms}\n";
	const struct measure_totals from = {.at_ps = 0}, to = {.at_ps = PS_PER_US};
	struct error error = {""};
	OWNED(run_config) *run = run_config_parse(text, sizeof(text) - 1, "test", NULL, 0, &error);
	OWNED(topology) *topology = run != NULL ? run_config_open_topology(run, &error) : NULL;
	OWNED(run_hosts) *hosts =
		topology != NULL ? run_config_resolve(run, topology, &error) : NULL;
	struct run_result *result = calloc(1, sizeof(*result));
	OWNED(measure_window) window;

	assert_string_equal(error.text, "");
	assert_non_null(hosts);
	assert_non_null(result);
	measure_window_open(&window, topology, 0);
	assert_int_equal(measure_window_add_entries(&window, topology, run, hosts, NULL), 0);
	window.length_ps = PS_PER_US;
	assert_null(window.entry[0].flow);
	assert_non_null(window.entry[1].flow);
	measure_window_begin(&window, &from);
	window.entry[0].now.wire_bytes = window.entry[1].now.wire_bytes = 625;
	window.entry[0].now.generated_wire_bytes = 1250;
	window.entry[0].now.generated_messages = 5;
	measure_window_batch(&window, PS_PER_US / 2);
	window.entry[0].now.generated_messages = 12;
	measure_window_batch(&window, PS_PER_US);
	window.entry[1].flow[1] = (struct measure_flow){1, 1, 3 * PS_PER_US};
	measure_window_end(&window, &to);
	assert_int_equal(measure_window_result(&window, 0, result), 0);
	assert_int_equal(result->entries, 2);
	assert_true(result->entry[0].accepted == 0.5 && result->entry[1].accepted == 0.25);
	assert_true(result->entry[0].offered == 1);
	assert_int_equal(result->entry[1].senders, 2);
	assert_int_equal(result->batches, STEADINESS_BATCHES);
	assert_int_equal(generated_in(&result->entry[0], result->batches), 12);
	assert_true(result->entry[0].continuous);
	assert_false(result->entry[1].continuous);
	assert_int_equal(result->entry[0].generated, 12);
	assert_false(result->entry[0].finite);
	/* From its own start. */
	assert_int_equal(result->entry[1].flows, 2);
	assert_string_equal(result->entry[1].flow[1].from, "h1");
	assert_int_equal(result->entry[1].flow[1].last_ns, 2000);
	assert_false(result->entry[1].ended);
	run_result_free(result);
	free(result);
}

/* Its messages have all arrived so far, but not all of its operations have been reached. */
UNIT_TEST(a_schedule_that_is_cut_off_has_no_completion_time)
{
	static const char text[] =
		"weft: run/1\ntopology: \"ring:switches=3,hosts=1\"\nclock: virtual\n"
		"traffic: [{pattern: goal, file: /x}]\n";
	const struct measure_totals from = {.at_ps = 0}, to = {.at_ps = PS_PER_US};
	uint16_t hosts[] = {0};
	struct run_hosts traffic = {
		.entries = 1, .entry = &(struct run_hosts_entry){.from = hosts, .from_count = 1}};
	struct error error = {""};
	OWNED(run_config) *run = run_config_parse(text, sizeof(text) - 1, "test", NULL, 0, &error);
	OWNED(topology) *topology = run != NULL ? run_config_open_topology(run, &error) : NULL;

	assert_string_equal(error.text, "");
	assert_non_null(topology);
	for (unsigned unfinished = 0; unfinished < 2; unfinished++) {
		struct run_result *result = calloc(1, sizeof(*result));
		struct measure_window window;
		uint64_t ns;

		assert_non_null(result);
		measure_window_open(&window, topology, 0);
		assert_int_equal(
			measure_window_add_entries(&window, topology, run, &traffic, NULL), 0);
		measure_window_begin(&window, &from);
		window.entry[0].flow[0] = (struct measure_flow){5, 5, 3 * PS_PER_US};
		measure_window_end(&window, &to);
		assert_int_equal(run_result_count(result, "goal_unfinished", unfinished), 0);
		assert_int_equal(measure_window_result(&window, 0, result), 0);
		assert_int_equal(run_entry_completion(&result->entry[0], &ns), unfinished == 0);
		measure_window_close(&window);
		run_result_free(result);
		free(result);
	}
}

/* Way 0 has been busy, blocked and stalled for as long as the counter says; the others never. */
static void read_counter(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use)
{
	const uint64_t *counter = ctx;

	if (from.kind != DEVICE_SWITCH || from.device != 0 || to.kind != DEVICE_SWITCH)
		return;
	use->busy_ps = *counter;
	use->blocked_ps = *counter / 2;
	use->stalls = *counter / PS_PER_NS;
	use->root = *counter > 0;
	use->stored[0] = 16;
}

static void open_links(struct measure_window *window, struct topology *topology,
	struct run_config *run, const uint64_t *counter)
{
	run->sw.vcs = 1;
	run->sw.buffer_bytes = UINT64_C(64) * FRAME_BLOCK_BYTES;
	run->measure.link_series = true;
	measure_window_open(window, topology, 0);
	assert_int_equal(
		measure_links_open(&window->links, topology, run, read_counter, counter), 0);
}

UNIT_TEST(a_sample_of_links_is_what_they_have_counted_since_the_one_before)
{
	OWNED(topology) *topology = topology_generate("ring:switches=3,hosts=1", NULL);
	struct run_config *run = calloc(1, sizeof(*run));
	struct measure_totals now = {.at_ps = PS_PER_US};
	uint64_t counter = 5 * PS_PER_US;
	OWNED(measure_window) window;
	const uint32_t *value;
	uint32_t way = 0;

	open_links(&window, topology, run, &counter);
	measure_window_begin(&window, &now);
	for (unsigned i = 1; i <= 2; i++) {
		now.at_ps += PS_PER_US;
		counter += i * PS_PER_US / 4;
		assert_int_equal(measure_window_sample(&window, &now), 0);
	}
	while (topology->link_at[way / 2].a.kind != DEVICE_SWITCH ||
		topology->link_at[way / 2].a.device != 0)
		way += 2;
	for (unsigned i = 0; i < 2; i++) {
		value = run_link_series_at(&window.links.series, i, way);
		assert_int_equal(value[RUN_LINK_UTILISATION], 250000 * (i + 1));
		assert_int_equal(value[RUN_LINK_BLOCKED], 125000 * (i + 1));
		assert_int_equal(value[RUN_LINK_STALLS], 250 * (i + 1));
		assert_int_equal(value[RUN_LINK_ROOT], 1);
		assert_int_equal(value[RUN_LINK_FILL], RUN_LINK_SHARE_ONE / 4);
	}
	measure_window_begin(&window, &now);
	assert_int_equal(window.links.series.samples, 0);
	free(run);
}

UNIT_TEST(samples_go_on_where_there_is_no_more_room_for_links)
{
	OWNED(topology) *topology = topology_generate("ring:switches=3,hosts=1", NULL);
	struct run_config *run = calloc(1, sizeof(*run));
	struct measure_totals now = {.at_ps = 0};
	OWNED(measure_window) window;
	uint64_t counter = 0;
	unsigned max;

	open_links(&window, topology, run, &counter);
	max = RUN_LINK_VALUES_MAX / (2 * topology->links * (RUN_LINK_VALUES + 1));
	measure_window_begin(&window, &now);
	for (unsigned i = 0; i < max + 10; i++) {
		now.at_ps += PS_PER_US;
		assert_int_equal(measure_window_sample(&window, &now), 0);
	}
	assert_int_equal(window.samples.samples, max + 10);
	assert_int_equal(window.links.series.samples, max);
	free(run);
}
