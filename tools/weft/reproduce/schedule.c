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

#include "content_hash.h"
#include "goal_generate.h"
#include "weft_time.h"

/* Into a file of this process's own. */
static int generate(
	const struct goal_generate_config *config, const char *part, struct fault *fault)
{
	FILE *out = fopen(part, "w");
	int result;

	if (out == NULL)
		return fault_set(fault, errno, "%s: %s", part, strerror(errno));
	result = goal_generate(config, out, fault);
	if (fclose(out) != 0 && result == 0)
		result = fault_set(fault, EIO, "%s: cannot be written", part);
	return result;
}

/* Gives it the name that other processes look for, too: whole or not at all. */
static int give_name(struct experiment_schedule *schedule, const char *folder, const char *part,
	struct fault *fault)
{
	uint64_t hash = CONTENT_HASH_START;
	int result = content_hash_file(&hash, part);

	if (result < 0)
		return fault_set(fault, -result, "%s: %s", part, strerror(-result));
	snprintf(schedule->path, sizeof(schedule->path),
		"%.3000s/%s-%" PRIu32 "x%" PRIu32 "-%" PRIu64 "b-%" PRIu64 "ns-%016" PRIx64 ".goal",
		folder, schedule->kind, schedule->ranks, schedule->rounds, schedule->bytes,
		schedule->calc_ps / PS_PER_NS, hash);
	if (rename(part, schedule->path) == 0)
		return 0;
	return fault_set(fault, errno, "%s: %s", schedule->path, strerror(errno));
}

int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault)
{
	const struct goal_generate_config config = {.kind = schedule->kind,
		.ranks = schedule->ranks,
		.rounds = schedule->rounds,
		.bytes = schedule->bytes,
		.calc_ns = schedule->calc_ps / PS_PER_NS};
	char whole[PATH_MAX], part[PATH_MAX + 32];
	int result;

	if (schedule->ranks == 0)
		return 0;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	if (realpath(folder, whole) == NULL)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	snprintf(part, sizeof(part), "%s/schedule.%d.part", whole, getpid());
	result = generate(&config, part, fault);
	if (result == 0)
		result = give_name(schedule, whole, part, fault);
	if (result < 0)
		unlink(part);
	return result;
}
