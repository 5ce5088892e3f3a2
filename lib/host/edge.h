/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Connects an emulated host to Linux: Ethernet frames of a TAP interface on one side, messages on
 * the other. Each IPv4 or IPv6 packet is sent as one message, as is a TCP segment of up to 64 KiB
 * that the kernel left unsegmented (wire/frame.h). The edge answers ARP requests for all other
 * hosts: host i has the MAC address frame_host_mac(i) and the IPv4 address address[i] or base + 1 +
 * i. A broadcast or multicast packet, including IPv6 neighbour discovery, is sent to each host of
 * the network as a separate message. All other frames are counted and dropped.
 *
 * The edge uses no file descriptors and no clock: the driver reads and writes the TAP. Input from a
 * TAP is as untrusted as input from a link (tests/fuzz/edge_fuzz.c). */

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "nic/nic.h"
#include "wire/frame.h"

#define EDGE_BASE_DEFAULT   0x0a570000u /* 10.87.0.0 */
#define EDGE_PREFIX_BITS    16
#define EDGE_ETHERNET_BYTES 14
#define EDGE_ARP_BYTES      42 /* including the Ethernet header */
#define EDGE_IPV4_MIN       20
#define EDGE_IPV6_MIN       40
#define EDGE_MESSAGE_MAX    (SEGMENT_BYTES + UINT16_MAX)

#define EDGE_COUNTERS(X)                                                                         \
	X(FROM_TAP, "tap_frames_in")                                                             \
	X(MESSAGES_OUT, "tap_messages_out")                                                      \
	X(BYTES_OUT, "tap_bytes_sent")   /* total size of these messages */                      \
	X(COPIES, "tap_messages_copied") /* copies sent to group members */                      \
	X(ARP_ANSWERED, "tap_arp_answered")                                                      \
	X(DROP_SHORT, "tap_drop_short")         /* truncated, or inconsistent lengths */         \
	X(DROP_ARP, "tap_drop_arp")             /* not a request for another host's address */   \
	X(DROP_ETHERTYPE, "tap_drop_ethertype") /* not IP or ARP */                              \
	X(DROP_UNKNOWN_HOST, "tap_drop_unknown_host") /* no other host has this MAC address */   \
	X(DROP_TOO_LONG, "tap_drop_too_long")                                                    \
	X(DROP_UNREACHABLE, "tap_drop_unreachable") /* no route in the fabric */                 \
	X(DROP_SILENT, "tap_drop_silent") /* unresponsive host with a full share of the queue */ \
	X(TO_TAP, "tap_frames_out")                                                              \
	X(BYTES_TO_TAP, "tap_bytes_delivered")    /* excluding Ethernet headers */               \
	X(DROP_NOT_IP, "tap_drop_not_ip")         /* message that is not an IP packet */         \
	X(DROP_OVERSIZE, "tap_drop_oversize")     /* message longer than the MTU */              \
	X(DROP_NO_BUFFER, "tap_drop_no_buffer")   /* too many concurrent reassemblies */         \
	X(DROP_INCOMPLETE, "tap_drop_incomplete") /* the sender gave up or restarted */          \
	X(DROP_TAP_FULL, "tap_drop_full")         /* refused by the kernel */

enum edge_counter {
#define X(id, text) EDGE_##id,
	EDGE_COUNTERS(X)
#undef X
		EDGE_COUNTER_COUNT
};

/* Returns NULL if 'counter' is out of range. */
const char *edge_counter_name(unsigned counter);

struct edge_config {
	uint16_t host, hosts;
	uint32_t base; /* IPv4 network of all hosts, host order */
	/* [hosts], host order; 0: no address; must outlive the edge. NULL: base + 1 + i. */
	const uint32_t *address;
	uint32_t mtu_bytes;    /* largest IP packet */
	uint16_t reassemblies; /* concurrent reassemblies of multi-frame messages */
};

struct edge;

/* Returns NULL with errno EINVAL (value out of range, or too few addresses) or ENOMEM. */
struct edge *edge_create(const struct edge_config *config);
void edge_destroy(struct edge *edge);

/* Return the IPv4 address of a host, in host order, and the host with an address, or
 * FRAME_HOST_NONE. */
uint32_t edge_address(const struct edge *edge, uint16_t host);
uint16_t edge_host_of(const struct edge *edge, uint32_t address);

enum edge_verdict { EDGE_DROP, EDGE_REPLY, EDGE_MESSAGE, EDGE_GROUP };

/* The driver's action for a frame from the TAP. */
struct edge_action {
	enum edge_verdict verdict;
	uint16_t destination;   /* MESSAGE */
	const uint8_t *message; /* MESSAGE, GROUP: points into the frame; excludes padding */
	uint32_t bytes;
	uint8_t reply[EDGE_ARP_BYTES]; /* REPLY: frame to write to the TAP */
};

/* Chooses the action for a frame; may prepend the segment header and complete the checksum. */
void edge_from_tap(struct edge *edge, const struct virtio_net_hdr *offload, uint8_t *frame,
	uint32_t bytes, struct edge_action *action);

/* Returns a group message's first destination from 'host' on; FRAME_HOST_NONE: no more. */
uint16_t edge_member(const struct edge *edge, uint16_t host);

/* An Ethernet frame for the TAP, in pieces. 'packet' is valid until the next call. */
struct edge_packet {
	struct virtio_net_hdr offload;
	uint8_t ethernet[EDGE_ETHERNET_BYTES];
	const uint8_t *packet;
	uint32_t bytes;
};

/* Processes a delivered frame. Returns true if the frame completes an IP packet. */
bool edge_deliver(
	struct edge *edge, const struct nic_delivery *delivery, struct edge_packet *packet);

uint64_t *edge_counters(struct edge *edge); /* [EDGE_COUNTER_COUNT]; the driver adds to them */
