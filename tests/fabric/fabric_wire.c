/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fabric_wire.h"

#include <arpa/inet.h>

#include "unit.h"

void fabric_fail(const struct fabric *fabric, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fail_msg("seed %llu, step %llu, %llu delivered: %s",
		(unsigned long long)fabric->config.seed,
		(unsigned long long)(fabric->now / FABRIC_STEP_PS),
		(unsigned long long)fabric->delivered, text);
}

void fabric_wire_init(struct fabric_wire *wire, const struct fabric_config *config,
	weft_time delay_ps, uint32_t data_items)
{
	uint32_t room = 1;

	while (room < data_items + FABRIC_CONTROL_ROOM)
		room *= 2;
	wire->delay_ps = delay_ps;
	wire->mask = room - 1;
	wire->item = calloc(room, sizeof(*wire->item));
	wire->budget_blocks = (int32_t)config->link_blocks;
	assert_non_null(wire->item);
}

static void push(struct fabric *fabric, struct fabric_wire *wire, struct weft_packet *packet)
{
	if (wire->tail - wire->head > wire->mask)
		fabric_fail(fabric, "more frames on a wire than its credits allow");
	wire->item[wire->tail++ & wire->mask] =
		(struct fabric_item){.arrives_ps = fabric->now + wire->delay_ps, .packet = packet};
}

void fabric_wire_send(struct fabric *fabric, struct fabric_wire *wire, struct weft_packet *packet)
{
	wire->budget_blocks -= packet->blocks;
	if (__builtin_expect(wire->cut, 0) ||
		(fabric->data_loss_ppm != 0 &&
			rng_chance_ppm(&fabric->rng, fabric->data_loss_ppm))) {
		wire->lost_packets++;
		wire->lost_blocks += packet->blocks;
		fabric->lost++;
		fabric_packet_put(fabric, packet);
		return;
	}
	push(fabric, wire, packet);
}

static uint32_t encode(
	struct fabric *fabric, struct fabric_end *end, enum frame_kind kind, uint8_t *frame)
{
	struct frame_fields fields = {
		.kind = kind, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	struct control_credit credit;
	struct control_hello hello;
	unsigned bytes;

	if (kind == FRAME_CREDIT) {
		link_end_fill_credit(end->link, &credit, fabric->now);
		bytes = control_credit_encode(&credit, frame + FRAME_HEADER_BYTES);
	} else {
		link_end_fill_hello(end->link, &hello, fabric->now);
		bytes = control_hello_encode(&hello, frame + FRAME_HEADER_BYTES);
	}
	fields.payload_bytes = (uint16_t)bytes;
	return frame_build(frame, &fields);
}

static void send_one(struct fabric *fabric, struct fabric_end *end, enum frame_kind kind)
{
	struct fabric_wire *wire = end->out;
	struct fabric_control *control = &wire->control[wire->control_tail % FABRIC_CONTROL_ROOM];

	if (wire->control_tail - wire->control_head >= FABRIC_CONTROL_ROOM)
		fabric_fail(fabric, "a flood of control frames");
	control->bytes = encode(fabric, end, kind, control->frame);
	if (wire->cut || (kind == FRAME_CREDIT && fabric->credit_loss_ppm != 0 &&
				 rng_chance_ppm(&fabric->rng, fabric->credit_loss_ppm))) {
		wire->lost_credits += kind == FRAME_CREDIT;
		return;
	}
	wire->control_tail++;
	push(fabric, wire, NULL);
}

void fabric_send_control(struct fabric *fabric, struct fabric_end *end, unsigned due)
{
	if (due & LINK_SEND_HELLO)
		send_one(fabric, end, FRAME_HELLO);
	if (due & LINK_SEND_CREDIT)
		send_one(fabric, end, FRAME_CREDIT);
}

void fabric_take_control(struct fabric_wire *wire, struct fabric_control_frame *frame)
{
	const struct fabric_control *control =
		&wire->control[wire->control_head++ % FABRIC_CONTROL_ROOM];
	const struct frame_header *header = frame_header_const(control->frame);
	const uint8_t *payload = control->frame + FRAME_HEADER_BYTES;
	unsigned bytes = ntohs(header->payload_bytes_be);

	assert_int_equal(frame_check(control->frame, control->bytes), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(control->frame));
	frame->kind = header->kind;
	if (frame->kind == FRAME_CREDIT)
		assert_true(control_credit_decode(&frame->credit, payload, bytes));
	else
		assert_true(control_hello_decode(&frame->hello, payload, bytes));
}

struct weft_packet *fabric_packet_get(struct fabric *fabric)
{
	struct weft_packet *packet = fabric->free;

	if (packet == NULL)
		fabric_fail(fabric, "more packets than all buffers hold");
	fabric->free = packet->next;
	fabric->live++;
	return packet;
}

void fabric_packet_put(struct fabric *fabric, struct weft_packet *packet)
{
	if (packet->kind != FRAME_DATA)
		fabric_fail(fabric, "a packet was freed twice");
	packet->kind = 0;
	packet->next = fabric->free;
	fabric->free = packet;
	fabric->live--;
}
