/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with several ports as sources and destinations: each port is a source of its own, patterns
 * draw hosts, and a rule selects the port of the destination. Constant after creation; any thread
 * may read it. Functions return RAILS_NONE if there is no such port. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "topo/topology_hosts.h"

#define RAILS_NONE UINT32_MAX

/* After this many drawn hosts, a port counts as unable to reach any. */
#define RAIL_DRAWS_MAX 4096

/* Rule, word in run files (docs/reference/run-file.md explains them). */
#define RAIL_RULES(X)             \
	X(RAIL_SAME, "same-rail") \
	X(RAIL_SPREAD, "spread")  \
	X(RAIL_DESTINATION, "plane-of-destination")

#define X(rule, word) rule,
enum rail_rule { RAIL_RULES(X) RAIL_UNSET /* same-rail */ };
#undef X

struct rails {
	uint32_t hosts;    /* number of hosts, with one port or several */
	uint32_t *host_of; /* [entries of the topology]: the host, 0 .. hosts - 1 */
	uint32_t *first; /* [hosts + 1]: its entries are port[first[h]] .. port[first[h + 1] - 1] */
	uint32_t *port;
	uint32_t *plane; /* [entries]: as in the topology */
};

/* '*rails' is NULL for a topology whose hosts have one port each. Returns 0 or -ENOMEM. */
int rails_create(const struct topology *topology, struct rails **rails);
void rails_destroy(struct rails *rails);

/* The entry to which entry 'from' sends its messages for a host. */
uint32_t rails_port(const struct rails *rails, enum rail_rule rule, uint32_t from, uint32_t host,
	struct rng *rng);

/* Finds the entries of a flow between hosts: the source port number 'turn' (modulo their number)
 * among those that reach the destination. Returns false if none does. */
bool rails_flow(const struct rails *rails, enum rail_rule rule, uint32_t turn, struct rng *rng,
	uint16_t *from, uint16_t *to);
