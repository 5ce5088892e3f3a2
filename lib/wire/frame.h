/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The Weft frame (docs/wire-format.md): Ethernet with EtherType 0x88B5, one fixed header of 32
 * bytes at offset 14, the route (0..32 bytes), the payload. Big-endian. This header is the only
 * place in the C code that knows the layout; the Wireshark dissector and the fuzz target follow it.
 *
 * Parsing trusts nothing: every function that reads a frame says what it has checked before. No
 * state, no allocation; any thread may call anything here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crc.h"

#define FRAME_ETHERTYPE     0x88B5 /* IEEE 802 local experimental 1 */
#define FRAME_VERSION       1
#define FRAME_HEADER_OFFSET 14 /* after the Ethernet header */
#define FRAME_HEADER_BYTES  46 /* Ethernet and Weft fixed header */
#define FRAME_ROUTE_MAX     32 /* route elements of one byte, as in Myrinet/GM */
#define FRAME_PAYLOAD_MAX   9000
#define FRAME_BYTES_MIN     60 /* Ethernet without FCS; shorter frames are padded */
#define FRAME_BYTES_MAX     (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_PAYLOAD_MAX)
#define FRAME_BLOCK_BYTES   64 /* unit of flow control, as InfiniBand's credits */
#define FRAME_VCS_MAX       16
#define FRAME_HOST_NONE     0xFFFF

enum frame_kind {
	FRAME_DATA = 1,
	FRAME_CREDIT = 2, /* link-local: totals and limits per VC */
	FRAME_ARN = 3,    /* link-local: adaptive-routing notification */
	FRAME_ACK = 4,    /* end to end: cumulative acknowledgement, or a request to send again */
	FRAME_CN = 5,     /* congestion notification (BECN) to a source */
	FRAME_HELLO = 6,  /* link-local: identity and liveness */
	FRAME_SCOUT = 7,  /* mapper: discovery */
	FRAME_MAPPER = 8, /* mapper: tables, commits, election */
	FRAME_KIND_COUNT
};

/* Flags (one byte on the wire). */
#define FRAME_F_ADAPTED  0x01 /* has left its deterministic way (AFI) */
#define FRAME_F_FECN     0x02
#define FRAME_F_BECN     0x04
#define FRAME_F_TAIL     0x08 /* last frame of its message */
#define FRAME_F_LATENCY  0x10 /* a latency-recording extension follows the route */
#define FRAME_F_END_MARK 0x20 /* message complete when it was sent (ITB cut-through) */

/* Route elements. */
#define ROUTE_PORT_BIT  0x80 /* 1: leave the switch by a port; 0: for an interface */
#define ROUTE_PORT_MASK 0x3F
#define ROUTE_ADAPTIVE  0x40 /* a switch may replace this hop */
#define ROUTE_TYPE_HOST 0x01 /* interface element: deliver here */
#define ROUTE_TYPE_ITB  0x02 /* interface element: in transit, re-inject with what follows */
/* Of scout and mapper frames: for whoever it reaches, switch or interface, not for its neighbours.
 */
#define ROUTE_TYPE_AGENT 0x03

/* The fixed header as it lies in the frame, from offset 14 on. All fields big-endian. */
struct frame_header {
	uint8_t version;
	uint8_t kind; /* enum frame_kind */
	uint16_t source_be;
	uint16_t destination_be;
	uint16_t payload_bytes_be;
	uint8_t route_length;    /* elements */
	uint8_t sl;              /* service level, 0..15 */
	uint32_t message_be;     /* message sequence number of (source, destination) */
	uint32_t sequence_be;    /* frame sequence number of (source, destination) */
	uint32_t payload_crc_be; /* CRC-32C of the payload, end to end */
	uint32_t injected_ns_be; /* sender's clock when the header left it, modulo 2^32 ns */
	/* What switches change lies together, last, so that its CRC is updated and not remade. */
	uint8_t vc;          /* VC in which the next device stores the frame */
	uint8_t vc_original; /* VC that the queuing scheme gave it; kept while in the AFC */
	uint8_t cursor;      /* next route element to be used */
	uint8_t flags;       /* FRAME_F_* */
	uint16_t crc_be;     /* CRC-16 over route and header */
} __attribute__((packed));

_Static_assert(sizeof(struct frame_header) == 32, "the fixed header is four words");
_Static_assert(offsetof(struct frame_header, vc) == 26, "mutable bytes 40..43 of the frame");

/* Why a frame was refused; the names are counters (weft lab status, telemetry). */
/* clang-format off: it cannot make up its mind about this list. */
#define FRAME_FAULTS(X)                 \
	X(OK, "ok")                     \
	X(SHORT, "short")               \
	X(ETHERTYPE, "ethertype")       \
	X(VERSION, "version")           \
	X(KIND, "kind")                 \
	X(ROUTE_LENGTH, "route_length") \
	X(CURSOR, "cursor")             \
	X(VC, "vc")                     \
	X(SL, "sl")                     \
	X(LENGTH, "length")             \
	X(HEADER_CRC, "header_crc")     \
	X(PAYLOAD_CRC, "payload_crc")
/* clang-format on */

enum frame_fault {
#define X(name, text) FRAME_FAULT_##name,
	FRAME_FAULTS(X)
#undef X
		FRAME_FAULT_COUNT
};

/* The counter's name of a fault, as the metrics have it: "short", "header_crc", … */
const char *frame_fault_name(enum frame_fault fault);
/* "data", "credit", …; "unknown" for anything else. */
const char *frame_kind_name(unsigned kind);

/* A source route from a host to a host: ports and in-transit marks, at most FRAME_ROUTE_MAX with
 * the element ROUTE_TYPE_HOST, which is the last. */
bool frame_is_host_route(const uint8_t *element, unsigned length);

static inline struct frame_header *frame_header(uint8_t *frame)
{
	return (struct frame_header *)(void *)(frame + FRAME_HEADER_OFFSET);
}

static inline const struct frame_header *frame_header_const(const uint8_t *frame)
{
	return (const struct frame_header *)(const void *)(frame + FRAME_HEADER_OFFSET);
}

static inline uint8_t *frame_route(uint8_t *frame)
{
	return frame + FRAME_HEADER_BYTES;
}

/* Offset of the payload in the frame. A latency extension, when flagged, is part of it here. */
static inline unsigned frame_payload_offset(const struct frame_header *header)
{
	return FRAME_HEADER_BYTES + header->route_length;
}

/* Frames of a message of so many bytes; one without any takes one, too. */
static inline uint32_t frame_count(uint32_t message_bytes, uint32_t payload_max)
{
	return message_bytes == 0 ? 1 : (message_bytes - 1) / payload_max + 1;
}

/* Blocks of flow control that a frame of this length takes. */
static inline unsigned frame_blocks(unsigned frame_bytes)
{
	return (frame_bytes + FRAME_BLOCK_BYTES - 1) / FRAME_BLOCK_BYTES;
}

/* Bytes on the wire that precede, follow and separate frames: preamble 8, FCS 4, gap 12. Pacing
 * counts them, so that a link of 10 Gbps carries what a 10 Gbps Ethernet carries. */
#define FRAME_WIRE_OVERHEAD 24

/* Checks all that can be checked without knowing the device (frame_check.h has it inline): length,
 * EtherType, version, kind, route length, cursor, VC and SL range, payload length against the
 * frame, header CRC. The frame may be longer than its header says (Ethernet padding). Never reads
 * past 'bytes'. */
enum frame_fault frame_check(const uint8_t *frame, size_t bytes);

/* CRC-32C of the payload against the header; frame_check() has passed. */
bool frame_payload_ok(const uint8_t *frame);

/* What a sender has to say about a frame. */
struct frame_fields {
	enum frame_kind kind;
	uint16_t source, destination;
	uint8_t sl, vc, vc_original, flags;
	uint32_t message, sequence;
	uint32_t injected_ns;
	const uint8_t *route; /* route_length elements; NULL when 0 */
	uint8_t route_length;
	uint16_t payload_bytes;
};

/* Writes Ethernet header, fixed header and route at 'frame', with payload_crc as given by the
 * payload that already lies at its place (FRAME_HEADER_BYTES + route_length), and the header CRC.
 * Pads to FRAME_BYTES_MIN with zero bytes. 'frame' has room for all of it. Returns the frame's
 * length in bytes. */
unsigned frame_build(uint8_t *frame, const struct frame_fields *fields);

/* The header CRC as it should be, host order; frame_check()'s lengths have been checked. */
uint16_t frame_header_crc(const uint8_t *frame);

/* Places of the mutable bytes in their word as the host reads it from memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MUTABLE_SHIFT(byte) (8 * (byte))
#else
#define MUTABLE_SHIFT(byte) (24 - 8 * (byte))
#endif
#define MUTABLE_VC(vc)       ((uint32_t)(vc) << MUTABLE_SHIFT(0))
#define MUTABLE_ORIGINAL(vc) ((uint32_t)(vc) << MUTABLE_SHIFT(1))
#define MUTABLE_CURSOR(n)    ((uint32_t)(n) << MUTABLE_SHIFT(2))
#define MUTABLE_FLAGS(flags) ((uint32_t)(flags) << MUTABLE_SHIFT(3))

/* Changes the four mutable bytes (vc, vc_original, cursor, flags as they lie in memory, in one
 * 32-bit word) and the CRC with them. The CRC is updated by the difference and never recomputed:
 * damage done inside a switch stays visible at the next device. 'old' is what the frame has now. */
static inline void frame_change_mutable(uint8_t *frame, uint32_t old, uint32_t mutable_word)
{
	uint8_t *at = frame + FRAME_HEADER_OFFSET + offsetof(struct frame_header, vc);
	uint32_t difference = old ^ mutable_word;
	uint16_t crc;

	if (difference == 0)
		return;
	memcpy(&crc, at + 4, sizeof(crc));
	/* Nearly always it is the cursor alone. */
	if (__builtin_expect((difference & ~MUTABLE_CURSOR(0xFF)) == 0, 1))
		crc ^= crc_header_delta_table[2][difference >> MUTABLE_SHIFT(2)];
	else
		crc ^= crc_header_delta(difference);
	memcpy(at, &mutable_word, sizeof(mutable_word));
	memcpy(at + 4, &crc, sizeof(crc));
}

/* The same for a caller that does not know what the frame has now. */
static inline void frame_update_mutable(uint8_t *frame, uint32_t mutable_word)
{
	uint32_t old;

	memcpy(&old, frame + FRAME_HEADER_OFFSET + offsetof(struct frame_header, vc), sizeof(old));
	frame_change_mutable(frame, old, mutable_word);
}

static inline uint32_t frame_mutable_word(
	uint8_t vc, uint8_t vc_original, uint8_t cursor, uint8_t flags)
{
	return MUTABLE_VC(vc) | MUTABLE_ORIGINAL(vc_original) | MUTABLE_CURSOR(cursor) |
	       MUTABLE_FLAGS(flags);
}

/* Ethernet addresses of emulated hosts: locally administered, 02:57:46:54 and the host's id. */
void frame_host_mac(uint16_t host, uint8_t mac[6]);
