/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <rte_common.h>
#include <stdlib.h>

#include "loop_commands.h"
#include "port/port.h"
#include "port/port_ethdev.h"
#include "port/port_udp.h"
#include "setup/device_config.h"
#include "wire/frame.h"

/* Capacity of an in-memory link in frames: as many as the credits of both ends allow in flight. */
#define MEMORY_LINK_SLOTS 4096

bool real_is_here(const struct real_fabric *fabric, const struct topology_port *at)
{
	const bool *here =
		at->kind == DEVICE_SWITCH ? fabric->options.switch_here : fabric->options.host_here;

	return here == NULL || here[at->device];
}

static void name_end(const struct real_fabric *fabric, struct real_end *end, char *out, size_t size)
{
	topology_port_name(fabric->options.topology, end->at, out, size);
}

static uint32_t frame_longest_here(const struct real_fabric *fabric)
{
	return frame_longest(run_config_frame_payload(fabric->options.run)) +
	       (fabric->routes.extra_long ? FRAME_ROUTE_MAX - FRAME_ROUTE_USUAL : 0);
}

/* Checks that the port has space for all frames that may arrive. */
static int check_room(
	const struct real_fabric *fabric, const struct port *port, struct error *error)
{
	const struct run_config *run = fabric->options.run;

	return port_check_room(port, run_config_vcs(run), frame_longest_here(fabric), error);
}

static struct port_ethdev_config ethdev_config(const struct real_fabric *fabric)
{
	return (struct port_ethdev_config){.frame_bytes = frame_longest_here(fabric)};
}

/* Checks that the device passes frames of the run's size; the error states the maximum. */
static int check_longest(
	const struct real_fabric *fabric, const struct real_end *end, struct error *error)
{
	const struct port_ethdev_config config = ethdev_config(fabric);
	const struct run_config *run = fabric->options.run;
	struct port_ethdev_needs needs;

	uint32_t extra_bytes = run_config_extra_bytes(run);

	if (fabric->routes.extra_long)
		extra_bytes += FRAME_ROUTE_MAX - FRAME_ROUTE_USUAL;
	port_ethdev_needs(&end->port, &config, &needs);
	return frame_fit_check(&end->port, &needs, run->nic.mtu_bytes, extra_bytes, error);
}

static void init_end(struct real_fabric *fabric, struct real_end *end, struct topology_port at)
{
	const struct run_config *run = fabric->options.run;

	end->at = at;
	end->slot = (uint32_t)(end - fabric->end);
	end->impairment.credit_loss_ppm = run->faults.credit_loss_ppm;
	end->impairment.corrupt_ppm = run->faults.corrupt_ppm;
	rng_init(&end->impairment.rng, run->seed, end->slot, REAL_STREAM_IMPAIRMENT);
	*(at.kind == DEVICE_HOST ? &fabric->host_end[at.device]
				 : &fabric->switch_end[at.device * TOPOLOGY_PORTS_MAX + at.port]) =
		end;
}

static void init_link(struct real_fabric *fabric, uint32_t link)
{
	const struct topology_link *cable = &fabric->options.topology->link_at[link];
	bool inside = real_is_here(fabric, &cable->a) && real_is_here(fabric, &cable->b);

	for (unsigned side = 0; side < 2; side++) {
		struct real_end *end = &fabric->end[2 * link + side];

		init_end(fabric, end, side == 0 ? cable->a : cable->b);
		end->far = side == 0 ? cable->b : cable->a;
		end->wire = *cable;
		end->external = real_is_here(fabric, &end->at) && !inside;
		if (end->external && fabric->options.external != NULL)
			end->device = fabric->options.external[link];
	}
}

/* Lists the unconnected ports of local switches, if cables can be connected later. Returns their
 * number; 'into' may be NULL. */
static uint32_t list_free(struct real_fabric *fabric, struct real_end *into)
{
	const struct topology *topology = fabric->options.topology;
	struct topology_port at = {.kind = DEVICE_SWITCH};
	uint32_t count = 0;

	for (at.device = 0; fabric->options.plugs && at.device < topology->switches; at.device++)
		for (at.port = 0; at.port < topology->switch_at[at.device].ports; at.port++) {
			if (!real_is_here(fabric, &at) || topology_link_at(topology, at) != NULL)
				continue;
			if (into != NULL)
				init_end(fabric, &into[count], at);
			count++;
		}
	return count;
}

static int list_ends(struct real_fabric *fabric, struct error *error)
{
	const struct topology *topology = fabric->options.topology;
	uint32_t ends = 2 * topology->links + list_free(fabric, NULL);

	fabric->end = calloc(ends + 1u, sizeof(*fabric->end));
	fabric->switch_end = calloc(
		(size_t)topology->switches * TOPOLOGY_PORTS_MAX + 1, sizeof(*fabric->switch_end));
	fabric->host_end = calloc(topology->hosts + 1u, sizeof(*fabric->host_end));
	if (fabric->end == NULL || fabric->switch_end == NULL || fabric->host_end == NULL)
		return error_set(error, ENOMEM, "not enough memory for %u ends of links", ends);
	fabric->ends = ends;
	for (uint32_t i = 0; i < topology->links; i++)
		init_link(fabric, i);
	list_free(fabric, &fabric->end[2 * topology->links]);
	return 0;
}

bool real_device_is_socket(const char *device)
{
	return port_is_udp(device) || port_is_packet(device);
}

static uint16_t vlan_of(const struct real_fabric *fabric, const struct real_end *end)
{
	return fabric->options.vlan != NULL ? fabric->options.vlan[end->slot / 2] : 0;
}

static int attach_external(struct real_fabric *fabric, struct real_end *end, struct error *error)
{
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	result = port_attach_ethdev(&end->port, name, end->device, error);
	end->attached = result == 0;
	return result < 0 ? result : check_longest(fabric, end, error);
}

int real_links_attach(struct real_fabric *fabric, struct error *error)
{
	int result = list_ends(fabric, error);

	for (uint32_t i = 0; i < fabric->ends && result == 0; i++) {
		struct real_end *end = &fabric->end[i];
		char name[64];

		if (!end->external)
			continue;
		name_end(fabric, end, name, sizeof(name));
		if (end->device == NULL)
			result = error_set(error, EINVAL,
				"%s: the far end is in another process; add a device for this "
				"end",
				name);
		else if (!port_is_shared(end->device) && !real_device_is_socket(end->device) &&
			 port_ethdev_is_nic(end->device))
			result = attach_external(fabric, end, error);
	}
	return result;
}

void real_device_needs(const char *device, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs)
{
	if (!real_device_is_socket(device))
		port_ethdev_needs_max(device, config, needs);
	else
		*needs = (struct port_ethdev_needs){.received_mbufs = PORT_BURST,
			.room_bytes = config->frame_bytes,
			.socket = SOCKET_ID_ANY};
}

void real_links_needs(const struct real_fabric *fabric, struct real_pool_request *request)
{
	const struct port_ethdev_config config = ethdev_config(fabric);
	struct port_ethdev_needs needs;

	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];

		if (!end->external || port_is_shared(end->device))
			continue;
		request->ethdevs |= !real_device_is_socket(end->device);
		if (end->attached)
			port_ethdev_needs(&end->port, &config, &needs);
		else
			real_device_needs(end->device, &config, &needs);
		real_pool_add(request, &needs);
	}
}

/* Enables the measurement of lateness at a port. */
static int watch_lateness(struct port *port, struct error *error)
{
	port->late = calloc(1, sizeof(*port->late));
	return port->late != NULL ? 0 : error_set(error, ENOMEM, "%s: out of memory", port->name);
}

static int open_shared(struct real_fabric *fabric, struct real_end *end, struct error *error)
{
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	result = port_open_shared(&end->port, name, end->device, ethdev_config(fabric).frame_bytes,
		fabric->data_pool, error);
	end->made = end->open = result == 0;
	if (result == 0)
		result = watch_lateness(&end->port, error);
	return result < 0 ? result : check_room(fabric, &end->port, error);
}

static int open_ethdev(struct real_fabric *fabric, struct real_end *end, struct error *error)
{
	struct port_ethdev_config config = ethdev_config(fabric);
	int result = end->attached ? 0 : attach_external(fabric, end, error);

	/* Only interfaces compare clocks. */
	config.vlan = vlan_of(fabric, end);
	config.stamps = fabric->options.run->nic.hardware_stamps && end->at.kind == DEVICE_HOST;
	if (result == 0)
		result = port_start_ethdev(&end->port, &config, fabric->data_pool, error);
	end->made = end->open = result == 0;
	return result < 0 ? result : check_room(fabric, &end->port, error);
}

static int open_socket(struct real_fabric *fabric, struct real_end *end, struct error *error)
{
	const uint32_t frame_bytes = ethdev_config(fabric).frame_bytes;
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	if (port_is_udp(end->device))
		result = port_open_udp(
			&end->port, name, end->device, frame_bytes, fabric->data_pool, error);
	else
		result = port_open_packet(&end->port, name, end->device, frame_bytes,
			vlan_of(fabric, end), fabric->data_pool, error);
	end->made = end->open = result == 0;
	return result < 0 ? result : check_room(fabric, &end->port, error);
}

static int open_external(struct real_fabric *fabric, struct real_end *end, struct error *error)
{
	if (port_is_shared(end->device))
		return open_shared(fabric, end, error);
	if (real_device_is_socket(end->device))
		return open_socket(fabric, end, error);
	return open_ethdev(fabric, end, error);
}

unsigned real_held_frames(const struct topology_link *link)
{
	return delay_line_frames(link->given ? link->rate_bps : 0, link->delay_ps);
}

/* An untimed link to a different process is as fast as the machine: a frame that cut through to it
 * would be sent before its tail has arrived. */
static bool has_untimed_output(const struct real_fabric *fabric, const struct topology_port *at)
{
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].at.kind == at->kind && fabric->end[i].at.device == at->device &&
			fabric->end[i].external && !fabric->end[i].wire.given)
			return true;
	return false;
}

void real_end_time(const struct real_fabric *fabric, struct real_end *end)
{
	const struct topology_link *link = &end->wire;

	end->timed = true;
	end->timing = (struct tx_timing){.rate_bps = link->rate_bps,
		.delay_ps = link->delay_ps,
		.catch_up_ps = REAL_CATCH_UP_PS,
		.cut_through =
			!has_untimed_output(fabric, &end->far) &&
			link_cuts_through(fabric->options.topology,
				fabric->options.run->sw.switching, link->rate_bps, end->far)};
}

static int open_memory(
	struct real_fabric *fabric, struct real_end *a, struct real_end *b, struct error *error)
{
	char name_a[64], name_b[64];
	int result;

	name_end(fabric, a, name_a, sizeof(name_a));
	name_end(fabric, b, name_b, sizeof(name_b));
	result =
		port_open_memory_link(&a->port, name_a, &b->port, name_b, MEMORY_LINK_SLOTS, error);
	a->made = a->open = b->made = b->open = result == 0;
	real_end_time(fabric, a);
	real_end_time(fabric, b);
	if (result == 0)
		result = watch_lateness(&a->port, error) | watch_lateness(&b->port, error);
	return result < 0 ? result : check_room(fabric, &a->port, error);
}

int real_links_open(struct real_fabric *fabric, struct error *error)
{
	int result = 0;

	for (uint32_t link = 0; link < fabric->options.topology->links && result == 0; link++) {
		struct real_end *a = &fabric->end[2 * link], *b = a + 1;

		if (a->external || b->external)
			result = open_external(fabric, a->external ? a : b, error);
		else if (real_is_here(fabric, &a->at))
			result = open_memory(fabric, a, b, error);
	}
	for (uint32_t i = 2 * fabric->options.topology->links; i < fabric->ends && result == 0;
		i++) {
		result = open_shared(fabric, &fabric->end[i], error);
		fabric->end[i].open = false;
	}
	for (uint32_t i = 0; i < fabric->ends && result == 0; i++)
		if (fabric->end[i].external)
			port_watch_ethdev(&fabric->end[i].port);
	return result;
}

struct real_end *real_end_at(struct real_fabric *fabric, struct topology_port at)
{
	struct real_end *end =
		at.kind == DEVICE_HOST
			? fabric->host_end[at.device]
			: fabric->switch_end[at.device * TOPOLOGY_PORTS_MAX + at.port];

	return end != NULL && end->made ? end : NULL;
}

bool real_end_is_inside(const struct real_end *end)
{
	return end->open && !end->external;
}

struct port_auth_plan real_end_plan(const struct real_fabric *fabric, const struct real_end *end)
{
	return (struct port_auth_plan){.device = end->open ? device_config_identity(&end->far) : 0,
		.port = end->far.port,
		.binding = fabric->control == NULL,
		.full_pool = fabric->data_pool,
		.full_bytes = frame_longest_here(fabric)};
}

const struct link_key *real_end_key(const struct real_fabric *fabric, const struct real_end *end)
{
	bool stays_inside = real_end_is_inside(end) && !fabric->options.plugs;

	return stays_inside ? NULL : fabric->options.link_key;
}

struct impairment *real_end_impairment(struct real_end *end)
{
	return (end->impairment.credit_loss_ppm | end->impairment.corrupt_ppm) != 0
		       ? &end->impairment
		       : NULL;
}

void real_links_cut(struct real_fabric *fabric, const char *text)
{
	struct link_command order;
	char name[64];

	if (!link_command_parse(text, &order))
		return;
	for (uint32_t i = 0; i < fabric->ends; i++) {
		struct real_end *end = &fabric->end[i];

		name_end(fabric, end, name, sizeof(name));
		if (end->open && link_command_names(&order, name))
			end->cut = order.cut;
	}
	real_links_keep(fabric);
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].open)
			port_cut(&fabric->end[i].port, fabric->end[i].cut);
}

void real_links_close(struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].attached)
			port_unwatch_ethdev(&fabric->end[i].port);
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].made || fabric->end[i].attached)
			port_close(&fabric->end[i].port);
	for (uint32_t i = 0; i < fabric->ends; i++)
		free(fabric->end[i].port.late);
	free(fabric->end);
	free(fabric->switch_end);
	free(fabric->host_end);
}
