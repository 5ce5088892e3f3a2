/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft port: the PCI ports of this machine. The command line. */

#include "cmd_port.h"

#include <argp.h>
#include <stdio.h>

#include "command_parts.h"

static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "one JSON document instead of a table", 0},
	{0},
};
static const struct argp_option bind_options[] = {
	{"driver", 'd', "DRIVER", 0, "vfio-pci (default), uio_pci_generic or igb_uio", 0},
	{"force", 'f', NULL, 0,
		"also a device that this machine's own network uses, which may cut you off", 0},
	{0},
};
static const struct argp_option check_options[] = {
	{"process", 'p', "DEVICE", 0,
		"only the process that holds this switch or host; may be repeated. With it a "
		"device that is not in this machine is a fault",
		0},
	{0},
};
static const struct argp_option no_options[] = {{0}};

static const struct part {
	struct command_part is;
	enum weft_exit (*run)(const struct port_arguments *arguments);
	unsigned least, most; /* arguments */
} parts[] = {
	{{"list", "", list_options,
		 "Shows the network interfaces on PCI: driver, link, NUMA node, IOMMU group, and "
		 "what this machine's own network uses them for."},
		cmd_port_list, 0, 0},
	{{"bind", "DEVICE...", bind_options,
		 "Gives network interfaces to DPDK. DEVICE is a PCI address or the name of an "
		 "interface. One that this machine's own network uses is refused."},
		cmd_port_bind, 1, PORT_DEVICES_MAX},
	{{"release", "DEVICE...", no_options,
		 "Gives network interfaces back to the kernel's own driver."},
		cmd_port_release, 1, PORT_DEVICES_MAX},
	{{"check", "LAB.yaml", check_options,
		 "Tells whether the PCI ports of a lab can be used on this machine, and what mends "
		 "each fault. Changes nothing. Exit 3: there is a fault."},
		cmd_port_check, 1, 1},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct port_arguments *arguments = state->input;

	switch (key) {
	case 'j':
		arguments->json = true;
		return 0;
	case 'f':
		arguments->force = true;
		return 0;
	case 'd':
		arguments->driver = text;
		return 0;
	case 'p':
		if (arguments->processes == PORT_DEVICES_MAX)
			argp_error(state, "--process: at most %d of them", PORT_DEVICES_MAX);
		arguments->process[arguments->processes++] = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->devices == PORT_DEVICES_MAX)
			argp_error(state, "'%s': too many arguments", text);
		arguments->device[arguments->devices++] = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_usage(FILE *out);
static const struct command_parts command = COMMAND_PARTS("port", parts, print_usage);

static void print_usage(FILE *out)
{
	command_parts_print(&command, out);
	fputs("'weft help port PART' and weft-port(1) explain more.\n", out);
}

static enum weft_exit run_part(const struct part *part, int argc, char **argv)
{
	struct port_arguments arguments = {.devices = 0};

	command_part_parse(&command, &part->is, parse, 0, argc, argv, &arguments);
	if (arguments.devices < part->least || arguments.devices > part->most)
		return command_part_refuse(&command, &part->is);
	return part->run(&arguments);
}

int cmd_port(int argc, char **argv)
{
	int code = EXIT_DONE, part = command_parts_choose(&command, argc, argv, &code);

	return part < 0 ? code : (int)run_part(&parts[part], argc - 1, argv + 1);
}
