/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Which switch a tree is rooted at. The root matters more than anything else that the thesis leaves
 * open, so it is chosen openly and stored with the routes. The default everywhere is the first
 * switch of the topology; these are the other choices.
 */

#include "route_algorithm.h"

enum route_root_choice {
	/* The one whose labels give the shortest legal ways, summed over all pairs of hosts; the
	 * first of equal ones. Tries every switch: switches^2 x links steps. */
	ROUTE_ROOT_BEST,
	/* The least distance to the farthest switch, then the least sum of distances; the first of
	 * equal ones. */
	ROUTE_ROOT_CENTRE,
	ROUTE_ROOT_RANDOM, /* drawn by the seed */
};

/* 0 with the switch in '*root'; what reaches fewer switches than others is not chosen except by
 * RANDOM. -ENOMEM; -EINVAL if the topology has no switch. 'algorithm' has labels. */
int route_root_choose(const struct topology *topology, const struct route_algorithm *algorithm,
	enum route_root_choice choice, uint64_t seed, uint32_t *root, struct fault *fault);
