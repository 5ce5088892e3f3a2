/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topology_hosts.h"
#include "verify_private.h"

static int verifier_init(struct verifier *verifier, const struct topology *topology,
	const struct vc_rule *rule, struct route_report *report, struct error *error)
{
	memset(report, 0, sizeof(*report));
	*verifier =
		(struct verifier){.topology = topology, .report = report, .centre = VERIFY_NO_WAY};
	verifier->channels = channel_graph_create(topology, rule);
	ARRAYS_ADD(verifier, load, 2u * topology->links + 1u);
	ARRAYS_ADD(verifier, demand, 2u * topology->links + 1u);
	ARRAYS_ADD(verifier, distance, topology->switches);
	ARRAYS_ADD(verifier, queue, topology->switches + 1u);
	ARRAYS_ADD(verifier, answered, topology->hosts + 1u);
	if (verifier->arrays.failed || verifier->channels == NULL ||
		verify_walk_create(verifier) < 0)
		return error_set(error, ENOMEM, "%s: not enough memory to verify the routes",
			topology->name);
	memset(verifier->distance, 0xFF, topology->switches * sizeof(*verifier->distance));
	report->vc_classes = verifier->channels->classes;
	return 0;
}

/* Stores the text as evidence, unless there already is some. */
static void verify_report(struct verifier *verifier, const char *format, ...)
{
	va_list args;

	if (verifier->report->evidence[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(verifier->report->evidence, sizeof(verifier->report->evidence), format, args);
	va_end(args);
}

void verify_report_invalid(struct verifier *verifier, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place)
{
	const struct topology_device *host = verifier->topology->host_at;
	char name[2 * TOPOLOGY_NAME_MAX];

	verifier->report->invalid++;
	topology_port_name(verifier->topology, place, name, sizeof(name));
	verify_report(verifier, "%s to %s: %s at %s",
		source == VERIFY_NO_WAY ? "anybody" : host[source].name, host[destination].name,
		reason, name);
}

/* Computes the distances from all switches to the host's switch; links work in both directions. */
static void measure_distances(struct verifier *verifier, uint32_t host)
{
	uint32_t start = verify_host_switch(verifier, host), head = 0, tail = 0;

	if (start == verifier->centre)
		return;
	verifier->centre = start;
	memset(verifier->distance, 0xFF,
		verifier->topology->switches * sizeof(*verifier->distance));
	if (start == VERIFY_NO_WAY)
		return;
	verifier->distance[start] = 0;
	for (verifier->queue[tail++] = start; head < tail; head++) {
		uint32_t at = verifier->queue[head];

		const uint64_t *inner = verify_inner_ports(verifier, at);

		CHANNEL_GRAPH_EACH(verifier->channels, inner, port) {
			uint32_t out = channel_graph_out(verifier->channels, at, port);
			uint32_t to = verifier->channels->to[out].device;

			if (verifier->distance[to] != VERIFY_NO_WAY)
				continue;
			verifier->distance[to] = verifier->distance[at] + 1;
			verifier->queue[tail++] = to;
		}
	}
}

static void sum_up_loads(struct verifier *verifier)
{
	struct route_report *report = verifier->report;
	double sum = 0, squares = 0;
	uint64_t channels = 0;

	for (uint32_t channel = 0; channel < verifier->channels->channels; channel++) {
		uint64_t load = verifier->load[channel];

		if (!channel_graph_inner(verifier->channels, channel))
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

/* Inserts a channel into the sorted list of the most loaded channels. */
static void note_hot(struct route_report *report, struct topology_port from, double load)
{
	unsigned at = report->uniform.hot_channels;

	if (at == ROUTE_REPORT_HOT && load <= report->uniform.hot[at - 1].load)
		return;
	at -= at == ROUTE_REPORT_HOT;
	for (; at > 0 && load > report->uniform.hot[at - 1].load; at--)
		report->uniform.hot[at] = report->uniform.hot[at - 1];
	report->uniform.hot[at].from = from;
	report->uniform.hot[at].load = load;
	report->uniform.hot_channels += report->uniform.hot_channels < ROUTE_REPORT_HOT;
}

/* Finds the share of uniform traffic at which the first channel is full. */
static void find_bound(struct verifier *verifier)
{
	const struct topology *topology = verifier->topology;
	struct route_report *report = verifier->report;
	/* With several planes, each port only sends to ports of its own plane. */
	double others = (double)report->pairs / (double)topology->hosts;

	report->uniform.load = calloc(2u * topology->links + 1u, sizeof(double));
	for (uint32_t channel = 0; channel < verifier->channels->channels; channel++) {
		struct topology_port from = verifier->channels->from[channel];
		double room = (double)topology_link_at(topology, from)->rate_bps * others;

		if (verifier->demand[channel] > 0)
			note_hot(report, from, verifier->demand[channel] / room);
		if (report->uniform.load != NULL)
			report->uniform.load[topology_way_at(topology, from)] =
				verifier->demand[channel] / room;
	}
	report->uniform.bound = 1 / report->uniform.hot[0].load;
	report->uniform.full = report->uniform.hot[0].from;
}

static int sum_up_cycle(struct verifier *verifier)
{
	const struct channel_graph *channels = verifier->channels;
	struct route_report *report = verifier->report;
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
		route_report_channel_name(verifier->topology, report, 0, name, sizeof(name));
		verify_report(
			verifier, "a cycle of %u channel dependencies through %s", length, name);
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

static int sum_up(struct verifier *verifier, unsigned subjects, struct error *error)
{
	struct route_report *report = verifier->report;
	double far = (double)report->far_routes;

	report->connected = report->unconnected == 0;
	if (report->far_routes > 0) {
		report->minimal_fraction = (double)verifier->minimal / far;
		report->mean_switch_links = (double)verifier->links / far;
		report->itbs_mean = (double)verifier->itbs / far;
	}
	sum_up_loads(verifier);
	report->uniform.known = subjects == 1 && report->routes > 0;
	if (report->uniform.known)
		find_bound(verifier);
	if (sum_up_cycle(verifier) == 0)
		return 0;
	return error_set(error, ENOMEM, "%s: not enough memory to verify the routes",
		verifier->topology->name);
}

static void report_unconnected(struct verifier *verifier, uint32_t destination)
{
	const struct topology_device *host = verifier->topology->host_at;
	struct route_report *report = verifier->report;

	for (uint32_t source = 0; source < verifier->topology->hosts; source++) {
		uint32_t at = verify_host_switch(verifier, source);
		bool reachable = at != VERIFY_NO_WAY && verifier->distance[at] != VERIFY_NO_WAY;

		if (source == destination ||
			topology_apart(verifier->topology, source, destination))
			continue;
		report->pairs++;
		if (verifier->answered[source])
			continue;
		report->unconnected++;
		report->unreachable += !reachable;
		verify_report(verifier, "%s to %s: no route%s", host[source].name,
			host[destination].name, reachable ? "" : ", the topology has no path");
	}
}

static void verify_destination(struct verifier *verifier, const struct route_subject *subjects,
	unsigned count, uint32_t destination)
{
	memset(verifier->answered, 0, verifier->topology->hosts * sizeof(*verifier->answered));
	measure_distances(verifier, destination);
	for (unsigned i = 0; i < count; i++) {
		if (subjects[i].set != NULL)
			verify_routes(verifier, subjects[i].set, destination);
		if (subjects[i].table != NULL)
			verify_tables(verifier, subjects[i].table, destination);
	}
	report_unconnected(verifier, destination);
}

static int check_sizes(
	const struct topology *topology, const struct route_subject *subject, struct error *error)
{
	const struct route_table *table = subject->table;

	if (subject->set != NULL && route_set_hosts(subject->set) != topology->hosts)
		return error_set(error, EINVAL,
			"%s: the routes are for %u hosts, but there are "
			"%u",
			topology->name, route_set_hosts(subject->set), topology->hosts);
	if (table != NULL &&
		(table->hosts != topology->hosts || table->switches != topology->switches))
		return error_set(error, EINVAL,
			"%s: the tables are for %u switches and %u hosts, but there are %u and "
			"%u",
			topology->name, table->switches, table->hosts, topology->switches,
			topology->hosts);
	return 0;
}

/* Switches apply one rule to all packets: a part without a rule follows the rule of another part,
 * and two different rules are an error. */
static int find_rule(const struct topology *topology, const struct route_subject *subject,
	const struct vc_rule **rule, struct error *error)
{
	const struct vc_rule *own =
		subject->set != NULL ? route_set_vc_rule(subject->set) : subject->table->vc_rule;

	if (own == NULL)
		return 0;
	if (own->switches != topology->switches)
		return error_set(error, EINVAL,
			"%s: the VC classes are for %u switches, but "
			"there are %u",
			topology->name, own->switches, topology->switches);
	if (*rule != NULL && !vc_rule_equal(*rule, own))
		return error_set(error, EINVAL, "%s: all routes must have the same VC classes",
			topology->name);
	*rule = own;
	return 0;
}

int route_verify(const struct topology *topology, const struct route_subject *subjects,
	unsigned count, struct route_report *report, struct error *error)
{
	const struct vc_rule *rule = NULL;
	struct verifier verifier;
	int result = 0;

	for (unsigned i = 0; i < count && result == 0; i++) {
		result = check_sizes(topology, &subjects[i], error);
		if (result == 0)
			result = find_rule(topology, &subjects[i], &rule, error);
	}
	if (result < 0)
		return result;
	result = verifier_init(&verifier, topology, rule, report, error);
	for (uint32_t host = 0; host < topology->hosts && result == 0; host++)
		verify_destination(&verifier, subjects, count, host);
	if (result == 0)
		result = sum_up(&verifier, count, error);
	verify_walk_destroy(&verifier);
	channel_graph_destroy(verifier.channels);
	arrays_free(&verifier.arrays);
	return result;
}

int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct error *error)
{
	return route_verify(topology, &(struct route_subject){.set = set}, 1, report, error);
}

void route_report_free(struct route_report *report)
{
	free(report->uniform.load);
	report->uniform.load = NULL;
	free(report->cycle);
	report->cycle = NULL;
	report->cycle_length = 0;
}
