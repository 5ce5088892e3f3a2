/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of InfiniBand ports as printed by perfquery (with -x: 64 bits), ibqueryerrors --data (or
 * --counters), and ibdiagnet's ibdiagnet2.pm. Ports are identified by GUID or LID, and by number. A
 * listing provides the corresponding topology port (topology_import.addresses). */

#include "topology_format.h"

/* A port of a listing. */
struct ib_address {
	uint64_t guid;      /* port or node GUID; GUID and LID are 0 if unknown */
	uint32_t lid, port; /* ports are numbered from 1 */
	struct topology_port at;
};

/* Initialise with zeros. The owner frees 'at'. */
struct ib_addresses {
	struct ib_address *at;
	uint32_t count, room;
};

/* Returns the address with this port and GUID or, if the GUID is 0 or unknown, with this LID.
 * Returns NULL if there is none. */
const struct ib_address *ib_address_find(
	const struct ib_addresses *addresses, uint64_t guid, uint32_t lid, uint32_t port);
/* Sorts the addresses. Call once, before the first search. */
void ib_addresses_sort(struct ib_addresses *addresses);

/* The counters PortXmitData and PortXmitWait of a port. */
struct ib_counter {
	uint64_t guid; /* GUID and LID are 0 if the file does not specify them */
	uint32_t lid, port;
	uint32_t line;
	bool known; /* 'words' is set: the data in units of 4 bytes */
	uint64_t words, wait;
};

/* Initialise with zeros. The owner frees 'at'. */
struct ib_counters {
	struct ib_counter *at;
	uint32_t count, room;
};

/* Adds the ports of a file, except those that stand for all ports of a node. Skips lines with other
 * counters and notes invalid lines. Returns 0, -EINVAL if no port has data, or -ENOMEM. */
int ib_counters_read(struct ib_counters *counters, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error);
