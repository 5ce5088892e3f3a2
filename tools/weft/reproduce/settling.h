/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mean latency of a run from its first message on, as a function of the messages that have
 * arrived (figures 63 to 66 of Flich's thesis, section 4.6.1): how long it takes to settle. */

#include <jansson.h>

struct settling_sample {
	double share;   /* of all messages of the run that have arrived by its end */
	double mean_ns; /* latency of all of them */
};

struct settling {
	struct settling_sample *sample;
	unsigned samples;
};

/* Takes the samples of a result; messages of one length. -EINVAL: it has none, or nothing has
 * arrived; -ENOMEM. */
int settling_take(struct settling *settling, const json_t *result);
void settling_fini(struct settling *settling);

/* The greatest difference between the mean after this share of the messages or more and the mean of
 * all, in per cent of the latter. NAN: no samples. */
double settling_deviation(const struct settling *settling, double share);
