/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic/arrivals.h"

#include <math.h>

#include "unit.h"

#define SAMPLES 2000000
#define MEAN    1000000

/* Bursts of 30 intervals with pauses of 70, so the source is on for 30 % of the time. */
#define ON  ((weft_time)30 * MEAN)
#define OFF ((weft_time)70 * MEAN)

static struct arrivals start(enum arrivals_kind kind, struct arrivals_stream *stream)
{
	struct arrivals arrivals;

	rng_init(&stream->rng, 8, 0, 0);
	arrivals_init(&arrivals, kind, ON, OFF);
	arrivals_first(&arrivals, stream, 0);
	return arrivals;
}

UNIT_TEST(constant_arrivals_are_at_constant_distance)
{
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_CONSTANT, &stream);

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(arrivals_next(&arrivals, &stream, MEAN), MEAN);
}

/* Mean and deviation of an exponential distribution are equal. 5 sigma of the mean of this many
 * samples. */
UNIT_TEST(poisson_arrivals_have_the_mean_and_the_deviation)
{
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_POISSON, &stream);
	double sum = 0, squares = 0, mean;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double distance = (double)arrivals_next(&arrivals, &stream, MEAN);

		sum += distance;
		squares += distance * distance;
	}
	mean = sum / SAMPLES;
	assert_true(fabs(mean / MEAN - 1) < 5 / sqrt(SAMPLES));
	assert_true(fabs(sqrt(squares / SAMPLES - mean * mean) / MEAN - 1) < 0.01);
}

/* Computed from the table itself: the number of half-lives, each passed with probability 1/2, and a
 * position on a line. */
UNIT_TEST(poisson_arrivals_deviate_as_the_exponential_within_1e_5)
{
	static struct arrivals arrivals;
	double half_life, mean = 0, square = 0;

	arrivals_init(&arrivals, ARRIVALS_POISSON, ON, OFF);
	for (unsigned i = 0; i < ARRIVALS_STEPS; i++) {
		double low = arrivals.quantile[i], high = arrivals.quantile[i + 1];

		mean += (low + high) / 2 / ARRIVALS_STEPS;
		square += (low * low + low * high + high * high) / 3 / ARRIVALS_STEPS;
	}
	half_life = arrivals.quantile[ARRIVALS_STEPS];
	square += 3 * half_life * half_life + 2 * half_life * mean;
	mean += half_life;
	assert_true(fabs(mean / (1u << ARRIVALS_SHIFT) - 1) < 1e-6);
	assert_true(fabs(square / (mean * mean) - 2) < 1e-5);
}

UNIT_TEST(the_table_of_poisson_arrivals_is_the_inverse_of_the_distribution)
{
	static struct arrivals arrivals;
	double half_life;

	arrivals_init(&arrivals, ARRIVALS_POISSON, ON, OFF);
	half_life = arrivals.quantile[ARRIVALS_STEPS];
	for (unsigned i = 0; i <= ARRIVALS_STEPS; i++)
		assert_true(fabs(arrivals.quantile[i] + log1p(-(double)i / (2 * ARRIVALS_STEPS)) *
								half_life / log(2)) < 1);
}

/* Kolmogorov's distance from the exponential distribution, at some points and far in the tail. */
UNIT_TEST(poisson_arrivals_are_exponential_to_the_tail)
{
	static const double points[] = {0.01, 0.1, 0.5, 1, 2, 4, 6, 8, 10};
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_POISSON, &stream);
	unsigned below[9] = {0};

	for (unsigned i = 0; i < SAMPLES; i++) {
		double distance = (double)arrivals_next(&arrivals, &stream, MEAN) / MEAN;

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

UNIT_TEST(uniform_arrivals_lie_evenly_between_0_and_twice_the_mean)
{
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_UNIFORM, &stream);
	unsigned tenth[10] = {0};
	double sum = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		weft_time distance = arrivals_next(&arrivals, &stream, MEAN);

		assert_true(distance <= 2 * MEAN);
		sum += (double)distance;
		tenth[distance == 2 * MEAN ? 9 : distance * 10 / (2 * MEAN)]++;
	}
	/* Deviation of the uniform distribution: 1 / sqrt(3) of its mean. */
	assert_true(fabs(sum / SAMPLES / MEAN - 1) < 5 / sqrt(3.0 * SAMPLES));
	for (unsigned i = 0; i < 10; i++)
		assert_true(fabs(tenth[i] - SAMPLES / 10.0) < 5 * sqrt(SAMPLES * 0.09));
}

/* A burst consists of messages at the burst interval. The mean is kept over many bursts. */
UNIT_TEST(bursty_arrivals_have_the_mean_and_the_lengths_of_bursts_and_gaps)
{
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_BURSTY, &stream);
	double sum = 0, gaps = 0, in_burst = MEAN * 0.3;
	unsigned bursts = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double distance = (double)arrivals_next(&arrivals, &stream, MEAN);

		assert_true(distance >= in_burst - 1);
		sum += distance;
		bursts += distance > in_burst + 1;
		gaps += distance - in_burst;
	}
	/* 20,000 bursts: the mean of this many on and off times has a deviation of 0.5 %. */
	assert_true(fabs(sum / SAMPLES / MEAN - 1) < 0.025);
	/* Two gaps without a message in between appear as one: exp(-1/100) of them do not. */
	assert_true(fabs((double)SAMPLES * in_burst / bursts / (double)ON - 1) < 0.04);
	assert_true(fabs(gaps / bursts / (double)OFF - 1) < 0.04);
}

/* Exponential times: exp(-2) of them exceed twice the mean. */
UNIT_TEST(lengths_of_bursts_and_gaps_are_exponential)
{
	struct arrivals_stream stream;
	struct arrivals arrivals = start(ARRIVALS_BURSTY, &stream);
	unsigned bursts = 0, long_bursts = 0, long_gaps = 0, messages = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		weft_time distance = arrivals_next(&arrivals, &stream, MEAN);

		messages++;
		if (distance < MEAN * 3 / 10 + 2)
			continue;
		bursts++;
		long_gaps += distance > 2 * OFF;
		long_bursts += messages > 200; /* a burst has 100 on average */
		messages = 0;
	}
	assert_true(fabs((double)long_bursts / bursts - exp(-2)) < 0.015);
	assert_true(fabs((double)long_gaps / bursts - exp(-2)) < 0.015);
}

/* An interval continues where a burst interrupted it. */
UNIT_TEST(bursts_shorter_than_a_distance_keep_the_mean)
{
	struct arrivals_stream stream;
	struct arrivals arrivals;
	double sum = 0;

	rng_init(&stream.rng, 8, 0, 0);
	arrivals_init(&arrivals, ARRIVALS_BURSTY, MEAN / 10, MEAN / 10);
	arrivals_first(&arrivals, &stream, 0);
	for (unsigned i = 0; i < SAMPLES / 10; i++)
		sum += (double)arrivals_next(&arrivals, &stream, MEAN);
	assert_true(fabs(sum / (SAMPLES / 10) / MEAN - 1) < 0.005);
}

/* As if it had always been running: on average, the first arrival is not later than the others. */
UNIT_TEST(bursty_arrivals_begin_anywhere_in_burst_or_gap)
{
	struct arrivals arrivals;
	unsigned in_burst = 0;

	arrivals_init(&arrivals, ARRIVALS_BURSTY, ON, OFF);
	for (unsigned device = 0; device < 100000; device++) {
		struct arrivals_stream stream;

		rng_init(&stream.rng, 8, device, 0);
		in_burst += arrivals_first(&arrivals, &stream, 0) == 0;
	}
	assert_in_range(in_burst, 29300, 30700);
}
