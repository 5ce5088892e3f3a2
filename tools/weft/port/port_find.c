/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_port.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *port_root(void)
{
	const char *root = getenv("WEFT_SYSFS_ROOT");

	return root != NULL ? root : "";
}

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

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", port_root());
	count = scandir(path, &entry, is_address, alphasort);
	for (int i = 0; i < count; i++) {
		if (!found && pci_device_read(port_root(), entry[i]->d_name, &device) == 0 &&
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

int port_find(const char *text, struct pci_device *device, struct fault *fault)
{
	struct search search = {text, device};
	char address[PCI_ADDRESS_MAX];

	if (!port_address(text, address)) {
		if (port_each(has_interface, &search))
			return 0;
		return fault_set(fault, EINVAL,
			"%s: no PCI address, and no interface of a PCI device has this name; 'weft "
			"port list' shows them",
			text);
	}
	if (pci_device_read(port_root(), address, device) < 0)
		return fault_set(fault, EINVAL,
			"%s: no PCI device with this address in this machine; 'weft port list' "
			"shows them",
			address);
	if (!pci_device_is_network(device))
		return fault_set(fault, EINVAL,
			"%s: is no network interface (class 0x%06lx); 'weft port list' shows those "
			"that are",
			address, device->class);
	return 0;
}
