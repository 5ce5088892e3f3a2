/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links between the groups of a Dragonfly or Dragonfly+. Every pair of groups has 'parallel'
 * links, usually one; then up to ports + 1 groups are possible, the default.
 *
 * A group's links are numbered k = 0, 1, .., in rounds of one link to every other group. The wiring
 * decides which group link k of a round leads to (Hastings et al., "Comparing Global Link
 * Arrangements for Dragonfly Networks", CLUSTER 2015; the palm tree is by Camarero, Vallejo,
 * Beivide, ACM TACO 2014):
 *
 *     palmtree   k + 1 groups further on, modulo g; from the far end it is link g - 2 - k
 *     absolute   group k, or k + 1 from the group's own number on
 *     circulant  even k: k / 2 + 1 groups further on, odd k: as many back. So the links of a pair
 *                of ports lead to both sides, and both ends of a link have nearly equal numbers
 *
 * In a group with fewer links than ports, link k has port number k * ports / links, so that all
 * switches have equally many, or one more. */

#include "topo/generator.h"

/* The last options of a kind: enum GROUPS, PARALLEL, WIRING. */
#define GROUP_WIRING_OPTIONS                                                              \
	{"g", GENERATOR_NUMBER, false, 0, UINT16_MAX, 0,                                  \
		"groups; as many as possible by default"},                                \
		{"parallel", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,           \
			"links per pair of groups; 1 by default"},                        \
	{                                                                                 \
		"wiring", GENERATOR_WORD, false, 0, 0, 0,                                 \
			"palmtree (default), absolute or circulant links between groups", \
			group_wirings                                                     \
	}

extern const char *const group_wirings[];

struct group_wiring {
	/* Set by the kind: a group has 'switches', of which those from 'first_switch' on have
	 * 'each' global ports from 'first_port' on. */
	uint32_t switches, first_switch, each;
	unsigned first_port;
	/* Set by group_wiring_init(). */
	uint32_t groups;
	uint32_t ports; /* from a group to other groups */
	uint32_t links; /* those in use */
	unsigned wiring;
};

/* Groups and links as requested by three values, if a group has ports for them. */
int group_wiring_init(struct group_wiring *wiring, const struct generator_request *request,
	const struct generator_value *values);

/* Adds all links between groups. */
int group_wiring_link(const struct group_wiring *wiring, const struct generator_request *request,
	struct topology *topology);
