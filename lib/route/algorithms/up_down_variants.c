/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "up_down.h"

/*
 * The thesis' RSUD, RRSUD and DET: the interface has several shortest legal up*\/down* routes to
 * each destination, as many as fit, and chooses when it sends. They differ only in the selector
 * (route_algorithm.selector). No tables: a table has one path.
 */

const struct route_algorithm route_ud_random = {
	.name = "ud-random",
	.summary = "up*/down* with all shortest legal paths, one at random for each message",
	.deadlock_free = true,
	.alternatives = ROUTE_ALTERNATIVES_MAX,
	.selector = "random",
	.label = up_down_label,
	.routes = up_down_routes,
};

const struct route_algorithm route_ud_rr = {
	.name = "ud-rr",
	.summary = "up*/down* with all shortest legal paths, taken in turn",
	.deadlock_free = true,
	.alternatives = ROUTE_ALTERNATIVES_MAX,
	.selector = "round-robin",
	.label = up_down_label,
	.routes = up_down_routes,
};

const struct route_algorithm route_ud_det = {
	.name = "ud-det",
	.summary = "up*/down* with all shortest legal paths, chosen by contention coefficient",
	.deadlock_free = true,
	.alternatives = ROUTE_ALTERNATIVES_MAX,
	.selector = "contention",
	.label = up_down_label,
	.routes = up_down_routes,
};
