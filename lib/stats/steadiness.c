/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <math.h>
#include <stdbool.h>

#include "steadiness.h"

#define MSER_GROUP 5u
#define P_NO       0.0001
#define P_YES      0.05

/* Means of the parts of a series, and estimates of their spread. */
struct parts {
	double value[STEADINESS_PARTS];
	double mean;               /* sum of all sums, divided by the sum of all weights */
	double slope, slope_error; /* per part */
	double error;              /* standard error of the mean if there is no trend */
};

static double add(const double *value, unsigned from, unsigned to)
{
	double sum = 0;

	for (unsigned i = from; i < to; i++)
		sum += value[i];
	return sum;
}

unsigned mser5(const double *value, unsigned count)
{
	unsigned groups = count / MSER_GROUP, best = 0;
	double sum = 0, squares = 0, min = INFINITY;

	/* Goes backwards, because each earlier cut adds one group to those after it. */
	for (unsigned i = groups; i-- > 0;) {
		double mean = add(value, i * MSER_GROUP, (i + 1) * MSER_GROUP) / MSER_GROUP;
		double left = groups - i, spread;

		sum += mean;
		squares += mean * mean;
		spread = fmax(0, squares - sum * sum / left) / (left * left);
		/* The last few values may be equal by chance. */
		if (left >= MSER_GROUP && spread <= min) {
			min = spread;
			best = i;
		}
	}
	return 2 * best > groups || groups < 2 * MSER_GROUP ? count : best * MSER_GROUP;
}

/* Returns the factor by which correlation of neighbouring values increases their mean's error. */
static double inflation(const double *rest, double squares)
{
	double product = 0, r;

	for (unsigned i = 1; i < STEADINESS_PARTS; i++)
		product += rest[i] * rest[i - 1];
	r = squares > 0 ? fmin(fmax(product / squares, 0), 0.9) : 0;
	return sqrt((1 + r) / (1 - r));
}

/* Returns the standard error of a mean of STEADINESS_PARTS values with these deviations from it. */
static double error_of(const double *rest, unsigned degrees)
{
	double squares = 0;

	for (unsigned i = 0; i < STEADINESS_PARTS; i++)
		squares += rest[i] * rest[i];
	return inflation(rest, squares) * sqrt(squares / degrees / STEADINESS_PARTS);
}

/* Returns false if a part has no weight. */
static bool divide(const double *sum, const double *weight, unsigned count, struct parts *parts)
{
	const double middle = (STEADINESS_PARTS - 1) / 2.0;
	double rest[STEADINESS_PARTS], plain = 0, moment = 0, squares = 0;

	*parts = (struct parts){.mean = add(sum, 0, count) / add(weight, 0, count)};
	for (unsigned i = 0; i < STEADINESS_PARTS; i++) {
		unsigned from = i * count / STEADINESS_PARTS,
			 to = (i + 1) * count / STEADINESS_PARTS;
		double of = add(weight, from, to);

		if (of <= 0)
			return false;
		parts->value[i] = add(sum, from, to) / of;
		plain += parts->value[i] / STEADINESS_PARTS;
		moment += (i - middle) * parts->value[i];
		squares += (i - middle) * (i - middle);
	}
	parts->slope = moment / squares;
	for (unsigned i = 0; i < STEADINESS_PARTS; i++)
		rest[i] = parts->value[i] - plain;
	parts->error = error_of(rest, STEADINESS_PARTS - 1);
	for (unsigned i = 0; i < STEADINESS_PARTS; i++)
		rest[i] -= parts->slope * (i - middle);
	parts->slope_error =
		error_of(rest, STEADINESS_PARTS - 2) * sqrt(STEADINESS_PARTS / squares);
	return true;
}

/* Returns the one-sided probability of a value this far above 0. */
static double chance_of(double above, double error, unsigned degrees)
{
	if (above <= 0)
		return 1;
	return error > 0 ? (1 - student_t_within(above / error, degrees)) / 2 : 0;
}

static struct steadiness unknown(double value, double needed)
{
	return (struct steadiness){VERDICT_UNKNOWN,
		isnan(needed) ? 2 : fmin(fmax(needed, 2), STEADINESS_NEEDED_MAX), value};
}

/* Returns a relative length. Errors fall with the square root of the length. */
static double length_for(double distance, double error)
{
	double ratio = 2 * error / distance;

	return ratio * ratio;
}

/* Lists the values of the batches with weight. Returns their number. */
static unsigned values_of(const double *sum, const double *weight, unsigned count, double *value)
{
	unsigned values = 0;

	for (unsigned i = 0; i < count; i++)
		if (weight[i] > 0)
			value[values++] = sum[i] / weight[i];
	return values;
}

/* Returns the index of the batch that is preceded by this many batches with weight. */
static unsigned place_of(const double *weight, unsigned count, unsigned values)
{
	unsigned at = 0;

	for (; at < count / 2 && values > 0; at++)
		values -= weight[at] > 0;
	return at;
}

/* Returns whether the trend continues in the second half. Otherwise, it is the end of a warm-up. */
static bool goes_on(const double *sum, const double *weight, unsigned count, double slope)
{
	struct parts parts;

	return divide(sum + count / 2, weight + count / 2, count - count / 2, &parts) &&
	       parts.slope * slope > 0 &&
	       chance_of(fabs(parts.slope), parts.slope_error, STEADINESS_PARTS - 2) < P_YES;
}

struct steadiness steadiness_of(const double *sum, const double *weight, unsigned count)
{
	double value[STEADINESS_BATCHES] = {0}, whole, change, error, bias;
	unsigned values = values_of(sum, weight, count, value), cut = mser5(value, values);
	struct parts all, parts;

	if (count < 2 * STEADINESS_PARTS || !divide(sum, weight, count, &all))
		return unknown(0, 0);
	whole = STEADINESS_PARTS / fabs(all.mean);
	change = all.slope * whole;
	error = all.slope_error * whole;
	if (chance_of(fabs(change) - STEADINESS_CHANGE, error, STEADINESS_PARTS - 2) < P_NO &&
		goes_on(sum, weight, count, all.slope))
		return (struct steadiness){VERDICT_NO, 0, change};
	cut = place_of(weight, count, cut == values ? values / 2 : cut);
	if (!divide(sum + cut, weight + cut, count - cut, &parts))
		return unknown(change, 0);
	/* The effect of the warm-up on the overall mean. */
	bias = fabs(all.mean / parts.mean - 1);
	if (bias > STEADINESS_CHANGE / 2)
		return unknown(change, 2 * bias / STEADINESS_CHANGE * 2);
	whole = STEADINESS_PARTS / fabs(parts.mean) * count / (count - cut);
	change = parts.slope * whole;
	error = parts.slope_error * whole;
	if (chance_of(STEADINESS_CHANGE - fabs(change), error, STEADINESS_PARTS - 2) < P_YES)
		return (struct steadiness){VERDICT_YES, 0, change};
	return unknown(change, length_for(fabs(STEADINESS_CHANGE - fabs(change)), error));
}

static bool grows(const struct parts *parts, double sign, double chance)
{
	return chance_of(sign * (parts->mean - STEADINESS_GROWTH), parts->error,
		       STEADINESS_PARTS - 1) < chance;
}

struct steadiness growth_of(const double *more, const double *generated, unsigned count)
{
	unsigned half = count / 2;
	struct parts parts, late;

	if (count < 2 * STEADINESS_PARTS || !divide(more, generated, count, &parts) ||
		!divide(more + half, generated + half, count - half, &late))
		return unknown(0, 0);
	/* A backlog may grow at an increasing rate. If it grows only in the first half, the fabric
	 * is filling up. */
	if (late.mean > STEADINESS_GROWTH && (grows(&parts, 1, P_NO) || grows(&late, 1, P_NO)))
		return (struct steadiness){VERDICT_YES, 0, parts.mean};
	if (grows(&late, -1, P_YES))
		return (struct steadiness){VERDICT_NO, 0, late.mean};
	return unknown(parts.mean, length_for(fabs(parts.mean - STEADINESS_GROWTH), parts.error));
}

struct confidence batch_confidence(const double *sum, const double *weight, unsigned count)
{
	struct parts parts;

	if (count < 2 * STEADINESS_PARTS || !divide(sum, weight, count, &parts))
		return (struct confidence){.mean = NAN, .half_width = NAN};
	return (struct confidence){.count = STEADINESS_PARTS,
		.mean = parts.mean,
		.half_width = student_t_95(STEADINESS_PARTS - 1) * parts.error};
}

/* Both forms are sums of powers of cos θ, where tan θ = t / √degrees, with products of (k − 1) / k
 * as factors: even k for even degrees, odd k from 3 for odd degrees. */
double student_t_within(double t, unsigned degrees)
{
	double angle = atan(t / sqrt((double)degrees)), sine = sin(angle), cosine = cos(angle);
	unsigned first = degrees % 2 == 0 ? 2 : 3;
	double term = degrees % 2 == 0 ? 1 : cosine, sum = degrees > 1 ? term : 0;

	for (unsigned k = first; k + 2 <= degrees; k += 2) {
		term *= cosine * cosine * (double)(k - 1) / (double)k;
		sum += term;
	}
	return degrees % 2 == 0 ? sine * sum : 2 / M_PI * (angle + sine * sum);
}

double student_t_95(unsigned degrees)
{
	double low = 1.9,
	       high = 12.8; /* bounds: 1.96 for the normal distribution, 12.71 for one degree */

	while (high - low > 1e-12) {
		double middle = (low + high) / 2;

		if (student_t_within(middle, degrees) < 0.95)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct confidence confidence_of(const double *value, unsigned count)
{
	struct confidence confidence = {.count = count, .half_width = NAN};
	double squares = 0;

	for (unsigned i = 0; i < count; i++)
		confidence.mean += value[i] / (double)count;
	for (unsigned i = 0; i < count; i++)
		squares += (value[i] - confidence.mean) * (value[i] - confidence.mean);
	if (count >= 2)
		confidence.half_width = student_t_95(count - 1) *
					sqrt(squares / (double)(count - 1) / (double)count);
	return confidence;
}
