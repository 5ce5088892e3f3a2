/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Captures on the virtual clock: pcapng files in which each port is an interface, times are virtual
 * nanoseconds since the start of the run, and every frame has the state that explains it, in the
 * same terms as on the real clock (capture_state.h). Payloads do not exist, so only frame headers
 * are captured. The record therefore states the length of the whole frame and a shorter captured
 * length, and the payload CRC is computed over zeros. virtual_trace.h defines the order and times
 * of frames in a file.
 *
 * No frame is dropped: virtual time waits for the file. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "capture/capture_filter.h"
#include "capture/capture_rotation.h"
#include "virtual_fabric.h"
#include "virtual_trace.h"

struct virtual_capture;

/* The fabric and 'filter' (NULL: every frame) must outlive the capture. With several processes,
 * each must call all of these functions; rank 0 writes the files. 'snap_bytes': maximum number of
 * bytes captured per frame; 0: all headers. Returns NULL with error set on failure. */
struct virtual_capture *virtual_capture_create(struct virtual_fabric *fabric, uint32_t snap_bytes,
	const struct capture_filter *filter, struct error *error);

/* Starts new files at these limits, which must outlive the capture. Call before adding ports. */
void virtual_capture_rotate(struct virtual_capture *capture, const struct capture_limits *limits);

/* Captures port "s0:1", or "all", to 'path'; several ports may share a path. Call before the run.
 * Returns 0, or with error set -ENOENT if there is no such port, -EINVAL if it is already captured,
 * or an error from opening the file. */
int virtual_capture_add(struct virtual_capture *capture, const char *port_name, const char *path,
	struct error *error);

/* Writes the number of frames of each port and closes the files, after the run. Returns 0, or -EIO
 * with error set if a file could not be written, other than because its reader closed it. */
int virtual_capture_end(struct virtual_capture *capture, struct error *error);
void virtual_capture_destroy(struct virtual_capture *capture);

/* Frames that the partitions of a virtual fabric capture in a round. Each partition has its own
 * log; frames are taken from all logs in event order. Like a mailbox (partition_message.h), a log
 * has two sides: one is filled while the other is emptied. A log can be copied to a different
 * process of the same program. */

struct capture_entry {
	weft_time at;
	uint64_t pause;  /* number of the pause, or of the period between two pauses */
	uint32_t order;  /* order of the event; 0: in a pause, or a credit at port 0 of switch 0 */
	uint32_t device; /* orders the frames of a pause */
	uint32_t port;
	uint32_t frame_bytes, captured_bytes, comment_bytes;
	uint8_t direction; /* enum pcapng_direction */
};

/* Entries, each followed by its frame's bytes and its comment. */
struct capture_log {
	uint8_t *bytes;
	size_t used, room;
	size_t taken; /* bytes taken while the log is emptied */
};

/* Appends an entry. Returns 0 or -ENOMEM. */
int capture_log_add(struct capture_log *log, const struct capture_entry *entry,
	const uint8_t *frame, const char *comment);

/* Replaces the log's entries with 'used' bytes copied from another process's log. Returns 0,
 * -ENOMEM, or -EINVAL if they are not entries with ports below 'ports'. */
int capture_log_copy(struct capture_log *log, const void *bytes, size_t used, uint32_t ports);

/* Takes the first entry of all 'logs', with its frame and comment. Returns NULL if the logs are
 * empty; they can then be refilled. The entry is valid until one is added. */
const struct capture_entry *capture_log_take(
	struct capture_log *log, unsigned logs, const uint8_t **frame, const char **comment);

void capture_log_free(struct capture_log *log);
