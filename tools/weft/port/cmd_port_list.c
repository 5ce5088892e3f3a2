/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft port list */

#include <stdio.h>
#include <string.h>

#include "cmd_port.h"

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
		puts("this machine has no network interface on PCI");
	return EXIT_DONE;
}
