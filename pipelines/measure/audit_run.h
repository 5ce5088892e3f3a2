/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The rules that an audit checks, derived from the configuration of a run or lab. */

#include "audit/audit.h"
#include "setup/fabric_routes.h"

struct audit_run {
	struct audit_rules rules;
	struct fabric_routes routes;
	bool *timed, *waits; /* backing arrays of 'rules'; may be changed before audit_create() */
};

/* Computes the rules of a run. 'virtual': the captures come from the virtual clock. Returns 0, or
 * -errno with error set; call audit_run_close() in either case. 'topology' must outlive 'audit'. */
int audit_run_open(struct audit_run *audit, const struct topology *topology,
	const struct run_config *run, bool virtual, struct error *error);
/* Sets rules that need only the topology and 'set', 'table' or neither. Returns 0 or -ENOMEM. */
int audit_run_open_bare(struct audit_run *audit, const struct topology *topology,
	const struct route_set *set, const struct route_table *table, struct error *error);
void audit_run_close(struct audit_run *audit);
