/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pci_device.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"
#define DRIVERS "/sys/bus/pci/drivers"
#define GROUPS  "/sys/kernel/iommu_groups"

/* Bridges in a group may keep their driver, because vfio ignores them. */
#define PCI_CLASS_BRIDGE 0x06

#define SCOPE_LINK 0x20 /* link-local, in /proc/net/if_inet6 */
#define LINE_BYTES 512

static void add(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends a use, separated by a comma from earlier ones. */
static void add(char *out, size_t size, const char *format, ...)
{
	size_t length = strlen(out);
	va_list args;

	if (length > 0)
		length += (size_t)snprintf(out + length, size - length, ", ");
	if (length >= size)
		return;
	va_start(args, format);
	vsnprintf(out + length, size - length, format, args);
	va_end(args);
}

/* Calls 'matches' with each line of a file in /proc/net. Returns true as soon as one matches. */
static bool any_line(const char *root, const char *file, const char *name,
	bool (*matches)(const char *line, const char *name))
{
	char path[PATH_MAX], line[LINE_BYTES];
	bool found = false;
	FILE *lines;

	snprintf(path, sizeof(path), "%s/proc/net/%s", root, file);
	lines = fopen(path, "re");
	while (lines != NULL && !found && fgets(line, sizeof(line), lines) != NULL)
		found = matches(line, name);
	if (lines != NULL)
		fclose(lines);
	return found;
}

static bool is_route(const char *line, const char *name)
{
	char interface[32];

	return sscanf(line, "%31s", interface) == 1 && strcmp(interface, name) == 0;
}

static bool is_default_route(const char *line, const char *name)
{
	char interface[32];
	unsigned long destination, mask;

	return sscanf(line, "%31s %lx %*x %*x %*d %*d %*d %lx", interface, &destination, &mask) ==
		       3 &&
	       strcmp(interface, name) == 0 && destination == 0 && mask == 0;
}

static bool is_address6(const char *line, const char *name)
{
	char interface[32];
	unsigned scope;

	return sscanf(line, "%*s %*x %*x %x %*x %31s", &scope, interface) == 2 &&
	       strcmp(interface, name) == 0 && scope != SCOPE_LINK;
}

/* Adds the interfaces above this one: its master, and the links upper_NAME in its folder. */
static void add_uppers(const char *folder, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/master", folder);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	if (length > 0)
		add(out, size, "part of %s", slash != NULL ? slash + 1 : target);
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, "upper_", 6) == 0 &&
			(slash == NULL || strcmp(entry->d_name + 6, slash + 1) != 0))
			add(out, size, "%s on top of it", entry->d_name + 6);
	if (entries != NULL)
		closedir(entries);
}

/* Describes how the machine's own network uses an interface: "default route" or "routes" for IPv4
 * (every address creates one), "IPv6 address", "part of NAME" (a bridge, a bond), "NAME on top of
 * it" (a VLAN, a macvlan). Several uses are separated by commas; "" if there are none. A link-local
 * IPv6 address, which the kernel assigns itself, does not count. 'folder' is the interface's folder
 * in sysfs. */
static void network_use(
	const char *root, const char *folder, const char *name, char *out, size_t size)
{
	out[0] = '\0';
	if (any_line(root, "route", name, is_default_route))
		add(out, size, "default route");
	else if (any_line(root, "route", name, is_route))
		add(out, size, "routes");
	if (any_line(root, "if_inet6", name, is_address6))
		add(out, size, "IPv6 address");
	add_uppers(folder, out, size);
}

/* Reads the first line of a file, or "" if it cannot be read. */
static void read_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");

	out[0] = '\0';
	if (file == NULL)
		return;
	if (fgets(out, (int)size, file) == NULL)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

static long read_number(const char *folder, const char *name, int base, long fallback)
{
	char path[PATH_MAX], text[32], *end;
	long number;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	read_line(path, text, sizeof(text));
	number = strtol(text, &end, base);
	return end != text ? number : fallback;
}

/* Reads the last component of a symbolic link's target, or "" if there is no link. */
static void link_name(const char *folder, const char *name, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(out, size, "%s", slash != NULL ? slash + 1 : target);
}

/* Calls 'visit' for each entry of a folder until one call returns true. Returns whether one did. */
static bool each_entry(
	const char *path, bool (*visit)(void *context, const char *name), void *context)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool found = false;

	while (folder != NULL && !found && (entry = readdir(folder)) != NULL)
		found = entry->d_name[0] != '.' && visit(context, entry->d_name);
	if (folder != NULL)
		closedir(folder);
	return found;
}

/* --- interfaces --- */

struct walk {
	const char *root, *folder;
	struct pci_device *device;
};

static bool add_interface(void *context, const char *name)
{
	const struct walk *walk = context;
	struct pci_interface *interface;
	char folder[PATH_MAX];

	if (walk->device->interfaces == PCI_INTERFACES_MAX)
		return true;
	interface = &walk->device->interface[walk->device->interfaces++];
	snprintf(interface->name, sizeof(interface->name), "%s", name);
	snprintf(folder, sizeof(folder), "%s/net/%s", walk->folder, name);
	interface->up = (read_number(folder, "flags", 16, 0) & 1) != 0;
	interface->carrier = (int)read_number(folder, "carrier", 10, -1);
	interface->speed = read_number(folder, "speed", 10, -1);
	network_use(walk->root, folder, interface->name, interface->use, sizeof(interface->use));
	return false;
}

static void add_interfaces(struct walk *walk)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/net", walk->folder);
	each_entry(path, add_interface, walk);
}

/* A virtio interface belongs to a child device, virtioN. */
static bool add_virtio(void *context, const char *name)
{
	const struct walk *walk = context;
	struct walk below = *walk;
	char folder[PATH_MAX];

	if (strncmp(name, "virtio", 6) != 0)
		return false;
	snprintf(folder, sizeof(folder), "%s/%s", walk->folder, name);
	below.folder = folder;
	add_interfaces(&below);
	return false;
}

int pci_device_read(const char *root, const char *address, struct pci_device *device)
{
	char folder[PATH_MAX];
	struct walk walk = {root, folder, device};

	snprintf(folder, sizeof(folder), "%s" DEVICES "/%s", root, address);
	if (address[0] == '\0' || access(folder, F_OK) != 0)
		return -ENODEV;
	memset(device, 0, sizeof(*device));
	snprintf(device->address, sizeof(device->address), "%s", address);
	device->class = read_number(folder, "class", 16, -1);
	device->vendor = (unsigned)read_number(folder, "vendor", 16, 0);
	device->device = (unsigned)read_number(folder, "device", 16, 0);
	device->numa = read_number(folder, "numa_node", 10, -1);
	link_name(folder, "driver", device->driver, sizeof(device->driver));
	link_name(folder, "iommu_group", device->group, sizeof(device->group));
	add_interfaces(&walk);
	each_entry(folder, add_virtio, &walk);
	return 0;
}

bool pci_device_is_network(const struct pci_device *device)
{
	return device->class >= 0 && device->class >> 16 == PCI_CLASS_NETWORK;
}

const struct pci_interface *pci_device_used(const struct pci_device *device)
{
	for (unsigned i = 0; i < device->interfaces; i++)
		if (device->interface[i].use[0] != '\0')
			return &device->interface[i];
	return NULL;
}

/* --- drivers and the IOMMU --- */

bool pci_driver_is_dpdk(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "uio_pci_generic") == 0 ||
	       strcmp(driver, "igb_uio") == 0;
}

bool pci_driver_is_shared(const char *driver)
{
	return strcmp(driver, "mlx5_core") == 0 || strcmp(driver, "mlx4_core") == 0;
}

bool pci_driver_loaded(const char *root, const char *driver)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DRIVERS "/%s", root, driver);
	return access(path, F_OK) == 0;
}

static bool any_entry(void *context, const char *name)
{
	(void)context, (void)name;
	return true;
}

bool pci_has_iommu(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" GROUPS, root);
	return each_entry(path, any_entry, NULL);
}

bool pci_vfio_without_iommu(const char *root)
{
	char path[PATH_MAX], text[8];

	snprintf(path, sizeof(path), "%s/sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
		root);
	read_line(path, text, sizeof(text));
	return text[0] == 'Y' || text[0] == '1';
}

struct blocker {
	const char *root, *address;
	char *out;
	size_t size;
};

static bool is_blocker(void *context, const char *name)
{
	const struct blocker *blocker = context;
	struct pci_device other;

	if (strcmp(name, blocker->address) == 0 ||
		pci_device_read(blocker->root, name, &other) < 0 || other.driver[0] == '\0' ||
		pci_driver_is_dpdk(other.driver) || other.class >> 16 == PCI_CLASS_BRIDGE)
		return false;
	snprintf(blocker->out, blocker->size, "%s", name);
	return true;
}

bool pci_group_blocker(
	const char *root, const char *group, const char *address, char *out, size_t size)
{
	struct blocker blocker = {root, address, out, size};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" GROUPS "/%s/devices", root, group);
	return group[0] != '\0' && each_entry(path, is_blocker, &blocker);
}

/* --- processes --- */

static bool copy_name(void *context, const char *name)
{
	snprintf(context, PCI_NAME_MAX, "%s", name);
	return true;
}

/* vfio has one file per group, whose name differs without an IOMMU; uio has one per device. */
bool pci_device_file(const char *root, const struct pci_device *device, char file[PCI_FILE_MAX])
{
	char path[PATH_MAX], name[PCI_NAME_MAX];

	if (strcmp(device->driver, "vfio-pci") != 0) {
		snprintf(path, sizeof(path), "%s" DEVICES "/%s/uio", root, device->address);
		if (!pci_driver_is_dpdk(device->driver) || !each_entry(path, copy_name, name))
			return false;
		snprintf(file, PCI_FILE_MAX, "/dev/%s", name);
		return true;
	}
	if (device->group[0] == '\0')
		return false;
	snprintf(file, PCI_FILE_MAX, "/dev/vfio/noiommu-%s", device->group);
	snprintf(path, sizeof(path), "%s%s", root, file);
	if (access(path, F_OK) != 0)
		snprintf(file, PCI_FILE_MAX, "/dev/vfio/%s", device->group);
	return true;
}

struct holder {
	const char *root, *device, *folder;
	long pid;
};

static bool is_open(void *context, const char *name)
{
	const struct holder *holder = context;
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", holder->folder, name);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	return strcmp(target, holder->device) == 0;
}

static bool is_holder(void *context, const char *name)
{
	struct holder *holder = context;
	long pid = strtol(name, NULL, 10);
	char folder[PATH_MAX];

	if (pid <= 0 || pid == (long)getpid())
		return false;
	snprintf(folder, sizeof(folder), "%s/proc/%s/fd", holder->root, name);
	holder->folder = folder;
	if (!each_entry(folder, is_open, holder))
		return false;
	holder->pid = pid;
	return true;
}

long pci_holder(const char *root, const char *device, char *name, size_t size)
{
	struct holder holder = {.root = root, .device = device};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc", root);
	if (!each_entry(path, is_holder, &holder))
		return 0;
	snprintf(path, sizeof(path), "%s/proc/%ld/comm", root, holder.pid);
	read_line(path, name, size);
	if (name[0] == '\0')
		snprintf(name, size, "?");
	return holder.pid;
}
