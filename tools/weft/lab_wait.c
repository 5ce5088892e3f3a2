/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cmd_lab.h"
#include "lab_control.h"
#include "lab_mapping.h"

#define STEP_MS 20

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int ask(
	const struct lab_record *record, const char *dir, json_t *mapping, struct fault *fault)
{
	struct lab_connection connection;
	int result = lab_connect(&connection, record->prefix, fault);

	if (result < 0)
		return result;
	result = lab_mapping_add(mapping, &connection, record, dir, fault);
	lab_disconnect(&connection);
	return result;
}

/* How many have answered, or -errno. */
static int ask_all(
	const struct lab_state *state, bool lenient, json_t *mapping, struct fault *fault)
{
	int answers = 0;

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		int result = ask(record, state->dir, mapping, fault);

		if (result < 0 && (!lenient || lab_record_alive(record)))
			return result;
		answers += result == 0;
	}
	return answers;
}

/* 1: every device has routes; 0: not yet, and why; or -errno. */
static int is_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	struct lab_mapper *leader, struct fault *fault)
{
	json_t *mapping = lab_mapping_create(), *leads;
	int answers = ask_all(state, lenient, mapping, fault), result = answers;

	if (answers >= 0)
		result = lab_mapping_done(mapping, answers == (int)lab->plan->processes, fault);
	leads = lab_mapping_leader(mapping);
	snprintf(leader->host, sizeof(leader->host), "%s",
		leads != NULL ? json_string_value(json_object_get(leads, "host")) : "");
	leader->miscabled = (unsigned)json_array_size(json_object_get(leads, "miscabled"));
	json_decref(mapping);
	return result;
}

int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct fault *fault)
{
	uint64_t began = now_ms();
	struct fault why = {""};
	int done;

	*leader = (struct lab_mapper){.miscabled = 0};
	if (lab->config->run.mapper.routes == RUN_ROUTES_STATIC)
		return 0;
	while ((done = is_mapped(lab, state, lenient, leader, &why)) == 0) {
		if (lab_interrupted())
			return fault_set(fault, EINTR, "interrupted");
		if (now_ms() - began > patience_ms)
			return fault_set(
				fault, ETIMEDOUT, "not every device has routes: %s", why.text);
		lab_sleep_ms(STEP_MS);
	}
	if (done < 0)
		*fault = why;
	return done < 0 ? done : 0;
}
