/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The common part of labelling algorithms: once the arcs are labelled, the routes of a pair are
 * drawn from its shortest legal ones (legal_search.h).
 */

#include "route_algorithm.h"

/* Adds the routes of all pairs of hosts to 'set': options->alternatives different shortest legal
 * ones, drawn at random by options->seed (fewer or none if there are not as many). options->jobs
 * threads; the result does not depend on their number. -ENOMEM; -EINVAL if a route does not fit
 * into a frame, naming the pair. */
int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct fault *fault);

/* The same for the labels that 'label' makes from options->root. */
int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct fault *fault);

/* Routes pair by pair (route_algorithm.pairs) with the labels from 'label' (NULL: no labels). Only
 * for sets with routes on demand. Not complete in large networks, where the searches to all
 * switches would need too much memory. */
int legal_routes_pairs(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_maker **maker, struct fault *fault);
