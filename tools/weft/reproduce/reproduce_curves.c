/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reproduce_curves.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "saturation.h"

/* A number of point 'at' of a trial; NAN: it has none. */
typedef double point_value_fn(const struct trial *trial, unsigned at);

static struct confidence single(double value)
{
	return (struct confidence){.count = 1, .mean = value, .half_width = NAN};
}

void reproduce_bundle_find(struct reproduce_bundle *bundle, const struct trial *trial,
	unsigned trials, unsigned network, unsigned case_at, unsigned algorithm)
{
	bundle->count = bundle->wanted = 0;
	for (unsigned i = 0; i < trials && bundle->count < EXPERIMENT_COPIES; i++) {
		if (trial[i].network != network || trial[i].case_at != case_at ||
			trial[i].algorithm != algorithm)
			continue;
		bundle->wanted++;
		if (trial[i].stage == TRIAL_DONE && trial[i].points > 0)
			bundle->trial[bundle->count++] = &trial[i];
	}
}

void reproduce_label(
	const struct reproduce_bundle *bundle, unsigned count, char out[FIGURE_LABEL_MAX])
{
	const struct trial *trial = bundle->trial[0];
	const char *name = trial->experiment->algorithms.at[trial->algorithm].name;

	if (count < bundle->wanted)
		snprintf(out, FIGURE_LABEL_MAX, "%.100s (%u of %u)", name, count, bundle->wanted);
	else
		snprintf(out, FIGURE_LABEL_MAX, "%s", name);
}

/* Over the instances that have such a number. */
static struct confidence mean_of(
	const struct reproduce_bundle *bundle, point_value_fn *value, unsigned at)
{
	double values[EXPERIMENT_COPIES];
	unsigned count = 0;

	for (unsigned i = 0; i < bundle->count; i++) {
		double one = value(bundle->trial[i], at);

		if (!isnan(one))
			values[count++] = one;
	}
	return count > 0 ? confidence_of(values, count) : single(NAN);
}

static void add_point(
	struct figure_curve *curve, struct confidence x, struct confidence y, double y2)
{
	curve->point[curve->points++] = (struct figure_point){.x = x, .y = y, .y2 = single(y2)};
}

/* Offered traffic differs a little between the instances of one load: the load is the place. */
static double load_at(const struct trial *trial, unsigned at)
{
	return at < trial->points ? trial->point[at].load : NAN;
}

static double offered_at(const struct trial *trial, unsigned at)
{
	return at < trial->points ? trial->point[at].offered : NAN;
}

static double accepted_at(const struct trial *trial, unsigned at)
{
	return at < trial->points ? trial->point[at].accepted : NAN;
}

/* NAN if a deadlock ended the run: what was measured before is no latency of the load. */
static double total_at(const struct trial *trial, unsigned at)
{
	return at < trial->points && trial->point[at].total_ns > 0 && !trial->point[at].ended_early
		       ? trial->point[at].total_ns
		       : NAN;
}

static double time_at(const struct trial *trial, unsigned at)
{
	return at < trial->transient.samples ? trial->transient.sample[at].t_ns : NAN;
}

static double efficiency_at(const struct trial *trial, unsigned at)
{
	return at < trial->transient.samples ? trial->transient.sample[at].accepted : NAN;
}

static double sample_at(const struct trial *trial, unsigned at, const char *key)
{
	const json_t *sample = json_array_get(json_object_get(trial->result, "series"), at);
	double value = json_number_value(json_object_get(sample, key));

	return value > 0 ? value : NAN;
}

static double sample_time_at(const struct trial *trial, unsigned at)
{
	return sample_at(trial, at, "t_ns");
}

static double sample_latency_at(const struct trial *trial, unsigned at)
{
	return sample_at(trial, at, "released_latency_ns");
}

/* As many points as the first instance has. */
static int add_means(struct figure_curve *curve, const struct reproduce_bundle *bundle,
	unsigned points, point_value_fn *x, point_value_fn *y)
{
	curve->point = calloc(points + 1, sizeof(*curve->point));
	if (curve->point == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < points; i++)
		add_point(curve, single(x(bundle->trial[0], i)), mean_of(bundle, y, i), 0);
	return 0;
}

/* The same over loads, with the mark of one that accepts less. A load at which an instance has no
 * such number has no mean, which would be of the better ones only. */
static int add_loads(
	struct figure_curve *curve, const struct reproduce_bundle *bundle, point_value_fn *y)
{
	int result = add_means(curve, bundle, bundle->trial[0]->points, load_at, y);

	for (unsigned i = 0; i < curve->points; i++) {
		if (curve->point[i].y.count < bundle->count)
			curve->point[i].y = single(NAN);
		curve->point[i].hollow = mean_of(bundle, accepted_at, i).mean <
					 ACCEPTS_LESS * mean_of(bundle, offered_at, i).mean;
	}
	return result;
}

static int by_load(const void *a, const void *b)
{
	const struct trial_point *one = a, *two = b;

	return (one->load > two->load) - (one->load < two->load);
}

static bool is_hollow(const struct trial *trial, const struct trial_point *point)
{
	if (trial->experiment->measure == EXPERIMENT_SATURATION)
		return trial_point_accepts_less(trial, point);
	return point->accepted < ACCEPTS_LESS * point->offered;
}

static int add_latencies(struct figure_curve *curve, const struct trial *trial)
{
	struct trial_point *sorted = calloc(trial->points, sizeof(*sorted));

	curve->point = calloc(trial->points, sizeof(*curve->point));
	if (sorted == NULL || curve->point == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, trial->point, trial->points * sizeof(*sorted));
	qsort(sorted, trial->points, sizeof(*sorted), by_load);
	for (unsigned i = 0; i < trial->points; i++) {
		if (sorted[i].traffic <= 0)
			continue;
		add_point(curve, single(sorted[i].traffic), single(sorted[i].total_ns),
			sorted[i].network_ns);
		curve->point[curve->points - 1].hollow = is_hollow(trial, &sorted[i]);
	}
	free(sorted);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct figure_point *one = a, *two = b;

	return (one->y.mean < two->y.mean) - (one->y.mean > two->y.mean);
}

/* The links between switches by their use, the greatest first, as the thesis has them. */
static int add_links(struct figure_curve *curve, const struct trial *trial)
{
	const json_t *link;
	size_t i;

	curve->point = calloc(json_array_size(trial->links) + 1, sizeof(*curve->point));
	if (curve->point == NULL)
		return -ENOMEM;
	json_array_foreach(trial->links, i, link)
	{
		if (trial_link_counts(link))
			add_point(curve, single(0), single(trial_link_value(trial, link)), 0);
	}
	qsort(curve->point, curve->points, sizeof(*curve->point), by_use);
	for (unsigned rank = 0; rank < curve->points; rank++)
		curve->point[rank].x = single(rank + 1);
	return 0;
}

int reproduce_curve(
	struct figure_curve *curve, enum figure_kind kind, const struct reproduce_bundle *bundle)
{
	const struct trial *first = bundle->count > 0 ? bundle->trial[0] : NULL;

	if (first == NULL)
		return 0;
	switch (kind) {
	case FIGURE_EFFICIENCY_TIME:
		return add_means(curve, bundle, first->transient.samples, time_at, efficiency_at);
	case FIGURE_THROUGHPUT_LOAD:
		return add_loads(curve, bundle, accepted_at);
	case FIGURE_LATENCY_LOAD:
		return add_loads(curve, bundle, total_at);
	case FIGURE_LATENCY_TIME:
		return add_means(curve, bundle,
			(unsigned)json_array_size(reproduce_list(bundle, "series")), sample_time_at,
			sample_latency_at);
	case FIGURE_LINK_LOAD:
	case FIGURE_BLOCKED_TIME:
		return first->copy == 0 ? add_links(curve, first) : 0;
	default:
		return first->copy == 0 ? add_latencies(curve, first) : 0;
	}
}

static double value_of(const struct trial *trial, unsigned at)
{
	return trial->value;
}

struct confidence reproduce_value(const struct reproduce_bundle *bundle)
{
	return mean_of(bundle, value_of, 0);
}

int reproduce_bars(struct figure *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned algorithm)
{
	struct figure_curve *curve = &curves->curve[curves->curves];
	unsigned min = UINT_MAX;
	struct reproduce_bundle bundle;

	curve->point = calloc(curves->groups, sizeof(*curve->point));
	if (curve->point == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < curves->groups; i++) {
		struct confidence value;
		unsigned count;

		reproduce_bundle_find(&bundle, trial, trials, network, i, algorithm);
		if (bundle.count == 0)
			continue;
		value = reproduce_value(&bundle);
		curve->point[curve->points++] =
			(struct figure_point){.x = {1, i, NAN}, .y = value, .y2 = {1, 0, NAN}};
		curves->intervals = curves->intervals || bundle.count > 1;
		count = isnan(value.mean) ? 0 : value.count;
		if (count < min)
			reproduce_label(&bundle, count, curve->label);
		min = count < min ? count : min;
	}
	if (curve->points == 0) {
		free(curve->point);
		curve->point = NULL;
		return 0;
	}
	curves->curves++;
	return 0;
}

const json_t *reproduce_list(const struct reproduce_bundle *bundle, const char *list)
{
	return bundle->count > 0 ? json_object_get(bundle->trial[0]->result, list) : NULL;
}

struct confidence reproduce_entry(const struct reproduce_bundle *bundle, const char *list,
	unsigned at, const char *key, double scale)
{
	double values[EXPERIMENT_COPIES];
	unsigned count = 0;

	for (unsigned i = 0; i < bundle->count; i++) {
		const json_t *entry =
			json_array_get(json_object_get(bundle->trial[i]->result, list), at);

		if (entry != NULL)
			values[count++] = scale * json_number_value(json_object_get(entry, key));
	}
	return count > 0 ? confidence_of(values, count) : single(NAN);
}
