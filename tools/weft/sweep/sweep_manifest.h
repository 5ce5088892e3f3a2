/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* manifest.json of a sweep's folder: the whole configuration, the varied keys, checksums of the
 * files that the run file names and of the program, and the file of each point. It shows whether
 * the present results belong to the requested sweep. */

#include <jansson.h>

#include "fault.h"
#include "sweep.h"

#define SWEEP_MANIFEST_FORMAT "sweep/1"
#define SWEEP_MANIFEST_NAME   "manifest.json"

/* The manifest of the requested sweep; checks the configuration of every point. '*real_clock':
 * whether any of them runs on the real clock. NULL, fault and errno: EINVAL also for a bad
 * configuration of a point, which the text names. */
json_t *sweep_manifest_make(const struct sweep *sweep, bool *real_clock, struct fault *fault);

/* The manifest of the folder; NULL with errno ENOENT if there is none; NULL, fault and EINVAL if
 * it is not a manifest. */
json_t *sweep_manifest_read(const char *folder, struct fault *fault);

/* 0 if both are of one sweep; -EINVAL and in 'fault' the first thing that is not the same. */
int sweep_manifest_compare(const json_t *there, const json_t *asked, struct fault *fault);

/* Writes a document into the folder, complete or not at all. 0 or -errno. */
int sweep_write_json(
	const struct sweep *sweep, const char *name, const json_t *document, struct fault *fault);

/* Removes the points' files that a manifest names. */
void sweep_manifest_remove_points(const struct sweep *sweep, const json_t *manifest);
/* The name of a result that the manifest names and that exists, valid as long as the manifest;
 * NULL: none. */
const char *sweep_manifest_find_point(const struct sweep *sweep, const json_t *manifest);

/* The folder of a sweep before the first run. */

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
