/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Cables connected and disconnected while the fabric runs, for 'weft lab apply'. The leader loads
 * the new cabling, turns off the carrier at the ends of cables to be removed, and waits until their
 * links are down. Each loop then moves the ends that it polls, between two iterations. */

#include <errno.h>
#include <stdio.h>

#include "port/port.h"
#include "real_fabric_idle.h"
#include "real_private.h"

/* --- changes --- */

/* Returns the end's link in the new cabling, or NULL. */
static const struct topology_link *wire_of(
	const struct real_cabling *cabling, const struct real_end *end)
{
	return topology_link_at(cabling->topology, end->at);
}

static const char *device_of(const struct real_cabling *cabling, const struct real_end *end)
{
	const struct topology_link *wire = wire_of(cabling, end);
	bool b = wire->a.kind != end->at.kind || wire->a.device != end->at.device ||
		 wire->a.port != end->at.port;

	return cabling->device[2 * (wire - cabling->topology->link_at) + b];
}

static bool moves(const struct real_cabling *cabling, const struct real_end *end)
{
	const struct topology_link *wire = wire_of(cabling, end);
	struct topology_port far;

	if (!end->open || wire == NULL)
		return end->open || wire != NULL;
	topology_peer(cabling->topology, end->at, &far);
	return far.kind != end->far.kind || far.device != end->far.device ||
	       far.port != end->far.port || wire->rate_bps != end->wire.rate_bps ||
	       wire->delay_ps != end->wire.delay_ps || wire->given != end->wire.given;
}

/* --- the leader's steps --- */

static struct link_end *link_of(const struct real_fabric *fabric, const struct real_end *end)
{
	for (unsigned i = 0; end->at.kind == DEVICE_SWITCH && i < fabric->switch_count; i++)
		if (fabric->switches[i].number == end->at.device)
			return &fabric->switches[i].sw->port[end->at.port].link;
	for (unsigned i = 0; end->at.kind == DEVICE_HOST && i < fabric->host_count; i++)
		if (fabric->hosts[i].number == end->at.device)
			return nic_link(fabric->hosts[i].poll->nic);
	return NULL;
}

static int load(struct real_fabric *fabric, struct error *error)
{
	struct real_cabling *next = &fabric->recabling.next;
	int result;

	if (fabric->options.recable == NULL || !fabric->options.plugs)
		return error_set(error, EINVAL, "the cables of this process cannot be changed");
	if (fabric->phase != REAL_IDLE)
		return error_set(error, EBUSY, "'weft lab run' is still running");
	result = fabric->options.recable(fabric->options.recable_ctx, next, error);
	for (uint32_t i = 0; i < fabric->ends && result == 0; i++)
		fabric->end[i].moved = fabric->end[i].made && moves(next, &fabric->end[i]);
	return result;
}

void real_cables_load(struct real_fabric *fabric, const char *path, weft_time now)
{
	struct real_recabling *recabling = &fabric->recabling;
	struct error error = {""};

	if (recabling->path[0] != '\0' || load(fabric, &error) < 0) {
		real_answer(path, error.text[0] != '\0' ? error.text : "cables are being moved");
		return;
	}
	snprintf(recabling->path, sizeof(recabling->path), "%s", path);
	recabling->failed = 0;
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].moved && fabric->end[i].open) {
			port_cut(&fabric->end[i].port,
				true); /* as if cut by a command: not a fault */
			port_set_cut(&fabric->end[i].port, PORT_CUT_CARRIER, true);
		}
	real_idle_defer(fabric, now);
}

bool real_cables_are_due(const struct real_fabric *fabric)
{
	if (fabric->recabling.path[0] == '\0')
		return false;
	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];

		if (end->moved && end->open && link_of(fabric, end)->state == LINK_UP)
			return false;
	}
	return true;
}

void real_cables_begin(struct real_fabric *fabric)
{
	const struct real_cabling *next = &fabric->recabling.next;

	fabric->options.topology = next->topology;
	fabric->options.run = next->run;
	fabric->whole = true;
	for (uint32_t i = 0; i < fabric->ends; i++) {
		struct real_end *end = &fabric->end[i];
		const struct topology_link *wire = end->made ? wire_of(next, end) : NULL;

		end->open = wire != NULL;
		if (wire == NULL)
			continue;
		end->wire = *wire;
		topology_peer(next->topology, end->at, &end->far);
		end->external = !real_is_here(fabric, &end->far);
		if (end->moved)
			end->device = device_of(next, end);
		fabric->whole = fabric->whole && !end->external;
	}
}

void real_cables_done(struct real_fabric *fabric)
{
	struct real_recabling *recabling = &fabric->recabling;

	for (uint32_t i = 0; i < fabric->ends; i++)
		fabric->end[i].moved = false;
	real_links_cut_through(fabric);
	real_links_keep(fabric);
	real_hosts_renew(fabric);
	real_control_renew(fabric);
	real_answer(recabling->path,
		recabling->failed > 0
			? "a cable could not be connected; the log of this process explains why"
			: NULL);
	recabling->path[0] = '\0';
}

/* --- in the loops --- */

/* Connects the end's new cable, if any. Its old link is down, so no frames are stored for it. */
static void move(struct real_worker *worker, struct real_end *end, struct port_auth *guard)
{
	struct real_fabric *fabric = worker->fabric;
	struct port_auth_plan plan = real_end_plan(fabric, end);
	struct error error;

	if (!end->open)
		return;
	if (port_plug_shared(&end->port, end->device, plan.full_bytes, fabric->data_pool, &error) <
		0) {
		fprintf(stderr, "weft: %s\n", error.text);
		atomic_fetch_add(&fabric->recabling.failed, 1);
		return;
	}
	real_end_reset(fabric, end);
	port_auth_expect(guard, &plan, link_of(fabric, end));
	port_set_cut(&end->port, PORT_CUT_CARRIER, false);
}

void real_cables_move(struct real_worker *worker)
{
	struct real_fabric *fabric = worker->fabric;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		if (fabric->hosts[i].end->moved)
			move(worker, fabric->hosts[i].end, &fabric->hosts[i].poll->guard);
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		struct poll_switch *poll = fabric->polled[i].poll;
		struct topology_port at = {DEVICE_SWITCH, fabric->polled[i].device->number, 0};

		for (; at.port < poll->ports; at.port++) {
			struct real_end *end = real_end_at(fabric, at);

			if (end == NULL || !end->moved)
				continue;
			move(worker, end, &poll->port[at.port].guard);
			if (end->open)
				poll_switch_plug(poll, at.port);
		}
	}
}
