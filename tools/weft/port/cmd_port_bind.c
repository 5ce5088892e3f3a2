/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft port bind, weft port release */

#include <stdio.h>
#include <string.h>

#include "cmd_port.h"

#define DRIVER "vfio-pci"

struct binding {
	const char *driver;
	bool force;
	unsigned devices;
	struct pci_device device[PORT_DEVICES_MAX];
	char address[PORT_DEVICES_MAX][PCI_ADDRESS_MAX];
};

static int find_all(
	const struct port_arguments *arguments, struct binding *binding, struct fault *fault)
{
	for (unsigned i = 0; i < arguments->devices; i++) {
		int result = port_find(arguments->device[i], &binding->device[i], fault);

		if (result < 0)
			return result;
		memcpy(binding->address[i], binding->device[i].address, PCI_ADDRESS_MAX);
		binding->devices++;
	}
	return 0;
}

static bool is_done(const struct binding *binding, const struct pci_device *device)
{
	return strcmp(device->driver, binding->driver) == 0 || pci_driver_is_shared(device->driver);
}

/* All reasons are found before anything is changed. */
static int check_bind(
	const struct binding *binding, const struct pci_device *device, struct fault *fault)
{
	char command[96];
	int result = 0;

	if (is_done(binding, device))
		return 0;
	snprintf(command, sizeof(command), "weft port bind --force %s", device->address);
	if (!binding->force)
		result = port_refuse_own_network(device, command, fault);
	if (result == 0)
		result = port_refuse_open(device, fault);
	if (result == 0)
		result = port_refuse_driver(device, binding->driver, fault);
	if (result == 0 && strcmp(binding->driver, DRIVER) == 0)
		result = port_refuse_group(device, binding->address, binding->devices, fault);
	return result;
}

static int bind(const struct binding *binding, struct pci_device *device, struct fault *fault)
{
	char former[PCI_NAME_MAX];
	int result;

	if (pci_driver_is_shared(device->driver)) {
		printf("%s: DPDK shares it with the kernel's driver %s; nothing to bind\n",
			device->address, device->driver);
		return 0;
	}
	if (is_done(binding, device)) {
		printf("%s: %s has it already\n", device->address, device->driver);
		return 0;
	}
	memcpy(former, device->driver, sizeof(former));
	result = port_driver_set(device, binding->driver, fault);
	if (result == 0)
		printf("%s: %s -> %s; 'weft port release %s' gives it back\n", device->address,
			former[0] != '\0' ? former : "no driver", device->driver, device->address);
	return result;
}

enum weft_exit cmd_port_bind(const struct port_arguments *arguments)
{
	struct binding binding = {
		.driver = arguments->driver != NULL ? arguments->driver : DRIVER,
		.force = arguments->force,
	};
	struct fault fault;
	int result = 0;

	if (!pci_driver_is_dpdk(binding.driver))
		return command_fail("port bind", EXIT_BAD_REQUEST,
			"--driver %s: expected vfio-pci, uio_pci_generic or igb_uio; 'weft port "
			"release' gives a device to the kernel",
			binding.driver);
	result = find_all(arguments, &binding, &fault);
	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = check_bind(&binding, &binding.device[i], &fault);
	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = bind(&binding, &binding.device[i], &fault);
	return result == 0 ? EXIT_DONE
			   : command_fail("port bind", fault_exit_code(result), "%s", fault.text);
}

static int release(struct pci_device *device, struct fault *fault)
{
	char former[PCI_NAME_MAX];
	int result;

	if (device->driver[0] != '\0' && !pci_driver_is_dpdk(device->driver)) {
		printf("%s: the kernel's driver %s has it already\n", device->address,
			device->driver);
		return 0;
	}
	memcpy(former, device->driver, sizeof(former));
	result = port_driver_set(device, NULL, fault);
	if (result == 0)
		printf("%s: %s -> %s\n", device->address, former[0] != '\0' ? former : "no driver",
			device->driver);
	return result;
}

enum weft_exit cmd_port_release(const struct port_arguments *arguments)
{
	struct binding binding = {.driver = NULL};
	enum weft_exit code = EXIT_DONE;
	struct fault fault;
	int result = find_all(arguments, &binding, &fault);

	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = port_refuse_open(&binding.device[i], &fault);
	if (result < 0)
		return command_fail("port release", fault_exit_code(result), "%s", fault.text);
	/* A device without a driver does not keep the others. */
	for (unsigned i = 0; i < binding.devices; i++) {
		result = release(&binding.device[i], &fault);
		if (result < 0)
			code = command_fail(
				"port release", fault_exit_code(result), "%s", fault.text);
	}
	return code;
}
