/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The edge: Ethernet frames from a TAP, and parts of messages from the fabric, in any order. Its
 * output stays within its input and goes to existing hosts, and every frame is accounted for.
 * Input: records (fuzz_record.h). */

#include "host/edge.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_record.h"
#include "wire/frame.h"

#define HOST  2
#define HOSTS 6
#define MTU   300

static uint64_t sum(const uint64_t *count, enum edge_counter first, enum edge_counter last)
{
	uint64_t total = 0;

	for (unsigned i = first; i <= last; i++)
		total += count[i];
	return total;
}

static void require_is_arp_reply(const uint8_t *reply)
{
	static const uint8_t start[] = {0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2};

	REQUIRE(memcmp(reply + 12, start, sizeof(start)) == 0);
	REQUIRE(memcmp(reply + 6, reply + 22, 6) == 0);
}

static void try_frame(struct edge *edge, uint8_t *frame, uint32_t bytes, uint64_t *accepted)
{
	struct virtio_net_hdr offload;
	struct edge_action action;

	if (bytes < sizeof(offload))
		return;
	memcpy(&offload, frame, sizeof(offload));
	frame += sizeof(offload);
	bytes -= sizeof(offload);
	edge_from_tap(edge, &offload, frame, bytes, &action);
	if (action.verdict == EDGE_REPLY) {
		require_is_arp_reply(action.reply);
	} else if (action.verdict == EDGE_MESSAGE || action.verdict == EDGE_GROUP) {
		(*accepted)++;
		REQUIRE(action.verdict == EDGE_GROUP ||
			(action.destination < HOSTS && action.destination != HOST));
		REQUIRE(action.bytes >= EDGE_IPV4_MIN && action.bytes <= SEGMENT_BYTES + MTU);
		REQUIRE(action.message >= frame && action.message + action.bytes <= frame + bytes);
	}
}

static void try_part(struct edge *edge, uint8_t command, const uint8_t *payload, uint32_t bytes)
{
	struct nic_delivery delivery = {.source = (command >> 1) & 7,
		.first = (command & 0x10) != 0,
		.tail = (command & 0x20) != 0,
		.payload = payload,
		.bytes = bytes};
	struct edge_packet packet;
	uint8_t copy[SEGMENT_BYTES + MTU];

	if (!edge_deliver(edge, &delivery, &packet))
		return;
	REQUIRE(packet.bytes >= EDGE_IPV4_MIN);
	REQUIRE(packet.bytes <= SEGMENT_BYTES + MTU || delivery.first);
	REQUIRE(packet.offload.csum_start + packet.offload.csum_offset <=
		EDGE_ETHERNET_BYTES + packet.bytes);
	if (packet.bytes <= sizeof(copy))
		memcpy(copy, packet.packet, packet.bytes);
}

/* In memory of exactly its size, so that a read beyond it is detected. */
static void try_record(struct edge *edge, const struct fuzz_record *record, uint64_t *accepted)
{
	uint8_t *copy = malloc(record->bytes + (record->bytes == 0));

	REQUIRE(copy != NULL);
	memcpy(copy, record->payload, record->bytes);
	if (record->command & 1)
		try_part(edge, record->command, copy, record->bytes);
	else
		try_frame(edge, copy, record->bytes, accepted);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct edge_config config = {.host = HOST,
		.hosts = HOSTS,
		.base = EDGE_BASE_DEFAULT,
		.mtu_bytes = MTU,
		.reassemblies = 2};
	struct edge *edge = edge_create(&config);
	uint64_t accepted = 0, *count;
	struct fuzz_record record;

	REQUIRE(edge != NULL);
	while (fuzz_record_next(&data, &size, FUZZ_RECORD_MAX, &record))
		try_record(edge, &record, &accepted);
	count = edge_counters(edge);
	REQUIRE(count[EDGE_FROM_TAP] == accepted + count[EDGE_ARP_ANSWERED] +
						sum(count, EDGE_DROP_SHORT, EDGE_DROP_TOO_LONG));
	edge_destroy(edge);
	return 0;
}
