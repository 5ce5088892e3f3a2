/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "edge_offload.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "edge.h"
#include "wire/big_endian.h"
#include "wire/frame.h"

#define TCP_BYTES       20
#define TCP_CHECKSUM_AT 16

/* The Internet checksum (RFC 1071), which does not depend on the order of bytes in a word. */
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
		checksum = UINT16_MAX; /* 0 means none in UDP */
	memcpy(from + at, &checksum, sizeof(checksum));
}

int edge_offload_send(const struct virtio_net_hdr *offload, uint8_t *packet, uint32_t bytes)
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

/* IPv6 packets may have more headers, which the kernel checks. */
static bool is_tcp(const uint8_t *packet, uint32_t bytes, uint32_t at)
{
	if (at + TCP_BYTES > bytes)
		return false;
	if (packet[0] >> 4 == 6)
		return at >= EDGE_IPV6_MIN;
	return packet[9] == IPPROTO_TCP && at == 4u * (packet[0] & 15u);
}

bool edge_offload_receive(const uint8_t *header, const uint8_t *packet, uint32_t bytes,
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
