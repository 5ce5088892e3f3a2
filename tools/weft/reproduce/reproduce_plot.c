/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reproduce_plot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot_script.h"
#include "saturation_limit.h"

static struct confidence single(double value)
{
	return (struct confidence){.count = 1, .mean = value, .half_width = NAN};
}

static int by_load(const void *a, const void *b)
{
	const struct trial_point *one = a, *two = b;

	return (one->load > two->load) - (one->load < two->load);
}

static void add_point(struct plot_curve *curve, double x, double y, double y2)
{
	curve->point[curve->points++] =
		(struct plot_point){.x = single(x), .y = single(y), .y2 = single(y2)};
}

/* The same with the mark that the result deserves. */
static void add_measured(
	struct plot_curve *curve, double x, double y, double y2, const struct trial_point *measured)
{
	add_point(curve, x, y, y2);
	curve->point[curve->points - 1].saturated =
		measured->accepted < SATURATION_ACCEPTED * measured->offered;
}

/* Samples over time. */
static int add_transient(struct plot_curve *curve, const struct trial *trial)
{
	const struct transient *transient = &trial->transient;

	curve->point = calloc(transient->samples, sizeof(*curve->point));
	for (unsigned i = 0; i < transient->samples && curve->point != NULL; i++)
		add_point(curve, transient->sample[i].t_ns, transient->sample[i].accepted, 0);
	return curve->point == NULL ? -ENOMEM : 0;
}

static int add_loads(struct plot_curve *curve, const struct trial *trial)
{
	curve->point = calloc(trial->points, sizeof(*curve->point));
	for (unsigned i = 0; i < trial->points && curve->point != NULL; i++)
		add_measured(
			curve, trial->point[i].load, trial->point[i].accepted, 0, &trial->point[i]);
	return curve->point == NULL ? -ENOMEM : 0;
}

static int add_latencies(struct plot_curve *curve, const struct trial *trial)
{
	struct trial_point *sorted = calloc(trial->points, sizeof(*sorted));

	curve->point = calloc(trial->points, sizeof(*curve->point));
	if (sorted == NULL || curve->point == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, trial->point, trial->points * sizeof(*sorted));
	qsort(sorted, trial->points, sizeof(*sorted), by_load);
	for (unsigned i = 0; i < trial->points; i++)
		if (sorted[i].traffic > 0)
			add_measured(curve, sorted[i].traffic, sorted[i].total_ns,
				sorted[i].network_ns, &sorted[i]);
	free(sorted);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct plot_point *one = a, *two = b;

	return (one->y.mean < two->y.mean) - (one->y.mean > two->y.mean);
}

/* The links between switches by their use, the greatest first, as the thesis has them. */
static int add_links(struct plot_curve *curve, const struct trial *trial)
{
	const json_t *link;
	size_t i;

	curve->point = calloc(json_array_size(trial->links) + 1, sizeof(*curve->point));
	if (curve->point == NULL)
		return -ENOMEM;
	json_array_foreach(trial->links, i, link)
	{
		if (trial_link_counts(link))
			add_point(curve, 0, trial_link_value(trial, link), 0);
	}
	qsort(curve->point, curve->points, sizeof(*curve->point), by_use);
	for (unsigned rank = 0; rank < curve->points; rank++)
		curve->point[rank].x = single(rank + 1);
	return 0;
}

static enum plot_kind kind_of(enum experiment_measure measure)
{
	switch (measure) {
	case EXPERIMENT_EFFICIENCY:
		return PLOT_EFFICIENCY_TIME;
	case EXPERIMENT_THROUGHPUT:
		return PLOT_THROUGHPUT_LOAD;
	case EXPERIMENT_LINKS:
		return PLOT_LINK_LOAD;
	case EXPERIMENT_BLOCKED:
		return PLOT_BLOCKED_TIME;
	default:
		return PLOT_LATENCY_THROUGHPUT;
	}
}

static int add_curve(struct plot_curves *curves, const struct trial *trial)
{
	struct plot_curve *curve = &curves->curve[curves->curves];
	int result;

	if (curves->kind == PLOT_EFFICIENCY_TIME)
		result = add_transient(curve, trial);
	else if (curves->kind == PLOT_THROUGHPUT_LOAD)
		result = add_loads(curve, trial);
	else if (experiment_measures_links(trial->experiment->measure))
		result = add_links(curve, trial);
	else
		result = add_latencies(curve, trial);
	if (result < 0)
		return result;
	snprintf(curve->label, sizeof(curve->label), "%s",
		trial->experiment->algorithms.at[trial->algorithm].name);
	curves->curves++;
	return 0;
}

/* Letters, digits and '-'. */
static void plain(char *text)
{
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && *text != '.' && *text != '/')
			*text = '-';
}

/* NAME-NETWORK-CASE.png, if there are curves; frees them. */
static int draw_into(struct plot_curves *curves, const struct experiment *experiment,
	const char *network, const char *case_name, const char *folder, FILE *out,
	struct fault *fault)
{
	char name[EXPERIMENT_TEXT], path[PATH_MAX];
	int result = 0;

	snprintf(curves->topology, sizeof(curves->topology), "%.31s%s%.30s", network,
		case_name[0] != '\0' ? ", " : "", case_name);
	snprintf(name, sizeof(name), "%s-%s%s%s", experiment->name, network,
		case_name[0] != '\0' ? "-" : "", case_name);
	plain(name);
	snprintf(path, sizeof(path), "%s/%s.png", folder, name);
	if (curves->curves > 0)
		result = plot_draw(curves, path, fault);
	if (result == 0 && curves->curves > 0)
		fprintf(out, "%s\n", path);
	plot_curves_fini(curves);
	return result;
}

static int draw(const struct experiment *experiment, const struct trial *trial, unsigned trials,
	unsigned network, unsigned case_at, const char *folder, FILE *out, struct fault *fault)
{
	struct plot_curves curves = {.kind = kind_of(experiment->measure),
		.flits = true,
		.normalised = true,
		.curve = calloc(experiment->algorithms.count, sizeof(*curves.curve))};
	int result = curves.curve == NULL ? -ENOMEM : 0;

	for (unsigned i = 0; i < trials && result == 0; i++)
		if (trial[i].network == network && trial[i].case_at == case_at &&
			trial[i].copy == 0 && trial[i].points > 0)
			result = add_curve(&curves, &trial[i]);
	if (result == 0)
		return draw_into(&curves, experiment, experiment->networks.at[network].name,
			experiment->cases.at[case_at].name, folder, out, fault);
	plot_curves_fini(&curves);
	return fault_set(fault, ENOMEM, "no memory");
}

/* The value of an algorithm in each case of a network. */
static int add_bars(struct plot_curves *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned algorithm)
{
	struct plot_curve *curve = &curves->curve[curves->curves];

	curve->point = calloc(curves->groups, sizeof(*curve->point));
	if (curve->point == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < trials; i++)
		if (trial[i].network == network && trial[i].algorithm == algorithm &&
			trial[i].copy == 0 && trial[i].points > 0)
			add_point(curve, trial[i].case_at, trial[i].value, 0);
	if (curve->points == 0) {
		free(curve->point);
		curve->point = NULL;
		return 0;
	}
	snprintf(curve->label, sizeof(curve->label), "%s",
		trial->experiment->algorithms.at[algorithm].name);
	curves->curves++;
	return 0;
}

static int draw_bars(const struct experiment *experiment, const struct trial *trial,
	unsigned trials, unsigned network, const char *folder, FILE *out, struct fault *fault)
{
	const char *group[EXPERIMENT_LIST_MAX];
	struct plot_curves curves = {.kind = PLOT_BARS,
		.group = group,
		.groups = experiment->cases.count,
		.quantity = experiment_measure_title(experiment->measure),
		.curve = calloc(experiment->algorithms.count, sizeof(*curves.curve))};
	int result = curves.curve == NULL ? -ENOMEM : 0;

	for (unsigned i = 0; i < experiment->cases.count; i++)
		group[i] = experiment->cases.at[i].name;
	for (unsigned i = 0; i < experiment->algorithms.count && result == 0; i++)
		result = add_bars(&curves, trial, trials, network, i);
	if (result == 0)
		return draw_into(&curves, experiment, experiment->networks.at[network].name, "",
			folder, out, fault);
	plot_curves_fini(&curves);
	return fault_set(fault, ENOMEM, "no memory");
}

static bool has_bars(const struct experiment *experiment)
{
	return experiment_measures_run(experiment->measure) ||
	       experiment->measure == EXPERIMENT_WAITING;
}

bool reproduce_plot_wanted(const struct experiment *experiment)
{
	return experiment->curves || experiment->measure == EXPERIMENT_EFFICIENCY ||
	       experiment->measure == EXPERIMENT_THROUGHPUT ||
	       experiment_measures_links(experiment->measure) || has_bars(experiment);
}

int reproduce_plot_folder(const char *folder, struct fault *fault)
{
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return fault_set(fault, errno, "-o %s: %s", folder, strerror(errno));
	if (access(folder, W_OK | X_OK) < 0)
		return fault_set(fault, errno, "-o %s: %s", folder, strerror(errno));
	return 0;
}

int reproduce_plot(const struct experiment *experiment, const struct trial *trial, unsigned trials,
	const char *folder, FILE *out, struct fault *fault)
{
	int result = 0;

	for (unsigned network = 0; network < experiment->networks.count && result == 0; network++)
		if (has_bars(experiment))
			result = draw_bars(experiment, trial, trials, network, folder, out, fault);
		else
			for (unsigned c = 0; c < experiment->cases.count && result == 0; c++)
				result = draw(
					experiment, trial, trials, network, c, folder, out, fault);
	return result;
}
