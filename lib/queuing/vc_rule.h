/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Dateline virtual channels (Dally and Seitz, 1987): how a switch chooses a packet's VC class if
 * the routing algorithm uses classes. The ports of a switch belong to rings (in a torus, one ring
 * per dimension passes through each switch). A packet starts each ring in class 0 and continues in
 * the next class once it crosses the ring's dateline, so no chain of dependencies closes around the
 * ring. The rule is local: it needs only the two ports and the class in which the packet arrived.
 *
 * Multi-step paths (msp.c) are up to three such paths in sequence. Each step has its own classes,
 * above the previous step's, so classes never decrease along a path. A packet enters the next
 * step's first class where its route contains 'next step'. Layouts:
 *
 *     VC_STEPS_LINKS  the first and the last step are single links and have one class each; the
 *                     middle step has the rest. A path without such a first step starts in the
 *                     middle step: the source host's switch sees whether 'next step' follows the
 *                     first hop.
 *     VC_STEPS_EQUAL  steps of any length with the same number of classes each; every path starts
 *                     in the first step.
 *     VC_STEPS_HALVES the same with two steps (dor_random.c).
 *     VC_STEPS_UGAL   the same; a minimal path starts in the second step (ugal.c).
 *     VC_STEPS_LAYERS no steps: a packet keeps the class that its route contains (layered.c), which
 *                     is the turn of its first hop.
 *
 * The layouts of a Dragonfly and of a HyperX are ladders of VCs (vc_ladder.h), without datelines.
 *
 * A rule is part of a route set or of tables. The verifier and the switches both apply it. */

#include <stdbool.h>
#include <stdint.h>

#include "topo/topology.h"
#include "wire/frame.h"

#define VC_RULE_CLASSES_MAX 8 /* layers of dfsssp and lash, hops of omni-war */
#define VC_RULE_NO_RING     0xFF
#define VC_RULE_PORTS       64 /* maximum per switch */

enum vc_steps {
	VC_STEPS_NONE, /* 'next step' does not change the class */
	VC_STEPS_LINKS,
	VC_STEPS_EQUAL,
	VC_STEPS_DF_MIN,
	VC_STEPS_DF_VALIANT,
	VC_STEPS_DF_NODE,
	VC_STEPS_DF_UGAL_L,
	VC_STEPS_DF_PAR,
	VC_STEPS_DF_UGAL_G,
	VC_STEPS_DF_UGAL_NODE,
	VC_STEPS_HALVES,
	VC_STEPS_LAYERS,
	VC_STEPS_OMNI_WAR,
	VC_STEPS_DAL,
	VC_STEPS_UGAL,
	VC_STEPS_COUNT
};

/* A step in a route as a switch sees it, or a layer. */
enum vc_turn {
	VC_GO_ON,
	VC_STEP_AHEAD, /* 'next step' follows the hop */
	VC_NEXT_STEP,  /* 'next step' precedes the hop */
	VC_TURNS
};

/* Returns the turn of an element that precedes a port; VC_GO_ON for other elements. */
static inline enum vc_turn vc_turn_of(uint8_t element)
{
	if (element == ROUTE_TYPE_STEP)
		return VC_NEXT_STEP;
	return route_is_layer(element) ? (enum vc_turn)(element & ROUTE_LAYER_MASK) : VC_GO_ON;
}

struct vc_rule {
	uint32_t switches;
	uint8_t classes;
	uint8_t steps;      /* enum vc_steps */
	uint8_t *ring;      /* [switch * VC_RULE_PORTS + port]; VC_RULE_NO_RING: in none */
	uint64_t *dateline; /* [switch]: set of output ports whose link crosses a dateline */
};

/* Returns a rule without steps or rings, which keeps packets in class 0; NULL if out of memory. */
struct vc_rule *vc_rule_create(uint32_t switches, uint8_t classes);
void vc_rule_destroy(struct vc_rule *rule);
struct vc_rule *vc_rule_copy(const struct vc_rule *rule);
bool vc_rule_equal(const struct vc_rule *a, const struct vc_rule *b);

/* Returns whether switches choose paths (vc_ladder.h). */
static inline bool vc_steps_is_ladder(unsigned steps)
{
	return (steps >= VC_STEPS_DF_MIN && steps <= VC_STEPS_DF_UGAL_NODE) ||
	       (steps >= VC_STEPS_OMNI_WAR && steps < VC_STEPS_COUNT);
}

/* Returns whether this many classes can be divided among the steps. */
bool vc_steps_fit(unsigned steps, unsigned classes);
/* Returns the layout's name in route files ("links", "equal", "halves", "layers"), or NULL. */
const char *vc_steps_name(unsigned steps);
/* Returns the layout with this name, or VC_STEPS_COUNT. */
unsigned vc_steps_find(const char *name);

static inline uint8_t vc_rule_ring(const struct vc_rule *rule, uint32_t at, unsigned port)
{
	return rule->ring[(size_t)at * VC_RULE_PORTS + port];
}

/* Returns whether packets from these two ports of a switch continue in the same class. */
static inline bool vc_rule_alike(const struct vc_rule *rule, uint32_t at, unsigned a, unsigned b)
{
	return vc_rule_ring(rule, at, a) == vc_rule_ring(rule, at, b) &&
	       ((rule->dateline[at] >> a ^ rule->dateline[at] >> b) & 1) == 0;
}

/* Like vc_rule_next(), for a rule with steps, between ports of a ring or from a host. */
uint8_t vc_rule_next_of_steps(const struct vc_rule *rule, uint32_t at, unsigned input, uint8_t from,
	unsigned output, enum vc_turn turn);

/* Returns the next class of a packet that arrived at switch 'at' on 'input' in class 'from' and
 * leaves through 'output'. A port to a host is in no ring. */
static inline uint8_t vc_rule_next(const struct vc_rule *rule, uint32_t at, unsigned input,
	uint8_t from, unsigned output, enum vc_turn turn)
{
	uint8_t ring = vc_rule_ring(rule, at, output), class = 0;

	if (ring == VC_RULE_NO_RING)
		return 0;
	if (rule->steps != VC_STEPS_NONE)
		return vc_rule_next_of_steps(rule, at, input, from, output, turn);
	if (vc_rule_ring(rule, at, input) == ring)
		class = from;
	class += rule->dateline[at] >> output & 1;
	return class < rule->classes ? class : rule->classes - 1;
}
