/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/atomic_file.h"

#define FORMAT "weft-lab-devices 1"

static const char *const kind_name[] = {[DEVICE_SWITCH] = "switch", [DEVICE_HOST] = "host"};

static struct topology_device *device_at(
	const struct topology *topology, enum device_kind kind, uint32_t number)
{
	return kind == DEVICE_SWITCH ? &topology->switch_at[number] : &topology->host_at[number];
}

/* --- the list --- */

static struct lab_device *add(struct lab_devices *devices, enum device_kind kind)
{
	uint32_t count = devices->count[kind];
	struct lab_device *more;

	more = realloc(devices->at[kind], (count + 1u) * sizeof(*more));
	if (more == NULL)
		return NULL;
	devices->at[kind] = more;
	devices->count[kind]++;
	more[count] = (struct lab_device){.ports = 0};
	return &more[count];
}

static int read_line(struct lab_devices *devices, const char *line)
{
	struct lab_device device, *into;
	char kind[8];

	device = (struct lab_device){.ports = 0};
	if (sscanf(line, "fabric %hu %u %u", &devices->fabric, &devices->max[DEVICE_SWITCH],
		    &devices->max[DEVICE_HOST]) == 3)
		return 0;
	if (sscanf(line, "%7s %63s %u %63s", kind, device.name, &device.ports, device.process) < 3)
		return -EINVAL;
	into = add(devices, strcmp(kind, "host") == 0 ? DEVICE_HOST : DEVICE_SWITCH);
	if (into == NULL)
		return -ENOMEM;
	*into = device;
	return 0;
}

int lab_devices_load(struct lab_devices *devices, const char *run_dir, struct error *error)
{
	char path[PATH_MAX], line[256];
	int result = 0;
	FILE *file;

	*devices = (struct lab_devices){.fabric = 0};
	snprintf(path, sizeof(path), "%s/" LAB_DEVICES_FILE, run_dir);
	file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_set(error, errno, "%s: %s", path, strerror(errno));
	if (fgets(line, sizeof(line), file) == NULL || strcmp(line, FORMAT "\n") != 0)
		result = -EINVAL;
	while (result == 0 && fgets(line, sizeof(line), file) != NULL)
		result = read_line(devices, line);
	fclose(file);
	if (result == 0 && devices->fabric == 0)
		result = -EINVAL;
	if (result == -ENOMEM)
		return error_set(error, ENOMEM, "%s: out of memory", path);
	return result == 0 ? 0 : error_set(error, EINVAL, "%s: not a lab's device list", path);
}

int lab_devices_of(struct lab_devices *devices, const struct lab *lab, uint16_t fabric)
{
	*devices = (struct lab_devices){.fabric = fabric};
	memcpy(devices->max, lab->devices_max, sizeof(devices->max));
	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < lab_devices_numbers(lab->topology, kind); i++) {
			const struct topology_device *from = device_at(lab->topology, kind, i);
			struct lab_device *device = add(devices, kind);
			int process = lab_plan_find(lab->plan, from->name);

			if (device == NULL)
				return -ENOMEM;
			snprintf(device->name, sizeof(device->name), "%s", from->name);
			device->ports = from->ports;
			if (process >= 0)
				snprintf(device->process, sizeof(device->process), "%s",
					lab->plan->process[process].name);
		}
	return 0;
}

int lab_devices_write(const struct lab_devices *devices, const char *run_dir, struct error *error)
{
	char path[PATH_MAX];
	struct atomic_file file = {.path = path};
	int result;

	snprintf(path, sizeof(path), "%s/" LAB_DEVICES_FILE, run_dir);
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	fprintf(file.file, FORMAT "\nfabric %u %u %u\n", devices->fabric,
		devices->max[DEVICE_SWITCH], devices->max[DEVICE_HOST]);
	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < devices->count[kind]; i++) {
			const struct lab_device *device = &devices->at[kind][i];

			fprintf(file.file, "%s %s %u %s\n", kind_name[kind], device->name,
				device->ports, device->process);
		}
	return atomic_file_close(&file, error);
}

void lab_devices_free(struct lab_devices *devices)
{
	free(devices->at[DEVICE_SWITCH]);
	free(devices->at[DEVICE_HOST]);
	*devices = (struct lab_devices){.fabric = 0};
}

/* Returns NULL if the device is not in the list. */
static const struct lab_device *lab_devices_find(
	const struct lab_devices *devices, enum device_kind kind, const char *name)
{
	for (uint32_t i = 0; i < devices->count[kind]; i++)
		if (strcmp(devices->at[kind][i].name, name) == 0)
			return &devices->at[kind][i];
	return NULL;
}

/* --- device numbers --- */

struct numbering {
	const struct lab_devices *devices;
	const struct topology *from;
	struct topology *to;
	uint32_t *number[2]; /* [kind][number in 'from']: number in 'to' */
};

/* Assigns a number to each device of 'from'. Returns the count of numbers then in use. */
static uint32_t number_kind(const struct numbering *numbering, enum device_kind kind)
{
	uint32_t next = numbering->devices->count[kind];

	for (uint32_t i = 0; i < lab_devices_numbers(numbering->from, kind); i++) {
		const char *name = device_at(numbering->from, kind, i)->name;
		const struct lab_device *known = lab_devices_find(numbering->devices, kind, name);

		numbering->number[kind][i] =
			known != NULL ? (uint32_t)(known - numbering->devices->at[kind]) : next++;
	}
	return next;
}

/* Creates the devices. A running switch keeps at least the ports that it had when it started. */
static void place_kind(const struct numbering *numbering, enum device_kind kind)
{
	const struct lab_devices *devices = numbering->devices;

	for (uint32_t i = 0; i < devices->count[kind]; i++) {
		struct topology_device *device = device_at(numbering->to, kind, i);

		*device = (struct topology_device){.ports = (uint8_t)devices->at[kind][i].ports,
			.cut_off = kind == DEVICE_HOST,
			.absent = true};
		snprintf(device->name, sizeof(device->name), "%s", devices->at[kind][i].name);
	}
	for (uint32_t i = 0; i < lab_devices_numbers(numbering->from, kind); i++) {
		uint32_t number = numbering->number[kind][i];
		struct topology_device *device = device_at(numbering->to, kind, number);

		*device = *device_at(numbering->from, kind, i);
		if (number < devices->count[kind] && devices->at[kind][number].process[0] != '\0' &&
			device->ports < devices->at[kind][number].ports)
			device->ports = (uint8_t)devices->at[kind][number].ports;
	}
}

static void place_port(const struct numbering *numbering, struct topology_port *port)
{
	port->device = numbering->number[port->kind][port->device];
}

/* Copies the links and bindings of 'from'. */
static int place_links(const struct numbering *numbering)
{
	const struct topology *from = numbering->from;
	struct topology *to = numbering->to;
	int result = 0;

	for (uint32_t i = 0; i < from->links && result == 0; i++) {
		struct topology_link link = from->link_at[i];

		place_port(numbering, &link.a);
		place_port(numbering, &link.b);
		result = topology_add_link(
			to, link.a, link.b, link.rate_bps, link.delay_ps, link.line);
		if (result == 0)
			to->link_at[i].given = link.given;
	}
	to->default_rate_bps = from->default_rate_bps;
	to->default_delay_ps = from->default_delay_ps;
	to->default_given = from->default_given;
	return result;
}

static int renumber(struct numbering *numbering, const char *name, struct error *error)
{
	uint32_t switches = number_kind(numbering, DEVICE_SWITCH);
	uint32_t hosts = number_kind(numbering, DEVICE_HOST);

	numbering->to = topology_create(name, switches, hosts);
	if (numbering->to == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for %u devices", name,
			switches + hosts);
	place_kind(numbering, DEVICE_SWITCH);
	place_kind(numbering, DEVICE_HOST);
	if (place_links(numbering) < 0)
		return error_set(error, ENOMEM, "%s: not enough memory for links", name);
	return topology_finish(numbering->to, name, error);
}

int lab_devices_number(
	const struct lab_devices *devices, struct topology **topology, struct error *error)
{
	struct numbering numbering = {.devices = devices,
		.from = *topology,
		.number = {calloc((*topology)->switches + 1u, sizeof(uint32_t)),
			calloc((*topology)->hosts + 1u, sizeof(uint32_t))}};
	int result = -ENOMEM;

	if (devices->fabric == 0)
		result = 0;
	else if (numbering.number[0] == NULL || numbering.number[1] == NULL)
		error_set(error, ENOMEM, "out of memory");
	else if ((*topology)->bindings > 0)
		result = error_set(error, EINVAL,
			"%s: 'ports' is not supported in a lab that was changed while it was up",
			(*topology)->name);
	else
		result = renumber(&numbering, (*topology)->name, error);
	free(numbering.number[0]);
	free(numbering.number[1]);
	if (result == 0 && numbering.to != NULL) {
		topology_destroy(*topology);
		*topology = numbering.to;
	} else {
		topology_destroy(numbering.to);
	}
	return result;
}

/* --- processes --- */

static const char *process_of(const struct lab_devices *devices, enum device_kind kind, uint32_t i)
{
	return i < devices->count[kind] ? devices->at[kind][i].process : "";
}

/* Returns true if the process has a device. A process without devices has ended, or soon will. */
static bool runs(
	const struct lab_devices *devices, const struct topology *topology, const char *process)
{
	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < devices->count[kind]; i++)
			if (strcmp(devices->at[kind][i].process, process) == 0 &&
				!device_at(topology, kind, i)->absent)
				return true;
	return false;
}

/* Returns the device numbers of the process, including removed devices; NULL if out of memory. */
static uint32_t *gather(const struct lab_devices *devices, enum device_kind kind,
	const char *process, uint32_t *count)
{
	uint32_t *number = calloc(devices->count[kind] + 1u, sizeof(*number));

	for (uint32_t i = 0; number != NULL && i < devices->count[kind]; i++)
		if (strcmp(devices->at[kind][i].process, process) == 0)
			number[(*count)++] = i;
	return number;
}

static int add_group(const struct lab_devices *devices, const char *process,
	struct lab_plan_group *group, struct error *error)
{
	group->name = process;
	group->switches = gather(devices, DEVICE_SWITCH, process, &group->switch_count);
	group->hosts = gather(devices, DEVICE_HOST, process, &group->host_count);
	return group->switches != NULL && group->hosts != NULL
		       ? 0
		       : error_set(error, ENOMEM, "not enough memory for groups");
}

/* Returns 1 if all devices of the group are new, 0 if all of them are running, or -EINVAL with
 * error set if some are. */
static int is_new(
	const struct lab_devices *devices, const struct lab_plan_group *group, struct error *error)
{
	uint32_t known = 0, all = group->switch_count + group->host_count;

	for (uint32_t i = 0; i < group->switch_count; i++)
		known += process_of(devices, DEVICE_SWITCH, group->switches[i])[0] != '\0';
	for (uint32_t i = 0; i < group->host_count; i++)
		known += process_of(devices, DEVICE_HOST, group->hosts[i])[0] != '\0';
	if (known == 0 || known == all)
		return known == 0;
	return error_set(error, EINVAL,
		"group '%s': some of its devices are running and some are new; put the new ones "
		"into a separate group",
		group->name);
}

static bool is_first(const struct lab_devices *devices, enum device_kind kind, uint32_t number)
{
	const char *process = devices->at[kind][number].process;

	for (enum device_kind before = DEVICE_SWITCH; before <= kind; before++)
		for (uint32_t i = 0; i < (before < kind ? devices->count[before] : number); i++)
			if (strcmp(devices->at[before][i].process, process) == 0)
				return false;
	return process[0] != '\0';
}

int lab_devices_group(const struct lab_devices *devices, const struct topology *topology,
	struct lab_plan_group **groups, uint32_t *count, struct error *error)
{
	size_t all = (size_t)*count + devices->count[0] + devices->count[1] + 1;
	struct lab_plan_group *to = calloc(all, sizeof(*to));
	uint32_t given = *count, used = 0;
	int result = to != NULL ? 0 : error_set(error, ENOMEM, "not enough memory for groups");

	if (devices->fabric == 0 || result < 0) {
		free(to);
		return result;
	}
	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < devices->count[kind] && result == 0; i++) {
			const char *process = devices->at[kind][i].process;

			if (is_first(devices, kind, i) && runs(devices, topology, process))
				result = add_group(devices, process, &to[used++], error);
		}
	for (uint32_t i = 0; i < given && result == 0; i++) {
		result = is_new(devices, &(*groups)[i], error);
		if (result <= 0)
			continue;
		to[used++] = (*groups)[i];
		(*groups)[i] = (struct lab_plan_group){.name = NULL};
		result = 0;
	}
	lab_config_groups_free(*groups, given);
	*groups = to;
	*count = used;
	return result;
}
