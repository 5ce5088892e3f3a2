/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_port.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS     10
#define PATIENCE_MS 1000

/* Writes a line into a file of sysfs. */
static int write_file(
	const struct pci_device *device, const char *path, const char *text, struct fault *fault)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), code = errno;
	ssize_t length = (ssize_t)strlen(text);

	if (fd >= 0) {
		errno = 0;
		code = write(fd, text, (size_t)length) == length ? 0 : errno != 0 ? errno : EIO;
		close(fd);
		if (code == 0)
			return 0;
	}
	if (code == EACCES || code == EPERM)
		return fault_set(fault, EPERM,
			"%s: no permission to write %s: run the command as root, with 'sudo'",
			device->address, path);
	return fault_set(fault, EIO,
		"%s: the kernel refuses '%.*s' in %s: %s; 'dmesg | tail' may tell why",
		device->address, (int)strcspn(text, "\n"), text, path, strerror(code));
}

static int write_device(
	const struct pci_device *device, const char *name, const char *text, struct fault *fault)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/%s", port_root(), device->address,
		name);
	return write_file(device, path, text, fault);
}

static int probe(const struct pci_device *device, struct fault *fault)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/drivers_probe", port_root());
	return write_file(device, path, device->address, fault);
}

/* Reads the device until a driver has it, or none has if that is wanted. */
static void wait_for_driver(struct pci_device *device, bool wanted)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	char address[PCI_ADDRESS_MAX];

	memcpy(address, device->address, sizeof(address));
	for (unsigned waited = 0; waited <= PATIENCE_MS; waited += STEP_MS) {
		if (pci_device_read(port_root(), address, device) < 0 ||
			(device->driver[0] != '\0') == wanted)
			return;
		nanosleep(&step, NULL);
	}
}

static int unbind(struct pci_device *device, struct fault *fault)
{
	int result;

	if (device->driver[0] == '\0')
		return 0;
	result = write_device(device, "driver/unbind", device->address, fault);
	if (result == 0)
		wait_for_driver(device, false);
	return result;
}

int port_driver_set(struct pci_device *device, const char *driver, struct fault *fault)
{
	/* An empty line takes an earlier wish back. */
	int result = write_device(device, "driver_override", driver != NULL ? driver : "\n", fault);

	if (result == 0)
		result = unbind(device, fault);
	if (result == 0)
		result = probe(device, fault);
	if (result < 0)
		return result;
	wait_for_driver(device, true);
	if (device->driver[0] != '\0' && (driver == NULL || strcmp(device->driver, driver) == 0))
		return 0;
	if (driver != NULL)
		return fault_set(fault, ENODEV,
			"%s: the driver %s did not take it; 'dmesg | tail' may tell why, 'weft "
			"port release %s' gives it back to the kernel",
			device->address, driver, device->address);
	return fault_set(fault, ENODEV,
		"%s: no driver of the kernel took it: 'modprobe $(cat "
		"/sys/bus/pci/devices/%s/modalias)'",
		device->address, device->address);
}
