/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The links of a real-clock fabric: in-memory ones between devices of this process, ethdevs where
 * the other end is elsewhere. */

#include <errno.h>
#include <rte_common.h>
#include <string.h>

#include "fabric_devices.h"
#include "link_order.h"
#include "port_ethdev.h"

/* Frames that may wait in a memory link: all that the credits of both ends can have on the way. */
#define MEMORY_LINK_SLOTS 4096
/* Descriptors of each ring of an ethdev. */
#define ETHDEV_SLOTS 2048

unsigned fabric_links_held(const struct real_fabric *fabric)
{
	const char *const *external = fabric->options.external;
	unsigned held = 0;

	for (uint32_t i = 0; external != NULL && i < fabric->options.topology->links; i++)
		if (external[i] != NULL)
			held += port_ethdev_held(external[i], ETHDEV_SLOTS);
	return held;
}

static bool is_here(const struct real_fabric *fabric, const struct topology_port *at)
{
	const bool *here =
		at->kind == DEVICE_SWITCH ? fabric->options.switch_here : fabric->options.host_here;

	return here == NULL || here[at->device];
}

static void name_end(
	const struct real_fabric *fabric, struct fabric_end *end, char *out, size_t size)
{
	topology_port_name(fabric->options.topology, end->at, out, size);
}

/* All that may come by it is to find room. */
static int check_room(
	const struct real_fabric *fabric, const struct port *port, struct fault *fault)
{
	const struct run_config *run = fabric->options.run;

	return port_check_room(port, run_config_vcs(run),
		FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + run->nic.mtu_bytes, fault);
}

static int open_external(struct real_fabric *fabric, struct fabric_end *end, struct fault *fault)
{
	const char *const *external = fabric->options.external;
	const char *device = external != NULL ? external[end->link] : NULL;
	char name[64];
	int result;

	name_end(fabric, end, name, sizeof(name));
	if (device == NULL)
		return fault_set(fault, EINVAL,
			"%s: its far end is in another process, and nothing says by what device",
			name);
	result = port_open_ethdev(&end->port, name, device, ETHDEV_SLOTS, fabric->data_pool, fault);
	end->open = result == 0;
	return result < 0 ? result : check_room(fabric, &end->port, fault);
}

static int open_memory(
	struct real_fabric *fabric, struct fabric_end *a, struct fabric_end *b, struct fault *fault)
{
	char name_a[64], name_b[64];
	int result;

	name_end(fabric, a, name_a, sizeof(name_a));
	name_end(fabric, b, name_b, sizeof(name_b));
	result =
		port_open_memory_link(&a->port, name_a, &b->port, name_b, MEMORY_LINK_SLOTS, fault);
	a->open = b->open = result == 0;
	a->timed = b->timed = true;
	return result < 0 ? result : check_room(fabric, &a->port, fault);
}

static void init_damage(struct real_fabric *fabric, struct fabric_end *end, unsigned side)
{
	const struct run_config *run = fabric->options.run;

	end->damage.credit_loss_ppm = run->faults.credit_loss_ppm;
	end->damage.corrupt_ppm = run->faults.corrupt_ppm;
	rng_init(&end->damage.rng, run->seed, 2 * (uint64_t)end->link + side, FABRIC_STREAM_DAMAGE);
}

int fabric_links_open(struct real_fabric *fabric, struct fault *fault)
{
	const struct topology *topology = fabric->options.topology;
	int result = 0;

	for (uint32_t link = 0; link < topology->links && result == 0; link++) {
		struct fabric_end *a = &fabric->end[2 * link], *b = &fabric->end[2 * link + 1];
		bool a_here, b_here;

		a->at = topology->link_at[link].a;
		b->at = topology->link_at[link].b;
		a->link = b->link = link;
		init_damage(fabric, a, 0);
		init_damage(fabric, b, 1);
		a_here = is_here(fabric, &a->at);
		b_here = is_here(fabric, &b->at);
		if (a_here && b_here)
			result = open_memory(fabric, a, b, fault);
		else if (a_here || b_here)
			result = open_external(fabric, a_here ? a : b, fault);
	}
	return result;
}

struct fabric_end *fabric_end_at(struct real_fabric *fabric, struct topology_port at)
{
	const struct topology_link *link = topology_link_at(fabric->options.topology, at);
	struct fabric_end *end;

	if (link == NULL)
		return NULL;
	end = &fabric->end[2 * (link - fabric->options.topology->link_at)];
	if (end->at.kind != at.kind || end->at.device != at.device || end->at.port != at.port)
		end++;
	return end->open ? end : NULL;
}

struct damage *fabric_end_damage(struct fabric_end *end)
{
	return end->damage.credit_loss_ppm != 0 || end->damage.corrupt_ppm != 0 ? &end->damage
										: NULL;
}

void fabric_links_cut(struct real_fabric *fabric, const char *text)
{
	struct link_order order;
	char name[64];

	if (!link_order_parse(text, &order))
		return;
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		struct fabric_end *end = &fabric->end[i];

		name_end(fabric, end, name, sizeof(name));
		if (end->open && link_order_names(&order, name))
			port_cut(&end->port, order.cut);
	}
}

void fabric_links_close(struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++)
		if (fabric->end[i].open)
			port_close(&fabric->end[i].port);
}
