/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "os/atomic_file.h"

const char *lab_link_kind_name(enum lab_link_kind kind)
{
	static const char *const name[] = {LAB_LINK_KINDS(WORD_TEXT)};

	return kind < LAB_LINK_KIND_COUNT ? name[kind] : "?";
}

const char *lab_role_program(enum lab_role role)
{
	static const char *const program[] = {
#define X(id, text) [LAB_ROLE_##id] = text,
		LAB_ROLES(X)
#undef X
	};

	return program[role];
}

/* --- processes --- */

static unsigned add_process(struct lab_plan *plan, enum lab_role role)
{
	plan->process[plan->processes].role = role;
	return plan->processes++;
}

static void put(
	struct lab_plan *plan, const struct topology_device *device, uint16_t *at, unsigned process)
{
	struct lab_plan_process *into = &plan->process[process];

	if (into->name[0] == '\0') {
		snprintf(into->name, sizeof(into->name), "%s", device->name);
		snprintf(into->prefix, sizeof(into->prefix), "weft-%s-%s", plan->lab, device->name);
	}
	into->devices += !device->absent;
	*at = (uint16_t)process;
}

static int put_group_device(struct lab_plan *plan, const struct lab_plan_group *group,
	const struct topology_device *device, uint16_t *at, unsigned process, struct error *error)
{
	if (*at != LAB_NO_PROCESS)
		return error_set(error, EINVAL,
			"group '%s': %s is already in another group; a device can only be in one",
			group->name, device->name);
	put(plan, device, at, process);
	return 0;
}

static int add_group(
	struct lab_plan *plan, const struct lab_plan_group *group, bool whole, struct error *error)
{
	enum lab_role role = group->host_count > 0 ? LAB_ROLE_HOSTS : LAB_ROLE_SWITCHES;
	unsigned process = add_process(plan, whole ? LAB_ROLE_WHOLE : role);
	int result = 0;

	if (!whole && (group->switch_count == 0) == (group->host_count == 0))
		return error_set(error, EINVAL,
			"group '%s' must contain only switches or only hosts (weft-switch runs "
			"switches, weft-nic runs hosts)",
			group->name);
	for (uint32_t i = 0; i < group->switch_count && result == 0; i++) {
		uint32_t at = group->switches[i];

		result = put_group_device(plan, group, &plan->topology->switch_at[at],
			&plan->switch_process[at], process, error);
	}
	for (uint32_t i = 0; i < group->host_count && result == 0; i++) {
		uint32_t at = group->hosts[i];

		result = put_group_device(plan, group, &plan->topology->host_at[at],
			&plan->host_process[at], process, error);
	}
	return result;
}

static bool is_left(const struct topology_device *device, uint16_t process)
{
	return process == LAB_NO_PROCESS && !device->absent;
}

static void add_switches(struct lab_plan *plan)
{
	for (uint32_t i = 0; i < plan->topology->switches; i++)
		if (is_left(&plan->topology->switch_at[i], plan->switch_process[i]))
			put(plan, &plan->topology->switch_at[i], &plan->switch_process[i],
				add_process(plan, LAB_ROLE_SWITCHES));
}

/* Assigns the remaining hosts to one process if it has enough ports, else to one per leaf switch.
 */
static void add_hosts(struct lab_plan *plan, uint16_t *of_leaf)
{
	const struct topology *topology = plan->topology;
	unsigned left = 0;
	bool together;

	for (uint32_t i = 0; i < topology->hosts; i++)
		left += is_left(&topology->host_at[i], plan->host_process[i]);
	together = left <= LAB_PORTS_MAX;
	for (uint32_t i = 0; i < topology->hosts; i++) {
		const struct topology_port at = {DEVICE_HOST, i, 0};
		struct topology_port leaf;
		uint16_t *process = of_leaf;

		if (!is_left(&topology->host_at[i], plan->host_process[i]))
			continue;
		if (!together && topology_peer(topology, at, &leaf) && leaf.kind == DEVICE_SWITCH)
			process = &of_leaf[leaf.device];
		if (*process == LAB_NO_PROCESS)
			*process = (uint16_t)add_process(plan, LAB_ROLE_HOSTS);
		put(plan, &topology->host_at[i], &plan->host_process[i], *process);
	}
}

/* Assigns all devices that are in no group to one process. */
static void add_whole(struct lab_plan *plan)
{
	const struct topology *topology = plan->topology;
	unsigned process = add_process(plan, LAB_ROLE_WHOLE);

	for (uint32_t i = 0; i < topology->switches; i++)
		if (is_left(&topology->switch_at[i], plan->switch_process[i]))
			put(plan, &topology->switch_at[i], &plan->switch_process[i], process);
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (is_left(&topology->host_at[i], plan->host_process[i]))
			put(plan, &topology->host_at[i], &plan->host_process[i], process);
	if (plan->process[process].devices == 0)
		plan->processes--;
}

static int add_processes(
	struct lab_plan *plan, const struct lab_plan_request *request, struct error *error)
{
	const struct topology *topology = plan->topology;
	uint16_t *of_leaf = malloc(((size_t)topology->switches + 1) * sizeof(*of_leaf));
	int result = 0;

	if (of_leaf == NULL)
		return error_set(error, ENOMEM, "not enough memory for the lab's plan");
	memset(of_leaf, 0xFF, ((size_t)topology->switches + 1) * sizeof(*of_leaf));
	memset(plan->switch_process, 0xFF, topology->switches * sizeof(*plan->switch_process));
	memset(plan->host_process, 0xFF, topology->hosts * sizeof(*plan->host_process));
	for (unsigned i = 0; i < request->groups && result == 0; i++)
		result = add_group(plan, &request->group[i], request->whole, error);
	if (request->whole) {
		add_whole(plan);
	} else if (result == 0) {
		add_switches(plan);
		add_hosts(plan, of_leaf);
	}
	free(of_leaf);
	return result;
}

/* --- the plan --- */

/* Names have no dots: NAME.console, NAME.files and NAME.lock are next to the run directory NAME. */
static int check_name(const char *name, struct error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";

	if (name[0] == '\0' || strlen(name) >= LAB_NAME_MAX || name[strspn(name, allowed)] != '\0')
		return error_set(error, EINVAL,
			"lab name '%s' must have 1 to %d letters, digits, '-' or '_', because "
			"files and namespaces are named after it",
			name, LAB_NAME_MAX - 1);
	return 0;
}

static struct lab_plan *allocate(const struct topology *topology, unsigned processes_max)
{
	struct lab_plan *plan = calloc(1, sizeof(*plan));

	if (plan == NULL)
		return NULL;
	plan->topology = topology;
	plan->process = calloc(processes_max, sizeof(*plan->process));
	plan->switch_process = calloc((size_t)topology->switches + 1, sizeof(uint16_t));
	plan->host_process = calloc((size_t)topology->hosts + 1, sizeof(uint16_t));
	plan->link = calloc((size_t)topology->links + 1, sizeof(*plan->link));
	if (plan->process != NULL && plan->switch_process != NULL && plan->host_process != NULL &&
		plan->link != NULL)
		return plan;
	lab_plan_destroy(plan);
	return NULL;
}

struct lab_plan *lab_plan_create(const struct lab_plan_request *request, struct error *error)
{
	const struct topology *topology = request->topology;
	/* Upper bound: every group, every switch, and the hosts of every switch. */
	size_t processes_max = (size_t)request->groups + 2 * (size_t)topology->switches + 1;
	struct lab_plan *plan;

	if (check_name(request->lab, error) < 0)
		return NULL;
	if (strlen(request->run_dir) >= sizeof(plan->run_dir)) {
		error_set(error, EINVAL,
			"run directory %s: the path must have at most %zu "
			"characters",
			request->run_dir, sizeof(plan->run_dir) - 1);
		return NULL;
	}
	if (processes_max >= LAB_NO_PROCESS) {
		error_set(error, EINVAL, "%s: too many processes for a lab", request->lab);
		return NULL;
	}
	plan = allocate(topology, (unsigned)processes_max);
	if (plan == NULL) {
		error_set(error, ENOMEM, "not enough memory for the lab's plan");
		return NULL;
	}
	snprintf(plan->lab, sizeof(plan->lab), "%s", request->lab);
	snprintf(plan->run_dir, sizeof(plan->run_dir), "%s", request->run_dir);
	if (add_processes(plan, request, error) == 0 && lab_plan_links(plan, request, error) == 0)
		return plan;
	lab_plan_destroy(plan);
	return NULL;
}

void lab_plan_destroy(struct lab_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->process);
	free(plan->switch_process);
	free(plan->host_process);
	free(plan->link);
	free(plan);
}

int lab_plan_find(const struct lab_plan *plan, const char *device)
{
	int32_t at = topology_find_switch(plan->topology, device);
	uint16_t process = at >= 0 ? plan->switch_process[at] : LAB_NO_PROCESS;

	at = at >= 0 ? -1 : topology_find_host(plan->topology, device);
	process = at >= 0 ? plan->host_process[at] : process;
	return process != LAB_NO_PROCESS ? process : -1;
}

void lab_plan_write(const struct lab_plan *plan, FILE *out)
{
	const struct topology *topology = plan->topology;

	fprintf(out, "lab %s\nrun directory %s\n", plan->lab, plan->run_dir);
	for (unsigned i = 0; i < plan->processes; i++) {
		const struct lab_plan_process *process = &plan->process[i];

		fprintf(out, "process %s: %s, %u devices, %u ports to other processes\n",
			process->name, lab_role_program(process->role), process->devices,
			process->ports);
	}
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];
		char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8];

		topology_port_name(topology, topology->link_at[i].a, a, sizeof(a));
		topology_port_name(topology, topology->link_at[i].b, b, sizeof(b));
		fprintf(out, "link %u: %s %s %s\n", i, a, b, lab_link_kind_name(link->kind));
		for (unsigned side = 0; side < 2 && link->kind != LAB_LINK_MEMORY; side++)
			fprintf(out, "  %s: %s\n", side == 0 ? a : b, link->device[side]);
	}
}

/* --- processes of this machine --- */

#define PATH_BYTES 160

static void file_path(const struct lab_plan *plan, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/machine", plan->run_dir);
}

int lab_machine_write(const struct lab_plan *plan, const bool *here, struct error *error)
{
	char path[PATH_BYTES];
	struct atomic_file out = {.path = path};
	int result;

	file_path(plan, path);
	result = atomic_file_open(&out, error);
	if (result < 0)
		return result;
	for (unsigned i = 0; i < plan->processes; i++)
		if (here[i])
			fprintf(out.file, "%s\n", plan->process[i].name);
	return atomic_file_close(&out, error);
}

static int read_line(const struct lab_plan *plan, const char *path, const char *line, bool *here,
	struct error *error)
{
	int process = lab_plan_find(plan, line);

	if (process < 0)
		return error_set(error, EINVAL, "%s: '%s' is not a process of lab %s", path, line,
			plan->lab);
	here[process] = true;
	return 0;
}

int lab_machine_read(const struct lab_plan *plan, bool *here, struct error *error)
{
	char path[PATH_BYTES], line[TOPOLOGY_NAME_MAX + 2];
	int result = 0;
	FILE *file;

	file_path(plan, path);
	file = fopen(path, "re");
	if (file == NULL && errno != ENOENT)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	memset(here, file == NULL, plan->processes * sizeof(*here));
	if (file == NULL)
		return 0;
	while (result == 0 && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		result = read_line(plan, path, line, here, error);
	}
	fclose(file);
	return result;
}
