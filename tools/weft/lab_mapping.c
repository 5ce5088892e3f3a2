/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_mapping.h"

#include <string.h>

json_t *lab_mapping_create(void)
{
	return json_pack("{s:[],s:[]}", "mappers", "agents");
}

int lab_mapping_add(json_t *mapping, struct lab_connection *connection,
	const struct lab_record *record, const char *dir, struct fault *fault)
{
	json_t *part = lab_control_json(connection, record, dir, "mapper status", fault);

	if (part == NULL)
		return -EPROTO;
	json_array_extend(json_object_get(mapping, "mappers"), json_object_get(part, "mappers"));
	json_array_extend(json_object_get(mapping, "agents"), json_object_get(part, "agents"));
	json_decref(part);
	return 0;
}

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value != NULL ? value : "";
}

bool lab_mapping_leads(const json_t *mapper)
{
	const char *state = text(mapper, "state");

	return strcmp(state, "mapping") == 0 || strcmp(state, "distributing") == 0 ||
	       strcmp(state, "leading") == 0;
}

json_t *lab_mapping_leader(const json_t *mapping)
{
	json_int_t most = -1;
	json_t *mapper, *leader = NULL;
	size_t index;

	json_array_foreach(json_object_get(mapping, "mappers"), index, mapper)
	{
		json_int_t switches = json_integer_value(json_object_get(mapper, "switches"));

		if (!lab_mapping_leads(mapper) || switches <= most)
			continue;
		most = switches;
		leader = mapper;
	}
	return leader;
}

unsigned lab_mapping_leaders(const json_t *mapping)
{
	unsigned count = 0;
	json_t *mapper;
	size_t index;

	json_array_foreach(json_object_get(mapping, "mappers"), index, mapper) count +=
		lab_mapping_leads(mapper);
	return count;
}

static int check_leader(const json_t *mapping, const json_t *leader, struct fault *why)
{
	if (lab_mapping_leaders(mapping) > 1)
		return fault_set(why, EAGAIN, "%u mappers lead: the fabric is in parts",
			lab_mapping_leaders(mapping));
	if (text(leader, "fault")[0] != '\0')
		return fault_set(why, EAGAIN, "mapper %s has no routes: %s", text(leader, "host"),
			text(leader, "fault"));
	if (strcmp(text(leader, "state"), "leading") != 0)
		return fault_set(why, EAGAIN, "mapper %s is still %s", text(leader, "host"),
			text(leader, "state"));
	if (json_is_true(json_object_get(leader, "changing")))
		return fault_set(
			why, EAGAIN, "mapper %s has routes to change", text(leader, "host"));
	return 0;
}

static int check_agent(const json_t *agent, const char *leader, struct fault *why)
{
	const char *device = text(agent, "device");

	if (strcmp(text(agent, "follows"), leader) != 0)
		return fault_set(why, EAGAIN, "%s does not follow %s", device, leader);
	if (json_is_true(json_object_get(agent, "paused")))
		return fault_set(why, EAGAIN, "%s is paused", device);
	if (json_integer_value(json_object_get(agent, "epoch")) == 0)
		return fault_set(why, EAGAIN, "%s has no tables", device);
	if (json_is_true(json_object_get(agent, "tables_refused")))
		return fault_set(why, EAGAIN,
			"%s cannot use its last tables, and keeps those from before", device);
	return 0;
}

bool lab_mapping_done(const json_t *mapping, bool alone, struct fault *why)
{
	const json_t *agents = json_object_get(mapping, "agents");
	const json_t *leader = lab_mapping_leader(mapping);
	const char *name;
	json_t *agent;
	size_t index;

	if (leader == NULL && (alone || json_array_size(agents) == 0)) {
		fault_set(why, EAGAIN, "no mapper leads");
		return false;
	}
	if (leader != NULL && check_leader(mapping, leader, why) < 0)
		return false;
	/* Where it runs elsewhere, it is the one that all follow. */
	name = leader != NULL ? text(leader, "host") : text(json_array_get(agents, 0), "follows");
	json_array_foreach(agents, index, agent)
	{
		if (check_agent(agent, name, why) < 0)
			return false;
	}
	return true;
}
