/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_cable.h"

#include <stdio.h>
#include <string.h>

#include "cmd_lab.h"

#define STEP_MS 2

int lab_cable_find(
	const struct lab *lab, const char *name, struct lab_cable *cable, struct error *error)
{
	const struct topology_link *link = NULL;
	struct topology_port port;

	if (topology_find_port(lab->topology, name, &port) == 0)
		link = topology_link_at(lab->topology, port);
	if (link == NULL)
		return error_set(error, EINVAL,
			"%s: there is no such cable in %s, expected a port such as s0:1", name,
			lab->path);
	cable->end[0] = link->a;
	cable->end[1] = link->b;
	for (unsigned i = 0; i < 2; i++)
		topology_port_name(lab->topology, cable->end[i], cable->name[i], LAB_PORT_MAX);
	return 0;
}

static bool is_cut(json_t *links, const char *port)
{
	json_t *link;
	size_t index;

	json_array_foreach(links, index, link)
	{
		if (strcmp(lab_text(link, "port"), port) == 0)
			return strcmp(lab_text(link, "state"), "cut") == 0;
	}
	return false;
}

/* The loop does it in its next iterations. */
static int wait_for(
	struct lab_connection *connection, const char *port, bool cut, struct error *error)
{
	/* Asking takes its time where there are many links. */
	for (uint64_t until = lab_now_ms() + LAB_FOLLOW_MS; lab_now_ms() < until;) {
		json_t *links = lab_ask_links(connection, error);
		bool done = links != NULL && is_cut(links, port) == cut;

		json_decref(links);
		if (links == NULL)
			return -EPROTO;
		if (done)
			return 0;
		lab_sleep_ms(STEP_MS);
	}
	return error_set(error, ETIMEDOUT, "%s: its process does not follow the order", port);
}

static int order_end(
	const struct lab_record *record, const char *port, bool cut, struct error *error)
{
	struct lab_connection connection;
	char text[LAB_PORT_MAX + 16];
	int result = lab_connect(&connection, record, error);

	if (result < 0)
		return result;
	snprintf(text, sizeof(text), "link %s %s", port, cut ? "down" : "up");
	result = lab_control(&connection, text, error);
	if (result == 0)
		result = wait_for(&connection, port, cut, error);
	lab_disconnect(&connection);
	return result;
}

int lab_cable_order(const struct lab *lab, const struct lab_state *state,
	const struct lab_cable *cable, struct error *error)
{
	unsigned done = 0;
	int result = 0;

	for (unsigned i = 0; i < 2 && result == 0; i++) {
		const struct lab_record *record = lab_record_of(
			lab, state, topology_device_name(lab->topology, cable->end[i]));

		if (record == NULL || !lab_record_alive(record))
			continue;
		result = order_end(record, cable->name[i], cable->cut, error);
		done += result == 0;
		if (result < 0 && lab_record_dies(record))
			result = 0;
	}
	if (result == 0 && done == 0)
		return error_set(error, ENODEV, "%s - %s: neither of its processes runs here",
			cable->name[0], cable->name[1]);
	return result;
}
