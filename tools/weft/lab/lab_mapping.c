/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_mapping.h"

#include <string.h>

#include "lab_state.h"
#include "topo/topology_hosts.h"

json_t *lab_mapping_create(void)
{
	return json_pack("{s:[],s:[]}", "mappers", "agents");
}

int lab_mapping_add(
	json_t *mapping, const struct lab_record *record, const char *dir, struct error *error)
{
	struct lab_connection connection;
	int result = lab_connect(&connection, record, error);
	json_t *part;

	if (result < 0)
		return result;
	part = lab_control_json(&connection, record, dir, "mapper status", error);
	lab_disconnect(&connection);
	if (part == NULL)
		return -EPROTO;
	json_array_extend(json_object_get(mapping, "mappers"), json_object_get(part, "mappers"));
	json_array_extend(json_object_get(mapping, "agents"), json_object_get(part, "agents"));
	json_decref(part);
	return 0;
}

bool lab_mapping_leads(const json_t *mapper)
{
	const char *state = lab_text(mapper, "state");

	return strcmp(state, "mapping") == 0 || strcmp(state, "distributing") == 0 ||
	       strcmp(state, "leading") == 0;
}

json_t *lab_mapping_leader(const json_t *mapping)
{
	json_int_t max = -1;
	json_t *mapper, *leader = NULL;

	for (size_t i = 0;
		(mapper = json_array_get(json_object_get(mapping, "mappers"), i)) != NULL; i++) {
		json_int_t switches = json_integer_value(json_object_get(mapper, "switches"));

		if (!lab_mapping_leads(mapper) || switches <= max)
			continue;
		max = switches;
		leader = mapper;
	}
	return leader;
}

/* Merges what a device here reports about the mapper that it follows. */
static void hear(struct lab_lead *lead, const json_t *agent)
{
	json_int_t epoch = json_integer_value(json_object_get(agent, "epoch"));
	json_int_t heard_ns = json_integer_value(json_object_get(agent, "heard_ns"));

	lead->epoch = epoch > lead->epoch ? epoch : lead->epoch;
	lead->heard_ns = heard_ns < lead->heard_ns ? heard_ns : lead->heard_ns;
	lead->silent &= json_flag_of(agent, "silent");
}

struct lab_lead lab_mapping_lead(const json_t *mapping, const json_t *elsewhere)
{
	const json_t *leader = lab_mapping_leader(mapping);
	struct lab_lead lead = {.heard_ns = INT64_MAX, .silent = true};
	json_t *agent;

	if (leader != NULL)
		return (struct lab_lead){.host = lab_text(leader, "host"),
			.epoch = json_integer_value(json_object_get(leader, "epoch"))};
	for (size_t i = 0; (agent = json_array_get(json_object_get(mapping, "agents"), i)) != NULL;
		i++) {
		const char *follows = lab_text(agent, "follows");

		/* An identity that does not belong to any host of the lab is not on this
		 * machine. */
		if (lead.host == NULL &&
			(strncmp(follows, "0x", 2) == 0 || lab_elsewhere_has(elsewhere, follows)))
			lead.host = follows;
		if (lead.host != NULL && strcmp(follows, lead.host) == 0)
			hear(&lead, agent);
	}
	lead.elsewhere = lead.host != NULL;
	return lead.elsewhere ? lead : (struct lab_lead){.host = NULL};
}

bool lab_lead_lives(const struct lab_lead *lead, struct error *why)
{
	if (lead->host == NULL)
		error_set(why, EAGAIN, "no mapper leads");
	else if (lead->silent)
		error_set(why, EAGAIN,
			"mapper %s on another machine was last heard from %.1f s ago; is it running, and is there a path to it?",
			lead->host, (double)lead->heard_ns / 1e9);
	return lead->host != NULL && !lead->silent;
}

static uint32_t others_of(const struct topology *topology, const char *name)
{
	int32_t host = topology_find_host(topology, name);
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->hosts; i++)
		count += !topology->host_at[i].absent && (uint32_t)host != i &&
			 (host < 0 || !topology_apart(topology, (uint32_t)host, i));
	return count;
}

bool lab_mapping_reaches(const json_t *mapping, const struct topology *topology, struct error *why)
{
	json_t *agent;

	for (size_t i = 0; (agent = json_array_get(json_object_get(mapping, "agents"), i)) != NULL;
		i++) {
		const json_t *reached = json_object_get(agent, "reached");
		uint32_t others;

		if (!json_is_integer(reached))
			continue;
		others = others_of(topology, lab_text(agent, "device"));
		if (json_integer_value(reached) >= others)
			continue;
		error_set(why, EAGAIN, "%s has routes to %d of %u other hosts",
			lab_text(agent, "device"), (int)json_integer_value(reached), others);
		return false;
	}
	return true;
}

unsigned lab_mapping_leaders(const json_t *mapping)
{
	unsigned count = 0;
	json_t *mapper;

	for (size_t i = 0;
		(mapper = json_array_get(json_object_get(mapping, "mappers"), i)) != NULL; i++)
		count += lab_mapping_leads(mapper);
	return count;
}

static int check_leader(const json_t *leader, struct error *why)
{
	if (lab_text(leader, "fault")[0] != '\0')
		return error_set(why, EAGAIN, "mapper %s has no routes: %s",
			lab_text(leader, "host"), lab_text(leader, "fault"));
	if (strcmp(lab_text(leader, "state"), "leading") != 0)
		return error_set(why, EAGAIN, "mapper %s is still %s", lab_text(leader, "host"),
			lab_text(leader, "state"));
	if (json_flag_of(leader, "changing"))
		return error_set(why, EAGAIN, "mapper %s is still changing routes",
			lab_text(leader, "host"));
	return 0;
}

static int check_leaders(const json_t *mapping, uint32_t planes, struct error *why)
{
	unsigned leaders = lab_mapping_leaders(mapping);
	json_t *mapper;

	if (leaders > planes)
		return error_set(
			why, EAGAIN, "%u mappers lead: the fabric is split into parts", leaders);
	for (size_t i = 0;
		(mapper = json_array_get(json_object_get(mapping, "mappers"), i)) != NULL; i++) {
		if (lab_mapping_leads(mapper) && check_leader(mapper, why) < 0)
			return -EAGAIN;
	}
	return 0;
}

/* Returns a leading mapper; if there are several, the one that the device follows. */
static json_t *find_leader(const json_t *mapping, const char *host)
{
	json_t *mapper;

	for (size_t i = 0;
		(mapper = json_array_get(json_object_get(mapping, "mappers"), i)) != NULL; i++) {
		if (lab_mapping_leads(mapper) && strcmp(lab_text(mapper, "host"), host) == 0)
			return mapper;
	}
	return NULL;
}

json_t *lab_mapping_leader_of(const json_t *mapping, const char *device)
{
	const json_t *agent = lab_row(json_object_get(mapping, "agents"), "device", device);
	json_t *leader = agent != NULL ? find_leader(mapping, lab_text(agent, "follows")) : NULL;

	return leader != NULL ? leader : lab_mapping_leader(mapping);
}

static int check_agent(const json_t *agent, const char *leader, struct error *why)
{
	const char *device = lab_text(agent, "device");

	if (strcmp(lab_text(agent, "follows"), leader) != 0)
		return error_set(why, EAGAIN, "%s does not follow %s", device, leader);
	if (json_flag_of(agent, "paused"))
		return error_set(why, EAGAIN, "%s is paused", device);
	if (json_count_of(agent, "epoch") == 0)
		return error_set(why, EAGAIN, "%s has no tables", device);
	if (json_flag_of(agent, "tables_refused"))
		return error_set(why, EAGAIN,
			"%s cannot use its latest tables and keeps the previous ones", device);
	return 0;
}

static const char *first_followed(const json_t *agents)
{
	for (size_t i = 0; i < json_array_size(agents); i++)
		if (lab_text(json_array_get(agents, i), "follows")[0] != '\0')
			return lab_text(json_array_get(agents, i), "follows");
	return "";
}

bool lab_mapping_done(const json_t *mapping, bool alone, uint32_t planes, struct error *why)
{
	const json_t *agents = json_object_get(mapping, "agents");
	const json_t *leader = lab_mapping_leader(mapping);
	const char *name;
	json_t *agent;

	if (leader == NULL && (alone || json_array_size(agents) == 0)) {
		error_set(why, EAGAIN, "no mapper leads");
		return false;
	}
	if (leader != NULL && check_leaders(mapping, planes, why) < 0)
		return false;
	/* If the mapper runs on another machine, all devices must follow it. */
	name = leader != NULL ? lab_text(leader, "host") : first_followed(agents);
	if (name[0] == '\0') {
		error_set(why, EAGAIN,
			"no mapper leads here, and none on another machine was detected");
		return false;
	}
	for (size_t i = 0; (agent = json_array_get(agents, i)) != NULL; i++) {
		const char *follows = lab_text(agent, "follows");
		bool other = planes > 1 && (find_leader(mapping, follows) != NULL ||
						   (!alone && follows[0] != '\0'));

		if (check_agent(agent, other ? follows : name, why) < 0)
			return false;
	}
	return true;
}
