/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The curves of a picture from trials: means over the instances of a network with their 95 %
 * intervals. Only latency against traffic and the use of links by rank are of the first instance,
 * because each instance has loads and links of its own. */

#include "reproduce_figure.h"
#include "trial.h"

/* The trials of one curve, by instance; without those that failed, of which a part may be there. */
struct reproduce_bundle {
	const struct trial *trial[EXPERIMENT_COPIES];
	unsigned count, wanted; /* wanted: with those that failed */
};

void reproduce_bundle_find(struct reproduce_bundle *bundle, const struct trial *trial,
	unsigned trials, unsigned network, unsigned case_at, unsigned algorithm);

/* The name of the algorithm, and of how many instances 'count' are, if some are missing. */
void reproduce_label(
	const struct reproduce_bundle *bundle, unsigned count, char out[FIGURE_LABEL_MAX]);

/* Fills a curve for a picture of this kind. Nothing if the bundle is empty. -ENOMEM. */
int reproduce_curve(
	struct figure_curve *curve, enum figure_kind kind, const struct reproduce_bundle *bundle);

/* Adds the bars of an algorithm, its value in each case of a network: 'curves' has room for it, and
 * a group for each case. Nothing if no case has a value. The label is of the case that misses most
 * instances. -ENOMEM. */
int reproduce_bars(struct figure *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned algorithm);

/* The value of the trials that have one; NAN without any. */
struct confidence reproduce_value(const struct reproduce_bundle *bundle);
/* The mean of the entry 'name' of a list of the result: of its 'key' "waiting_ns", for example. */
struct confidence reproduce_entry(const struct reproduce_bundle *bundle, const char *list,
	unsigned at, const char *key, double scale);
/* The entries of that list, as the first instance has it. */
const json_t *reproduce_list(const struct reproduce_bundle *bundle, const char *list);
