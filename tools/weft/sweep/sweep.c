/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int sweep_sets_init(struct run_sets *sets, const struct sweep *sweep, unsigned point)
{
	const struct sweep_plan *plan = &sweep->plan;
	int result = 0;

	memset(sets, 0, sizeof(*sets));
	for (unsigned i = 0; i < sweep->sets; i++)
		sets->set[sets->count++] = sweep->set[i];
	for (unsigned i = 0; i < plan->varies && result == 0; i++)
		result = run_sets_add(
			sets, "%s=%s", plan->vary[i].key, sweep_plan_value(plan, point, i));
	if (plan->seeds == 0 || result < 0)
		return result;
	return run_sets_add(sets, "seed=%" PRIu64, sweep_plan_seed(plan, point));
}

void sweep_path(const struct sweep *sweep, const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%s", sweep->folder, name);
}

void sweep_point_path(
	const struct sweep *sweep, unsigned point, const char *end, char out[PATH_MAX])
{
	char name[SWEEP_NAME_MAX];

	sweep_plan_name(&sweep->plan, point, name);
	snprintf(out, PATH_MAX, "%s/%s%s", sweep->folder, name, end);
}

struct run_config *sweep_base_config(const struct sweep *sweep, struct fault *fault)
{
	return run_config_load(sweep->run_file, sweep->set, sweep->sets, fault);
}

struct run_config *sweep_point_config(
	const struct sweep *sweep, unsigned point, struct fault *fault)
{
	struct run_config *config = NULL;
	struct run_sets sets;

	if (sweep_sets_init(&sets, sweep, point) < 0)
		errno = -fault_set(fault, ENOMEM, "sweep: no memory");
	else
		config = run_config_load_varied(sweep->run_file, sweep->set, sweep->sets,
			sets.set + sweep->sets, sets.count - sweep->sets, fault);
	run_sets_fini(&sets);
	return config;
}
