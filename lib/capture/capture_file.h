/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The writer's side of a capture: one file, the rings that feed it and the thread that empties
 * them. Used by capture_manager.c only.
 *
 * Order in the file: a round writes only frames that are not newer than the newest frame offered
 * before the previous round, merged over the rings by time. Rounds are a millisecond apart, and a
 * frame is in its ring microseconds after its time stamp, so the file is in order of time. */

#include <stdbool.h>

#include "capture.h"

struct capture_file;

/* Opens 'path' and starts the thread; 'options' (without zeros) outlives the file. A FIFO is opened
 * once it has a reader. Returns NULL with errno and error set. */
struct capture_file *capture_file_open(
	const char *path, const struct capture_options *options, struct error *error);
const char *capture_file_path(const struct capture_file *file);

/* Adds a port and enables its data plane. 0, -ENOMEM, or the reason why the file ended (-EPIPE: its
 * reader closed it). */
int capture_file_add(struct capture_file *file, struct port *port, struct capture *capture);
/* Removes a port after its last frames and counts are written; waits a second at most. Returns
 * false if it is not in the file. 'counts' may be NULL. */
bool capture_file_remove(
	struct capture_file *file, struct port *port, struct capture_counts *counts);
bool capture_file_has(struct capture_file *file, const struct port *port);
/* True if the file has no port left. */
bool capture_file_idle(struct capture_file *file);

/* Ends the thread, closes, frees. Returns the result of writing: 0 or -errno (a reader that closed
 * the file is not an error). Removes remaining ports. */
int capture_file_close(struct capture_file *file);
