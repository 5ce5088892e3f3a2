/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify_private.h"

static int judge_init(struct judge *judge, const struct topology *topology,
	const struct vc_rule *rule, struct route_report *report, struct fault *fault)
{
	memset(report, 0, sizeof(*report));
	*judge = (struct judge){.topology = topology, .report = report, .centre = JUDGE_NO_WAY};
	judge->channels = channel_graph_create(topology, rule);
	judge->load = calloc(2u * topology->links + 1u, sizeof(*judge->load));
	judge->distance = malloc((topology->switches + 1u) * sizeof(*judge->distance));
	judge->queue = calloc(topology->switches + 1u, sizeof(*judge->queue));
	judge->answered = calloc(topology->hosts + 1u, sizeof(*judge->answered));
	if (judge->channels == NULL || judge->load == NULL || judge->distance == NULL ||
		judge->queue == NULL || judge->answered == NULL || judge_walk_create(judge) < 0)
		return fault_set(
			fault, ENOMEM, "%s: no memory to verify its routes", topology->name);
	memset(judge->distance, 0xFF, topology->switches * sizeof(*judge->distance));
	report->vc_classes = judge->channels->classes;
	return 0;
}

static void judge_fini(struct judge *judge)
{
	judge_walk_destroy(judge);
	channel_graph_destroy(judge->channels);
	free(judge->load);
	free(judge->distance);
	free(judge->queue);
	free(judge->answered);
}

void judge_note(struct judge *judge, const char *format, ...)
{
	va_list args;

	if (judge->report->evidence[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(judge->report->evidence, sizeof(judge->report->evidence), format, args);
	va_end(args);
}

void judge_note_invalid(struct judge *judge, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place)
{
	const struct topology_device *host = judge->topology->host_at;
	char name[2 * TOPOLOGY_NAME_MAX];

	judge->report->invalid++;
	topology_port_name(judge->topology, place, name, sizeof(name));
	judge_note(judge, "%s to %s: %s at %s",
		source == JUDGE_NO_WAY ? "anybody" : host[source].name, host[destination].name,
		reason, name);
}

/* Distances from all switches to that of the host (links work both ways). */
static void measure_distances(struct judge *judge, uint32_t host)
{
	uint32_t start = judge_host_switch(judge, host), head = 0, tail = 0;

	if (start == judge->centre)
		return;
	judge->centre = start;
	memset(judge->distance, 0xFF, judge->topology->switches * sizeof(*judge->distance));
	if (start == JUDGE_NO_WAY)
		return;
	judge->distance[start] = 0;
	for (judge->queue[tail++] = start; head < tail; head++) {
		uint32_t at = judge->queue[head];

		for (uint64_t ports = judge_inner_ports(judge, at); ports != 0;
			ports &= ports - 1) {
			uint32_t out = channel_graph_out(
				judge->channels, at, (unsigned)__builtin_ctzll(ports));
			uint32_t to = judge->channels->to[out].device;

			if (judge->distance[to] != JUDGE_NO_WAY)
				continue;
			judge->distance[to] = judge->distance[at] + 1;
			judge->queue[tail++] = to;
		}
	}
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
	const struct channel_graph *channels = judge->channels;
	struct route_report *report = judge->report;
	char name[2 * TOPOLOGY_NAME_MAX];
	uint32_t *cycle, length;
	int result = channel_graph_find_cycle(channels, &cycle, &length);

	if (result < 0)
		return result;
	report->deadlock_free = length == 0;
	if (length == 0)
		return 0;
	report->cycle = calloc(length, sizeof(*report->cycle));
	if (report->cycle != NULL) {
		report->cycle_length = length;
		for (uint32_t i = 0; i < length; i++)
			report->cycle[i] = (struct route_channel){
				channels->from[channel_graph_channel(channels, cycle[i])],
				(uint8_t)(cycle[i] % channels->classes)};
		route_report_channel_name(judge->topology, report, 0, name, sizeof(name));
		judge_note(judge, "a cycle of %u channel dependencies through %s", length, name);
	}
	free(cycle);
	return report->cycle == NULL ? -ENOMEM : 0;
}

void route_report_channel_name(const struct topology *topology, const struct route_report *report,
	uint32_t i, char *out, size_t size)
{
	size_t length;

	topology_port_name(topology, report->cycle[i].from, out, size);
	length = strlen(out);
	if (report->vc_classes > 1)
		snprintf(out + length, size - length, "/%u", report->cycle[i].vc_class);
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

/* The pairs of this destination that nothing answered. */
static void judge_silence(struct judge *judge, uint32_t destination)
{
	const struct topology_device *host = judge->topology->host_at;
	struct route_report *report = judge->report;

	for (uint32_t source = 0; source < judge->topology->hosts; source++) {
		uint32_t at = judge_host_switch(judge, source);
		bool reachable = at != JUDGE_NO_WAY && judge->distance[at] != JUDGE_NO_WAY;

		if (source == destination)
			continue;
		report->pairs++;
		if (judge->answered[source])
			continue;
		report->unconnected++;
		report->unreachable += !reachable;
		judge_note(judge, "%s to %s: no route%s", host[source].name, host[destination].name,
			reachable ? "" : ", the topology has no way");
	}
}

static void judge_destination(struct judge *judge, const struct route_subject *subjects,
	unsigned count, uint32_t destination)
{
	memset(judge->answered, 0, judge->topology->hosts * sizeof(*judge->answered));
	measure_distances(judge, destination);
	for (unsigned i = 0; i < count; i++) {
		if (subjects[i].set != NULL)
			judge_routes(judge, subjects[i].set, destination);
		if (subjects[i].table != NULL)
			judge_tables(judge, subjects[i].table, destination);
	}
	judge_silence(judge, destination);
}

static int check_sizes(
	const struct topology *topology, const struct route_subject *subject, struct fault *fault)
{
	const struct route_table *table = subject->table;

	if (subject->set != NULL && route_set_hosts(subject->set) != topology->hosts)
		return fault_set(fault, EINVAL, "%s: routes for %u hosts, expected %u",
			topology->name, route_set_hosts(subject->set), topology->hosts);
	if (table != NULL &&
		(table->hosts != topology->hosts || table->switches != topology->switches))
		return fault_set(fault, EINVAL,
			"%s: tables of %u switches and %u hosts, expected %u and %u",
			topology->name, table->switches, table->hosts, topology->switches,
			topology->hosts);
	return 0;
}

/* Switches have one rule for all packets, so one part without a rule lives under the other's, and
 * two different rules are no network. */
static int find_rule(const struct topology *topology, const struct route_subject *subject,
	const struct vc_rule **rule, struct fault *fault)
{
	const struct vc_rule *own =
		subject->set != NULL ? route_set_vc_rule(subject->set) : subject->table->vc_rule;

	if (own == NULL)
		return 0;
	if (own->switches != topology->switches)
		return fault_set(fault, EINVAL, "%s: VC classes for %u switches, expected %u",
			topology->name, own->switches, topology->switches);
	if (*rule != NULL && !vc_rule_equal(*rule, own))
		return fault_set(fault, EINVAL,
			"%s: routes with different VC classes, expected the same for all",
			topology->name);
	*rule = own;
	return 0;
}

int route_verify(const struct topology *topology, const struct route_subject *subjects,
	unsigned count, struct route_report *report, struct fault *fault)
{
	const struct vc_rule *rule = NULL;
	struct judge judge;
	int result = 0;

	for (unsigned i = 0; i < count && result == 0; i++) {
		result = check_sizes(topology, &subjects[i], fault);
		if (result == 0)
			result = find_rule(topology, &subjects[i], &rule, fault);
	}
	if (result < 0)
		return result;
	result = judge_init(&judge, topology, rule, report, fault);
	for (uint32_t host = 0; host < topology->hosts && result == 0; host++)
		judge_destination(&judge, subjects, count, host);
	if (result == 0)
		result = sum_up(&judge, fault);
	judge_fini(&judge);
	return result;
}

int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct fault *fault)
{
	return route_verify(topology, &(struct route_subject){.set = set}, 1, report, fault);
}

int route_verify_table(const struct topology *topology, const struct route_table *table,
	struct route_report *report, struct fault *fault)
{
	return route_verify(topology, &(struct route_subject){.table = table}, 1, report, fault);
}

void route_report_free(struct route_report *report)
{
	free(report->cycle);
	report->cycle = NULL;
	report->cycle_length = 0;
}
