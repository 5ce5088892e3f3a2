/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab export: writes a lab as a containerlab topology file. Each process of the lab becomes a
 * container (a machine of the lab), and each link between two processes a veth pair. */

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/output_file.h"
#include "experiment/lab/lab_config.h"
#include "lab/cmd_lab.h"
#include "lab/lab_bundle.h"
#include "lab/lab_snapshot.h"
#include "lab/lab_up.h"

#define COMMAND               "lab export"
#define ENDING                ".clab.yml"
#define IMAGE                 "weft" /* built by tools/container/build */
#define ETHERNET_HEADER_BYTES 14

/* --- what cannot be exported --- */

/* Checks a name that is used for a container and for a machine in a lab file. */
static int check_name(const char *name, struct error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (strlen(name) < LAB_NAME_MAX && name[strspn(name, allowed)] == '\0' &&
		strchr("._-", name[0]) == NULL)
		return 0;
	return error_set(error, EINVAL,
		"device %s cannot be a container name; use at most %d letters, digits, '.', '_' "
		"and '-', starting with a letter or digit",
		name, LAB_NAME_MAX - 1);
}

static int check(const struct lab *lab, struct error *error)
{
	if (lab->config->machines.count > 0)
		return error_set(error, EINVAL,
			"%s: 'machines' is not allowed, because each device gets a container",
			lab->path);
	if (lab->topology->bindings > 0)
		return error_set(error, EINVAL,
			"%s: 'ports' is not allowed, because containerlab creates the cables",
			lab->path);
	return 0;
}

/* --- machines --- */

/* Returns the group that contains the device, or NULL. */
static const struct lab_config_group *group_of(const struct lab_config *config, const char *device)
{
	for (uint32_t i = 0; i < config->groups.count; i++)
		for (uint32_t j = 0; j < config->groups.at[i].count; j++)
			if (strcmp(config->groups.at[i].device[j], device) == 0)
				return &config->groups.at[i];
	return NULL;
}

/* Adds a machine for the device, or for its whole group. */
static int add_machine(struct lab_config *config, const char *device, struct error *error)
{
	const struct lab_config_group *group = group_of(config, device);
	struct lab_config_machine *machine = &config->machines.at[config->machines.count];
	int result;

	if (lab_machine_of(config, device) >= 0)
		return 0;
	result = check_name(device, error);
	if (result < 0)
		return result;
	if (config->machines.count == LAB_MACHINES_MAX)
		return error_set(error, EINVAL,
			"at most %d containers are allowed; combine devices with 'groups'",
			LAB_MACHINES_MAX);
	machine->devices = group != NULL ? group->count : 1;
	machine->device = calloc(machine->devices, sizeof(*machine->device));
	if (machine->device == NULL)
		return error_set(error, ENOMEM, "out of memory");
	if (group != NULL)
		memcpy(machine->device, group->device, group->count * sizeof(*machine->device));
	else
		snprintf(machine->device[0], sizeof(machine->device[0]), "%s", device);
	snprintf(machine->name, sizeof(machine->name), "%s", device);
	snprintf(machine->ssh, sizeof(machine->ssh), "%s", device);
	config->machines.count++;
	return 0;
}

static int add_machines(struct lab *lab, struct error *error)
{
	struct lab_config *config = lab->config;
	int result = 0;

	config->machines.at = calloc(LAB_MACHINES_MAX + 1, sizeof(*config->machines.at));
	if (config->machines.at == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < lab->topology->switches && result == 0; i++)
		if (!lab->topology->switch_at[i].absent)
			result = add_machine(config, lab->topology->switch_at[i].name, error);
	for (uint32_t i = 0; i < lab->topology->hosts && result == 0; i++)
		if (!lab->topology->host_at[i].absent)
			result = add_machine(config, lab->topology->host_at[i].name, error);
	return result;
}

/* --- links --- */

static struct lab_config_machine *machine_of(const struct lab *lab, struct topology_port at)
{
	int machine = lab_machine_of(lab->config, topology_device_name(lab->topology, at));

	return &lab->config->machines.at[machine];
}

/* Assigns the next interface of the container to the link end, starting at eth1. eth0 is the
 * container's own. */
static int add_port(
	struct lab *lab, struct topology_port at, char interface[16], struct error *error)
{
	struct lab_config_machine *machine = machine_of(lab, at);
	struct lab_config_port *more =
		realloc(machine->port, (machine->ports + 1) * sizeof(*machine->port));

	if (more == NULL)
		return error_set(error, ENOMEM, "out of memory");
	machine->port = more;
	more += machine->ports++;
	*more = (struct lab_config_port){.vlan = 0};
	snprintf(interface, 16, "eth%u", machine->ports);
	topology_port_name(lab->topology, at, more->port, sizeof(more->port));
	snprintf(more->dpdk, sizeof(more->dpdk), LAB_PACKET_DEVICE "%u,iface=%s", machine->ports,
		interface);
	return 0;
}

static int write_link(
	struct lab *lab, const struct topology_link *link, FILE *out, struct error *error)
{
	const struct topology_port end[2] = {link->a, link->b};
	char interface[2][16], name[2][TOPOLOGY_NAME_MAX + 8];
	const char *machine[2];
	int result = 0;

	for (unsigned i = 0; i < 2; i++) {
		topology_port_name(lab->topology, end[i], name[i], sizeof(name[i]));
		machine[i] = machine_of(lab, end[i])->name;
	}
	if (machine[0] == machine[1])
		return 0; /* a link within one process */
	for (unsigned i = 0; i < 2 && result == 0; i++)
		result = add_port(lab, end[i], interface[i], error);
	fprintf(out, "    - {endpoints: [\"%s:%s\", \"%s:%s\"], mtu: %u} # %s - %s\n", machine[0],
		interface[0], machine[1], interface[1], lab->frame_bytes - ETHERNET_HEADER_BYTES,
		name[0], name[1]);
	return result;
}

/* --- the files --- */

/* 'base': file name without its suffix. */
static int write_topology(struct lab *lab, const char *base, FILE *out, struct error *error)
{
	int result = 0;

	fprintf(out,
		"# Written by 'weft " COMMAND "'. Start it with: containerlab deploy -t %s" ENDING
		"\n"
		"name: \"%s\"\n"
		"topology:\n"
		"  kinds:\n"
		"    linux: {image: " IMAGE
		", network-mode: none, binds: [\"%s.files:/weft:ro\"]}\n"
		"  nodes:\n",
		base, lab->config->name, base);
	for (uint32_t i = 0; i < lab->config->machines.count; i++)
		fprintf(out, "    \"%s\": {kind: linux, cmd: \"%s\"}\n",
			lab->config->machines.at[i].name, lab->config->machines.at[i].name);
	fputs("  links:\n", out);
	for (uint32_t i = 0; i < lab->topology->links && result == 0; i++)
		result = write_link(lab, &lab->topology->link_at[i], out, error);
	return result;
}

/* A container with a single host is that host's network namespace. Hosts that share a container
 * keep their own namespaces. Interfaces without a namespace need different names in the lab file.
 */
static void move_edges(const struct lab *lab)
{
	const struct lab_config *config = lab->config;

	for (uint32_t i = 0; i < config->run.edges.count; i++) {
		struct run_config_edge *edge = &config->run.edges.at[i];

		if (config->machines.at[lab_machine_of(config, edge->host)].devices > 1)
			continue;
		snprintf(edge->tap, sizeof(edge->tap), "tap%u", i);
		edge->netns[0] = '\0';
	}
}

/* Writes the lab file for the containers, and the files that it names, to the folder BASE.files. */
static int write_files(struct lab *lab, const char *base, struct error *error)
{
	json_t *files;
	int result;

	lab->config->processes = LAB_CONFIG_PROCESSES_EACH;
	move_edges(lab);
	files = lab_bundle_make(lab, error);
	if (files == NULL)
		return -EINVAL;
	result = lab_bundle_write(base, files, error);
	json_decref(files);
	return result;
}

/* Finds the absolute path of the output without its suffix. Returns 0, or -errno with error set. */
static int find_base(const char *output, char base[PATH_MAX], struct error *error)
{
	size_t length = strlen(output), end = strlen(ENDING);
	const char *slash = strrchr(output, '/'), *name = slash != NULL ? slash + 1 : output;
	char copy[PATH_MAX], folder[PATH_MAX];

	if (strlen(name) <= end || length >= PATH_MAX ||
		strcmp(output + length - end, ENDING) != 0 || strpbrk(name, ":\"\\\n") != NULL)
		return error_set(error, EINVAL,
			"-o %s: expected a file name that ends in " ENDING
			" and contains no ':', '\"' or '\\'",
			output);
	snprintf(copy, sizeof(copy), "%.*s", (int)(length - end), output);
	if (realpath(dirname(copy), folder) == NULL)
		return error_set(error, errno, "-o %s: %s", output, strerror(errno));
	snprintf(copy, sizeof(copy), "%.*s", (int)(length - end), output);
	if (snprintf(base, PATH_MAX, "%s/%s", folder, basename(copy)) >= PATH_MAX)
		return error_set(error, ENAMETOOLONG, "-o %s: the path is too long", output);
	return 0;
}

static enum weft_exit write_all(struct lab *lab, const char *output)
{
	struct output_file file = {.command = COMMAND, .path = output, .inputs = {lab->path}};
	char base[PATH_MAX];
	struct error error;
	enum weft_exit code;
	int result = find_base(output, base, &error);

	if (result == 0)
		result = check(lab, &error);
	if (result == 0)
		result = lab_up_check_files(lab, &error);
	if (result == 0)
		result = add_machines(lab, &error);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	code = output_file_open(&file);
	if (code != EXIT_DONE)
		return code;
	result = write_topology(lab, strrchr(base, '/') + 1, file.file, &error);
	if (result == 0)
		result = write_files(lab, base, &error);
	if (result < 0) {
		output_file_discard(&file);
		return command_error(COMMAND, result, &error);
	}
	return output_file_close(&file);
}

enum weft_exit cmd_lab_export(const struct lab_arguments *arguments)
{
	char usual[LAB_NAME_MAX + sizeof(ENDING)];
	struct lab_target target;
	struct error error;
	struct lab lab;
	enum weft_exit code;
	int result;

	if (!arguments->containerlab)
		return command_fail(COMMAND, EXIT_BAD_REQUEST, "expected --containerlab");
	result = lab_snapshot_open(arguments, &lab, &target, &error);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	snprintf(usual, sizeof(usual), "%s" ENDING, lab.config->name);
	code = write_all(&lab, arguments->output != NULL ? arguments->output : usual);
	lab_close(&lab);
	return code;
}
