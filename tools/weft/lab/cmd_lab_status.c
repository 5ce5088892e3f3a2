/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab status */

#include "cmd_lab.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lab_ending.h"
#include "lab_mapping.h"
#include "lab_ready.h"
#include "lab_state.h"

/* --- asking --- */

static int add_links(struct lab_connection *connection, json_t *into, struct fault *fault)
{
	json_t *links = lab_ask_links(connection, fault);

	if (links == NULL)
		return -EPROTO;
	json_array_extend(into, links);
	json_decref(links);
	return 0;
}

static int add_process(
	const struct lab_record *record, const char *dir, json_t *into, struct fault *fault)
{
	static const char *const classes[][2] = {{"switch", "switches"}, {"nic", "nics"},
		{"port", "ports"}, {"congestion", "congestion"}};
	json_t *mapping = json_object_get(into, "mapping");
	struct lab_connection connection;
	int result = lab_connect(&connection, record->prefix, fault);

	if (result < 0)
		return result;
	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]) && result == 0; i++)
		result = lab_ask_class(
			&connection, classes[i][0], json_object_get(into, classes[i][1]), fault);
	if (result == 0)
		result = add_links(&connection, json_object_get(into, "links"), fault);
	lab_disconnect(&connection);
	if (result == 0 && mapping != NULL)
		result = lab_mapping_add(mapping, record, dir, fault);
	return result;
}

static json_t *collect(const struct lab *lab, const struct lab_state *state)
{
	json_t *all = json_pack("{s:s,s:s,s:b,s:[],s:{},s:{},s:{},s:{},s:[],s:o}", "lab",
		lab->plan->lab, "run_dir", state->dir, "up", 1, "processes", "switches", "nics",
		"ports", "congestion", "links", "elsewhere", lab_elsewhere(lab->plan, state));

	if (lab->config->run.mapper.routes == RUN_ROUTES_MAPPER)
		json_object_set_new(all, "mapping", lab_mapping_create());
	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		const char *is = "running";
		struct fault fault = {""};

		if (!lab_record_alive(record)) {
			is = "gone";
			if (lab_ending_in_log(record))
				lab_ending_describe(SIGKILL, LAB_MEMORY_NAMED, fault.text);
		} else if (add_process(record, state->dir, all, &fault) < 0)
			is = "silent";
		json_array_append_new(json_object_get(all, "processes"),
			json_pack("{s:s,s:s,s:I,s:s,s:s,s:s}", "name", record->name, "program",
				record->program, "pid", (json_int_t)record->pid, "state", is,
				"prefix", record->prefix, "fault", fault.text));
	}
	return all;
}

/* --- checks --- */

/* Adds the mapper that leads, even if it is on another machine. */
static void add_lead(json_t *mapping, const struct lab_lead *lead)
{
	json_object_set_new(
		mapping, "mapper", lead->host != NULL ? json_string(lead->host) : json_null());
	json_object_set_new(mapping, "mapper_elsewhere", json_boolean(lead->elsewhere));
	json_object_set_new(mapping, "mapper_silent", json_boolean(lead->silent));
	json_object_set_new(mapping, "mapper_epoch",
		lead->host != NULL ? json_integer(lead->epoch) : json_null());
	json_object_set_new(mapping, "mapper_heard_ns",
		lead->elsewhere ? json_integer(lead->heard_ns) : json_null());
}

/* Whether routes are in use everywhere; adds the answer to the document. */
static bool check_mapping(const struct lab *lab, const struct lab_state *state, json_t *all)
{
	json_t *mapping = json_object_get(all, "mapping");
	struct fault why = {""};
	struct lab_lead lead;
	json_t *leader;
	bool done;

	if (mapping == NULL)
		return true;
	lead = lab_mapping_lead(mapping, json_object_get(all, "elsewhere"));
	done = lab_mapping_done(mapping, state->processes == lab->plan->processes, &why) &&
	       lab_lead_lives(&lead, &why);
	add_lead(mapping, &lead);
	leader = lab_mapping_leader(mapping);
	json_object_set_new(mapping, "done", json_boolean(done));
	json_object_set_new(mapping, "why", json_string(done ? "" : why.text));
	json_object_set_new(mapping, "leader",
		leader != NULL ? json_incref(json_object_get(leader, "host")) : json_null());
	return done;
}

/* Removes latencies if frames have arrived and no sender had this machine's clock. */
static void forget_latencies(json_t *all)
{
	static const char *const names[] = {"network_latency_p50_ns", "network_latency_p99_ns"};
	const char *host;
	json_t *counters;

	if (json_array_size(json_object_get(all, "elsewhere")) == 0)
		return;
	json_object_foreach(json_object_get(all, "nics"), host, counters)
	{
		if (json_integer_value(json_object_get(counters, "frames_delivered")) == 0)
			continue;
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (json_integer_value(json_object_get(counters, names[i])) == 0)
				json_object_set_new(counters, names[i], json_null());
	}
}

static unsigned count_not(json_t *list, const char *wanted)
{
	unsigned count = 0;
	json_t *entry;
	size_t index;

	json_array_foreach(list, index, entry)
	{
		count += strcmp(lab_text(entry, "state"), wanted) != 0;
	}
	return count;
}

/* --- showing --- */

static uint64_t number(json_t *counters, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(counters, name));
}

static void print_processes(json_t *processes)
{
	json_t *process;
	size_t index;

	printf("%-16s %-12s %8s  %s\n", "PROCESS", "PROGRAM", "PID", "STATE");
	json_array_foreach(processes, index, process)
	{
		printf("%-16s %-12s %8" PRIu64 "  %s%s%s\n", lab_text(process, "name"),
			lab_text(process, "program"), number(process, "pid"),
			lab_text(process, "state"),
			lab_text(process, "fault")[0] != '\0' ? ": " : "",
			lab_text(process, "fault"));
	}
}

static void print_links(json_t *links)
{
	json_t *link;
	size_t index;

	printf("\n%-12s %-12s %s\n", "PORT", "PEER", "LINK");
	json_array_foreach(links, index, link)
	{
		printf("%-12s %-12s %s\n", lab_text(link, "port"), lab_text(link, "peer"),
			lab_text(link, "state"));
	}
}

/* Cables into another fabric, at the end, where they are seen. */
static void print_strangers(json_t *links)
{
	char text[LAB_READY_TEXT];
	json_t *link;
	size_t index;

	json_array_foreach(links, index, link)
	{
		if (strcmp(lab_text(link, "state"), "other fabric") != 0)
			continue;
		lab_ready_stranger(link, text, sizeof(text));
		puts(text);
	}
}

/* Prints the counters that are not zero. Unknown values are "-". */
static void print_devices(const char *title, json_t *devices)
{
	const char *device, *name;
	json_t *counters, *value;

	if (json_object_size(devices) > 0)
		printf("\n%s\n", title);
	json_object_foreach(devices, device, counters)
	{
		printf("%s:", device);
		json_object_foreach(counters, name, value)
		{
			if (json_integer_value(value) != 0)
				printf(" %s %" PRIu64, name, (uint64_t)json_integer_value(value));
			else if (json_is_null(value))
				printf(" %s -", name);
		}
		putchar('\n');
	}
}

static void print_lines(const char *title, json_t *lines)
{
	json_t *line;
	size_t index;

	json_array_foreach(lines, index, line) printf(
		"%s%s\n", title, json_string_value(line) != NULL ? json_string_value(line) : "");
}

static void print_leader(json_t *mapper)
{
	printf("%-16s %-12s %6" PRIu64 " %9" PRIu64 " %6" PRIu64 " %7" PRIu64 "\n",
		lab_text(mapper, "host"), lab_text(mapper, "state"), number(mapper, "epoch"),
		number(mapper, "switches"), number(mapper, "hosts"), number(mapper, "cables"));
	if (number(mapper, "first_map_ns") != 0)
		printf("  first routes after %.1f ms, last change took %.1f ms\n",
			(double)number(mapper, "first_map_ns") / 1e6,
			(double)number(mapper, "last_change_ns") / 1e6);
	if (lab_text(mapper, "fault")[0] != '\0')
		printf("  no routes: %s\n", lab_text(mapper, "fault"));
	if (lab_text(mapper, "fallback")[0] != '\0')
		printf("  routes by ud instead: %s\n", lab_text(mapper, "fallback"));
	print_lines("  not as expected: ", json_object_get(mapper, "miscabled"));
	print_lines("  found: ", json_object_get(mapper, "findings"));
}

/* Prints what this machine knows of a mapper on another one. */
static void print_distant(json_t *mapping)
{
	printf("%-16s %-12s %6" PRIu64 " %9s %6s %7s\n", lab_text(mapping, "mapper"), "elsewhere",
		number(mapping, "mapper_epoch"), "-", "-", "-");
	printf("  %s on another machine %s %.1f ms ago; what it has found is known there\n",
		lab_text(mapping, "mapper"),
		json_is_true(json_object_get(mapping, "mapper_silent")) ? "has led, last heard"
									: "leads, heard",
		(double)number(mapping, "mapper_heard_ns") / 1e6);
}

static void print_unused(json_t *agents)
{
	json_t *agent;
	size_t index;

	json_array_foreach(agents, index, agent)
	{
		if (json_is_true(json_object_get(agent, "tables_refused")))
			printf("  tables that could not be used: %s\n", lab_text(agent, "device"));
	}
}

/* "refused by s0: bad_tag 3" */
static void print_refusals(json_t *list, const char *key)
{
	const char *reason;
	json_t *entry, *count;
	size_t index;

	json_array_foreach(list, index, entry)
	{
		json_object_foreach(json_object_get(entry, "refused"), reason, count)
		{
			if (json_integer_value(count) != 0)
				printf("  refused by %s: %s %" PRIu64 "\n", lab_text(entry, key),
					reason, (uint64_t)json_integer_value(count));
		}
	}
}

static void print_mapping(json_t *mapping)
{
	json_t *mappers = json_object_get(mapping, "mappers"), *mapper;
	unsigned others = 0;
	size_t index;

	if (mapping == NULL)
		return;
	printf("\n%-16s %-12s %6s %9s %6s %7s\n", "MAPPER", "STATE", "EPOCH", "SWITCHES", "HOSTS",
		"CABLES");
	json_array_foreach(mappers, index, mapper)
	{
		if (lab_mapping_leads(mapper))
			print_leader(mapper);
		else
			others++;
	}
	if (json_is_true(json_object_get(mapping, "mapper_elsewhere")))
		print_distant(mapping);
	printf("  %u more stand by%s\n", others,
		json_is_true(json_object_get(mapping, "mapper_elsewhere")) ? " here" : "");
	print_unused(json_object_get(mapping, "agents"));
	print_refusals(mappers, "host");
	print_refusals(json_object_get(mapping, "agents"), "device");
	if (lab_text(mapping, "why")[0] != '\0')
		printf("  not done: %s\n", lab_text(mapping, "why"));
}

static void print_elsewhere(const json_t *elsewhere)
{
	if (json_array_size(elsewhere) == 0)
		return;
	printf("on other machines: ");
	lab_elsewhere_print(elsewhere, stdout);
	putchar('\n');
}

static void print_all(json_t *all, unsigned gone, unsigned down)
{
	print_processes(json_object_get(all, "processes"));
	print_links(json_object_get(all, "links"));
	print_mapping(json_object_get(all, "mapping"));
	print_devices("SWITCHES", json_object_get(all, "switches"));
	print_devices("INTERFACES", json_object_get(all, "nics"));
	print_devices("CONGESTION", json_object_get(all, "congestion"));
	printf("\nlab %s: %u processes are not running, %u ends of links are not up\n",
		lab_text(all, "lab"), gone, down);
	print_strangers(json_object_get(all, "links"));
	print_elsewhere(json_object_get(all, "elsewhere"));
}

enum weft_exit cmd_lab_status(const struct lab_arguments *arguments)
{
	struct lab_state state;
	struct lab lab;
	unsigned gone, down;
	json_t *all;
	bool up;
	enum weft_exit result = lab_open_running(arguments, "lab status", &lab, &state);

	if (result != EXIT_DONE) {
		if (arguments->json && result == EXIT_BAD_ANSWER)
			puts("{\"up\": false}");
		return result;
	}
	all = collect(&lab, &state);
	gone = count_not(json_object_get(all, "processes"), "running");
	down = count_not(json_object_get(all, "links"), "up");
	up = check_mapping(&lab, &state, all) && gone == 0 && down == 0;
	json_object_set_new(all, "up", json_boolean(up));
	forget_latencies(all);
	if (!arguments->json)
		print_all(all, gone, down);
	else
		command_print_json(json_incref(all), 0);
	json_decref(all);
	lab_state_free(&state);
	lab_close(&lab);
	return up ? EXIT_DONE : EXIT_BAD_ANSWER;
}
