/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The figures of an experiment on the axes of the original: latency against accepted traffic in
 * flits/ns/switch, efficiency against time, normalised throughput and latency against load,
 * latency against time, utilisation of links by rank. One picture for each network and case. Values
 * of runs and waiting messages are bars, all cases of a network in one picture; those of the worst
 * link and switch have a picture of each case, too: bars of the most used links, and maps. */

#include "reproduce_figure.h"
#include "trial.h"

/* Whether there is anything to draw. */
bool reproduce_plot_wanted(const struct experiment *experiment);

/* Makes the folder if it does not exist. -errno and fault: no picture can be written into it;
 * the check comes before hours of runs. */
int reproduce_plot_folder(const char *folder, struct fault *fault);

/* Draws NAME-NETWORK-CASE.png (NAME-NETWORK-CASE-PART.png) into the folder and names them on 'out'.
 */
int reproduce_plot(const struct experiment *experiment, const struct trial *trial, unsigned trials,
	const char *folder, FILE *out, struct fault *fault);

/* Pictures of one case: the most used links as bars, and maps of a two-dimensional network. */

#define REPRODUCE_LINKS 10u /* bars of links */

struct reproduce_names {
	char text[REPRODUCE_LINKS][FIGURE_LABEL_MAX];
	const char *group[REPRODUCE_LINKS];
};

/* The use of the links that are used most under the first algorithm, with every algorithm; 'names'
 * must last as long as the curves. -ENOMEM. */
int reproduce_link_bars(struct figure *curves, struct reproduce_names *names,
	const struct trial *trial, unsigned trials, unsigned network, unsigned case_at);

/* The mean waiting time of each switch at its place in the mesh or torus, in us: a curve for each
 * algorithm. None if the network has not two dimensions. 0 or -errno. */
int reproduce_map(struct figure *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned case_at);
