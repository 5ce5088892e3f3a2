/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The destination table of a switch that stands alone: from a file of lines 'DESTINATION PORT'
 * (decimal numbers; '#' starts a comment), "modulo:HOSTS", or, with a topology, a route file with
 * tables (lib/route/formats), of which it is one switch's row.
 */

#include <stdint.h>

#include "fault.h"
#include "vc_rule.h"

struct forwarding_table {
	uint8_t *port; /* by destination; SWITCH_PORT_NONE: no route */
	uint32_t hosts;
	struct vc_rule *vc_rule; /* the route file's; NULL: none */
	uint32_t vc_rule_at;     /* this switch in it */
};

struct forwarding_request {
	const char *from;     /* NULL: an empty table */
	const char *topology; /* NULL: 'from' is no route file */
	const char *name;     /* the switch, in the topology */
	unsigned ports, vcs;
};

/* 0, or -errno and fault ("FILE:LINE: …"). */
int forwarding_table_load(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault);
void forwarding_table_free(struct forwarding_table *table);
