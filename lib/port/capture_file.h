/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The writer's side of a capture: one file, the rings that go into it and the thread that empties
 * them. Used by capture_manager.c only.
 *
 * Order in the file: a round writes only what is not newer than the newest frame that the round
 * before saw offered, merged over the rings by time. Rounds are a millisecond apart, and a frame is
 * in its ring microseconds after its time stamp, so the file is in order of time.
 */

#include <stdbool.h>

#include "capture.h"

struct capture_file;

/* Opens 'path' and starts the thread; 'options' (with no zeros in it) outlives the file. A FIFO is
 * opened when it has a reader. NULL with errno and fault. */
struct capture_file *capture_file_open(
	const char *path, const struct capture_options *options, struct fault *fault);
const char *capture_file_path(const struct capture_file *file);

/* Adds a port and lets its data plane begin. 0, -ENOMEM, or why the file has ended
 * (-EPIPE: its reader went away). */
int capture_file_add(struct capture_file *file, struct port *port, struct capture *capture);
/* Takes a port out after its last frames and counts are written; waits a second at most. False if
 * it is not in. 'counts' may be NULL. */
bool capture_file_remove(
	struct capture_file *file, struct port *port, struct capture_counts *counts);
bool capture_file_has(struct capture_file *file, const struct port *port);
/* No port is in it any more: it is of no further use. */
bool capture_file_idle(struct capture_file *file);

/* Ends the thread, closes, frees. Returns the result of writing: 0 or -errno (a reader that went
 * away is no error). Ports that are still in are taken out. */
int capture_file_close(struct capture_file *file);
