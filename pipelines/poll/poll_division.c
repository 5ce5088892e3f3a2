/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_division.h"

#include <errno.h>
#include <stdlib.h>

#include "poll_division_control.h"

struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned parts)
{
	struct poll_division *division = calloc(1, sizeof(*division));

	if (division == NULL)
		return NULL;
	division->orders = poll_division_control_create();
	if (division->orders != NULL)
		division->division = switch_division_create(config, owner, parts);
	if (division->division != NULL)
		return division;
	free(division->orders);
	free(division);
	return NULL;
}

int poll_division_place(
	struct poll_division *division, unsigned number, struct rte_mempool *pool, weft_time now)
{
	int result = switch_part_create(division->division, number, now);
	struct switch_part *part = division->division->part[number];
	struct poll_switch *ps;

	if (result < 0)
		return result;
	ps = poll_switch_create(part->sw, pool);
	if (ps == NULL)
		return -ENOMEM;
	ps->part = part;
	ps->parts = division->part;
	ps->orders = division->orders;
	division->part[number] = ps;
	return 0;
}

void poll_division_connect(struct poll_division *division)
{
	switch_division_connect(division->division);
}

static bool is_complete(const struct poll_division *division)
{
	for (unsigned part = 0; part < division->division->parts; part++)
		if (division->part[part] == NULL)
			return false;
	return true;
}

void poll_division_set_control(
	struct poll_division *division, struct device_control *control, struct rte_mempool *pool)
{
	for (unsigned part = 0; part < division->division->parts; part++)
		poll_switch_set_control(division->part[part], control, pool);
}

void poll_division_destroy(struct poll_division *division)
{
	if (division == NULL)
		return;
	if (is_complete(division))
		switch_division_drain(division->division);
	for (unsigned part = 0; part < division->division->parts; part++)
		poll_switch_destroy(division->part[part]);
	switch_division_destroy(division->division);
	free(division->orders);
	free(division);
}

/* The part with the fewest ports, of those on 'socket'; any if it is negative. */
static unsigned least(const unsigned *dealt, const int *part_socket, unsigned parts, int socket)
{
	unsigned found = parts;

	for (unsigned part = 0; part < parts; part++)
		if ((socket < 0 || part_socket[part] == socket) &&
			(found == parts || dealt[part] < dealt[found]))
			found = part;
	return found;
}

/* No part stays without a port: it gets one of the part that has most. */
static void fill_empty(uint8_t *owner, unsigned ports, unsigned *dealt, unsigned parts)
{
	for (unsigned part = 0; part < parts; part++) {
		unsigned most = 0, port = ports;

		for (unsigned other = 1; other < parts; other++)
			if (dealt[other] > dealt[most])
				most = other;
		if (dealt[part] != 0 || dealt[most] < 2)
			continue;
		while (owner[--port] != most)
			;
		owner[port] = (uint8_t)part;
		dealt[part]++;
		dealt[most]--;
	}
}

void poll_division_deal(uint8_t *owner, const int *port_socket, unsigned ports,
	const int *part_socket, unsigned parts)
{
	unsigned dealt[SWITCH_PARTS_MAX] = {0};

	for (unsigned port = 0; port < ports; port++) {
		unsigned part = least(dealt, part_socket, parts, port_socket[port]);

		if (part == parts)
			part = least(dealt, part_socket, parts, -1);
		owner[port] = (uint8_t)part;
		dealt[part]++;
	}
	fill_empty(owner, ports, dealt, parts);
}
