/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_cables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct lab_applied {
	struct lab lab;
	const char **device; /* [2 * link + side] */
	struct lab_applied *before;
};

static bool is_here(const struct lab_cables *cables, enum device_kind kind, uint32_t number)
{
	const struct topology *topology = cables->lab->topology;

	return kind == DEVICE_SWITCH ? number < topology->switches && cables->switch_here[number]
				     : number < topology->hosts && cables->host_here[number];
}

/* The process has the devices with which it started. */
static int check_device(const struct lab_cables *cables, const struct topology_device *device,
	bool ours, enum device_kind kind, uint32_t number, struct fault *fault)
{
	if (!ours || device->absent || is_here(cables, kind, number))
		return 0;
	return fault_set(
		fault, EINVAL, "the process of %s started without %s", cables->name, device->name);
}

static int check_devices(
	const struct lab_cables *cables, const struct lab *lab, int process, struct fault *fault)
{
	int result = 0;

	for (uint32_t i = 0; i < lab->topology->switches && result == 0; i++)
		result = check_device(cables, &lab->topology->switch_at[i],
			lab->plan->switch_process[i] == process, DEVICE_SWITCH, i, fault);
	for (uint32_t i = 0; i < lab->topology->hosts && result == 0; i++)
		result = check_device(cables, &lab->topology->host_at[i],
			lab->plan->host_process[i] == process, DEVICE_HOST, i, fault);
	return result;
}

static int list_devices(
	const struct lab_cables *cables, struct lab_applied *applied, struct fault *fault)
{
	const struct lab_plan *plan = applied->lab.plan;
	int process = lab_plan_find(plan, cables->name);

	applied->device = calloc(2 * (plan->topology->links + 1u), sizeof(*applied->device));
	if (applied->device == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	for (uint32_t i = 0; i < 2 * plan->topology->links; i++)
		applied->device[i] = plan->link[i / 2].device[i % 2];
	return check_devices(cables, &applied->lab, process, fault);
}

static void forget_last(struct lab_cables *cables)
{
	struct lab_applied *applied = cables->applied;

	cables->applied = applied->before;
	free(applied->device);
	lab_close(&applied->lab);
	free(applied);
}

int lab_cables_load(void *ctx, struct real_cabling *cabling, struct fault *fault)
{
	struct lab_cables *cables = ctx;
	const char *dir = cables->lab->plan->run_dir;
	struct lab_applied *applied = calloc(1, sizeof(*applied));
	char path[sizeof(cables->lab->plan->run_dir) + sizeof(LAB_KEPT_FILE) + 1];
	int result;

	if (applied == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	applied->before = cables->applied;
	cables->applied = applied;
	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, dir);
	result = lab_open(&applied->lab, path, dir, fault);
	if (result == 0)
		result = list_devices(cables, applied, fault);
	if (result < 0) {
		forget_last(cables);
		return result;
	}
	*cabling = (struct real_cabling){.topology = applied->lab.topology,
		.run = &applied->lab.config->run,
		.device = applied->device};
	return 0;
}

void lab_cables_free(struct lab_cables *cables)
{
	while (cables->applied != NULL)
		forget_last(cables);
}
