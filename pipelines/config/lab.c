/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_count.h"
#include "frame_room.h"
#include "lab_form.h"
#include "lab_machines.h"
#include "runtime_dir.h"

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

/* 'whole': one process. 0, or -errno and fault. */
static int make_plan_of(struct lab *lab, const char *run_dir, bool whole, struct fault *fault)
{
	uint32_t count;
	struct lab_plan_group *groups =
		lab_machines_groups(lab->config, lab->topology, &count, fault);
	const struct lab_plan_request request = {
		.lab = lab->config->name,
		.run_dir = run_dir,
		.topology = lab->topology,
		.kind = kind_of(lab->config->links),
		.frame_bytes = lab->frame_bytes,
		.group = groups,
		.groups = count,
		.whole = whole,
	};

	if (groups == NULL)
		return -errno;
	lab->plan = lab_plan_create(&request, fault);
	lab_config_groups_free(groups, count);
	return lab->plan == NULL ? -EINVAL
				 : lab_machines_check_links(lab->config, lab->plan, fault);
}

unsigned lab_cpus(const struct lab *lab)
{
	unsigned cpus = cpu_count(), cores = lab->config->cores;

	return cores > 0 && cores < cpus ? cores : cpus;
}

/* The plan of several processes, unless it is impossible or they would be too many. */
static int choose_plan(struct lab *lab, const char *run_dir, struct fault *fault)
{
	int result = make_plan_of(lab, run_dir, false, fault);

	if (!lab_form_may_be_one(lab->config, lab->topology))
		return result;
	if (result == 0 && !lab_form_is_crowded(lab->plan->processes, lab_cpus(lab)))
		return 0;
	lab_plan_destroy(lab->plan);
	lab->plan = NULL;
	return make_plan_of(lab, run_dir, true, fault);
}

static int make_plan(struct lab *lab, const char *run_dir, bool fresh, struct fault *fault)
{
	char labs[RUNTIME_DIR_MAX], usual[RUNTIME_DIR_MAX + LAB_NAME_MAX];
	enum lab_config_processes form = lab->config->processes;
	uint32_t dilation;
	int result;

	if (run_dir == NULL) {
		runtime_dir_labs(labs);
		snprintf(usual, sizeof(usual), "%s/%s", labs, lab->config->name);
		run_dir = usual;
	}
	if (form == LAB_CONFIG_PROCESSES_AUTO && !fresh)
		form = lab_form_kept(run_dir);
	dilation = fresh ? 0 : lab_form_dilation(run_dir, &lab->dilated);
	if (lab->dilated)
		lab->config->run.dilation = dilation;
	if (form == LAB_CONFIG_PROCESSES_AUTO)
		result = choose_plan(lab, run_dir, fault);
	else
		result = make_plan_of(lab, run_dir, form == LAB_CONFIG_PROCESSES_ONE, fault);
	if (result == 0)
		lab->config->processes = lab->plan->process[0].role == LAB_ROLE_WHOLE
						 ? LAB_CONFIG_PROCESSES_ONE
						 : LAB_CONFIG_PROCESSES_EACH;
	return result;
}

int lab_check_until(
	const struct lab *lab, const struct run_config_measure *measure, struct fault *fault)
{
	if (measure->until.interval_ppm == 0 || lab->config->processes == LAB_CONFIG_PROCESSES_ONE)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: measure.until: each of the lab's %u processes measures its part alone, "
		"expected 'processes: one' or measure.duration",
		lab->config->run.origin, lab->plan->processes);
}

static int open_lab(
	struct lab *lab, const char *path, const char *run_dir, bool fresh, struct fault *fault)
{
	int result = 0;
	char whole[PATH_MAX];

	*lab = (struct lab){.config = lab_config_load(path, NULL, 0, fault)};
	if (lab->config == NULL)
		return -errno;
	/* Makes a path absolute, because a process may have another working directory. */
	snprintf(lab->path, sizeof(lab->path), "%s", realpath(path, whole) != NULL ? whole : path);
	result = lab_config_supported(lab->config, fault);
	if (result == 0) {
		lab->topology = run_config_open_topology(&lab->config->run, fault);
		result = lab->topology == NULL ? -errno : 0;
	}
	if (result == 0)
		result = lab_machines_apply(lab->config, lab->topology, fault);
	if (result == 0)
		result = run_config_name_edges(
			&lab->config->run, lab->topology, lab->config->name, fault);
	if (result == 0)
		result = lab_config_check_uplink(lab->config, fault);
	if (result == 0) {
		lab->frame_bytes = frame_room(run_config_frame_payload(&lab->config->run));
		result = make_plan(lab, run_dir, fresh, fault);
	}
	if (result == 0)
		result = lab_check_until(lab, &lab->config->run.measure, fault);
	if (result < 0)
		lab_close(lab);
	return result;
}

int lab_open(struct lab *lab, const char *path, const char *run_dir, struct fault *fault)
{
	return open_lab(lab, path, run_dir, false, fault);
}

int lab_open_new(struct lab *lab, const char *path, const char *run_dir, struct fault *fault)
{
	return open_lab(lab, path, run_dir, true, fault);
}

void lab_close(struct lab *lab)
{
	lab_plan_destroy(lab->plan);
	topology_destroy(lab->topology);
	lab_config_destroy(lab->config);
	*lab = (struct lab){.config = NULL};
}

void lab_warn_without_key(const struct lab *lab, const char *program)
{
	const struct run_config_mapper *mapper = &lab->config->run.mapper;

	if (mapper->routes == RUN_ROUTES_MAPPER && mapper->key == NULL)
		fprintf(stderr,
			"%s: warning: lab %s has no fabric key (mapper.key): whoever can send "
			"frames into a port can change its routes\n",
			program, lab->plan->lab);
}
