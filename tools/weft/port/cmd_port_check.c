/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft port check: checks whether this machine can use the PCI ports of a lab. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd_port.h"
#include "experiment/lab/lab.h"
#include "lab/lab_query.h"
#include "os/hugepages.h"
#include "watch/lab_collect.h"

#define NAME "port check"
#define MIB  (UINT64_C(1) << 20)
/* Memory that DPDK needs for a process with a few ports. */
#define PROCESS_BYTES (256 * MIB)
#define PORT_NAME_MAX (TOPOLOGY_NAME_MAX + 8)

struct check {
	const struct lab *lab;
	bool *here; /* [process]: its ports are checked */
	bool *uses; /* [process]: has a PCI port on this machine */
	bool all;   /* no process was named: skip ports on other machines */
	unsigned ports, faults;
	bool vfio, uio;
};

static void report(struct check *check, const char *what, int result, const struct error *error)
{
	check->faults += result < 0;
	printf("%-6s %-10s %s\n", result < 0 ? "FAULT" : "ok", what, error->text);
}

/* Only root may open an IOMMU group's file, unless the file's owner was changed. */
static int check_permission(const struct pci_device *device, struct error *error)
{
	char file[PCI_FILE_MAX], path[PATH_MAX];

	if (strcmp(device->driver, "vfio-pci") != 0) {
		if (geteuid() == 0)
			return 0;
		return error_set(error, EPERM, "%s: %s needs root; run the lab with 'sudo'",
			device->address, device->driver);
	}
	if (!pci_device_file(command_root(), device, file))
		return 0;
	snprintf(path, sizeof(path), "%s%s", command_root(), file);
	if (access(path, R_OK | W_OK) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, EPERM, "%s: no permission for %s; run 'sudo chown %u %s'",
		device->address, file, geteuid(), file);
}

static int check_bound(const struct pci_device *device, struct error *error)
{
	int result;

	if (pci_driver_is_shared(device->driver))
		return 0;
	if (pci_driver_is_dpdk(device->driver)) {
		result = port_refuse_open(device, error);
		if (result == 0 && strcmp(device->driver, "vfio-pci") == 0)
			result = port_refuse_group(device, NULL, 0, error);
		return result == 0 ? check_permission(device, error) : result;
	}
	result = port_refuse_own_network(device, "weft port bind --force", error);
	if (result == 0)
		result = port_refuse_driver(device, "vfio-pci", error);
	if (result < 0)
		return result;
	if (device->driver[0] == '\0')
		return error_set(error, ENODEV,
			"%s: not bound to a driver; run 'weft port bind %s'", device->address,
			device->address);
	return error_set(error, ENODEV, "%s: bound to kernel driver %s; run 'weft port bind %s'",
		device->address, device->driver, device->address);
}

static void check_device(
	struct check *check, const char *port, const struct pci_device *device, int process)
{
	struct error error;
	int result = check_bound(device, &error);

	check->ports++;
	check->uses[process] = true;
	check->vfio |= strcmp(device->driver, "vfio-pci") == 0;
	check->uio |= strcmp(device->driver, "uio_pci_generic") == 0 ||
		      strcmp(device->driver, "igb_uio") == 0;
	if (result == 0)
		snprintf(error.text, sizeof(error.text), "%s: %s", device->address, device->driver);
	report(check, port, result, &error);
}

static int process_of(const struct lab_plan *plan, struct topology_port port)
{
	return port.kind == DEVICE_HOST ? plan->host_process[port.device]
					: plan->switch_process[port.device];
}

static void check_port(struct check *check, const struct topology_binding *binding)
{
	int process = process_of(check->lab->plan, binding->port);
	char address[PCI_ADDRESS_MAX], first[PCI_ADDRESS_MAX], port[PORT_NAME_MAX];
	struct pci_device device;
	struct error error;
	int result;

	/* Device arguments may follow the address. Non-PCI devices do not exist until they are
	 * opened. */
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(binding->dpdk, ","), binding->dpdk);
	if (!check->here[process] || !port_address(first, address))
		return;
	topology_port_name(check->lab->topology, binding->port, port, sizeof(port));
	result = port_find(address, &device, &error);
	if (result == 0) {
		check_device(check, port, &device, process);
	} else if (!check->all) {
		check->ports++;
		report(check, port, result, &error);
	} else {
		printf("%-6s %-10s %s: not in this machine\n", "-", port, address);
	}
}

static void check_hugepages(struct check *check)
{
	uint64_t available = hugepages_free_bytes(command_root()), needed = 0;
	char free_text[64];
	struct error error;
	int result = 0;

	for (unsigned i = 0; i < check->lab->plan->processes; i++)
		needed += check->uses[i] ? PROCESS_BYTES : 0;
	snprintf(free_text, sizeof(free_text), "%" PRIu64 " MiB free of about %" PRIu64 " MiB",
		available / MIB, needed / MIB);
	error_set(&error, 0, "%s", free_text);
	if (available < needed)
		result = error_set(&error, check->uio ? ENOMEM : 0,
			"%s%s; add %" PRIu64
			" to the number in /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
			free_text,
			check->uio ? ", which uio_pci_generic requires"
				   : "; without hugepages Weft is slightly slower",
			(needed - available + 2 * MIB - 1) / (2 * MIB));
	report(check, "hugepages", result, &error);
}

/* vfio locks all memory of a process; root is exempt from the limit. */
static void check_memlock(struct check *check)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	struct error error;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (!check->vfio || geteuid() == 0 || limit.rlim_cur >= PROCESS_BYTES)
		return;
	report(check, "memlock",
		error_set(&error, ENOMEM,
			"%" PRIu64
			" MiB of memory may be locked, but a process needs about %" PRIu64
			" MiB; run 'ulimit -l unlimited', or set memlock in /etc/security/limits.conf",
			(uint64_t)limit.rlim_cur / MIB, PROCESS_BYTES / MIB),
		&error);
}

/* With --process, refuses two ports of these processes that are bound to the same device. */
static int check_twice(const struct check *check, struct error *error)
{
	const struct topology *topology = check->lab->topology;

	for (uint32_t i = 0; !check->all && i < topology->bindings; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct topology_binding *a = &topology->binding_at[j],
						      *b = &topology->binding_at[i];
			char first[PORT_NAME_MAX], second[PORT_NAME_MAX];

			if (strcmp(a->dpdk, b->dpdk) != 0 ||
				!check->here[process_of(check->lab->plan, a->port)] ||
				!check->here[process_of(check->lab->plan, b->port)])
				continue;
			topology_port_name(topology, a->port, first, sizeof(first));
			topology_port_name(topology, b->port, second, sizeof(second));
			return error_set(error, EINVAL,
				"%s: %s and %s of this machine are both bound to '%s'; use a different device for one of them in 'ports'",
				check->lab->path, first, second, a->dpdk);
		}
	return 0;
}

static int choose_processes(
	struct check *check, const struct port_arguments *arguments, struct error *error)
{
	check->all = arguments->processes == 0;
	for (unsigned i = 0; i < check->lab->plan->processes; i++)
		check->here[i] = check->all;
	for (unsigned i = 0; i < arguments->processes; i++) {
		int process = lab_plan_find(check->lab->plan, arguments->process[i]);

		if (process < 0)
			return error_set(error, EINVAL, "--process %s: no such device in %s",
				arguments->process[i], check->lab->path);
		check->here[process] = true;
	}
	return check_twice(check, error);
}

static void report_path(struct check *check, const char *port, json_t *list)
{
	json_t *end;

	for (size_t i = 0; (end = json_array_get(list, i)) != NULL; i++) {
		struct error error;
		int result;

		if (strcmp(lab_text(end, "port"), port) != 0)
			continue;
		result = lab_probe_judge(check->lab, end, &error);
		if (result == -EMSGSIZE)
			strncat(error.text, ": " LAB_PROBE_FIX,
				sizeof(error.text) - strlen(error.text) - 1);
		report(check, port, result, &error);
	}
}

/* Sends full-size frames through the ports of a running lab. Returns false if the lab is not up. */
static bool check_paths(struct check *check)
{
	const struct topology *topology = check->lab->topology;
	struct lab_state state;
	struct error error;
	json_t *list;

	if (lab_state_load(&state, check->lab->plan->run_dir, &error) < 0)
		return false;
	list = lab_probe(check->lab, &state);
	lab_state_free(&state);
	for (uint32_t i = 0; i < topology->bindings; i++) {
		struct topology_port at = topology->binding_at[i].port;
		char port[PORT_NAME_MAX];

		if (!check->here[process_of(check->lab->plan, at)])
			continue;
		check->ports++;
		topology_port_name(topology, at, port, sizeof(port));
		report_path(check, port, list);
	}
	json_decref(list);
	return true;
}

static void check_unused(struct check *check)
{
	for (uint32_t i = 0; i < check->lab->topology->bindings; i++)
		check_port(check, &check->lab->topology->binding_at[i]);
	if (check->ports == 0)
		return;
	check_hugepages(check);
	check_memlock(check);
	printf("%-6s %-10s unknown until 'weft lab up'; check again then\n", "-", "path MTU");
}

static enum weft_exit conclude(const struct check *check)
{
	if (check->ports == 0) {
		puts(check->all ? "this lab has no PCI ports on this machine"
				: "these processes have no PCI ports");
		return EXIT_DONE;
	}
	if (check->faults == 0)
		return EXIT_DONE;
	return command_fail(NAME, EXIT_NOT_ABLE, "%u fault%s; see above for the fixes",
		check->faults, check->faults == 1 ? "" : "s");
}

enum weft_exit cmd_port_check(const struct port_arguments *arguments)
{
	struct check check = {.lab = NULL};
	enum weft_exit code;
	struct error error;
	struct lab lab;
	int result = lab_open(&lab, arguments->device[0], NULL, &error);

	if (result < 0)
		return command_error(NAME, result, &error);
	check.lab = &lab;
	check.here = calloc(lab.plan->processes, sizeof(bool));
	check.uses = calloc(lab.plan->processes, sizeof(bool));
	if (check.here == NULL || check.uses == NULL)
		result = error_set(&error, ENOMEM, "out of memory");
	else
		result = choose_processes(&check, arguments, &error);
	if (result == 0 && !check_paths(&check))
		check_unused(&check);
	code = result == 0 ? conclude(&check) : command_error(NAME, result, &error);
	free(check.here);
	free(check.uses);
	lab_close(&lab);
	return code;
}
