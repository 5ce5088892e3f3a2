/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_lab.h"

/* Adds the heads that a process reports. */
static bool ask(const struct lab *lab, const struct lab_state *state,
	const struct lab_record *record, struct deadlock_heads *heads)
{
	struct lab_connection connection;
	struct error error;
	json_t *list;
	bool good;

	if (!lab_record_alive(record))
		return true;
	if (lab_connect(&connection, record, &error) < 0)
		return false;
	list = lab_control_json(&connection, record, state->dir, "waiting", &error);
	good = list != NULL && deadlock_heads_read(heads, list, lab->topology) == 0;
	json_decref(list);
	lab_disconnect(&connection);
	return good;
}

bool lab_circle_find(
	const struct lab *lab, const struct lab_state *state, struct deadlock_circle *circle)
{
	struct deadlock_heads heads[2] = {0};
	bool good = true;
	int channels = 0;

	for (unsigned look = 0; look < 2; look++)
		for (unsigned i = 0; i < state->processes && good; i++)
			good = ask(lab, state, &state->process[i], &heads[look]);
	if (good) {
		deadlock_keep_common(&heads[0], &heads[1]);
		channels = deadlock_search(
			&heads[0], lab->topology, circle->port, DEADLOCK_CIRCLE_MAX);
	}
	circle->channels = channels > 0 ? (unsigned)channels : 0;
	deadlock_heads_free(&heads[0]);
	deadlock_heads_free(&heads[1]);
	return good;
}
