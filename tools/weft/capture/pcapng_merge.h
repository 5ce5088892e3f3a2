/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Joins pcapng streams in this machine's byte order, which have one section each, into one stream:
 * its section has the interfaces of all streams. Packets appear in the order in which their blocks
 * become complete, so each stream keeps its own order. No clock, no I/O. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "capture/capture_rotation.h"

/* Takes bytes of the joined stream. Returns false if it cannot. */
typedef bool pcapng_merge_write_fn(void *ctx, const void *bytes, size_t count);

struct pcapng_merge {
	pcapng_merge_write_fn *write;
	void *ctx;
	bool begun;          /* the section header is out */
	uint32_t interfaces; /* so far */
};

#define PCAPNG_MERGE_INTERFACES 4096 /* in each stream: the ports of a machine */

/* An input stream. Zeroed at first. */
struct pcapng_merge_stream {
	uint8_t *bytes; /* blocks that are not complete yet */
	size_t used, room;
	uint32_t *interface; /* numbers in the joined stream */
	uint32_t interfaces;
	const char *filter; /* filter to name in its interfaces; NULL: they already name it */
};

/* Adds bytes of a stream; writes the blocks that become complete. Returns 0, -EPROTO if it is not a
 * pcapng stream of this byte order, -ENOMEM, or -EIO if writing failed. */
int pcapng_merge_add(struct pcapng_merge *merge, struct pcapng_merge_stream *stream,
	const void *bytes, size_t count);
void pcapng_merge_end(struct pcapng_merge_stream *stream);

/* The output of a joined capture (pcapng_merge.h): standard output, a file, or rotated files, each
 * of which can be read on its own. One thread. */

struct capture_output {
	int fd;
	const char *path; /* for messages: what the user named */
	int write_errno;  /* why the first write failed, or EINTR; 0: none */
	/* Private. */
	struct capture_rotation rotation;
	uint8_t *head;     /* section and interface blocks that start each file */
	size_t head_bytes; /* what they are */
	uint64_t frames;   /* in all files */
	/* Frames of each interface in this file, for its counts if files are rotated. */
	uint64_t *counted;
	uint32_t interfaces, room;
};

/* 'path' NULL or "-": standard output, unless it is a terminal. An existing file stays unchanged
 * until capture_output_begin(). Returns 0, or -errno with error set. */
int capture_output_open(struct capture_output *output, const char *path,
	const struct capture_limits *limits, struct error *error);
int capture_output_begin(struct capture_output *output, struct error *error);
/* A pcapng_merge_write_fn, with the output as its context. Gets whole blocks. */
bool capture_output_write(void *output, const void *block, size_t bytes);
/* True if the output no longer accepts frames. */
bool capture_output_is_full(const struct capture_output *output);
/* Returns 0, or -errno with error set: on some systems a failed write is only reported here. */
int capture_output_close(struct capture_output *output, struct error *error);
