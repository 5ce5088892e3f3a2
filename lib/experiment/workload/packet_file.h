/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packets of a capture (pcap or pcapng), one after the other, by libpcap: its time, its length,
 * its addresses. Memory does not grow with the file. libpcap's filter compiler finds the IP header,
 * so the link types are those for which it can compile a filter with a constant offset. Used before
 * a run starts and by commands, never per frame. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "base/weft_time.h"

enum packet_address_kind {
	PACKET_ADDRESS_NONE, /* the packet has none */
	PACKET_ADDRESS_IPV4,
	PACKET_ADDRESS_IPV6,
	PACKET_ADDRESS_MAC,
};

/* Unused bytes are 0, so that addresses can be compared as bytes. */
struct packet_address {
	uint8_t kind, bytes[16];
};

struct packet {
	weft_time
		at_ps; /* since the first packet of the file, in whole ns, never less than before */
	uint32_t bytes;      /* on its medium, as the capture gives it */
	const uint8_t *data; /* what was captured of it; valid until the next packet is read */
	uint32_t captured;   /* bytes of that */
	uint32_t ip;         /* offset of the IP header; 'captured' if there is none */
	struct packet_address source[2], destination[2]; /* of IP, of Ethernet */
};

struct packet_file;

/* NULL, errno and error: missing, not a capture. */
struct packet_file *packet_file_open(const char *path, struct error *error);
/* The same for an open file, which the packet file closes, also if it fails; 'path' is for
 * messages, and the caller's. */
struct packet_file *packet_file_of(FILE *in, const char *path, struct error *error);
void packet_file_close(struct packet_file *file);

/* 1: a packet; 0: the end; -EINVAL and error: a damaged file, a frame of Weft instead of a packet.
 */
int packet_file_next(struct packet_file *file, struct packet *packet, struct error *error);

/* Whether packets of this file may have addresses of IP or Ethernet. */
bool packet_file_has_addresses(const struct packet_file *file);
/* Its link type in words, for messages. */
const char *packet_file_link(const struct packet_file *file);

/* Several receivers: a broadcast, a multicast. */
bool packet_address_is_group(const struct packet_address *address);
/* "10.1.0.7", "fe80::1" or "02:00:00:00:00:01". False: none of these. */
bool packet_address_parse(const char *text, struct packet_address *address);

#define PACKET_ADDRESS_TEXT 48
const char *packet_address_text(
	const struct packet_address *address, char text[PACKET_ADDRESS_TEXT]);
