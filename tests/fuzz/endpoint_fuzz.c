/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The endpoints of a host. Its programs write anything into their memory, and its peers send
 * anything. The accounts stay correct, and the interface gets only what it may get. Input:
 * records of a command, a length and that many bytes. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_record.h"
#include "host/endpoint.h"
#include "nic/nic.h"

#define HOSTS     3
#define ENDPOINTS 2
#define MTU       128u

struct bed {
	struct nic *nic;
	struct nic_routes *routes;
	struct endpoint_set *set;
	struct endpoint *endpoint[ENDPOINTS];
	uint8_t *memory[ENDPOINTS];
	size_t bytes;
	struct endpoint_layout layout;
	weft_time now;
	bool in_message;
	uint32_t offset;
};

static void pull(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	endpoint_set_pull(ctx, cookie, offset, out, bytes);
}

static void done(void *ctx, const struct nic_outcome *outcome)
{
	endpoint_set_done(ctx, outcome);
}

static void attach(struct bed *bed, unsigned number)
{
	const struct endpoint_config config = {.host = 0,
		.hosts = HOSTS,
		.number = (uint16_t)number,
		.endpoints = ENDPOINTS,
		.life = number + 1,
		.mtu_bytes = MTU};

	bed->bytes = endpoint_memory_bytes(&config);
	bed->memory[number] = calloc(1, bed->bytes);
	bed->endpoint[number] = endpoint_create(&config, bed->memory[number]);
	REQUIRE(bed->endpoint[number] != NULL);
	memcpy(&bed->layout, bed->memory[number], sizeof(bed->layout));
	endpoint_set_add(bed->set, bed->endpoint[number]);
}

static void start(struct bed *bed)
{
	struct nic_config config;
	struct nic_programs programs = {.pull = pull, .done = done};

	memset(bed, 0, sizeof(*bed));
	bed->now = PS_PER_S;
	bed->routes = nic_routes_create(HOSTS);
	REQUIRE(bed->routes != NULL);
	for (uint16_t to = 0; to < HOSTS; to++)
		nic_routes_by_table(bed->routes, to);
	nic_config_default(&config, 0, HOSTS);
	config.mtu_bytes = MTU;
	config.messages = 64;
	config.routes = bed->routes;
	config.link.open = true;
	config.link.session = 1;
	bed->nic = nic_create(&config, bed->now);
	bed->set = endpoint_set_create(0, HOSTS, ENDPOINTS, MTU, PS_PER_S);
	REQUIRE(bed->nic != NULL && bed->set != NULL);
	programs.ctx = bed->set;
	nic_set_programs(bed->nic, &programs);
	for (unsigned i = 0; i < ENDPOINTS; i++)
		attach(bed, i);
}

/* At a position that the record chooses. The rings and positions come first. */
static void scribble(struct bed *bed, unsigned number, const struct fuzz_record *record)
{
	uint64_t first = bed->layout.marks, at;

	if (record->bytes < 4)
		return;
	at = (uint64_t)record->payload[0] << 16 | record->payload[1] << 8 | record->payload[2];
	at = first + at % (bed->bytes - first);
	for (unsigned i = 3; i < record->bytes && at < bed->bytes; i++, at++)
		bed->memory[number][at] = record->payload[i];
}

/* An order, or slots that are returned, with a correct position. */
static void act(struct bed *bed, unsigned number, const struct fuzz_record *record)
{
	struct endpoint_marks *marks = (void *)(bed->memory[number] + bed->layout.marks);
	uint32_t at = atomic_load(&marks->ordered) & (ENDPOINT_SEND_SLOTS - 1);
	struct endpoint_order order = {0};

	memcpy(&order, record->payload,
		record->bytes < sizeof(order) ? record->bytes : sizeof(order));
	memcpy(bed->memory[number] + bed->layout.orders + at * sizeof(order), &order,
		sizeof(order));
	atomic_fetch_add(&marks->ordered, 1);
}

static void give_back(struct bed *bed, unsigned number)
{
	struct endpoint_marks *marks = (void *)(bed->memory[number] + bed->layout.marks);
	uint32_t at = atomic_load(&marks->returned) & (bed->layout.receive_slots - 1);
	uint32_t from = (atomic_load(&marks->arrived) - 1) & (bed->layout.receive_slots - 1);

	memcpy(bed->memory[number] + bed->layout.returns + 4 * at,
		bed->memory[number] + bed->layout.arrivals + 4 * from, 4);
	atomic_fetch_add(&marks->returned, 1);
}

/* A frame of a message, as the interface delivers it. A first frame has at least the bytes that
 * identify messages of endpoints. */
static void deliver(struct bed *bed, uint8_t command, const struct fuzz_record *record)
{
	uint8_t payload[MTU] = {0xE1};
	struct nic_delivery delivery = {.source = 1 + (command >> 7),
		.first = !bed->in_message,
		.tail = (command >> 6) & 1,
		.payload = payload};

	delivery.bytes = record->bytes < MTU ? record->bytes : MTU;
	memcpy(payload + delivery.first, record->payload,
		delivery.bytes > 0 ? delivery.bytes - delivery.first : 0);
	if (delivery.first && delivery.bytes < ENDPOINT_WIRE_BYTES)
		delivery.bytes = ENDPOINT_WIRE_BYTES;
	delivery.offset = delivery.first ? 0 : bed->offset;
	bed->offset = delivery.offset + delivery.bytes;
	bed->in_message = !delivery.tail;
	endpoint_set_deliver(bed->set, &delivery);
}

static void send(struct bed *bed)
{
	struct weft_packet packet;
	uint8_t frame[FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + MTU];

	nic_poll(bed->nic, bed->now);
	endpoint_set_poll(bed->set, bed->nic, bed->now);
	for (unsigned i = 0; i < 8 && nic_inject(bed->nic, bed->now, &packet) != NULL; i++)
		nic_frame_build(bed->nic, &packet, frame, bed->now);
}

static void do_record(struct bed *bed, const struct fuzz_record *record)
{
	unsigned number = (record->command >> 4) & 1;

	switch (record->command & 7) {
	case 0:
		scribble(bed, number, record);
		break;
	case 1:
		act(bed, number, record);
		break;
	case 2:
		give_back(bed, number);
		break;
	case 3:
	case 4:
		deliver(bed, record->command, record);
		break;
	case 5:
		bed->now += PS_PER_S;
		break;
	case 6:
		endpoint_set_close(bed->set, number);
		break;
	default:
		bed->now += PS_PER_MS;
	}
	send(bed);
	endpoint_set_bells(bed->set);
	REQUIRE(endpoint_set_check(bed->set) == NULL);
	REQUIRE(nic_check(bed->nic) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bed bed;
	struct fuzz_record record;

	start(&bed);
	for (unsigned i = 0; i < 64 && fuzz_record_next(&data, &size, 256, &record); i++)
		do_record(&bed, &record);
	nic_destroy(bed.nic);
	nic_routes_destroy(bed.routes);
	endpoint_set_destroy(bed.set);
	for (unsigned i = 0; i < ENDPOINTS; i++) {
		endpoint_destroy(bed.endpoint[i]);
		free(bed.memory[i]);
	}
	return 0;
}
