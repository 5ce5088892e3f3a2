/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Joins pcapng streams in this machine's byte order, which have one section each, into one stream:
 * its section has the interfaces of all streams. Packets appear in the order in which their blocks
 * become complete, so each stream keeps its own order. No clock, no I/O. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
