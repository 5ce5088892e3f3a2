/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables: the primary output port for every switch and destination host and, with some
 * algorithms, the set of alternative ports that a switch may use instead (adaptive routing).
 * Constant once filled; any thread may read. */

#include <stdint.h>

#include "base/weft_error.h"
#include "route_set.h"
#include "topo/topology.h"

/* Unreachable or, if the entry has alternatives, only reachable on detours (vc_ladder.h). */
#define ROUTE_TABLE_NONE 0xFF

/* Number of 64-bit words per set of alternatives in a table for the topology. */
#define ROUTE_TABLE_WORDS(topology) (topology_max_ports(topology) > TOPOLOGY_PORTS_RUN ? 4u : 1u)

struct route_table {
	struct route_origin origin;
	uint32_t switches, hosts;
	unsigned words; /* per set of ports: one, or four if a switch has more than 64 ports */
	uint64_t *alternatives;  /* [(switch * hosts + host) * words]; NULL: none */
	struct vc_rule *vc_rule; /* owned by the table; NULL if one class is enough */
	uint8_t primary[];       /* [switch * hosts + host] */
};

/* Creates a table with all entries ROUTE_TABLE_NONE and no alternatives. Returns NULL with errno
 * ENOMEM if out of memory. */
struct route_table *route_table_create(uint32_t switches, uint32_t hosts);
void route_table_destroy(struct route_table *table);

/* Adds empty sets of alternatives, 'words' words each. Returns 0 or -ENOMEM. */
int route_table_add_alternatives(struct route_table *table, unsigned words);

/* Returns the row of a switch: one port per destination host. */
static inline uint8_t *route_table_row(const struct route_table *table, uint32_t at)
{
	return (uint8_t *)table->primary + (size_t)at * table->hosts;
}

/* Returns the sets of alternatives of a switch, 'words' per destination host; NULL: none. */
static inline uint64_t *route_table_alternatives(const struct route_table *table, uint32_t at)
{
	return table->alternatives == NULL
		       ? NULL
		       : table->alternatives + (size_t)at * table->hosts * table->words;
}

/* Returns a port that leads to the host: the primary port or, without one, the first port of a
 * detour. Following these ports reaches the host. ROUTE_TABLE_NONE: unreachable. */
uint8_t route_table_port(const struct route_table *table, uint32_t at, uint32_t host);

/* Returns 0 if every switch with hosts has a port for every host; otherwise -EINVAL with an error
 * that names the first missing pair and the number of missing pairs. */
int route_table_check_connected(
	const struct route_table *table, const struct topology *topology, struct error *error);

/* A compressed copy of a table's primary ports, which switches read if the table is larger than the
 * processor's cache. Rows are split into blocks of 64 destinations. Equal blocks are stored once,
 * and so are equal rows of blocks. In a fat tree with deterministic routes, all leaf switches send
 * most destinations up through the same ports: the table for 11,664 hosts shrinks from 19 MB to 0.3
 * MB. Constant once filled. */

#define ROUTE_BLOCK_HOSTS 64u

struct route_blocks {
	uint32_t blocks, rows; /* numbers of distinct blocks and rows */
	uint32_t row_blocks;   /* blocks per row */
	uint32_t *row_of;      /* [switches] */
	uint16_t *row;         /* [rows][row_blocks]: block indices */
	uint8_t *port;         /* [blocks][ROUTE_BLOCK_HOSTS] */
};

/* Compresses a table. Returns NULL with errno ENOMEM, or ERANGE if there are more than 65,536
 * different blocks. */
struct route_blocks *route_blocks_create(const struct route_table *table);
void route_blocks_destroy(struct route_blocks *blocks);

/* Returns the row of a switch: the block index of each group of 64 destinations. */
static inline const uint16_t *route_blocks_row(const struct route_blocks *blocks, uint32_t at)
{
	return blocks->row + (size_t)blocks->row_of[at] * blocks->row_blocks;
}
