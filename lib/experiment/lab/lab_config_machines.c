/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads and writes 'machines' of a lab file: the devices on each server, and how to reach it. */

#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "topo/topology_file.h"

/* --- values --- */

static int read_devices(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct lab_config_machine *machine = member;
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, error);

	if (result < 0)
		return result;
	if (node->count == 0 || node->count > TOPOLOGY_HOSTS_MAX)
		return yaml_tree_refuse(node, error,
			"'devices' must list 1 to %u switches and hosts", TOPOLOGY_HOSTS_MAX);
	return run_read_names(node, &machine->device, &machine->devices, error);
}

static void write_devices(const void *member, FILE *out, unsigned indent)
{
	const struct lab_config_machine *machine = member;

	fputc(' ', out);
	run_write_names(machine->device, machine->devices, out);
}

/* Accepts only text that neither a shell (local or remote) nor ssh's option parser interprets. */
static int read_plain(const struct yaml_tree_node *node, char *text, const char *allowed,
	const char *expected, struct error *error)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	int result = yaml_read_text(node, text, LAB_MACHINE_SSH_MAX, error);
	bool good = true;

	if (result < 0)
		return result;
	for (const char *at = text; *at != '\0'; at++)
		good = good && (strchr(letters, *at) != NULL || strchr(allowed, *at) != NULL);
	if (!good || text[0] == '\0' || text[0] == '-')
		return yaml_tree_refuse(
			node, error, "'%s: %s': expected %s", node->key, node->text, expected);
	return 0;
}

static int read_ssh(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return read_plain(node, member, "@:/[]%",
		"an address for ssh: [USER@]HOST, ssh://[USER@]HOST:PORT, or a Host of "
		"~/.ssh/config",
		error);
}

static int read_weft(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return read_plain(node, member, "/+~",
		"the path of the program 'weft' on that machine, of letters, digits and / . _ - + ~",
		error);
}

static void write_text(const void *member, FILE *out, unsigned indent)
{
	fputc(' ', out);
	yaml_tree_write_text(member, out);
}

/* --- ports --- */

static const struct yaml_field port_fields[] = {
	{"port", YAML_FIELD_TEXT, true, YAML_MEMBER(struct lab_config_port, port),
		.form = TOPOLOGY_PORT_FORM,
		.doc = "The port, such as `s0:1`. A host's only port needs no number."},
	{"dpdk", YAML_FIELD_TEXT, YAML_MEMBER(struct lab_config_port, dpdk),
		.present = topology_is_dpdk, .instead = "udp",
		.doc = "The DPDK device of the port: a PCI address, or a vdev with its arguments."},
	TOPOLOGY_UDP_FIELD(YAML_MEMBER(struct lab_config_port, dpdk)),
	{"vlan", YAML_FIELD_NUMBER, YAML_MEMBER(struct lab_config_port, vlan), .min = 1,
		.max = TOPOLOGY_VLAN_MAX, .optional = true,
		.doc = "VLAN tag of the port's frames on the cable."},
	{NULL},
};

static int read_ports(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct lab_config_machine *machine = member;
	void *rows;
	int result = run_read_rows(node, LAB_GROUPS_MAX, sizeof(*machine->port), &rows, error);

	if (result < 0)
		return result;
	machine->port = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		struct lab_config_port *port = &machine->port[machine->ports++];

		port->place = run_place_of(row);
		result = yaml_fields_read(port_fields, row, port, error);
		if (result == 0)
			result = topology_check_device(row, port->dpdk, port->vlan, error);
	}
	return result;
}

static void write_ports(const void *member, FILE *out, unsigned indent)
{
	const struct lab_config_machine *machine = member;

	fputs(" [", out);
	for (uint32_t i = 0; i < machine->ports; i++) {
		fputs(i == 0 ? "" : ", ", out);
		yaml_fields_write_row(port_fields, &machine->port[i], out);
	}
	fputc(']', out);
}

static bool ports_present(const void *member)
{
	return ((const struct lab_config_machine *)member)->ports > 0;
}

/* --- machines --- */

/* The readers need both the pointer and the count of a list, so they get the whole machine. */
#define S struct lab_config_machine
const struct yaml_field lab_machine_fields[] = {
	{"name", YAML_FIELD_NAME, true, YAML_MEMBER(S, name),
		.doc = "Name of the machine for `--machine` and in messages."},
	{"ssh", YAML_FIELD_CUSTOM, YAML_MEMBER(S, ssh), .read = read_ssh, .write = write_text,
		.optional = true, .form = "^[A-Za-z0-9._@:/%\\[\\]][A-Za-z0-9._@:/%\\[\\]-]*$",
		.doc = "Address in a form that ssh(1) accepts: `[USER@]HOST`, `ssh://[USER@]HOST:PORT`, or a `Host` of `~/.ssh/config`. Without it, the machine is the console's own."},
	{"weft", YAML_FIELD_CUSTOM, YAML_MEMBER(S, weft), .read = read_weft, .write = write_text,
		.optional = true, .form = "^[A-Za-z0-9._/+~][A-Za-z0-9._/+~-]*$",
		.doc = "The program on that machine. By default `weft` is searched for in ssh's PATH."},
	{"devices", YAML_FIELD_CUSTOM, .required = true, .offset = 0, .read = read_devices,
		.write = write_devices, .form = "<names>",
		.doc = "Switches and hosts that run there. Each device of the topology is on one machine."},
	{"ports", YAML_FIELD_CUSTOM, .offset = 0, .fields = port_fields, .read = read_ports,
		.write = write_ports, .present = ports_present,
		.doc = "The devices bound to ports of this machine, as in the topology's `ports`."},
	{NULL},
};
#undef S

static int check_unlike(const struct lab_config_machine_list *machines,
	const struct yaml_tree_node *node, struct error *error)
{
	const struct lab_config_machine *last = &machines->at[machines->count - 1];
	char where[RUN_OPTION_MAX];

	for (uint32_t i = 0; i + 1 < machines->count; i++) {
		const struct lab_config_machine *machine = &machines->at[i];

		if (strcmp(machine->name, last->name) == 0)
			return yaml_tree_refuse(node, error,
				"duplicate machine '%s'; the first one is in %s", last->name,
				run_place_text(&machine->place, where));
		if (strcmp(machine->ssh, last->ssh) == 0)
			return yaml_tree_refuse(node, error,
				"machine '%s' has the same address as '%s'; each machine must "
				"have its own%s",
				last->name, machine->name,
				last->ssh[0] != '\0'
					? ""
					: "; only the machine where the commands run may omit 'ssh'");
	}
	return 0;
}

int lab_read_machines(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct lab_config_machine_list *machines = member;
	void *rows;
	int result = run_read_rows(node, LAB_MACHINES_MAX, sizeof(*machines->at), &rows, error);

	if (result < 0)
		return result;
	machines->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		struct lab_config_machine *machine = &machines->at[machines->count++];

		machine->place = run_place_of(row);
		result = yaml_fields_read(lab_machine_fields, row, machine, error);
		if (result == 0)
			result = check_unlike(machines, row, error);
	}
	return result;
}

void lab_write_machines(const void *member, FILE *out, unsigned indent)
{
	const struct lab_config_machine_list *machines = member;

	run_write_rows(lab_machine_fields, machines->at, sizeof(*machines->at), machines->count,
		out, indent);
}

bool lab_machines_present(const void *member)
{
	return ((const struct lab_config_machine_list *)member)->count > 0;
}

void lab_machines_fini(struct lab_config_machine_list *machines)
{
	for (uint32_t i = 0; i < machines->count; i++) {
		free(machines->at[i].device);
		free(machines->at[i].port);
	}
	free(machines->at);
}
