/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Writes the state of a process's agents and mappers to files. The thread that runs them writes the
 * files, so that each file is a consistent snapshot. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "control_plane_private.h"
#include "os/atomic_file.h"
#include "topo/topology.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *refused(const uint64_t count[MAPPER_REFUSED_COUNT])
{
	json_t *all = json_object();

	for (unsigned i = MAPPER_REFUSED_NONE + 1; i < MAPPER_REFUSED_COUNT; i++)
		json_object_set_new(all, mapper_refusal_name(i), number(count[i]));
	return all;
}

/* --- agents --- */

static json_t *ports_of(uint64_t set)
{
	json_t *all = json_array();

	for (; set != 0; set &= set - 1)
		json_array_append_new(all, number((unsigned)__builtin_ctzll(set)));
	return all;
}

/* Returns the time since the device last received a frame from the mapper that it follows: 0 if its
 * own mapper leads, null if it follows none. */
static json_t *heard_before(const struct mapper_agent *agent, weft_time now)
{
	if (agent->followed == 0)
		return json_null();
	return number(
		agent->leading || now < agent->heard_at ? 0 : (now - agent->heard_at) / PS_PER_NS);
}

/* Returns true if the mapper has been silent for longer than any live mapper, even on a busy
 * machine: a mapper contacts each device twice within a lease. */
static bool hears_nothing(const struct mapper_agent *agent, weft_time now)
{
	return agent->followed != 0 && !agent->leading && now > agent->heard_at &&
	       now - agent->heard_at > 2 * agent->config.lease_ps;
}

static json_t *agent_status(
	const struct control_plane *plane, const struct control_device *device, weft_time now)
{
	const struct mapper_agent *agent = &device->agent;
	char follows[64] = "";

	if (agent->followed != 0)
		control_plane_name_of(plane, agent->followed, follows);
	/* 'reached' is the number of other hosts that a host has a route to; null for a switch. */
	return json_pack(
		"{s:s, s:s, s:o, s:b, s:o, s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"device", device->name, "follows", follows, "heard_ns", heard_before(agent, now),
		"silent", hears_nothing(agent, now), "reached",
		device->config.kind == DEVICE_HOST ? number(device->reached) : json_null(), "epoch",
		(json_int_t)agent->epoch, "number", (json_int_t)agent->number, "paused",
		agent->paused, "tables_refused", device_control_has_refused(device->control),
		"linked", ports_of(agent->linked), "refused", refused(agent->refused), "dropped_up",
		number(device_control_dropped_up(device->control)), "dropped_down",
		number(device_control_dropped_down(device->control)), "commits_refused",
		number(device_control_refusals(device->control)), "tables_without_memory",
		number(device->tables_no_memory), "pauses_left", number(agent->pauses_left));
}

/* --- mappers --- */

static const char *state_name(enum mapper_state state)
{
	static const char *const name[] = {
		[MAPPER_LISTENING] = "listening",
		[MAPPER_STANDING_BY] = "standing-by",
		[MAPPER_MAPPING] = "mapping",
		[MAPPER_DISTRIBUTING] = "distributing",
		[MAPPER_LEADING] = "leading",
	};

	return name[state];
}

static json_t *counters(const struct mapper *mapper)
{
	const struct mapper_counters *count = &mapper->counters;
	json_t *all = json_object();

	json_object_set_new(all, "maps", number(count->maps));
	json_object_set_new(all, "unchanged", number(count->unchanged));
	json_object_set_new(all, "live", number(count->live));
	json_object_set_new(all, "paused", number(count->paused));
	json_object_set_new(all, "found", number(count->found));
	json_object_set_new(all, "called_off", number(count->called_off));
	json_object_set_new(all, "led", number(count->led));
	json_object_set_new(all, "stepped_down", number(count->stepped_down));
	json_object_set_new(all, "heartbeats", number(count->heartbeats));
	json_object_set_new(all, "reports", number(count->reports));
	json_object_set_new(all, "probes", number(mapper->discovery.sent));
	json_object_set_new(all, "probes_repeated", number(mapper->discovery.retried));
	json_object_set_new(all, "commands", number(mapper->distribution.sent));
	json_object_set_new(all, "commands_repeated", number(mapper->distribution.retried));
	json_object_set_new(all, "purges", number(mapper->distribution.purges));
	return all;
}

static json_t *findings(const struct mapper *mapper)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < mapper->discovery.findings; i++) {
		const struct discovery_finding *finding = &mapper->discovery.finding[i];
		const struct map_device *device = &mapper->map.device[finding->device];
		char text[160];

		snprintf(text, sizeof(text), "%.*s:%u: %s", (int)device->facts.name_length,
			device->facts.name, finding->port, discovery_finding_name(finding->kind));
		json_array_append_new(all, json_string(text));
	}
	return all;
}

static json_t *lines_of(const char *text)
{
	json_t *all = json_array();

	while (text != NULL && *text != '\0') {
		size_t length = strcspn(text, "\n");

		json_array_append_new(all, json_stringn(text, length));
		text += length + (text[length] == '\n');
	}
	return all;
}

/* Adds the numbers of devices and cables present in the map. */
static void add_map(json_t *into, const struct mapper *mapper)
{
	uint64_t count[2] = {0, 0}, ends = 0;

	for (uint32_t i = 0; i < mapper->map.devices; i++) {
		const struct map_device *device = &mapper->map.device[i];

		if (!device->present)
			continue;
		count[device->facts.kind == MAPPER_HOST]++;
		for (unsigned p = 0; p < device->facts.ports; p++)
			ends += device->port[p].state == MAP_LINKED;
	}
	json_object_set_new(into, "devices", number(count[0] + count[1]));
	json_object_set_new(into, "switches", number(count[0]));
	json_object_set_new(into, "hosts", number(count[1]));
	json_object_set_new(into, "cables", number(ends / 2));
}

static json_t *mapper_status(const struct control_plane *plane, const struct control_device *device)
{
	const struct mapper *mapper = &device->mapper->mapper;
	char why[CONTROL_WHY_MAX];
	json_t *all;

	control_mapper_fallback_reason(plane, device->mapper, why);
	all = json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:s, s:s, s:I, s:I}", "host", device->name,
		"state", state_name(mapper->state), "changing", device->mapper->changing,
		"priority", (json_int_t)device->config.priority, "epoch", (json_int_t)mapper->epoch,
		"generation", (json_int_t)mapper->generation_number, "fault",
		mapper_leads(mapper) ? mapper->error.text : "", "fallback",
		mapper_leads(mapper) ? why : "", "first_map_ns",
		(json_int_t)ps_to_ns(device->mapper->first_map_ps), "last_change_ns",
		(json_int_t)ps_to_ns(device->mapper->last_change_ps));

	if (all == NULL)
		return NULL;
	add_map(all, mapper);
	json_object_set_new(all, "findings", findings(mapper));
	json_object_set_new(all, "miscabled", lines_of(device->mapper->miscabled));
	json_object_set_new(all, "counters", counters(mapper));
	json_object_set_new(all, "refused", refused(mapper->counters.refused));
	return all;
}

static json_t *status(const struct control_plane *plane, weft_time now)
{
	json_t *mappers = json_array(), *agents = json_array();

	for (unsigned i = 0; i < plane->devices; i++) {
		if (control_device_is_absent(plane, &plane->device[i]))
			continue;
		json_array_append_new(agents, agent_status(plane, &plane->device[i], now));
		if (plane->device[i].mapper != NULL)
			json_array_append_new(mappers, mapper_status(plane, &plane->device[i]));
	}
	return json_pack("{s:o, s:o}", "mappers", mappers, "agents", agents);
}

/* --- files --- */

/* Writes the file atomically. */
static void serve_status(const struct control_plane *plane, const char *path, weft_time now)
{
	struct atomic_file file = {.path = path};
	json_t *all = status(plane, now);

	if (all != NULL && atomic_file_open(&file, NULL) == 0) {
		if (json_dumpf(all, file.file, JSON_COMPACT) == 0)
			atomic_file_close(&file, NULL);
		else
			atomic_file_discard(&file);
	}
	json_decref(all);
}

/* Writes the topology without unconnected hosts, which a topology file cannot express. */
static void write_map(const struct fabric_map *map, const char *path)
{
	struct atomic_file file = {.path = path};
	struct error error;
	struct topology *found = fabric_map_found(map, &error);
	struct topology *attached = found != NULL ? topology_attached(found, &error) : NULL;

	if (attached != NULL && atomic_file_open(&file, NULL) == 0) {
		if (topology_write(attached, file.file) == 0)
			atomic_file_close(&file, NULL);
		else
			atomic_file_discard(&file);
	}
	topology_destroy(attached);
	topology_destroy(found);
}

static void serve_map(const struct control_plane *plane, const char *host, const char *path)
{
	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_device *device = &plane->device[i];

		if (device->mapper != NULL && strcmp(device->name, host) == 0)
			write_map(&device->mapper->mapper.map, path);
	}
}

void control_plane_serve(const struct control_plane *plane, const char *request, weft_time now)
{
	char host[64];
	int length = 0;

	if (strncmp(request, "status ", 7) == 0)
		serve_status(plane, request + 7, now);
	else if (strncmp(request, "routes ", 7) == 0)
		control_serve_routes(plane, request + 7);
	else if (sscanf(request, "map %63s %n", host, &length) == 1 && length > 0)
		serve_map(plane, host, request + length);
}
