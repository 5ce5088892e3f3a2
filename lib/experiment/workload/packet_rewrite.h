/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A captured packet with the addresses of other hosts, as a host's kernel would send it. */

#include "packet_file.h"

#define PACKET_IPV4_MAX 65535

/* Writes the IPv4 packet to 'out' with these addresses (host order), and checksums of IPv4, TCP,
 * UDP and ICMP that are right. What the capture cut off is zeros. Returns its bytes; 0: it is not
 * IPv4, a fragment (whose checksum is in another one), or damaged. */
uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX]);
