/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* An interface that receives whatever passes frame_check(), from a neighbour and peers that may lie
 * about everything: it keeps its own books straight and loses no packet. It sends messages itself,
 * so acknowledgements find something to speak of. Between frames its routes are exchanged, and it
 * is paused, purged and let go on.
 *
 * Flows, sequence numbers and sessions are random to a peer that only guesses, so a record can ask
 * for them: its frame is then of the flow that the interface offered or uses, with numbers relative
 * to it.
 *
 * The first byte chooses a kind of congestion management, and whether data has tags. A record can
 * ask for a true tag; without one so far nothing is delivered. Answers about clocks, which one host
 * is asked for, can have the right number.
 *
 * Input: records of 16 bytes and a payload. */

#include <arpa/inet.h>
#include <string.h>

#include "fuzz.h"
#include "link/link_seal.h"
#include "nic/nic.h"
#include "wire/cn.h"
#include "wire/control.h"
#include "wire/frame_check.h"
#include "wire/latency.h"

#define HOSTS        3
#define SESSION      5
#define PEER_SESSION 77
#define PACKETS      64
#define ROOM         256

struct slot {
	struct weft_packet packet; /* first, because the interface returns its address */
	uint8_t frame[ROOM];
	bool used;
};

struct bench {
	struct nic *nic;
	struct nic_routes *routes;
	bool tagged, has_true_tag; /* data has tags; one was true */
	struct slot slot[PACKETS];
	weft_time now;
	unsigned held;
	/* By peer: the last offer to it, and the last request or data frame. */
	struct control_flow offered[HOSTS];
	uint16_t asked_flow[HOSTS];
	uint32_t asked_sequence[HOSTS], asked_message[HOSTS];
	uint64_t clock_number[HOSTS]; /* number of the last question after its clock */
};

static const struct data_tag_key data_key = {{1, 2, 3}, {4, 5, 6}};

/* Host 2 is on another machine. */
static const bool same_clock[HOSTS] = {true, true, false};

static void deliver(void *ctx, const struct nic_delivery *delivery)
{
	const struct bench *bench = ctx;
	uint8_t copy[ROOM];

	REQUIRE(!bench->tagged || bench->has_true_tag);
	REQUIRE(delivery->source < HOSTS && delivery->source != 0);
	REQUIRE(delivery->bytes <= ROOM);
	memcpy(copy, delivery->payload, delivery->bytes);
	REQUIRE(delivery->first == (delivery->offset == 0) || delivery->bytes == 0 ||
		!delivery->first);
}

static void start(struct bench *bench, unsigned kind)
{
	struct nic_config config;

	memset(bench, 0, sizeof(*bench));
	bench->now = PS_PER_S;
	bench->routes = nic_routes_create(HOSTS);
	REQUIRE(bench->routes != NULL);
	for (uint16_t to = 0; to < HOSTS; to++)
		nic_routes_by_table(bench->routes, to);
	nic_config_default(&config, 0, HOSTS);
	config.mtu_bytes = 64;
	config.routes = bench->routes;
	config.messages = 16;
	config.window_frames = 8;
	config.reorder_windows = 1;
	config.reorder_frames = 6;
	config.link.session = SESSION;
	config.link.vcs = 2;
	config.link.vc_blocks = 64;
	config.above = (struct nic_host){.ctx = bench, .deliver = deliver};
	bench->tagged = (kind & 128) != 0;
	config.data_key = bench->tagged ? &data_key : NULL;
	source_control_config_default(&config.control);
	config.control.kind = kind % (SOURCE_CONTROL_DRB_CC + 1);
	if (config.control.kind == SOURCE_CONTROL_DCQCN) /* exists on the virtual clock only */
		config.control.kind = SOURCE_CONTROL_NONE;
	config.control.host = 0;
	config.control.hosts = HOSTS;
	config.control.frame_ns = config.control.hop_ns = 100;
	config.answers =
		(struct cn_generator_config){.all = source_control_measures(config.control.kind),
			.by_message = (kind & 64) != 0,
			.hosts = HOSTS};
	bench->nic = nic_create(&config, bench->now);
	REQUIRE(bench->nic != NULL);
	REQUIRE(nic_set_clocks(bench->nic, same_clock, 1) == 0);
}

static void take_back(struct bench *bench, struct weft_packet *packet)
{
	for (; packet != NULL; packet = packet->next) {
		REQUIRE(((struct slot *)packet)->used);
		((struct slot *)packet)->used = false;
		bench->held--;
	}
}

static struct slot *find_slot(struct bench *bench)
{
	for (unsigned i = 0; i < PACKETS; i++)
		if (!bench->slot[i].used)
			return &bench->slot[i];
	return NULL;
}

/* Sets the fields of a frame like a peer that has read all frames. */
static void make_true(const struct bench *bench, struct frame_fields *fields, uint8_t *payload)
{
	unsigned peer = fields->source;
	const struct control_flow *offered = &bench->offered[peer];
	struct control_ack ack;
	struct control_flow flow;
	struct control_clock clock;
	struct cn cn;

	if (fields->kind == FRAME_DATA) {
		fields->message = (uint32_t)offered->offered << 16 |
				  (uint16_t)(offered->number + (fields->message & 0xFF));
		fields->sequence += offered->first;
	} else if (fields->kind == FRAME_ACK &&
		   control_ack_decode(&ack, payload, fields->payload_bytes)) {
		ack.flow = bench->asked_flow[peer];
		ack.session = PEER_SESSION;
		ack.expected = bench->asked_sequence[peer] + (uint32_t)(int8_t)ack.expected;
		control_ack_encode(&ack, payload);
	} else if (fields->kind == FRAME_CN && cn_decode(&cn, payload, fields->payload_bytes)) {
		cn.message = bench->asked_message[peer];
		cn.sequence = bench->asked_sequence[peer];
		cn_encode(&cn, payload);
	} else if (fields->kind == FRAME_FLOW &&
		   control_flow_decode(&flow, payload, fields->payload_bytes)) {
		flow.flow = bench->asked_flow[peer];
		flow.sequence = bench->asked_sequence[peer];
		flow.session = PEER_SESSION;
		control_flow_encode(&flow, payload);
	} else if (fields->kind == FRAME_CLOCK &&
		   control_clock_decode(&clock, payload, fields->payload_bytes) &&
		   clock.step == CONTROL_CLOCK_ANSWER && bench->clock_number[peer] != 0) {
		clock.number = bench->clock_number[peer];
		control_clock_encode(&clock, payload);
	}
}

/* The first bytes of the payload are an extension. Some get a correct check. */
static void put_extension(struct frame_fields *fields, uint8_t *at, bool right)
{
	struct latency_extension extension;

	memcpy(&extension, at, sizeof(extension));
	if (right)
		latency_seal(&extension);
	memcpy(at, &extension, sizeof(extension));
	fields->payload_bytes = fields->payload_bytes > FRAME_LATENCY_BYTES
					? (uint16_t)(fields->payload_bytes - FRAME_LATENCY_BYTES)
					: 0;
}

/* Returns the length of the frame with a tag. */
static unsigned put_tag(struct bench *bench, uint8_t *frame, unsigned length)
{
	const struct frame_header *header = frame_header_const(frame);
	unsigned end = frame_payload_offset(header) + ntohs(header->payload_bytes_be);

	data_tag_write(&data_key, SESSION, frame);
	bench->has_true_tag = true;
	return end + DATA_TAG_BYTES > length ? end + DATA_TAG_BYTES : length;
}

static void receive(
	struct bench *bench, const uint8_t *record, const uint8_t *payload, unsigned bytes)
{
	const uint8_t route[] = {0x81, record[5], 0x82, ROUTE_TYPE_HOST};
	struct frame_fields fields = {.kind = record[0] % FRAME_KIND_COUNT,
		.source = record[1] & 3,
		.destination = record[2] >> 6,
		.sl = record[3] & 15,
		.vc = record[3] >> 4 & 3,
		.flags = record[4],
		.route = route,
		.route_length = (record[2] & 1) == 0   ? 0
				: (record[2] & 2) == 0 ? 2
						       : 4,
		.message = (uint32_t)(record[6] & 3) << 16 | record[7],
		.sequence = (uint32_t)(int32_t)(int8_t)record[8],
		.payload_bytes = (uint16_t)bytes};
	struct slot *slot = find_slot(bench);
	unsigned length;

	REQUIRE(slot != NULL);
	if (frame_link_local(fields.kind))
		fields.route_length = 0;
	memcpy(slot->frame + FRAME_HEADER_BYTES + fields.route_length, payload, bytes);
	if (fields.kind == FRAME_DATA && (fields.flags & FRAME_F_LATENCY) != 0)
		put_extension(&fields, slot->frame + FRAME_HEADER_BYTES + fields.route_length,
			record[9] & 0x80);
	if ((record[6] & 0x80) != 0 && fields.source < HOSTS)
		make_true(bench, &fields, slot->frame + FRAME_HEADER_BYTES + fields.route_length);
	length = frame_build(slot->frame, &fields);
	if (fields.route_length > 0)
		frame_update_mutable(slot->frame,
			frame_mutable_word(fields.vc, fields.vc, record[9] % 3, fields.flags));
	if (bench->tagged && fields.kind == FRAME_DATA && (record[6] & 0x40) != 0)
		length = put_tag(bench, slot->frame, length);
	if (record[10] == 0xAA && bytes > 0)
		slot->frame[FRAME_HEADER_BYTES + fields.route_length] ^= 1;
	if (frame_check(slot->frame, length) != FRAME_FAULT_OK)
		return;
	nic_describe(&slot->packet, slot->frame, length, bench->now);
	slot->used = true;
	bench->held++;
	take_back(bench, nic_receive(bench->nic, &slot->packet, slot->frame, bench->now));
}

static void send_message(struct bench *bench, uint8_t how)
{
	struct nic_message message = {.destination = 1 + (how & 1u),
		.sl = 0,
		.bytes = 16 + how,
		.generated_ps = bench->now};

	nic_send(bench->nic, &message, bench->now);
}

/* Gives each host no route, a route, or a table entry, depending on 'how'. The former routes are
 * freed immediately. */
static void change_routes(struct bench *bench, uint8_t how)
{
	const uint8_t route[] = {ROUTE_PORT_BIT | 3, ROUTE_TYPE_HOST};
	struct nic_routes *routes = nic_routes_create(HOSTS);

	REQUIRE(routes != NULL);
	for (uint16_t to = 1; to < HOSTS; to++, how >>= 2) {
		if (how & 1)
			REQUIRE(nic_routes_add(routes, to, route, sizeof(route)) == 0);
		else if (how & 2)
			REQUIRE(nic_routes_by_table(routes, to) == 0);
	}
	REQUIRE(nic_set_routes(bench->nic, routes, bench->now) == 0);
	nic_routes_destroy(bench->routes);
	bench->routes = routes;
}

static void obey(struct bench *bench, uint8_t orders, uint8_t how)
{
	if (orders & 4)
		change_routes(bench, how);
	if (orders & 8)
		nic_pause(bench->nic, bench->now);
	if (orders & 16)
		take_back(bench, nic_purge(bench->nic));
	if (orders & 32)
		nic_resume(bench->nic, bench->now);
}

/* A frame in transit is still good with the changed bytes. */
static void pass_on(struct bench *bench, struct weft_packet *packet)
{
	struct slot *slot = (struct slot *)packet;

	frame_update_mutable(slot->frame, packet->mutable_word);
	REQUIRE(frame_check(slot->frame, packet->bytes) == FRAME_FAULT_OK);
	take_back(bench, packet);
}

static void note(struct bench *bench, const struct weft_packet *packet, const uint8_t *frame)
{
	const uint8_t *payload = frame + frame_payload_offset(frame_header_const(frame));
	uint16_t peer = packet->destination;
	struct control_flow flow;
	struct control_clock clock;

	if (packet->kind == FRAME_CLOCK) {
		REQUIRE(control_clock_decode(&clock, payload, CONTROL_CLOCK_BYTES));
		if (clock.step == CONTROL_CLOCK_ASK)
			bench->clock_number[peer] = clock.number;
	} else if (packet->kind == FRAME_DATA) {
		bench->asked_flow[peer] = (uint16_t)(packet->message >> 16);
		bench->asked_sequence[peer] = packet->sequence;
		bench->asked_message[peer] = packet->message;
	} else if (packet->kind == FRAME_FLOW) {
		REQUIRE(control_flow_decode(&flow, payload, CONTROL_FLOW_BYTES));
		if (flow.step == CONTROL_FLOW_OFFER) {
			bench->offered[peer] = flow;
			return;
		}
		bench->asked_flow[peer] = flow.flow;
		bench->asked_sequence[peer] = flow.sequence;
	}
}

static void inject(struct bench *bench)
{
	struct weft_packet packet, *next;
	uint8_t frame[ROOM];

	nic_poll(bench->nic, bench->now);
	for (unsigned i = 0; i < 32; i++) {
		next = nic_inject(bench->nic, bench->now, &packet);
		if (next == NULL)
			return;
		if (next != &packet) {
			pass_on(bench, next);
			continue;
		}
		REQUIRE(packet.bytes <= ROOM);
		nic_frame_build(bench->nic, &packet, frame, bench->now);
		REQUIRE(frame_check(frame, packet.bytes) == FRAME_FAULT_OK);
		REQUIRE(frame_payload_ok(frame));
		note(bench, &packet, frame);
	}
}

static void finish(struct bench *bench)
{
	REQUIRE(nic_check(bench->nic) == NULL);
	take_back(bench, nic_drain(bench->nic));
	REQUIRE(nic_check(bench->nic) == NULL);
	REQUIRE(bench->held == 0);
	nic_destroy(bench->nic);
	nic_routes_destroy(bench->routes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench bench;

	start(&bench, size > 0 ? data[0] : 0);
	while (size >= 16) {
		unsigned bytes = data[15] % 150;

		if (bytes > size - 16)
			bytes = (unsigned)(size - 16);
		bench.now += (weft_time)data[11] * data[12] * PS_PER_US;
		if (data[13] & 1)
			send_message(&bench, data[14]);
		if (data[13] & 2)
			inject(&bench);
		obey(&bench, data[13], data[14]);
		receive(&bench, data, data + 16, bytes);
		REQUIRE(nic_check(bench.nic) == NULL);
		data += 16 + bytes;
		size -= 16 + bytes;
	}
	finish(&bench);
	return 0;
}
