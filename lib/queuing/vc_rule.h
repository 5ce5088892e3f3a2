/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Dateline virtual channels (Dally and Seitz, 1987): how a switch chooses the VC class of a packet
 * where classes are part of the routing algorithm. The ports of a switch belong to rings (a torus
 * has one ring a dimension through each switch). A packet starts each ring in class 0 and goes on
 * in the next class once it crosses the ring's dateline, so no chain of dependencies closes around
 * the ring. The rule is local: it needs the two ports and the class in which the packet came.
 *
 * Part of a route set or of tables; the verifier applies it, and so do the switches.
 */

#include <stdbool.h>
#include <stdint.h>

#include "topology.h"

#define VC_RULE_CLASSES_MAX 4
#define VC_RULE_NO_RING     0xFF

struct vc_rule {
	uint32_t switches;
	uint8_t classes;
	uint8_t *ring;      /* [switch * TOPOLOGY_PORTS_MAX + port]; VC_RULE_NO_RING: in none */
	uint64_t *dateline; /* by switch: output ports whose link crosses a dateline */
};

/* Every port in no ring, which keeps all packets in class 0. NULL with errno ENOMEM. */
struct vc_rule *vc_rule_create(uint32_t switches, uint8_t classes);
void vc_rule_destroy(struct vc_rule *rule);
struct vc_rule *vc_rule_copy(const struct vc_rule *rule);
bool vc_rule_equal(const struct vc_rule *a, const struct vc_rule *b);

static inline uint8_t vc_rule_ring(const struct vc_rule *rule, uint32_t at, unsigned port)
{
	return rule->ring[(size_t)at * TOPOLOGY_PORTS_MAX + port];
}

/* The class in which a packet goes on that came to switch 'at' by 'input' in class 'from' and
 * leaves by 'output'. From a host it comes by a port in no ring. */
static inline uint8_t vc_rule_next(
	const struct vc_rule *rule, uint32_t at, unsigned input, uint8_t from, unsigned output)
{
	uint8_t ring = vc_rule_ring(rule, at, output), class = 0;

	if (ring == VC_RULE_NO_RING)
		return 0;
	if (vc_rule_ring(rule, at, input) == ring)
		class = from;
	class += rule->dateline[at] >> output & 1;
	return class < rule->classes ? class : rule->classes - 1;
}
