/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wire/frame.h"

#include <arpa/inet.h>

#include "base/rng.h"
#include "unit.h"
#include "wire/frame_check.h"

#define ROOM (FRAME_BYTES_MAX + 64)

/* A frame with random contents that passes every check. Returns its length. */
static unsigned build_any(struct rng *rng, uint8_t *frame)
{
	uint8_t route[FRAME_ROUTE_MAX];
	struct frame_fields fields = {
		.kind = FRAME_DATA,
		.source = (uint16_t)rng_next(rng),
		.destination = (uint16_t)rng_next(rng),
		.sl = (uint8_t)rng_below(rng, 16),
		.vc = (uint8_t)rng_below(rng, FRAME_VCS_MAX),
		.vc_original = (uint8_t)rng_below(rng, FRAME_VCS_MAX),
		.flags = (uint8_t)rng_next(rng),
		.message = (uint32_t)rng_next(rng),
		.sequence = (uint32_t)rng_next(rng),
		.injected_ns = (uint32_t)rng_next(rng),
		.route = route,
		.route_length = (uint8_t)rng_below(rng, FRAME_ROUTE_MAX + 1),
		.payload_bytes = (uint16_t)rng_below(rng, 300),
	};

	for (unsigned i = 0; i < FRAME_ROUTE_MAX; i++)
		route[i] = (uint8_t)rng_next(rng);
	for (unsigned i = 0; i < fields.payload_bytes; i++)
		frame[FRAME_HEADER_BYTES + fields.route_length + i] = (uint8_t)rng_next(rng);
	return frame_build(frame, &fields);
}

/* After a change of header fields, so that the frame is not refused because of the CRC. */
static void seal(uint8_t *frame)
{
	frame_header(frame)->crc_be = htons(frame_header_crc(frame));
}

static unsigned build_plain(uint8_t *frame, unsigned route_length, unsigned payload_bytes)
{
	uint8_t route[FRAME_ROUTE_MAX];
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 1,
		.destination = 2,
		.route = route,
		.route_length = (uint8_t)route_length,
		.payload_bytes = (uint16_t)payload_bytes};

	memset(route, ROUTE_PORT_BIT, sizeof(route));
	memset(frame + FRAME_HEADER_BYTES + route_length, 0x5A, payload_bytes);
	return frame_build(frame, &fields);
}

UNIT_TEST(what_is_built_passes_every_check)
{
	uint8_t frame[ROOM];
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 5000; i++) {
		unsigned bytes = build_any(&rng, frame);

		assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
		assert_true(frame_payload_ok(frame));
	}
}

UNIT_TEST(what_is_built_says_what_the_sender_said)
{
	const uint8_t route[3] = {0x81, 0xC2, ROUTE_TYPE_HOST};
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 0x0102,
		.destination = 0x0304,
		.sl = 5,
		.vc = 6,
		.vc_original = 7,
		.flags = FRAME_F_TAIL,
		.message = 0x08090a0b,
		.sequence = 0x0c0d0e0f,
		.injected_ns = 0x10111213,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = 100};
	uint8_t frame[ROOM] = {0};
	const struct frame_header *header = frame_header_const(frame);

	assert_int_equal(frame_build(frame, &fields), FRAME_HEADER_BYTES + 3 + 100);
	assert_int_equal(ntohs(header->source_be), fields.source);
	assert_int_equal(ntohs(header->destination_be), fields.destination);
	assert_int_equal(ntohs(header->payload_bytes_be), 100);
	assert_int_equal(ntohl(header->message_be), fields.message);
	assert_int_equal(ntohl(header->sequence_be), fields.sequence);
	assert_int_equal(ntohl(header->injected_ns_be), fields.injected_ns);
	assert_int_equal(header->sl, 5);
	assert_int_equal(header->vc, 6);
	assert_int_equal(header->vc_original, 7);
	assert_int_equal(header->cursor, 0);
	assert_int_equal(header->flags, FRAME_F_TAIL);
	assert_memory_equal(frame_route(frame), route, sizeof(route));
	assert_int_equal(frame_payload_offset(header), FRAME_HEADER_BYTES + 3);
}

UNIT_TEST(a_short_frame_is_padded_with_zeros_to_ethernets_minimum)
{
	uint8_t frame[ROOM];

	memset(frame, 0xFF, sizeof(frame));
	assert_int_equal(build_plain(frame, 0, 5), FRAME_BYTES_MIN);
	for (unsigned i = FRAME_HEADER_BYTES + 5; i < FRAME_BYTES_MIN; i++)
		assert_int_equal(frame[i], 0);
	assert_int_equal(frame_check(frame, FRAME_BYTES_MIN), FRAME_FAULT_OK);
}

UNIT_TEST(ethernet_padding_does_not_count_as_a_fault)
{
	uint8_t frame[ROOM] = {0};
	unsigned bytes = build_plain(frame, 4, 64);

	assert_int_equal(frame_check(frame, bytes + 30), FRAME_FAULT_OK);
}

/* A copy of exact size for each length, so that a sanitizer detects a read beyond the end. */
UNIT_TEST(every_cut_is_noticed_and_never_read_beyond)
{
	static const unsigned routes[] = {0, 1, 7, 8, 9, 31, 32};
	uint8_t frame[ROOM];

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		unsigned bytes = build_plain(frame, routes[i], 200);

		for (unsigned cut = 0; cut < bytes; cut++) {
			uint8_t *copy = malloc(cut + (cut == 0));

			assert_non_null(copy);
			memcpy(copy, frame, cut);
			assert_int_equal(frame_check(copy, cut),
				cut < FRAME_HEADER_BYTES ? FRAME_FAULT_SHORT : FRAME_FAULT_LENGTH);
			free(copy);
		}
	}
}

UNIT_TEST(another_ethertype_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 0, 64);

	frame[12] ^= 1;
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_ETHERTYPE);
	frame[12] ^= 1;
	frame[13] ^= 1;
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_ETHERTYPE);
}

UNIT_TEST(another_version_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 0, 64);

	frame_header(frame)->version = FRAME_VERSION + 1;
	seal(frame);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_VERSION);
}

/* A data frame of host 7 in this fabric. */
static unsigned build_in(uint8_t *frame, uint16_t fabric)
{
	struct frame_fields fields = {
		.kind = FRAME_DATA, .fabric = fabric, .source = 7, .destination = 2};

	return frame_build(frame, &fields);
}

UNIT_TEST(a_new_frame_goes_to_all_ports_of_the_fabric)
{
	static const uint8_t addresses[] = {
		0x57, 'E', 'F', 'T', 0x12, 0x34, 2, 0, 0, 0, 0x12, 0x34};
	uint8_t frame[ROOM];

	build_in(frame, 0x1234);
	assert_memory_equal(frame, addresses, sizeof(addresses));
	assert_int_equal(frame_fabric(frame), 0x1234);
}

UNIT_TEST(an_address_names_the_port)
{
	static const struct {
		uint64_t device;
		uint8_t port, mac[6];
	} of[] = {
		{1, 0, {0x02, 0, 1, 0, 0x12, 0x34}},
		{0xFFFE, 63, {0x02, 0xFF, 0xFE, 63, 0x12, 0x34}},
		{FRAME_HOST_DEVICE, 0, {0x12, 0, 0, 0, 0x12, 0x34}},
		{FRAME_HOST_DEVICE + 0x1234, 1, {0x12, 0x12, 0x34, 1, 0x12, 0x34}},
	};
	uint8_t mac[6];

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		frame_port_address(of[i].device, of[i].port, 0x1234, mac);
		assert_memory_equal(mac, of[i].mac, sizeof(mac));
	}
}

/* From the locally administered unicast addresses. */
UNIT_TEST(ports_of_a_switch_alone_have_addresses_of_their_own)
{
	uint8_t mac[64][6];

	for (unsigned i = 0; i < 64; i++) {
		frame_port_address(UINT64_C(0x9E3779B97F4A7C15), (uint8_t)i, 0, mac[i]);
		assert_int_equal(mac[i][0] & 3, 2);
		for (unsigned j = 0; j < i; j++)
			assert_memory_not_equal(mac[i], mac[j], 6);
	}
}

UNIT_TEST(a_frame_of_another_fabric_is_refused)
{
	static const uint16_t number[] = {0, 1, 0x1234, 0x3412, 0xFFFF};
	uint8_t frame[ROOM];

	for (unsigned i = 0; i < 5; i++)
		for (unsigned j = 0; j < 5; j++) {
			const struct frame_identity identity = frame_identity_of(number[j]);
			unsigned bytes = build_in(frame, number[i]);

			assert_int_equal(frame_find_fault_in(frame, bytes, number[j]),
				i == j ? FRAME_FAULT_OK : FRAME_FAULT_FABRIC);
			assert_int_equal(frame_is_good_data_as(frame, bytes, &identity), i == j);
		}
}

UNIT_TEST(damage_is_told_from_another_fabric)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_in(frame, 3);

	frame_header(frame)->sl ^= 1;
	assert_int_equal(frame_find_fault_in(frame, bytes, 4), FRAME_FAULT_HEADER_CRC);
}

UNIT_TEST(the_identity_of_a_host_holds_for_data_of_that_host_alone)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_in(frame, 3);
	struct frame_identity identity = frame_identity_of_host(3, 7);

	assert_true(frame_is_good_data_as(frame, bytes, &identity));
	identity = frame_identity_of_host(3, 6);
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
	identity = frame_identity_of_host(3, 0x0700);
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
	identity = frame_identity_of_host(2, 7);
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
	identity = frame_identity_of_host(3, 7);
	frame_header(frame)->kind = FRAME_ACK;
	seal(frame);
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
}

UNIT_TEST(a_kind_that_does_not_exist_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 0, 64);

	for (unsigned kind = 0; kind < 256; kind++) {
		bool known = kind > 0 && kind < FRAME_KIND_COUNT;

		frame_header(frame)->kind = (uint8_t)kind;
		seal(frame);
		assert_int_equal(
			frame_check(frame, bytes), known ? FRAME_FAULT_OK : FRAME_FAULT_KIND);
	}
}

UNIT_TEST(a_route_that_is_too_long_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, FRAME_ROUTE_MAX, 400);

	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
	for (unsigned length = FRAME_ROUTE_MAX + 1; length < 256; length++) {
		frame_header(frame)->route_length = (uint8_t)length;
		assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_ROUTE_LENGTH);
	}
}

UNIT_TEST(link_local_frames_with_a_route_are_refused)
{
	static const uint8_t kinds[] = {FRAME_CREDIT, FRAME_HELLO, FRAME_ARN};
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 2, 64);

	for (unsigned i = 0; i < sizeof(kinds); i++) {
		frame_header(frame)->kind = kinds[i];
		seal(frame);
		assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_ROUTE_LENGTH);
	}
}

UNIT_TEST(a_payload_longer_than_the_frame_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 3, 64);

	frame_header(frame)->payload_bytes_be = htons(65);
	seal(frame);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_LENGTH);
	frame_header(frame)->payload_bytes_be = 0xFFFF;
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_LENGTH);
}

UNIT_TEST(a_cursor_beyond_the_route_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 3, 64);

	for (unsigned cursor = 0; cursor < 256; cursor++) {
		frame_header(frame)->cursor = (uint8_t)cursor;
		seal(frame);
		assert_int_equal(frame_check(frame, bytes),
			cursor <= 3 ? FRAME_FAULT_OK : FRAME_FAULT_CURSOR);
	}
}

UNIT_TEST(a_vc_that_cannot_exist_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 0, 64);

	for (unsigned vc = 0; vc < 256; vc++) {
		frame_header(frame)->vc = (uint8_t)vc;
		frame_header(frame)->vc_original = 0;
		seal(frame);
		assert_int_equal(frame_check(frame, bytes),
			vc < FRAME_VCS_MAX ? FRAME_FAULT_OK : FRAME_FAULT_VC);
		frame_header(frame)->vc = 0;
		frame_header(frame)->vc_original = (uint8_t)vc;
		seal(frame);
		assert_int_equal(frame_check(frame, bytes),
			vc < FRAME_VCS_MAX ? FRAME_FAULT_OK : FRAME_FAULT_VC);
	}
}

UNIT_TEST(a_service_level_above_15_is_refused)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 0, 64);

	frame_header(frame)->sl = 16;
	seal(frame);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_SL);
}

/* A CRC-16 detects all of these, so the frame never counts as good. */
UNIT_TEST(every_single_bit_error_of_header_and_route_is_refused)
{
	uint8_t frame[ROOM];
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned i = 0; i < 50; i++) {
		unsigned bytes = build_any(&rng, frame);
		unsigned end = FRAME_HEADER_BYTES + frame_header_const(frame)->route_length;

		for (unsigned bit = 12 * 8; bit < end * 8; bit++) {
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_not_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

UNIT_TEST(every_single_bit_error_of_the_payload_is_seen_at_the_end)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 5, 300);

	for (unsigned bit = (FRAME_HEADER_BYTES + 5) * 8; bit < bytes * 8; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(frame_payload_ok(frame));
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(frame_payload_ok(frame));
}

UNIT_TEST(updating_the_mutable_bytes_equals_building_anew)
{
	uint8_t frame[ROOM];
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < 5000; i++) {
		unsigned bytes = build_any(&rng, frame);
		uint8_t vc = (uint8_t)rng_below(&rng, FRAME_VCS_MAX);
		uint8_t original = (uint8_t)rng_below(&rng, FRAME_VCS_MAX);
		uint8_t length = frame_header_const(frame)->route_length;
		uint8_t cursor = (uint8_t)rng_below(&rng, length + 1u);
		uint8_t latency = frame_header_const(frame)->flags & FRAME_F_LATENCY;
		/* No switch adds or removes the extension. */
		uint8_t flags = (uint8_t)((rng_next(&rng) & ~(uint64_t)FRAME_F_LATENCY) | latency);

		frame_update_mutable(frame, frame_mutable_word(vc, original, cursor, flags));
		assert_int_equal(frame_header_const(frame)->vc, vc);
		assert_int_equal(frame_header_const(frame)->vc_original, original);
		assert_int_equal(frame_header_const(frame)->cursor, cursor);
		assert_int_equal(frame_header_const(frame)->flags, flags);
		assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
	}
}

/* The reason why the CRC is updated by the difference: a switch must not hide damage of its own. */
UNIT_TEST(damage_before_an_update_is_still_seen_after_it)
{
	uint8_t frame[ROOM];
	unsigned bytes = build_plain(frame, 8, 64);

	frame_header(frame)->sequence_be ^= 0x100;
	frame_update_mutable(frame, frame_mutable_word(1, 0, 1, 0));
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_HEADER_CRC);
}

UNIT_TEST(blocks_are_those_of_64_bytes_rounded_up)
{
	assert_int_equal(frame_blocks(1), 1);
	assert_int_equal(frame_blocks(64), 1);
	assert_int_equal(frame_blocks(65), 2);
	assert_int_equal(frame_blocks(FRAME_BYTES_MAX), (FRAME_BYTES_MAX + 63) / 64);
}

UNIT_TEST(a_host_route_is_ports_and_transits_and_one_host_at_the_end)
{
	static const uint8_t good[] = {0x81, ROUTE_TYPE_ITB, 0xC2, ROUTE_TYPE_HOST},
			     early[] = {0x81, ROUTE_TYPE_HOST, 0x82, ROUTE_TYPE_HOST},
			     agent[] = {0x81, ROUTE_TYPE_AGENT, ROUTE_TYPE_HOST};
	uint8_t longest[FRAME_ROUTE_MAX + 1];

	assert_true(frame_is_host_route(good, 4));
	assert_true(frame_is_host_route(good + 3, 1));
	assert_false(frame_is_host_route(good, 3));
	assert_false(frame_is_host_route(good, 0));
	assert_false(frame_is_host_route(early, 4));
	assert_false(frame_is_host_route(agent, 3));
	memset(longest, ROUTE_PORT_BIT, sizeof(longest));
	longest[FRAME_ROUTE_MAX] = ROUTE_TYPE_HOST;
	assert_false(frame_is_host_route(longest, FRAME_ROUTE_MAX + 1));
	assert_true(frame_is_host_route(longest + 1, FRAME_ROUTE_MAX));
}

UNIT_TEST(a_port_follows_a_high_prefix)
{
	static const struct {
		uint8_t element[5];
		bool good;
	} routes[] = {
		{{ROUTE_TYPE_HIGH | 1, 0x80, ROUTE_TYPE_HIGH | 3, 0xBF, ROUTE_TYPE_HOST}, true},
		{{0x80, ROUTE_TYPE_STEP, ROUTE_TYPE_HIGH | 2, 0x81, ROUTE_TYPE_HOST}, true},
		{{0x80, ROUTE_TYPE_HIGH | 1, ROUTE_TYPE_HIGH | 1, 0x81, ROUTE_TYPE_HOST}, false},
		{{0x80, ROUTE_TYPE_HIGH | 1, ROUTE_TYPE_ITB, 0x81, ROUTE_TYPE_HOST}, false},
		{{0x80, 0x81, 0x82, ROUTE_TYPE_HIGH | 1, ROUTE_TYPE_HOST}, false},
		{{0x80, ROUTE_TYPE_HIGH, 0x82, 0x81, ROUTE_TYPE_HOST}, false},
	};

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		assert_int_equal(frame_is_host_route(routes[i].element, 5), routes[i].good);
}

/* The CRC of frames with up to 32 elements must not change. */
UNIT_TEST(the_end_of_a_long_route_comes_first_in_the_header_crc)
{
	for (unsigned length = 0; length <= FRAME_ROUTE_MAX; length++) {
		uint8_t frame[ROOM] = {0}, covered[96] = {0};
		unsigned usual = length < 32 ? length : 32;

		build_plain(frame, length, 50);
		for (unsigned i = 0; i < length; i++)
			frame_route(frame)[i] = (uint8_t)(0x80 + i);
		memcpy(covered, frame_route(frame) + usual, length - usual);
		memcpy(covered + 32, frame_route(frame), usual);
		memcpy(covered + 64, frame_header(frame), 30);
		assert_int_equal(frame_header_crc(frame), crc16(covered, sizeof(covered)));
		seal(frame);
		assert_int_equal(
			frame_check(frame, FRAME_HEADER_BYTES + length + 50), FRAME_FAULT_OK);
		assert_true(frame_is_good_data(frame, FRAME_HEADER_BYTES + length + 50));
		if (length > 0)
			frame_route(frame)[length - 1] ^= 4;
		assert_int_equal(frame_check(frame, FRAME_HEADER_BYTES + length + 50),
			length > 0 ? FRAME_FAULT_HEADER_CRC : FRAME_FAULT_OK);
	}
}

UNIT_TEST(a_next_step_stands_between_two_ports_at_most_twice)
{
	static const struct {
		uint8_t element[8];
		bool good;
	} routes[] = {
		{{0x82, ROUTE_TYPE_STEP, 0x80, 0x80, ROUTE_TYPE_STEP, 0x83, 0x84, 1}, true},
		{{0x82, ROUTE_TYPE_STEP, 0x80, 0x80, 0x81, 0x83, 0x84, 1}, true},
		{{ROUTE_TYPE_STEP, 0x82, 0x80, 0x80, 0x81, 0x83, 0x84, 1}, false},
		{{0x82, ROUTE_TYPE_STEP, ROUTE_TYPE_STEP, 0x80, 0x81, 0x83, 0x84, 1}, false},
		{{0x82, 0x80, ROUTE_TYPE_ITB, ROUTE_TYPE_STEP, 0x81, 0x83, 0x84, 1}, false},
		{{0x82, 0x80, ROUTE_TYPE_STEP, ROUTE_TYPE_ITB, 0x81, 0x83, 0x84, 1}, false},
		{{0x82, 0x80, 0x81, 0x81, 0x83, 0x84, ROUTE_TYPE_STEP, 1}, false},
		{{0x82, 4, 0x80, 4, 0x81, 4, 0x84, 1}, false}, /* three */
	};

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		assert_true(frame_is_host_route(routes[i].element, 8) == routes[i].good);
		assert_true(frame_steps_ok(routes[i].element, 8) == routes[i].good);
	}
}

UNIT_TEST(a_layer_is_the_first_element_and_a_port_follows)
{
	static const struct {
		uint8_t element[4];
		bool good;
	} routes[] = {
		{{ROUTE_TYPE_LAYER | 1, 0x80, 0x81, 1}, true},
		{{ROUTE_TYPE_LAYER | 15, ROUTE_TYPE_HIGH | 1, 0x81, 1}, true},
		{{ROUTE_TYPE_LAYER, 0x80, 0x81, 1}, false},
		{{ROUTE_TYPE_LAYER | 1, ROUTE_TYPE_LAYER | 1, 0x81, 1}, false},
		{{0x80, ROUTE_TYPE_LAYER | 1, 0x81, 1}, false},
		{{ROUTE_TYPE_LAYER | 1, ROUTE_TYPE_STEP, 0x81, 1}, false},
	};

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		assert_true(frame_is_host_route(routes[i].element, 4) == routes[i].good);
}

UNIT_TEST(every_fault_and_every_kind_has_its_own_name)
{
	for (unsigned i = 0; i < FRAME_FAULT_COUNT; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(frame_fault_name(i), frame_fault_name(k));
	assert_string_equal(frame_fault_name(FRAME_FAULT_COUNT), "unknown");
}
