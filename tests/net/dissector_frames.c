/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Writes a pcapng file of good and damaged frames, created by lib/wire. dissector_test.py
 * identifies them by their numbers. */

#include <stdio.h>
#include <string.h>

#include "capture/pcapng.h"
#include "wire/cn.h"
#include "wire/control.h"
#include "wire/frame.h"
#include "wire/latency.h"
#include "wire/mapper_message.h"

#define PORT(n) (ROUTE_PORT_BIT | (n))

struct writer {
	struct pcapng pcapng;
	uint8_t frame[FRAME_BYTES_MAX];
	unsigned written;
};

static uint8_t *payload_at(struct writer *writer, unsigned route_length)
{
	return writer->frame + FRAME_HEADER_BYTES + route_length;
}

static void put_cut(struct writer *writer, unsigned bytes, unsigned captured, const char *comment)
{
	writer->written++;
	pcapng_write_packet(&writer->pcapng,
		&(struct pcapng_packet){.direction = writer->written % 2 ? PCAPNG_IN : PCAPNG_OUT,
			.time_ns = 1000000000000000000 + writer->written,
			.bytes = writer->frame,
			.captured_bytes = captured,
			.frame_bytes = bytes,
			.comment = comment});
}

static void put(struct writer *writer, unsigned bytes, const char *comment)
{
	put_cut(writer, bytes, bytes, comment);
}

/* h1 to h5 through two switches and an in-transit host; 100 bytes. */
static const uint8_t route[] = {
	PORT(3), PORT(1) | ROUTE_ADAPTIVE, ROUTE_TYPE_ITB, PORT(2), ROUTE_TYPE_HOST};

static struct frame_fields data_fields(void)
{
	return (struct frame_fields){.kind = FRAME_DATA,
		.fabric = 0x1234,
		.source = 1,
		.destination = 5,
		.sl = 2,
		.vc = 1,
		.vc_original = 3,
		.message = 0x10007,
		.sequence = 99,
		.injected_ns = 123456789,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = 100};
}

static unsigned build_data(struct writer *writer, const struct frame_fields *fields)
{
	for (unsigned i = 0; i < fields->payload_bytes; i++)
		payload_at(writer, fields->route_length)[i] = (uint8_t)(i * 7);
	return frame_build(writer->frame, fields);
}

/* 1 to 4: correct frames. */
static void put_good_data(struct writer *writer)
{
	struct frame_fields fields = data_fields();
	unsigned bytes = build_data(writer, &fields);

	put(writer, bytes, "vc 1, credits 113, voq 4, waited 250");
	frame_update_mutable(
		writer->frame, frame_mutable_word(2, 3, 2, FRAME_F_ADAPTED | FRAME_F_TAIL));
	put(writer, bytes, "vc 2, deflected: link down");
	fields.route_length = 0;
	fields.flags = FRAME_F_FECN | FRAME_F_BECN | FRAME_F_END_MARK;
	put(writer, build_data(writer, &fields), NULL);
	fields.payload_bytes = 0;
	put(writer, build_data(writer, &fields), NULL);
}

static const struct frame_fields link_fields = {
	.source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};

static void put_control(struct writer *writer, enum frame_kind kind, unsigned payload_bytes)
{
	struct frame_fields fields = link_fields;

	fields.kind = kind;
	fields.payload_bytes = (uint16_t)payload_bytes;
	put(writer, frame_build(writer->frame, &fields), NULL);
}

/* 5 to 8. */
static void put_good_control(struct writer *writer)
{
	const struct control_credit credit = {.session = 0x11223344,
		.peer_session = 0x55667788,
		.vcs = 2,
		.sent = {10, 4294967295},
		.limit = {138, 127}};
	const struct control_hello hello = {.device = 0x0123456789ABCDEF,
		.session = 7,
		.peer_session = 8,
		.port = 3,
		.kind = 1,
		.generation = 4,
		.peer_generation = 5};
	struct control_ack ack = {.expected = 1000, .again = 0, .flow = 6, .session = 9};
	uint8_t *payload = payload_at(writer, 0);

	put_control(writer, FRAME_CREDIT, control_credit_encode(&credit, payload));
	put_control(writer, FRAME_HELLO, control_hello_encode(&hello, payload));
	put_control(writer, FRAME_ACK, control_ack_encode(&ack, payload));
	ack.again = 2;
	ack.missing = 3;
	put_control(writer, FRAME_ACK, control_ack_encode(&ack, payload));
}

static uint16_t ip_checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	return (uint16_t) ~(sum % 0x10000 + sum / 0x10000);
}

/* UDP with this many bytes. */
static unsigned put_ip(uint8_t *at, uint8_t bytes)
{
	static const uint8_t packet[28] = {0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0, 10, 87, 0, 2,
		10, 87, 0, 6, 0x30, 0x39, 0xD4, 0x31, 0, 8, 0, 0};
	uint16_t checksum;

	memcpy(at, packet, sizeof(packet));
	memset(at + sizeof(packet), 0, bytes);
	at[3] = (uint8_t)(at[3] + bytes);
	at[25] = (uint8_t)(at[25] + bytes);
	checksum = ip_checksum(at);
	at[10] = (uint8_t)(checksum >> 8);
	at[11] = (uint8_t)checksum;
	return (unsigned)sizeof(packet) + bytes;
}

/* 9: an IPv4 packet of a program; 10: inside an Ethernet frame; 11: with a wrong checksum. */
static void put_programs(struct writer *writer)
{
	static const uint8_t ethernet[14] = {2, 0, 0, 0, 0, 6, 2, 0, 0, 0, 0, 2, 8, 0};
	struct frame_fields fields = data_fields();
	uint8_t *payload = payload_at(writer, sizeof(route));

	fields.payload_bytes = (uint16_t)put_ip(payload, 0);
	put(writer, frame_build(writer->frame, &fields), NULL);
	memcpy(payload, ethernet, sizeof(ethernet));
	fields.payload_bytes = (uint16_t)(sizeof(ethernet) + put_ip(payload + sizeof(ethernet), 0));
	put(writer, frame_build(writer->frame, &fields), NULL);
	fields.payload_bytes = (uint16_t)put_ip(payload, 0);
	payload[11] ^= 1;
	put(writer, frame_build(writer->frame, &fields), NULL);
}

/* 68: an IPv4 packet of a program that the capture truncated. */
static void put_cut_program(struct writer *writer)
{
	struct frame_fields fields = data_fields();

	fields.payload_bytes = (uint16_t)put_ip(payload_at(writer, sizeof(route)), 50);
	put_cut(writer, frame_build(writer->frame, &fields),
		(unsigned)(FRAME_HEADER_BYTES + sizeof(route)) + 40, NULL);
}

/* Changes a byte of the header and corrects the CRC again. */
static void impairment(struct writer *writer, size_t offset, uint8_t value)
{
	struct frame_header *header = frame_header(writer->frame);
	uint16_t crc;

	writer->frame[FRAME_HEADER_OFFSET + offset] = value;
	crc = frame_header_crc(writer->frame);
	header->crc_be = (uint16_t)(crc >> 8 | crc << 8);
}

/* 12 to 22: one error in each. */
static void put_bad(struct writer *writer)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} wrong[] = {
		{offsetof(struct frame_header, version), 9},
		{offsetof(struct frame_header, kind), 77},
		{offsetof(struct frame_header, cursor), 6},
		{offsetof(struct frame_header, vc), 16},
		{offsetof(struct frame_header, sl), 16},
		{offsetof(struct frame_header, payload_bytes_be), 0x10},
		{offsetof(struct frame_header, cursor), 5},
	};
	struct frame_fields fields = data_fields();
	unsigned bytes;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		bytes = build_data(writer, &fields);
		impairment(writer, wrong[i].offset, wrong[i].value);
		put(writer, bytes, NULL);
	}
	bytes = build_data(writer, &fields);
	frame_header(writer->frame)->sl ^= 1;
	put(writer, bytes, NULL);
	bytes = build_data(writer, &fields);
	writer->frame[bytes - 1] ^= 0x80;
	put(writer, bytes, NULL);
	bytes = build_data(writer, &fields);
	writer->frame[FRAME_HEADER_OFFSET + offsetof(struct frame_header, route_length)] = 65;
	put(writer, bytes, NULL);
	put(writer, 30, NULL);
}

/* 23: ends at a port; 24: an unknown type; 25: elements after the host. */
static void put_bad_routes(struct writer *writer)
{
	static const uint8_t routes[][3] = {
		{PORT(1), PORT(2), PORT(3)}, {PORT(1), 0x05, 0x01}, {PORT(1), 0x01, 0x01}};
	struct frame_fields fields = data_fields();

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		fields.route = routes[i];
		fields.route_length = sizeof(routes[i]);
		put(writer, build_data(writer, &fields), NULL);
	}
}

/* 26: as 1, truncated by the capture; 27: a device with a comment; 28: with another reason; 29: a
 * credit frame of wrong length; 30: an empty hello; 31: the longest frame; 32: a notification; 33:
 * a notification of a VC that does not exist. */
static void put_rest(struct writer *writer)
{
	static uint8_t longest[FRAME_ROUTE_MAX];
	struct frame_fields fields = data_fields();
	unsigned bytes = build_data(writer, &fields);
	struct control_arn arn = {.id = 0x01020305, .destination = 4, .vc = 2, .root_info = 1};

	put_cut(writer, bytes, 60, NULL);
	put(writer, bytes, "vc 1, discard_routing_error");
	put(writer, bytes, "vc 1, credits 0, refused: header_crc");
	put_control(writer, FRAME_CREDIT, 13);
	put_control(writer, FRAME_HELLO, 0);
	memset(longest, PORT(63), sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = ROUTE_TYPE_HOST;
	fields.route = longest;
	fields.route_length = sizeof(longest);
	fields.payload_bytes = FRAME_PAYLOAD_MAX;
	put(writer, build_data(writer, &fields), NULL);
	put_control(writer, FRAME_ARN, control_arn_encode(&arn, payload_at(writer, 0)));
	arn.vc = FRAME_VCS_MAX;
	put_control(writer, FRAME_ARN, control_arn_encode(&arn, payload_at(writer, 0)));
}

static const uint8_t agent_route[] = {PORT(2), PORT(7), ROUTE_TYPE_AGENT};

static void put_mapper(struct writer *writer, const struct mapper_message *message)
{
	uint8_t *payload = payload_at(writer, sizeof(agent_route));
	struct frame_fields fields = link_fields;

	fields.kind = mapper_type_kind(message->type);
	fields.route = agent_route;
	fields.route_length = sizeof(agent_route);
	fields.payload_bytes = (uint16_t)mapper_message_encode(message, payload);
	for (unsigned i = 0; message->keyed && i < MAPPER_TAG_BYTES; i++)
		payload[fields.payload_bytes - MAPPER_TAG_BYTES + i] = (uint8_t)(0xA0 + i);
	put(writer, frame_build(writer->frame, &fields), NULL);
}

static struct mapper_message from_mapper(enum mapper_type type)
{
	return (struct mapper_message){.type = (uint8_t)type,
		.keyed = true,
		.sender = 0x100000003,
		.target = 18,
		.counter = 0x1122334455667788,
		.target_session = 0xABCD,
		.command = {.priority = 5,
			.session = 0x7001,
			.back_length = 3,
			.back = {PORT(4), PORT(1), ROUTE_TYPE_AGENT}}};
}

static struct mapper_message from_device(enum mapper_type type)
{
	return (struct mapper_message){.type = (uint8_t)type,
		.sender = 18,
		.target = 0x100000003,
		.counter = 9,
		.target_session = 0x7001};
}

/* 34 to 39: messages of a mapper. */
static void put_commands(struct writer *writer)
{
	static const uint8_t part[] = {1, 2, 3, 4, 5};
	struct mapper_message message = from_mapper(MAPPER_PROBE);

	message.target = message.target_session = 0;
	message.probe = (struct mapper_probe){77, 12};
	put_mapper(writer, &message);
	message = from_mapper(MAPPER_TABLE);
	message.table = (struct mapper_table){13, 900, 100, sizeof(part), part};
	put_mapper(writer, &message);
	message = from_mapper(MAPPER_PHASE);
	message.phase = (struct mapper_phase){13, MAPPER_PAUSE, MAPPER_PHASE_PURGE, 21};
	put_mapper(writer, &message);
	message = from_mapper(MAPPER_HEARTBEAT);
	message.heartbeat = (struct mapper_heartbeat){13, 2};
	put_mapper(writer, &message);
	message = from_mapper(MAPPER_ACKNOWLEDGE);
	message.acknowledge = (struct mapper_acknowledge){31};
	put_mapper(writer, &message);
	message = from_mapper(MAPPER_READ);
	message.read = (struct mapper_read){100, 512};
	put_mapper(writer, &message);
}

/* 40 to 43: answers of devices, and a report. */
static void put_answers(struct writer *writer)
{
	static const uint8_t part[] = {6, 7};
	struct mapper_message message = from_device(MAPPER_REPLY);

	message.reply = (struct mapper_reply){.probe = 77,
		.kind = 0,
		.ports = 24,
		.entry = 3,
		.flags = MAPPER_REPLY_PAUSED,
		.session = 0xABCD,
		.epoch = 12,
		.followed = 0x100000003,
		.followed_priority = 5,
		.priority = 1,
		.number = 17,
		.age = 20,
		.version = 0x10000,
		.linked = 0xFF,
		.digest = 0xDEADBEEF,
		.name_length = 3,
		.name = "s17"};
	put_mapper(writer, &message);
	message = from_device(MAPPER_STATUS);
	message.status = (struct mapper_status){.epoch = 13,
		.staged_bytes = 105,
		.committed = 12,
		.stage = MAPPER_STAGE_READY,
		.flags = MAPPER_STATUS_PAUSED | MAPPER_STATUS_IDLE,
		.round = 21,
		.session = 0xABCD,
		.followed = 0x100000003,
		.followed_priority = 5};
	put_mapper(writer, &message);
	message = from_device(MAPPER_REPORT);
	message.report = (struct mapper_report){31, 0xABCD, 6, true};
	put_mapper(writer, &message);
	message = from_device(MAPPER_IMAGE);
	message.image = (struct mapper_image_part){12, 900, 898, 0xDEADBEEF, sizeof(part), part};
	put_mapper(writer, &message);
}

/* 44: a body whose length does not match its type; 45: an unknown type; 46: no message; 47: a route
 * that ends at a host. */
static void put_bad_mapper(struct writer *writer)
{
	struct frame_fields fields = link_fields;
	uint8_t *payload = payload_at(writer, sizeof(agent_route));
	struct mapper_message message = from_mapper(MAPPER_HEARTBEAT);
	static const uint8_t to_host[] = {PORT(2), PORT(7), ROUTE_TYPE_HOST};

	fields.kind = FRAME_MAPPER;
	fields.route = agent_route;
	fields.route_length = sizeof(agent_route);
	fields.payload_bytes = (uint16_t)mapper_message_encode(&message, payload);
	payload[0] = MAPPER_REPLY;
	put(writer, frame_build(writer->frame, &fields), NULL);
	payload[0] = MAPPER_TYPE_COUNT;
	put(writer, frame_build(writer->frame, &fields), NULL);
	fields.payload_bytes = 0;
	put(writer, frame_build(writer->frame, &fields), NULL);
	fields.route = to_host;
	fields.payload_bytes = (uint16_t)mapper_message_encode(&message, payload);
	put(writer, frame_build(writer->frame, &fields), NULL);
}

/* 48: a multi-step path in progress; 49: a step without a port before it; 50: three steps. */
static void put_steps(struct writer *writer)
{
	static const uint8_t good[] = {PORT(2), ROUTE_TYPE_STEP, PORT(0), PORT(0), ROUTE_TYPE_STEP,
		PORT(3), ROUTE_TYPE_HOST};
	static const uint8_t early[] = {ROUTE_TYPE_STEP, PORT(0), ROUTE_TYPE_HOST};
	static const uint8_t many[] = {PORT(1), ROUTE_TYPE_STEP, PORT(2), ROUTE_TYPE_STEP, PORT(3),
		ROUTE_TYPE_STEP, PORT(4), ROUTE_TYPE_HOST};
	struct frame_fields fields = data_fields();

	fields.route = good;
	fields.route_length = sizeof(good);
	build_data(writer, &fields);
	frame_update_mutable(writer->frame, frame_mutable_word(0, 0, 1, 0));
	put(writer, FRAME_HEADER_BYTES + sizeof(good) + 100, NULL);
	fields.route = early;
	fields.route_length = sizeof(early);
	put(writer, build_data(writer, &fields), NULL);
	fields.route = many;
	fields.route_length = sizeof(many);
	put(writer, build_data(writer, &fields), NULL);
}

/* 51: an acknowledgement with a seal. */
static void put_sealed(struct writer *writer)
{
	static const uint8_t seal[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8};
	const struct control_ack ack = {.expected = 1000, .flow = 6, .session = 9};
	struct frame_fields fields = {.kind = FRAME_ACK, .source = 1, .destination = 5};

	fields.payload_bytes = (uint16_t)control_ack_encode(&ack, payload_at(writer, 0));
	frame_build(writer->frame, &fields);
	memcpy(payload_at(writer, 0) + fields.payload_bytes, seal, sizeof(seal));
	put(writer, FRAME_HEADER_BYTES + fields.payload_bytes + sizeof(seal), NULL);
}

/* 52: a sender requests a flow; 53: an offer; 54: an unknown step. */
static void put_flows(struct writer *writer)
{
	struct control_flow flow = {.step = CONTROL_FLOW_ASK, .flow = 6, .sequence = 70000};

	put_control(writer, FRAME_FLOW, control_flow_encode(&flow, payload_at(writer, 0)));
	flow.step = CONTROL_FLOW_OFFER;
	flow.offered = 9;
	flow.number = 44;
	flow.first = 123456;
	flow.session = 7;
	put_control(writer, FRAME_FLOW, control_flow_encode(&flow, payload_at(writer, 0)));
	flow.step = 3;
	put_control(writer, FRAME_FLOW, control_flow_encode(&flow, payload_at(writer, 0)));
}

/* 55: data that has waited behind two flows; 56: with a wrong check; 57: with more flows than fit;
 * 58: truncated within the extension. */
static void put_extensions(struct writer *writer)
{
	const struct cn_flow flows[] = {{1, 2}, {3, 4}};
	struct latency_extension *extension = (void *)payload_at(writer, sizeof(route));
	struct frame_fields fields = data_fields();
	unsigned bytes;

	fields.flags = FRAME_F_LATENCY;
	memset(payload_at(writer, sizeof(route)) + FRAME_LATENCY_BYTES, 0x5A, 100);
	latency_begin(extension, 3);
	latency_add(extension, 1234);
	latency_record(extension, flows, 2);
	latency_seal(extension);
	bytes = frame_build(writer->frame, &fields);
	put(writer, bytes, NULL);
	latency_add(extension, 1);
	put(writer, bytes, NULL);
	extension->flows = CN_FLOWS_MAX + 1;
	latency_seal(extension);
	put(writer, bytes, NULL);
	put_cut(writer, bytes, 60, NULL);
}

/* 59: a notification; 60: the answer to a marked frame without extension; 61: with a duplicate
 * flow; 62: a BECN for a frame that was not marked. */
static void put_notifications(struct writer *writer)
{
	struct cn cn = {.message = 65543,
		.sequence = 99,
		.waiting_ns = 1234,
		.path = 3,
		.flags = CN_F_PREDICTIVE,
		.flows = 2,
		.flow = {{1, 2}, {3, 4}}};
	struct cn mark = {.message = 5,
		.sequence = 6,
		.path = CN_PATH_UNKNOWN,
		.flags = CN_F_FECN | CN_F_BECN};

	put_control(writer, FRAME_CN, cn_encode(&cn, payload_at(writer, 0)));
	put_control(writer, FRAME_CN, cn_encode(&mark, payload_at(writer, 0)));
	cn.flow[1] = cn.flow[0];
	put_control(writer, FRAME_CN, cn_encode(&cn, payload_at(writer, 0)));
	mark.flags = CN_F_BECN;
	put_control(writer, FRAME_CN, cn_encode(&mark, payload_at(writer, 0)));
}

/* 63, 64: data with a tag, longer than the shortest frame, and not. */
static void put_tagged(struct writer *writer)
{
	static const uint8_t tag[] = {0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8};

	for (unsigned i = 0; i < 2; i++) {
		struct frame_fields fields = {.kind = FRAME_DATA, .source = 1, .destination = 5};
		unsigned bytes;

		fields.payload_bytes = i == 0 ? 20 : 3;
		memset(payload_at(writer, 0), 0x5A, fields.payload_bytes);
		bytes = frame_build(writer->frame, &fields);
		memcpy(payload_at(writer, 0) + fields.payload_bytes, tag, sizeof(tag));
		put(writer, i == 0 ? bytes + sizeof(tag) : bytes, NULL);
	}
}

/* 65: a question about a clock; 66: its answer; 67: an answer that left before the question
 * arrived. */
static void put_clocks(struct writer *writer)
{
	struct control_clock clock = {.step = CONTROL_CLOCK_ASK,
		.clock = 0xC10C,
		.number = 0x1122334455667788,
		.left_ns = 7000};

	put_control(writer, FRAME_CLOCK, control_clock_encode(&clock, payload_at(writer, 0)));
	clock.step = CONTROL_CLOCK_ANSWER;
	clock.heard_ns = 5000000000;
	clock.left_ns = 5000000100;
	put_control(writer, FRAME_CLOCK, control_clock_encode(&clock, payload_at(writer, 0)));
	clock.left_ns = 4999999999;
	put_control(writer, FRAME_CLOCK, control_clock_encode(&clock, payload_at(writer, 0)));
}

/* 69: the previous version, with host addresses. */
static void put_version_2(struct writer *writer)
{
	struct frame_fields fields = data_fields();
	unsigned bytes = build_data(writer, &fields);

	memcpy(writer->frame, (const uint8_t[]){2, 0x57, 0, 5, 0x12, 0x34, 2, 0x57, 0, 1}, 10);
	impairment(writer, offsetof(struct frame_header, version), 2);
	put(writer, bytes, NULL);
}

/* 70: a route through a port above 63. */
static void put_high_port(struct writer *writer)
{
	static const uint8_t high[] = {PORT(3), ROUTE_TYPE_HIGH | 1, PORT(5), ROUTE_TYPE_HOST};
	struct frame_fields fields = data_fields();

	fields.route = high;
	fields.route_length = sizeof(high);
	put(writer, build_data(writer, &fields), NULL);
}

int main(int argc, char **argv)
{
	static struct writer writer;
	FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;

	if (file == NULL) {
		fprintf(stderr, "usage: dissector_frames FILE\n");
		return 2;
	}
	pcapng_begin(&writer.pcapng, pcapng_write_stdio, file, "weft test");
	pcapng_add_interface(&writer.pcapng, "s0:1", FRAME_BYTES_MAX, 10000000000);
	put_good_data(&writer);
	put_good_control(&writer);
	put_programs(&writer);
	put_bad(&writer);
	put_bad_routes(&writer);
	put_rest(&writer);
	put_commands(&writer);
	put_answers(&writer);
	put_bad_mapper(&writer);
	put_steps(&writer);
	put_sealed(&writer);
	put_flows(&writer);
	put_extensions(&writer);
	put_notifications(&writer);
	put_tagged(&writer);
	put_clocks(&writer);
	put_cut_program(&writer);
	put_version_2(&writer);
	put_high_port(&writer);
	pcapng_write_counts(&writer.pcapng, 0, 1000000000000000000 + writer.written, 1000, 17);
	return fclose(file) == 0 && writer.pcapng.failed == 0 ? 0 : 1;
}
