/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Work of an algorithm spread over threads. Who splits by destination may fill one route_set from
 * all of them (route_set.h); what comes out must not depend on the number of jobs.
 */

#include "fault.h"

/* Part 'job' of 'jobs', such as every jobs-th destination switch. 0 or a negative code with
 * 'fault'. */
typedef int (*route_job_fn)(void *context, unsigned job, unsigned jobs, struct fault *fault);

/* Runs all parts, one in the caller's thread; 'jobs' of 0 means 1. The first part's error, or 0.
 * Parts for which no thread can be had run in the caller's. -ENOMEM. */
int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct fault *fault);
