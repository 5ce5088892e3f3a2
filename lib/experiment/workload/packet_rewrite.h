/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Rewrites a captured packet for other hosts, as a host's kernel would send it. */

#include "packet_file.h"

#define PACKET_IPV4_MAX 65535

/* Writes the IPv4 packet to 'out' with these addresses (host byte order) and correct checksums of
 * IPv4, TCP, UDP and ICMP. Bytes that the capture cut off become zeros. Returns the length; 0: not
 * IPv4, a fragment (whose checksum covers other fragments), or damaged. */
uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX]);
