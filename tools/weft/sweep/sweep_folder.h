/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The folder of a sweep before the first run. */

#include <jansson.h>

#include "fault.h"
#include "sweep.h"

/* The folder, made if it is not there, and locked for this sweep alone; a descriptor to close, or
 * -errno. */
int sweep_folder_open(const struct sweep *sweep, struct fault *fault);

/* Refuses a folder whose manifest 'there' is that of another sweep than 'asked'. 0 or -EINVAL. */
int sweep_folder_compare(
	const struct sweep *sweep, const json_t *there, const json_t *asked, struct fault *fault);

/* Decides about the files that are there, and writes the manifest. --restart removes all results:
 * those that the manifest names, and those with the names of our points even without a manifest. 0
 * or -errno. */
int sweep_folder_settle(const struct sweep *sweep, const json_t *asked, struct fault *fault);
