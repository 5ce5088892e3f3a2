/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The rules that an audit checks, from the configuration of a run or lab. */

#include "audit/audit.h"
#include "setup/fabric_routes.h"

struct audit_run {
	struct audit_rules rules;
	struct fabric_routes routes;
	bool *timed, *waits; /* arrays used by the rules; the owner may change them before
				audit_create() */
};

/* 'virtual': the captures are of the virtual clock. Returns 0, or -errno with error set;
 * audit_run_close() in either case. The topology outlives it. */
int audit_run_open(struct audit_run *audit, const struct topology *topology,
	const struct run_config *run, bool virtual, struct error *error);
/* Rules that use only the topology and the routes ('set' or 'table' or neither). Returns 0 or
 * -ENOMEM. */
int audit_run_open_bare(struct audit_run *audit, const struct topology *topology,
	const struct route_set *set, const struct route_table *table, struct error *error);
void audit_run_close(struct audit_run *audit);
