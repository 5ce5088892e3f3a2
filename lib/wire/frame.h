/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The Weft frame (docs/reference/wire-format.md): Ethernet with EtherType 0x88B5, a fixed header of
 * 32 bytes at offset 14, the route (0..64 bytes), and the payload. Big-endian. Only this header
 * defines the layout in C; the Wireshark dissector and the fuzz target must match it.
 *
 * Parsing does not trust any byte: every function that reads a frame states which checks must have
 * passed. There is no state and no allocation, so any thread may call any function here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crc.h"

#define FRAME_ETHERTYPE     0x88B5 /* IEEE 802 local experimental 1 */
#define FRAME_VERSION       3      /* second edition: 64 route elements, ports above 63 */
#define FRAME_HEADER_OFFSET 14     /* length of the Ethernet header */
#define FRAME_HEADER_BYTES  46     /* Ethernet header and fixed header */
#define FRAME_ROUTE_MAX     64     /* route elements of one byte each, as in Myrinet/GM */
#define FRAME_ROUTE_USUAL   32     /* longer routes are rare; frame_longest() assumes this */
#define FRAME_LATENCY_BYTES 40     /* the latency extension (latency.h) */
#define FRAME_PAYLOAD_MAX   9000
#define FRAME_BYTES_MIN     60 /* Ethernet without FCS; shorter frames are padded */
#define FRAME_BYTES_MAX                                                                   \
	(FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES + FRAME_PAYLOAD_MAX + \
		FRAME_DATA_TAG_BYTES)
#define FRAME_DATA_TAG_BYTES 8  /* follows the payload of data frames in fabrics with tags */
#define FRAME_BLOCK_BYTES    64 /* unit of flow control, as for InfiniBand's credits */
#define FRAME_VCS_MAX        16
#define FRAME_HOST_NONE      0xFFFF
#define FRAME_HOSTS_MAX      65534 /* in a network of frames; does not apply to the virtual clock */
#define FRAME_FABRIC_NONE    0     /* fabric number of a fabric without a name */

enum frame_kind {
	FRAME_DATA = 1,
	FRAME_CREDIT = 2, /* link-local: totals and limits per VC */
	FRAME_ARN = 3,    /* link-local: adaptive-routing notification */
	FRAME_ACK = 4,    /* end to end: cumulative acknowledgement or retransmission request */
	FRAME_CN = 5,     /* congestion notification (BECN) to a source */
	FRAME_HELLO = 6,  /* link-local: identity and liveness */
	FRAME_SCOUT = 7,  /* mapper: discovery */
	FRAME_MAPPER = 8, /* mapper: tables, commits, election */
	FRAME_FLOW = 9,   /* end to end: request or offer of the start of a flow */
	FRAME_CLOCK = 10, /* end to end: request or answer that compares two clocks */
	FRAME_KIND_COUNT
};

/* Flags (one byte on the wire). */
#define FRAME_F_ADAPTED  0x01 /* the packet has left its deterministic route (AFI) */
#define FRAME_F_FECN     0x02
#define FRAME_F_BECN     0x04
#define FRAME_F_TAIL     0x08 /* last frame of its message */
#define FRAME_F_LATENCY  0x10 /* data only: a latency extension follows the route (latency.h) */
#define FRAME_F_END_MARK 0x20 /* message complete when the frame was sent (ITB cut-through) */

/* Route elements. */
#define ROUTE_PORT_BIT  0x80 /* 1: output port of a switch; 0: element for an interface */
#define ROUTE_PORT_MASK 0x3F
#define ROUTE_ADAPTIVE  0x40 /* a switch may choose a different port */
#define ROUTE_TYPE_HOST 0x01 /* interface element: deliver the packet */
#define ROUTE_TYPE_ITB \
	0x02 /* interface element: in transit; re-inject along the following elements */
/* In scout and mapper frames: addressed to the device (switch or interface) that it reaches. */
#define ROUTE_TYPE_AGENT 0x03
/* For a switch: the next element begins a step of a multi-step path. The element must be between
 * two ports and occurs at most ROUTE_STEPS_MAX times in a route. */
#define ROUTE_TYPE_STEP 0x04
#define ROUTE_STEPS_MAX 2
/* For a switch, | 1 to 15: the layer of VCs in which the packet travels; layer 0 if absent. Only
 * allowed as the first element of a route, before a port. */
#define ROUTE_TYPE_LAYER 0x10
#define ROUTE_LAYER_MASK 0x0F
/* For a switch, | 1 to 3: the port in the next element is 64, 128 or 192 higher. */
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
	uint32_t message_be;     /* message number within (source, destination) */
	uint32_t sequence_be;    /* frame sequence number within (source, destination) */
	uint32_t payload_crc_be; /* CRC-32C of the payload, end to end */
	uint32_t injected_ns_be; /* sender's clock when the header was sent, modulo 2^32 ns */
	/* Switches change only the following bytes. They are adjacent, so the CRC can be updated
	 * instead of recomputed. */
	uint8_t vc;          /* VC in which the next device will store the frame */
	uint8_t vc_original; /* VC that the queuing scheme chose; preserved while the packet is in
				the AFC */
	uint8_t cursor;      /* index of the next route element */
	uint8_t flags;       /* FRAME_F_* */
	uint16_t crc_be;     /* CRC-16 of route and fixed header */
} __attribute__((packed));

_Static_assert(sizeof(struct frame_header) == 32, "the fixed header is four words");
_Static_assert(offsetof(struct frame_header, vc) == 26, "mutable bytes 40..43 of the frame");

/* Reasons for refusing a frame. The names are also counters (weft lab status, telemetry). */
/* clang-format off: its result for this list is not stable. */
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

/* Returns the counter name of a fault in the metrics: "short", "header_crc", … */
const char *frame_fault_name(enum frame_fault fault);

/* Returns true for a source route from host to host: ports, in-transit elements, step elements and
 * a layer, at most FRAME_ROUTE_MAX elements, with ROUTE_TYPE_HOST only at the end. */
bool frame_is_host_route(const uint8_t *element, unsigned length);

static inline bool route_is_high(uint8_t element)
{
	return (element & ~ROUTE_HIGH_MASK) == ROUTE_TYPE_HIGH && element != ROUTE_TYPE_HIGH;
}

static inline bool route_is_layer(uint8_t element)
{
	return (element & ~ROUTE_LAYER_MASK) == ROUTE_TYPE_LAYER && element != ROUTE_TYPE_LAYER;
}

/* Returns the port of the element at '*at'. If that element is a high prefix, advances '*at' to the
 * port element. Call only if frame_steps_ok() returned true. */
static inline unsigned route_port(const uint8_t *route, unsigned *at)
{
	unsigned high = 0;

	if (route_is_high(route[*at]))
		high = 64u * (route[(*at)++] & ROUTE_HIGH_MASK);
	return high + (route[*at] & ROUTE_PORT_MASK);
}

/* Writes the one or two elements of a port and returns how many. */
static inline unsigned route_put_port(uint8_t *route, unsigned port)
{
	unsigned high = port / 64 > 0;

	if (high)
		route[0] = (uint8_t)(ROUTE_TYPE_HIGH | port / 64);
	route[high] = (uint8_t)(ROUTE_PORT_BIT | port % 64);
	return 1 + high;
}

/* Checks the order of the elements: every ROUTE_TYPE_STEP is between two ports, with at most
 * ROUTE_STEPS_MAX in the route. A layer is the first element. A port follows the layer and each
 * high prefix. */
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

/* Returns true if the frame has a latency extension. The flag is ignored in frames other than data.
 */
static inline bool frame_has_latency(const struct frame_header *header)
{
	return (header->flags & FRAME_F_LATENCY) != 0 && header->kind == FRAME_DATA;
}

/* Returns the offset of the payload, which follows route and latency extension. */
static inline unsigned frame_payload_offset(const struct frame_header *header)
{
	return FRAME_HEADER_BYTES + header->route_length +
	       (frame_has_latency(header) ? FRAME_LATENCY_BYTES : 0);
}

unsigned frame_payload_end(const uint8_t *frame);

/* Returns the number of switches on a source route: each has one element with a port. */
static inline unsigned route_switches(const uint8_t *route, unsigned length)
{
	unsigned switches = 0;

	for (unsigned i = 0; i < length; i++)
		switches += (route[i] & ROUTE_PORT_BIT) != 0;
	return switches;
}

/* Returns the number of frames of a message of 'message_bytes' bytes. An empty message takes one
 * frame. */
static inline uint32_t frame_count(uint32_t message_bytes, uint32_t payload_max)
{
	return message_bytes == 0 ? 1 : (message_bytes - 1) / payload_max + 1;
}

static inline unsigned frame_blocks(unsigned frame_bytes)
{
	return (frame_bytes + FRAME_BLOCK_BYTES - 1) / FRAME_BLOCK_BYTES;
}

/* Bytes on the wire that precede, follow and separate frames: preamble 8, FCS 4, gap 12, all
 * counted by pacing. A 10 Gbps link therefore carries as much as 10 Gbps Ethernet. */
#define FRAME_WIRE_OVERHEAD 24

/* Checks everything that does not depend on the device: length, EtherType, version, kind, route
 * length, cursor, VC and SL ranges, payload length and header CRC (inline form in frame_check.h).
 * The frame may be longer than its header states (Ethernet padding). Never reads past 'bytes'. */
enum frame_fault frame_check(const uint8_t *frame, size_t bytes);

/* Returns the fabric number of a frame, the last two bytes of its source address. 'frame' must hold
 * a complete header. */
static inline uint16_t frame_fabric(const uint8_t *frame)
{
	return (uint16_t)(frame[10] << 8 | frame[11]);
}

/* Like frame_find_fault(), but returns FRAME_FAULT_FABRIC for a valid frame of another fabric. */
enum frame_fault frame_find_fault_in(const uint8_t *frame, size_t bytes, uint16_t fabric);

/* Identity of the data frames that a port accepts: the eight bytes at FRAME_IDENTITY_AT in memory
 * order. One comparison checks fabric number, EtherType, version, kind and source. */
#define FRAME_IDENTITY_AT 10
struct frame_identity {
	uint64_t wanted, mask;
};

/* Returns the identity of data in this fabric from any source. */
struct frame_identity frame_identity_of(uint16_t fabric);
/* Returns the identity of data in this fabric from this host. */
struct frame_identity frame_identity_of_host(uint16_t fabric, uint16_t host);

/* Checks the payload's CRC-32C against the header of a frame that has passed frame_check(). */
bool frame_payload_ok(const uint8_t *frame);

/* The fields of a frame that the sender chooses. */
struct frame_fields {
	enum frame_kind kind;
	uint16_t fabric; /* FRAME_FABRIC_NONE for a fabric without a name */
	uint16_t source, destination;
	uint8_t sl, vc, vc_original, flags;
	uint32_t message, sequence;
	uint32_t injected_ns;
	const uint8_t *route; /* route_length elements; may be NULL if that is 0 */
	uint8_t route_length;
	uint16_t payload_bytes;
};

/* Writes Ethernet header, fixed header, route and both CRCs at 'frame'. In the Ethernet addresses
 * only the fabric number matters, because the sending port writes its own addresses. The payload
 * must already be at FRAME_HEADER_BYTES + route_length, or FRAME_LATENCY_BYTES after that if
 * 'flags' include a latency extension. Pads with zeros to FRAME_BYTES_MIN. 'frame' must have room
 * for all of this. Returns the frame length in bytes. */
unsigned frame_build(uint8_t *frame, const struct frame_fields *fields);

/* Computes the header CRC in host byte order. The frame must have passed the length checks of
 * frame_check(). */
uint16_t frame_header_crc(const uint8_t *frame);

/* Shifts of the mutable bytes in their word, as the host loads it from memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MUTABLE_SHIFT(byte) (8 * (byte))
#else
#define MUTABLE_SHIFT(byte) (24 - 8 * (byte))
#endif
#define MUTABLE_VC(vc)       ((uint32_t)(vc) << MUTABLE_SHIFT(0))
#define MUTABLE_ORIGINAL(vc) ((uint32_t)(vc) << MUTABLE_SHIFT(1))
#define MUTABLE_CURSOR(n)    ((uint32_t)(n) << MUTABLE_SHIFT(2))
#define MUTABLE_FLAGS(flags) ((uint32_t)(flags) << MUTABLE_SHIFT(3))

/* Replaces the four mutable bytes (vc, vc_original, cursor and flags, in memory order, as one
 * 32-bit word) and updates the CRC by the difference. The CRC is never recomputed, so the next
 * device still detects corruption inside a switch. 'old' is the frame's current word. */
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

/* Same as frame_change_mutable(), but reads the current word from the frame. */
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

/* Writes the Ethernet address of a port, which is locally administered: 02 for a switch, 12 for a
 * host; device number (2 bytes), port, fabric number. 'device' is the identity in hellos. A device
 * outside a lab (a single switch) has 22 and a hash. */
void frame_port_address(uint64_t device, uint8_t port, uint16_t fabric, uint8_t mac[6]);

/* Writes the group address of a fabric's ports: "WEFT" and the fabric number. Hellos are sent to it
 * until the neighbour is known. */
void frame_group_address(uint16_t fabric, uint8_t mac[6]);

/* Identity of host 0 in hellos; host n has this plus n. Switch n of a lab has identity n + 1. */
#define FRAME_HOST_DEVICE (1ull << 32)

/* Writes the Ethernet address of an emulated host as the kernel sees it: 02:57:46:54, host id. */
void frame_host_mac(uint16_t host, uint8_t mac[6]);

/* frame_room() is the data size of mbufs and memif slots; the driver takes a faster path only if
 * both are equal. The spare bytes hold VLAN tags that a virtual device does not remove, and the
 * rest of a long route. */
#define FRAME_ROOM_SPARE 64
_Static_assert(FRAME_ROOM_SPARE >= FRAME_ROUTE_MAX - FRAME_ROUTE_USUAL + 8, "space for two tags");

/* Returns the length, from the Ethernet header on, of the longest frame with a usual route and a
 * payload of 'mtu_bytes'. A NIC must pass this length; links in memory must pass frame_room(). */
static inline uint32_t frame_longest(uint32_t mtu_bytes)
{
	return FRAME_HEADER_BYTES + FRAME_ROUTE_USUAL + mtu_bytes;
}

static inline uint32_t frame_room(uint32_t mtu_bytes)
{
	return frame_longest(mtu_bytes) + FRAME_ROOM_SPARE;
}

/* The header before the IP packet in a message that carries a TCP segment longer than the
 * connection's segment size. The sending kernel leaves segmentation and the TCP checksum to the
 * interface. The receiving kernel accepts the segment unchanged, because the fabric splits and
 * protects every message itself. Other packets of TAPs have no header. */

#define SEGMENT_MARK  0x51 /* not an IP version, synthetic (0) or endpoint message (0xE1) */
#define SEGMENT_BYTES 4    /* mark, TCP offset in 4-byte words, segment size (16 bits) */

/* Returns the length of the segment header of a message; 0: none. */
static inline uint32_t segment_header(const uint8_t *message, uint32_t bytes)
{
	return bytes >= SEGMENT_BYTES && message[0] == SEGMENT_MARK ? SEGMENT_BYTES : 0;
}
