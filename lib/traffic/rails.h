/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with several ports as sources and destinations. Each port is a separate source, patterns
 * draw hosts, and a rule selects the destination's port. Constant after creation; any thread may
 * read it. Functions return RAILS_NONE if there is no such port. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "topo/topology_hosts.h"

#define RAILS_NONE UINT32_MAX

/* Number of drawn hosts after which a port counts as unable to reach any host. */
#define RAIL_DRAWS_MAX 4096

/* Rule, and word in run files (see docs/reference/run-file.md). */
#define RAIL_RULES(X)             \
	X(RAIL_SAME, "same-rail") \
	X(RAIL_SPREAD, "spread")  \
	X(RAIL_DESTINATION, "plane-of-destination")

#define X(rule, word) rule,
enum rail_rule { RAIL_RULES(X) RAIL_UNSET /* acts as same-rail */ };
#undef X

struct rails {
	uint32_t hosts;    /* number of hosts, with one or several ports */
	uint32_t *host_of; /* [topology entry] host, 0 .. hosts - 1 */
	uint32_t *first;   /* [hosts + 1] host h has port[first[h]] .. port[first[h + 1] - 1] */
	uint32_t *port;
	uint32_t *plane; /* [topology entry] plane, as in the topology */
};

/* Sets '*rails' to NULL if each host of the topology has one port. Returns 0 or -ENOMEM. */
int rails_create(const struct topology *topology, struct rails **rails);
void rails_destroy(struct rails *rails);

/* Returns the entry to which entry 'from' sends its messages for a host. */
uint32_t rails_port(const struct rails *rails, enum rail_rule rule, uint32_t from, uint32_t host,
	struct rng *rng);

/* Selects the entries of a flow between hosts. Source ports are tried from number 'turn' (modulo
 * their number) on, until one reaches the destination. Returns false if none does. */
bool rails_flow(const struct rails *rails, enum rail_rule rule, uint32_t turn, struct rng *rng,
	uint16_t *from, uint16_t *to);
