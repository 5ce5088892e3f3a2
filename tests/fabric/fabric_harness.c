/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fabric_harness.h"

#include "fabric_wire.h"
#include "unit.h"

#define STREAM_FABRIC 0
#define STREAM_HOST   1

#define STUCK_STEPS 50000 /* without a delivery, so some packets wait for each other */

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	assert_non_null(memory);
	return memory;
}

static struct fabric_end *end_at(struct fabric *fabric, struct topology_port at)
{
	return at.kind == DEVICE_HOST ? fabric->host_at[at.device].end
				      : fabric->switch_at[at.device].end[at.port];
}

static void place_end(struct fabric *fabric, unsigned i, struct topology_port at)
{
	struct fabric_end *end = &fabric->end[i];

	end->at = at;
	end->out = &fabric->wire[i];
	end->in = &fabric->wire[i ^ 1];
	end->peer = &fabric->end[i ^ 1];
	if (at.kind == DEVICE_HOST)
		fabric->host_at[at.device].end = end;
	else
		fabric->switch_at[at.device].end[at.port] = end;
}

/* Packets on a wire are limited by its capacity per step, and overdrawn by a burst. */
static void create_links(struct fabric *fabric)
{
	const struct fabric_config *config = &fabric->config;
	const struct topology *topology = fabric->topology;

	fabric->ends = 2 * topology->links;
	fabric->end = zeroed(fabric->ends, sizeof(*fabric->end));
	fabric->wire = zeroed(fabric->ends, sizeof(*fabric->wire));
	for (unsigned i = 0; i < fabric->ends; i++) {
		uint64_t delay = 1 + rng_below(&fabric->rng, config->delay_steps);

		fabric_wire_init(&fabric->wire[i], config, delay * FABRIC_STEP_PS,
			(config->link_blocks + 16) * (config->delay_steps + 2u));
		place_end(fabric, i,
			i % 2 == 0 ? topology->link_at[i / 2].a : topology->link_at[i / 2].b);
	}
}

static unsigned ports_of(const struct fabric_switch *at)
{
	unsigned ports = 1;

	for (unsigned port = 0; port < SWITCH_PORTS_MAX; port++)
		if (at->end[port] != NULL)
			ports = port + 1;
	return ports;
}

static void create_switch(struct fabric *fabric, uint32_t i)
{
	struct fabric_switch *at = &fabric->switch_at[i];
	struct switch_config config = {
		.device = i,
		.session = 1000 + i,
		.ports = (uint8_t)ports_of(at),
		.vcs = fabric->config.vcs,
		.voq = fabric->config.voq,
		.buffer_blocks = fabric->config.buffer_blocks,
		.hello_ps = fabric->config.hello_ps,
		.credit_refresh_ps = fabric->config.refresh_ps,
		.watchdog_ps = fabric->config.watchdog_ps,
		.control_reserve = 16,
		.table_port = route_table_row(fabric->table, i),
		.table_alternatives = route_table_alternatives(fabric->table, i),
		.table_hosts = fabric->table->hosts,
		.vc_rule = fabric->table->vc_rule,
		.vc_rule_at = i,
	};

	for (unsigned port = 0; port < config.ports; port++)
		if (at->end[port] == NULL)
			config.absent_ports |= BIT64(port);
	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)fabric_switch_vc(fabric, i, sl);
	at->sw = switch_create(&config, fabric->now);
	assert_non_null(at->sw);
	for (unsigned port = 0; port < config.ports; port++)
		if (at->end[port] != NULL)
			at->end[port]->link = &at->sw->port[port].link;
}

static void create_host(struct fabric *fabric, uint32_t i)
{
	struct fabric_host *host = &fabric->host_at[i];
	const struct link_end_config link = {
		.device = 100000 + i,
		.device_kind = 1,
		.vcs = fabric->config.vcs,
		.vc_blocks = fabric->config.buffer_blocks / fabric->config.vcs,
		.session = 5000 + i,
		.hello_ps = fabric->config.hello_ps,
		.refresh_ps = fabric->config.refresh_ps,
	};

	link_end_init(&host->link, &link, fabric->now);
	host->end->link = &host->link;
	rng_init(&host->rng, fabric->config.seed, i, STREAM_HOST);
}

/* A pair's source route is its path through the tables. */
static void find_route(struct fabric *fabric, uint32_t source, uint32_t destination)
{
	size_t pair = (size_t)source * fabric->topology->hosts + destination;
	uint8_t *route = &fabric->route[pair * FRAME_ROUTE_MAX];
	struct topology_port at = fabric->host_at[source].end->peer->at;
	uint8_t length = 0;

	while (at.kind == DEVICE_SWITCH) {
		at.port = route_table_row(fabric->table, at.device)[destination];
		assert_true(length < FRAME_ROUTE_MAX - 1);
		route[length++] = (uint8_t)(ROUTE_PORT_BIT | at.port);
		at = end_at(fabric, at)->peer->at;
	}
	assert_int_equal(at.device, destination);
	route[length++] = ROUTE_TYPE_HOST;
	fabric->route_length[pair] = length;
}

static void create_routes(struct fabric *fabric)
{
	uint32_t hosts = fabric->topology->hosts;

	fabric->route = zeroed((size_t)hosts * hosts, FRAME_ROUTE_MAX);
	fabric->route_length = zeroed((size_t)hosts * hosts, 1);
	for (uint32_t source = 0; source < hosts; source++)
		for (uint32_t destination = 0; destination < hosts; destination++)
			if (source != destination)
				find_route(fabric, source, destination);
}

/* As many packets as all buffers hold if each packet is one block. */
static void create_pool(struct fabric *fabric)
{
	fabric->pool_packets = (uint64_t)fabric->ends * fabric->config.buffer_blocks +
			       (uint64_t)fabric->topology->hosts * fabric->config.vcs;
	fabric->pool = aligned_alloc(64, fabric->pool_packets * sizeof(*fabric->pool));
	assert_non_null(fabric->pool);
	memset(fabric->pool, 0, fabric->pool_packets * sizeof(*fabric->pool));
	for (uint64_t i = fabric->pool_packets; i-- > 0;) {
		fabric->pool[i].next = fabric->free;
		fabric->free = &fabric->pool[i];
	}
}

static void create_tables(struct fabric *fabric)
{
	const struct route_options options = {.seed = fabric->config.seed};
	const struct route_algorithm *algorithm = fabric->config.algorithm;
	struct error error = {""};

	fabric->table = route_compute_table(fabric->topology,
		algorithm != NULL ? algorithm : &route_up_down, &options, NULL, &error);
	if (fabric->table == NULL)
		fail_msg("%s", error.text);
	if (fabric->config.no_classes) {
		vc_rule_destroy(fabric->table->vc_rule);
		fabric->table->vc_rule = NULL;
	}
}

struct fabric *fabric_create(const struct topology *topology, const struct fabric_config *config)
{
	struct fabric *fabric = zeroed(1, sizeof(*fabric));
	size_t flows = (size_t)topology->hosts * topology->hosts * config->vcs;

	fabric->config = *config;
	fabric->topology = topology;
	rng_init(&fabric->rng, config->seed, 0, STREAM_FABRIC);
	fabric->switch_at = zeroed(topology->switches, sizeof(*fabric->switch_at));
	fabric->host_at = zeroed(topology->hosts, sizeof(*fabric->host_at));
	fabric->sent_sequence = zeroed(flows, sizeof(*fabric->sent_sequence));
	fabric->expected_sequence = zeroed(flows, sizeof(*fabric->expected_sequence));
	create_tables(fabric);
	create_links(fabric);
	create_pool(fabric);
	for (uint32_t i = 0; i < topology->switches; i++)
		create_switch(fabric, i);
	for (uint32_t i = 0; i < topology->hosts; i++)
		create_host(fabric, i);
	create_routes(fabric);
	/* Hello, answer and grant, each with the wire's delay. */
	fabric_run(fabric, 6 * (config->delay_steps + 1u), 0);
	fabric_check_drained(fabric);
	fabric->injecting = true;
	return fabric;
}

void fabric_destroy(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->topology->switches; i++) {
		switch_drain(fabric->switch_at[i].sw);
		switch_destroy(fabric->switch_at[i].sw);
	}
	for (unsigned i = 0; i < fabric->ends; i++)
		free(fabric->wire[i].item);
	route_table_destroy(fabric->table);
	free(fabric->switch_at);
	free(fabric->host_at);
	free(fabric->end);
	free(fabric->wire);
	free(fabric->route);
	free(fabric->route_length);
	free(fabric->sent_sequence);
	free(fabric->expected_sequence);
	free(fabric->pool);
	free(fabric);
}

void fabric_step(struct fabric *fabric)
{
	fabric->now += FABRIC_STEP_PS;
	for (uint32_t i = 0; i < fabric->topology->switches; i++)
		fabric_switch_turn(fabric, &fabric->switch_at[i]);
	for (uint32_t i = 0; i < fabric->topology->hosts; i++)
		fabric_host_turn(fabric, &fabric->host_at[i]);
}

static void step_checked(struct fabric *fabric, uint64_t check_every)
{
	fabric_step(fabric);
	if (check_every != 0 && fabric->now / FABRIC_STEP_PS % check_every == 0)
		fabric_check(fabric);
}

void fabric_run(struct fabric *fabric, uint64_t steps, uint64_t check_every)
{
	for (uint64_t i = 0; i < steps; i++)
		step_checked(fabric, check_every);
}

void fabric_run_packets(struct fabric *fabric, uint64_t packets, uint64_t check_every)
{
	uint64_t end = fabric->delivered + packets, before = fabric->delivered;

	for (uint64_t step = 1; fabric->delivered < end; step++) {
		step_checked(fabric, check_every);
		if (step % STUCK_STEPS != 0)
			continue;
		if (fabric->delivered == before)
			fabric_fail(fabric, "nothing moves any more");
		before = fabric->delivered;
	}
}

void fabric_drain(struct fabric *fabric)
{
	weft_time refresh_steps = fabric->config.refresh_ps / FABRIC_STEP_PS;
	uint64_t live = fabric->live;

	fabric->injecting = false;
	for (uint64_t step = 1; fabric->live > 0; step++) {
		fabric_step(fabric);
		if (step % STUCK_STEPS != 0)
			continue;
		if (fabric->live == live)
			fabric_fail(fabric, "%llu packets do not move any more",
				(unsigned long long)live);
		live = fabric->live;
	}
	/* The credit frames of both ends, and their delay. */
	fabric_run(fabric, 2 * refresh_steps + 4u * fabric->config.delay_steps, 0);
}

void fabric_exchange(struct fabric *fabric, uint32_t at, const struct route_table *table)
{
	const struct switch_routing routing = {.port = route_table_row(table, at),
		.alternatives = route_table_alternatives(table, at),
		.hosts = table->hosts};

	assert_null(table->vc_rule);
	assert_int_equal(switch_set_routing(fabric->switch_at[at].sw, &routing), 0);
}

void fabric_cut(struct fabric_end *end, bool cut)
{
	end->out->cut = end->in->cut = cut;
}
