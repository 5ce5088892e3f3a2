/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Which hosts are near a host, for local traffic (the thesis, 4.5). */

#include "topology.h"

/*
 * The hosts whose switch is at most 'links' links between switches away from that of 'host', 'host'
 * itself among them, ascending; 0: those on the same switch. 'near' has room for all hosts. 0 or
 * -ENOMEM.
 */
int hosts_within(const struct topology *topology, uint32_t host, uint32_t links, uint16_t *near,
	uint32_t *count);
