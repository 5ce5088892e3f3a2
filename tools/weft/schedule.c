/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "goal_generate.h"
#include "weft_time.h"

/* Whole or not at all: another process may want the same. */
static int write_to(
	const struct goal_generate_config *config, const char *path, struct fault *fault)
{
	char part[PATH_MAX + 16];
	FILE *out;
	int result;

	snprintf(part, sizeof(part), "%s.%d", path, getpid());
	out = fopen(part, "w");
	if (out == NULL)
		return fault_set(fault, errno, "%s: %s", part, strerror(errno));
	result = goal_generate(config, out, fault);
	if (fclose(out) != 0 && result == 0)
		result = fault_set(fault, EIO, "%s: cannot be written", part);
	if (result == 0 && rename(part, path) != 0)
		result = fault_set(fault, errno, "%s: %s", path, strerror(errno));
	if (result < 0)
		unlink(part);
	return result;
}

int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault)
{
	const struct goal_generate_config config = {.kind = schedule->kind,
		.ranks = schedule->ranks,
		.rounds = schedule->rounds,
		.bytes = schedule->bytes,
		.calc_ns = schedule->calc_ps / PS_PER_NS};
	char whole[PATH_MAX];

	if (schedule->ranks == 0)
		return 0;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	if (realpath(folder, whole) == NULL)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	snprintf(schedule->path, sizeof(schedule->path),
		"%.3000s/%s-%" PRIu32 "x%" PRIu32 "-%" PRIu64 "b-%" PRIu64 "ns.goal", whole,
		schedule->kind, config.ranks, config.rounds, config.bytes, config.calc_ns);
	return access(schedule->path, R_OK) == 0 ? 0 : write_to(&config, schedule->path, fault);
}
