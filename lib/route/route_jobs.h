/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs an algorithm in several threads. Jobs that split by destination may fill one route_set
 * together (route_set.h); the result must not depend on the number of jobs. */

#include "base/weft_error.h"

/* Part 'job' of 'jobs', such as every jobs-th destination switch. Returns 0 or a negative code with
 * error set. */
typedef int (*route_job_fn)(void *context, unsigned job, unsigned jobs, struct error *error);

/* Runs all parts, one of them in the caller's thread; 'jobs' of 0 means 1. Returns the first part's
 * error, or 0. Parts for which no thread can be created run in the caller's. May return -ENOMEM. */
int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct error *error);
