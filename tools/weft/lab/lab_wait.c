/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <stdio.h>

#include "cmd_lab.h"
#include "lab_mapping.h"
#include "lab_query.h"
#include "lab_state.h"
#include "topo/topology_hosts.h"

#define STEP_MS 20

/* The number of answers, or -errno. */
static int ask_all(
	const struct lab_state *state, bool lenient, json_t *mapping, struct error *error)
{
	int answers = 0;

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		int result = lab_mapping_add(mapping, record, state->dir, error);

		if (result < 0 && (!lenient || lab_record_alive(record)))
			return result;
		answers += result == 0;
	}
	return answers;
}

static struct lab_lead lead_of(
	const struct lab *lab, const struct lab_state *state, const json_t *mapping)
{
	json_t *elsewhere = lab_elsewhere(lab->plan, state);
	struct lab_lead lead = lab_mapping_lead(mapping, elsewhere);

	json_decref(elsewhere);
	return lead;
}

/* 1: every device has routes; 0: not yet, and why; or -errno. */
static int is_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	struct lab_mapper *leader, struct error *error)
{
	json_t *mapping = lab_mapping_create();
	int answers = ask_all(state, lenient, mapping, error), result = answers;
	struct lab_lead lead = lead_of(lab, state, mapping);

	if (answers >= 0)
		result = lab_mapping_done(mapping, answers == (int)lab->plan->processes,
				 topology_plane_count(lab->topology), error) &&
			 (lenient || lab_lead_lives(&lead, error));
	/* Other machines may have devices that the mapper has not found yet. */
	leader->short_of.text[0] = '\0';
	if (answers != (int)lab->plan->processes)
		lab_mapping_reaches(mapping, lab->topology, &leader->short_of);
	leader->elsewhere = lead.elsewhere;
	snprintf(leader->host, sizeof(leader->host), "%s", lead.host != NULL ? lead.host : "");
	leader->miscabled = (unsigned)json_array_size(
		json_object_get(lab_mapping_leader(mapping), "miscabled"));
	json_decref(mapping);
	return result;
}

int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct error *error)
{
	uint64_t began = lab_now_ms();
	struct error why = {""};
	int done;

	*leader = (struct lab_mapper){.miscabled = 0};
	if (lab->config->run.mapper.routes == RUN_ROUTES_STATIC)
		return 0;
	while ((done = is_mapped(lab, state, lenient, leader, &why)) == 0 ||
		(done == 1 && !lenient && leader->short_of.text[0] != '\0')) {
		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		if (lab_now_ms() - began > patience_ms && done == 1)
			return 0;
		if (lab_now_ms() - began > patience_ms)
			return error_set(
				error, ETIMEDOUT, "not every device has routes: %s", why.text);
		lab_sleep_ms(STEP_MS);
	}
	if (done < 0)
		*error = why;
	return done < 0 ? done : 0;
}
