/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides when a capture continues in the next file, and names the files: "lab.pcapng" becomes
 * "lab-00001.pcapng" and so on. Each file can be read on its own. Not thread-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

struct capture_limits {
	uint64_t rotate_bytes, rotate_ns; /* maximum per file, by time stamps; 0: unlimited */
	uint32_t files;                   /* number of newest files to keep; 0: all */
	uint64_t frames;                  /* maximum in all files; 0: unlimited */
};

/* Parses '100MB' or '60s', with an optional ',FILES'. Returns 0, or -EINVAL with 'error' set. */
int capture_limits_parse(struct capture_limits *limits, const char *rotate, struct error *error);

/* Initially zeroed, except 'limits' and 'path'. */
struct capture_rotation {
	const struct capture_limits *limits; /* NULL: one file */
	const char *path;
	char name[4096];        /* name of the current file */
	uint32_t file;          /* its number, from 1 */
	uint64_t bytes, frames; /* in the current file; the owner counts 'bytes' */
	uint64_t began_ns;      /* time of its first frame */
};

static inline bool capture_rotates(const struct capture_rotation *rotation)
{
	const struct capture_limits *limits = rotation->limits;

	return limits != NULL && (limits->rotate_bytes > 0 || limits->rotate_ns > 0);
}

/* Opens the next file for writing, with these flags of open(), and removes the oldest file if there
 * are too many. Returns the descriptor or -errno. */
int capture_rotation_open(struct capture_rotation *rotation, int flags);
/* Returns true if a frame with this time and length must go to the next file. If not, counts it. */
bool capture_rotation_is_due(struct capture_rotation *rotation, uint64_t now_ns, size_t bytes);
