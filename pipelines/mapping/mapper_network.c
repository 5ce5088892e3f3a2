/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_network.h"

#include <stdlib.h>
#include <string.h>

#include "mapper_flight.h"
#include "wire/frame_check.h"

#define HOST_IDENTITY   ((uint64_t)1 << 32)
#define IMAGE_BYTES_MAX (1u << 24)

enum mapper_led { NOT_LED, LED, LED_AND_SETTLED };

struct mapper_station {
	struct mapper_agent agent;
	struct mapper *mapper;  /* NULL: none */
	weft_time busy;         /* when the mapper finishes its last frame */
	uint32_t epoch, number; /* the mapper's last routes in use by all of its devices */
	enum mapper_led led;    /* set by mapper_network_look() */
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

static void set_due(struct mapper_network *network, uint32_t index, weft_time at)
{
	weft_time *due = network->due;
	uint32_t i = network->leaves + index;

	due[i] = at;
	for (i /= 2; i > 0; i /= 2)
		due[i] = due[2 * i] < due[2 * i + 1] ? due[2 * i] : due[2 * i + 1];
}

static void note_routes(struct mapper_network *network, struct mapper_station *station)
{
	const struct mapper *mapper = station->mapper;

	if (!mapper_is_settled(mapper) ||
		(mapper->epoch == station->epoch && mapper->generation_number == station->number))
		return;
	station->epoch = mapper->epoch;
	station->number = mapper->generation_number;
	network->changed = true;
}

/* Updates when a station is due. Call after each change of the station. */
static void find_due(struct mapper_network *network, uint32_t index)
{
	struct mapper_station *station = &network->station[index];
	weft_time due = WEFT_TIME_NEVER, agent = mapper_agent_due(&station->agent);

	if (station->mapper != NULL) {
		note_routes(network, station);
		due = mapper_due(station->mapper, network->now);
	}
	due = due < station->busy ? station->busy : due;
	set_due(network, index, agent < due ? agent : due);
}

/* --- frames --- */

/* Copies a frame for the network, which owns the copy; NULL if out of memory (a lost frame). */
static uint8_t *copy_of(struct mapper_network *network, const struct mapper_frame *frame)
{
	uint8_t *data = malloc(frame->bytes);

	if (data != NULL)
		memcpy(data, frame->data, frame->bytes);
	network->failed = network->failed || data == NULL;
	return data;
}

static void transmit(
	struct mapper_network *network, struct topology_port from, uint8_t *data, unsigned bytes)
{
	weft_time at = WEFT_TIME_NEVER;
	struct topology_port to;

	if (topology_peer(network->config.topology, from, &to)) {
		network->hops++;
		at = network->config.send(network->config.ctx, from, bytes, network->now);
	}
	if (at != WEFT_TIME_NEVER)
		mapper_flight_push(network, at, to, false, data, bytes);
	else
		free(data);
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
	mapper_flight_push(network, network->now + config->agent_ps, at, true,
		copy_of(network, answer), answer->bytes);
}

static void arrive(struct mapper_network *network, struct mapper_flight *flight)
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
		flight->data = NULL;
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

/* Sends the mapper's next frame unless the mapper is busy with the previous one. */
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
	transmit(network, at, copy_of(network, &question), question.bytes);
}

static void turn(struct mapper_network *network, uint32_t index)
{
	struct mapper_station *station = &network->station[index];
	struct topology_port at = port_of(network, index);

	obey(network, at, mapper_agent_wait(&station->agent, network->now));
	if (mapper_agent_poll(&station->agent, network->now, &network->frame)) {
		network->frames++;
		at.port = network->frame.port;
		transmit(network, at, copy_of(network, &network->frame), network->frame.bytes);
	}
	if (station->mapper != NULL)
		poll_mapper(network, station, at);
	find_due(network, index);
	if (network->due[network->leaves + index] <=
		network->now) /* only the mapper's state changed */
		set_due(network, index, network->now + network->config.mapper_ps);
}

weft_time mapper_network_due(const struct mapper_network *network)
{
	weft_time due = mapper_flight_due(network);

	return due < network->due[1] ? due : network->due[1];
}

void mapper_network_poll(struct mapper_network *network, weft_time now)
{
	network->now = now;
	while (mapper_flight_due(network) <= now) {
		struct mapper_flight flight = mapper_flight_pop(network);

		if (flight.data != NULL && flight.leaving) {
			transmit(network, flight.port, flight.data, flight.bytes);
		} else if (flight.data != NULL) {
			arrive(network, &flight);
			free(flight.data);
		}
	}
	while (network->due[1] <= now) {
		uint32_t at = 1;

		while (at < network->leaves)
			at = 2 * at + (network->due[2 * at] > now);
		turn(network, at - network->leaves);
	}
}

void mapper_network_notice(struct mapper_network *network, uint32_t link, bool up, weft_time now)
{
	const struct topology_link *cable = &network->config.topology->link_at[link];
	const struct topology_port end[] = {cable->a, cable->b};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t at = index_of(network, end[i]);

		mapper_agent_set_link(&network->station[at].agent, end[i].port, up);
		set_due(network, at, now);
	}
}

const struct mapper_agent *mapper_network_agent(
	const struct mapper_network *network, struct topology_port device)
{
	return &network->station[index_of(network, device)].agent;
}

/* --- leaders --- */

/* Marks the devices that a mapper leads. */
static void mark(struct mapper_network *network, const struct mapper *leader)
{
	const uint32_t switches = network->config.topology->switches;
	const enum mapper_led led = mapper_is_settled(leader) ? LED_AND_SETTLED : LED;

	for (uint32_t i = 0; i < leader->map.devices; i++) {
		const struct map_device *device = &leader->map.device[i];

		if (device->present)
			network->station[device->id < HOST_IDENTITY
						 ? device->id - 1
						 : switches + device->id - HOST_IDENTITY]
				.led = led;
	}
}

void mapper_network_look(struct mapper_network *network)
{
	network->leaders = 0;
	for (uint32_t i = 0; i < network->stations; i++)
		network->station[i].led = NOT_LED;
	for (uint32_t i = 0; i < network->stations; i++) {
		const struct mapper_station *station = &network->station[i];

		/* A mapper whose agent follows a higher-ranking one has lost the lead, although its
		 * state may not show it yet. */
		if (station->mapper == NULL || !mapper_leads(station->mapper) ||
			!station->agent.leading || station->agent.linked == 0)
			continue;
		network->leader[network->leaders++] = station->mapper;
		mark(network, station->mapper);
	}
}

bool mapper_network_changed(struct mapper_network *network)
{
	if (!network->changed)
		return false;
	network->changed = false;
	mapper_network_look(network);
	return true;
}

uint32_t mapper_network_unled(
	const struct mapper_network *network, bool settled, struct topology_port *first)
{
	uint32_t count = 0;

	for (uint32_t i = network->stations; i-- > 0;) {
		const struct mapper_station *station = &network->station[i];

		if (station->agent.linked == 0 || station->led >= (settled ? LED_AND_SETTLED : LED))
			continue;
		*first = port_of(network, i);
		count++;
	}
	return count;
}

bool mapper_network_avoids(const struct mapper_network *network, uint32_t link)
{
	const struct topology_link *cable = &network->config.topology->link_at[link];
	const struct topology_port end[] = {cable->a, cable->b};

	for (uint32_t i = 0; i < network->leaders; i++) {
		const struct mapper_generation *current = mapper_current(network->leader[i]);

		if (current == NULL || topology_link_at(current->topology, cable->a) != NULL)
			return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct mapper_station *at = &network->station[index_of(network, end[i])];

		if (at->agent.linked != 0 && at->led != LED_AND_SETTLED)
			return false;
	}
	return network->leaders > 0;
}

struct mapper_counters mapper_network_counters(const struct mapper_network *network)
{
	struct mapper_counters sum = {0};

	for (uint32_t i = 0; i < network->stations; i++) {
		const struct mapper *mapper = network->station[i].mapper;

		if (mapper == NULL)
			continue;
		sum.live += mapper->counters.live;
		sum.paused += mapper->counters.paused;
		sum.called_off += mapper->counters.called_off;
	}
	return sum;
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
		.ports = host ? 1 : device->ports,
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
	for (unsigned port = 0; port < config.ports; port++) {
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

	*network = (struct mapper_network){.config = *config, .leaves = 1};
	while (network->leaves < devices)
		network->leaves *= 2;
	network->station = calloc(devices + 1u, sizeof(*network->station));
	network->leader = calloc(devices + 1u, sizeof(struct mapper *));
	network->due = malloc(2 * network->leaves * sizeof(*network->due));
	if (network->station == NULL || network->leader == NULL || network->due == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * network->leaves; i++)
		network->due[i] = WEFT_TIME_NEVER;
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
	free(network->leader);
	free(network->due);
}
