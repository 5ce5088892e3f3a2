/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Writes pcapng (draft-ietf-opsawg-pcapng): one section, one interface per emulated port, packets
 * with nanosecond time, direction and comment, and finally the numbers of frames that each
 * interface saw and missed. librte_pcapng 22.11 requires an ethdev and TSC time; this works the
 * same on both clocks.
 *
 * No EAL, no allocation, no clock. Blocks are written through a callback in the order of the calls;
 * a block may take several callbacks. The first failure is permanent: every later call returns it
 * and writes nothing. Not thread-safe. */

#include <stddef.h>
#include <stdint.h>

#define PCAPNG_COMMENT_MAX 512 /* longer comments are truncated */

/* Writes all 'count' bytes. Returns 0 or -errno. */
typedef int pcapng_write_fn(void *ctx, const void *bytes, size_t count);

#define PCAPNG_ETHERNET 1
#define PCAPNG_IPV4     228

struct pcapng {
	pcapng_write_fn *write;
	void *ctx;
	uint32_t interfaces; /* added so far */
	uint16_t linktype;   /* for interfaces added later; initially PCAPNG_ETHERNET */
	const char *filter;  /* filter for their frames; NULL: none */
	int failed;          /* first negative result of 'write', or 0 */
};

/* Values as in epb_flags. */
enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_IN = 1, PCAPNG_OUT = 2 };

struct pcapng_packet {
	uint32_t interface;
	enum pcapng_direction direction;
	uint64_t time_ns; /* since 1970-01-01; on the virtual clock, since the start */
	const void *bytes;
	uint32_t captured_bytes;
	uint32_t frame_bytes; /* before truncation to the snapshot length */
	const char *comment;  /* NULL or "": none */
};

/* Returns the maximum length of the packet's block. */
size_t pcapng_packet_bytes(const struct pcapng_packet *packet);

/* A pcapng_write_fn; 'file' is a FILE. */
int pcapng_write_stdio(void *file, const void *bytes, size_t count);

/* Starts a section written by 'application'. */
int pcapng_begin(struct pcapng *pcapng, pcapng_write_fn *write, void *ctx, const char *application);

/* Adds an interface, such as "s0:1". rate_bps 0: unknown. Returns its index or -errno. */
int pcapng_add_interface(
	struct pcapng *pcapng, const char *name, uint32_t snap_bytes, uint64_t rate_bps);

int pcapng_write_packet(struct pcapng *pcapng, const struct pcapng_packet *packet);

/* Writes how many frames the interface saw and how many of them are missing from the file. */
int pcapng_write_counts(struct pcapng *pcapng, uint32_t interface, uint64_t time_ns,
	uint64_t received, uint64_t dropped);
