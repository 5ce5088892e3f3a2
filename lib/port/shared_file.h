/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The file of a link between two processes of this machine: a ring of frames in each direction
 * (shared_ring.h). The first end makes it, with mode 0600; it survives the exit of both, so that
 * either can come back to it. The file has one size from the start and never changes it: no process
 * that starts, ends or is killed can take the memory away from a process that uses it. Its folder
 * is private (private_dir.h), because a process that can write into it could also stop a user of
 * the file.
 *
 * The file holds, in pages: the positions of both rings; the bytes of the ring from end 0 to end 1;
 * those of the other one. */

#include <stdint.h>

#include "base/weft_error.h"
#include "shared_ring.h"

struct shared_file {
	int fd; /* holds the lock of this end */
	struct shared_ring_marks *marks;
	struct shared_ring tx, rx; /* as this end sees them */
};

/* Opens 'end' (0 or 1) of the file, and creates it if it is missing. Each ring has 'ring_bytes', a
 * power of two and a multiple of the page size. 0; -EBUSY: another process has this end; -EINVAL:
 * the file is not of this size; -ENOSPC; else -errno. Fault names the file. */
int shared_file_open(struct shared_file *file, const char *path, unsigned end, uint64_t ring_bytes,
	struct error *error);
/* The file stays. */
void shared_file_close(struct shared_file *file);
