/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "os/private_dir.h"
#include "os/program_threads.h"
#include "wire/frame.h"
#include "yaml/yaml_tree.h"

static enum lab_link_kind kind_of(enum lab_config_links links)
{
	switch (links) {
	case LAB_CONFIG_LINKS_MEMIF:
		return LAB_LINK_MEMIF;
	case LAB_CONFIG_LINKS_VETH:
		return LAB_LINK_VETH;
	case LAB_CONFIG_LINKS_DPDK:
		return LAB_LINK_BOUND;
	default:
		return LAB_LINK_SHARED;
	}
}

/* How a file is opened. */
struct opening {
	char run_dir[RUNTIME_DIR_MAX + LAB_NAME_MAX];
	bool fresh; /* ignore the state of a running lab */
	struct lab_devices devices;
};

/* 'whole': plan one process with all devices. Returns 0, or -errno with error set. */
static int make_plan_of(
	struct lab *lab, const struct opening *opening, bool whole, struct error *error)
{
	uint32_t count;
	struct lab_plan_group *groups =
		lab_machines_groups(lab->config, lab->topology, &count, error);
	struct lab_plan_request request = {
		.lab = lab->config->name,
		.run_dir = opening->run_dir,
		.topology = lab->topology,
		.kind = kind_of(lab->config->links),
		.frame_bytes = lab->frame_bytes,
		.whole = whole,
	};
	int result;

	if (groups == NULL)
		return -errno;
	result = lab_devices_group(&opening->devices, lab->topology, &groups, &count, error);
	request.group = groups;
	request.groups = count;
	if (result == 0)
		lab->plan = lab_plan_create(&request, error);
	lab_config_groups_free(groups, count);
	return lab->plan == NULL ? -EINVAL
				 : lab_machines_check_links(lab->config, lab->plan, error);
}

unsigned lab_cpus(const struct lab *lab)
{
	unsigned cpus = cpu_count(), cores = lab->config->cores;

	return cores > 0 && cores < cpus ? cores : cpus;
}

/* Returns true if the file uses nothing that requires several processes: no groups, no second
 * machine, no 'lcores', no links other than shared memory, and no ports of real cables. */
static bool lab_form_may_be_one(const struct lab_config *config, const struct topology *topology)
{
	return config->groups.count == 0 && config->machines.count <= 1 && config->lcores < 2 &&
	       config->links == LAB_CONFIG_LINKS_SHARED && topology->bindings == 0;
}

/* Plans several processes. Falls back to one if that is impossible or there would be too many. */
static int choose_plan(struct lab *lab, const struct opening *opening, struct error *error)
{
	int result = make_plan_of(lab, opening, false, error);

	if (!lab_form_may_be_one(lab->config, lab->topology))
		return result;
	if (result == 0 && !lab_form_is_crowded(lab->plan->processes, lab_cpus(lab)))
		return 0;
	lab_plan_destroy(lab->plan);
	lab->plan = NULL;
	return make_plan_of(lab, opening, true, error);
}

/* Sets rate and delay for every cable. A lab of one process does so even for cables to processes
 * that 'weft lab apply' adds. */
static void time_links(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->topology->links; i++)
		lab->topology->link_at[i].given = true;
}

/* Returns the form of the lab in the run directory, even if it is down; AUTO: unknown. */
static enum lab_config_processes lab_form_kept(const char *run_dir)
{
	enum lab_config_processes form = LAB_CONFIG_PROCESSES_AUTO;
	const struct yaml_tree_node *node;
	struct yaml_tree *tree;
	struct error ignored;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, run_dir);
	tree = yaml_tree_load(path, &ignored);
	if (tree == NULL)
		return form;
	node = yaml_tree_get(yaml_tree_root(tree), "processes");
	if (node != NULL && node->kind == YAML_TREE_SCALAR && strcmp(node->text, "one") == 0)
		form = LAB_CONFIG_PROCESSES_ONE;
	else if (node != NULL && node->kind == YAML_TREE_SCALAR && strcmp(node->text, "each") == 0)
		form = LAB_CONFIG_PROCESSES_EACH;
	yaml_tree_destroy(tree);
	return form;
}

static int make_plan(struct lab *lab, const struct opening *opening, struct error *error)
{
	enum lab_config_processes form = lab->config->processes;
	uint32_t dilation;
	int result;

	if (form == LAB_CONFIG_PROCESSES_AUTO && !opening->fresh)
		form = lab_form_kept(opening->run_dir);
	dilation = opening->fresh ? 0 : lab_form_dilation(opening->run_dir, &lab->dilated);
	if (lab->dilated)
		lab->config->run.dilation = dilation;
	if (form == LAB_CONFIG_PROCESSES_AUTO)
		result = choose_plan(lab, opening, error);
	else
		result = make_plan_of(lab, opening, form == LAB_CONFIG_PROCESSES_ONE, error);
	if (result < 0)
		return result;
	lab->config->processes = lab->plan->process[0].role == LAB_ROLE_WHOLE
					 ? LAB_CONFIG_PROCESSES_ONE
					 : LAB_CONFIG_PROCESSES_EACH;
	if (lab->config->processes == LAB_CONFIG_PROCESSES_ONE)
		time_links(lab);
	return 0;
}

int lab_check_changes(const struct lab *lab, struct error *error)
{
	const struct lab_config *config = lab->config;
	const struct run_config *run = &config->run;
	const char *need = NULL;

	if (config->machines.count > 0)
		need = "a lab on one machine, without 'machines'";
	else if (config->links != LAB_CONFIG_LINKS_SHARED || lab->topology->bindings > 0)
		need = "'links: shared' and no 'ports'";
	else if (run->mapper.routes != RUN_ROUTES_MAPPER || run->mapper.expect != NULL)
		need = "'mapper.routes: mapper', without mapper.expect";
	else if (config->lcores > 1)
		need = "'lcores: 1'";
	else if (run_config_is_adaptive(run) || run_config_marks(run) || run->nic.control != 0)
		need = "no routing.adaptive, switch.fecn or nic.control";
	else if (lab->devices_max[DEVICE_HOST] > FRAME_HOSTS_MAX)
		need = "fewer hosts";
	if (need == NULL)
		return 0;
	return error_set(error, EINVAL,
		"%s: lab %s cannot change while it is up, because changes require %s; run 'weft "
		"lab up --restart %s' to apply the file",
		run->origin, lab->plan->lab, need, run->origin);
}

int lab_check_until(
	const struct lab *lab, const struct run_config_measure *measure, struct error *error)
{
	if (measure->until.interval_ppm == 0 || lab->plan->processes == 1)
		return 0;
	return error_set(error, EINVAL,
		"%s: measure.until: each of the lab's %u processes measures only its own part; "
		"use 'processes: one' or measure.duration",
		lab->config->run.origin, lab->plan->processes);
}

static void find_run_dir(
	const struct lab_config *config, const char *run_dir, struct opening *opening)
{
	char labs[RUNTIME_DIR_MAX];

	runtime_dir_labs(labs);
	if (run_dir != NULL)
		snprintf(opening->run_dir, sizeof(opening->run_dir), "%s", run_dir);
	else
		snprintf(opening->run_dir, sizeof(opening->run_dir), "%s/%s", labs, config->name);
}

static int open_topology(struct lab *lab, const struct opening *opening, struct error *error)
{
	lab->topology = run_config_open_topology(&lab->config->run, error);
	if (lab->topology == NULL)
		return -errno;
	lab->fabric = opening->devices.fabric;
	lab->devices_max[DEVICE_SWITCH] = lab->topology->switches + LAB_DEVICES_MORE;
	lab->devices_max[DEVICE_HOST] = lab->topology->hosts + LAB_DEVICES_MORE;
	if (lab->fabric != 0)
		memcpy(lab->devices_max, opening->devices.max, sizeof(lab->devices_max));
	return lab_devices_number(&opening->devices, &lab->topology, error);
}

/* 'from': the running lab to change; NULL: use the state in the run directory. */
static int open_lab(struct lab *lab, const char *path, const char *run_dir, const struct lab *from,
	struct opening *opening, struct error *error)
{
	int result = 0;
	char whole[PATH_MAX];

	*lab = (struct lab){.config = lab_config_load(path, NULL, 0, error)};
	if (lab->config == NULL)
		return -errno;
	/* Processes may have a different working directory, so the path must be absolute. */
	snprintf(lab->path, sizeof(lab->path), "%s", realpath(path, whole) != NULL ? whole : path);
	find_run_dir(lab->config, run_dir, opening);
	result = lab_config_supported(lab->config, error);
	if (result == 0 && from == NULL && !opening->fresh)
		result = lab_devices_load(&opening->devices, opening->run_dir, error);
	if (result == 0)
		result = open_topology(lab, opening, error);
	if (result == 0)
		result = lab_machines_apply(lab->config, lab->topology, error);
	if (result == 0)
		result = run_config_name_edges(
			&lab->config->run, lab->topology, lab->config->name, error);
	if (result == 0)
		result = lab_config_check_uplink(lab->config, error);
	if (result == 0) {
		lab->frame_bytes = frame_room(run_config_frame_payload(&lab->config->run));
		result = make_plan(lab, opening, error);
	}
	if (result == 0)
		result = lab_check_until(lab, &lab->config->run.measure, error);
	if (result < 0)
		lab_close(lab);
	lab_devices_free(&opening->devices);
	return result;
}

int lab_open(struct lab *lab, const char *path, const char *run_dir, struct error *error)
{
	struct opening opening = {.fresh = false};

	return open_lab(lab, path, run_dir, NULL, &opening, error);
}

int lab_open_new(struct lab *lab, const char *path, const char *run_dir, struct error *error)
{
	struct opening opening = {.fresh = true};

	return open_lab(lab, path, run_dir, NULL, &opening, error);
}

int lab_open_change(struct lab *lab, const char *path, const struct lab *from, uint16_t fabric,
	struct error *error)
{
	struct opening opening = {.fresh = false};

	if (lab_devices_of(&opening.devices, from, fabric) < 0) {
		lab_devices_free(&opening.devices);
		return error_set(error, ENOMEM, "out of memory");
	}
	return open_lab(lab, path, from->plan->run_dir, from, &opening, error);
}

void lab_close(struct lab *lab)
{
	lab_plan_destroy(lab->plan);
	topology_destroy(lab->topology);
	lab_config_destroy(lab->config);
	*lab = (struct lab){.config = NULL};
}

void lab_warn_without_key(const struct lab *lab, const char *program, FILE *out)
{
	const struct run_config_mapper *mapper = &lab->config->run.mapper;

	if (mapper->routes == RUN_ROUTES_MAPPER && mapper->key == NULL)
		fprintf(out,
			"%s: warning: lab %s has no fabric key (mapper.key): anyone who can send frames into a port can change its routes\n",
			program, lab->plan->lab);
}

static const char *const agreed[] = {"dilation", "switch", "queuing", "routing", "detector", "nic",
	"hello", "watchdog", "mapper"};

static bool is_agreed(const char *key)
{
	for (size_t i = 0; i < sizeof(agreed) / sizeof(agreed[0]); i++)
		if (strcmp(key, agreed[i]) == 0)
			return true;
	return false;
}

static void write_keys(const struct lab_config *config, FILE *out)
{
	struct lab_config shared = *config;

	/* Paths of these files may differ between machines. */
	shared.run.routing.file = NULL;
	shared.run.mapper.key = shared.run.mapper.expect = NULL;
	/* --mapper may override it in each process. */
	shared.run.mapper.mode = RUN_MAPPER_AUTO;
	shared.run.mapper.hosts = (struct run_config_mapper_hosts){0};
	for (const struct yaml_field *field = lab_file_fields; field->key != NULL; field++) {
		const struct yaml_field one[] = {*field, {NULL}};

		if (is_agreed(field->key))
			yaml_fields_write(one, &shared, out, 0);
	}
	fprintf(out, "data: %d\n", config->run.security.data);
}

/* Writes the devices in topology order, which determines the addresses of the hosts. */
static void write_devices(const struct topology *topology, FILE *out)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		fprintf(out, "switch %s %u\n", topology->switch_at[i].name,
			topology->switch_at[i].ports);
	for (uint32_t i = 0; i < topology->hosts; i++)
		fprintf(out, "host %s\n", topology->host_at[i].name);
}

static void write_cables(const struct topology *topology, FILE *out)
{
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8];

		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		fprintf(out, "cable %s %s\n", a, b);
	}
}

char *lab_identity(const struct lab *lab)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s\n", lab->config->name);
	write_keys(lab->config, out);
	write_devices(lab->topology, out);
	write_cables(lab->topology, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* With two loops per CPU, each loop still runs every few milliseconds. */
#define LOOPS_A_CPU 2

bool lab_form_is_crowded(unsigned processes, unsigned cpus)
{
	return processes > LOOPS_A_CPU * cpus;
}

uint32_t lab_form_dilation(const char *run_dir, bool *dilated)
{
	char path[PATH_MAX], line[PATH_MAX];
	unsigned dilation = 0;
	bool other = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, run_dir);
	file = fopen(path, "re");
	while (file != NULL && dilation == 0 && fgets(line, sizeof(line), file) != NULL) {
		other = other || strncmp(line, LAB_FORM_DILATED, strlen(LAB_FORM_DILATED)) == 0;
		if (sscanf(line, "dilation: %u", &dilation) == 1 && dilation > RUN_DILATION_MAX)
			dilation = 0;
	}
	if (file != NULL)
		fclose(file);
	if (dilated != NULL)
		*dilated = other && dilation > 0;
	return dilation;
}
