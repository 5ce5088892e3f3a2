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

#include "reproduce_curves.h"
#include "reproduce_figure.h"

static enum figure_kind kind_of(enum experiment_measure measure)
{
	switch (measure) {
	case EXPERIMENT_EFFICIENCY:
		return FIGURE_EFFICIENCY_TIME;
	case EXPERIMENT_THROUGHPUT:
		return FIGURE_THROUGHPUT_LOAD;
	case EXPERIMENT_LATENCY_TIME:
		return FIGURE_LATENCY_TIME;
	case EXPERIMENT_LINKS:
		return FIGURE_LINK_LOAD;
	case EXPERIMENT_BLOCKED:
		return FIGURE_BLOCKED_TIME;
	default:
		return FIGURE_LATENCY_THROUGHPUT;
	}
}

static bool has_bars(const struct experiment *experiment)
{
	return (experiment_measures_run(experiment->measure) &&
		       experiment->measure != EXPERIMENT_LATENCY_TIME) ||
	       experiment->measure == EXPERIMENT_WAITING;
}

/* The rate of a host's link in bits/us, where the definition wants such an axis. */
static double rate_of(const struct experiment *experiment, const struct trial *trial)
{
	return experiment->axis == EXPERIMENT_AXIS_BITS ? trial[0].bytes_per_s * 8 / 1e6 : 0;
}

static int add_curve(struct figure *curves, const struct reproduce_bundle *bundle)
{
	struct figure_curve *curve = &curves->curve[curves->curves];
	int result = reproduce_curve(curve, curves->kind, bundle);

	if (result < 0 || curve->points == 0)
		return result;
	reproduce_label(bundle, bundle->count, curve->label);
	curves->intervals = curves->intervals || bundle->count > 1;
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

/* Of a picture: what its name says. */
struct picture {
	const struct experiment *experiment;
	unsigned network;
	const char *case_name;
	const char *part; /* "links", or "" */
	const char *folder;
	FILE *out;
};

/* NAME-NETWORK-CASE-PART.png, if there are curves; frees them. */
static int draw_into(struct figure *curves, const struct picture *picture, struct fault *fault)
{
	const char *network = picture->experiment->networks.at[picture->network].name;
	const char *case_name = picture->case_name, *part = picture->part;
	char name[EXPERIMENT_TEXT], path[PATH_MAX];
	int result = 0;

	snprintf(curves->network, sizeof(curves->network), "%.31s%s%.30s", network,
		case_name[0] != '\0' ? ", " : "", case_name);
	snprintf(name, sizeof(name), "%s-%s%s%s%s%s", picture->experiment->name, network,
		case_name[0] != '\0' ? "-" : "", case_name, part[0] != '\0' ? "-" : "", part);
	plain(name);
	snprintf(path, sizeof(path), "%s/%s.png", picture->folder, name);
	if (curves->curves > 0)
		result = figure_draw(curves, path, fault);
	if (result == 0 && curves->curves > 0)
		fprintf(picture->out, "%s\n", path);
	figure_fini(curves);
	return result;
}

/* Draws them, or says that there was no memory to make them. */
static int end_curves(
	struct figure *curves, int result, const struct picture *picture, struct fault *fault)
{
	if (result == 0)
		return draw_into(curves, picture, fault);
	figure_fini(curves);
	return fault_set(fault, -result, "%s: %s", picture->experiment->name, strerror(-result));
}

static int draw_curves(const struct picture *picture, const struct trial *trial, unsigned trials,
	unsigned case_at, enum figure_kind kind, struct fault *fault)
{
	const struct experiment *experiment = picture->experiment;
	struct figure curves = {.kind = kind,
		.normalised = true,
		.bits_per_us = rate_of(experiment, trial),
		.curve = calloc(experiment->algorithms.count, sizeof(*curves.curve))};
	int result = curves.curve == NULL ? -ENOMEM : 0;
	struct reproduce_bundle bundle;

	for (unsigned i = 0; i < experiment->algorithms.count && result == 0; i++) {
		reproduce_bundle_find(&bundle, trial, trials, picture->network, case_at, i);
		if (bundle.count > 0)
			result = add_curve(&curves, &bundle);
	}
	return end_curves(&curves, result, picture, fault);
}

static int draw_links(const struct picture *picture, const struct trial *trial, unsigned trials,
	unsigned case_at, struct fault *fault)
{
	struct reproduce_names names;
	struct figure curves = {.kind = FIGURE_BARS, .quantity = "Utilisation of links [%]"};
	int result = reproduce_link_bars(&curves, &names, trial, trials, picture->network, case_at);

	return end_curves(&curves, result, picture, fault);
}

static int draw_map(const struct picture *picture, const struct trial *trial, unsigned trials,
	unsigned case_at, struct fault *fault)
{
	struct figure curves = {
		.kind = FIGURE_MAPS, .quantity = "Mean waiting time of each switch [µs]"};
	int result = reproduce_map(&curves, trial, trials, picture->network, case_at);

	return end_curves(&curves, result, picture, fault);
}

/* The pictures of one case. */
static int draw_case(struct picture *picture, const struct trial *trial, unsigned trials,
	unsigned case_at, struct fault *fault)
{
	const struct experiment *experiment = picture->experiment;
	int result = 0;

	picture->case_name = experiment->cases.at[case_at].name;
	picture->part = "";
	if (!has_bars(experiment))
		result = draw_curves(
			picture, trial, trials, case_at, kind_of(experiment->measure), fault);
	if (result == 0 && experiment->latency) {
		picture->part = "latency";
		result = draw_curves(picture, trial, trials, case_at, FIGURE_LATENCY_LOAD, fault);
	}
	if (result == 0 && experiment->measure == EXPERIMENT_WORST_LINK) {
		picture->part = "links";
		result = draw_links(picture, trial, trials, case_at, fault);
	}
	if (result == 0 && experiment->measure == EXPERIMENT_WORST_SWITCH) {
		picture->part = "map";
		result = draw_map(picture, trial, trials, case_at, fault);
	}
	return result;
}

static int draw_bars(
	struct picture *picture, const struct trial *trial, unsigned trials, struct fault *fault)
{
	const struct experiment *experiment = picture->experiment;
	const char *group[EXPERIMENT_LIST_MAX];
	struct figure curves = {.kind = FIGURE_BARS,
		.group = group,
		.groups = experiment->cases.count,
		.quantity = experiment_measure_title(experiment->measure),
		.curve = calloc(experiment->algorithms.count, sizeof(*curves.curve))};
	int result = curves.curve == NULL ? -ENOMEM : 0;

	for (unsigned i = 0; i < experiment->cases.count; i++)
		group[i] = experiment->cases.at[i].name;
	for (unsigned i = 0; i < experiment->algorithms.count && result == 0; i++)
		result = reproduce_bars(&curves, trial, trials, picture->network, i);
	picture->case_name = "";
	picture->part = "";
	return end_curves(&curves, result, picture, fault);
}

bool reproduce_plot_wanted(const struct experiment *experiment)
{
	return experiment->curves || experiment->measure == EXPERIMENT_EFFICIENCY ||
	       experiment->measure == EXPERIMENT_THROUGHPUT ||
	       experiment_measures_links(experiment->measure) ||
	       experiment_measures_run(experiment->measure) || has_bars(experiment);
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
	struct picture picture = {.experiment = experiment, .folder = folder, .out = out};
	unsigned cases = experiment->cases.count;
	int result = 0;

	for (unsigned network = 0; network < experiment->networks.count && result == 0; network++) {
		picture.network = network;
		if (has_bars(experiment))
			result = draw_bars(&picture, trial, trials, fault);
		for (unsigned c = 0; c < cases && result == 0; c++)
			result = draw_case(&picture, trial, trials, c, fault);
	}
	return result;
}
