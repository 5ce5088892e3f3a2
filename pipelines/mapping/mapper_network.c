/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "wire/frame_check.h"

#define HOST_IDENTITY   ((uint64_t)1 << 32)
#define IMAGE_BYTES_MAX (1u << 24)

/* A frame on a cable, or in the hands of an agent that will send it. */
struct mapper_flight {
	weft_time at;
	uint64_t number;           /* decides between equal times */
	struct topology_port port; /* where it arrives, or, 'leaving', where it leaves */
	bool leaving;
	uint32_t bytes;
	uint8_t *data; /* NULL: lost */
};

struct mapper_station {
	struct mapper_agent agent;
	struct mapper *mapper; /* NULL: none */
	weft_time busy;        /* the mapper, until then */
	char name[TOPOLOGY_NAME_MAX];
};

static uint32_t index_of(const struct mapper_network *network, struct topology_port port)
{
	return port.kind == DEVICE_SWITCH ? port.device
					  : network->config.topology->switches + port.device;
}

static struct topology_port port_of(const struct mapper_network *network, uint32_t index)
{
	const uint32_t switches = network->config.topology->switches;

	return index < switches ? (struct topology_port){DEVICE_SWITCH, index, 0}
				: (struct topology_port){DEVICE_HOST, index - switches, 0};
}

static void find_due(struct mapper_network *network, uint32_t index)
{
	const struct mapper_station *station = &network->station[index];
	weft_time due = WEFT_TIME_NEVER, agent = mapper_agent_due(&station->agent);

	if (station->mapper != NULL)
		due = mapper_due(station->mapper, network->now);
	due = due < station->busy ? station->busy : due;
	network->due[index] = agent < due ? agent : due;
}

/* --- frames --- */

static bool is_before(const struct mapper_flight *a, const struct mapper_flight *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(struct mapper_network *network, weft_time when, struct topology_port port,
	bool leaving, const uint8_t *data, unsigned bytes)
{
	struct mapper_flight flight = {.at = when,
		.number = network->frames + network->hops,
		.port = port,
		.leaving = leaving,
		.bytes = bytes,
		.data = malloc(bytes)};
	uint32_t at = network->flights;

	if (flight.data == NULL ||
		!array_reserve(&network->flight, &network->room, at + 1u, sizeof(flight))) {
		free(flight.data);
		network->failed = true;
		return;
	}
	memcpy(flight.data, data, bytes);
	for (; at > 0 && is_before(&flight, &network->flight[(at - 1) / 2]); at = (at - 1) / 2)
		network->flight[at] = network->flight[(at - 1) / 2];
	network->flight[at] = flight;
	network->flights++;
}

static struct mapper_flight pop(struct mapper_network *network)
{
	struct mapper_flight *heap = network->flight, first = heap[0];
	const struct mapper_flight last = heap[--network->flights];
	uint32_t at = 0;

	for (uint32_t next = 1; next < network->flights; next = 2 * at + 1) {
		next += next + 1 < network->flights && is_before(&heap[next + 1], &heap[next]);
		if (is_before(&last, &heap[next]))
			break;
		heap[at] = heap[next];
		at = next;
	}
	heap[at] = last;
	return first;
}

static void transmit(struct mapper_network *network, struct topology_port from, const uint8_t *data,
	unsigned bytes)
{
	struct topology_port to;
	weft_time at;

	if (!topology_peer(network->config.topology, from, &to))
		return;
	network->hops++;
	at = network->config.send(network->config.ctx, from, bytes, network->now);
	if (at != WEFT_TIME_NEVER)
		push(network, at, to, false, data, bytes);
}

static void obey(struct mapper_network *network, struct topology_port at, unsigned orders)
{
	orders &= ~(unsigned)MAPPER_AGENT_ANSWER;
	if (orders != 0 && network->config.obey != NULL)
		network->config.obey(network->config.ctx, at,
			&network->station[index_of(network, at)].agent, orders, network->now);
}

static void to_agent(struct mapper_network *network, struct topology_port at, const uint8_t *data,
	unsigned bytes)
{
	const struct mapper_network_config *config = &network->config;
	struct mapper_station *station = &network->station[index_of(network, at)];
	struct mapper_frame *answer = &network->frame;
	unsigned orders;

	station->agent.idle = config->is_idle == NULL || config->is_idle(config->ctx, at);
	orders = mapper_agent_receive(&station->agent, network->now, at.port, data, bytes, answer);
	obey(network, at, orders);
	if ((orders & MAPPER_AGENT_ANSWER) == 0)
		return;
	if (answer->port == MAPPER_PORT_LOCAL) {
		mapper_receive(station->mapper, network->now, answer->data, answer->bytes);
		return;
	}
	network->frames++;
	at.port = answer->port;
	push(network, network->now + config->agent_ps, at, true, answer->data, answer->bytes);
}

static void arrive(struct mapper_network *network, const struct mapper_flight *flight)
{
	struct frame_header *header = frame_header(flight->data);
	struct topology_port at = flight->port;
	uint32_t index = index_of(network, at);
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
		transmit(network, at, flight->data, flight->bytes);
		return;
	}
	if (element != ROUTE_TYPE_AGENT || header->cursor + 1 != header->route_length)
		return;
	if (mapper_type_is_command(flight->data[frame_payload_offset(header)]))
		to_agent(network, at, flight->data, flight->bytes);
	else if (network->station[index].mapper != NULL)
		mapper_receive(
			network->station[index].mapper, network->now, flight->data, flight->bytes);
	find_due(network, index);
}

void mapper_network_cut(struct mapper_network *network, uint32_t link)
{
	const struct topology *topology = network->config.topology;

	for (uint32_t i = 0; i < network->flights; i++) {
		struct mapper_flight *flight = &network->flight[i];

		if (flight->leaving ||
			topology_link_at(topology, flight->port) != &topology->link_at[link])
			continue;
		free(flight->data);
		flight->data = NULL;
	}
}

/* --- stations --- */

/* The mapper takes its time for each frame. */
static void poll_mapper(
	struct mapper_network *network, struct mapper_station *station, struct topology_port at)
{
	struct mapper_frame question;

	if (network->now < station->busy || !mapper_poll(station->mapper, network->now, &question))
		return;
	station->busy = network->now + network->config.mapper_ps;
	at.port = question.port;
	if (question.port == MAPPER_PORT_LOCAL) {
		to_agent(network, at, question.data, question.bytes);
		return;
	}
	network->frames++;
	transmit(network, at, question.data, question.bytes);
}

static void turn(struct mapper_network *network, uint32_t index)
{
	struct mapper_station *station = &network->station[index];
	struct topology_port at = port_of(network, index);

	obey(network, at, mapper_agent_wait(&station->agent, network->now));
	if (mapper_agent_poll(&station->agent, network->now, &network->frame)) {
		network->frames++;
		at.port = network->frame.port;
		transmit(network, at, network->frame.data, network->frame.bytes);
	}
	if (station->mapper != NULL)
		poll_mapper(network, station, at);
	find_due(network, index);
	if (network->due[index] <= network->now) /* only its state has changed */
		network->due[index] = network->now + network->config.mapper_ps;
}

weft_time mapper_network_due(const struct mapper_network *network)
{
	weft_time due = network->flights > 0 ? network->flight[0].at : WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < network->stations; i++)
		due = network->due[i] < due ? network->due[i] : due;
	return due;
}

void mapper_network_poll(struct mapper_network *network, weft_time now)
{
	network->now = now;
	while (network->flights > 0 && network->flight[0].at <= now) {
		struct mapper_flight flight = pop(network);

		if (flight.data != NULL && flight.leaving)
			transmit(network, flight.port, flight.data, flight.bytes);
		else if (flight.data != NULL)
			arrive(network, &flight);
		free(flight.data);
	}
	for (uint32_t i = 0; i < network->stations; i++)
		if (network->due[i] <= now)
			turn(network, i);
}

void mapper_network_notice(struct mapper_network *network, uint32_t link, bool up, weft_time now)
{
	const struct topology_link *cable = &network->config.topology->link_at[link];
	const struct topology_port end[] = {cable->a, cable->b};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t at = index_of(network, end[i]);

		mapper_agent_set_link(&network->station[at].agent, end[i].port, up);
		network->due[at] = now;
	}
}

const struct mapper_agent *mapper_network_agent(
	const struct mapper_network *network, struct topology_port device)
{
	return &network->station[index_of(network, device)].agent;
}

static bool is_settled(const struct mapper *mapper)
{
	return mapper->state == MAPPER_LEADING && mapper_current(mapper) != NULL &&
	       discovery_done(&mapper->discovery) && !mapper->stale;
}

static uint32_t count_present(const struct fabric_map *map)
{
	uint32_t present = 0;

	for (uint32_t i = 0; i < map->devices; i++)
		present += map->device[i].present;
	return present;
}

const struct mapper *mapper_network_leader(const struct mapper_network *network, bool settled)
{
	for (uint32_t i = 0; i < network->stations; i++) {
		const struct mapper *mapper = network->station[i].mapper;

		if (mapper != NULL && mapper_leads(mapper) && (!settled || is_settled(mapper)) &&
			count_present(&mapper->map) > network->stations / 2)
			return mapper;
	}
	return NULL;
}

/* --- the network --- */

static void start_agent(struct mapper_network *network, uint32_t index, uint16_t priority)
{
	const struct topology *topology = network->config.topology;
	struct mapper_station *station = &network->station[index];
	struct topology_port at = port_of(network, index);
	const struct topology_device *device = topology_device(topology, at.kind, at.device);
	const bool host = at.kind == DEVICE_HOST;
	const struct mapper_agent_config config = {
		.senders_max = topology->hosts + 1,
		.id = host ? HOST_IDENTITY + at.device : at.device + 1u,
		.session = index + 1,
		.kind = host ? MAPPER_HOST : MAPPER_SWITCH,
		.ports = device->ports,
		.number = (uint16_t)at.device,
		.name = station->name,
		.candidate = priority != 0,
		.priority = priority,
		.lease_ps = network->config.lease_ps,
		.pause_ps = mapper_patience_ps(&network->config.mapper),
		.report_retry_ps = network->config.report_retry_ps,
		.image_bytes_max = IMAGE_BYTES_MAX,
	};

	snprintf(station->name, sizeof(station->name), "%.63s", device->name);
	mapper_agent_init(&station->agent, &config, 0);
	for (unsigned port = 0; port < device->ports; port++) {
		at.port = (uint8_t)port;
		mapper_agent_set_link(
			&station->agent, at.port, topology_link_at(topology, at) != NULL);
	}
}

static int start(struct mapper_network *network, uint32_t index)
{
	struct mapper_network_config *config = &network->config;
	struct mapper_station *station = &network->station[index];
	const struct topology_port at = port_of(network, index);
	uint16_t priority = at.kind == DEVICE_HOST ? config->priority(config->ctx, at.device) : 0;
	int result = 0;

	start_agent(network, index, priority);
	network->stations++;
	if (priority != 0) {
		station->mapper = calloc(1, sizeof(*station->mapper));
		config->mapper.session = index + 1;
		result = station->mapper == NULL ? -ENOMEM
						 : mapper_init(station->mapper, &config->mapper,
							   &station->agent, 0, 0);
	}
	if (result == 0) {
		find_due(network, index);
		return 0;
	}
	free(station->mapper);
	station->mapper = NULL;
	return result;
}

int mapper_network_init(struct mapper_network *network, const struct mapper_network_config *config)
{
	const uint32_t devices = config->topology->switches + config->topology->hosts;
	int result = 0;

	*network = (struct mapper_network){.config = *config,
		.station = calloc(devices + 1u, sizeof(*network->station)),
		.due = calloc(devices + 1u, sizeof(*network->due))};
	if (network->station == NULL || network->due == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < devices && result == 0; i++)
		result = start(network, i);
	return result;
}

void mapper_network_fini(struct mapper_network *network)
{
	for (uint32_t i = 0; i < network->stations; i++) {
		if (network->station[i].mapper != NULL)
			mapper_fini(network->station[i].mapper);
		free(network->station[i].mapper);
		mapper_agent_fini(&network->station[i].agent);
	}
	while (network->flights > 0)
		free(network->flight[--network->flights].data);
	free(network->flight);
	free(network->station);
	free(network->due);
}
