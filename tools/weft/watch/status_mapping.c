/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"
#include "lab/cmd_lab.h"
#include "lab/lab_mapping.h"
#include "lab/lab_ready.h"
#include "lab/lab_state.h"
#include "lab_collect.h"
#include "status_print.h"

/* Lines that both forms of 'weft lab status' print: the mapper, wrong cables, other machines. */

/* Wrong cables come last, where users notice them. */
void status_print_strangers(json_t *links, FILE *out)
{
	char text[LAB_READY_TEXT];
	json_t *link;

	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		if (lab_ready_stranger(link, text, sizeof(text)))
			fprintf(out, "%s\n", text);
	}
}

static void print_lines(const char *title, json_t *lines, FILE *out)
{
	json_t *line;

	for (size_t i = 0; (line = json_array_get(lines, i)) != NULL; i++)
		fprintf(out, "%s%s\n", title,
			json_string_value(line) != NULL ? json_string_value(line) : "");
}

static void print_leader(json_t *mapper, FILE *out)
{
	fprintf(out, "%-16s %-12s %6" PRIu64 " %9" PRIu64 " %6" PRIu64 " %7" PRIu64 "\n",
		lab_text(mapper, "host"), lab_text(mapper, "state"), json_count_of(mapper, "epoch"),
		json_count_of(mapper, "switches"), json_count_of(mapper, "hosts"),
		json_count_of(mapper, "cables"));
	if (json_count_of(mapper, "first_map_ns") != 0)
		fprintf(out, "  first routes after %.1f ms, last change took %.1f ms\n",
			(double)json_count_of(mapper, "first_map_ns") / 1e6,
			(double)json_count_of(mapper, "last_change_ns") / 1e6);
	if (lab_text(mapper, "fault")[0] != '\0')
		fprintf(out, "  no routes: %s\n", lab_text(mapper, "fault"));
	if (lab_text(mapper, "fallback")[0] != '\0')
		fprintf(out, "  routes are computed with ud instead: %s\n",
			lab_text(mapper, "fallback"));
	print_lines("  not as expected: ", json_object_get(mapper, "miscabled"), out);
	print_lines("  found: ", json_object_get(mapper, "findings"), out);
}

/* Prints what this machine knows about a mapper on another machine. */
static void print_distant(json_t *mapping, FILE *out)
{
	fprintf(out, "%-16s %-12s %6" PRIu64 " %9s %6s %7s\n", lab_text(mapping, "mapper"),
		"elsewhere", json_count_of(mapping, "mapper_epoch"), "-", "-", "-");
	fprintf(out,
		"  %s on another machine %s %.1f ms ago; the map is available on that machine\n",
		lab_text(mapping, "mapper"),
		json_flag_of(mapping, "mapper_silent") ? "is silent, last heard"
						       : "is the mapper, last heard",
		(double)json_count_of(mapping, "mapper_heard_ns") / 1e6);
}

static void print_unused(json_t *agents, FILE *out)
{
	json_t *agent;

	for (size_t i = 0; (agent = json_array_get(agents, i)) != NULL; i++) {
		if (json_flag_of(agent, "tables_refused"))
			fprintf(out, "  unusable tables: %s\n", lab_text(agent, "device"));
	}
}

/* Prints, for example, "refused by s0: bad_tag 3". */
static void print_refusals(json_t *list, const char *key, FILE *out)
{
	const char *reason;
	json_t *entry, *count;

	for (size_t i = 0; (entry = json_array_get(list, i)) != NULL; i++) {
		json_object_foreach(json_object_get(entry, "refused"), reason, count) {
			if (json_integer_value(count) != 0)
				fprintf(out, "  refused by %s: %s %" PRIu64 "\n",
					lab_text(entry, key), reason,
					(uint64_t)json_integer_value(count));
		}
	}
}

void status_print_mapping(json_t *mapping, FILE *out)
{
	json_t *mappers = json_object_get(mapping, "mappers"), *mapper;
	unsigned others = 0;

	if (mapping == NULL)
		return;
	fprintf(out, "\n%-16s %-12s %6s %9s %6s %7s\n", "MAPPER", "STATE", "EPOCH", "SWITCHES",
		"HOSTS", "CABLES");
	for (size_t i = 0; (mapper = json_array_get(mappers, i)) != NULL; i++) {
		if (lab_mapping_leads(mapper))
			print_leader(mapper, out);
		else
			others++;
	}
	if (json_flag_of(mapping, "mapper_elsewhere"))
		print_distant(mapping, out);
	fprintf(out, "  %u standby%s%s\n", others, plural(others, "s"),
		json_flag_of(mapping, "mapper_elsewhere") ? " here" : "");
	print_unused(json_object_get(mapping, "agents"), out);
	print_refusals(mappers, "host", out);
	print_refusals(json_object_get(mapping, "agents"), "device", out);
	if (lab_text(mapping, "why")[0] != '\0')
		fprintf(out, "  not done: %s\n", lab_text(mapping, "why"));
}

void status_print_clocks(const json_t *total, FILE *out)
{
	uint64_t known = json_count_of(total, "known"), steps = json_count_of(total, "steps");

	if (known > 0)
		fprintf(out,
			"clocks of other machines: known within %.1f us for %" PRIu64
			" pairs of hosts; the clock of %s at %s has the largest error\n",
			(double)json_count_of(total, "bound_ns") / 1e3, known,
			lab_text(total, "of"), lab_text(total, "at"));
	if (steps > 0)
		fprintf(out,
			"clocks of other machines: contradicted %" PRIu64
			" times: a machine was suspended, or its TSC is not invariant\n",
			steps);
}

void status_print_elsewhere(const json_t *elsewhere, FILE *out)
{
	if (json_array_size(elsewhere) == 0)
		return;
	fprintf(out, "on other machines: ");
	lab_elsewhere_print(elsewhere, out);
	fputc('\n', out);
}

/* weft lab status */

/* Returns the ports that form a deadlock, [] if there is none; null: a process did not answer. */
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
