/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads captures in memory: pcapng from any writer, with the interface names, directions and
 * comments that Weft writes (docs/reference/wire-format.md, 'Captures'), and pcap as written by
 * tcpdump. libpcap does not expose names, directions and comments, so it cannot be used here.
 *
 * capture_reader_open() checks the whole file, so reading cannot fail afterwards. Performs no I/O.
 * A reader is not thread-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

#define CAPTURE_NAME_MAX 80 /* size of an interface name; longer names are ignored */

struct capture_interface {
	char name[CAPTURE_NAME_MAX]; /* "": none in the file */
	uint64_t dropped;            /* missing frames, from the statistics block */
	uint64_t ticks_per_s;
	int64_t offset_s;
	uint64_t rate_bps;  /* 0: not in the file */
	const char *filter; /* capture filter, in the file, not terminated; NULL: none */
	uint32_t filter_bytes;
	uint64_t packets;  /* packets in the file */
	uint64_t received; /* frames received, from the statistics block; UINT64_MAX: unknown */
	uint64_t first_ns; /* time of its earliest packet; UINT64_MAX: no packets */
};

enum capture_direction { CAPTURE_BOTH, CAPTURE_IN, CAPTURE_OUT };

struct capture_packet {
	uint64_t time_ns;
	uint64_t number; /* position in the file, from 1, as in Wireshark */
	uint32_t interface;
	enum capture_direction direction;
	uint32_t captured_bytes, frame_bytes;
	const uint8_t *bytes; /* points into the file */
	const char *comment;  /* points into the file, not terminated; NULL: none */
	uint32_t comment_bytes;
};

struct capture_reader {
	const char *path; /* for messages */
	const uint8_t *data;
	size_t bytes;
	struct capture_interface *interface;
	uint32_t interfaces, room;
	uint64_t packets;
	uint64_t first_ns;    /* time of the earliest packet */
	uint64_t disorder_ns; /* maximum time by which a packet is older than a preceding one */
	/* Time from which all interfaces were captured: all had been added, and each one with
	 * packets had its first packet. */
	uint64_t complete_ns;
	uint64_t ended_ns; /* time when the first interface's capture ended */
	/* Private. */
	bool pcap, swapped, nanoseconds;
	size_t at;
	uint64_t number;
	uint32_t section, seen; /* first interface of the section; interfaces read so far */
};

/* 'path' and 'data' remain the caller's and must outlive the reader. Returns 0, -ENOMEM, or -EINVAL
 * with 'error' set: not a capture of Ethernet frames, damaged or truncated. */
int capture_reader_open(struct capture_reader *reader, const char *path, const uint8_t *data,
	size_t bytes, struct error *error);
void capture_reader_close(struct capture_reader *reader);

/* Reads the next packet in file order. Returns false if there are no more. */
bool capture_reader_next(struct capture_reader *reader, struct capture_packet *packet);
/* Restarts at the first packet. */
void capture_reader_rewind(struct capture_reader *reader);

/* Merges the packets of several captures by time. A lab's captures are slightly out of order,
 * because each process delivers its frames with some delay. The reader therefore holds back as many
 * packets as the files' disorder requires, which is none in a capture of a run. Not thread-safe. */

struct capture_ordered {
	uint32_t file;
	struct capture_packet packet;
};

struct capture_order;

/* The readers must outlive the result. If 'arrivals_first' is set, arrivals come first among
 * packets with equal times; otherwise file order is kept. Returns NULL if out of memory. */
struct capture_order *capture_order_create(
	struct capture_reader *reader, uint32_t readers, bool arrivals_first);
void capture_order_destroy(struct capture_order *order);

/* Returns 1 and the next packet, 0 after the last packet, or -ENOMEM. */
int capture_order_next(struct capture_order *order, struct capture_ordered *next);
