/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_fabric.h"

#include <errno.h>
#include <stdlib.h>

#include "experiment/workload/run_source.h"
#include "setup/congestion_setup.h"
#include "setup/device_config.h"
#include "virtual/parallel/arena.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_private.h"
#include "virtual_ranks.h"
#include "virtual_reroute.h"

/* 6 GiB of address space. */
#define PACKETS_MAX ((uint64_t)1 << 26)

/* Packets of a partition for which small pages are used. */
#define SMALL_PACKETS 16384u

/* Maximum numbers of hosts for which all pairs have two numbers of four bytes (8 MiB), or two of
 * one byte (512 MiB). With more hosts, only communicating pairs have numbers. */
#define ALL_HOSTS_MAX   1024u
#define BYTES_HOSTS_MAX 16384u

static struct device_config device_config_of(const struct virtual_fabric *fabric)
{
	return (struct device_config){
		.run = fabric->run,
		.topology = fabric->topology,
		.routes = &fabric->routes,
		.session = 1,
		.links_are_up = true,
	};
}

static int fill_switch(struct virtual_fabric *fabric, uint32_t at, struct error *error)
{
	const struct device_config from = device_config_of(fabric);
	struct switch_config config;
	size_t bytes;
	void *memory;

	device_config_switch(&from, at, &config);
	bytes = switch_bytes(&config);
	memory = arena_get(&fabric->arena, bytes);
	if (memory == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switches);
	fabric->state_bytes += bytes;
	fabric->sw[at] = switch_place(memory, &config, 0);
	if (fabric->sw[at] != NULL)
		return 0;
	return device_config_refuse(fabric->topology->switch_at[at].name, &config, error);
}

static int create_switches(struct virtual_fabric *fabric, struct error *error)
{
	int result = 0;

	fabric->sw = calloc(fabric->switches + 1u, sizeof(struct weft_switch *));
	if (fabric->sw == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switches);
	for (uint32_t at = 0; at < fabric->switches && result == 0; at++)
		result = fill_switch(fabric, at, error);
	return result;
}

/* Call after the devices at the links' ends are set. */
static int adapt_switches(struct virtual_fabric *fabric, struct error *error)
{
	int result = virtual_cn_open_switches(fabric);

	virtual_oracle_open(fabric);
	if (result < 0)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switches);
	if (run_config_marks(fabric->run)) {
		fabric->fecn = arena_get(&fabric->arena, fabric->switches * sizeof(*fabric->fecn));
		if (fabric->fecn == NULL)
			return error_set(error, ENOMEM, "not enough memory for %u switches",
				fabric->switches);
	}
	for (uint32_t at = 0; at < fabric->switches && result == 0; at++) {
		if (fabric->fecn != NULL)
			congestion_setup_marks(fabric->sw[at], &fabric->fecn[at], fabric->run);
		result = congestion_setup_switch(
			fabric->sw[at], fabric->topology, at, fabric->run, error);
	}
	return result;
}

static enum pair_numbers_kind kind_of_numbers(const struct virtual_fabric *fabric)
{
	if (fabric->hosts <= ALL_HOSTS_MAX)
		return PAIR_NUMBERS_ALL;
	return fabric->hosts <= BYTES_HOSTS_MAX ? PAIR_NUMBERS_BYTES : PAIR_NUMBERS_FEW;
}

static bool create_numbers(struct virtual_fabric *fabric)
{
	const enum pair_numbers_kind kind = kind_of_numbers(fabric);
	const size_t numbers = 2 * (size_t)fabric->hosts * fabric->hosts;

	if (kind == PAIR_NUMBERS_FEW)
		return true;
	fabric->number_table = arena_get(
		&fabric->arena, kind == PAIR_NUMBERS_ALL ? numbers * sizeof(uint32_t) : numbers);
	return fabric->number_table != NULL;
}

static int fill_host(struct virtual_fabric *fabric, uint32_t number, struct error *error)
{
	const struct device_config from = device_config_of(fabric);
	struct datagram_config config;
	struct link_end_config link;
	struct itb_config itb;
	struct source_control_config control;
	int result;

	device_config_datagram(&from, number, &config, &itb, &control, &link);
	config.numbers = kind_of_numbers(fabric);
	config.number_table = fabric->number_table;
	result = datagram_init(&fabric->host[number].nic, &config, &link);
	fabric->host[number].wake_at = WEFT_TIME_NEVER;
	if (result == 0)
		result = virtual_cn_open_host(fabric, number);
	return result == 0
		       ? 0
		       : error_set(error, -result, "not enough memory for %u hosts", fabric->hosts);
}

/* Returns the number of sources per traffic entry (traffic.h). */
static uint32_t lanes(const struct virtual_fabric *fabric)
{
	return fabric->routes.queuing != NULL ? fabric->routes.queuing->queues : 1;
}

static int add_source(struct virtual_fabric *fabric, uint32_t number, uint32_t which,
	const struct run_source_place *place, struct error *error)
{
	struct virtual_host *host = &fabric->host[number];
	struct traffic_config config;
	uint16_t *permutation;
	int result = run_source_config(
		fabric->run, fabric->traffic, which, place, &config, &permutation);

	config.frame_bytes = fabric->run->nic.mtu_bytes;
	config.mean_route = virtual_wire_cost_route(fabric, &config);
	config.index = (uint16_t)(host->sources / lanes(fabric));
	config.queuing = fabric->routes.queuing;
	for (config.lane = 0; config.lane < lanes(fabric) && result == 0; config.lane++) {
		host->source[host->sources] = traffic_create(&config, error);
		result = host->source[host->sources] == NULL ? -EINVAL : 0;
		host->sources += result == 0;
	}
	free(permutation);
	return result;
}

static int create_sources(struct virtual_fabric *fabric, uint32_t number, struct error *error)
{
	const struct topology *topology = fabric->topology;
	struct run_source_place place;
	int result = 0;

	if (topology->host_link[number] < 0)
		return 0;
	place = (struct run_source_place){
		.host = (uint16_t)number,
		.hosts = fabric->hosts,
		.rate_bps = topology->link_at[topology->host_link[number]].rate_bps,
		.until_ps = fabric->run->measure.duration_ps,
	};
	fabric->host[number].source =
		calloc(fabric->traffic->entries * lanes(fabric) + 1u, sizeof(struct traffic *));
	if (fabric->host[number].source == NULL)
		return error_set(error, ENOMEM, "not enough memory for traffic sources");
	for (uint32_t i = 0; i < fabric->traffic->entries && result == 0; i++)
		if (run_source_sends(&fabric->traffic->entry[i], number))
			result = add_source(fabric, number, i, &place, error);
	return result;
}

/* Moves the sources to huge pages if their consecutive creation made them adjacent. */
static void join_sources(const struct virtual_fabric *fabric)
{
	const uint8_t *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		for (uint32_t k = 0; k < fabric->host[i].sources; k++) {
			const uint8_t *source = (const uint8_t *)fabric->host[i].source[k];

			first = first == NULL ? source : first;
			last = source > last ? source : last;
		}
	if (first != NULL && last > first && last - first < (ptrdiff_t)fabric->hosts * 4096)
		arena_join_pages(first, (size_t)(last - first));
}

static int create_hosts(struct virtual_fabric *fabric, struct error *error)
{
	int result = 0;

	fabric->host = arena_get(&fabric->arena, (fabric->hosts + 1u) * sizeof(*fabric->host));
	if (fabric->host == NULL || !create_numbers(fabric))
		return error_set(error, ENOMEM, "not enough memory for %u hosts", fabric->hosts);
	for (uint32_t i = 0; i < fabric->hosts && result == 0; i++)
		result = fill_host(fabric, i, error);
	for (uint32_t i = 0; i < fabric->hosts && result == 0; i++)
		result = create_sources(fabric, i, error);
	join_sources(fabric);
	return result;
}

/* Returns the number of bits of numbers below 'end'. */
static unsigned bits_below(uint64_t end)
{
	return end > 2 ? 64 - (unsigned)__builtin_clzll(end - 1) : 1;
}

/* Returns the bound on event items: packets and credit frames come first, then ARNs, then
 * congestion notifications. */
static uint64_t virtual_items(const struct virtual_fabric *fabric)
{
	if (fabric->answers)
		return 3 * fabric->items;
	return congestion_setup_is_needed(fabric->run) ? 2 * fabric->items : fabric->items;
}

/* Creates a queue whose buckets hold about eight events when all links are busy with full frames,
 * each of which takes one event besides those in lanes. Buckets reach to a packet's next events. */
static struct event_queue *create_queue(const struct virtual_fabric *fabric)
{
	const struct topology *topology = fabric->topology;
	uint64_t frame = fabric->run->nic.mtu_bytes + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	uint64_t rate = topology->links > 0 ? topology->link_at[0].rate_bps : TOPOLOGY_RATE_BPS;
	weft_time delay = topology->links > 0 ? topology->link_at[0].delay_ps : 0;
	weft_time packet = bytes_ps(frame, byte_time_of(rate));
	weft_time width = 16 * packet * virtual_partitions_in_all(fabric) /
			  (2 * (uint64_t)topology->links + 1) / (fabric->credit_each ? 2 : 1);

	return event_queue_create_reaching(width > 0 ? width : 1,
		2 * packet + delay + fabric->routing_delay_ps,
		bits_below(virtual_host_order(fabric, fabric->hosts, 0)),
		bits_below(virtual_items(fabric)));
}

/* Returns how many packets fit into all buffers and pools, plus one per channel and host. */
static uint64_t packets_max(const struct virtual_fabric *fabric)
{
	uint64_t min = virtual_min_payload(fabric), transit,
		 ends = 2 * (uint64_t)fabric->topology->links, flying = 0;

	transit = fabric->routes.itbs ? fabric->run->nic.itb.pool_bytes / (min + FRAME_HEADER_BYTES)
				      : 0;
	/* Without credits, no space is reserved for frames on links. */
	for (uint32_t i = 0; run_config_is_ethernet(fabric->run) && i < ends / 2; i++) {
		const struct topology_link *link = &fabric->topology->link_at[i];

		flying += 2 * (bytes_within(link->delay_ps, byte_time_of(link->rate_bps)) /
					      (min + FRAME_HEADER_BYTES) +
				      1);
	}
	min = frame_blocks((unsigned)min + FRAME_HEADER_BYTES);
	return flying + ends * (fabric->run->sw.buffer_bytes / FRAME_BLOCK_BYTES / min + 2) +
	       fabric->hosts * (1 + transit) + virtual_order_reserve(fabric);
}

/* Reserves address space; only touched pages take memory. */
static int create_pool(struct virtual_fabric *fabric)
{
	struct virtual_pool *pool = &fabric->pool;
	uint64_t size = packets_max(fabric), first;

	pool->size = (uint32_t)(size < PACKETS_MAX ? size : PACKETS_MAX);
	pool->packet = arena_get(&fabric->arena, pool->size * sizeof(*pool->packet));
	pool->origin = arena_get(&fabric->arena, pool->size * sizeof(*pool->origin));
	if (pool->packet == NULL || pool->origin == NULL)
		return -ENOMEM;
	/* Each worker has its own pool, even in a small fabric. */
	first = pool->size < SMALL_PACKETS ? pool->size : SMALL_PACKETS;
	if (fabric->partition != 0) {
		arena_split_pages(pool->packet, first * sizeof(*pool->packet));
		arena_split_pages(pool->origin, first * sizeof(*pool->origin));
	}
	return 0;
}

int virtual_fabric_open_own(struct virtual_fabric *fabric)
{
	uint32_t records = 4 * fabric->topology->links + 1;

	if (create_pool(fabric) < 0 ||
		virtual_control_init(&fabric->credits, fabric->vcs * sizeof(struct virtual_credit),
			records) < 0 ||
		virtual_control_init(&fabric->arns, sizeof(struct control_arn), 16) < 0)
		return -ENOMEM;
	/* Few credit frames are in flight without a packet that made space for them. */
	fabric->freed = fabric->pool.size + 4 * records;
	fabric->block_bits = bits_below(run_config_frame_blocks(fabric->run) + 1u);
	fabric->items = fabric->freed;
	if (fabric->credit_each && fabric->pauses == NULL)
		fabric->items =
			virtual_credit_item(fabric, topology_max_ports(fabric->topology), 0, 0);
	if (virtual_fabric_fit_events(fabric) < 0)
		return -ENOMEM;
	return virtual_cn_open_own(fabric);
}

int virtual_fabric_fit_events(struct virtual_fabric *fabric)
{
	event_queue_destroy(fabric->events);
	fabric->events = create_queue(fabric);
	return fabric->events != NULL ? 0 : -ENOMEM;
}

void virtual_fabric_close_own(struct virtual_fabric *fabric)
{
	event_queue_destroy(fabric->events);
	virtual_control_fini(&fabric->credits);
	virtual_control_fini(&fabric->arns);
	virtual_cn_close_own(fabric);
	arena_free(&fabric->arena);
}

static int share_routes(struct virtual_fabric *fabric, struct error *error)
{
	int result = fabric_routes_share(&fabric->routes);

	return result == 0 ? 0
			   : error_set(error, -result, "not enough memory for a virtual fabric");
}

/* Each packet reads a random table entry at each switch. */
static void join_table(const struct virtual_fabric *fabric)
{
	const struct route_table *table = fabric->routes.table;
	size_t entries;

	if (table == NULL)
		return;
	entries = (size_t)table->switches * table->hosts;
	if (fabric->routes.blocks == NULL)
		arena_join_pages(table->primary, entries);
	if (table->alternatives != NULL && run_config_is_adaptive(fabric->run))
		arena_join_pages(
			table->alternatives, entries * table->words * sizeof(*table->alternatives));
}

static int build(struct virtual_fabric *fabric, struct error *error)
{
	int result;

	fabric->traffic = run_config_resolve(fabric->run, fabric->topology, error);
	if (fabric->traffic == NULL)
		return -EINVAL;
	result = run_source_check(fabric->run, fabric->traffic, error);
	if (result < 0 || (result = virtual_goal_open(fabric, error)) < 0 ||
		(result = virtual_entries_open(fabric, error)) < 0 ||
		(result = fabric_routes_compute(
			 &fabric->routes, fabric->topology, fabric->run, error)) < 0 ||
		(result = share_routes(fabric, error)) < 0 ||
		(result = virtual_wire_cost_open(fabric, error)) < 0 ||
		(result = create_switches(fabric, error)) < 0 ||
		(result = create_hosts(fabric, error)) < 0 ||
		(result = virtual_links_create(fabric, error)) < 0 ||
		(result = virtual_events_open(fabric, error)) < 0 ||
		(result = adapt_switches(fabric, error)) < 0 ||
		(result = virtual_pause_open(fabric, error)) < 0)
		return result;
	for (uint32_t at = 0; fabric->run->routing.itb_absorb == RUN_ITB_ABSORB_CONTENTION &&
			      at < fabric->switches;
		at++)
		switch_set_itbs(fabric->sw[at]);
	join_table(fabric);
	if (virtual_faults_open(fabric) < 0 || virtual_reroute_open(fabric) < 0 ||
		virtual_fabric_open_own(fabric) < 0 || virtual_cn_open(fabric) < 0)
		return error_set(error, ENOMEM, "not enough memory for a virtual fabric");
	return virtual_mapper_open(fabric, error);
}

struct virtual_fabric *virtual_fabric_create(
	const struct topology *topology, const struct run_config *run, struct error *error)
{
	struct virtual_fabric *fabric = calloc(1, sizeof(*fabric));
	int result;

	if (fabric == NULL) {
		error_set(error, ENOMEM, "not enough memory for a fabric");
		errno = ENOMEM;
		return NULL;
	}
	fabric->topology = topology;
	fabric->run = run;
	fabric->switches = topology->switches;
	fabric->hosts = topology->hosts;
	fabric->vcs = run_config_vcs(run);
	fabric->routing_delay_ps = run->sw.routing_delay_ps;
	fabric->goal_ended = WEFT_TIME_NEVER;
	fabric->answers =
		run->nic.control != SOURCE_CONTROL_NONE || run->routing.adaptive->entropies;
	fabric->counted_bytes = FRAME_WIRE_OVERHEAD;
	if (source_control_measures(run->nic.control))
		fabric->counted_bytes -= FRAME_LATENCY_BYTES;
	fabric->credit_each = fabric->every_end =
		run->sw.credits == RUN_CREDITS_EACH || run_config_is_ethernet(run);
	fabric->foretells = fabric->every_end && !run_config_is_ethernet(run);
	measure_window_open(&fabric->window, topology, 0);
	result = build(fabric, error);
	if (result == 0)
		return fabric;
	virtual_fabric_destroy(fabric);
	errno = -result;
	return NULL;
}

static void destroy_host(struct virtual_host *host)
{
	for (unsigned i = 0; i < host->sources; i++)
		traffic_destroy(host->source[i]);
	free(host->source);
	datagram_fini(&host->nic);
}

weft_time virtual_fabric_now(const struct virtual_fabric *fabric)
{
	return fabric->now;
}

void virtual_fabric_destroy(struct virtual_fabric *fabric)
{
	if (fabric == NULL)
		return;
	for (uint32_t i = 0; fabric->host != NULL && i < fabric->hosts; i++)
		destroy_host(&fabric->host[i]);
	for (uint32_t at = 0; fabric->sw != NULL && at < fabric->switches; at++)
		if (fabric->sw[at] != NULL)
			switch_congestion_end(fabric->sw[at]);
	free(fabric->sw);
	deadlock_heads_free(&fabric->starved);
	virtual_partitions_destroy(fabric);
	virtual_links_destroy(fabric);
	virtual_events_close(fabric);
	virtual_cn_close(fabric);
	virtual_reroute_close(fabric);
	virtual_mapper_close(fabric);
	fabric_routes_free(&fabric->routes);
	run_hosts_destroy(fabric->traffic);
	virtual_goal_close(fabric);
	virtual_wire_cost_close(fabric);
	measure_window_close(&fabric->window);
	virtual_entries_close(fabric);
	virtual_fabric_close_own(fabric);
	free(fabric);
}

int virtual_fabric_set_ranks(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error)
{
	int result = ranks != NULL ? virtual_ranks_compare(fabric, ranks, error) : 0;

	if (result < 0)
		return result;
	workers = workers > 0 ? workers : 1;
	if (fabric->mapper != NULL && (workers > 1 || ranks != NULL))
		result = error_set(error, EINVAL,
			"%s: mapper.after: mapper requires a single worker; use '--workers 1', "
			"or a time instead of 'mapper'",
			fabric->run->origin);
	else if (workers > 1 || ranks != NULL)
		result = virtual_partitions_create(fabric, ranks, workers, error);
	if (result < 0)
		virtual_partitions_destroy(fabric);
	return ranks_agree(ranks, result, error);
}
