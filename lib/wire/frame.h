/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The Weft frame (docs/reference/wire-format.md): Ethernet with EtherType 0x88B5, a fixed header of
 * 32 bytes at offset 14, the route (0..64 bytes), the payload. Big-endian. This header is the only
 * place in the C code that knows the layout; the Wireshark dissector and the fuzz target follow it.
 *
 * Parsing trusts nothing: every function that reads a frame states which checks must have passed.
 * No state, no allocation; any thread may call anything here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crc.h"

#define FRAME_ETHERTYPE     0x88B5 /* IEEE 802 local experimental 1 */
#define FRAME_VERSION       3      /* second edition: 64 route elements, ports above 63 */
#define FRAME_HEADER_OFFSET 14     /* after the Ethernet header */
#define FRAME_HEADER_BYTES  46     /* Ethernet and Weft fixed header */
#define FRAME_ROUTE_MAX     64     /* route elements of one byte, as in Myrinet/GM */
#define FRAME_ROUTE_USUAL   32     /* longer ones are rare; frame_longest() assumes this */
#define FRAME_LATENCY_BYTES 40     /* the latency extension (latency.h) */
#define FRAME_PAYLOAD_MAX   9000
#define FRAME_BYTES_MIN     60 /* Ethernet without FCS; shorter frames are padded */
#define FRAME_BYTES_MAX                                                                   \
	(FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES + FRAME_PAYLOAD_MAX + \
		FRAME_DATA_TAG_BYTES)
#define FRAME_DATA_TAG_BYTES 8  /* after the payload of data, if the fabric has tags */
#define FRAME_BLOCK_BYTES    64 /* unit of flow control, as InfiniBand's credits */
#define FRAME_VCS_MAX        16
#define FRAME_HOST_NONE      0xFFFF
#define FRAME_HOSTS_MAX      65534 /* in a network of frames; the virtual clock has no such limit */
#define FRAME_FABRIC_NONE    0     /* number of a fabric that has no name */

enum frame_kind {
	FRAME_DATA = 1,
	FRAME_CREDIT = 2, /* link-local: totals and limits per VC */
	FRAME_ARN = 3,    /* link-local: adaptive-routing notification */
	FRAME_ACK = 4,    /* end to end: cumulative acknowledgement or retransmission request */
	FRAME_CN = 5,     /* congestion notification (BECN) to a source */
	FRAME_HELLO = 6,  /* link-local: identity and liveness */
	FRAME_SCOUT = 7,  /* mapper: discovery */
	FRAME_MAPPER = 8, /* mapper: tables, commits, election */
	FRAME_FLOW = 9,   /* end to end: request and answer about where a flow starts */
	FRAME_CLOCK = 10, /* end to end: request and answer that compare two clocks */
	FRAME_KIND_COUNT
};

/* Flags (one byte on the wire). */
#define FRAME_F_ADAPTED  0x01 /* has left its deterministic route (AFI) */
#define FRAME_F_FECN     0x02
#define FRAME_F_BECN     0x04
#define FRAME_F_TAIL     0x08 /* last frame of its message */
#define FRAME_F_LATENCY  0x10 /* data: a latency extension follows the route (latency.h) */
#define FRAME_F_END_MARK 0x20 /* message was complete when the frame was sent (ITB cut-through) */

/* Route elements. */
#define ROUTE_PORT_BIT  0x80 /* 1: leave the switch through a port; 0: for an interface */
#define ROUTE_PORT_MASK 0x3F
#define ROUTE_ADAPTIVE  0x40 /* a switch may replace this hop */
#define ROUTE_TYPE_HOST 0x01 /* interface element: deliver here */
#define ROUTE_TYPE_ITB \
	0x02 /* interface element: in transit; re-inject with the following elements */
/* In scout and mapper frames: for the device that it reaches, switch or interface, not its
 * neighbours. */
#define ROUTE_TYPE_AGENT 0x03
/* For the switch: the next element begins a step of a multi-step path. It stands between two ports,
 * at most ROUTE_STEPS_MAX times in a route. */
#define ROUTE_TYPE_STEP 0x04
#define ROUTE_STEPS_MAX 2
/* For the switch, | 1 to 15: the first element of a route, before a port. The layer of VCs in which
 * the packet travels; without it, layer 0. */
#define ROUTE_TYPE_LAYER 0x10
#define ROUTE_LAYER_MASK 0x0F
/* For the switch, | 1 to 3: before a port, whose number is 64, 128 or 192 higher. */
#define ROUTE_TYPE_HIGH 0x08
#define ROUTE_HIGH_MASK 0x03

/* The fixed header in the frame, from offset 14 on. All fields are big-endian. */
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
	uint32_t injected_ns_be; /* sender's clock when the header left, modulo 2^32 ns */
	/* Switches change only these bytes; they are adjacent, so the CRC is updated, not
	 * recomputed. */
	uint8_t vc;          /* VC in which the next device stores the frame */
	uint8_t vc_original; /* VC that the queuing scheme chose; kept while in the AFC */
	uint8_t cursor;      /* index of the next route element */
	uint8_t flags;       /* FRAME_F_* */
	uint16_t crc_be;     /* CRC-16 over route and header */
} __attribute__((packed));

_Static_assert(sizeof(struct frame_header) == 32, "the fixed header is four words");
_Static_assert(offsetof(struct frame_header, vc) == 26, "mutable bytes 40..43 of the frame");

/* Reasons to refuse a frame; the names are counters (weft lab status, telemetry). */
/* clang-format off: it formats this list differently each time. */
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
	X(PAYLOAD_CRC, "payload_crc")   \
	X(FABRIC, "fabric")
/* clang-format on */

enum frame_fault {
#define X(name, text) FRAME_FAULT_##name,
	FRAME_FAULTS(X)
#undef X
		FRAME_FAULT_COUNT
};

/* The counter name of a fault in the metrics: "short", "header_crc", … */
const char *frame_fault_name(enum frame_fault fault);

/* A source route from host to host: ports, in-transit marks, next steps and a layer, at most
 * FRAME_ROUTE_MAX elements, of which ROUTE_TYPE_HOST is the last. */
bool frame_is_host_route(const uint8_t *element, unsigned length);

static inline bool route_is_high(uint8_t element)
{
	return (element & ~ROUTE_HIGH_MASK) == ROUTE_TYPE_HIGH && element != ROUTE_TYPE_HIGH;
}

static inline bool route_is_layer(uint8_t element)
{
	return (element & ~ROUTE_LAYER_MASK) == ROUTE_TYPE_LAYER && element != ROUTE_TYPE_LAYER;
}

/* The port of the element at '*at'. Skips a high prefix: '*at' moves to the port element. Requires
 * that frame_steps_ok() was true. */
static inline unsigned route_port(const uint8_t *route, unsigned *at)
{
	unsigned high = 0;

	if (route_is_high(route[*at]))
		high = 64u * (route[(*at)++] & ROUTE_HIGH_MASK);
	return high + (route[*at] & ROUTE_PORT_MASK);
}

/* Writes the elements of a port, one or two; returns their number. */
static inline unsigned route_put_port(uint8_t *route, unsigned port)
{
	unsigned high = port / 64 > 0;

	if (high)
		route[0] = (uint8_t)(ROUTE_TYPE_HIGH | port / 64);
	route[high] = (uint8_t)(ROUTE_PORT_BIT | port % 64);
	return 1 + high;
}

/* Whether every ROUTE_TYPE_STEP of a route is between two ports, there are not too many, a layer is
 * the first element, and a port follows it and each high prefix. */
bool frame_steps_ok(const uint8_t *element, unsigned length);

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

/* The frame has a latency extension. The flag means nothing in other kinds than data. */
static inline bool frame_has_latency(const struct frame_header *header)
{
	return (header->flags & FRAME_F_LATENCY) != 0 && header->kind == FRAME_DATA;
}

/* Offset of the payload in the frame, behind route and latency extension. */
static inline unsigned frame_payload_offset(const struct frame_header *header)
{
	return FRAME_HEADER_BYTES + header->route_length +
	       (frame_has_latency(header) ? FRAME_LATENCY_BYTES : 0);
}

/* Bytes from the start of the frame to the end of its payload. */
unsigned frame_payload_end(const uint8_t *frame);

/* Switches on a source route: each has an element with a port. */
static inline unsigned route_switches(const uint8_t *route, unsigned length)
{
	unsigned switches = 0;

	for (unsigned i = 0; i < length; i++)
		switches += (route[i] & ROUTE_PORT_BIT) != 0;
	return switches;
}

/* Frames of a message of 'message_bytes' bytes; an empty message takes one. */
static inline uint32_t frame_count(uint32_t message_bytes, uint32_t payload_max)
{
	return message_bytes == 0 ? 1 : (message_bytes - 1) / payload_max + 1;
}

/* Flow-control blocks of a frame of this length. */
static inline unsigned frame_blocks(unsigned frame_bytes)
{
	return (frame_bytes + FRAME_BLOCK_BYTES - 1) / FRAME_BLOCK_BYTES;
}

/* Bytes on the wire that precede, follow and separate frames: preamble 8, FCS 4, gap 12. Pacing
 * counts them, so that a link of 10 Gbps carries as much as a 10 Gbps Ethernet. */
#define FRAME_WIRE_OVERHEAD 24

/* Checks everything that does not depend on the device (inline form in frame_check.h): length,
 * EtherType, version, kind, route length, cursor, VC and SL range, payload length against the
 * frame, header CRC. The frame may be longer than its header says (Ethernet padding). Never reads
 * past 'bytes'. */
enum frame_fault frame_check(const uint8_t *frame, size_t bytes);

/* Number of the fabric that the frame belongs to: the end of its source address. 'frame' has a
 * whole header. */
static inline uint16_t frame_fabric(const uint8_t *frame)
{
	return (uint16_t)(frame[10] << 8 | frame[11]);
}

/* The same, except for the quick form of data: FRAME_FAULT_FABRIC for a frame that is good in
 * another fabric only. */
enum frame_fault frame_find_fault_in(const uint8_t *frame, size_t bytes, uint16_t fabric);

/* The identity of a port's plain data: eight bytes of the frame in memory order, from
 * FRAME_IDENTITY_AT on: fabric number, EtherType, version, kind and source. One comparison checks
 * them all. */
#define FRAME_IDENTITY_AT 10
struct frame_identity {
	uint64_t wanted, mask;
};

/* Data of this fabric, from any source. */
struct frame_identity frame_identity_of(uint16_t fabric);
/* Data of this fabric whose source is this host. */
struct frame_identity frame_identity_of_host(uint16_t fabric, uint16_t host);

/* Checks the CRC-32C of the payload against the header; frame_check() has passed. */
bool frame_payload_ok(const uint8_t *frame);

/* The fields of a frame that the sender chooses. */
struct frame_fields {
	enum frame_kind kind;
	uint16_t fabric; /* FRAME_FABRIC_NONE: none */
	uint16_t source, destination;
	uint8_t sl, vc, vc_original, flags;
	uint32_t message, sequence;
	uint32_t injected_ns;
	const uint8_t *route; /* route_length elements; NULL when 0 */
	uint8_t route_length;
	uint16_t payload_bytes;
};

/* Writes Ethernet header, fixed header, route and both CRCs at 'frame'. Only the fabric number in
 * the addresses counts: the sending port writes its own. The payload must already be at
 * FRAME_HEADER_BYTES + route_length, or FRAME_LATENCY_BYTES after that if 'flags' include a latency
 * extension. Pads to FRAME_BYTES_MIN with zero bytes. 'frame' has room for all of it. Returns the
 * frame length in bytes. */
unsigned frame_build(uint8_t *frame, const struct frame_fields *fields);

/* Computes the header CRC, host order; the length checks of frame_check() have passed. */
uint16_t frame_header_crc(const uint8_t *frame);

/* Positions of the mutable bytes in their word as the host reads it from memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MUTABLE_SHIFT(byte) (8 * (byte))
#else
#define MUTABLE_SHIFT(byte) (24 - 8 * (byte))
#endif
#define MUTABLE_VC(vc)       ((uint32_t)(vc) << MUTABLE_SHIFT(0))
#define MUTABLE_ORIGINAL(vc) ((uint32_t)(vc) << MUTABLE_SHIFT(1))
#define MUTABLE_CURSOR(n)    ((uint32_t)(n) << MUTABLE_SHIFT(2))
#define MUTABLE_FLAGS(flags) ((uint32_t)(flags) << MUTABLE_SHIFT(3))

/* Changes the four mutable bytes (vc, vc_original, cursor, flags in memory order, one 32-bit word)
 * and updates the CRC by the difference. The CRC is never recomputed, so that corruption inside a
 * switch stays visible at the next device. 'old' is the frame's current word. */
static inline void frame_change_mutable(uint8_t *frame, uint32_t old, uint32_t mutable_word)
{
	uint8_t *at = frame + FRAME_HEADER_OFFSET + offsetof(struct frame_header, vc);
	uint32_t difference = old ^ mutable_word;
	uint16_t crc;

	if (difference == 0)
		return;
	memcpy(&crc, at + 4, sizeof(crc));
	/* Usually only the cursor changes. */
	if (__builtin_expect((difference & ~MUTABLE_CURSOR(0xFF)) == 0, 1))
		crc ^= crc_header_delta_table[2][difference >> MUTABLE_SHIFT(2)];
	else
		crc ^= crc_header_delta(difference);
	memcpy(at, &mutable_word, sizeof(mutable_word));
	memcpy(at + 4, &crc, sizeof(crc));
}

/* The same for a caller that does not know the frame's current word. */
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

/* Ethernet address of a port: 02 for a switch, 12 for a host; device number (2 bytes), port, fabric
 * number. 'device' is the identity in hellos; a device outside a lab (a single switch) has 22 and a
 * hash. Locally administered. */
void frame_port_address(uint64_t device, uint8_t port, uint16_t fabric, uint8_t mac[6]);

/* The group address of the ports of a fabric: "WEFT" and its number. Hellos go to it until the
 * neighbour is known. */
void frame_group_address(uint16_t fabric, uint8_t mac[6]);

/* Identity of host 0 in hellos; host n has this plus n. Switch n of a lab has n + 1. */
#define FRAME_HOST_DEVICE (1ull << 32)

/* Ethernet address of an emulated host towards the kernel: 02:57:46:54 and the host's id. */
void frame_host_mac(uint16_t host, uint8_t mac[6]);

/* mbuf data size, shared by mbufs and memif slots: the driver takes a faster path only if these
 * agree. */

/* Space for VLAN tags that a virtual device leaves in a frame, and for the rest of a long
 * route. */
#define FRAME_ROOM_SPARE 64
_Static_assert(FRAME_ROOM_SPARE >= FRAME_ROUTE_MAX - FRAME_ROUTE_USUAL + 8, "two tags");

/* The longest frame with a usual route from the Ethernet header on, for a payload of 'mtu_bytes'.
 * A NIC must pass it; links in memory pass frame_room(). */
static inline uint32_t frame_longest(uint32_t mtu_bytes)
{
	return FRAME_HEADER_BYTES + FRAME_ROUTE_USUAL + mtu_bytes;
}

static inline uint32_t frame_room(uint32_t mtu_bytes)
{
	return frame_longest(mtu_bytes) + FRAME_ROOM_SPARE;
}

/* The header in front of the IP packet in a message that carries a TCP segment longer than the
 * connection's segment size. The sending kernel leaves segmentation and the TCP checksum
 * to the interface, and the receiving one accepts the segment as it is: the fabric splits and
 * protects every message itself. Other packets of TAPs have no header. */

#define SEGMENT_MARK  0x51 /* not an IP version, a synthetic (0) or an endpoint's message (0xE1) */
#define SEGMENT_BYTES 4    /* mark, offset of TCP in words of 4 bytes, segment size (16 bits) */

/* Length of the header at the start of a message; 0: none. */
static inline uint32_t segment_header(const uint8_t *message, uint32_t bytes)
{
	return bytes >= SEGMENT_BYTES && message[0] == SEGMENT_MARK ? SEGMENT_BYTES : 0;
}
