/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables in OpenSM's dump format, so that independent tools can check them: ibdmchk
 * finds pairs without a route and credit loops. It reads two files, the cabling (opensm-subnet.lst)
 * and the tables (opensm.fdbs). Write-only; the files contain what ibdmchk reads.
 *
 * InfiniBand counts ports from 1 and reserves 0 for the switch itself: port n becomes n + 1. Host h
 * has LID h + 1, switch s has the number of hosts + s + 1. GUIDs are the same as in 'weft topo
 * export --format ibnetdiscover'. */

#include <stdio.h>

#include "base/weft_error.h"
#include "route/route_table.h"
#include "route_file.h"
#include "topo/topology.h"

/* Unicast LIDs are 1 to 0xBFFF. */
#define OPENSM_LID_MAX 0xBFFF

/* The cabling: a line for each direction of each link. Returns -EINVAL if LIDs run out; the caller
 * checks 'out' for errors. */
int opensm_dump_subnet(const struct topology *topology, FILE *out, struct error *error);

/* The tables of the switches, with entries for hosts and the switch itself but not for unreachable
 * destinations. Returns -EINVAL if the table does not match the topology's size, needs VC classes,
 * which the dump cannot express, or LIDs run out. */
int opensm_dump_tables(const struct topology *topology, const struct route_table *table, FILE *out,
	struct error *error);

/* The pairs that routes or tables leave unreachable, for reports: after failures they are a result,
 * not an error. */

struct route_gaps {
	uint64_t pairs;               /* ordered pairs of hosts without a route */
	uint64_t other;               /* those among them whose hosts are not cut off */
	uint64_t apart;               /* in addition, pairs of host ports in separate planes */
	uint32_t source, destination; /* the first pair of 'other' */
	uint32_t *cut_off;            /* hosts that no host reaches in either direction */
	uint32_t cut_offs;
};

/* Looks in the set, or in the table of the source's switch. May return -ENOMEM. The caller
 * frees. */
int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps);
void route_gaps_free(struct route_gaps *gaps);

/* One line: the hosts that are cut off, and the number of other pairs without a route. */
void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size);
