/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep.h"

#include <inttypes.h>
#include <string.h>

bool sweep_is_invalid(const struct sweep *sweep, unsigned point)
{
	return sweep->invalid != NULL && sweep->invalid[point] != NULL;
}

unsigned sweep_count_invalid(const struct sweep *sweep)
{
	unsigned count = 0;

	for (unsigned i = 0; i < sweep->plan.points; i++)
		count += sweep_is_invalid(sweep, i);
	return count;
}

int sweep_skip(const struct sweep *sweep, unsigned point, const char *why)
{
	sweep->invalid[point] = strdup(why);
	return sweep->invalid[point] == NULL ? -ENOMEM : 0;
}

/* The case that is the value of varied key 'vary'; NULL: an ordinary key. */
static const struct sweep_case *case_of(const struct sweep *sweep, unsigned point, unsigned vary)
{
	return strcmp(sweep->plan.vary[vary].key, SWEEP_CASES_KEY) == 0
		       ? sweep_cases_find(
				 &sweep->cases, sweep_plan_value(&sweep->plan, point, vary))
		       : NULL;
}

/* A varied key and its value, or what a case sets. */
static int add_value(
	struct run_sets *sets, const struct sweep *sweep, unsigned point, unsigned vary)
{
	const struct sweep_case *one = case_of(sweep, point, vary);
	int result = 0;

	if (one == NULL)
		return run_sets_add(sets, "%s=%s", sweep->plan.vary[vary].key,
			sweep_plan_value(&sweep->plan, point, vary));
	for (unsigned i = 0; i < one->sets && result == 0; i++)
		result = run_sets_add(sets, "%s", one->set[i]);
	return result;
}

int sweep_sets_init(struct run_sets *sets, const struct sweep *sweep, unsigned point)
{
	const struct sweep_plan *plan = &sweep->plan;
	int result = 0;

	memset(sets, 0, sizeof(*sets));
	for (unsigned i = 0; i < sweep->sets; i++)
		sets->set[sets->count++] = sweep->set[i];
	for (unsigned i = 0; i < plan->varies && result == 0; i++)
		result = add_value(sets, sweep, point, i);
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
	struct run_config_overrides by[SWEEP_KEYS_MAX + 2] = {{"--set", sweep->set, sweep->sets}};
	unsigned options = 1, taken = sweep->sets;
	struct run_config *config = NULL;
	struct run_sets sets;

	if (sweep_sets_init(&sets, sweep, point) < 0) {
		errno = -fault_set(fault, ENOMEM, "sweep: no memory");
	} else {
		for (unsigned i = 0; i < sweep->plan.varies; i++) {
			const struct sweep_case *one = case_of(sweep, point, i);

			by[options++] =
				(struct run_config_overrides){one != NULL ? "--cases" : "--vary",
					sets.set + taken, one != NULL ? one->sets : 1};
			taken += one != NULL ? one->sets : 1;
		}
		by[options++] = (struct run_config_overrides){
			"--seeds", sets.set + taken, sets.count - taken};
		config = run_config_load_with(sweep->run_file, by, options, fault);
	}
	run_sets_fini(&sets);
	return config;
}
