/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/datagram.h"

#include <errno.h>

#include "unit.h"

#define MTU 1000

struct pair {
	struct datagram a, b;
};

static void init_one(struct datagram *nic, uint16_t host, uint8_t vcs, const struct route_set *set)
{
	struct datagram_config config = {
		.host = host, .hosts = 4, .mtu_bytes = MTU, .vcs = vcs, .queue = 4, .routes = set};
	struct link_end_config link = {.vcs = vcs, .vc_blocks = 64, .open = true, .session = 1};

	config.sl_to_vc[1] = (uint8_t)(vcs - 1);
	assert_int_equal(0, datagram_init(nic, &config, &link));
	link_end_renew_open(&nic->link);
}

static void start(struct pair *pair, uint8_t vcs)
{
	init_one(&pair->a, 0, vcs, NULL);
	init_one(&pair->b, 1, vcs, NULL);
}

static void stop(struct pair *pair)
{
	datagram_fini(&pair->a);
	datagram_fini(&pair->b);
}
#define pair_out_of_scope stop

static void send(struct datagram *nic, uint16_t to, uint8_t sl, uint32_t bytes)
{
	const struct datagram_message message = {
		.destination = to, .sl = sl, .bytes = bytes, .generated_ps = 5};

	assert_true(datagram_has_room(nic, &message));
	datagram_send(nic, &message);
}

UNIT_TEST(a_message_becomes_frames_of_the_mtu_and_a_rest)
{
	static const uint32_t payload[] = {MTU, MTU, 500};
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(pair) pair;

	start(&pair, 1);
	send(&pair.a, 1, 0, 2500);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(datagram_inject(&pair.a, 7, &packet, &origin));
		assert_int_equal(origin.payload_bytes, payload[i]);
		assert_int_equal(packet.bytes, FRAME_HEADER_BYTES + payload[i]);
		assert_int_equal(packet.blocks, frame_blocks(packet.bytes));
		assert_int_equal((packet.flags & FRAME_F_TAIL) != 0, i == 2);
		assert_int_equal(origin.generated_ps, 5);
		assert_int_equal(origin.injected_ps, 7);
		assert_int_equal(packet.sequence, i);
		datagram_receive(&pair.b, &packet, &origin);
	}
	assert_false(datagram_inject(&pair.a, 7, &packet, &origin));
	assert_int_equal(pair.b.frames_received, 3);
	assert_int_equal(pair.b.messages_received, 1);
	assert_int_equal(pair.b.bytes_received, 2500);
	assert_int_equal(pair.b.out_of_order, 0);
}

UNIT_TEST(a_frame_waits_for_the_credits_of_all_its_blocks)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(pair) pair;

	start(&pair, 1);
	send(&pair.a, 1, 0, MTU);
	pair.a.link.tx[0].limit =
		pair.a.link.tx[0].sent + frame_blocks(MTU + FRAME_HEADER_BYTES) - 1;
	assert_false(datagram_inject(&pair.a, 0, &packet, &origin));
	pair.a.link.tx[0].limit++;
	assert_true(datagram_inject(&pair.a, 0, &packet, &origin));
	assert_int_equal(credit_available(&pair.a.link.tx[0]), 0);
}

UNIT_TEST(vcs_take_turns_and_one_without_credits_holds_up_no_other)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(pair) pair;
	unsigned vc[4];

	start(&pair, 2);
	send(&pair.a, 1, 0, 2 * MTU);
	send(&pair.a, 2, 1, 2 * MTU);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(datagram_inject(&pair.a, 0, &packet, &origin));
		vc[i] = packet.vc;
	}
	assert_true(vc[0] != vc[1] && vc[0] == vc[2] && vc[1] == vc[3]);
	send(&pair.a, 1, 0, MTU);
	send(&pair.a, 2, 1, MTU);
	pair.a.link.tx[0].limit = pair.a.link.tx[0].sent;
	assert_true(datagram_inject(&pair.a, 0, &packet, &origin));
	assert_int_equal(packet.vc, 1);
	assert_false(datagram_inject(&pair.a, 0, &packet, &origin));
}

UNIT_TEST(messages_of_a_vc_leave_in_order_whoever_they_are_for)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(pair) pair;

	start(&pair, 1);
	for (uint16_t to = 1; to < 4; to++)
		send(&pair.a, to, 0, 10);
	for (uint16_t to = 1; to < 4; to++) {
		assert_true(datagram_inject(&pair.a, 0, &packet, &origin));
		assert_int_equal(packet.destination, to);
	}
}

UNIT_TEST(a_full_fifo_takes_no_more)
{
	OWNED(pair) pair;

	start(&pair, 2);
	for (unsigned i = 0; i < 4; i++)
		send(&pair.a, 1, 0, 10);
	assert_false(datagram_has_room(&pair.a, &(struct datagram_message){.sl = 0}));
	assert_true(datagram_has_room(&pair.a, &(struct datagram_message){.sl = 1}));
}

/* Two VCs, chosen by destination: 1 and 3 in VC 1, 2 in VC 0. */
UNIT_TEST(a_queuing_scheme_gives_the_service_level)
{
	struct queuing queuing = {.scheme = &queuing_dbbm, .queues = 2, .hosts = 4};
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(pair) pair;

	start(&pair, 2);
	pair.a.config.queuing = &queuing;
	for (unsigned i = 0; i < 4; i++)
		send(&pair.a, i % 2 ? 1 : 3, 0, 10);
	assert_false(datagram_has_room(&pair.a, &(struct datagram_message){.destination = 3}));
	send(&pair.a, 2, 1, 10);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(datagram_inject(&pair.a, 0, &packet, &origin));
		assert_int_equal(packet.sl, packet.destination % 2);
		assert_int_equal(packet.vc, packet.destination % 2);
		assert_int_equal(packet.vc_original, packet.destination % 2);
	}
}

#define MARK_PS PS_PER_MS

/* Two VCs: VC 0, and the adapted-flow channel with space for two messages. */
static void start_marks(struct datagram *nic)
{
	const struct datagram_config config = {.host = 0,
		.hosts = 4,
		.mtu_bytes = MTU,
		.vcs = 2,
		.queue = 4,
		.mark_ps = MARK_PS,
		.adapted_queue = 2};
	const struct link_end_config link = {.vcs = 2, .vc_blocks = 64, .open = true, .session = 1};

	assert_int_equal(0, datagram_init(nic, &config, &link));
	link_end_renew_open(&nic->link);
}

static void mark(struct datagram *nic, uint16_t destination, weft_time now)
{
	const struct control_arn arn = {.destination = destination, .vc = 0};

	datagram_on_arn(nic, &arn, now);
}

/* The next frame goes to 'to' in 'vc', adapted if this is not its own VC. */
static void expect_frame(struct datagram *nic, weft_time now, uint16_t to, uint8_t vc)
{
	struct datagram_origin origin;
	struct weft_packet packet;

	assert_true(datagram_inject(nic, now, &packet, &origin));
	assert_int_equal(packet.destination, to);
	assert_int_equal(packet.vc, vc);
	assert_int_equal(packet.header_vc, vc);
	assert_int_equal(packet.vc_original, 0);
	assert_int_equal((packet.flags & FRAME_F_ADAPTED) != 0, vc != 0);
}

UNIT_TEST(marked_messages_leave_in_the_adapted_flow_channel)
{
	OWNED(datagram) nic;

	start_marks(&nic);
	send(&nic, 1, 0, 10);
	send(&nic, 2, 0, 10);
	send(&nic, 1, 0, 10);
	mark(&nic, 1, 0);
	expect_frame(&nic, 0, 2, 0);
	expect_frame(&nic, 0, 1, 1);
	expect_frame(&nic, 0, 1, 1);
	assert_int_equal(nic.diverted, 2);
	/* Until the mark ends. */
	send(&nic, 1, 0, 10);
	expect_frame(&nic, MARK_PS - 1, 1, 1);
	send(&nic, 1, 0, 10);
	expect_frame(&nic, MARK_PS, 1, 0);
}

UNIT_TEST(marked_messages_hold_up_nobody_behind_them)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;

	start_marks(&nic);
	nic.link.tx[1].limit = nic.link.tx[1].sent;
	send(&nic, 1, 0, 10);
	send(&nic, 2, 0, 10);
	send(&nic, 3, 0, 10);
	mark(&nic, 1, 0);
	expect_frame(&nic, 0, 2, 0);
	expect_frame(&nic, 0, 3, 0);
	assert_false(datagram_inject(&nic, 0, &packet, &origin));
}

/* Otherwise, the tree that they should leave would never drain. */
UNIT_TEST(marked_messages_wait_for_room_rather_than_leave_by_their_own_vc)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;

	start_marks(&nic);
	nic.link.tx[1].limit = nic.link.tx[1].sent;
	for (unsigned i = 0; i < 3; i++)
		send(&nic, 1, 0, 10);
	send(&nic, 2, 0, 10);
	mark(&nic, 1, 0);
	assert_false(datagram_inject(&nic, 0, &packet, &origin));
	nic.link.tx[1].limit += 64;
	expect_frame(&nic, 0, 1, 1);
	expect_frame(&nic, 0, 2, 0);
	expect_frame(&nic, 0, 1, 1);
	expect_frame(&nic, 0, 1, 1);
}

UNIT_TEST(the_rest_of_a_message_that_is_marked_on_its_way_is_adapted)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;

	start_marks(&nic);
	send(&nic, 1, 0, 2 * MTU + 10);
	expect_frame(&nic, 0, 1, 0);
	mark(&nic, 1, 0);
	expect_frame(&nic, 0, 1, 1);
	assert_true(datagram_inject(&nic, 0, &packet, &origin));
	assert_int_equal(origin.payload_bytes, 10);
	assert_int_equal(origin.generated_ps, 5);
	assert_int_equal(packet.flags, FRAME_F_TAIL | FRAME_F_ADAPTED);
	assert_int_equal(packet.sequence, 2);
	assert_int_equal(nic.messages_sent, 1);
	assert_false(datagram_inject(&nic, 0, &packet, &origin));
}

UNIT_TEST(marks_that_make_no_sense_are_refused_or_ignored)
{
	const struct link_end_config link = {.vcs = 2, .vc_blocks = 64, .open = true, .session = 1};
	struct datagram_config config = {.hosts = 4, .mtu_bytes = MTU, .vcs = 2, .queue = 4};
	OWNED(datagram) nic;

	config.mark_ps = MARK_PS;
	assert_int_equal(datagram_init(&nic, &config, &link), -EINVAL);
	config.adapted_queue = 2;
	config.sl_to_vc[3] = 1;
	assert_int_equal(datagram_init(&nic, &config, &link), -EINVAL);
	start_marks(&nic);
	mark(&nic, 4, 0);
	assert_int_equal(nic.marks->until_ps, 0);
}

UNIT_TEST(frames_that_come_after_later_ones_are_counted)
{
	struct datagram_origin origin[3];
	struct weft_packet packet[3];
	OWNED(pair) pair;

	start(&pair, 1);
	send(&pair.a, 1, 0, 3 * MTU);
	for (unsigned i = 0; i < 3; i++)
		assert_true(datagram_inject(&pair.a, 0, &packet[i], &origin[i]));
	datagram_receive(&pair.b, &packet[0], &origin[0]);
	datagram_receive(&pair.b, &packet[2], &origin[2]);
	datagram_receive(&pair.b, &packet[1], &origin[1]);
	assert_int_equal(pair.b.out_of_order, 1);
	assert_int_equal(pair.b.frames_received, 3);
}

UNIT_TEST(a_source_route_goes_with_every_frame_and_counts_in_its_length)
{
	const uint8_t route[] = {0x81, 0x82, 0x00};
	OWNED(route_set) *set = route_set_create(4);
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;

	assert_int_equal(0, route_set_add(set, 0, 2, route, 3));
	init_one(&nic, 0, 1, set);
	send(&nic, 2, 0, MTU + 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(datagram_inject(&nic, 0, &packet, &origin));
		assert_int_equal(packet.route_length, 3);
		assert_memory_equal(packet.route, route, 3);
		assert_int_equal(packet.bytes, FRAME_HEADER_BYTES + 3 + origin.payload_bytes);
	}
}

UNIT_TEST(a_message_without_a_route_is_counted_and_holds_up_nobody)
{
	const uint8_t route[] = {0x81, 0x00};
	OWNED(route_set) *set = route_set_create(4);
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;

	assert_int_equal(0, route_set_add(set, 0, 3, route, 2));
	init_one(&nic, 0, 1, set);
	send(&nic, 2, 0, 10);
	send(&nic, 3, 0, 10);
	send(&nic, 1, 0, 10);
	assert_true(datagram_inject(&nic, 0, &packet, &origin));
	assert_int_equal(packet.destination, 3);
	assert_false(datagram_inject(&nic, 0, &packet, &origin));
	assert_int_equal(nic.unreachable, 2);
}

/* Two routes to host 1, and a selector that learns. */
static struct route_set *two_routes(struct datagram *nic)
{
	static const uint8_t one[] = {ROUTE_PORT_BIT | 1, ROUTE_TYPE_HOST};
	static const uint8_t two[] = {ROUTE_PORT_BIT | 2, ROUTE_TYPE_HOST};
	struct route_set *set = route_set_create(4);
	struct link_end_config link = {.vcs = 1, .vc_blocks = 64, .open = true, .session = 1};
	struct datagram_config config = {.hosts = 4,
		.mtu_bytes = MTU,
		.vcs = 1,
		.queue = 4,
		.routes = set,
		.choice = &route_choice_contention,
		.selection = route_choice_options_default()};

	config.selection.rate_bps = 8000000000; /* a byte in 1 ns */
	route_set_add(set, 0, 1, one, sizeof(one));
	route_set_add(set, 0, 1, two, sizeof(two));
	assert_int_equal(0, datagram_init(nic, &config, &link));
	link_end_renew_open(&nic->link);
	return set;
}

static weft_time inject_at(struct datagram *nic, weft_time now)
{
	struct datagram_origin origin;
	struct weft_packet packet;

	assert_true(datagram_inject(nic, now, &packet, &origin));
	return now + (packet.bytes + FRAME_WIRE_OVERHEAD) * PS_PER_NS;
}

UNIT_TEST(frames_one_behind_the_other_show_no_contention)
{
	OWNED(datagram) nic;
	OWNED(route_set) *set = two_routes(&nic);
	weft_time now = 5000;

	send(&nic, 1, 0, 2500);
	for (unsigned i = 0; i < 3; i++)
		now = inject_at(&nic, now);
	assert_int_equal(*route_choice_coefficient(&nic.choice, 1, 0), ROUTE_CHOICE_ONE);
}

UNIT_TEST(waiting_for_credits_shows_as_contention)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	OWNED(datagram) nic;
	OWNED(route_set) *set = two_routes(&nic);
	weft_time alone = (500 + FRAME_HEADER_BYTES + 2 + FRAME_WIRE_OVERHEAD) * PS_PER_NS;

	nic.link.tx[0].limit = nic.link.tx[0].sent;
	send(&nic, 1, 0, 500); /* its turn comes at 5000 */
	assert_false(datagram_inject(&nic, 5000, &packet, &origin));
	nic.link.tx[0].limit = nic.link.tx[0].sent + 60;
	assert_int_equal(inject_at(&nic, 5000 + 2 * alone), 5000 + 3 * alone);
	assert_int_equal(*route_choice_coefficient(&nic.choice, 1, 0), 3 * ROUTE_CHOICE_ONE);
	send(&nic, 1, 0, 500);
	assert_int_equal(nic.fifo[0].chosen.which, 1);
	inject_at(&nic, 90000);
	assert_int_equal(*route_choice_coefficient(&nic.choice, 1, 1), ROUTE_CHOICE_ONE);
	assert_int_equal(*route_choice_coefficient(&nic.choice, 1, 0), 2900);
}

UNIT_TEST(gaps_between_the_frames_of_a_message_show_as_contention)
{
	OWNED(datagram) nic;
	OWNED(route_set) *set = two_routes(&nic);
	weft_time now, frame;

	send(&nic, 1, 0, 2 * MTU);
	now = inject_at(&nic, 0);
	frame = now;
	inject_at(&nic, now + 2 * frame);
	assert_int_equal(*route_choice_coefficient(&nic.choice, 1, 0), 2 * ROUTE_CHOICE_ONE);
}

static const uint8_t by_a_host[] = {
	ROUTE_PORT_BIT | 1, ROUTE_TYPE_ITB, ROUTE_PORT_BIT | 2, ROUTE_TYPE_HOST};

static struct weft_packet passing(uint8_t cursor)
{
	return (struct weft_packet){.bytes = 100,
		.blocks = 2,
		.flags = FRAME_F_TAIL,
		.route = by_a_host,
		.route_length = sizeof(by_a_host),
		.cursor = cursor,
		.source = 0,
		.destination = 3};
}

static void start_with_itb(struct datagram *nic)
{
	const struct itb_config itb = {.pool_bytes = 150, .pause_ps = PS_PER_MS};
	struct datagram_config config = {
		.host = 1, .hosts = 4, .mtu_bytes = MTU, .vcs = 1, .queue = 4, .itb = &itb};
	struct link_end_config link = {.vcs = 1, .vc_blocks = 64, .open = true, .session = 1};

	assert_int_equal(0, datagram_init(nic, &config, &link));
	link_end_renew_open(&nic->link);
}

UNIT_TEST(what_is_in_transit_is_kept_while_there_is_room_and_its_credits_return)
{
	struct weft_packet first = passing(1), second = passing(1);
	OWNED(datagram) nic;
	bool blocked;

	start_with_itb(&nic);
	assert_true(datagram_absorb(&nic, &first, 0, 0));
	assert_false(datagram_absorb(&nic, &second, 0, 0));
	assert_int_equal(credit_stored(&nic.link.rx[0]), 0);
	assert_int_equal(nic.itb->discarded, 1);
	assert_ptr_equal(datagram_transit(&nic, 0, true, 0, &blocked), &first);
	assert_false(blocked);
	assert_int_equal(nic.link.tx[0].sent, 2);
}

UNIT_TEST(what_is_for_another_host_and_not_in_transit_is_refused)
{
	struct weft_packet packet = passing(0);
	struct datagram nic;
	OWNED(pair) pair;

	start_with_itb(&nic);
	assert_false(datagram_absorb(&nic, &packet, 0, 0));
	assert_int_equal(nic.misrouted, 1);
	datagram_fini(&nic);
	/* An interface without a pool cannot store anything either. */
	start(&pair, 1);
	packet = passing(1);
	assert_false(datagram_absorb(&pair.a, &packet, 0, 0));
	assert_int_equal(pair.a.misrouted, 1);
}

UNIT_TEST(the_end_of_a_message_without_its_end_mark_is_refused)
{
	const struct datagram_origin origin = {.payload_bytes = 40};
	struct weft_packet packet = passing(3);
	OWNED(datagram) nic;

	start_with_itb(&nic);
	assert_false(datagram_receive(&nic, &packet, &origin));
	assert_int_equal(nic.refused, 1);
	assert_int_equal(nic.messages_received, 0);
	packet.flags |= FRAME_F_END_MARK;
	assert_true(datagram_receive(&nic, &packet, &origin));
	assert_int_equal(nic.messages_received, 1);
}

UNIT_TEST(an_own_frame_goes_when_it_is_its_turn_and_has_credits)
{
	struct weft_packet packet = passing(1);
	OWNED(datagram) nic;
	bool blocked;

	start_with_itb(&nic);
	assert_true(datagram_absorb(&nic, &packet, 0, 0));
	send(&nic, 2, 0, 100);
	nic.itb->turn.in_transit = 4;
	assert_null(datagram_transit(&nic, 1, true, 0, &blocked));
	/* It has no credits for its blocks, and the other one has credits for its two. */
	nic.link.tx[0].limit = nic.link.tx[0].sent + 2;
	assert_ptr_equal(datagram_transit(&nic, 1, true, 0, &blocked), &packet);
}
