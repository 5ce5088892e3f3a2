/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* 'dilation: auto': the smallest of 1, 2, 5, 10, … with which this machine meets the file's demand
 * for the traffic of a fabric, and one step higher unless that is 1. Each factor is tried with a
 * short run of the fabric itself, without programs and mapper. A factor that meets the demand is
 * tried twice, because a busy machine may be idle for a moment. The extra step is a margin: trials
 * are short, and a longer run on a busy machine meets longer stalls. Without a demand in the file,
 * run_fidelity_meets() uses Weft's. */

#include <stdio.h>

#include "real_fabric.h"

/* EAL is running. 'options' belong to the fabric that will be started; 'run' has RUN_DILATION_AUTO.
 * Fills 'dilation', and prints the lateness with each factor. Returns 0; -EINVAL: no traffic, or no
 * data frame arrived in a trial; -EBUSY: no factor is large enough; -EINTR: '*stop' was set; or
 * another -errno. All set fault. */
int real_calibrate(const struct real_fabric_options *options, const atomic_bool *stop, FILE *out,
	uint32_t *dilation, struct error *error);
