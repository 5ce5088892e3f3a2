/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* CPLANT, the Myrinet cluster of Sandia National Laboratories, as in the thesis (section 4.4,
 * figure 61.c; Riesen et al., "CPLANT", Extreme Linux 1999): 50 switches of 16 ports with 8 hosts
 * each. There are six groups of 8 switches and a seventh group of 2. A switch has 4 ports for its
 * own group and 4 for its counterparts in other groups. The groups form an incomplete hypercube
 * with additional links between opposite corners.
 *
 * The thesis does not print a list of cables. This generator builds the only machine that follows
 * one rule: take 64 switches (8 groups of 8), with a three-dimensional cube and links between
 * opposite corners inside each group and likewise between counterparts, and keep the first 50.
 * Switch = 8 * group + member. Ports 0, 1, 2 lead to the member that differs in that binary digit,
 * and port 3 to the member that differs in all three. Ports 4 to 7 do the same for the group. Hosts
 * are on ports 8 to 15. A port whose far end would be switch 50 or above is free.
 *
 * A switch of the six groups therefore has 4 links in its group and 3 to the other five, and six of
 * these switches have a fourth to the seventh group. The thesis cannot mean 4 links to counterparts
 * for every switch: with 8 hosts and 4 links inside the group all 16 ports would be in use, with
 * none left for the seventh group. All shortest up*\/down* routes from the first switch are minimal
 * here, as the thesis measured (section 5.3). */

#include "topo/generator.h"

#define SWITCHES        50
#define HOSTS_A_SWITCH  8
#define MEMBER_BITS     3 /* 8 switches per group */
#define PORTS_A_LEVEL   4 /* three dimensions and the opposite corner */
#define FIRST_HOST_PORT (2 * PORTS_A_LEVEL)
#define OPPOSITE_CORNER 7

/* By port: the digits of a three-digit binary number that change. */
static const uint32_t steps[PORTS_A_LEVEL] = {1, 2, 4, OPPOSITE_CORNER};

static int link_up(const struct generator_request *request, struct topology *topology, uint32_t at)
{
	int result = 0;

	for (unsigned port = 0; port < 2 * PORTS_A_LEVEL && result == 0; port++) {
		unsigned shift = port < PORTS_A_LEVEL ? 0 : MEMBER_BITS;
		uint32_t to = at ^ steps[port % PORTS_A_LEVEL] << shift;

		if (at < to && to < SWITCHES)
			result = generator_link_switches(request, topology, at, port, to, port);
	}
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	int result = generator_create(request, SWITCHES, SWITCHES * HOSTS_A_SWITCH,
		FIRST_HOST_PORT + HOSTS_A_SWITCH, topology);

	if (result == 0)
		result = generator_link_hosts(request, *topology, HOSTS_A_SWITCH, FIRST_HOST_PORT);
	for (uint32_t at = 0; at < SWITCHES && result == 0; at++)
		result = link_up(request, *topology, at);
	return result;
}

const struct generator generator_cplant = {
	.name = "cplant",
	.help = "Sandia's CPLANT: 50 switches of 16 ports in seven groups, 400 hosts",
	.options = {{NULL}},
	.build = build,
};
