/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * manifest.json of a sweep's folder: the whole configuration, what is varied, sums of the files
 * that the run file names and of the program that runs the points, and the file of each point. It
 * says whether results that are there belong to the sweep that is asked for.
 */

#include <jansson.h>

#include "sweep.h"

#define SWEEP_MANIFEST_FORMAT "sweep/1"
#define SWEEP_MANIFEST_NAME   "manifest.json"

/* Of the sweep that is asked for, after a look at the configuration of every point; '*real_clock'
 * tells whether any of them runs on the real clock. NULL, fault and errno: EINVAL also where a
 * point's configuration is bad, which the text names. */
json_t *sweep_manifest_make(const struct sweep *sweep, bool *real_clock, struct fault *fault);

/* What is in the folder; NULL with errno ENOENT if there is none, NULL, fault and EINVAL if it is
 * no manifest. */
json_t *sweep_manifest_read(const char *folder, struct fault *fault);

/* 0 if both are of one sweep; -EINVAL and in 'fault' the first thing that is not the same. */
int sweep_manifest_compare(const json_t *there, const json_t *asked, struct fault *fault);

/* Writes a document into the folder, whole or not at all. 0 or -errno. */
int sweep_write_json(
	const struct sweep *sweep, const char *name, const json_t *document, struct fault *fault);

/* Removes the points' files that a manifest names. */
void sweep_manifest_remove_points(const struct sweep *sweep, const json_t *manifest);
/* Whether any result that a manifest names is there; its name, which lasts as long as the manifest,
 * or NULL. */
const char *sweep_manifest_find_point(const struct sweep *sweep, const json_t *manifest);
