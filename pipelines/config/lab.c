/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame_room.h"
#include "runtime_dir.h"

/* Makes a path absolute, because a process may have another working directory. */
static void keep_path(struct lab *lab, const char *path)
{
	char whole[PATH_MAX];

	snprintf(lab->path, sizeof(lab->path), "%s", realpath(path, whole) != NULL ? whole : path);
}

static enum lab_link_kind kind_of(enum lab_config_links links)
{
	switch (links) {
	case LAB_CONFIG_LINKS_VETH:
		return LAB_LINK_VETH;
	case LAB_CONFIG_LINKS_DPDK:
		return LAB_LINK_BOUND;
	default:
		return LAB_LINK_MEMIF;
	}
}

static int make_plan(struct lab *lab, const char *run_dir, struct fault *fault)
{
	struct lab_plan_group *groups = lab_config_groups(lab->config, lab->topology, fault);
	struct lab_plan_request request = {
		.lab = lab->config->name,
		.run_dir = run_dir,
		.topology = lab->topology,
		.kind = kind_of(lab->config->links),
		.frame_bytes = lab->frame_bytes,
		.group = groups,
		.groups = lab->config->groups.count,
	};
	char labs[RUNTIME_DIR_MAX], usual[RUNTIME_DIR_MAX + LAB_NAME_MAX];

	if (groups == NULL)
		return -errno;
	if (run_dir == NULL) {
		runtime_dir_labs(labs);
		snprintf(usual, sizeof(usual), "%s/%s", labs, lab->config->name);
		request.run_dir = usual;
	}
	lab->plan = lab_plan_create(&request, fault);
	lab_config_groups_free(groups, request.groups);
	return lab->plan == NULL ? -EINVAL : 0;
}

int lab_open(struct lab *lab, const char *path, const char *run_dir, struct fault *fault)
{
	int result = 0;

	*lab = (struct lab){.config = lab_config_load(path, NULL, 0, fault)};
	if (lab->config == NULL)
		return -errno;
	keep_path(lab, path);
	result = lab_config_supported(lab->config, fault);
	if (result == 0) {
		lab->topology = run_config_open_topology(&lab->config->run, fault);
		result = lab->topology == NULL ? -errno : 0;
	}
	if (result == 0) {
		lab->frame_bytes = frame_room(run_config_frame_payload(&lab->config->run));
		result = make_plan(lab, run_dir, fault);
	}
	if (result < 0)
		lab_close(lab);
	return result;
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
