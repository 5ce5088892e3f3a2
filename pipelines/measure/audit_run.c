/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "audit_run.h"

#include <errno.h>
#include <stdlib.h>

#include "setup/device_config.h"

static int open_links(struct audit_run *audit, const struct topology *topology, struct error *error)
{
	*audit = (struct audit_run){.rules = {.topology = topology}};
	audit->timed = calloc(topology->links + 1u, sizeof(bool));
	audit->waits = calloc(2u * topology->links + 1u, sizeof(bool));
	audit->rules.timed = audit->timed;
	audit->rules.waits = audit->waits;
	for (uint32_t i = 0; audit->timed != NULL && i < topology->links; i++)
		audit->timed[i] = true;
	return audit->timed == NULL || audit->waits == NULL
		       ? error_set(error, ENOMEM, "out of memory")
		       : 0;
}

static bool keeps_order(const struct run_config *run)
{
	return run->routing.itb_absorb == RUN_ITB_ABSORB_ALWAYS && !run_config_is_adaptive(run) &&
	       run_config_ladder(run) == NULL && run->nic.selector->fixed &&
	       run->nic.control == SOURCE_CONTROL_NONE;
}

/* Sets whether a frame counts as arrived with its header or with its last byte. */
static void set_waits(
	struct audit_run *audit, const struct topology *topology, const struct run_config *run)
{
	for (uint32_t way = 0; way < 2 * topology->links; way++) {
		const struct topology_link *link = &topology->link_at[way / 2];

		audit->waits[way] = !link_cuts_through(topology, run->sw.switching, link->rate_bps,
			way % 2 == 0 ? link->b : link->a);
	}
}

/* Routes and VC classes that a mapper computes are unknown here. */
int audit_run_open(struct audit_run *audit, const struct topology *topology,
	const struct run_config *run, bool virtual, struct error *error)
{
	bool mapped =
		run->mapper.routes == RUN_ROUTES_MAPPER || run->mapper.after_ps == RUN_AFTER_MAPPER;
	struct audit_rules *rules = &audit->rules;
	int result = open_links(audit, topology, error);

	if (result == 0)
		result = mapped ? fabric_routes_init_mapped(&audit->routes, topology, run, error)
				: fabric_routes_find(&audit->routes, topology, run, error);
	if (result < 0)
		return result;
	rules->set = audit->routes.set;
	rules->table = audit->routes.table;
	rules->queuing = audit->routes.queuing;
	rules->vc_rule = fabric_routes_vc_rule(&audit->routes);
	rules->seed = run->seed;
	fabric_routes_map_sl(&audit->routes, rules->sl_to_vc);
	rules->vcs_known = !mapped || run->sw.vcs == 1 || rules->queuing != NULL;
	rules->vcs = (uint8_t)run_config_vcs(run);
	rules->afi = run->routing.afi;
	rules->voq = run->sw.voq;
	rules->adaptive = run_config_is_adaptive(run);
	rules->marks = run_config_marks(run);
	/* Under congestion, hosts interrupt a message and renumber the remainder. */
	rules->whole = !run->routing.afi && run->nic.control == SOURCE_CONTROL_NONE;
	rules->ordered = keeps_order(run) && !mapped;
	rules->passes_itbs = run->routing.itb_absorb == RUN_ITB_ABSORB_CONTENTION;
	rules->window = run->nic.window_frames;
	rules->vc_blocks = run_config_vc_blocks(run);
	rules->routing_delay_ps = virtual ? run->sw.routing_delay_ps : 0;
	set_waits(audit, topology, run);
	return 0;
}

int audit_run_open_bare(struct audit_run *audit, const struct topology *topology,
	const struct route_set *set, const struct route_table *table, struct error *error)
{
	int result = open_links(audit, topology, error);

	audit->rules.set = set;
	audit->rules.table = table;
	audit->rules.adaptive = audit->rules.marks = audit->rules.passes_itbs = true;
	audit->rules.window = 4096; /* maximum of nic.window */
	return result;
}

void audit_run_close(struct audit_run *audit)
{
	fabric_routes_free(&audit->routes);
	free(audit->timed);
	free(audit->waits);
	*audit = (struct audit_run){.timed = NULL};
}
