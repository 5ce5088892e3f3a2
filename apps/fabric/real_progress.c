/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "simulated_run.h"

#include <rte_lcore.h>
#include <time.h>

#define STEP_NS       20000000L
#define STEPS_TO_TELL 25

static void tell(struct real_progress *progress)
{
	weft_time done;

	if (real_fabric_sent_for(progress->fabric, &done))
		progress_line_show(&progress->line, done, progress->duration);
	else
		progress_line_wait(&progress->line, "links and routes");
}

static void *run(void *ctx)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	struct real_progress *progress = ctx;

	for (unsigned i = 1; !atomic_load(&progress->halt); i++) {
		nanosleep(&step, NULL);
		if (i % STEPS_TO_TELL == 0)
			tell(progress);
	}
	return NULL;
}

void real_progress_start(struct real_progress *progress)
{
	if (!progress_line_visible(&progress->line))
		return;
	progress->line.out = stderr;
	progress->running = rte_ctrl_thread_create(
				    &progress->thread, "weft-progress", NULL, run, progress) == 0;
}

void real_progress_stop(struct real_progress *progress)
{
	if (!progress->running)
		return;
	atomic_store(&progress->halt, true);
	pthread_join(progress->thread, NULL);
	progress_line_wipe(&progress->line);
}
