/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Writes pcapng (draft-ietf-opsawg-pcapng): one section, an interface per emulated port, packets
 * with nanosecond time, direction and comment, and at the end what each interface saw and missed.
 * Our own because librte_pcapng 22.11 wants an ethdev and TSC time; the same at both clocks.
 *
 * No EAL, no allocation, no clock. Blocks go out through a callback in the order of the calls; a
 * block may take several calls of it. The first failure stays: every later call returns it and
 * writes nothing. One thread.
 */

#include <stddef.h>
#include <stdint.h>

#define PCAPNG_COMMENT_MAX 512 /* longer comments are cut */

/* Takes all 'count' bytes; 0 or -errno. */
typedef int pcapng_write_fn(void *ctx, const void *bytes, size_t count);

struct pcapng {
	pcapng_write_fn *write;
	void *ctx;
	uint32_t interfaces; /* added so far */
	int failed;          /* first negative result of write, or 0 */
};

/* As in epb_flags. */
enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_IN = 1, PCAPNG_OUT = 2 };

struct pcapng_packet {
	uint32_t interface;
	enum pcapng_direction direction;
	uint64_t time_ns; /* since 1970-01-01 at the real clock, since the start at the virtual one
			   */
	const void *bytes;
	uint32_t captured_bytes;
	uint32_t frame_bytes; /* before it was cut to the snapshot length */
	const char *comment;  /* NULL or "": none */
};

/* A pcapng_write_fn whose ctx is a FILE. */
int pcapng_write_stdio(void *file, const void *bytes, size_t count);

/* Starts a section; 'application' is named in it. */
int pcapng_begin(struct pcapng *pcapng, pcapng_write_fn *write, void *ctx, const char *application);

/* Adds an Ethernet interface called 'name' ("s0:1"); rate_bps 0: not said. Returns its index, from
 * 0 on, or -errno. */
int pcapng_add_interface(
	struct pcapng *pcapng, const char *name, uint32_t snap_bytes, uint64_t rate_bps);

int pcapng_write_packet(struct pcapng *pcapng, const struct pcapng_packet *packet);

/* What the interface saw in all, and how much of it is not in the file. */
int pcapng_write_counts(struct pcapng *pcapng, uint32_t interface, uint64_t time_ns,
	uint64_t received, uint64_t dropped);
