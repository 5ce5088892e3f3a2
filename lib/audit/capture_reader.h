/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads captures in memory: pcapng of any writer, with the interface names, directions and comments
 * that Weft writes (docs/reference/wire-format.md, 'Captures'), and pcap as tcpdump writes it.
 * libpcap hides names, directions and comments, so it cannot be used here.
 *
 * capture_reader_open() checks the whole file, so reading cannot fail afterwards. No I/O; one
 * thread per reader. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

#define CAPTURE_NAME_MAX 80 /* interface name; longer names are cut */

struct capture_interface {
	char name[CAPTURE_NAME_MAX]; /* "": the file has none */
	uint64_t dropped;            /* missing frames, from its statistics */
	uint64_t ticks_per_s;
	int64_t offset_s;
	uint64_t rate_bps;  /* 0: the file has none */
	const char *filter; /* in the file, not terminated: the filter of its packets; NULL: none */
	uint32_t filter_bytes;
	uint64_t packets;  /* in the file */
	uint64_t received; /* from the statistics block; UINT64_MAX: none */
	uint64_t first_ns; /* time of its first packet; UINT64_MAX: no packets */
};

enum capture_direction { CAPTURE_BOTH, CAPTURE_IN, CAPTURE_OUT };

struct capture_packet {
	uint64_t time_ns;
	uint64_t number; /* in the file, counted from 1, as in Wireshark */
	uint32_t interface;
	enum capture_direction direction;
	uint32_t captured_bytes, frame_bytes;
	const uint8_t *bytes; /* in the file */
	const char *comment;  /* without its terminator; NULL: none */
	uint32_t comment_bytes;
};

struct capture_reader {
	const char *path; /* for messages */
	const uint8_t *data;
	size_t bytes;
	struct capture_interface *interface;
	uint32_t interfaces, room;
	uint64_t packets;
	uint64_t first_ns;    /* earliest time */
	uint64_t disorder_ns; /* maximum time by which a packet is older than one before it */
	/* The time when the last interface had appeared and each one with packets had its first
	 * packet: from then on all are captured. */
	uint64_t complete_ns;
	uint64_t ended_ns; /* likewise, before the first one ends */
	/* Private. */
	bool pcap, swapped, nanoseconds;
	size_t at;
	uint64_t number;
	uint32_t section, seen; /* first interface of the section; interfaces so far */
};

/* 'path' and 'data' outlive the reader. Returns 0, -ENOMEM, or -EINVAL with error set: not a
 * capture of Ethernet frames, damaged or truncated. Does not free anything of the caller's. */
int capture_reader_open(struct capture_reader *reader, const char *path, const uint8_t *data,
	size_t bytes, struct error *error);
void capture_reader_close(struct capture_reader *reader);

/* The next packet in file order. Returns false if there are no more. */
bool capture_reader_next(struct capture_reader *reader, struct capture_packet *packet);
/* Starts again from the first packet. */
void capture_reader_rewind(struct capture_reader *reader);

/* Merges the packets of several captures by time. A lab's captures are not quite in order, because
 * each process delivers its frames with some delay. The reader therefore holds back as many packets
 * as the files' disorder requires, which is none in a capture of a run. One thread. */

struct capture_ordered {
	uint32_t file;
	struct capture_packet packet;
};

struct capture_order;

/* The readers outlive it. 'arrivals_first': among packets with equal times, arrivals come first;
 * otherwise the file's order counts. Returns NULL if out of memory. */
struct capture_order *capture_order_create(
	struct capture_reader *reader, uint32_t readers, bool arrivals_first);
void capture_order_destroy(struct capture_order *order);

/* Returns 1, or 0 after the last packet, or -ENOMEM. */
int capture_order_next(struct capture_order *order, struct capture_ordered *next);
