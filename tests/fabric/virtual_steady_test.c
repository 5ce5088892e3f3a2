/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Verdicts on drawn runs: a good run is never called saturated, unsteady or empty, and answers do
 * not change with the length of a run. */

#include <math.h>

#include "base/rng.h"
#include "virtual_lab.h"

#define GOOD 200

static const char base[] = "weft: run/1\n"
			   "topology: \"ring:switches=4,hosts=1\"\n"
			   "clock: virtual\n"
			   "link: {rate: 10Gbps, delay: 30ns}\n"
			   "traffic: [{pattern: uniform, from: all, load: 10%, message: 4KiB}]\n";

/* Each carries 'max' percent of uniform traffic easily. */
static const struct {
	const char *topology;
	uint32_t max;
} networks[] = {{"rlft:ports=4,stages=2", 70}, {"rlft:ports=8,stages=2", 70},
	{"full:switches=4,hosts=4", 50}, {"torus:dims=4x4,hosts=1", 20},
	{"mesh:dims=4x4,hosts=1", 15}, {"hypercube:dims=3,hosts=2", 20},
	{"dragonfly:a=4,p=2,h=2", 8}, {"irregular:switches=8", 10},
	{"ring:switches=5,hosts=2", 20}};
static const char *const rates[] = {"1Gbps", "10Gbps", "100Gbps", "400Gbps"};
/* In bits per ns. */
static const uint32_t rate_of[] = {1, 10, 100, 400};
static const uint32_t messages[] = {256, 1024, 4096, 16384};
static const char *const arrivals[] = {"constant", "poisson", "uniform"};

struct drawn {
	char topology[64], rate[32], traffic[128], seed[32];
	uint64_t unit_ns; /* time per message at this load */
};

#define PICK(rng, list) rng_below(rng, sizeof(list) / sizeof((list)[0]))

static void draw(struct drawn *drawn, struct rng *rng)
{
	unsigned network = (unsigned)PICK(rng, networks), rate = (unsigned)PICK(rng, rates);
	uint32_t bytes = messages[PICK(rng, messages)];
	uint32_t load = 3 + (uint32_t)rng_below(rng, networks[network].max - 2);

	snprintf(drawn->topology, sizeof(drawn->topology), "topology=%s",
		networks[network].topology);
	snprintf(drawn->rate, sizeof(drawn->rate), "link.rate=%s", rates[rate]);
	snprintf(drawn->traffic, sizeof(drawn->traffic),
		"traffic=[{pattern: uniform, from: all, load: %u%%, message: %uB, arrivals: %s}]",
		load, bytes, arrivals[PICK(rng, arrivals)]);
	snprintf(drawn->seed, sizeof(drawn->seed), "seed=%u", (unsigned)rng_below(rng, 1000000));
	drawn->unit_ns = (uint64_t)bytes * 8 * 100 / rate_of[rate] / load + 1;
}

/* A run in which each host sends about this many messages. */
static struct run_result run(const struct drawn *drawn, uint64_t sent)
{
	char duration[64], sample[64];
	uint64_t ns = sent * drawn->unit_ns < 1000 ? 1000 : sent * drawn->unit_ns;

	snprintf(duration, sizeof(duration), "measure.duration=%lluns", (unsigned long long)ns);
	snprintf(sample, sizeof(sample), "measure.sample=%lluns", (unsigned long long)ns);
	return virtual_lab_result(base, VIRTUAL_LAB_SET(drawn->topology, drawn->rate,
						drawn->traffic, drawn->seed, duration, sample));
}

UNIT_TEST(of_200_good_runs_none_is_called_bad)
{
	unsigned told = 0;
	struct rng rng;

	rng_init(&rng, 46, 0, 0);
	for (unsigned i = 0; i < GOOD; i++) {
		struct drawn drawn;
		OWNED(run_result) result;

		draw(&drawn, &rng);
		result = run(&drawn, 800);
		assert_int_not_equal(run_result_is_saturated(&result).verdict, VERDICT_YES);
		assert_true(result.total_ns.count > 0 && result.accepted > 0);
		assert_int_not_equal(run_result_is_steady(&result).verdict, VERDICT_NO);
		told += run_result_is_steady(&result).verdict == VERDICT_YES;
	}
	/* The others have too few messages for their variance. */
	assert_true(told > GOOD * 8 / 10);
}

/* The answer is first 'cannot tell', and then the same in all longer runs. */
static void note(enum verdict *known, enum verdict verdict)
{
	if (verdict == VERDICT_UNKNOWN)
		return;
	if (*known != VERDICT_UNKNOWN)
		assert_int_equal(verdict, *known);
	*known = verdict;
}

static void compare_lengths(const struct drawn *drawn, enum verdict saturated, enum verdict steady)
{
	enum verdict known[2] = {VERDICT_UNKNOWN, VERDICT_UNKNOWN};

	for (uint64_t sent = 2; sent <= 4096; sent *= 2) {
		OWNED(run_result) result = run(drawn, sent);

		note(&known[0], run_result_is_saturated(&result).verdict);
		note(&known[1], run_result_is_steady(&result).verdict);
	}
	assert_int_equal(known[0], saturated);
	assert_true(known[1] == steady || (known[1] == VERDICT_UNKNOWN && steady == VERDICT_NO));
}

UNIT_TEST(answers_do_not_change_with_the_length)
{
	struct rng rng;

	rng_init(&rng, 47, 0, 0);
	for (unsigned i = 0; i < 12; i++) {
		struct drawn drawn;

		draw(&drawn, &rng);
		compare_lengths(&drawn, VERDICT_NO, VERDICT_YES);
		/* All hosts send to one host. Frames wait so long that 20 latencies are a long
		 * time. */
		snprintf(drawn.traffic, sizeof(drawn.traffic),
			"traffic=[{pattern: hotspot, from: rest, to: [h1], load: %u%%, "
			"message: 16KiB}]",
			60 + 5 * (i % 8));
		drawn.unit_ns = 16384 * 8 / 10;
		snprintf(drawn.rate, sizeof(drawn.rate), "link.rate=10Gbps");
		compare_lengths(&drawn, VERDICT_YES, VERDICT_NO);
	}
}

/* At the critical load, queues grow with the square root of time. */
UNIT_TEST(a_load_of_100_percent_is_not_steady)
{
	static const char *const lengths[] = {"measure.duration=2ms", "measure.duration=4ms"};

	for (unsigned i = 0; i < 2; i++) {
		OWNED(run_result) result = virtual_lab_result(
			base, VIRTUAL_LAB_SET("topology=rlft:ports=8,stages=2", "link.rate=100Gbps",
				      "traffic.0.load=100%", "switch.buffer=344KiB",
				      "measure.warmup=100us", "measure.sample=1ms", lengths[i]));

		assert_int_equal(run_result_is_steady(&result).verdict, VERDICT_NO);
	}
}

#define UNTIL "measure={until: {interval: 3%, of: latency.mean}, at-most: 5ms, sample: 1ms}"

static struct run_result until(const char *load, const char *buffer)
{
	return virtual_lab_result(base, VIRTUAL_LAB_SET("topology=rlft:ports=8,stages=2",
						"link.rate=100Gbps", load, buffer, UNTIL));
}

/* A run of a hundred times the length gives the mean. */
UNIT_TEST(a_run_until_its_mean_is_known_ends_early_with_the_mean)
{
	OWNED(run_result) result = until("traffic.0.load=50%", "switch.buffer=128KiB");
	OWNED(run_result) whole = virtual_lab_result(
		base, VIRTUAL_LAB_SET("topology=rlft:ports=8,stages=2", "link.rate=100Gbps",
			      "traffic.0.load=50%", "measure.warmup=1ms", "measure.duration=11ms"));
	double mean = histogram_mean(&whole.total_ns);

	assert_true(run_result_until(&result).reached);
	assert_true(run_result_until(&result).interval <= 0.03);
	assert_true(result.to_ns < 1000000 && result.from_ns > 0);
	assert_int_equal(run_result_is_steady(&result).verdict, VERDICT_YES);
	assert_true(fabs(histogram_mean(&result.total_ns) / mean - 1) < 0.06);
	/* Only values after the warm-up were measured. */
	assert_true(result.total_ns.count < result.messages.delivered);
}

UNIT_TEST(a_mean_that_does_not_settle_is_looked_for_at_most_for_so_long)
{
	OWNED(run_result) result = until("traffic.0.load=100%", "switch.buffer=344KiB");

	assert_false(run_result_until(&result).reached);
	assert_int_equal(result.to_ns, 5000000);
	assert_true(result.from_ns > 0 && result.from_ns <= 2500000);
}
