/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_elsewhere.h"

#include <string.h>

#define SHOWN_MAX 8

static bool holds(const struct lab_plan *plan, const struct lab_state *state, unsigned process)
{
	for (unsigned i = 0; i < state->processes; i++)
		if (strcmp(state->process[i].name, plan->process[process].name) == 0)
			return true;
	return false;
}

json_t *lab_elsewhere(const struct lab_plan *plan, const struct lab_state *state)
{
	const struct topology *topology = plan->topology;
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->switches; i++)
		if (!holds(plan, state, plan->switch_process[i]))
			json_array_append_new(list, json_string(topology->switch_at[i].name));
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (!holds(plan, state, plan->host_process[i]))
			json_array_append_new(list, json_string(topology->host_at[i].name));
	return list;
}

bool lab_elsewhere_has(const json_t *elsewhere, const char *device)
{
	for (size_t i = 0; i < json_array_size(elsewhere); i++)
		if (strcmp(json_string_value(json_array_get(elsewhere, i)), device) == 0)
			return true;
	return false;
}

void lab_elsewhere_print(const json_t *elsewhere, FILE *out)
{
	size_t count = json_array_size(elsewhere);

	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "",
			json_string_value(json_array_get(elsewhere, i)));
	if (count > SHOWN_MAX)
		fprintf(out, " and %zu more", count - SHOWN_MAX);
}
