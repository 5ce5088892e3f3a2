/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_graph.h"
#include "frame.h"

#define NO_WAY UINT32_MAX

struct judge {
	const struct topology *topology;
	struct channel_graph *channels;
	struct route_report *report;
	uint64_t *load;     /* by channel: routes over it */
	uint32_t *distance; /* by switch: links to 'centre', the destination's switch */
	uint32_t centre;
	uint32_t *queue;
	uint64_t links, minimal, itbs; /* sums over the far routes */
};

/* How a replay ended. */
struct replay {
	bool arrived;
	unsigned links; /* between switches */
	unsigned itbs;
};

static int judge_init(struct judge *judge, const struct topology *topology,
	struct route_report *report, struct fault *fault)
{
	memset(report, 0, sizeof(*report));
	*judge = (struct judge){.topology = topology, .report = report, .centre = NO_WAY};
	judge->channels = channel_graph_create(topology);
	judge->load = calloc(2u * topology->links + 1u, sizeof(*judge->load));
	judge->distance = calloc(topology->switches + 1u, sizeof(*judge->distance));
	judge->queue = calloc(topology->switches + 1u, sizeof(*judge->queue));
	if (judge->channels == NULL || judge->load == NULL || judge->distance == NULL ||
		judge->queue == NULL)
		return fault_set(
			fault, ENOMEM, "%s: no memory to verify its routes", topology->name);
	return 0;
}

static void judge_fini(struct judge *judge)
{
	channel_graph_destroy(judge->channels);
	free(judge->load);
	free(judge->distance);
	free(judge->queue);
}

static void note_evidence(struct judge *judge, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Only the first finding is kept. */
static void note_evidence(struct judge *judge, const char *format, ...)
{
	va_list args;

	if (judge->report->evidence[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(judge->report->evidence, sizeof(judge->report->evidence), format, args);
	va_end(args);
}

static void note_invalid(struct judge *judge, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place)
{
	char name[2 * TOPOLOGY_NAME_MAX];

	judge->report->invalid++;
	topology_port_name(judge->topology, place, name, sizeof(name));
	note_evidence(judge, "%s to %s: %s at %s", judge->topology->host_at[source].name,
		judge->topology->host_at[destination].name, reason, name);
}

static uint32_t host_switch(const struct judge *judge, uint32_t host)
{
	uint32_t out = judge->channels->host_out[host];

	if (out == CHANNEL_NONE || judge->channels->to[out].kind != DEVICE_SWITCH)
		return NO_WAY;
	return judge->channels->to[out].device;
}

/* Distances from all switches to that of the host (links work both ways). */
static void measure_distances(struct judge *judge, uint32_t host)
{
	uint32_t start = host_switch(judge, host), head = 0, tail = 0;

	if (start == judge->centre)
		return;
	judge->centre = start;
	memset(judge->distance, 0xFF, judge->topology->switches * sizeof(*judge->distance));
	if (start == NO_WAY)
		return;
	judge->distance[start] = 0;
	for (judge->queue[tail++] = start; head < tail; head++) {
		uint32_t at = judge->queue[head];

		for (unsigned port = 0; port < TOPOLOGY_PORTS_MAX; port++) {
			uint32_t out = channel_graph_out(judge->channels, at, port), to;

			if (out == CHANNEL_NONE || !channel_graph_inner(judge->channels, out))
				continue;
			to = judge->channels->to[out].device;
			if (judge->distance[to] != NO_WAY)
				continue;
			judge->distance[to] = judge->distance[at] + 1;
			judge->queue[tail++] = to;
		}
	}
}

/* A valid route of the pair goes into the sums. */
static void count_route(struct judge *judge, uint32_t source_switch, const struct replay *replay)
{
	struct route_report *report = judge->report;

	report->routes++;
	if (replay->itbs > report->itbs_max)
		report->itbs_max = replay->itbs;
	if (judge->distance[source_switch] == 0)
		return;
	report->far_routes++;
	judge->links += replay->links;
	judge->itbs += replay->itbs;
	if (replay->links == judge->distance[source_switch])
		judge->minimal++;
	if (replay->links > report->max_switch_links)
		report->max_switch_links = replay->links;
}

/* A message on its way: it has come by 'channel' to the device at its end. */
struct walk {
	struct judge *judge;
	uint32_t channel;
	struct replay replay;
};

static struct topology_port walk_at(const struct walk *walk)
{
	return walk->judge->channels->to[walk->channel];
}

/* Out of a switch. What is wrong, or NULL. */
static const char *walk_port(struct walk *walk, unsigned port)
{
	struct channel_graph *channels = walk->judge->channels;
	uint32_t out = channel_graph_out(channels, walk_at(walk).device, port);

	if (out == CHANNEL_NONE)
		return "it leaves by a port without a link";
	channel_graph_depend(channels, walk->channel, port);
	walk->judge->load[out]++;
	walk->replay.links += channel_graph_inner(channels, out);
	walk->channel = out;
	return NULL;
}

/* Into a host: absorbed to be sent on, or delivered. */
static const char *walk_host(struct walk *walk, uint8_t type, uint32_t destination)
{
	uint32_t host = walk_at(walk).device;

	if (type == ROUTE_TYPE_ITB) {
		walk->replay.itbs++;
		walk->channel = walk->judge->channels->host_out[host];
		return NULL;
	}
	if (type != ROUTE_TYPE_HOST)
		return "it has an element of no known type";
	if (host != destination)
		return "it ends";
	walk->replay.arrived = true;
	return NULL;
}

static const char *walk_element(struct walk *walk, uint8_t element, uint32_t destination)
{
	bool at_switch = walk_at(walk).kind == DEVICE_SWITCH;

	if (walk->replay.arrived)
		return "it goes on after its end";
	if ((element & ROUTE_PORT_BIT) != 0)
		return at_switch ? walk_port(walk, element & ROUTE_PORT_MASK)
				 : "it has a port element";
	return at_switch ? "it has an interface element" : walk_host(walk, element, destination);
}

/* One route as the devices would carry it out. */
static struct replay replay_route(struct judge *judge, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	struct walk walk = {.judge = judge, .channel = judge->channels->host_out[source]};
	const char *wrong = NULL;

	for (unsigned i = 0; i < length && wrong == NULL; i++)
		wrong = walk_element(&walk, route[i], destination);
	if (wrong == NULL && !walk.replay.arrived)
		wrong = "it has no end";
	if (wrong != NULL) {
		walk.replay.arrived = false;
		note_invalid(judge, source, destination, wrong, walk_at(&walk));
	}
	return walk.replay;
}

static void judge_pair(
	struct judge *judge, const struct route_set *set, uint32_t source, uint32_t destination)
{
	unsigned count = route_set_count(set, source, destination), valid = 0, length;
	uint32_t at = host_switch(judge, source);

	for (unsigned i = 0; i < count && at != NO_WAY; i++) {
		const uint8_t *route = route_set_get(set, source, destination, i, &length);
		struct replay replay = replay_route(judge, source, destination, route, length);

		if (!replay.arrived)
			continue;
		valid++;
		count_route(judge, at, &replay);
	}
	judge->report->pairs++;
	if (valid > 0)
		return;
	judge->report->unconnected++;
	note_evidence(judge, "%s to %s: no route", judge->topology->host_at[source].name,
		judge->topology->host_at[destination].name);
}

/* One way through the tables. */
static struct replay replay_table(
	struct judge *judge, const struct route_table *table, uint32_t source, uint32_t destination)
{
	struct walk walk = {.judge = judge, .channel = judge->channels->host_out[source]};
	const char *wrong = NULL;

	for (uint32_t steps = 0; walk_at(&walk).kind == DEVICE_SWITCH && wrong == NULL; steps++) {
		uint8_t port = route_table_row(table, walk_at(&walk).device)[destination];

		if (steps > judge->topology->switches)
			wrong = "the tables send it in a circle";
		else if (port == ROUTE_TABLE_NONE)
			wrong = "there is no entry";
		else
			wrong = walk_port(&walk, port);
	}
	if (wrong == NULL)
		wrong = walk_host(&walk, ROUTE_TYPE_HOST, destination);
	if (wrong != NULL)
		note_invalid(judge, source, destination, wrong, walk_at(&walk));
	return walk.replay;
}

static void judge_walk(
	struct judge *judge, const struct route_table *table, uint32_t source, uint32_t destination)
{
	uint32_t at = host_switch(judge, source);
	struct replay replay = {0};

	judge->report->pairs++;
	if (at != NO_WAY && route_table_row(table, at)[destination] != ROUTE_TABLE_NONE)
		replay = replay_table(judge, table, source, destination);
	if (replay.arrived) {
		count_route(judge, at, &replay);
		return;
	}
	judge->report->unconnected++;
	note_evidence(judge, "%s to %s: no way", judge->topology->host_at[source].name,
		judge->topology->host_at[destination].name);
}

static void sum_up_loads(struct judge *judge)
{
	struct route_report *report = judge->report;
	double sum = 0, squares = 0;
	uint64_t channels = 0;

	for (uint32_t channel = 0; channel < judge->channels->channels; channel++) {
		uint64_t load = judge->load[channel];

		if (!channel_graph_inner(judge->channels, channel))
			continue;
		if (channels++ == 0 || load < report->link_load.min)
			report->link_load.min = load;
		if (load > report->link_load.max)
			report->link_load.max = load;
		sum += (double)load;
		squares += (double)load * (double)load;
	}
	if (channels == 0)
		return;
	report->link_load.mean = sum / (double)channels;
	report->link_load.stddev = sqrt(fmax(
		0, squares / (double)channels - report->link_load.mean * report->link_load.mean));
}

static int sum_up_cycle(struct judge *judge)
{
	struct route_report *report = judge->report;
	char name[2 * TOPOLOGY_NAME_MAX];
	uint32_t *cycle, length;
	int result = channel_graph_find_cycle(judge->channels, &cycle, &length);

	if (result < 0)
		return result;
	report->deadlock_free = length == 0;
	if (length == 0)
		return 0;
	report->cycle = calloc(length, sizeof(*report->cycle));
	if (report->cycle != NULL) {
		report->cycle_length = length;
		for (uint32_t i = 0; i < length; i++)
			report->cycle[i] = judge->channels->from[cycle[i]];
		channel_graph_name(judge->channels, cycle[0], name, sizeof(name));
		note_evidence(judge, "a cycle of %u channel dependencies through %s", length, name);
	}
	free(cycle);
	return report->cycle == NULL ? -ENOMEM : 0;
}

static int sum_up(struct judge *judge, struct fault *fault)
{
	struct route_report *report = judge->report;
	double far = (double)report->far_routes;

	report->connected = report->unconnected == 0;
	if (report->far_routes > 0) {
		report->minimal_fraction = (double)judge->minimal / far;
		report->mean_switch_links = (double)judge->links / far;
		report->itbs_mean = (double)judge->itbs / far;
	}
	sum_up_loads(judge);
	if (sum_up_cycle(judge) == 0)
		return 0;
	return fault_set(
		fault, ENOMEM, "%s: no memory to verify its routes", judge->topology->name);
}

/* Either of 'set' and 'table' is NULL. */
static int judge_all(const struct topology *topology, const struct route_set *set,
	const struct route_table *table, struct route_report *report, struct fault *fault)
{
	struct judge judge;
	int result = judge_init(&judge, topology, report, fault);

	for (uint32_t destination = 0; destination < topology->hosts && result == 0;
		destination++) {
		measure_distances(&judge, destination);
		for (uint32_t source = 0; source < topology->hosts; source++) {
			if (source == destination)
				continue;
			if (set != NULL)
				judge_pair(&judge, set, source, destination);
			else
				judge_walk(&judge, table, source, destination);
		}
	}
	if (result == 0)
		result = sum_up(&judge, fault);
	judge_fini(&judge);
	return result;
}

int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct fault *fault)
{
	if (route_set_hosts(set) != topology->hosts)
		return fault_set(fault, EINVAL, "%s: routes for %u hosts, expected %u",
			topology->name, route_set_hosts(set), topology->hosts);
	return judge_all(topology, set, NULL, report, fault);
}

int route_verify_table(const struct topology *topology, const struct route_table *table,
	struct route_report *report, struct fault *fault)
{
	if (table->hosts != topology->hosts || table->switches != topology->switches)
		return fault_set(fault, EINVAL,
			"%s: tables of %u switches and %u hosts, expected %u and %u",
			topology->name, table->switches, table->hosts, topology->switches,
			topology->hosts);
	return judge_all(topology, NULL, table, report, fault);
}

void route_report_free(struct route_report *report)
{
	free(report->cycle);
	report->cycle = NULL;
	report->cycle_length = 0;
}
