/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of InfiniBand ports as operators print them: perfquery (with -x: 64 bits), ibqueryerrors
 * --data (or --counters), and ibdiagnet's ibdiagnet2.pm. Ports are identified by GUID or LID, and
 * number; a listing gives the topology's port (topology_import.addresses). */

#include "topology_format.h"

/* A port of a listing. */
struct ib_address {
	uint64_t guid;      /* port or node; GUID and LID are 0 if unknown */
	uint32_t lid, port; /* ports count from 1 */
	struct topology_port at;
};

/* Zero-initialised; the owner frees 'at'. */
struct ib_addresses {
	struct ib_address *at;
	uint32_t count, room;
};

/* Returns NULL if no address has this GUID or, if the GUID is 0 or unknown, this LID. */
const struct ib_address *ib_address_find(
	const struct ib_addresses *addresses, uint64_t guid, uint32_t lid, uint32_t port);
/* Sorts them, once, before the first search. */
void ib_addresses_sort(struct ib_addresses *addresses);

/* A port and its PortXmitData and PortXmitWait. */
struct ib_counter {
	uint64_t guid; /* GUID and LID are 0 if the file does not have them */
	uint32_t lid, port;
	uint32_t line;
	bool known; /* 'words', the data in units of 4 bytes, is known */
	uint64_t words, wait;
};

/* Zero-initialised; the owner frees 'at'. */
struct ib_counters {
	struct ib_counter *at;
	uint32_t count, room;
};

/* Adds the ports of a file, except those that stand for all ports of a node. Lines with other
 * counters are skipped. Errors in lines are noted. Returns -EINVAL if no port has data; -ENOMEM. */
int ib_counters_read(struct ib_counters *counters, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error);
