/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Determines from the batches of a run whether a measured quantity is steady, and whether a backlog
 * grows. Batches follow each other in time and have equal length. Each has a sum and a weight, and
 * its value is sum / weight: for example, the sum of latencies and the number of messages. Batches
 * without weight have no value.
 *
 * MSER-5 removes the start of a series (White, Cobb and Spratt, "A comparison of five steady-state
 * truncation heuristics for simulation", WSC 2000). The rest is divided into STEADINESS_PARTS
 * parts, whose means are tested for a trend by linear regression. If neighbouring parts are
 * correlated, the standard error is multiplied by sqrt((1 + r) / (1 - r)), where r is their
 * correlation.
 *
 * A verdict has three states. NO requires p < 0.0001 and YES p < 0.05, so a definite verdict rarely
 * changes in a longer run. */

#define STEADINESS_PARTS   16u
#define STEADINESS_BATCHES 128u /* maximum */

/* A series is steady if its trend changes it by less than this share of its mean. */
#define STEADINESS_CHANGE 0.10
/* A backlog grows if more than this share of the generated messages is not delivered. */
#define STEADINESS_GROWTH 0.02

enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_UNKNOWN };

struct steadiness {
	enum verdict verdict;
	/* For VERDICT_UNKNOWN: the length that is likely to give a verdict, as a multiple of the
	 * series' length, from 2 to STEADINESS_NEEDED_MAX. */
	double needed;
	double value; /* change or growth, as a share */
};

#define STEADINESS_NEEDED_MAX 1000.0

/* Returns the number of leading values to discard, a multiple of 5. Returns 'count' if this would
 * be more than half of them: the series is too short. */
unsigned mser5(const double *value, unsigned count);

/* Tests whether sum / weight is steady. */
struct steadiness steadiness_of(const double *sum, const double *weight, unsigned count);

/* Tests whether 'more' grows by over STEADINESS_GROWTH of 'generated'. YES means growth. */
struct steadiness growth_of(const double *more, const double *generated, unsigned count);

/* Returns the mean of sum / weight and the half-width of its 95 % confidence interval, from the
 * means of the parts. NAN: unknown. */
struct confidence batch_confidence(const double *sum, const double *weight, unsigned count);

/* Mean and 95 % confidence interval of a few independent values, such as one measure over a sweep's
 * seeds: mean ± t · s / √n, where s is the sample standard deviation (divisor n − 1) and t is
 * Student's two-sided t with n − 1 degrees of freedom. */

struct confidence {
	unsigned count;
	double mean;       /* 0 if there are no values */
	double half_width; /* half the interval's width; NAN for fewer than two values */
};

struct confidence confidence_of(const double *value, unsigned count);

/* Returns the t for which |T| < t with probability 0.95, from the closed form for integer
 * degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4), of which there is at least 1. */
double student_t_95(unsigned degrees);

/* Returns the probability of |T| < t. */
double student_t_within(double t, unsigned degrees);
