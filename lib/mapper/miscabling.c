/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fabric_map.h"

#include <stdlib.h>

#include "topo/topology_hosts.h"

#define PLACE_MAX (TOPOLOGY_NAME_MAX + 8)

struct comparison {
	const struct topology *found, *expected;
	FILE *out;
	unsigned differences;
	bool *unseen; /* [expected switches] in a plane without discovered switches; may be NULL */
};

/* Finds the switches in other planes, because a mapper sees only its own plane. */
static bool *find_unseen(const struct topology *found, const struct topology *expected)
{
	uint32_t *part = topology_has_rails(expected) ? topology_parts(expected) : NULL;
	bool *unseen = part != NULL ? malloc((expected->switches + 1u) * sizeof(*unseen)) : NULL;

	for (uint32_t s = 0; unseen != NULL && s < expected->switches; s++)
		unseen[s] = true;
	for (uint32_t s = 0; unseen != NULL && s < expected->switches; s++)
		if (topology_find_switch(found, expected->switch_at[s].name) >= 0)
			unseen[part[s]] = false;
	for (uint32_t s = 0; unseen != NULL && s < expected->switches; s++)
		unseen[s] = unseen[part[s]];
	free(part);
	return unseen;
}

static bool is_unseen(const struct comparison *comparison, enum device_kind kind, uint32_t expected)
{
	struct topology_port at;

	if (comparison->unseen == NULL)
		return false;
	if (kind == DEVICE_SWITCH)
		return comparison->unseen[expected];
	return !topology_host_switch(comparison->expected, expected, &at) ||
	       comparison->unseen[at.device];
}

static int32_t find_device(const struct topology *topology, enum device_kind kind, const char *name)
{
	return kind == DEVICE_SWITCH ? topology_find_switch(topology, name)
				     : topology_find_host(topology, name);
}

static bool same_port(const struct topology *from, struct topology_port port,
	const struct topology *to, struct topology_port *same)
{
	const struct topology_device *device = topology_device(from, port.kind, port.device);
	int32_t number = find_device(to, port.kind, device->name);

	if (number < 0)
		return false;
	*same = (struct topology_port){port.kind, (uint32_t)number, port.port};
	return port.port < topology_device(to, port.kind, (uint32_t)number)->ports;
}

/* Writes, for example, "s0:3 leads to h4:0", with names from the discovered topology. */
static void describe_end(
	const struct comparison *comparison, struct topology_port expected, char *text, size_t size)
{
	struct topology_port here, peer;
	char name[PLACE_MAX], far[PLACE_MAX];

	topology_port_name(comparison->expected, expected, name, sizeof(name));
	if (!same_port(comparison->expected, expected, comparison->found, &here)) {
		snprintf(text, size, "%s is missing", name);
	} else if (!topology_peer(comparison->found, here, &peer)) {
		snprintf(text, size, "%s is not connected", name);
	} else {
		topology_port_name(comparison->found, peer, far, sizeof(far));
		snprintf(text, size, "%s leads to %s", name, far);
	}
}

static void compare_expected_link(struct comparison *comparison, const struct topology_link *link)
{
	char a[2 * PLACE_MAX + 32], b[sizeof(a)], name_a[PLACE_MAX], name_b[PLACE_MAX];
	struct topology_port here, there, peer;

	if (is_unseen(comparison, link->a.kind, link->a.device))
		return;
	if (same_port(comparison->expected, link->a, comparison->found, &here) &&
		same_port(comparison->expected, link->b, comparison->found, &there) &&
		topology_peer(comparison->found, here, &peer) && topology_port_is(peer, there))
		return;
	comparison->differences++;
	if (comparison->out == NULL)
		return;
	topology_port_name(comparison->expected, link->a, name_a, sizeof(name_a));
	topology_port_name(comparison->expected, link->b, name_b, sizeof(name_b));
	describe_end(comparison, link->a, a, sizeof(a));
	describe_end(comparison, link->b, b, sizeof(b));
	fprintf(comparison->out, "%s - %s: this cable is missing; %s, %s\n", name_a, name_b, a, b);
}

static bool is_to_be_free(const struct comparison *comparison, struct topology_port port)
{
	struct topology_port here, peer;

	return !same_port(comparison->found, port, comparison->expected, &here) ||
	       !topology_peer(comparison->expected, here, &peer);
}

/* Reports an unexpected cable, unless an end is already reported for a missing cable. */
static void compare_found_link(struct comparison *comparison, const struct topology_link *link)
{
	char a[PLACE_MAX], b[PLACE_MAX];

	if (!is_to_be_free(comparison, link->a) || !is_to_be_free(comparison, link->b))
		return;
	comparison->differences++;
	if (comparison->out == NULL)
		return;
	topology_port_name(comparison->found, link->a, a, sizeof(a));
	topology_port_name(comparison->found, link->b, b, sizeof(b));
	fprintf(comparison->out, "%s - %s: this cable is unexpected\n", a, b);
}

static void say_device(
	struct comparison *comparison, enum device_kind kind, const char *name, const char *text)
{
	comparison->differences++;
	if (comparison->out != NULL)
		fprintf(comparison->out, "%s %s: %s\n", kind == DEVICE_SWITCH ? "switch" : "host",
			name, text);
}

static void say_ports(struct comparison *comparison, enum device_kind kind,
	const struct topology_device *expected, unsigned found)
{
	char text[64];

	snprintf(text, sizeof(text), "has %u ports instead of %u", found, expected->ports);
	say_device(comparison, kind, expected->name, text);
}

static void compare_devices(
	struct comparison *comparison, enum device_kind kind, uint32_t expected, uint32_t found)
{
	for (uint32_t i = 0; i < expected; i++) {
		const struct topology_device *device =
			topology_device(comparison->expected, kind, i);
		int32_t number = find_device(comparison->found, kind, device->name);

		if (number < 0 && (device->absent || is_unseen(comparison, kind, i)))
			continue;
		if (device->absent)
			say_device(comparison, kind, device->name, "not expected");
		else if (number < 0)
			say_device(comparison, kind, device->name, "not found");
		else if (kind == DEVICE_SWITCH &&
			 comparison->found->switch_at[number].ports != device->ports)
			say_ports(comparison, kind, device,
				topology_device(comparison->found, kind, (uint32_t)number)->ports);
	}
	for (uint32_t i = 0; i < found; i++) {
		const char *name = topology_device(comparison->found, kind, i)->name;

		if (find_device(comparison->expected, kind, name) < 0)
			say_device(comparison, kind, name, "not expected");
	}
}

unsigned miscabling_report(const struct topology *found, const struct topology *expected, FILE *out)
{
	struct comparison comparison = {.found = found,
		.expected = expected,
		.out = out,
		.unseen = find_unseen(found, expected)};

	compare_devices(&comparison, DEVICE_SWITCH, expected->switches, found->switches);
	compare_devices(&comparison, DEVICE_HOST, expected->hosts, found->hosts);
	for (uint32_t i = 0; i < expected->links; i++)
		compare_expected_link(&comparison, &expected->link_at[i]);
	for (uint32_t i = 0; i < found->links; i++)
		compare_found_link(&comparison, &found->link_at[i]);
	free(comparison.unseen);
	return comparison.differences;
}
