/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Frames that the partitions of a virtual fabric capture in a round. Each partition has its own
 * log; when frames are taken out, they come in the order of events. Like a mailbox
 * (partition_message.h) a log has two sides: one is filled while the other is emptied. A log can be
 * copied to another process of the same program. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_time.h"

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
