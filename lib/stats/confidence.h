/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Mean and 95 % confidence interval of a few independent values, such as one measure over the seeds
 * of a sweep: mean ± t · s / √n, where s is the sample standard deviation (divisor n − 1) and t is
 * Student's, two-sided, with n − 1 degrees of freedom. */

struct confidence {
	unsigned count;
	double mean;       /* 0 for no values */
	double half_width; /* half the interval; NAN for fewer than two values */
};

struct confidence confidence_of(const double *value, unsigned count);

/* The t for which |T| < t in 95 of 100 cases, from the closed form of the distribution for whole
 * degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4). 'degrees' from 1. */
double student_t_95(unsigned degrees);

/* Probability of |T| < t. */
double student_t_within(double t, unsigned degrees);
