/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Frames from the wire. Whatever arrives, the checks read nothing beyond it, accept only good
 * frames, and accepted frames have the promised properties. The first byte tells whether the header
 * CRC is corrected first, because the fuzzer would hardly ever find a correct one. */

#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>

#include "fuzz.h"
#include "wire/cn.h"
#include "wire/control.h"
#include "wire/frame_check.h"
#include "wire/latency.h"

static void seal(uint8_t *frame, size_t bytes)
{
	struct frame_header *header = frame_header(frame);

	if (bytes >= FRAME_HEADER_BYTES && header->route_length <= FRAME_ROUTE_MAX &&
		frame_payload_offset(header) <= bytes)
		header->crc_be = htons(frame_header_crc(frame));
}

/* Data that the quick check accepts. */
static bool is_quick(const struct frame_header *header)
{
	return header->kind == FRAME_DATA && !frame_has_latency(header);
}

/* The quick check for data frames and the check that names the fault must agree. */
static void require_agreement(const uint8_t *frame, size_t bytes)
{
	enum frame_fault fault = frame_find_fault(frame, bytes);
	bool data = fault == FRAME_FAULT_OK && is_quick(frame_header_const(frame));

	REQUIRE(frame_is_good_data(frame, bytes) == data);
	REQUIRE(frame_check(frame, bytes) == fault);
	REQUIRE(frame_fault_name(fault) != NULL);
}

/* A port accepts as plain data everything that the check in its fabric accepts from that source. */
static void require_identities_agree(const uint8_t *frame, size_t bytes, uint16_t fabric)
{
	enum frame_fault fault = frame_find_fault_in(frame, bytes, fabric);
	const struct frame_header *header = frame_header_const(frame);
	bool data = fault == FRAME_FAULT_OK && is_quick(header);
	struct frame_identity identity = frame_identity_of(fabric);

	REQUIRE(frame_is_good_data_as(frame, bytes, &identity) == data);
	identity = frame_identity_of_host(fabric, 7);
	REQUIRE(frame_is_good_data_as(frame, bytes, &identity) ==
		(data && ntohs(header->source_be) == 7));
}

/* After a switch's changes, a good frame is still good, and undoing the changes restores the
 * bytes. */
static void require_updates_hold(uint8_t *frame, size_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);
	uint32_t before =
		frame_mutable_word(header->vc, header->vc_original, header->cursor, header->flags);
	uint32_t after = frame_mutable_word((uint8_t)(header->vc ^ 5), header->vc_original,
		header->route_length, (uint8_t)(header->flags ^ FRAME_F_ADAPTED));
	uint16_t crc = header->crc_be;

	frame_update_mutable(frame, after);
	REQUIRE(frame_check(frame, bytes) == FRAME_FAULT_OK);
	frame_update_mutable(frame, before);
	REQUIRE(header->crc_be == crc);
}

/* A frame with one flipped bit in the header or the route is never good. route_length is excluded:
 * a change of it makes the CRC cover other bytes, and 1 in 65,536 such frames passes. */
static void require_damage_is_seen(uint8_t *frame, size_t bytes, unsigned where)
{
	unsigned covered =
		FRAME_HEADER_BYTES + frame_header_const(frame)->route_length - FRAME_HEADER_OFFSET;
	unsigned byte = FRAME_HEADER_OFFSET + where / 8 % covered;

	if (byte == FRAME_HEADER_OFFSET + offsetof(struct frame_header, route_length))
		return;
	frame[byte] ^= (uint8_t)(1u << where % 8);
	REQUIRE(frame_check(frame, bytes) != FRAME_FAULT_OK);
	frame[byte] ^= (uint8_t)(1u << where % 8);
}

/* A decoder that accepts a payload understands it completely: encoding restores the bytes, except
 * reserved ones. */
static void try_decoders(const uint8_t *payload, unsigned bytes)
{
	uint8_t again[CONTROL_CREDIT_BYTES_MAX];
	struct control_credit credit;
	struct control_hello hello;
	struct control_ack ack;
	struct control_arn arn;

	if (control_credit_decode(&credit, payload, bytes)) {
		REQUIRE(control_credit_encode(&credit, again) == bytes);
		REQUIRE(memcmp(again, payload, 9) == 0);
		REQUIRE(memcmp(again + 12, payload + 12, bytes - 12) == 0);
	}
	if (control_hello_decode(&hello, payload, bytes)) {
		REQUIRE(control_hello_encode(&hello, again) == bytes);
		REQUIRE(memcmp(again, payload, 18) == 0);
		REQUIRE(memcmp(again + 20, payload + 20, 8) == 0);
	}
	if (control_ack_decode(&ack, payload, bytes)) {
		REQUIRE(control_ack_encode(&ack, again) == bytes);
		REQUIRE(memcmp(again, payload, bytes) == 0);
	}
	if (control_arn_decode(&arn, payload, bytes)) {
		REQUIRE(control_arn_encode(&arn, again) == bytes);
		REQUIRE(memcmp(again, payload, bytes) == 0);
	}
}

/* An accepted notification has flows in range, each once, and is understood completely. */
static void try_notification(const uint8_t *payload, unsigned bytes)
{
	uint8_t again[CN_BYTES_MAX];
	struct cn cn;

	if (!cn_decode(&cn, payload, bytes))
		return;
	REQUIRE(cn.flows <= CN_FLOWS_MAX && cn_flows_ok(cn.flow, cn.flows));
	REQUIRE(cn.path <= CN_PATH_MAX || cn.path == CN_PATH_UNKNOWN);
	REQUIRE(cn_encode(&cn, again) == bytes);
	REQUIRE(memcmp(again, payload, bytes) == 0);
}

/* A switch's changes keep an extension valid, and its time never decreases. An extension that a
 * receiver accepts becomes a notification that the source accepts. */
static void try_extension(const uint8_t *frame, unsigned at, uint32_t waiting_ns)
{
	struct latency_extension extension;
	struct cn cn = {0};
	uint32_t before;

	memcpy(&extension, frame + at, sizeof(extension));
	before = latency_waiting_ns(&extension);
	if (latency_decode(&cn, &extension)) {
		uint8_t payload[CN_BYTES_MAX];

		REQUIRE(cn_decode(&cn, payload, cn_encode(&cn, payload)));
	}
	latency_add(&extension, waiting_ns);
	REQUIRE(latency_waiting_ns(&extension) >= before);
	latency_seal(&extension);
	REQUIRE(latency_check_ok(&extension));
}

static void try_good_frame(uint8_t *frame, size_t bytes, unsigned where)
{
	const struct frame_header *header = frame_header_const(frame);
	unsigned offset = frame_payload_offset(header), payload = ntohs(header->payload_bytes_be);
	uint8_t *copy;

	REQUIRE(offset + payload <= bytes);
	REQUIRE(header->crc_be == htons(frame_header_crc(frame)));
	frame_payload_ok(frame);
	if (frame_has_latency(header))
		try_extension(frame, offset - FRAME_LATENCY_BYTES, where);
	require_updates_hold(frame, bytes);
	require_damage_is_seen(frame, bytes, where);
	/* In memory of exactly its size, so that a read beyond the payload is detected. */
	copy = malloc(payload + (payload == 0));
	REQUIRE(copy != NULL);
	memcpy(copy, frame + offset, payload);
	try_decoders(copy, payload);
	try_notification(copy, payload);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame;

	if (size < 3 || size > 3 + FRAME_BYTES_MAX)
		return 0;
	frame = malloc(size - 3 + (size == 3));
	REQUIRE(frame != NULL);
	memcpy(frame, data + 3, size - 3);
	if ((data[0] & 1) != 0)
		seal(frame, size - 3);
	require_agreement(frame, size - 3);
	require_identities_agree(frame, size - 3, data[1]);
	if (size - 3 >= FRAME_HEADER_BYTES)
		require_identities_agree(frame, size - 3, frame_fabric(frame));
	if (frame_check(frame, size - 3) == FRAME_FAULT_OK)
		try_good_frame(frame, size - 3, data[1] | (unsigned)data[2] << 8);
	try_decoders(frame, (unsigned)(size - 3));
	try_notification(frame, (unsigned)(size - 3));
	free(frame);
	return 0;
}
