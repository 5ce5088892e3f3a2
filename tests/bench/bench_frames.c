/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-bench-frames KIND BYTES PORTS PORT FILE: 256 distinct frames as a pcap file, for net_pcap's
 * infinite_rx at PORT; their sources differ from those at other ports. KIND is table (no route;
 * destination d is meant to leave by port d mod PORTS), source (a route of three elements whose
 * first one names the port) or ipv4 (198.18.PORT.0/24, for l3fwd). BYTES is the length without FCS.
 * All kinds spread over the ports in the same order. */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weft_error.h"
#include "wire/frame.h"

#define FRAMES       256u
#define PCAP_MAGIC   0xa1b2c3d4u /* microseconds, the writer's byte order */
#define PCAP_SNAP    65535u
#define LINK_TYPE    1u /* Ethernet */
#define IPV4_BYTES   20u
#define IPV4_AT      14u
#define TEST_NETWORK 0xC6120000u /* 198.18.0.0/15, RFC 2544 */

struct pcap_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, sigfigs, snap, link_type;
};

struct request {
	const char *kind;
	unsigned bytes, ports, port;
};

struct pcap_record {
	uint32_t seconds, microseconds, captured, length;
};

static unsigned host_of(unsigned i)
{
	return (i * 7 + i / 16) % FRAMES;
}

/* A frame keeps the VC that its service level has, as in the middle of a fabric. */
static unsigned build_weft(uint8_t *frame, unsigned i, const struct request *request, bool source)
{
	const uint8_t route[3] = {(uint8_t)(ROUTE_PORT_BIT | host_of(i) % request->ports),
		ROUTE_PORT_BIT, ROUTE_TYPE_HOST};
	struct frame_fields fields = {
		.kind = FRAME_DATA,
		.source = (uint16_t)(request->port * FRAMES + i),
		.destination = (uint16_t)host_of(i),
		.sl = (uint8_t)(i % 2),
		.vc = (uint8_t)(i % 2),
		.vc_original = (uint8_t)(i % 2),
		.sequence = i,
		.route = route,
		.route_length = source ? sizeof(route) : 0,
	};

	fields.payload_bytes =
		(uint16_t)(request->bytes - FRAME_HEADER_BYTES - fields.route_length);
	return frame_build(frame, &fields);
}

static uint16_t ipv4_checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < IPV4_BYTES; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t) ~((sum & 0xFFFF) + (sum >> 16));
}

static void put_be(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static unsigned build_ipv4(uint8_t *frame, unsigned i, const struct request *request)
{
	uint8_t *header = frame + IPV4_AT;

	put_be(frame + 12, 0x0800, 2);
	put_be(header, 0x4500, 2);
	put_be(header + 2, request->bytes - IPV4_AT, 2);
	put_be(header + 4, i, 2);
	header[8] = 64; /* hops */
	header[9] = 17; /* UDP */
	put_be(header + 12, TEST_NETWORK + 0x10000 + request->port * FRAMES + i, 4);
	put_be(header + 16, TEST_NETWORK + (host_of(i) % request->ports << 8) + 1 + i % 200, 4);
	put_be(header + 10, ipv4_checksum(header), 2);
	return request->bytes;
}

static bool write_all(FILE *file, const struct request *request)
{
	const struct pcap_header header = {PCAP_MAGIC, 2, 4, 0, 0, PCAP_SNAP, LINK_TYPE};
	bool good = fwrite(&header, sizeof(header), 1, file) == 1;

	for (unsigned i = 0; i < FRAMES && good; i++) {
		uint8_t frame[FRAME_BYTES_MAX] = {0};
		unsigned length = strcmp(request->kind, "ipv4") == 0
					  ? build_ipv4(frame, i, request)
					  : build_weft(frame, i, request,
						    strcmp(request->kind, "source") == 0);
		const struct pcap_record record = {0, i, length, length};

		good = fwrite(&record, sizeof(record), 1, file) == 1 &&
		       fwrite(frame, length, 1, file) == 1;
	}
	return good;
}

static bool parse(struct request *request, int argc, char **argv)
{
	if (argc != 6)
		return false;
	*request = (struct request){
		argv[1], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4])};
	return request->bytes >= FRAME_BYTES_MIN && request->bytes <= FRAME_BYTES_MAX &&
	       request->ports > 0 && request->ports <= ROUTE_PORT_MASK &&
	       request->port < request->ports &&
	       (strcmp(request->kind, "table") == 0 || strcmp(request->kind, "source") == 0 ||
		       strcmp(request->kind, "ipv4") == 0);
}

int main(int argc, char **argv)
{
	struct request request;
	FILE *file;

	if (!parse(&request, argc, argv)) {
		fprintf(stderr,
			"usage: weft-bench-frames table|source|ipv4 BYTES PORTS PORT FILE\n");
		return EXIT_BAD_REQUEST;
	}
	file = fopen(argv[5], "we");
	if (file == NULL || !write_all(file, &request) || fclose(file) != 0) {
		perror(argv[5]);
		return EXIT_NOT_ABLE;
	}
	return EXIT_DONE;
}
