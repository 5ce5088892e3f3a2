/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_port.h"

#include <argp.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* weft port: the PCI ports of this machine. The command line. */

bool port_address(const char *text, char out[PCI_ADDRESS_MAX])
{
	unsigned domain = 0, bus, device, function;
	int used = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) != 4 ||
		text[used] != '\0') {
		domain = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &used) != 3 ||
			text[used] != '\0')
			return false;
	}
	snprintf(out, PCI_ADDRESS_MAX, "%04x:%02x:%02x.%x", domain, bus, device, function);
	return true;
}

static int is_address(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

bool port_each(bool (*visit)(void *context, const struct pci_device *device), void *context)
{
	struct dirent **entry = NULL;
	struct pci_device device;
	char path[PATH_MAX];
	bool found = false;
	int count;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", command_root());
	count = scandir(path, &entry, is_address, alphasort);
	for (int i = 0; i < count; i++) {
		if (!found && pci_device_read(command_root(), entry[i]->d_name, &device) == 0 &&
			pci_device_is_network(&device))
			found = visit(context, &device);
		free(entry[i]);
	}
	free(entry);
	return found;
}

struct search {
	const char *interface;
	struct pci_device *device;
};

static bool has_interface(void *context, const struct pci_device *device)
{
	const struct search *search = context;

	for (unsigned i = 0; i < device->interfaces; i++)
		if (strcmp(device->interface[i].name, search->interface) == 0) {
			*search->device = *device;
			return true;
		}
	return false;
}

int port_find(const char *text, struct pci_device *device, struct error *error)
{
	struct search search = {text, device};
	char address[PCI_ADDRESS_MAX];

	if (!port_address(text, address)) {
		if (port_each(has_interface, &search))
			return 0;
		return error_set(error, EINVAL,
			"%s: neither a PCI address nor the interface name of a PCI device; 'weft port list' lists both",
			text);
	}
	if (pci_device_read(command_root(), address, device) < 0)
		return error_set(error, EINVAL,
			"%s: this machine has no PCI device with this address; 'weft port list' lists its network interfaces",
			address);
	if (!pci_device_is_network(device))
		return error_set(error, EINVAL,
			"%s: not a network interface (class 0x%06lx); 'weft port list' lists the network interfaces",
			address, device->class);
	return 0;
}

int port_refuse_own_network(
	const struct pci_device *device, const char *command, struct error *error)
{
	const struct pci_interface *used = pci_device_used(device);

	if (used != NULL)
		return error_set(error, EBUSY,
			"%s: %s is in use by this machine's own network (%s); choose another port, or bind this one anyway with '%s'",
			device->address, used->name, used->use, command);
	if (device->driver[0] == '\0' || device->interfaces > 0 ||
		pci_driver_is_dpdk(device->driver))
		return 0;
	return error_set(error, EBUSY,
		"%s: driver %s shows no interface here; the interface may be in another network namespace. Check with 'ip netns list' and 'ip -n NAME link', or bind the device anyway with '%s'",
		device->address, device->driver, command);
}

int port_refuse_open(const struct pci_device *device, struct error *error)
{
	char file[PCI_FILE_MAX], name[64];
	long pid;

	if (!pci_device_file(command_root(), device, file))
		return 0;
	pid = pci_holder(command_root(), file, name, sizeof(name));
	if (pid == 0)
		return 0;
	return error_set(error, EBUSY,
		"%s: in use by process %ld (%s); end that process first. To end a lab, run 'weft lab down LAB' ('weft lab list' lists the labs)",
		device->address, pid, name);
}

int port_refuse_driver(const struct pci_device *device, const char *driver, struct error *error)
{
	const char *root = command_root();

	if (strcmp(driver, "vfio-pci") == 0 && !pci_has_iommu(root) &&
		!pci_vfio_without_iommu(root))
		return error_set(error, ENODEV,
			"%s: vfio-pci needs the IOMMU, which is off. Enable VT-d or AMD-Vi in the BIOS; on Intel, also add 'intel_iommu=on iommu=pt' to GRUB_CMDLINE_LINUX in /etc/default/grub, run 'update-grub' and reboot. On a machine without an IOMMU, run 'weft port bind --driver uio_pci_generic %s'",
			device->address, device->address);
	if (pci_driver_loaded(root, driver))
		return 0;
	return error_set(error, ENODEV, "%s: driver %s is not loaded; run 'modprobe %s'",
		device->address, driver, driver);
}

int port_refuse_group(const struct pci_device *device, const char (*others)[PCI_ADDRESS_MAX],
	unsigned count, struct error *error)
{
	struct pci_device other;
	char address[PCI_ADDRESS_MAX];

	if (!pci_group_blocker(
		    command_root(), device->group, device->address, address, sizeof(address)))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (strcmp(others[i], address) == 0)
			return 0;
	if (pci_device_read(command_root(), address, &other) == 0 && pci_device_is_network(&other))
		return error_set(error, ENODEV,
			"%s: shares IOMMU group %s with %s, which is bound to driver %s; bind both with 'weft port bind %s %s'",
			device->address, device->group, address, other.driver, device->address,
			address);
	return error_set(error, ENODEV,
		"%s: shares IOMMU group %s with %s, which is not a network interface and is in use by the kernel; move the NIC to another slot, or release that device with 'echo %s > /sys/bus/pci/devices/%s/driver/unbind'",
		device->address, device->group, address, address, address);
}

static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "one JSON document instead of a table", 0},
	{0},
};
static const struct argp_option bind_options[] = {
	{"driver", 'd', "DRIVER", 0, "vfio-pci (default), uio_pci_generic or igb_uio", 0},
	{"force", 'f', NULL, 0,
		"also bind a device that this machine's own network uses; you may lose the connection",
		0},
	{0},
};
static const struct argp_option check_options[] = {
	{"process", 'p', "DEVICE", 0,
		"check only the process of this switch or host; may be repeated. A device missing from this machine then counts as a fault",
		0},
	{0},
};
static const struct argp_option no_options[] = {{0}};

static const struct part {
	struct command_part is;
	enum weft_exit (*run)(const struct port_arguments *arguments);
	unsigned min, max; /* number of arguments */
} parts[] = {
	{{"list", "", list_options,
		 "Shows the PCI network interfaces: driver, link, NUMA node, IOMMU group, and their use by this machine's own network."},
		cmd_port_list, 0, 0},
	{{"bind", "DEVICE...", bind_options,
		 "Binds network interfaces for DPDK. DEVICE is a PCI address or the name of an interface. Refuses interfaces that this machine's own network uses."},
		cmd_port_bind, 1, PORT_DEVICES_MAX},
	{{"release", "DEVICE...", no_options,
		 "Returns network interfaces to the kernel's own driver."},
		cmd_port_release, 1, PORT_DEVICES_MAX},
	{{"check", "LAB.yaml", check_options,
		 "Checks whether the PCI ports of a lab can be used on this machine, and how to fix "
		 "each fault; for a lab that is up, also whether full-size frames pass its ports. Changes nothing.",
		 "0 no problem, 2 invalid request, 3 a problem was found"},
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
			argp_error(state, "--process: may be given at most %d times",
				PORT_DEVICES_MAX);
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

static const struct command_parts command = COMMAND_PARTS("port", parts,
	"Exit: 0 success, 2 invalid request, 3 not possible on this machine, or a problem\n"
	"was found.\n"
	"See 'weft help port PART' and weft-port(1) for details.\n");

static enum weft_exit run_part(const struct part *part, int argc, char **argv)
{
	struct port_arguments arguments = {.devices = 0};

	command_part_parse(&command, &part->is, parse, 0, argc, argv, &arguments);
	if (arguments.devices < part->min || arguments.devices > part->max)
		return command_part_refuse(&command, &part->is);
	return part->run(&arguments);
}

int cmd_port(int argc, char **argv)
{
	int code = EXIT_DONE, part = command_parts_choose(&command, argc, argv, &code);

	return part < 0 ? code : (int)run_part(&parts[part], argc - 1, argv + 1);
}

/* weft port list */

static const char *bound_to(const struct pci_device *device)
{
	if (device->driver[0] == '\0')
		return "nothing";
	if (pci_driver_is_dpdk(device->driver))
		return "dpdk";
	return pci_driver_is_shared(device->driver) ? "both" : "kernel";
}

static const char *link_state(const struct pci_interface *interface)
{
	if (interface == NULL || interface->carrier < 0)
		return interface != NULL && !interface->up ? "off" : "-";
	return interface->carrier > 0 ? "up" : "no carrier";
}

static void format_number(char *out, size_t size, long number, const char *unit)
{
	if (number < 0)
		snprintf(out, size, "-");
	else
		snprintf(out, size, "%ld%s", number, unit);
}

static void print_row(const struct pci_device *device, const struct pci_interface *interface)
{
	char speed[32], numa[16];

	format_number(speed, sizeof(speed), interface != NULL ? interface->speed : -1, "Mbps");
	format_number(numa, sizeof(numa), device->numa, "");
	printf("%-13s %-10s %04x:%04x %-15s %-8s %-10s %-10s %4s %5s  %s\n", device->address,
		interface != NULL ? interface->name : "-", device->vendor, device->device,
		device->driver[0] != '\0' ? device->driver : "-", bound_to(device),
		link_state(interface), speed, numa, device->group[0] != '\0' ? device->group : "-",
		interface != NULL && interface->use[0] != '\0' ? interface->use : "-");
}

static bool print_device(void *context, const struct pci_device *device)
{
	unsigned *devices = context;

	if ((*devices)++ == 0)
		printf("%-13s %-10s %-9s %-15s %-8s %-10s %-10s %4s %5s  %s\n", "address", "name",
			"id", "driver", "bound to", "link", "speed", "NUMA", "IOMMU",
			"used by the machine for");
	for (unsigned i = 0; i < device->interfaces; i++)
		print_row(device, &device->interface[i]);
	if (device->interfaces == 0)
		print_row(device, NULL);
	return false;
}

static json_t *number_or_null(long number)
{
	return number < 0 ? json_null() : json_integer(number);
}

static json_t *text_or_null(const char *text)
{
	return text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *interface_json(const struct pci_interface *interface)
{
	return json_pack("{s:s,s:b,s:o,s:o,s:o}", "name", interface->name, "up", interface->up,
		"carrier",
		interface->carrier < 0 ? json_null() : json_boolean(interface->carrier > 0),
		"speed_mbps", number_or_null(interface->speed), "used_for",
		text_or_null(interface->use));
}

static bool add_device(void *context, const struct pci_device *device)
{
	json_t *interfaces = json_array();
	char id[16];

	snprintf(id, sizeof(id), "%04x:%04x", device->vendor, device->device);
	for (unsigned i = 0; i < device->interfaces; i++)
		json_array_append_new(interfaces, interface_json(&device->interface[i]));
	json_array_append_new(
		context, json_pack("{s:s,s:s,s:o,s:s,s:o,s:o,s:b,s:o}", "address", device->address,
				 "id", id, "driver", text_or_null(device->driver), "bound_to",
				 bound_to(device), "numa_node", number_or_null(device->numa),
				 "iommu_group", text_or_null(device->group), "in_use",
				 pci_device_used(device) != NULL, "interfaces", interfaces));
	return false;
}

enum weft_exit cmd_port_list(const struct port_arguments *arguments)
{
	unsigned devices = 0;

	if (arguments->json) {
		json_t *list = json_array();

		port_each(add_device, list);
		command_print_json(list, 0);
		return EXIT_DONE;
	}
	port_each(print_device, &devices);
	if (devices == 0)
		puts("this machine has no PCI network interfaces");
	return EXIT_DONE;
}
