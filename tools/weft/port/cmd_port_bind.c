/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft port bind, weft port release */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd_port.h"

#define DRIVER "vfio-pci"

#define STEP_MS     10
#define PATIENCE_MS 1000

/* Writes a line to a sysfs file. */
static int write_file(
	const struct pci_device *device, const char *path, const char *text, struct error *error)
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
		return error_set(error, EPERM,
			"%s: no permission to write %s; run the command as root, with 'sudo'",
			device->address, path);
	return error_set(error, EIO, "%s: the kernel refused '%.*s' in %s: %s; see 'dmesg | tail'",
		device->address, (int)strcspn(text, "\n"), text, path, strerror(code));
}

static int write_device(
	const struct pci_device *device, const char *name, const char *text, struct error *error)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/%s", command_root(),
		device->address, name);
	return write_file(device, path, text, error);
}

static int probe(const struct pci_device *device, struct error *error)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/drivers_probe", command_root());
	return write_file(device, path, device->address, error);
}

/* Polls the device until it has a driver ('wanted'), or has none. */
static void wait_for_driver(struct pci_device *device, bool wanted)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	char address[PCI_ADDRESS_MAX];

	memcpy(address, device->address, sizeof(address));
	for (unsigned waited = 0; waited <= PATIENCE_MS; waited += STEP_MS) {
		if (pci_device_read(command_root(), address, device) < 0 ||
			(device->driver[0] != '\0') == wanted)
			return;
		nanosleep(&step, NULL);
	}
}

static int unbind(struct pci_device *device, struct error *error)
{
	int result;

	if (device->driver[0] == '\0')
		return 0;
	result = write_device(device, "driver/unbind", device->address, error);
	if (result == 0)
		wait_for_driver(device, false);
	return result;
}

/* Binds a device to a driver through sysfs as dpdk-devbind.py does: driver_override, unbind,
 * drivers_probe. With 'driver' NULL, the kernel chooses the driver. Waits up to one second, because
 * drivers may probe in the background, and updates 'device'. Returns 0, or -errno with error set:
 * EPERM, EIO (the kernel refused a write), or ENODEV (no driver claimed the device, which is then
 * unbound). */
static int port_driver_set(struct pci_device *device, const char *driver, struct error *error)
{
	/* An empty line clears an earlier override. */
	int result = write_device(device, "driver_override", driver != NULL ? driver : "\n", error);

	if (result == 0)
		result = unbind(device, error);
	if (result == 0)
		result = probe(device, error);
	if (result < 0)
		return result;
	wait_for_driver(device, true);
	if (device->driver[0] != '\0' && (driver == NULL || strcmp(device->driver, driver) == 0))
		return 0;
	if (driver != NULL)
		return error_set(error, ENODEV,
			"%s: driver %s did not claim the device; see 'dmesg | tail'. 'weft port release %s' returns the device to the kernel",
			device->address, driver, device->address);
	return error_set(error, ENODEV,
		"%s: no kernel driver claimed the device; try 'modprobe $(cat "
		"/sys/bus/pci/devices/%s/modalias)'",
		device->address, device->address);
}

struct binding {
	const char *driver;
	bool force;
	unsigned devices;
	struct pci_device device[PORT_DEVICES_MAX];
	char address[PORT_DEVICES_MAX][PCI_ADDRESS_MAX];
};

static int find_all(
	const struct port_arguments *arguments, struct binding *binding, struct error *error)
{
	for (unsigned i = 0; i < arguments->devices; i++) {
		int result = port_find(arguments->device[i], &binding->device[i], error);

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

/* Called for all devices before any device is changed. */
static int check_bind(
	const struct binding *binding, const struct pci_device *device, struct error *error)
{
	char command[96];
	int result = 0;

	if (is_done(binding, device))
		return 0;
	snprintf(command, sizeof(command), "weft port bind --force %s", device->address);
	if (!binding->force)
		result = port_refuse_own_network(device, command, error);
	if (result == 0)
		result = port_refuse_open(device, error);
	if (result == 0)
		result = port_refuse_driver(device, binding->driver, error);
	if (result == 0 && strcmp(binding->driver, DRIVER) == 0)
		result = port_refuse_group(device, binding->address, binding->devices, error);
	return result;
}

static int bind(const struct binding *binding, struct pci_device *device, struct error *error)
{
	char former[PCI_NAME_MAX];
	int result;

	if (pci_driver_is_shared(device->driver)) {
		printf("%s: DPDK shares the device with kernel driver %s; nothing to bind\n",
			device->address, device->driver);
		return 0;
	}
	if (is_done(binding, device)) {
		printf("%s: already bound to %s\n", device->address, device->driver);
		return 0;
	}
	memcpy(former, device->driver, sizeof(former));
	result = port_driver_set(device, binding->driver, error);
	if (result == 0)
		printf("%s: %s -> %s; 'weft port release %s' returns it to the kernel\n",
			device->address, former[0] != '\0' ? former : "no driver", device->driver,
			device->address);
	return result;
}

enum weft_exit cmd_port_bind(const struct port_arguments *arguments)
{
	struct binding binding = {
		.driver = arguments->driver != NULL ? arguments->driver : DRIVER,
		.force = arguments->force,
	};
	struct error error;
	int result = 0;

	if (!pci_driver_is_dpdk(binding.driver))
		return command_fail("port bind", EXIT_BAD_REQUEST,
			"--driver %s: expected vfio-pci, uio_pci_generic or igb_uio; 'weft port release' returns a device to the kernel",
			binding.driver);
	result = find_all(arguments, &binding, &error);
	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = check_bind(&binding, &binding.device[i], &error);
	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = bind(&binding, &binding.device[i], &error);
	return result == 0 ? EXIT_DONE : command_error("port bind", result, &error);
}

static int release(struct pci_device *device, struct error *error)
{
	char former[PCI_NAME_MAX];
	int result;

	if (device->driver[0] != '\0' && !pci_driver_is_dpdk(device->driver)) {
		printf("%s: already bound to kernel driver %s\n", device->address, device->driver);
		return 0;
	}
	memcpy(former, device->driver, sizeof(former));
	result = port_driver_set(device, NULL, error);
	if (result == 0)
		printf("%s: %s -> %s\n", device->address, former[0] != '\0' ? former : "no driver",
			device->driver);
	return result;
}

enum weft_exit cmd_port_release(const struct port_arguments *arguments)
{
	struct binding binding = {.driver = NULL};
	enum weft_exit code = EXIT_DONE;
	struct error error;
	int result = find_all(arguments, &binding, &error);

	for (unsigned i = 0; i < binding.devices && result == 0; i++)
		result = port_refuse_open(&binding.device[i], &error);
	if (result < 0)
		return command_error("port release", result, &error);
	/* If one device gets no driver, the others are released nevertheless. */
	for (unsigned i = 0; i < binding.devices; i++) {
		result = release(&binding.device[i], &error);
		if (result < 0)
			code = command_error("port release", result, &error);
	}
	return code;
}
