/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The leader of a run on the real clock obeys the stop flag in each phase. */

#include "real/real_private.h"
#include "traffic/traffic.h"
#include "traffic/traffic_pattern.h"
#include "unit.h"

static const char text[] = "weft: run/1\n"
			   "topology: \"ring:switches=3,hosts=1\"\n"
			   "clock: real\n"
			   "measure: {duration: 1s, sample: 1s}\n"
			   "traffic: [{pattern: uniform, load: 1%, message: 1KiB}]\n";

/* More than an empty mailbox holds. */
#define TELEMETRY_BYTES 65536

/* One host, whose traffic never ends, so nothing is drained. */
struct bed {
	struct topology topology;
	struct run_config *run;
	void *telemetry;
	struct measure_sink sink;
	struct traffic *source;
	struct poll_nic poll;
	struct real_host host;
	struct real_fabric fabric;
	atomic_bool stop;
};

static int set_up(void **state)
{
	static struct bed bed;
	const struct traffic_config traffic = {.pattern = &traffic_uniform,
		.hosts = 2,
		.rate_bps = 1000000000,
		.value.load_ppm = 1000,
		.frame_bytes = 1024,
		.value.message_bytes = 1024,
		.stop_ps = WEFT_TIME_NEVER};
	struct error error = {""};

	memset(&bed, 0, sizeof(bed));
	bed.run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	assert_non_null(bed.run);
	bed.telemetry = calloc(1, TELEMETRY_BYTES);
	bed.fabric.telemetry = bed.telemetry;
	bed.source = traffic_create(&traffic, &error);
	assert_non_null(bed.source);
	bed.poll.source[0] = bed.source;
	bed.poll.sources = 1;
	bed.poll.sink = &bed.sink;
	bed.host.poll = &bed.poll;
	bed.fabric.options.topology = &bed.topology;
	bed.fabric.options.run = bed.run;
	bed.fabric.hosts = &bed.host;
	bed.fabric.loops = 1;
	bed.fabric.stop = &bed.stop;
	bed.fabric.work = &bed.fabric.given;
	bed.fabric.given.run = bed.run;
	bed.fabric.deadlock_due = bed.fabric.shortage.due = WEFT_TIME_NEVER;
	clock_start(&bed.fabric.clock, 1);
	*state = &bed;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *bed = *state;

	traffic_destroy(bed->source);
	run_config_destroy(bed->run);
	free(bed->telemetry);
	return 0;
}

UNIT_WITH(a_run_that_is_about_to_begin_ends, set_up, tear_down)
{
	struct bed *bed = *state;

	bed->fabric.phase = REAL_WAITING;
	bed->fabric.duration = PS_PER_S;
	bed->stop = true;
	assert_false(real_lead(&bed->fabric));
	assert_int_not_equal(bed->fabric.phase, REAL_DRAINING);
	/* One order at a time: the loops obey the first. */
	assert_false(real_lead(&bed->fabric));
	assert_int_not_equal(bed->fabric.phase, REAL_DRAINING);
	loop_commands_obeyed(&bed->fabric.orders);
	assert_false(real_lead(&bed->fabric));
	assert_int_equal(bed->fabric.phase, REAL_DRAINING);
	assert_true(bed->fabric.incomplete);
	loop_commands_obeyed(&bed->fabric.orders);
	bed->fabric.look_due = 0;
	assert_true(real_lead(&bed->fabric));
}

UNIT_WITH(a_process_of_a_lab_ends_where_it_is_idle, set_up, tear_down)
{
	struct bed *bed = *state;

	bed->fabric.serving = true;
	assert_false(real_lead(&bed->fabric));
	bed->stop = true;
	assert_true(real_lead(&bed->fabric));
	assert_false(bed->fabric.incomplete);
}

/* Frames then in flight have half a second. */
UNIT_WITH(traffic_stops_and_drains_for_a_while, set_up, tear_down)
{
	static const enum real_phase phases[] = {REAL_WARMING, REAL_SETTLING, REAL_MEASURING};

	for (unsigned i = 0; i < 3; i++) {
		struct bed *bed;

		set_up(state);
		bed = *state;
		bed->fabric.phase = phases[i];
		bed->fabric.traffic_until = WEFT_TIME_NEVER - 1;
		bed->fabric.measure_from = phases[i] == REAL_WARMING
						   ? WEFT_TIME_NEVER - 1
						   : clock_now(&bed->fabric.clock);
		bed->run->measure.sample_ps = PS_PER_S;
		bed->fabric.given.window.batch_ps = WEFT_TIME_NEVER / 2;
		bed->stop = true;
		assert_false(real_lead(&bed->fabric));
		assert_int_equal(bed->fabric.phase, REAL_DRAINING);
		assert_true(bed->fabric.incomplete);
		loop_commands_obeyed(&bed->fabric.orders);
		bed->fabric.host_count = 1;
		bed->fabric.look_due = 0;
		assert_false(real_lead(&bed->fabric));
		bed->fabric.ended_at -= PS_PER_S;
		bed->fabric.look_due = 0;
		assert_true(real_lead(&bed->fabric));
		assert_int_equal(bed->fabric.hurried_at, 0); /* the signal was not a second one */
		if (i < 2)
			tear_down(state);
	}
}

/* Frames still arrive from time to time. Without a signal, the run would continue for half a
 * minute. */
UNIT_WITH(a_run_that_drains_ends_soon_after_a_signal, set_up, tear_down)
{
	struct bed *bed = *state;

	bed->fabric.phase = REAL_DRAINING;
	bed->fabric.host_count = 1;
	bed->fabric.ended_at = clock_now(&bed->fabric.clock) - 10 * PS_PER_S;
	bed->sink.messages = 1;
	assert_false(real_lead(&bed->fabric));
	bed->stop = true;
	assert_false(real_lead(&bed->fabric));
	assert_false(bed->fabric.incomplete);
	assert_int_not_equal(bed->fabric.hurried_at, 0);
	bed->fabric.hurried_at -= PS_PER_S;
	bed->fabric.look_due = 0;
	bed->sink.messages = 2;
	assert_true(real_lead(&bed->fabric));
	assert_true(bed->fabric.incomplete); /* frames were still in flight */
}

UNIT_WITH(a_run_that_has_drained_by_then_is_complete, set_up, tear_down)
{
	struct bed *bed = *state;

	bed->fabric.phase = REAL_DRAINING;
	bed->fabric.host_count = 1;
	bed->fabric.ended_at = bed->fabric.arrived_at = clock_now(&bed->fabric.clock);
	bed->stop = true;
	assert_false(real_lead(&bed->fabric));
	bed->fabric.host_count = 0;
	bed->fabric.look_due = 0;
	assert_true(real_lead(&bed->fabric));
	assert_false(bed->fabric.incomplete);
}
