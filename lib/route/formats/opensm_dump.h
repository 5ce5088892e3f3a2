/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Destination tables as OpenSM dumps its own, so that programs written for it can judge them:
 * ibdmchk looks for pairs without a way and for credit loops, by code that nobody here wrote. It
 * takes two files, the cabling (opensm-subnet.lst) and the tables (opensm.fdbs). Only writing; what
 * is in them is what ibdmchk reads.
 *
 * InfiniBand counts ports from 1 and keeps 0 for the switch itself: port n here is n + 1 there.
 * Host h has LID h + 1, switch s the LID that follows the hosts' by s + 1. GUIDs are those of
 * 'weft topo export --format ibnetdiscover'.
 */

#include <stdio.h>

#include "fault.h"
#include "route_table.h"
#include "topology.h"

/* Unicast LIDs are 1 to 0xBFFF. */
#define OPENSM_LID_MAX 0xBFFF

/* The cabling: a line for each direction of each link. -EINVAL if there are not enough LIDs; errors
 * of 'out' are the caller's to see. */
int opensm_dump_subnet(const struct topology *topology, FILE *out, struct fault *fault);

/* The tables of the switches, for hosts and the switch itself; a destination that cannot be reached
 * is left out. -EINVAL if the table is not of this topology's size, relies on VC classes, which the
 * dump cannot express, or there are not enough LIDs. */
int opensm_dump_tables(const struct topology *topology, const struct route_table *table, FILE *out,
	struct fault *fault);
