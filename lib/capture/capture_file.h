/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The writer's side of a capture: one file, the rings that feed it, and the thread that empties
 * them. Used by capture_manager.c only.
 *
 * The file is in time order. Each round merges the rings by time, but writes only frames that are
 * not newer than the newest frame offered before the previous round. Rounds are a millisecond
 * apart, and a frame is in its ring microseconds after its time stamp. */

#include <stdbool.h>

#include "capture.h"

struct capture_file;

/* Opens 'path' and starts the thread. 'options' (without zeros) must outlive the file. A FIFO is
 * opened once it has a reader. Returns NULL with errno and 'error' set. */
struct capture_file *capture_file_open(
	const char *path, const struct capture_options *options, struct error *error);
const char *capture_file_path(const struct capture_file *file);

/* Adds a port and enables its data plane. Returns 0, -ENOMEM, or the error that ended the file
 * (-EPIPE: its reader closed it). */
int capture_file_add(struct capture_file *file, struct port *port, struct capture *capture);
/* Removes a port after its last frames and counts are written; gives up on a reader that has
 * accepted nothing for a second. Returns false if the port is not in the file. 'counts' may be
 * NULL. */
bool capture_file_remove(
	struct capture_file *file, struct port *port, struct capture_counts *counts);
bool capture_file_has(struct capture_file *file, const struct port *port);
/* Returns whether the file has no ports left. */
bool capture_file_idle(struct capture_file *file);

/* Removes all ports, ends the thread, and closes and frees the file. Returns 0, or -errno if
 * writing failed. A reader that closed the file is not an error. */
int capture_file_close(struct capture_file *file);
