/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Captures on the virtual clock: pcapng files in which each port is an interface, times are virtual
 * nanoseconds from the start of the run, and every frame has the state that explains it, in the
 * words of the real clock (capture_state.h). Only the headers of a frame are captured, because
 * there is no payload. The record therefore states the length of the whole frame and a shorter
 * captured length, and the payload CRC is computed over zeros. virtual_trace.h defines the order
 * and the times of frames in a file.
 *
 * Nothing is dropped: virtual time waits for the file. */

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

/* The fabric outlives it. With several processes each calls all of these functions, and rank 0
 * writes the files. 'snap_bytes': maximum number of bytes captured per frame; 0: all headers.
 * 'filter' outlives it; NULL: every frame. Returns NULL with error set if out of memory. */
struct virtual_capture *virtual_capture_create(struct virtual_fabric *fabric, uint32_t snap_bytes,
	const struct capture_filter *filter, struct error *error);

/* Starts new files at these limits, which outlive the capture. Before ports are added. */
void virtual_capture_rotate(struct virtual_capture *capture, const struct capture_limits *limits);

/* Captures port "s0:1", or "all", into 'path'; several ports may share a path. Before the run.
 * Fails with -ENOENT: no such port; -EINVAL: already captured; others from opening the file. */
int virtual_capture_add(struct virtual_capture *capture, const char *port_name, const char *path,
	struct error *error);

/* After the run: writes how much passed each port and closes the files. Returns Returns 0, or -EIO
 * with the name of the file that could not be written; a reader that closed the file is not an
 * error. */
int virtual_capture_end(struct virtual_capture *capture, struct error *error);
void virtual_capture_destroy(struct virtual_capture *capture);

/* Frames that the partitions of a virtual fabric capture in a round. Each partition has its own
 * log; when frames are taken out, they come in the order of events. Like a mailbox
 * (partition_message.h) a log has two sides: one is filled while the other is emptied. A log can be
 * copied to another process of the same program. */

struct capture_entry {
	weft_time at;
	uint64_t pause;  /* number of the pause, or of the stretch of the run between two pauses */
	uint32_t order;  /* order of the event; 0: in a pause, or a credit at the first port */
	uint32_t device; /* in a pause they are consecutive */
	uint32_t port;
	uint32_t frame_bytes, captured_bytes, comment_bytes;
	uint8_t direction; /* enum pcapng_direction */
};

/* Entries, each followed by its frame's bytes and its comment. */
struct capture_log {
	uint8_t *bytes;
	size_t used, room;
	size_t taken; /* while it is emptied */
};

/* Returns 0 or -ENOMEM. */
int capture_log_add(struct capture_log *log, const struct capture_entry *entry,
	const uint8_t *frame, const char *comment);

/* The same for all entries of a log: 'used' of its bytes. Returns -EINVAL if they are not a log
 * with ports below 'ports'. */
int capture_log_copy(struct capture_log *log, const void *bytes, size_t used, uint32_t ports);

/* The first entry of all 'logs' and the data that follow it; NULL if the logs are empty, and can be
 * filled again. The entry is valid until one is added. */
const struct capture_entry *capture_log_take(
	struct capture_log *log, unsigned logs, const uint8_t **frame, const char **comment);

void capture_log_free(struct capture_log *log);
