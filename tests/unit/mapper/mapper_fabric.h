/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A fabric in memory with a mapper beside each host, and the tables in use by its devices, read
 * back from their images. */

#include "mapper_mixture.h"
#include "mapper_usual.h"
#include "route/verify/route_verify.h"

#define MAPPER_SESSION 7000

struct mapper_fabric {
	struct net net;
	struct mapper *mapper; /* by host */
	struct mapper_config config;
	bool check_commits;
	struct mixture mixture; /* since fabric_watch_commits() */
	unsigned commits, commits_live;
};

static inline struct topology *fabric_cables(struct mapper_fabric *fabric)
{
	struct topology *topology = topology_copy(fabric->net.topology);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < topology->links; i++)
		if (!fabric->net.link_cut[i])
			topology->link_at[kept++] = topology->link_at[i];
		else
			for (unsigned end = 0; end < 2; end++) {
				struct topology_port port =
					end == 0 ? topology->link_at[i].a : topology->link_at[i].b;

				if (port.kind == DEVICE_HOST)
					topology->host_at[port.device].cut_off = true;
			}
	topology->links = kept;
	assert_int_equal(topology_finish(topology, "cables", NULL), 0);
	return topology;
}

struct fabric_reader {
	struct route_set *set;
	uint32_t host, hosts;
};

static inline void fabric_read_route(void *context, const struct table_image_route *route)
{
	struct fabric_reader *reader = context;

	if (route->length > 0 && route->destination < reader->hosts)
		assert_int_equal(route_set_add(reader->set, reader->host, route->destination,
					 route->elements, route->length),
			0);
}

/* The tables in use by all devices. A host's number is its place in the topology
 * (net_start_device()). */
/* The part of one switch. */
static inline void fabric_read_rule(struct vc_rule **rule, const struct topology *topology,
	uint32_t at, const struct table_image_switch *tables)
{
	if (*rule == NULL)
		*rule = vc_rule_create(topology->switches, tables->vc_classes);
	assert_non_null(*rule);
	(*rule)->steps = tables->vc_steps;
	memcpy((*rule)->ring + (size_t)at * VC_RULE_PORTS, tables->ring,
		topology->switch_at[at].ports);
	(*rule)->dateline[at] = tables->dateline;
}

static inline struct live_generation fabric_snapshot(struct mapper_fabric *fabric)
{
	const struct topology *topology = fabric->net.topology;
	struct route_table *table = route_table_create(topology->switches, topology->hosts);
	struct route_set *set = route_set_create(topology->hosts);
	struct vc_rule *rule = NULL;

	for (uint32_t i = 0; i < topology->hosts; i++) {
		struct fabric_reader reader = {set, i, topology->hosts};
		const struct mapper_agent *agent = &fabric->net.host_agent[i];

		if (agent->image == NULL)
			continue;
		assert_int_equal(agent->number, i);
		table_image_each_route(agent->image, fabric_read_route, &reader);
	}
	for (uint32_t i = 0; i < topology->switches; i++) {
		const struct mapper_agent *agent = &fabric->net.switch_agent[i];
		struct table_image_switch tables;

		if (agent->image == NULL)
			continue;
		table_image_read_switch(agent->image, agent->config.ports, &tables, NULL);
		for (uint32_t to = 0; to < table_image_hosts(agent->image); to++)
			route_table_row(table, i)[to] = tables.primary[to];
		if (tables.vc_classes > 0)
			fabric_read_rule(&rule, topology, i, &tables);
	}
	if (fabric->config.tables)
		table->vc_rule = rule;
	else
		route_set_use_vc_rule(set, rule);
	return (struct live_generation){fabric_cables(fabric), set, table};
}

static inline void fabric_forget(struct live_generation *generation)
{
	topology_destroy((struct topology *)(uintptr_t)generation->topology);
	route_set_destroy((struct route_set *)(uintptr_t)generation->set);
	route_table_destroy((struct route_table *)(uintptr_t)generation->table);
	*generation = (struct live_generation){0};
}

/* After each commit without a pause, tables in use or on their way cannot deadlock. */
static inline void fabric_ordered(
	void *context, enum device_kind kind, uint32_t at, unsigned orders)
{
	struct mapper_fabric *fabric = context;

	if (!fabric->check_commits || (orders & MAPPER_AGENT_COMMIT) == 0)
		return;
	fabric->commits++;
	mixture_note(&fabric->mixture, kind, at);
	if (net_agent(&fabric->net, kind, at)->paused)
		return;
	fabric->commits_live++;
	assert_false(mixture_can_deadlock(&fabric->mixture));
}

static inline void fabric_receive(
	void *context, uint32_t host, weft_time now, const uint8_t *data, unsigned bytes)
{
	struct mapper_fabric *fabric = context;

	mapper_receive(&fabric->mapper[host], now, data, bytes);
}

static inline bool fabric_poll(
	void *context, uint32_t host, weft_time now, struct mapper_frame *frame)
{
	return mapper_poll(&((struct mapper_fabric *)context)->mapper[host], now, frame);
}

static inline weft_time fabric_due(void *context, uint32_t host, weft_time now)
{
	return mapper_due(&((struct mapper_fabric *)context)->mapper[host], now);
}

static inline void fabric_start_mapper(struct mapper_fabric *fabric, uint32_t host, uint32_t life)
{
	struct mapper_config config = fabric->config;

	config.session = MAPPER_SESSION + 1000 * life + host;
	assert_int_equal(mapper_init(&fabric->mapper[host], &config, &fabric->net.host_agent[host],
				 (uint64_t)life << 32, fabric->net.now),
		0);
}

static inline void fabric_start(struct mapper_fabric *fabric, const struct topology *topology,
	const struct mapper_config *config, uint64_t seed)
{
	static const struct fabric_key key = {{7}};

	memset(fabric, 0, sizeof(*fabric));
	net_init(&fabric->net, topology, &key, seed);
	fabric->net.hooks = (struct net_hooks){.context = fabric,
		.receive = fabric_receive,
		.poll = fabric_poll,
		.due = fabric_due,
		.ordered = fabric_ordered};
	fabric->config = *config;
	fabric->mapper = calloc(topology->hosts, sizeof(*fabric->mapper));
	assert_non_null(fabric->mapper);
	for (uint32_t i = 0; i < topology->hosts; i++)
		fabric_start_mapper(fabric, i, 0);
}

static inline void fabric_end(struct mapper_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		mapper_fini(&fabric->mapper[i]);
	free(fabric->mapper);
	mixture_fini(&fabric->mixture);
	net_fini(&fabric->net);
}
#define mapper_fabric_out_of_scope fabric_end

/* Returns the host whose mapper leads, among live ones; all others obey it or are elsewhere. */
static inline uint32_t fabric_leaders(struct mapper_fabric *fabric, uint32_t *leader)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		if (!fabric->net.host_dead[i] && mapper_leads(&fabric->mapper[i])) {
			*leader = i;
			count++;
		}
	return count;
}

/* Asserts that all pairs connected by cables have valid routes and that no device is paused. */
static inline void fabric_assert_works(struct mapper_fabric *fabric)
{
	struct live_generation now = fabric_snapshot(fabric);
	const struct route_subject subjects[] = {{.set = now.set}, {.table = now.table}};
	struct route_report report;
	struct error error;

	if (route_verify(now.topology, fabric->config.tables ? &subjects[1] : &subjects[0], 1,
		    &report, &error) != 0)
		fail_msg("%s", error.text);
	if (report.unconnected != report.unreachable)
		fail_msg("%lu pairs have no way, %lu cannot have one; %s",
			(unsigned long)report.unconnected, (unsigned long)report.unreachable,
			report.evidence);
	assert_true(report.deadlock_free);
	route_report_free(&report);
	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		assert_false(!fabric->net.host_dead[i] && fabric->net.host_agent[i].paused);
	fabric_forget(&now);
}

/* From here on every commit is checked. */
static inline void fabric_watch_commits(struct mapper_fabric *fabric)
{
	mixture_fini(&fabric->mixture);
	mixture_init(&fabric->mixture, &fabric->net, fabric->config.linger_ps);
	fabric->check_commits = true;
}
