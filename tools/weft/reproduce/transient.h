/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The efficiency of a network over time, around a hot spot that lasts from 'start' to 'stop'
 * (figures 6 and 7 of the ARN+AFI paper): the traffic accepted in each sample, as a share of the
 * hosts' links, and the numbers that characterise such a curve. */

#include <jansson.h>

#include "run_config.h"
#include "topology.h"

#define TRANSIENT_BACK_SHARE 0.9 /* of the deliverable: from there on a network has recovered */

struct transient_sample {
	double t_ns, accepted; /* the sample's end */
};

struct transient {
	double start_ns, stop_ns; /* of the hot spot; without any both are the run's end */
	/* The traffic that could be accepted during the hot spot: that of all other hosts,
	 * except to the hot hosts, and the capacity of the links to those. Without a hot spot,
	 * the generated traffic. */
	double deliverable;
	struct transient_sample *sample;
	unsigned samples;
};

/* Reads the time of the hot spot and computes the deliverable traffic. 0, or -errno and fault. */
int transient_begin(struct transient *transient, const struct run_config *config,
	const struct topology *topology, struct fault *fault);
/* Takes the samples of a result. -EINVAL: it has none; -ENOMEM. */
int transient_take(struct transient *transient, const json_t *result);
void transient_fini(struct transient *transient);

/* The mean over the second half of the time before the hot spot. NAN here and below: there is no
 * such sample. */
double transient_before(const struct transient *transient);
/* The least sample within the hot spot; without one, within the second half of the run. */
double transient_minimum(const struct transient *transient);
/* The sample that ends so long after the hot spot began. */
double transient_at(const struct transient *transient, double after_ns);
/* The mean over the last tenth of the hot spot; without one, of the run. */
double transient_end(const struct transient *transient);
/* Time from the beginning of the hot spot to the end of its last sample below the share
 * TRANSIENT_BACK_SHARE of the deliverable: 0 if there is none, INFINITY if the hot spot ended
 * with one below. */
double transient_back_ns(const struct transient *transient);
