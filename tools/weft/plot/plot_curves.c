/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_curves.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_number.h"

/* The x axis of completion times: the values of the key along which the curves go. If all of them
 * are numbers of one kind, the axis is that of these numbers; otherwise they are words, at 0, 1 and
 * so on in the order of the sweep. A result that is of no sweep stands there with its name. */

static const char *value_of(
	const struct plot_runs *runs, const struct plot_run *run, const char *key)
{
	const char *value = key != NULL ? json_string_value(json_object_get(run->vary, key)) : NULL;

	return value != NULL ? value : runs->input[run->input];
}

/* Whether all runs have numbers of one kind there. */
static bool are_numbers(const struct plot_runs *runs, const char *const *along)
{
	struct sweep_number first = {SWEEP_NUMBER_NONE, 0}, number;

	for (unsigned i = 0; i < runs->runs; i++) {
		const struct plot_run *run = &runs->run[i];
		const char *key = along[run->input];

		if (key == NULL || !sweep_number_parse(value_of(runs, run, key), &number))
			return false;
		if (i == 0)
			first = number;
		if (number.kind != first.kind)
			return false;
	}
	return true;
}

static const char *last_part(const char *key)
{
	const char *point = strrchr(key, '.');

	return point != NULL ? point + 1 : key;
}

static const struct plot_tick *find(const struct plot_curves *curves, const char *value)
{
	for (unsigned i = 0; i < curves->ticks; i++)
		if (strcmp(curves->tick[i].value, value) == 0)
			return &curves->tick[i];
	return NULL;
}

static void add_tick(struct plot_curves *curves, const struct plot_runs *runs, const char *key,
	const char *value)
{
	const char *text = key != NULL ? plot_label_find(runs, key, value) : NULL;
	struct plot_tick *tick = &curves->tick[curves->ticks];
	struct sweep_number number = {SWEEP_NUMBER_NONE, curves->ticks};

	if (!curves->words)
		sweep_number_parse(value, &number);
	curves->ticks++;
	tick->value = value;
	tick->at = number.value;
	snprintf(tick->text, sizeof(tick->text), "%s", text != NULL ? text : value);
}

/* Fills curves->tick, ->words and ->axis. 'along' has the key of each input, or NULL. -ENOMEM. */
static int plot_ticks_make(struct plot_curves *curves, const struct plot_runs *runs,
	const char *const *along, struct fault *fault)
{
	curves->tick = calloc(runs->runs + 1, sizeof(*curves->tick));
	if (curves->tick == NULL)
		return fault_set(fault, ENOMEM, "plot: no memory");
	curves->words = !are_numbers(runs, along);
	for (unsigned i = 0; i < runs->runs; i++) {
		const struct plot_run *run = &runs->run[i];
		const char *key = along[run->input], *value = value_of(runs, run, key);

		if (find(curves, value) == NULL)
			add_tick(curves, runs, key, value);
		if (key != NULL)
			snprintf(curves->axis, sizeof(curves->axis), "%s", last_part(key));
	}
	return 0;
}

/* The place of a run; 'key' is that of its input. */
static double plot_ticks_place(const struct plot_curves *curves, const struct plot_runs *runs,
	const struct plot_run *run, const char *key)
{
	const struct plot_tick *tick = find(curves, value_of(runs, run, key));

	return tick != NULL ? tick->at : 0;
}

/* A group of runs: a curve, or within it a point. */
struct maker {
	struct plot_curves *curves;
	const struct plot_runs *runs;
	const char **along; /* of each input; NULL: none */
	struct fault *fault;
};

static int refuse_memory(struct fault *fault)
{
	return fault_set(fault, ENOMEM, "plot: no memory");
}

/* The key along which the curves of these varied keys go; NULL if it is not among them. */
static const char *find_along(json_t *vary, const char *asked)
{
	const char *key, *last = NULL, *load = NULL;
	json_t *value;

	json_object_foreach(vary, key, value)
	{
		if (asked != NULL && plot_key_is(asked, strlen(asked), key))
			return key;
		if (load == NULL && strcmp(last_part(key), "load") == 0)
			load = key;
		last = key;
	}
	return asked != NULL ? NULL : load != NULL ? load : last;
}

static bool has_along(enum plot_kind kind)
{
	return kind == PLOT_LATENCY_THROUGHPUT || kind == PLOT_THROUGHPUT_LOAD ||
	       kind == PLOT_COMPLETION;
}

/* Finds the key for every input, by its first run. */
static int find_all_along(struct maker *maker, const char *asked)
{
	bool found = asked == NULL;

	if (!has_along(maker->runs->kind))
		return found ? 0
			     : fault_set(maker->fault, EINVAL,
				       "--along %s: goes with latency-throughput, throughput-load "
				       "and completion",
				       asked);
	for (unsigned i = 0; i < maker->runs->runs; i++) {
		const struct plot_run *run = &maker->runs->run[i];

		maker->along[run->input] = find_along(run->vary, asked);
		found = found || maker->along[run->input] != NULL;
	}
	return found ? 0
		     : fault_set(maker->fault, EINVAL, "--along %s: no sweep here varies that key",
			       asked);
}

static bool is_along(const struct maker *maker, const struct plot_run *run, const char *key)
{
	const char *along = maker->along[run->input];

	return along != NULL && strcmp(along, key) == 0;
}

/* Whether two runs belong to one curve, or, with 'point', to one point of it. */
static bool belong_together(
	const struct maker *maker, const struct plot_run *a, const struct plot_run *b, bool point)
{
	const char *key;
	json_t *value;

	if (a->input != b->input)
		return false;
	json_object_foreach(a->vary, key, value)
	{
		if (!point && is_along(maker, a, key))
			continue;
		if (!json_equal(value, json_object_get(b->vary, key)))
			return false;
	}
	return true;
}

/* Whether the runs of this input have more than one value of the key. */
static bool differs(const struct maker *maker, const struct plot_run *run, const char *key)
{
	const json_t *value = json_object_get(run->vary, key);

	for (unsigned i = 0; i < maker->runs->runs; i++) {
		const struct plot_run *other = &maker->runs->run[i];

		if (other->input == run->input &&
			!json_equal(value, json_object_get(other->vary, key)))
			return true;
	}
	return false;
}

/* The last part of a key, or all of it if another key ends in the same. */
static const char *short_key(json_t *vary, const char *key)
{
	const char *other;
	json_t *value;

	json_object_foreach(vary, other, value)
	{
		if (strcmp(other, key) != 0 && strcmp(last_part(other), last_part(key)) == 0)
			return key;
	}
	return last_part(key);
}

static void append(char out[PLOT_LABEL_MAX], const char *text, const char *value)
{
	size_t length = strlen(out);

	snprintf(out + length, PLOT_LABEL_MAX - length, "%s%s%s%s", length > 0 ? ", " : "", text,
		value != NULL ? " " : "", value != NULL ? value : "");
}

/* Adds the text of a legend for the value of a key; the name of a case stands alone. */
static void append_value(
	const struct maker *maker, const struct plot_run *run, const char *key, char *out)
{
	const char *value = json_string_value(json_object_get(run->vary, key));
	const char *text = plot_label_find(maker->runs, key, value);

	if (text != NULL && text[0] == '\0')
		return;
	if (text != NULL || strcmp(key, "case") == 0)
		append(out, text != NULL ? text : value, NULL);
	else
		append(out, short_key(run->vary, key), value);
}

/* The label of a curve: its input, and the keys that differ. */
static void make_label(const struct maker *maker, const struct plot_run *run, char *out)
{
	const char *key;
	json_t *value;

	out[0] = '\0';
	if (maker->runs->inputs > 1)
		append(out, maker->runs->input[run->input], NULL);
	json_object_foreach(run->vary, key, value)
	{
		if (!is_along(maker, run, key) && differs(maker, run, key))
			append_value(maker, run, key, out);
	}
}

/* The mean over the runs that have the value; NAN if none has. */
static struct confidence mean_of(const struct plot_run *const *group, unsigned count,
	unsigned index, size_t offset, double *room)
{
	struct confidence mean;
	unsigned values = 0;

	for (unsigned i = 0; i < count; i++) {
		memcpy(&room[values], (const char *)&group[i]->value[index] + offset,
			sizeof(*room));
		values += !isnan(room[values]);
	}
	mean = confidence_of(room, values);
	if (values == 0)
		mean.mean = NAN;
	return mean;
}

/* Room for more points of a curve. */
static int make_room(struct maker *maker, struct plot_curve *curve, unsigned more)
{
	struct plot_point *room = realloc(curve->point, (curve->points + more + 1) * sizeof(*room));

	if (room == NULL)
		return refuse_memory(maker->fault);
	curve->point = room;
	return 0;
}

/* The number that the run has along its curve. */
static bool number_along(
	const struct maker *maker, const struct plot_run *run, struct sweep_number *number)
{
	const char *key = maker->along[run->input];
	const char *value = key != NULL ? json_string_value(json_object_get(run->vary, key)) : NULL;

	return value != NULL && sweep_number_parse(value, number);
}

/* The mean of one value of each run; with the whole point if 'index' is that of a run's only
 * one. */
static struct plot_point point_of(const struct maker *maker, const struct plot_run *const *group,
	unsigned count, unsigned index, double *room)
{
	struct plot_point point = {
		.x = mean_of(group, count, index, offsetof(struct plot_value, x), room),
		.y = mean_of(group, count, index, offsetof(struct plot_value, y), room),
		.y2 = mean_of(group, count, index, offsetof(struct plot_value, y2), room)};
	struct sweep_number number;

	for (unsigned i = 0; i < count; i++)
		point.hollow = point.hollow || group[i]->value[index].doubtful;
	if (number_along(maker, group[0], &number))
		point.along = number.value;
	return point;
}

/* Adds the points that runs with different seeds have in common to the curve. */
static int add_points(struct maker *maker, struct plot_curve *curve,
	const struct plot_run *const *group, unsigned count)
{
	unsigned values = group[0]->values;
	double *room = calloc(count, sizeof(*room));
	struct sweep_number number;

	for (unsigned i = 1; i < count; i++)
		values = group[i]->values < values ? group[i]->values : values;
	if (room == NULL || make_room(maker, curve, values) < 0) {
		free(room);
		return refuse_memory(maker->fault);
	}
	for (unsigned i = 0; i < values; i++)
		curve->point[curve->points++] = point_of(maker, group, count, i, room);
	if (maker->runs->kind == PLOT_COMPLETION)
		curve->point[curve->points - 1].x.mean = plot_ticks_place(
			maker->curves, maker->runs, group[0], maker->along[group[0]->input]);
	free(room);
	if (maker->along[group[0]->input] != NULL && !number_along(maker, group[0], &number))
		curve->apart = true;
	maker->curves->intervals = maker->curves->intervals || count > 1;
	return 0;
}

static int by_x(const void *a, const void *b)
{
	const struct plot_point *one = a, *two = b;

	return (one->x.mean > two->x.mean) - (one->x.mean < two->x.mean);
}

/* The share of the values at or below the end of each step, of all seeds together: steps of one
 * seed are between those of another, so their shares have no mean. */
static void accumulate(struct plot_curve *curve)
{
	double all = 0, sum = 0;
	unsigned points = 0;

	qsort(curve->point, curve->points, sizeof(*curve->point), by_x);
	for (unsigned i = 0; i < curve->points; i++)
		all += curve->point[i].y.mean;
	for (unsigned i = 0; i < curve->points; i++) {
		struct plot_point *before = points > 0 ? &curve->point[points - 1] : NULL;

		sum += curve->point[i].y.mean;
		if (before == NULL || before->x.mean != curve->point[i].x.mean)
			before = &curve->point[points++];
		*before = curve->point[i];
		before->y.mean = sum / all;
	}
	curve->points = points;
}

/* Adds the steps of all these runs. */
static int add_steps(struct maker *maker, struct plot_curve *curve,
	const struct plot_run *const *group, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (make_room(maker, curve, group[i]->values) < 0)
			return refuse_memory(maker->fault);
		for (unsigned j = 0; j < group[i]->values; j++)
			curve->point[curve->points++] = (struct plot_point){
				.x = {1, group[i]->value[j].x, NAN},
				.y = {1, group[i]->value[j].y, NAN},
				.y2 = {0, NAN, NAN},
			};
	}
	accumulate(curve);
	return 0;
}

static int by_along(const void *a, const void *b)
{
	const struct plot_point *one = a, *two = b;

	return (one->along > two->along) - (one->along < two->along);
}

static struct plot_curve *add_curve(struct maker *maker)
{
	struct plot_curves *curves = maker->curves;
	struct plot_curve *more;

	if (curves->curves == PLOT_CURVES_MAX) {
		fault_set(maker->fault, EINVAL,
			"more than %u curves: choose some with --where KEY=VALUE", PLOT_CURVES_MAX);
		errno = EINVAL;
		return NULL;
	}
	more = realloc(curves->curve, (curves->curves + 1) * sizeof(*more));
	if (more == NULL) {
		errno = -refuse_memory(maker->fault);
		return NULL;
	}
	curves->curve = more;
	more = &curves->curve[curves->curves++];
	memset(more, 0, sizeof(*more));
	return more;
}

/* All runs from 'first' on that belong to it and are not taken; marks them as taken. */
static unsigned gather(const struct maker *maker, unsigned first, bool point, bool *taken,
	const struct plot_run **group)
{
	const struct plot_run *run = maker->runs->run;
	unsigned count = 0;

	for (unsigned i = first; i < maker->runs->runs; i++) {
		if (taken[i] || !belong_together(maker, &run[first], &run[i], point))
			continue;
		taken[i] = true;
		group[count++] = &run[i];
	}
	return count;
}

/* The curve of the run 'first' and all that belong to it, point by point. */
static int make_curve(
	struct maker *maker, unsigned first, bool *taken, const struct plot_run **group)
{
	const struct plot_runs *runs = maker->runs;
	struct plot_curve *curve = add_curve(maker);
	int result = curve == NULL ? -errno : 0;
	unsigned count;

	if (curve != NULL)
		make_label(maker, &runs->run[first], curve->label);
	for (unsigned i = first; i < runs->runs && result == 0; i++) {
		if (taken[i] || !belong_together(maker, &runs->run[first], &runs->run[i], false))
			continue;
		count = gather(maker, i, true, taken, group);
		result = runs->kind == PLOT_LATENCY_CDF ? add_steps(maker, curve, group, count)
							: add_points(maker, curve, group, count);
	}
	/* Independent of the order of the values of --vary. */
	if (result == 0 && maker->along[runs->run[first].input] != NULL && !curve->apart)
		qsort(curve->point, curve->points, sizeof(*curve->point), by_along);
	return result;
}

/* 'blocked' is a share of time on the virtual clock, and stalls per second on the real one. */
static int describe_runs(struct maker *maker)
{
	const struct plot_runs *runs = maker->runs;
	struct plot_curves *curves = maker->curves;

	curves->real_clock = runs->run[0].real_clock;
	strcpy(curves->topology, runs->run[0].topology);
	for (unsigned i = 1; i < runs->runs; i++) {
		if (strcmp(runs->run[i].topology, curves->topology) != 0)
			curves->topology[0] = '\0';
		if (runs->kind == PLOT_BLOCKED_TIME &&
			runs->run[i].real_clock != curves->real_clock)
			return fault_set(maker->fault, EINVAL,
				"results of the real and of the virtual clock: what they say about "
				"blocked links cannot be compared");
	}
	return 0;
}

/* Points of several curves at one word stand side by side. */
static void spread_words(struct plot_curves *curves)
{
	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++)
			curves->curve[i].point[j].x.mean +=
				(i - (curves->curves - 1) / 2.0) * 0.5 / curves->curves;
}

int plot_curves_make(struct plot_curves *curves, const struct plot_runs *runs, const char *along,
	struct fault *fault)
{
	struct maker maker = {.curves = curves, .runs = runs, .fault = fault};
	const struct plot_run **group = calloc(runs->runs + 1, sizeof(*group));
	bool *taken = calloc(runs->runs + 1, sizeof(*taken));
	int result = 0;

	maker.along = calloc(runs->inputs + 1, sizeof(*maker.along));
	*curves = (struct plot_curves){.kind = runs->kind,
		.flits = runs->flits,
		.released = runs->released,
		.latency = runs->latency};
	if (group == NULL || taken == NULL || maker.along == NULL)
		result = refuse_memory(fault);
	if (result == 0)
		result = describe_runs(&maker);
	if (result == 0)
		result = find_all_along(&maker, along);
	if (result == 0 && runs->kind == PLOT_COMPLETION)
		result = plot_ticks_make(curves, runs, maker.along, fault);
	for (unsigned i = 0; i < runs->runs && result == 0; i++)
		if (!taken[i])
			result = make_curve(&maker, i, taken, group);
	if (result == 0 && curves->words)
		spread_words(curves);
	free(group);
	free(taken);
	free(maker.along);
	return result;
}

void plot_curves_fini(struct plot_curves *curves)
{
	for (unsigned i = 0; i < curves->curves; i++)
		free(curves->curve[i].point);
	free(curves->curve);
	free(curves->tick);
}
