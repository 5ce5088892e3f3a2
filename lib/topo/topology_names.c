/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Finds devices by name. Large files name every device at least twice, so there is an index. */

#include "topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the device with this number, where hosts are numbered after switches. */
static const struct topology_device *device_at(const struct topology *topology, uint32_t number)
{
	return number < topology->switches ? &topology->switch_at[number]
					   : &topology->host_at[number - topology->switches];
}

static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct topology *topology = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(device_at(topology, x)->name, device_at(topology, y)->name);

	return order != 0 ? order : (x > y) - (x < y);
}

static int refuse_double(const struct topology *topology, uint32_t first, uint32_t second,
	const char *origin, struct error *error)
{
	const struct topology_device *a = device_at(topology, first);
	const struct topology_device *b = device_at(topology, second);
	uint32_t earlier = a->line < b->line ? a->line : b->line;
	uint32_t later = a->line < b->line ? b->line : a->line;
	char line[48];

	snprintf(line, sizeof(line), " (the first one is in line %u)", earlier);
	return error_at(error, origin, later, 0,
		"a second device is named '%s'%s; names must be unique among switches and hosts",
		a->name, earlier != 0 ? line : "");
}

int topology_index_names(struct topology *topology, const char *origin, struct error *error)
{
	uint32_t count = topology->switches + topology->hosts;
	uint32_t *by_name = malloc(((size_t)count + 1) * sizeof(*by_name));

	if (by_name == NULL)
		return error_set(
			error, ENOMEM, "%s: not enough memory for %u names", origin, count);
	for (uint32_t i = 0; i < count; i++)
		by_name[i] = i;
	qsort_r(by_name, count, sizeof(*by_name), compare_names, topology);
	for (uint32_t i = 1; i < count; i++)
		if (strcmp(device_at(topology, by_name[i - 1])->name,
			    device_at(topology, by_name[i])->name) == 0) {
			refuse_double(topology, by_name[i - 1], by_name[i], origin, error);
			free(by_name);
			return -EINVAL;
		}
	free(topology->by_name);
	topology->by_name = by_name;
	return 0;
}

static int32_t find_linear(const struct topology_device *devices, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(devices[i].name, name) == 0)
			return (int32_t)i;
	return -1;
}

/* Returns a device's number, where hosts are numbered after switches, or -1 if there is none. */
static int32_t find_indexed(const struct topology *topology, const char *name)
{
	uint32_t low = 0, high = topology->switches + topology->hosts;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(device_at(topology, topology->by_name[middle])->name, name);

		if (order == 0)
			return (int32_t)topology->by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

int32_t topology_find_switch(const struct topology *topology, const char *name)
{
	int32_t number;

	if (topology->by_name == NULL)
		return find_linear(topology->switch_at, topology->switches, name);
	number = find_indexed(topology, name);
	return number < (int32_t)topology->switches ? number : -1;
}

static int32_t find_entry(const struct topology *topology, const char *name)
{
	int32_t number;

	if (topology->by_name == NULL)
		return find_linear(topology->host_at, topology->hosts, name);
	number = find_indexed(topology, name);
	return number >= (int32_t)topology->switches ? number - (int32_t)topology->switches : -1;
}

int32_t topology_find_host(const struct topology *topology, const char *name)
{
	int32_t entry = find_entry(topology, name);
	char port[TOPOLOGY_NAME_MAX + 12];

	for (unsigned rail = 0; entry < 0 && topology->nodes != topology->hosts &&
				rail < TOPOLOGY_HOST_PORTS_MAX && strlen(name) < TOPOLOGY_NAME_MAX;
		rail++) {
		snprintf(port, sizeof(port), "%s:%u", name, rail);
		entry = find_entry(topology, port);
	}
	return entry;
}

const char *topology_nearest_device(
	const struct topology *topology, const char *text, char hint[DID_YOU_MEAN_HINT])
{
	char name[TOPOLOGY_NAME_MAX];
	struct did_you_mean nearest;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	did_you_mean_init(&nearest, name);
	for (uint32_t i = 0; i < topology->switches + topology->hosts; i++)
		did_you_mean_offer(&nearest, device_at(topology, i)->name);
	return did_you_mean_hint(&nearest, ", ", hint);
}

/* Splits "s0:3" into name and port. Sets the port to -1 if there is none. */
static int split_port(const char *text, char name[TOPOLOGY_NAME_MAX], long *port)
{
	const char *colon = strchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
	char *end;

	if (length == 0 || length >= TOPOLOGY_NAME_MAX)
		return -ENOENT;
	memcpy(name, text, length);
	name[length] = '\0';
	*port = -1;
	if (colon == NULL)
		return 0;
	if (colon[1] < '0' || colon[1] > '9' || strlen(colon + 1) > 3)
		return -ENOENT;
	*port = strtol(colon + 1, &end, 10);
	return *end == '\0' && *port <= UINT8_MAX ? 0 : -ENOENT;
}

int topology_find_port(
	const struct topology *topology, const char *text, struct topology_port *port)
{
	char name[TOPOLOGY_NAME_MAX];
	long number;
	int32_t device;

	if (split_port(text, name, &number) < 0)
		return -ENOENT;
	device = find_entry(topology, text);
	if (device >= 0) {
		*port = (struct topology_port){DEVICE_HOST, (uint32_t)device, 0};
		return 0;
	}
	device = topology_find_host(topology, name);
	if (device >= 0 && number < 0)
		return -ENOENT; /* ambiguous: the host has several ports */
	if (device >= 0) {
		*port = (struct topology_port){
			DEVICE_HOST, (uint32_t)device, (uint8_t)(number < 0 ? 0 : number)};
		return 0;
	}
	device = topology_find_switch(topology, name);
	if (device < 0 || number < 0)
		return -ENOENT;
	*port = (struct topology_port){DEVICE_SWITCH, (uint32_t)device, (uint8_t)number};
	return 0;
}

void topology_port_name(
	const struct topology *topology, struct topology_port port, char *out, size_t size)
{
	const char *name = topology_device_name(topology, port);

	if (port.kind == DEVICE_HOST && strchr(name, ':') != NULL && port.port == 0)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "%s:%u", name, port.port);
}
