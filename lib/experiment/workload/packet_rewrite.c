/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "packet_rewrite.h"

#include <netinet/in.h>
#include <string.h>

#include "wire/big_endian.h"

#define IPV4_MIN      20
#define FRAGMENT_BITS 0x3fff /* more of them, and the offset */

/* Where a protocol's checksum is, and what it covers. */
static const struct protocol {
	uint8_t number, at, header;
	bool addresses; /* covers the pseudo-header */
	bool optional;  /* 0: there is none */
} protocols[] = {
	{IPPROTO_TCP, 16, 20, true, false},
	{IPPROTO_UDP, 6, 8, true, true},
	{IPPROTO_ICMP, 2, 8, false, false},
};

static uint32_t sum_of(const uint8_t *bytes, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i + 1 < count; i += 2)
		sum += get16(bytes + i);
	return count % 2 == 0 ? sum : sum + ((uint32_t)bytes[count - 1] << 8);
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void write_checksum(
	const struct protocol *protocol, uint8_t *ip, uint32_t header, uint32_t bytes)
{
	uint8_t *body = ip + header, *at = body + protocol->at;
	uint32_t count = bytes - header, sum;
	uint16_t checksum;

	if (count < protocol->header || (protocol->optional && get16(at) == 0))
		return;
	put16(at, 0);
	sum = sum_of(body, count);
	if (protocol->addresses)
		sum += sum_of(ip + 12, 8) + protocol->number + count;
	checksum = folded(sum);
	put16(at, protocol->optional && checksum == 0 ? 0xffff : checksum);
}

uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX])
{
	const uint8_t *ip = packet->data + packet->ip;
	uint32_t there = packet->captured - packet->ip, header, bytes;

	if (packet->source[0].kind != PACKET_ADDRESS_IPV4 || there < IPV4_MIN)
		return 0;
	header = (uint32_t)(ip[0] & 15) * 4;
	bytes = get16(ip + 2);
	if (header < IPV4_MIN || header > there || header > bytes ||
		(get16(ip + 6) & FRAGMENT_BITS) != 0)
		return 0;
	there = there < bytes ? there : bytes;
	memcpy(out, ip, there);
	memset(out + there, 0, bytes - there);
	put32(out + 12, source);
	put32(out + 16, destination);
	put16(out + 10, 0);
	put16(out + 10, folded(sum_of(out, header)));
	for (unsigned i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (protocols[i].number == out[9])
			write_checksum(&protocols[i], out, header, bytes);
	return bytes;
}
