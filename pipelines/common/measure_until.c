/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_window.h"

/* Looks at half of the batches and more, in steps of an eighth. */
#define LOOKS_FROM (STEADINESS_BATCHES / 2)
#define LOOKS_EACH (STEADINESS_BATCHES / 8)
/* So many mean latencies have to fit. */
#define LATENCIES_LEAST 20

struct values {
	double latency[STEADINESS_BATCHES], timed[STEADINESS_BATCHES];
	double sum[STEADINESS_BATCHES], weight[STEADINESS_BATCHES]; /* of the value asked for */
};

/* False: this is not the time to look, or too little was measured. */
static bool read_values(const struct measure_window *window, struct values *values)
{
	uint64_t messages = 0, sum_ns = 0;

	if (window->batches < LOOKS_FROM || window->batches % LOOKS_EACH != 0)
		return false;
	*values = (struct values){0};
	for (unsigned i = 0; i < window->batches; i++) {
		for (unsigned k = 0; k < window->entries; k++) {
			const struct run_batch *batch = &window->entry[k].batch[i];

			values->latency[i] += (double)batch->latency_sum_ns;
			values->timed[i] += (double)batch->timed;
			run_until_add(&window->run->measure.until, batch, &values->sum[i],
				&values->weight[i]);
			messages += batch->timed;
			sum_ns += batch->latency_sum_ns;
		}
	}
	return messages >= RUN_MESSAGES_LEAST && window->batches * (window->batch_ps / PS_PER_NS) >=
							 LATENCIES_LEAST * (sum_ns / messages);
}

bool measure_is_warm(const struct measure_window *window)
{
	double mean[STEADINESS_BATCHES];
	struct values values;
	unsigned count = 0;

	if (!read_values(window, &values))
		return false;
	for (unsigned i = 0; i < window->batches; i++)
		if (values.timed[i] > 0)
			mean[count++] = values.latency[i] / values.timed[i];
	return mser5(mean, count) < count;
}

bool measure_until_reached(const struct measure_window *window)
{
	struct values values;

	return read_values(window, &values) &&
	       run_until_of(&window->run->measure.until, values.sum, values.weight, window->batches)
		       .reached &&
	       steadiness_of(values.latency, values.timed, window->batches).verdict == VERDICT_YES;
}
