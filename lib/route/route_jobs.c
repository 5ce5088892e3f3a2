/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_set.h"

#include <pthread.h>
#include <stdlib.h>

struct part {
	route_job_fn run;
	void *context;
	unsigned job, jobs;
	pthread_t thread;
	int result;
	struct error error;
};

static void *part_run(void *argument)
{
	struct part *part = argument;

	part->result = part->run(part->context, part->job, part->jobs, &part->error);
	return NULL;
}

int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct error *error)
{
	unsigned parts = jobs == 0 ? 1 : jobs, started;
	struct part *part;
	int result = 0;

	if (parts == 1)
		return run(context, 0, 1, error);
	part = calloc(parts, sizeof(*part));
	if (part == NULL)
		return error_set(error, ENOMEM, "no memory for %u jobs", parts);
	for (unsigned i = 0; i < parts; i++)
		part[i] = (struct part){.run = run, .context = context, .job = i, .jobs = parts};
	for (started = 1; started < parts; started++)
		if (pthread_create(&part[started].thread, NULL, part_run, &part[started]) != 0)
			break;
	part_run(&part[0]);
	for (unsigned i = started; i < parts; i++)
		part_run(&part[i]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(part[i].thread, NULL);
	for (unsigned i = 0; i < parts && result == 0; i++)
		if (part[i].result < 0)
			result = error_set(error, -part[i].result, "%s", part[i].error.text);
	free(part);
	return result;
}
