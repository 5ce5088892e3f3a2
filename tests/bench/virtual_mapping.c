/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_mapping.h"

#include <stdlib.h>
#include <string.h>

#include "mapper/mapper.h"
#include "mapper/miscabling.h"
#include "sim/event_queue.h"
#include "wire/frame_check.h"

#define DEADLINE_PS   (10 * PS_PER_S)
#define HOST_IDENTITY ((uint64_t)1 << 32)
#define ITEM_BITS     24
#define BUCKET_PS     (64 * PS_PER_NS)

/* A frame on a cable, or in the hands of an agent that will send it. */
struct flight {
	uint8_t *data;
	unsigned bytes;
	struct topology_port at; /* where it arrives, or, 'leaving', where it leaves */
	bool leaving;
	uint32_t next; /* free ones */
};

struct virtual_mapping {
	const struct topology *topology;
	const struct virtual_mapping_options *options;
	struct event_queue *events;
	struct flight *flight;
	uint32_t flights, room, unused; /* 'unused' is the first free one, UINT32_MAX */
	struct mapper_agent *agent;     /* switches, then hosts */
	char (*name)[TOPOLOGY_NAME_MAX];
	struct mapper mapper;
	bool mapper_ready;
	weft_time *busy; /* by link and direction: until when */
	weft_time mapper_busy;
	bool *cut;
	weft_time now;
	uint64_t frames, hops;
	bool failed; /* out of memory */
	struct mapper_frame frame;
};

static uint32_t index_of(const struct virtual_mapping *mapping, struct topology_port port)
{
	return port.kind == DEVICE_SWITCH ? port.device : mapping->topology->switches + port.device;
}

static uint32_t take_flight(struct virtual_mapping *mapping)
{
	uint32_t at = mapping->unused;

	if (at != UINT32_MAX) {
		mapping->unused = mapping->flight[at].next;
		return at;
	}
	if (mapping->flights == mapping->room) {
		struct flight *flight = NULL;

		if (2u * mapping->room <= (1u << ITEM_BITS))
			flight = realloc(mapping->flight, 2u * mapping->room * sizeof(*flight));
		if (flight == NULL) {
			mapping->failed = true;
			return UINT32_MAX;
		}
		mapping->flight = flight;
		mapping->room *= 2;
	}
	return mapping->flights++;
}

static void schedule(struct virtual_mapping *mapping, weft_time at, struct topology_port port,
	bool leaving, const uint8_t *data, unsigned bytes)
{
	uint8_t *copy = malloc(bytes);
	uint32_t item = copy == NULL ? UINT32_MAX : take_flight(mapping);

	if (item == UINT32_MAX) {
		free(copy);
		mapping->failed = true;
		return;
	}
	memcpy(copy, data, bytes);
	mapping->flight[item] =
		(struct flight){.data = copy, .bytes = bytes, .at = port, .leaving = leaving};
	event_queue_push(mapping->events,
		(struct sim_event){.at = at,
			.order = index_of(mapping, port) * TOPOLOGY_PORTS_MAX + port.port,
			.item = item});
}

/* Onto the cable, behind what is on it already. */
static void transmit(struct virtual_mapping *mapping, struct topology_port from,
	const uint8_t *data, unsigned bytes)
{
	const struct topology_link *link = topology_link_at(mapping->topology, from);
	struct topology_port to;
	weft_time *busy;
	size_t number;

	if (link == NULL || !topology_peer(mapping->topology, from, &to))
		return;
	number = (size_t)(link - mapping->topology->link_at);
	mapping->hops++;
	if (mapping->cut[number])
		return;
	busy = &mapping->busy[2 * number + (link->a.kind == from.kind &&
						   link->a.device == from.device &&
						   link->a.port == from.port)];
	if (*busy < mapping->now)
		*busy = mapping->now;
	*busy += (bytes + FRAME_WIRE_OVERHEAD) * ps_per_byte(link->rate_bps);
	schedule(mapping, *busy + link->delay_ps, to, false, data, bytes);
}

static void to_agent(struct virtual_mapping *mapping, struct topology_port at, const uint8_t *data,
	unsigned bytes)
{
	unsigned orders = mapper_agent_receive(&mapping->agent[index_of(mapping, at)], mapping->now,
		at.port, data, bytes, &mapping->frame);

	if ((orders & MAPPER_AGENT_ANSWER) == 0)
		return;
	if (mapping->frame.port == MAPPER_PORT_LOCAL) {
		mapper_receive(
			&mapping->mapper, mapping->now, mapping->frame.data, mapping->frame.bytes);
		return;
	}
	mapping->frames++;
	at.port = mapping->frame.port;
	schedule(mapping, mapping->now + mapping->options->agent_ps, at, true, mapping->frame.data,
		mapping->frame.bytes);
}

static void arrive(struct virtual_mapping *mapping, struct flight *flight)
{
	struct frame_header *header = frame_header(flight->data);
	struct topology_port at = flight->at;
	uint8_t element;

	if (frame_check(flight->data, flight->bytes) != FRAME_FAULT_OK ||
		header->cursor == header->route_length)
		return;
	element = frame_route(flight->data)[header->cursor];
	if ((element & ROUTE_PORT_BIT) != 0 && at.kind == DEVICE_SWITCH) {
		frame_update_mutable(
			flight->data, frame_mutable_word(header->vc, header->vc_original,
					      (uint8_t)(header->cursor + 1), header->flags));
		at.port = element & ROUTE_PORT_MASK;
		transmit(mapping, at, flight->data, flight->bytes);
	} else if (element == ROUTE_TYPE_AGENT && header->cursor + 1 == header->route_length) {
		if (mapper_type_is_command(flight->data[frame_payload_offset(header)]))
			to_agent(mapping, at, flight->data, flight->bytes);
		else if (at.kind == DEVICE_HOST && at.device == 0)
			mapper_receive(&mapping->mapper, mapping->now, flight->data, flight->bytes);
	}
}

static void serve(struct virtual_mapping *mapping, uint32_t item)
{
	struct flight flight = mapping->flight[item];

	if (flight.leaving)
		transmit(mapping, flight.at, flight.data, flight.bytes);
	else
		arrive(mapping, &flight);
	free(flight.data);
	mapping->flight[item].data = NULL;
	mapping->flight[item].next = mapping->unused;
	mapping->unused = item;
}

/* The mapper takes its time for each frame. */
static void poll_mapper(struct virtual_mapping *mapping)
{
	const struct topology_port own = {DEVICE_HOST, 0, 0};
	const struct topology_port local = {DEVICE_HOST, 0, MAPPER_PORT_LOCAL};

	if (mapping->now < mapping->mapper_busy ||
		!mapper_poll(&mapping->mapper, mapping->now, &mapping->frame))
		return;
	mapping->mapper_busy = mapping->now + mapping->options->mapper_ps;
	if (mapping->frame.port == MAPPER_PORT_LOCAL) {
		struct mapper_frame question = mapping->frame;

		to_agent(mapping, local, question.data, question.bytes);
		return;
	}
	mapping->frames++;
	transmit(mapping, own, mapping->frame.data, mapping->frame.bytes);
}

static weft_time mapper_next(const struct virtual_mapping *mapping)
{
	weft_time due = mapper_due(&mapping->mapper, mapping->now);

	if (due < mapping->now)
		due = mapping->now;
	return due < mapping->mapper_busy ? mapping->mapper_busy : due;
}

/* Reports of the cable's ends, the only ones that there are. */
static weft_time poll_reports(struct virtual_mapping *mapping, const struct topology_link *link)
{
	weft_time next = WEFT_TIME_NEVER;

	for (unsigned end = 0; link != NULL && end < 2; end++) {
		struct topology_port at = end == 0 ? link->a : link->b;
		struct mapper_agent *agent = &mapping->agent[index_of(mapping, at)];
		weft_time due;

		if (mapper_agent_due(agent) <= mapping->now &&
			mapper_agent_poll(agent, mapping->now, &mapping->frame)) {
			mapping->frames++;
			at.port = mapping->frame.port;
			transmit(mapping, at, mapping->frame.data, mapping->frame.bytes);
		}
		due = mapper_agent_due(agent);
		if (due < next)
			next = due;
	}
	return next;
}

static bool is_done(const struct virtual_mapping *mapping, uint32_t generation)
{
	return mapping->mapper.state == MAPPER_LEADING &&
	       mapping->mapper.generation_number >= generation &&
	       discovery_done(&mapping->mapper.discovery);
}

/* Until the mapper leads with 'generation' tables and has nothing to do. */
static int run_until_done(struct virtual_mapping *mapping, const struct topology_link *reporting,
	uint32_t generation, struct error *error)
{
	weft_time deadline = mapping->now + DEADLINE_PS;

	for (;;) {
		weft_time next = poll_reports(mapping, reporting), due;
		struct sim_event event;

		poll_mapper(mapping);
		if (mapping->failed)
			return error_set(error, ENOMEM, "no memory for the frames on the cables");
		if (is_done(mapping, generation))
			return 0;
		due = mapper_next(mapping);
		next = due < next ? due : next;
		if (event_queue_pop(
			    mapping->events, next < deadline ? next + 1 : deadline + 1, &event)) {
			mapping->now = event.at;
			serve(mapping, event.item);
		} else if (next > deadline) {
			return error_set(error, EINVAL, "not mapped in ten seconds");
		} else {
			mapping->now = next;
		}
	}
}

static void start_agent(struct virtual_mapping *mapping, struct topology_port port)
{
	const struct topology *topology = mapping->topology;
	bool host = port.kind == DEVICE_HOST;
	uint32_t at = index_of(mapping, port);
	const struct topology_device *device =
		host ? &topology->host_at[port.device] : &topology->switch_at[port.device];
	struct mapper_agent_config config = {
		.senders_max = 65536,
		.id = host ? HOST_IDENTITY + port.device : port.device + 1u,
		.session = at + 1,
		.kind = host,
		.ports = device->ports,
		.number = (uint16_t)port.device,
		.name = mapping->name[at],
		.candidate = host && port.device == 0,
		.lease_ps = PS_PER_S,
		.report_retry_ps = PS_PER_MS,
		.image_bytes_max = 1u << 24,
	};

	snprintf(mapping->name[at], TOPOLOGY_NAME_MAX, "%.63s", device->name);
	mapper_agent_init(&mapping->agent[at], &config, 0);
	for (port.port = 0; port.port < device->ports; port.port++)
		mapper_agent_set_link(
			&mapping->agent[at], port.port, topology_link_at(topology, port) != NULL);
}

static int start_mapper(struct virtual_mapping *mapping, struct error *error)
{
	const struct virtual_mapping_options *options = mapping->options;
	const struct mapper_config config = {
		.session = 1,
		.algorithm = options->algorithm,
		.fallback = route_algorithm_find("ud"),
		.tables = options->tables,
		.heartbeat_ps = PS_PER_S,
		.takeover_ps = 4 * PS_PER_S,
		.standbys = 1,
		.gather_ps = 100 * PS_PER_US,
		.linger_ps = 10 * PS_PER_MS,
		.sweep_ps = 60 * PS_PER_S,
		.discovery = {.outstanding = options->outstanding,
			.retry_ps = 50 * PS_PER_MS,
			.tries = 4},
		.distribution = {.outstanding = options->outstanding,
			.retry_ps = 50 * PS_PER_MS,
			.tries = 4,
			.part_bytes = options->part_bytes,
			.drain_ps = 10 * PS_PER_MS,
			.settle_ps = 10 * PS_PER_US},
	};
	int result = mapper_init(
		&mapping->mapper, &config, &mapping->agent[mapping->topology->switches], 0, 0);

	mapping->mapper_ready = result == 0;
	return result < 0 ? error_set(error, ENOMEM, "no memory for a mapper") : 0;
}

static int start(struct virtual_mapping *mapping, struct error *error)
{
	const struct topology *topology = mapping->topology;
	size_t devices = (size_t)topology->switches + topology->hosts;
	unsigned order_bits = 1;

	while (devices * TOPOLOGY_PORTS_MAX >> order_bits != 0)
		order_bits++;
	mapping->room = 1024;
	mapping->unused = UINT32_MAX;
	mapping->events = event_queue_create(BUCKET_PS, order_bits, ITEM_BITS);
	mapping->flight = calloc(mapping->room, sizeof(*mapping->flight));
	mapping->agent = calloc(devices + 1, sizeof(*mapping->agent));
	mapping->name = calloc(devices + 1, sizeof(*mapping->name));
	mapping->busy = calloc(2u * topology->links + 1u, sizeof(*mapping->busy));
	mapping->cut = calloc(topology->links + 1u, sizeof(*mapping->cut));
	if (mapping->events == NULL || mapping->flight == NULL || mapping->agent == NULL ||
		mapping->name == NULL || mapping->busy == NULL || mapping->cut == NULL)
		return error_set(error, ENOMEM, "no memory for %zu devices", devices);
	for (uint32_t i = 0; i < topology->switches; i++)
		start_agent(mapping, (struct topology_port){DEVICE_SWITCH, i, 0});
	for (uint32_t i = 0; i < topology->hosts; i++)
		start_agent(mapping, (struct topology_port){DEVICE_HOST, i, 0});
	return start_mapper(mapping, error);
}

static void stop(struct virtual_mapping *mapping)
{
	size_t devices = (size_t)mapping->topology->switches + mapping->topology->hosts;

	if (mapping->mapper_ready)
		mapper_fini(&mapping->mapper);
	for (size_t i = 0; mapping->agent != NULL && i < devices; i++)
		mapper_agent_fini(&mapping->agent[i]);
	for (uint32_t i = 0; mapping->flight != NULL && i < mapping->flights; i++)
		free(mapping->flight[i].data);
	event_queue_destroy(mapping->events);
	free(mapping->flight);
	free(mapping->agent);
	free(mapping->name);
	free(mapping->busy);
	free(mapping->cut);
	free(mapping);
}

static bool touches_host(const struct topology *topology, struct topology_port port)
{
	for (port.port = 0; port.port < topology->switch_at[port.device].ports; port.port++) {
		struct topology_port peer;

		if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_HOST)
			return true;
	}
	return false;
}

/* UINT32_MAX if no cable joins two switches. */
static uint32_t choose_cut(const struct topology *topology)
{
	uint32_t any = UINT32_MAX;

	for (uint32_t i = topology->links; i-- > 0;) {
		const struct topology_link *link = &topology->link_at[i];

		if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
			continue;
		any = i;
		if (!touches_host(topology, link->a) && !touches_host(topology, link->b))
			return i;
	}
	return any;
}

static struct virtual_mapping_phase measure(const struct virtual_mapping *mapping,
	const struct virtual_mapping_phase *before, weft_time since)
{
	const struct mapper *mapper = &mapping->mapper;

	return (struct virtual_mapping_phase){
		.time_ps = mapping->now - since,
		.frames = mapping->frames - before->frames,
		.hops = mapping->hops - before->hops,
		.probes = mapper->discovery.sent - before->probes,
		.tables_and_phases = mapper->distribution.sent - before->tables_and_phases,
		.live = !mapper->distribution.pause,
	};
}

static int check_map(const struct virtual_mapping *mapping, unsigned missing, struct error *error)
{
	const struct mapper_generation *current = mapper_current(&mapping->mapper);
	unsigned differences = miscabling_report(current->topology, mapping->topology, NULL);

	if (differences != missing)
		return error_set(
			error, EINVAL, "the map has %u differences from the topology", differences);
	return 0;
}

static int run_both(
	struct virtual_mapping *mapping, struct virtual_mapping_result *result, struct error *error)
{
	const struct virtual_mapping_phase nothing = {0};
	struct virtual_mapping_phase cold;
	const struct topology_link *link;
	weft_time since;
	int failure = run_until_done(mapping, NULL, 1, error);

	if (failure == 0)
		failure = check_map(mapping, 0, error);
	if (failure < 0)
		return failure;
	cold = result->cold = measure(mapping, &nothing, 0);
	result->cut = mapping->options->cut != UINT32_MAX ? mapping->options->cut
							  : choose_cut(mapping->topology);
	if (result->cut >= mapping->topology->links)
		return error_set(error, EINVAL, "there is no such cable to cut");
	link = &mapping->topology->link_at[result->cut];
	since = mapping->now;
	mapping->cut[result->cut] = true;
	mapper_agent_set_link(&mapping->agent[index_of(mapping, link->a)], link->a.port, false);
	mapper_agent_set_link(&mapping->agent[index_of(mapping, link->b)], link->b.port, false);
	failure = run_until_done(mapping, link, 2, error);
	if (failure == 0)
		failure = check_map(mapping, 1, error);
	if (failure == 0)
		result->heal = measure(mapping, &cold, since);
	return failure;
}

int virtual_mapping_run(const struct topology *topology,
	const struct virtual_mapping_options *options, struct virtual_mapping_result *result,
	struct error *error)
{
	struct virtual_mapping *mapping = calloc(1, sizeof(*mapping));
	int failure;

	if (mapping == NULL)
		return error_set(error, ENOMEM, "no memory");
	mapping->topology = topology;
	mapping->options = options;
	failure = start(mapping, error);
	if (failure == 0)
		failure = run_both(mapping, result, error);
	stop(mapping);
	return failure;
}
