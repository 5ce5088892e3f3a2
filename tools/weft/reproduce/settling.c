/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double number_of(const json_t *sample, const char *key)
{
	return json_number_value(json_object_get(sample, key));
}

/* Traffic is as good as a number of messages: samples and messages have one length each. */
static double fill(struct settling *settling, const json_t *series)
{
	double arrived = 0, sum_ns = 0, before_ns = 0;
	const json_t *sample;
	size_t i;

	json_array_foreach(series, i, sample)
	{
		double at_ns = number_of(sample, "t_ns");
		double weight = number_of(sample, "released") * (at_ns - before_ns);

		before_ns = at_ns;
		arrived += weight;
		sum_ns += weight * number_of(sample, "released_latency_ns");
		if (arrived > 0)
			settling->sample[settling->samples++] =
				(struct settling_sample){arrived, sum_ns / arrived};
	}
	return arrived;
}

int settling_take(struct settling *settling, const json_t *result)
{
	const json_t *series = json_object_get(result, "series");
	double arrived;

	settling_fini(settling);
	if (json_array_size(series) == 0)
		return -EINVAL;
	settling->sample = calloc(json_array_size(series), sizeof(*settling->sample));
	if (settling->sample == NULL)
		return -ENOMEM;
	arrived = fill(settling, series);
	for (unsigned i = 0; i < settling->samples; i++)
		settling->sample[i].share /= arrived;
	return settling->samples > 0 ? 0 : -EINVAL;
}

void settling_fini(struct settling *settling)
{
	free(settling->sample);
	*settling = (struct settling){.sample = NULL};
}

double settling_deviation(const struct settling *settling, double share)
{
	double max = NAN, last;

	if (settling->samples == 0)
		return NAN;
	last = settling->sample[settling->samples - 1].mean_ns;
	for (unsigned i = 0; i < settling->samples; i++)
		if (settling->sample[i].share >= share)
			max = fmax(max, 100 * fabs(settling->sample[i].mean_ns / last - 1));
	return max;
}
