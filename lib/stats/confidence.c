/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "confidence.h"

#include <math.h>

/* Both forms are a sum of powers of cos θ, tan θ = t / √degrees, with products of (k − 1) / k as
 * factors: even k for even degrees, odd k from 3 for odd degrees. */
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
