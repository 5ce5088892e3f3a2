/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_port.h"

#include <stdio.h>
#include <string.h>

int port_refuse_own_network(
	const struct pci_device *device, const char *command, struct fault *fault)
{
	const struct pci_interface *used = pci_device_used(device);

	if (used != NULL)
		return fault_set(fault, EBUSY,
			"%s: %s is in use by this machine's own network (%s): choose another port, "
			"or lose it with '%s'",
			device->address, used->name, used->use, command);
	if (device->driver[0] == '\0' || device->interfaces > 0 ||
		pci_driver_is_dpdk(device->driver))
		return 0;
	return fault_set(fault, EBUSY,
		"%s: its driver %s shows no interface here, perhaps because it is in another "
		"network namespace: 'ip netns identify' and 'ip -n NAME link' tell; '%s' takes "
		"it all the same",
		device->address, device->driver, command);
}

int port_refuse_open(const struct pci_device *device, struct fault *fault)
{
	char file[PCI_FILE_MAX], name[64];
	long pid;

	if (!pci_device_file(port_root(), device, file))
		return 0;
	pid = pci_holder(port_root(), file, name, sizeof(name));
	if (pid == 0)
		return 0;
	return fault_set(fault, EBUSY,
		"%s: process %ld (%s) uses it: end that first, a lab with 'weft lab down LAB' "
		"('weft lab list' names them)",
		device->address, pid, name);
}

int port_refuse_driver(const struct pci_device *device, const char *driver, struct fault *fault)
{
	const char *root = port_root();

	if (strcmp(driver, "vfio-pci") == 0 && !pci_has_iommu(root) &&
		!pci_vfio_without_iommu(root))
		return fault_set(fault, ENODEV,
			"%s: IOMMU off, vfio-pci needs it: turn on VT-d or AMD-Vi in the BIOS, and "
			"on Intel add 'intel_iommu=on iommu=pt' to GRUB_CMDLINE_LINUX in "
			"/etc/default/grub, run 'update-grub' and reboot; a machine without one "
			"takes 'weft port bind --driver uio_pci_generic %s'",
			device->address, device->address);
	if (pci_driver_loaded(root, driver))
		return 0;
	return fault_set(fault, ENODEV, "%s: the driver %s is not loaded: 'modprobe %s'",
		device->address, driver, driver);
}

int port_refuse_group(const struct pci_device *device, const char (*others)[PCI_ADDRESS_MAX],
	unsigned count, struct fault *fault)
{
	struct pci_device other;
	char address[PCI_ADDRESS_MAX];

	if (!pci_group_blocker(
		    port_root(), device->group, device->address, address, sizeof(address)))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (strcmp(others[i], address) == 0)
			return 0;
	if (pci_device_read(port_root(), address, &other) == 0 && pci_device_is_network(&other))
		return fault_set(fault, ENODEV,
			"%s: shares IOMMU group %s with %s, which driver %s has: bind both, 'weft "
			"port bind %s %s'",
			device->address, device->group, address, other.driver, device->address,
			address);
	return fault_set(fault, ENODEV,
		"%s: shares IOMMU group %s with %s, which is no network interface and which the "
		"kernel drives: put the NIC into another slot, or free the other with 'echo %s > "
		"/sys/bus/pci/devices/%s/driver/unbind'",
		device->address, device->group, address, address, address);
}
