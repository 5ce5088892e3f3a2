/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrivals.h"

#include <math.h>

#include "unit.h"

#define SAMPLES 2000000
#define MEAN    1000000

static struct arrivals start(enum arrivals_kind kind, struct rng *rng)
{
	struct arrivals arrivals;

	rng_init(rng, 8, 0, 0);
	arrivals_init(&arrivals, kind);
	return arrivals;
}

static void constant_arrivals_are_at_constant_distance(void **state)
{
	struct rng rng;
	struct arrivals arrivals = start(ARRIVALS_CONSTANT, &rng);

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(arrivals_next(&arrivals, &rng, MEAN), MEAN);
}

/* Mean and deviation of an exponential are equal; 5 sigma of the mean of so many samples. */
static void poisson_arrivals_have_the_mean_and_the_deviation(void **state)
{
	struct rng rng;
	struct arrivals arrivals = start(ARRIVALS_POISSON, &rng);
	double sum = 0, squares = 0, mean;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double distance = (double)arrivals_next(&arrivals, &rng, MEAN);

		sum += distance;
		squares += distance * distance;
	}
	mean = sum / SAMPLES;
	assert_true(fabs(mean / MEAN - 1) < 5 / sqrt(SAMPLES));
	assert_true(fabs(sqrt(squares / SAMPLES - mean * mean) / MEAN - 1) < 0.01);
}

/* Kolmogorov's distance from the exponential, at some points and far in the tail. */
static void poisson_arrivals_are_exponential_to_the_tail(void **state)
{
	static const double points[] = {0.01, 0.1, 0.5, 1, 2, 4, 6, 8, 10};
	struct rng rng;
	struct arrivals arrivals = start(ARRIVALS_POISSON, &rng);
	unsigned below[9] = {0};

	for (unsigned i = 0; i < SAMPLES; i++) {
		double distance = (double)arrivals_next(&arrivals, &rng, MEAN) / MEAN;

		for (unsigned p = 0; p < 9; p++)
			below[p] += distance < points[p];
	}
	for (unsigned p = 0; p < 9; p++) {
		double wanted = 1 - exp(-points[p]);
		double sigma = sqrt(wanted * (1 - wanted) / SAMPLES);

		assert_true(fabs((double)below[p] / SAMPLES - wanted) < 5 * sigma + 1e-4);
	}
	assert_in_range(SAMPLES - below[8], 50, 140); /* 91 beyond ten means */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(constant_arrivals_are_at_constant_distance),
	cmocka_unit_test(poisson_arrivals_have_the_mean_and_the_deviation),
	cmocka_unit_test(poisson_arrivals_are_exponential_to_the_tail),
};

UNIT_MAIN(tests)
