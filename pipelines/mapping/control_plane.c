/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "control_plane.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_plane_private.h"
#include "topo/topology_hosts.h"
#include "wire/frame.h"

#define SENDERS_MORE  16 /* possible mappers beyond one per host of the topology */
#define HOST_IDENTITY ((uint64_t)1 << 32)
/* Capacity, in frames of maximum length, of each queue between a loop and this thread. */
#define FRAMES_WAITING 16
#define REQUESTS       16
/* Maximum image size; 16 MiB hold the routes of some 30,000 hosts. */
#define IMAGE_BYTES_MAX (1u << 24)
/* Limits per poll: a mapper must not starve the agents, nor a flooded device the other devices. */
#define MAPPER_FRAMES_A_TURN 64
#define DEVICE_FRAMES_A_TURN 64

static const struct topology_device *topology_device_of(
	const struct control_plane *plane, const struct control_plane_device *device)
{
	return topology_device(plane->config.topology, device->kind, device->number);
}

static uint32_t hosts_max(const struct control_plane *plane)
{
	uint32_t hosts = plane->config.topology->hosts, max = plane->config.hosts_max;

	return max > hosts ? max : hosts;
}

bool control_device_is_absent(
	const struct control_plane *plane, const struct control_device *device)
{
	return topology_device_of(plane, &device->config)->absent;
}

static void init_agent(struct control_plane *plane, struct control_device *device)
{
	const struct topology_device *named = topology_device_of(plane, &device->config);
	bool host = device->config.kind == DEVICE_HOST;
	const struct mapper_agent_config config = {
		.id = device->config.kind == DEVICE_HOST ? HOST_IDENTITY + device->config.number
							 : device->config.number + 1u,
		.fabric = plane->config.fabric,
		.session = plane->config.session,
		.kind = host ? MAPPER_HOST : MAPPER_SWITCH,
		.ports = host ? 1 : named->ports,
		.number = (uint16_t)device->config.number,
		.version = plane->config.version,
		.name = device->name,
		.key = plane->config.key,
		.candidate = device->config.candidate,
		.priority = device->config.priority,
		.lease_ps = plane->config.lease_ps,
		.pause_ps = mapper_patience_ps(&plane->config.mapper),
		.report_retry_ps = plane->config.report_retry_ps,
		.image_bytes_max = IMAGE_BYTES_MAX,
		.senders_max = hosts_max(plane) + SENDERS_MORE,
	};

	snprintf(device->name, sizeof(device->name), "%s", named->name);
	mapper_agent_init(&device->agent, &config, plane->config.counter);
}

static int init_mapper(struct control_plane *plane, struct control_device *device, weft_time now)
{
	struct mapper_config config = plane->config.mapper;
	struct control_mapper *mapper = calloc(1, sizeof(*mapper));
	int result;

	if (mapper == NULL)
		return -ENOMEM;
	config.session = plane->config.session;
	result = mapper_init(&mapper->mapper, &config, &device->agent, plane->config.counter, now);
	if (result == 0)
		device->mapper = mapper;
	else
		free(mapper);
	return result;
}

static int init_device(struct control_plane *plane, struct control_device *device,
	const struct control_plane_device *config, weft_time now)
{
	device->config = *config;
	init_agent(plane, device);
	plane->devices++;
	device->control = device_control_create(plane->config.frame_bytes, FRAMES_WAITING);
	if (device->control == NULL)
		return -ENOMEM;
	device_control_watch(device->control, plane->config.ring, plane->config.ring_ctx);
	return config->candidate ? init_mapper(plane, device, now) : 0;
}

struct control_plane *control_plane_create(const struct control_plane_config *config, weft_time now)
{
	struct control_plane *plane = calloc(1, sizeof(*plane));
	int result = 0;

	if (plane == NULL)
		return NULL;
	plane->config = *config;
	plane->device = calloc(config->devices + 1, sizeof(*plane->device));
	plane->requests = record_ring_create(CONTROL_REQUEST_MAX, REQUESTS);
	if (plane->device == NULL || plane->requests == NULL)
		result = -ENOMEM;
	for (unsigned i = 0; i < config->devices && result == 0; i++)
		result = init_device(plane, &plane->device[i], &config->device[i], now);
	if (result == 0)
		return plane;
	control_plane_destroy(plane);
	errno = ENOMEM;
	return NULL;
}

void control_plane_destroy(struct control_plane *plane)
{
	if (plane == NULL)
		return;
	for (unsigned i = 0; i < plane->devices; i++) {
		if (plane->device[i].mapper != NULL) {
			mapper_fini(&plane->device[i].mapper->mapper);
			free(plane->device[i].mapper->miscabled);
			free(plane->device[i].mapper);
		}
		mapper_agent_fini(&plane->device[i].agent);
		device_control_destroy(plane->device[i].control);
	}
	for (unsigned i = 0; i < plane->messages_count; i++)
		free(plane->messages[i].text);
	free(plane->device);
	record_ring_destroy(plane->requests);
	free(plane);
}

struct device_control *control_plane_control(
	const struct control_plane *plane, enum device_kind kind, uint32_t number)
{
	for (unsigned i = 0; i < plane->devices; i++)
		if (plane->device[i].config.kind == kind &&
			plane->device[i].config.number == number)
			return plane->device[i].control;
	return NULL;
}

void control_plane_name_of(const struct control_plane *plane, uint64_t id, char out[64])
{
	const struct topology *topology = plane->config.topology;

	if (id >= HOST_IDENTITY && id - HOST_IDENTITY < topology->hosts)
		snprintf(out, 64, "%.63s", topology->host_at[id - HOST_IDENTITY].name);
	else
		snprintf(out, 64, "0x%" PRIx64, id);
}

/* --- commands of agents --- */

/* Passes the agent's committed image to the device, in the device's format. If out of memory, the
 * device keeps its previous tables and a later poll retries. */
static void commit(struct control_plane *plane, struct control_device *device)
{
	const struct mapper_agent *agent = &device->agent;
	uint32_t hosts = hosts_max(plane);
	struct switch_tables *of_switch = NULL;
	struct host_tables *of_host = NULL;

	if (device->config.kind == DEVICE_HOST)
		of_host = control_host_tables(agent->image, (uint16_t)hosts, &device->reached);
	else
		of_switch = control_switch_tables(agent->image, agent->config.ports, hosts);
	device->tables_due = of_switch == NULL && of_host == NULL;
	device->tables_no_memory += device->tables_due;
	if (!device->tables_due && !device_control_commit(device->control, of_switch, of_host)) {
		switch_tables_destroy(of_switch);
		host_tables_destroy(of_host);
		device->tables_due = true;
	}
}

/* The caller checked device_control_ready(), so there is space for the commands. */
static void give_orders(struct control_plane *plane, struct control_device *device, unsigned orders)
{
	if (orders & MAPPER_AGENT_PAUSE)
		device_control_order(device->control, DEVICE_PAUSE);
	if (orders & MAPPER_AGENT_PURGE)
		device_control_order(device->control, DEVICE_PURGE);
	if (orders & MAPPER_AGENT_COMMIT)
		commit(plane, device);
	if (orders & MAPPER_AGENT_RESUME)
		device_control_order(device->control, DEVICE_RESUME);
}

/* An answer that does not fit is lost, as it could be on a cable; the mapper retries. */
static void to_agent(struct control_plane *plane, struct control_device *device, weft_time now,
	uint8_t port, const uint8_t *frame, unsigned bytes)
{
	struct mapper_frame *answer = &plane->answer;
	unsigned orders;

	device->agent.idle = device_control_idle(device->control);
	orders = mapper_agent_receive(&device->agent, now, port, frame, bytes, answer);
	give_orders(plane, device, orders);
	if ((orders & MAPPER_AGENT_ANSWER) == 0)
		return;
	if (answer->port != MAPPER_PORT_LOCAL)
		device_control_send(device->control, answer->port, answer->data, answer->bytes);
	else if (device->mapper != NULL)
		mapper_receive(&device->mapper->mapper, now, answer->data, answer->bytes);
}

/* --- input from the loops --- */

static void receive(struct control_plane *plane, struct control_device *device, weft_time now,
	unsigned port, const uint8_t *frame, unsigned bytes)
{
	unsigned payload = frame_payload_offset(frame_header_const(frame));
	bool command = payload >= bytes || mapper_type_is_command(frame[payload]);

	if (command || device->mapper == NULL)
		to_agent(plane, device, now, (uint8_t)port, frame, bytes);
	else
		mapper_receive(&device->mapper->mapper, now, frame, bytes);
}

/* Returns the number of frames received. */
static unsigned receive_all(
	struct control_plane *plane, struct control_device *device, weft_time now)
{
	unsigned port, bytes, count = 0;
	const uint8_t *frame;

	while (count < DEVICE_FRAMES_A_TURN && device_control_ready(device->control) &&
		(frame = device_control_take(device->control, &port, &bytes)) != NULL) {
		receive(plane, device, now, port, frame, bytes);
		device_control_taken(device->control);
		count++;
	}
	return count;
}

static unsigned report(struct control_plane *plane, struct control_device *device, weft_time now)
{
	if (mapper_agent_due(&device->agent) > now || !device_control_ready(device->control) ||
		!mapper_agent_poll(&device->agent, now, &plane->answer))
		return 0;
	device_control_send(
		device->control, plane->answer.port, plane->answer.data, plane->answer.bytes);
	return 1;
}

static unsigned turn_device(
	struct control_plane *plane, struct control_device *device, weft_time now)
{
	unsigned done = device_control_collect(device->control);
	uint64_t linked = device_control_linked(device->control);

	for (uint64_t changed = linked ^ device->agent.linked; changed != 0;
		changed &= changed - 1) {
		unsigned port = (unsigned)__builtin_ctzll(changed);

		mapper_agent_set_link(&device->agent, (uint8_t)port, (linked >> port & 1) != 0);
	}
	if (device->tables_due && device_control_ready(device->control))
		commit(plane, device);
	done += receive_all(plane, device, now);
	if (device_control_ready(device->control))
		give_orders(plane, device, mapper_agent_wait(&device->agent, now));
	return done + report(plane, device, now);
}

/* --- mappers --- */

static bool is_phase(const struct mapper_frame *frame)
{
	return frame->data[frame_payload_offset(frame_header_const(frame->data))] == MAPPER_PHASE;
}

/* A request to the agent of the same host bypasses the loop. The answer to PHASE reports whether
 * the device is idle, so such a request waits, like frames from the loop, for a whole iteration. */
static void ask_own_agent(struct control_plane *plane, struct control_device *device, weft_time now)
{
	struct control_mapper *mapper = device->mapper;

	if (!is_phase(&plane->question)) {
		to_agent(plane, device, now, MAPPER_PORT_LOCAL, plane->question.data,
			plane->question.bytes);
		return;
	}
	mapper->local = plane->question;
	mapper->local_since = device_control_iterations(device->control);
	mapper->local_waits = true;
}

/* Returns false if the request, and therefore the mapper, must wait. */
static bool pass_local(struct control_plane *plane, struct control_device *device, weft_time now)
{
	struct control_mapper *mapper = device->mapper;

	if (!mapper->local_waits)
		return true;
	if (!device_control_has_iterated(device->control, mapper->local_since))
		return false;
	mapper->local_waits = false;
	to_agent(plane, device, now, MAPPER_PORT_LOCAL, mapper->local.data, mapper->local.bytes);
	return true;
}

static unsigned turn_mapper(
	struct control_plane *plane, struct control_device *device, weft_time now, weft_time wall)
{
	struct mapper *mapper = &device->mapper->mapper;
	struct mapper_frame *frame = &plane->question;
	unsigned count = 0;

	while (count < MAPPER_FRAMES_A_TURN && device_control_ready(device->control) &&
		pass_local(plane, device, now) && mapper_poll(mapper, now, frame)) {
		count++;
		if (frame->port == MAPPER_PORT_LOCAL)
			ask_own_agent(plane, device, now);
		else
			device_control_send(
				device->control, frame->port, frame->data, frame->bytes);
	}
	control_mapper_watch(plane, device, wall);
	return count;
}

/* --- the plane --- */

/* Returns the number of hosts that this host should reach, including itself. */
static uint32_t hosts_of(const struct topology *topology, uint32_t host)
{
	uint32_t count = 0;

	if (!topology_has_rails(topology))
		return topology_present_hosts(topology);
	for (uint32_t i = 0; i < topology->hosts; i++)
		count += !topology->host_at[i].absent && !topology_apart(topology, host, i);
	return count;
}

static bool is_routed(const struct control_plane *plane)
{
	const struct topology *topology = plane->config.topology;

	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_device *device = &plane->device[i];

		if (control_device_is_absent(plane, device))
			continue;
		if (device->agent.image == NULL || device->agent.paused || device->tables_due ||
			!device_control_caught_up(device->control) ||
			device_control_has_refused(device->control))
			return false;
		if (device->config.kind == DEVICE_HOST &&
			device->reached + 1u < hosts_of(topology, device->config.number))
			return false;
	}
	return true;
}

static bool is_busy(const struct control_plane *plane)
{
	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_device *device = &plane->device[i];

		if (device->tables_due || device->agent.paused || device->agent.staged != NULL ||
			!device_control_caught_up(device->control) ||
			(device->mapper != NULL &&
				(device->mapper->changing || device->mapper->local_waits)))
			return true;
	}
	return false;
}

static weft_time next_due(const struct control_plane *plane, weft_time now)
{
	weft_time due = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_device *device = &plane->device[i];
		weft_time at = mapper_agent_due(&device->agent);

		due = at < due ? at : due;
		if (device->mapper == NULL)
			continue;
		at = mapper_due(&device->mapper->mapper, now);
		due = at < due ? at : due;
	}
	return due < now ? now : due;
}

static void take_renewed(struct control_plane *plane)
{
	const struct topology *topology = atomic_exchange(&plane->renewed, NULL);

	if (topology == NULL)
		return;
	if (plane->config.expect == plane->config.topology)
		plane->config.expect = topology;
	plane->config.topology = topology;
	for (unsigned i = 0; i < plane->devices; i++)
		if (plane->device[i].mapper != NULL)
			control_mapper_compare(plane, &plane->device[i]);
}

void control_plane_renew(struct control_plane *plane, const struct topology *topology)
{
	atomic_store(&plane->renewed, topology);
}

weft_time control_plane_poll(struct control_plane *plane, weft_time now, weft_time wall)
{
	unsigned done = 0;
	uint32_t bytes;

	take_renewed(plane);

	for (unsigned i = 0; i < plane->devices; i++)
		done += turn_device(plane, &plane->device[i], now);
	for (unsigned i = 0; i < plane->devices; i++)
		if (plane->device[i].mapper != NULL)
			done += turn_mapper(plane, &plane->device[i], now, wall);
	for (const char *text; (text = record_ring_next(plane->requests, &bytes)) != NULL;
		record_ring_done(plane->requests))
		control_plane_serve(plane, text, now);
	plane->busy = done > 0 || is_busy(plane);
	atomic_store_explicit(&plane->routed, is_routed(plane), memory_order_relaxed);
	return done > 0 ? now : next_due(plane, now);
}

void control_plane_absent(struct control_plane *plane, weft_time away_ps, weft_time now)
{
	for (unsigned i = 0; i < plane->devices; i++)
		if (plane->device[i].mapper != NULL)
			mapper_absent(&plane->device[i].mapper->mapper, away_ps, now);
}

const char *control_plane_why(const struct control_plane *plane)
{
	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_mapper *mapper = plane->device[i].mapper;

		if (mapper != NULL && mapper_leads(&mapper->mapper) &&
			mapper->mapper.error.text[0] != '\0')
			return mapper->mapper.error.text;
	}
	return NULL;
}

bool control_plane_is_busy(const struct control_plane *plane)
{
	return plane->busy;
}

bool control_plane_waits(const struct control_plane *plane)
{
	for (unsigned i = 0; i < plane->devices; i++)
		if (!device_control_taken_all(plane->device[i].control))
			return true;
	return false;
}

bool control_plane_is_routed(const struct control_plane *plane)
{
	return atomic_load_explicit(&plane->routed, memory_order_relaxed);
}

bool control_plane_ask(struct control_plane *plane, const char *request)
{
	size_t bytes = strlen(request) + 1;
	char *room = NULL;

	record_ring_reclaim_all(plane->requests);
	if (bytes <= CONTROL_REQUEST_MAX)
		room = record_ring_room(plane->requests, (uint32_t)bytes, 0, 0);
	if (room == NULL)
		return false;
	memcpy(room, request, bytes);
	record_ring_flush(plane->requests);
	return true;
}
