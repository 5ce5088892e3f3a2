/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'measure.until' on the real clock: the leader ends the warm-up and the run. The test advances the
 * clock. */

#include "base/rng.h"
#include "real/real_private.h"
#include "unit.h"

#define STEP_PS       (10 * PS_PER_US)
#define AT_MOST_PS    (400 * PS_PER_MS)
#define FAST_NS       1000
#define CLOCK_HZ      UINT64_C(1000000000000000) /* the counter hardly advances this clock */
#define CYCLES_PER_PS (CLOCK_HZ / PS_PER_S)

static const char text[] = "weft: run/1\n"
			   "topology: \"ring:switches=3,hosts=1\"\n"
			   "clock: real\n"
			   "measure: {until: {interval: 2%}, at-most: 400ms, sample: 1ms}\n"
			   "traffic: [{pattern: uniform, load: 1%, message: 1KiB}]\n";

/* One host, where 'latency_ns' determines the arrivals. */
struct bed {
	struct topology topology;
	struct run_config *run;
	struct nic_routes *routes;
	void *telemetry;
	struct poll_nic poll;
	struct real_host host;
	struct measure_entry entry;
	struct real_fabric fabric;
	struct rng rng;
};

static void set_up(struct bed *bed, const char *set)
{
	static const struct measure_sink_flow *none[1];
	struct nic_config nic;
	struct error error = {""};

	*bed = (struct bed){.telemetry = calloc(1, 65536), .topology = {.hosts = 2}};
	bed->run = run_config_parse(text, strlen(text), "test", &set, set != NULL, &error);
	assert_non_null(bed->run);
	nic_config_default(&nic, 0, 2);
	nic.routes = bed->routes = nic_routes_create(2);
	nic.link.session = 1;
	bed->poll.nic = nic_create(&nic, 0);
	assert_non_null(bed->poll.nic);
	bed->poll.sink = measure_sink_create(0, 2);
	assert_int_equal(measure_sink_set_entries(bed->poll.sink, 1, (void *)none), 0);
	bed->host.poll = &bed->poll;
	bed->fabric = (struct real_fabric){
		.options = {.topology = &bed->topology, .run = bed->run},
		.telemetry = bed->telemetry,
		.hosts = &bed->host,
		.host_count = 1,
		.loops = 1,
		.phase = REAL_WAITING,
		.duration = bed->run->measure.duration_ps,
		.given = {.run = bed->run, .window = {.entry = &bed->entry, .entries = 1}},
		.shortage.due = WEFT_TIME_NEVER,
	};
	bed->fabric.work = &bed->fabric.given;
	bed->fabric.given.window.run = bed->run;
	bed->fabric.given.window.unit = bed->fabric.given.window.second = 1;
	clock_init(&bed->fabric.clock, CLOCK_HZ, rte_rdtsc());
	rng_init(&bed->rng, 46, 0, 0);
}

static void tear_down(struct bed *bed)
{
	run_result_free(&bed->fabric.given.window.samples);
	measure_sink_destroy(bed->poll.sink);
	nic_destroy(bed->poll.nic);
	nic_routes_destroy(bed->routes);
	run_config_destroy(bed->run);
	free(bed->telemetry);
}

/* Like the host's loop. */
static void obey(struct bed *bed)
{
	if (loop_commands_done(&bed->fabric.orders))
		return;
	if (bed->fabric.order == REAL_ORDER_START)
		measure_sink_reset(bed->poll.sink, bed->fabric.measure_from);
	else
		real_host_measure(&bed->fabric, &bed->host);
	loop_commands_obeyed(&bed->fabric.orders);
}

static void arrive(struct bed *bed, uint64_t latency_ns)
{
	struct measure_sink *sink = bed->poll.sink;

	sink->messages++;
	sink->entry[0].messages++;
	if (clock_now(&bed->fabric.clock) < sink->measure_from)
		return;
	histogram_record(&sink->network_ns, latency_ns);
	histogram_record(&sink->entry[0].total_ns, latency_ns);
}

/* A message with a latency of 'ns' or up to a tenth more in each step, until traffic stops. */
static void run(struct bed *bed, uint64_t (*latency_ns)(const struct bed *bed))
{
	struct real_fabric *fabric = &bed->fabric;

	while (fabric->phase != REAL_DRAINING) {
		fabric->clock.origin_tsc -= STEP_PS * CYCLES_PER_PS;
		if (fabric->phase != REAL_WAITING) {
			uint64_t ns = latency_ns(bed);

			arrive(bed, ns + rng_below(&bed->rng, ns / 10));
		}
		real_lead(fabric);
		obey(bed);
		assert_true(clock_now(&fabric->clock) < 2 * AT_MOST_PS);
	}
}

static weft_time since_start(const struct bed *bed)
{
	return clock_now(&bed->fabric.clock) - bed->fabric.traffic_from;
}

/* Falls during the first 2 ms, from ten times that value. */
static uint64_t settles(const struct bed *bed)
{
	return FAST_NS +
	       FAST_NS * 9 * run_result_minus(2 * PS_PER_MS, since_start(bed)) / (2 * PS_PER_MS);
}

static uint64_t grows(const struct bed *bed)
{
	return FAST_NS + since_start(bed) / (10 * PS_PER_NS);
}

UNIT_TEST(a_warm_up_is_found_and_the_run_ends_when_the_mean_is_known)
{
	static const char *const warmups[] = {NULL, "measure.warmup=500us"};

	for (unsigned i = 0; i < 2; i++) {
		const struct measure_window *window;
		struct bed bed;

		set_up(&bed, warmups[i]);
		run(&bed, settles);
		window = &bed.fabric.given.window;
		/* Slow messages at the start are discarded. */
		assert_true(window->from.at_ps >= 2 * PS_PER_MS);
		assert_true(bed.poll.sink->network_ns.max < 2 * FAST_NS);
		assert_true(bed.poll.sink->entry[0].total_ns.max < 2 * FAST_NS);
		assert_true(bed.poll.sink->network_ns.count < bed.poll.sink->entry[0].messages);
		assert_true(measure_until_reached(window));
		assert_true(window->to.at_ps < AT_MOST_PS / 4);
		for (unsigned k = 0; k < window->samples.samples; k++)
			assert_true(window->samples.sample[k].latency_ns < 2 * FAST_NS);
		tear_down(&bed);
	}
}

UNIT_TEST(a_mean_that_grows_is_looked_for_as_long_as_asked)
{
	struct bed bed;

	set_up(&bed, NULL);
	run(&bed, grows);
	assert_false(measure_until_reached(&bed.fabric.given.window));
	assert_true(bed.fabric.given.window.to.at_ps >= AT_MOST_PS);
	/* If the warm-up does not end, half of the time counts as warm-up. */
	assert_true(bed.fabric.given.window.from.at_ps < AT_MOST_PS / 2 + 2 * STEP_PS);
	tear_down(&bed);
}

UNIT_TEST(a_run_that_is_stopped_while_it_warms_up_has_measured_nothing)
{
	atomic_bool stop = true;
	struct bed bed;

	set_up(&bed, NULL);
	while (bed.fabric.phase != REAL_SETTLING || bed.poll.sink->network_ns.count < 5) {
		bed.fabric.clock.origin_tsc -= PS_PER_US * CYCLES_PER_PS;
		arrive(&bed, FAST_NS);
		real_lead(&bed.fabric);
		obey(&bed);
	}
	bed.fabric.stop = &stop;
	real_lead(&bed.fabric);
	obey(&bed);
	assert_int_equal(bed.fabric.phase, REAL_DRAINING);
	arrive(&bed, FAST_NS);
	assert_int_equal(bed.poll.sink->network_ns.count, 0);
	assert_true(bed.fabric.given.window.from.at_ps == bed.fabric.given.window.to.at_ps);
	tear_down(&bed);
}

/* The counters of the previous run still exist when the leader starts. */
UNIT_TEST(the_first_sample_of_a_second_run_is_its_own)
{
	struct measure_totals totals;
	const struct run_sample *sample;
	struct bed bed;

	set_up(&bed, "measure={duration: 10ms, sample: 1ms}");
	for (unsigned i = 1; i <= 2; i++) {
		bed.fabric.phase = REAL_WAITING;
		run(&bed, settles);
		assert_true(bed.fabric.given.window.samples.samples > 5);
		sample = &bed.fabric.given.window.samples.sample[0];
		assert_true(sample->latency_ns > 5 * FAST_NS && sample->latency_ns < 11 * FAST_NS);
		assert_true(sample->released_latency_ns == sample->latency_ns);
		real_totals_read(&bed.fabric, clock_now(&bed.fabric.clock), &totals);
		assert_int_equal(totals.timed, bed.poll.sink->network_ns.count);
	}
	tear_down(&bed);
}
