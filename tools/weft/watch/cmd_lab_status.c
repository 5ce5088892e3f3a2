/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab status */

#include "lab/cmd_lab.h"

#include <stdio.h>

#include "lab_collect.h"
#include "status_print.h"

/* The ports of a deadlock, [] if there is none; null: a process did not answer. */
static json_t *find_deadlock(const struct lab *lab, const struct lab_state *state)
{
	struct deadlock_circle circle;
	json_t *ports;
	char name[64];

	if (!lab_circle_find(lab, state, &circle))
		return json_null();
	ports = json_array();
	for (unsigned i = 0; i < circle.channels && i < DEADLOCK_CIRCLE_MAX; i++) {
		topology_port_name(lab->topology, circle.port[i], name, sizeof(name));
		json_array_append_new(ports, json_string(name));
	}
	return ports;
}

enum weft_exit cmd_lab_status(const struct lab_arguments *arguments)
{
	struct lab_state state;
	struct lab lab;
	json_t *all, *deadlock;
	bool up, good;
	enum weft_exit result = lab_open_running(arguments, "lab status", &lab, &state);

	if (result != EXIT_DONE) {
		if (arguments->json && result == EXIT_BAD_ANSWER)
			puts("{\"up\": false}");
		return result;
	}
	all = lab_collect(&lab, &state, arguments->json);
	up = json_flag_of(all, "up");
	json_object_set_new(all, "deadlock", up ? find_deadlock(&lab, &state) : json_null());
	deadlock = json_object_get(all, "deadlock");
	good = up && json_is_array(deadlock) && json_array_size(deadlock) == 0;
	if (arguments->json)
		command_print_json(json_incref(all), 0);
	else if (arguments->wide)
		status_print_wide(all);
	else
		status_print(all);
	json_decref(all);
	lab_state_free(&state);
	lab_close(&lab);
	return good ? EXIT_DONE : EXIT_BAD_ANSWER;
}
