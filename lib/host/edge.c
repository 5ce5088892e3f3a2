/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "edge.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/name_table.h"
#include "wire/big_endian.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_ARP  0x0806
#define ETHERTYPE_IPV6 0x86DD
#define ADDRESSES      (1u << (32 - EDGE_PREFIX_BITS))

enum edge_state { EDGE_IDLE, EDGE_COLLECTING, EDGE_SKIPPING };

struct edge_progress {
	uint32_t bytes; /* collected so far */
	uint16_t buffer;
	uint8_t state; /* enum edge_state */
};

struct edge {
	struct edge_config config;
	uint32_t message_bytes;         /* maximum message size */
	struct edge_progress *progress; /* [hosts] */
	uint8_t *buffer;                /* [reassemblies][message_bytes] */
	uint16_t *free;
	uint16_t free_count;
	uint64_t count[EDGE_COUNTER_COUNT];
	struct arrays arrays;
};

const char *edge_counter_name(unsigned counter)
{
	static const char *const name[] = {EDGE_COUNTERS(WORD_TEXT)};

	return counter < EDGE_COUNTER_COUNT ? name[counter] : NULL;
}

struct edge *edge_create(const struct edge_config *config)
{
	struct edge *edge;

	/* The first and last addresses of the network are reserved. */
	if (config->host >= config->hosts || config->hosts > ADDRESSES - 2 ||
		config->mtu_bytes < EDGE_IPV4_MIN || config->mtu_bytes > UINT16_MAX ||
		(config->base & (ADDRESSES - 1)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	edge = calloc(1, sizeof(*edge));
	if (edge == NULL)
		return NULL;
	edge->config = *config;
	edge->message_bytes = SEGMENT_BYTES + config->mtu_bytes;
	ARRAYS_ADD(edge, progress, config->hosts);
	ARRAYS_ADD(edge, buffer, (size_t)config->reassemblies * edge->message_bytes);
	ARRAYS_ADD(edge, free, config->reassemblies);
	if (edge->arrays.failed) {
		edge_destroy(edge);
		errno = ENOMEM;
		return NULL;
	}
	for (uint16_t i = 0; i < config->reassemblies; i++)
		edge->free[edge->free_count++] = i;
	return edge;
}

void edge_destroy(struct edge *edge)
{
	ARRAYS_DESTROY(edge);
}

uint32_t edge_address(const struct edge *edge, uint16_t host)
{
	const struct edge_config *config = &edge->config;

	return config->address != NULL ? config->address[host] : config->base + 1 + host;
}

uint16_t edge_host_of(const struct edge *edge, uint32_t address)
{
	const struct edge_config *config = &edge->config;
	uint32_t host = address - config->base - 1;

	if (config->address != NULL && address != 0)
		for (host = 0; host < config->hosts && config->address[host] != address;)
			host++;
	return host < edge->config.hosts ? (uint16_t)host : FRAME_HOST_NONE;
}

uint64_t *edge_counters(struct edge *edge)
{
	return edge->count;
}

/* TAP offloads: the kernel leaves checksums and the segmentation of long TCP segments to the edge,
 * and describes them in a header before each Ethernet frame. The edge completes checksums, and
 * forwards long segments unchanged, with a segment header (wire/frame.h). Input from both sides is
 * untrusted. */

#define TCP_BYTES       20
#define TCP_CHECKSUM_AT 16

/* Computes the Internet checksum (RFC 1071), which is independent of the CPU's byte order. */
static void complete_checksum(uint8_t *from, uint32_t bytes, uint32_t at)
{
	uint64_t sum = 0;
	uint16_t checksum;
	uint32_t word;

	for (uint32_t i = 0; i < bytes; i += sizeof(word)) {
		word = 0;
		memcpy(&word, from + i, bytes - i < sizeof(word) ? bytes - i : sizeof(word));
		sum += word;
	}
	while (sum >> 16 != 0)
		sum = (sum & 0xFFFF) + (sum >> 16);
	checksum = (uint16_t)~sum;
	if (checksum == 0)
		checksum = UINT16_MAX; /* in UDP, 0 means no checksum */
	memcpy(from + at, &checksum, sizeof(checksum));
}

/* Performs the offloads of an IP packet that has SEGMENT_BYTES of free space before it. Returns the
 * number of header bytes written there, or -EINVAL if the description does not fit the packet. */
static int edge_offload_send(const struct virtio_net_hdr *offload, uint8_t *packet, uint32_t bytes)
{
	uint32_t start = (uint32_t)offload->csum_start - EDGE_ETHERNET_BYTES;

	if ((offload->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0)
		return offload->gso_type == VIRTIO_NET_HDR_GSO_NONE ? 0 : -EINVAL;
	if (start > bytes || bytes - start < offload->csum_offset + 2u)
		return -EINVAL;
	if (offload->gso_type == VIRTIO_NET_HDR_GSO_NONE) {
		complete_checksum(packet + start, bytes - start, offload->csum_offset);
		return 0;
	}
	if (offload->gso_size == 0 || offload->csum_offset != TCP_CHECKSUM_AT || start % 4 != 0 ||
		start / 4 > UINT8_MAX)
		return -EINVAL;
	packet[-4] = SEGMENT_MARK;
	packet[-3] = (uint8_t)(start / 4);
	put16(packet - 2, offload->gso_size);
	return SEGMENT_BYTES;
}

/* Returns true if a TCP header may start at 'at'. The kernel checks any IPv6 extension headers. */
static bool is_tcp(const uint8_t *packet, uint32_t bytes, uint32_t at)
{
	if (at + TCP_BYTES > bytes)
		return false;
	if (packet[0] >> 4 == 6)
		return at >= EDGE_IPV6_MIN;
	return packet[9] == IPPROTO_TCP && at == 4u * (packet[0] & 15u);
}

/* Describes an IP packet for the kernel. 'header' is the segment header of its message, or NULL.
 * Returns false if the header does not fit the packet. */
static bool edge_offload_receive(const uint8_t *header, const uint8_t *packet, uint32_t bytes,
	struct virtio_net_hdr *offload)
{
	uint32_t at;

	*offload = (struct virtio_net_hdr){.gso_type = VIRTIO_NET_HDR_GSO_NONE};
	if (header == NULL)
		return true;
	at = 4u * header[1];
	*offload = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type =
			packet[0] >> 4 == 6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = (uint16_t)(EDGE_ETHERNET_BYTES + at + TCP_BYTES),
		.gso_size = get16(header + 2),
		.csum_start = (uint16_t)(EDGE_ETHERNET_BYTES + at),
		.csum_offset = TCP_CHECKSUM_AT,
	};
	return offload->gso_size != 0 && is_tcp(packet, bytes, at);
}

static void drop(struct edge *edge, struct edge_action *action, enum edge_counter reason)
{
	edge->count[reason]++;
	action->verdict = EDGE_DROP;
}

/* Handles ARP for IPv4 over Ethernet (RFC 826): hardware type, protocol type, lengths, operation,
 * then sender and target of 6 + 4 bytes each. */
static void answer_arp(
	struct edge *edge, const uint8_t *frame, uint32_t bytes, struct edge_action *action)
{
	static const uint8_t request[8] = {0, 1, 0x08, 0x00, 6, 4, 0, 1};
	const uint8_t *arp = frame + EDGE_ETHERNET_BYTES;
	uint8_t *reply = action->reply;
	uint16_t wanted;

	if (bytes < EDGE_ARP_BYTES || memcmp(arp, request, sizeof(request)) != 0) {
		drop(edge, action, EDGE_DROP_ARP);
		return;
	}
	wanted = edge_host_of(edge, get32(arp + 24));
	/* The kernel requests its own address to detect duplicates and must get no answer. */
	if (wanted == FRAME_HOST_NONE || wanted == edge->config.host) {
		drop(edge, action, EDGE_DROP_ARP);
		return;
	}
	memcpy(reply, arp + 8, 6);
	frame_host_mac(wanted, reply + 6);
	memcpy(reply + 12, frame + 12, 2);
	memcpy(reply + 14, request, sizeof(request));
	reply[21] = 2; /* operation: reply */
	frame_host_mac(wanted, reply + 22);
	put32(reply + 28, edge_address(edge, wanted));
	memcpy(reply + 32, arp + 8, 10);
	edge->count[EDGE_ARP_ANSWERED]++;
	action->verdict = EDGE_REPLY;
}

static uint16_t host_of_mac(const struct edge *edge, const uint8_t *mac)
{
	uint16_t host = get16(mac + 4);
	uint8_t wanted[6];

	frame_host_mac(host, wanted);
	if (host >= edge->config.hosts || memcmp(mac, wanted, sizeof(wanted)) != 0)
		return FRAME_HOST_NONE;
	return host;
}

/* Returns the length of an IPv4 or IPv6 packet in 'bytes' bytes, or 0 if it is neither. */
static uint32_t ip_bytes(const uint8_t *packet, uint32_t bytes)
{
	uint32_t header, total;

	if (bytes >= EDGE_IPV6_MIN && packet[0] >> 4 == 6) {
		total = EDGE_IPV6_MIN + get16(packet + 4);
		return total <= bytes ? total : 0;
	}
	if (bytes < EDGE_IPV4_MIN || packet[0] >> 4 != 4)
		return 0;
	header = (packet[0] & 0x0Fu) * 4;
	total = get16(packet + 2);
	return header >= EDGE_IPV4_MIN && total >= header && total <= bytes ? total : 0;
}

static void send_ip(struct edge *edge, const struct virtio_net_hdr *offload, uint8_t *frame,
	uint32_t bytes, struct edge_action *action)
{
	bool group = (frame[0] & 1) != 0;
	uint16_t host = host_of_mac(edge, frame);
	uint8_t *packet = frame + EDGE_ETHERNET_BYTES;
	uint8_t version = get16(frame + 12) == ETHERTYPE_IPV6 ? 6 : 4;
	int header;

	action->bytes = ip_bytes(packet, bytes - EDGE_ETHERNET_BYTES);
	if (action->bytes == 0 || packet[0] >> 4 != version) {
		drop(edge, action, EDGE_DROP_SHORT);
	} else if (!group && (host == FRAME_HOST_NONE || host == edge->config.host)) {
		drop(edge, action, EDGE_DROP_UNKNOWN_HOST);
	} else if (action->bytes > edge->config.mtu_bytes) {
		drop(edge, action, EDGE_DROP_TOO_LONG);
	} else if ((header = edge_offload_send(offload, packet, action->bytes)) < 0) {
		drop(edge, action, EDGE_DROP_SHORT);
	} else {
		action->message = packet - header;
		action->bytes += (uint32_t)header;
		action->destination = host;
		action->verdict = group ? EDGE_GROUP : EDGE_MESSAGE;
	}
}

uint16_t edge_member(const struct edge *edge, uint16_t host)
{
	while (host < edge->config.hosts &&
		(host == edge->config.host || edge_address(edge, host) == 0))
		host++;
	return host < edge->config.hosts ? host : FRAME_HOST_NONE;
}

void edge_from_tap(struct edge *edge, const struct virtio_net_hdr *offload, uint8_t *frame,
	uint32_t bytes, struct edge_action *action)
{
	edge->count[EDGE_FROM_TAP]++;
	if (bytes < EDGE_ETHERNET_BYTES) {
		drop(edge, action, EDGE_DROP_SHORT);
		return;
	}
	switch (get16(frame + 12)) {
	case ETHERTYPE_ARP:
		answer_arp(edge, frame, bytes, action);
		break;
	case ETHERTYPE_IPV4:
	case ETHERTYPE_IPV6:
		send_ip(edge, offload, frame, bytes, action);
		break;
	default:
		drop(edge, action, EDGE_DROP_ETHERTYPE);
	}
}

/* Reassembly. Single-frame messages, the common case, are not copied. Longer messages are
 * reassembled in one of a few buffers, which a source occupies only while its message is
 * incomplete. */
static uint8_t *buffer_of(struct edge *edge, const struct edge_progress *progress)
{
	return edge->buffer + (size_t)progress->buffer * edge->message_bytes;
}

static void stop(struct edge *edge, struct edge_progress *progress, enum edge_state state)
{
	if (progress->state == EDGE_COLLECTING)
		edge->free[edge->free_count++] = progress->buffer;
	progress->state = (uint8_t)state;
}

static void start(struct edge *edge, struct edge_progress *progress)
{
	if (edge->free_count == 0) {
		edge->count[EDGE_DROP_NO_BUFFER]++;
		progress->state = EDGE_SKIPPING;
		return;
	}
	progress->buffer = edge->free[--edge->free_count];
	progress->bytes = 0;
	progress->state = EDGE_COLLECTING;
}

static void collect(
	struct edge *edge, struct edge_progress *progress, const struct nic_delivery *delivery)
{
	if (progress->state != EDGE_COLLECTING)
		return;
	if (delivery->bytes > edge->message_bytes - progress->bytes) {
		edge->count[EDGE_DROP_OVERSIZE]++;
		stop(edge, progress, EDGE_SKIPPING);
		return;
	}
	memcpy(buffer_of(edge, progress) + progress->bytes, delivery->payload, delivery->bytes);
	progress->bytes += delivery->bytes;
}

/* Returns true if the frame completes a message; sets packet->packet and packet->bytes. */
static bool edge_reassemble(
	struct edge *edge, const struct nic_delivery *delivery, struct edge_packet *packet)
{
	struct edge_progress *progress = &edge->progress[delivery->source];
	bool collected;

	if (delivery->first && progress->state == EDGE_COLLECTING) {
		edge->count[EDGE_DROP_INCOMPLETE]++;
		stop(edge, progress, EDGE_IDLE);
	}
	if (delivery->first && delivery->tail) {
		progress->state = EDGE_IDLE;
		packet->packet = delivery->payload;
		packet->bytes = delivery->bytes;
		return true;
	}
	if (delivery->first)
		start(edge, progress);
	collect(edge, progress, delivery);
	if (!delivery->tail)
		return false;
	collected = progress->state == EDGE_COLLECTING;
	packet->packet = buffer_of(edge, progress);
	packet->bytes = progress->bytes;
	/* The next message, which arrives in a later call, may reuse the buffer. */
	stop(edge, progress, EDGE_IDLE);
	return collected;
}

/* Sets the MAC address for a group address (RFC 2464, RFC 1112). Returns false if the address is
 * not a group address. */
static bool group_mac(const uint8_t *address6, uint8_t mac[6])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, address6 + 12, 4);
	return address6[0] == 0xFF;
}

static bool group_mac4(const uint8_t *address, uint8_t mac[6])
{
	static const uint8_t prefix[3] = {0x01, 0x00, 0x5E};

	if (get32(address) == UINT32_MAX) {
		memset(mac, 0xFF, 6);
		return true;
	}
	memcpy(mac, prefix, sizeof(prefix));
	memcpy(mac + 3, address + 1, 3);
	mac[3] &= 0x7F;
	return address[0] >> 4 == 0xE;
}

/* Fills the Ethernet header as if the source's interface had sent the packet to this host. */
static bool complete(struct edge *edge, uint16_t source, struct edge_packet *packet)
{
	uint32_t header = segment_header(packet->packet, packet->bytes);
	const uint8_t *message = packet->packet, *ip = message + header;
	bool six;

	packet->packet = ip;
	packet->bytes -= header;
	if (packet->bytes == 0 || ip_bytes(ip, packet->bytes) != packet->bytes ||
		!edge_offload_receive(
			header != 0 ? message : NULL, ip, packet->bytes, &packet->offload)) {
		edge->count[EDGE_DROP_NOT_IP]++;
		return false;
	}
	six = ip[0] >> 4 == 6;
	/* The kernel ignores a group packet in a frame addressed to the host itself. */
	if (six ? !group_mac(ip + 24, packet->ethernet) : !group_mac4(ip + 16, packet->ethernet))
		frame_host_mac(edge->config.host, packet->ethernet);
	frame_host_mac(source, packet->ethernet + 6);
	put16(packet->ethernet + 12, six ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	edge->count[EDGE_TO_TAP]++;
	edge->count[EDGE_BYTES_TO_TAP] += packet->bytes;
	return true;
}

bool edge_deliver(
	struct edge *edge, const struct nic_delivery *delivery, struct edge_packet *packet)
{
	if (delivery->source >= edge->config.hosts)
		return false;
	if (!edge_reassemble(edge, delivery, packet))
		return false;
	return complete(edge, delivery->source, packet);
}
