/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <rte_common.h>
#include <stdlib.h>

#include "device_config.h"
#include "frame_fit.h"
#include "frame_room.h"
#include "link_order.h"
#include "link_timing.h"
#include "port_ethdev.h"
#include "port_packet.h"
#include "port_shared.h"
#include "port_udp.h"

/* Frames that may wait in a memory link: all that the credits of both ends can have on the way. */
#define MEMORY_LINK_SLOTS 4096

static bool is_here(const struct real_fabric *fabric, const struct topology_port *at)
{
	const bool *here =
		at->kind == DEVICE_SWITCH ? fabric->options.switch_here : fabric->options.host_here;

	return here == NULL || here[at->device];
}

static void name_end(const struct real_fabric *fabric, struct real_end *end, char *out, size_t size)
{
	topology_port_name(fabric->options.topology, end->at, out, size);
}

/* All that may come by it is to find room. */
static int check_room(
	const struct real_fabric *fabric, const struct port *port, struct fault *fault)
{
	const struct run_config *run = fabric->options.run;

	return port_check_room(
		port, run_config_vcs(run), frame_longest(run_config_frame_payload(run)), fault);
}

static struct port_ethdev_config ethdev_config(const struct real_fabric *fabric)
{
	return (struct port_ethdev_config){
		.frame_bytes = frame_longest(run_config_frame_payload(fabric->options.run))};
}

/* The device passes frames of the run's size; if not, it is said which size it passes. */
static int check_longest(
	const struct real_fabric *fabric, const struct real_end *end, struct fault *fault)
{
	const struct port_ethdev_config config = ethdev_config(fabric);
	const struct run_config *run = fabric->options.run;
	struct port_ethdev_needs needs;

	port_ethdev_needs(&end->port, &config, &needs);
	return frame_fit_check(
		&end->port, &needs, run->nic.mtu_bytes, run_config_extra_bytes(run), fault);
}

static void init_end(struct real_fabric *fabric, uint32_t link, unsigned side)
{
	const struct topology_link *cable = &fabric->options.topology->link_at[link];
	struct real_end *end = &fabric->end[2 * link + side];
	const struct run_config *run;

	end->at = side == 0 ? cable->a : cable->b;
	end->link = link;
	run = fabric->options.run;
	end->impairment.credit_loss_ppm = run->faults.credit_loss_ppm;
	end->impairment.corrupt_ppm = run->faults.corrupt_ppm;
	rng_init(&end->impairment.rng, run->seed, 2 * (uint64_t)end->link + side,
		REAL_STREAM_IMPAIRMENT);
}

/* The device of a link with its far end elsewhere; NULL: none is named. */
static const char *device_of(const struct real_fabric *fabric, const struct real_end *end)
{
	const char *const *external = fabric->options.external;

	return external != NULL ? external[end->link] : NULL;
}

static uint16_t vlan_of(const struct real_fabric *fabric, const struct real_end *end)
{
	return fabric->options.vlan != NULL ? fabric->options.vlan[end->link] : 0;
}

static bool is_external(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct topology_link *link = &fabric->options.topology->link_at[end->link];

	return is_here(fabric, &end->at) && is_here(fabric, &link->a) != is_here(fabric, &link->b);
}

static bool is_shared(const struct real_fabric *fabric, const struct real_end *end)
{
	return port_is_shared(device_of(fabric, end));
}

/* A socket of the kernel, which copies frames. */
static bool is_socket(const struct real_fabric *fabric, const struct real_end *end)
{
	const char *device = device_of(fabric, end);

	return port_is_udp(device) || port_is_packet(device);
}

static int attach_external(struct real_fabric *fabric, struct real_end *end, struct fault *fault)
{
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	result = port_attach_ethdev(&end->port, name, device_of(fabric, end), fault);
	end->attached = result == 0;
	return result < 0 ? result : check_longest(fabric, end, fault);
}

int real_links_attach(struct real_fabric *fabric, struct fault *fault)
{
	int result = 0;

	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		init_end(fabric, i / 2, i % 2);
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links && result == 0; i++) {
		struct real_end *end = &fabric->end[i];
		char name[64];

		if (!is_external(fabric, end))
			continue;
		name_end(fabric, end, name, sizeof(name));
		if (device_of(fabric, end) == NULL)
			result = fault_set(fault, EINVAL,
				"%s: its far end is in another process, and nothing says by what "
				"device",
				name);
		else if (!is_shared(fabric, end) && !is_socket(fabric, end) &&
			 port_ethdev_is_nic(device_of(fabric, end)))
			result = attach_external(fabric, end, fault);
	}
	return result;
}

void real_device_needs(const char *device, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs)
{
	if (!port_is_udp(device) && !port_is_packet(device))
		port_ethdev_needs_most(device, config, needs);
	else
		*needs = (struct port_ethdev_needs){.received_mbufs = PORT_BURST,
			.room_bytes = config->frame_bytes,
			.socket = SOCKET_ID_ANY};
}

void real_links_needs(const struct real_fabric *fabric, struct real_pool_request *request)
{
	const struct port_ethdev_config config = ethdev_config(fabric);
	struct port_ethdev_needs needs;

	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		const struct real_end *end = &fabric->end[i];

		if (!is_external(fabric, end) || is_shared(fabric, end))
			continue;
		if (end->attached)
			port_ethdev_needs(&end->port, &config, &needs);
		else
			real_device_needs(device_of(fabric, end), &config, &needs);
		real_pool_add(request, &needs);
	}
}

/* For a port whose frames can have due times. */
static int watch_lateness(struct port *port, struct fault *fault)
{
	port->late = calloc(1, sizeof(*port->late));
	return port->late != NULL ? 0 : fault_set(fault, ENOMEM, "%s: no memory", port->name);
}

static int open_shared(struct real_fabric *fabric, struct real_end *end, struct fault *fault)
{
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	result = port_open_shared(&end->port, name, device_of(fabric, end),
		ethdev_config(fabric).frame_bytes, fabric->data_pool, fault);
	end->open = result == 0;
	if (result == 0)
		result = watch_lateness(&end->port, fault);
	return result < 0 ? result : check_room(fabric, &end->port, fault);
}

static int open_ethdev(struct real_fabric *fabric, struct real_end *end, struct fault *fault)
{
	struct port_ethdev_config config = ethdev_config(fabric);
	int result = end->attached ? 0 : attach_external(fabric, end, fault);

	/* Only interfaces compare clocks. */
	config.vlan = vlan_of(fabric, end);
	config.stamps = fabric->options.run->nic.hardware_stamps && end->at.kind == DEVICE_HOST;
	if (result == 0)
		result = port_start_ethdev(&end->port, &config, fabric->data_pool, fault);
	end->open = result == 0;
	return result < 0 ? result : check_room(fabric, &end->port, fault);
}

static int open_socket(struct real_fabric *fabric, struct real_end *end, struct fault *fault)
{
	const uint32_t frame_bytes = ethdev_config(fabric).frame_bytes;
	const char *device = device_of(fabric, end);
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	if (port_is_udp(device))
		result = port_open_udp(
			&end->port, name, device, frame_bytes, fabric->data_pool, fault);
	else
		result = port_open_packet(&end->port, name, device, frame_bytes,
			vlan_of(fabric, end), fabric->data_pool, fault);
	end->open = result == 0;
	return result < 0 ? result : check_room(fabric, &end->port, fault);
}

static int open_external(struct real_fabric *fabric, struct real_end *end, struct fault *fault)
{
	if (is_shared(fabric, end))
		return open_shared(fabric, end, fault);
	if (is_socket(fabric, end))
		return open_socket(fabric, end, fault);
	return open_ethdev(fabric, end, fault);
}

unsigned real_held_frames(const struct topology_link *link)
{
	return delay_line_frames(link->given ? link->rate_bps : 0, link->delay_ps);
}

/* Such a link to another process is as fast as the machine: a frame that cut through to it would
 * leave before its tail has come. */
static bool has_untimed_output(const struct real_fabric *fabric, const struct topology_port *at)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		if (fabric->end[i].at.kind == at->kind && fabric->end[i].at.device == at->device &&
			is_external(fabric, &fabric->end[i]) &&
			!fabric->options.topology->link_at[i / 2].given)
			return true;
	return false;
}

/* The wire from this end. */
static void set_timing(const struct real_fabric *fabric, struct real_end *end)
{
	const struct topology_link *link = &fabric->options.topology->link_at[end->link];
	const struct real_end *far = &fabric->end[(end - fabric->end) ^ 1];

	end->timed = true;
	end->timing = (struct tx_timing){.rate_bps = link->rate_bps,
		.delay_ps = link->delay_ps,
		.catch_up_ps = REAL_CATCH_UP_PS,
		.cut_through = !has_untimed_output(fabric, &far->at) &&
			       link_cuts_through(fabric->options.topology,
				       fabric->options.run->sw.switching, link->rate_bps, far->at)};
}

static int open_memory(
	struct real_fabric *fabric, struct real_end *a, struct real_end *b, struct fault *fault)
{
	char name_a[64], name_b[64];
	int result;

	name_end(fabric, a, name_a, sizeof(name_a));
	name_end(fabric, b, name_b, sizeof(name_b));
	result =
		port_open_memory_link(&a->port, name_a, &b->port, name_b, MEMORY_LINK_SLOTS, fault);
	a->open = b->open = result == 0;
	set_timing(fabric, a);
	set_timing(fabric, b);
	if (result == 0)
		result = watch_lateness(&a->port, fault) | watch_lateness(&b->port, fault);
	return result < 0 ? result : check_room(fabric, &a->port, fault);
}

int real_links_open(struct real_fabric *fabric, struct fault *fault)
{
	int result = 0;

	for (uint32_t link = 0; link < fabric->options.topology->links && result == 0; link++) {
		struct real_end *a = &fabric->end[2 * link], *b = a + 1;

		if (is_external(fabric, a) || is_external(fabric, b))
			result = open_external(fabric, is_external(fabric, a) ? a : b, fault);
		else if (is_here(fabric, &a->at))
			result = open_memory(fabric, a, b, fault);
	}
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links && result == 0; i++)
		if (is_external(fabric, &fabric->end[i]))
			port_watch_ethdev(&fabric->end[i].port);
	return result;
}

struct real_end *real_end_at(struct real_fabric *fabric, struct topology_port at)
{
	const struct topology_link *link = topology_link_at(fabric->options.topology, at);
	struct real_end *end;

	if (link == NULL)
		return NULL;
	end = &fabric->end[2 * (link - fabric->options.topology->link_at)];
	if (end->at.kind != at.kind || end->at.device != at.device || end->at.port != at.port)
		end++;
	return end->open ? end : NULL;
}

bool real_end_is_inside(const struct real_fabric *fabric, const struct real_end *end)
{
	return fabric->end[(end - fabric->end) ^ 1].open;
}

struct poll_guard_plan real_end_plan(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct real_end *far = &fabric->end[(end - fabric->end) ^ 1];

	return (struct poll_guard_plan){.device = device_config_identity(&far->at),
		.port = far->at.port,
		.binding = fabric->control == NULL,
		.full_pool = fabric->data_pool,
		.full_bytes = frame_longest(run_config_frame_payload(fabric->options.run))};
}

const struct link_key *real_end_key(const struct real_fabric *fabric, const struct real_end *end)
{
	return is_external(fabric, end) ? fabric->options.link_key : NULL;
}

struct impairment *real_end_impairment(struct real_end *end)
{
	return (end->impairment.credit_loss_ppm | end->impairment.corrupt_ppm) != 0
		       ? &end->impairment
		       : NULL;
}

void real_links_cut(struct real_fabric *fabric, const char *text)
{
	struct link_order order;
	char name[64];

	if (!link_order_parse(text, &order))
		return;
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		struct real_end *end = &fabric->end[i];

		name_end(fabric, end, name, sizeof(name));
		if (end->open && link_order_names(&order, name))
			end->cut = order.cut;
	}
	real_links_keep(fabric);
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		if (fabric->end[i].open)
			port_cut(&fabric->end[i].port, fabric->end[i].cut);
}

void real_links_close(struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		if (fabric->end[i].attached)
			port_unwatch_ethdev(&fabric->end[i].port);
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		if (fabric->end[i].open || fabric->end[i].attached)
			port_close(&fabric->end[i].port);
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		free(fabric->end[i].port.late);
}
