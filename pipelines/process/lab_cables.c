/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_cables.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct lab_applied {
	struct lab lab;
	const char **device; /* [2 * link + side] */
	struct lab_applied *before;
};

static int list_devices(struct lab_applied *applied, struct error *error)
{
	const struct lab_plan *plan = applied->lab.plan;

	applied->device = calloc(2 * (plan->topology->links + 1u), sizeof(*applied->device));
	if (applied->device == NULL)
		return error_set(error, ENOMEM, "no memory");
	for (uint32_t i = 0; i < 2 * plan->topology->links; i++)
		applied->device[i] = plan->link[i / 2].device[i % 2];
	return 0;
}

static void forget_last(struct lab_cables *cables)
{
	struct lab_applied *applied = cables->applied;

	cables->applied = applied->before;
	free(applied->device);
	lab_close(&applied->lab);
	free(applied);
}

int lab_cables_load(void *ctx, struct real_cabling *cabling, struct error *error)
{
	struct lab_cables *cables = ctx;
	struct lab_applied *applied = calloc(1, sizeof(*applied));
	char path[PATH_MAX];
	int result;

	if (applied == NULL)
		return error_set(error, ENOMEM, "no memory");
	applied->before = cables->applied;
	cables->applied = applied;
	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, cables->run_dir);
	result = lab_open(&applied->lab, path, cables->run_dir, error);
	if (result == 0)
		result = list_devices(applied, error);
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
