/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "stats/lateness.h"

#include "base/rng.h"
#include "unit.h"

#define SAMPLES 20000

struct fixture {
	struct lateness late, other;
	struct histogram total;
	uint64_t sample[SAMPLES];
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state == NULL;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Values of all sizes up to 2^40 ns, in bursts of all sizes at either end; sorted. */
static void note_all(struct fixture *fixture)
{
	unsigned count;
	struct rng rng;

	rng_init(&rng, 46, 0, 0);
	for (unsigned i = 0; i < SAMPLES; i++)
		fixture->sample[i] = rng_next(&rng) >> (24 + rng_below(&rng, 40));
	for (unsigned i = 0; i < SAMPLES; i += count) {
		count = 1 + (unsigned)rng_below(&rng, 32);
		count = count < SAMPLES - i ? count : SAMPLES - i;
		lateness_note(
			i % 2 == 0 ? &fixture->late : &fixture->other, &fixture->sample[i], count);
	}
	qsort(fixture->sample, SAMPLES, sizeof(fixture->sample[0]), compare);
}

static void measure_all(struct fixture *fixture)
{
	lateness_measure(&fixture->late, &fixture->total);
	lateness_measure(&fixture->other, &fixture->total);
	note_all(fixture);
}

#define CLAIM(function) UNIT_BED(function, set_up, tear_down, struct fixture *fixture)

CLAIM(the_total_is_that_of_all_ends)
{
	struct histogram wanted = {.count = 0};

	measure_all(fixture);
	for (unsigned i = 0; i < SAMPLES; i++)
		histogram_record(&wanted, fixture->sample[i]);
	assert_memory_equal(&fixture->total, &wanted, sizeof(wanted));
	assert_int_equal(lateness_summary(&fixture->late).arrivals +
				 lateness_summary(&fixture->other).arrivals,
		SAMPLES);
}

CLAIM(percentiles_of_an_end_are_the_end_of_their_step_or_the_maximum)
{
	struct lateness_summary summary;
	uint64_t p50, p99;

	note_all(fixture);
	lateness_measure(&fixture->late, &fixture->total);
	lateness_note(&fixture->late, fixture->sample, SAMPLES);
	p50 = fixture->sample[SAMPLES / 2 - 1];
	p99 = fixture->sample[SAMPLES / 100 * 99 - 1];
	summary = lateness_summary(&fixture->late);
	assert_int_equal(summary.arrivals, SAMPLES);
	assert_int_equal(summary.max_ns, fixture->sample[SAMPLES - 1]);
	assert_in_range(summary.p50_ns, p50, p50 + p50 / 4 + 15);
	assert_in_range(summary.p99_ns, p99, p99 + p99 / 4 + 15);
	lateness_measure(&fixture->late, &fixture->total);
	lateness_note(&fixture->late, &(uint64_t){1000}, 1);
	assert_int_equal(lateness_summary(&fixture->late).p99_ns, 1000);
}

/* Never too favourable: at most the true share, and no more than one step below it. */
CLAIM(the_share_within_a_bound_is_at_most_the_true_one)
{
	measure_all(fixture);
	for (unsigned i = 0; i < SAMPLES; i += 97) {
		uint64_t bound = fixture->sample[i], within = 0, well_within = 0;
		uint32_t ppm = lateness_within_ppm(&fixture->total, bound);

		for (unsigned j = 0; j < SAMPLES; j++) {
			within += fixture->sample[j] <= bound;
			well_within += fixture->sample[j] <= bound - bound / 32;
		}
		assert_in_range(ppm, well_within * 1000000 / SAMPLES, within * 1000000 / SAMPLES);
	}
	assert_int_equal(lateness_within_ppm(&fixture->total, fixture->total.max), 1000000);
	assert_int_equal(lateness_within_ppm(&fixture->total, 0),
		fixture->total.bucket[0] * 1000000 / SAMPLES);
}

CLAIM(nothing_measured_is_nothing)
{
	assert_int_equal(lateness_summary(NULL).arrivals, 0);
	lateness_measure(NULL, &fixture->total);
	note_all(fixture);
	assert_int_equal(lateness_summary(&fixture->late).arrivals, 0);
	assert_int_equal(fixture->total.count, 0);
	assert_int_equal(lateness_within_ppm(&fixture->total, 1000), 0);
	assert_int_equal(fixture->late.arrivals + fixture->other.arrivals, SAMPLES);
}

CLAIM(counters_go_on_and_the_measured_stays_when_measuring_ends)
{
	uint64_t ns[2] = {3000, 5000};

	lateness_note(&fixture->late, ns, 2);
	lateness_measure(&fixture->late, &fixture->total);
	lateness_note(&fixture->late, ns, 1);
	lateness_measure(&fixture->late, NULL);
	lateness_note(&fixture->late, ns, 2);
	assert_int_equal(fixture->late.arrivals, 5);
	assert_int_equal(fixture->late.sum_ns, 19000);
	assert_int_equal(lateness_summary(&fixture->late).arrivals, 1);
	assert_int_equal(lateness_summary(&fixture->late).max_ns, 3000);
	assert_int_equal(fixture->total.count, 1);
}
