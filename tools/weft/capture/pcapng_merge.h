/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Merges pcapng streams, each in this machine's byte order and with one section, into one stream
 * whose section contains the interfaces of all streams. Packets appear in the order in which their
 * blocks become complete, so the order within each stream is preserved. No clock, no I/O. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "capture/capture_rotation.h"

/* Writes bytes of the merged stream. Returns false on failure. */
typedef bool pcapng_merge_write_fn(void *ctx, const void *bytes, size_t count);

struct pcapng_merge {
	pcapng_merge_write_fn *write;
	void *ctx;
	bool begun;          /* the section header was written */
	uint32_t interfaces; /* number written so far */
};

#define PCAPNG_MERGE_INTERFACES 4096 /* limit per stream: the ports of a machine */

/* An input stream; initially zero. */
struct pcapng_merge_stream {
	uint8_t *bytes; /* incomplete blocks */
	size_t used, room;
	uint32_t *interface; /* numbers in the merged stream */
	uint32_t interfaces;
	const char *filter; /* filter to add to its interface blocks; NULL: none */
};

/* Adds bytes of a stream, and writes the blocks that become complete. Returns 0, -EPROTO if the
 * bytes are not a pcapng stream in this byte order, -ENOMEM, or -EIO if writing failed. */
int pcapng_merge_add(struct pcapng_merge *merge, struct pcapng_merge_stream *stream,
	const void *bytes, size_t count);
void pcapng_merge_end(struct pcapng_merge_stream *stream);

/* The output of a merged capture (pcapng_merge.h): standard output, a file, or rotated files, each
 * of which can be read on its own. For use by one thread. */

struct capture_output {
	int fd;
	const char *path; /* name that the user gave, for messages */
	int write_errno;  /* errno of the first failed write, or EINTR; 0: none */
	/* Private. */
	struct capture_rotation rotation;
	uint8_t *head;     /* section and interface blocks that start each file */
	size_t head_bytes; /* their length */
	uint64_t frames;   /* number in all files */
	/* Frames of each interface in the current file, for its statistics if files are rotated. */
	uint64_t *counted;
	uint32_t interfaces, room;
};

/* Opens 'path', or standard output if it is NULL or "-" and not a terminal. An existing file is
 * unchanged until capture_output_begin(). Returns 0, or -errno with error set. */
int capture_output_open(struct capture_output *output, const char *path,
	const struct capture_limits *limits, struct error *error);
int capture_output_begin(struct capture_output *output, struct error *error);
/* A pcapng_merge_write_fn whose context is the output. Requires whole blocks. */
bool capture_output_write(void *output, const void *block, size_t bytes);
/* Returns whether the output no longer accepts frames. */
bool capture_output_is_full(const struct capture_output *output);
/* Returns 0, or -errno with error set: on some systems a failed write is only reported here. */
int capture_output_close(struct capture_output *output, struct error *error);
