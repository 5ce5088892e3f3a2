/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The interface without reliable delivery: queues, credits, routes, and what it refuses. */

#include "nic_pair.h"

static struct nic_routes *source_routes(unsigned alternatives)
{
	struct nic_routes *routes = nic_routes_create(PAIR_HOSTS);

	for (uint16_t to = 0; to < PAIR_HOSTS; to++)
		for (unsigned i = 0; i < alternatives; i++) {
			uint8_t route[3] = {(uint8_t)(ROUTE_PORT_BIT | i),
				(uint8_t)(ROUTE_PORT_BIT | to), ROUTE_TYPE_HOST};

			assert_int_equal(nic_routes_add(routes, to, route, 3), 0);
		}
	return routes;
}

static void use_source_routes(struct end *end, struct nic_config *config, unsigned alternatives)
{
	nic_routes_destroy(end->routes);
	end->routes = source_routes(alternatives);
	config->routes = end->routes;
}

UNIT_TEST(names_of_all_counters_are_there_and_differ)
{
	for (unsigned i = 0; i < NIC_COUNTER_COUNT; i++) {
		assert_non_null(nic_counter_name(i));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(nic_counter_name(i), nic_counter_name(j));
	}
	assert_null(nic_counter_name(NIC_COUNTER_COUNT));
}

UNIT_TEST(a_wrong_configuration_is_refused)
{
	struct end a;
	struct nic_config good = end_config(&a, 0, 1), bad;

#define REFUSED(change)                   \
	bad = good;                       \
	change;                           \
	errno = 0;                        \
	assert_null(nic_create(&bad, 0)); \
	assert_int_equal(errno, EINVAL)
	REFUSED(bad.host = PAIR_HOSTS);
	REFUSED(bad.hosts = PAIR_HOSTS + 1);
	REFUSED(bad.mtu_bytes = FRAME_PAYLOAD_MAX + 1);
	REFUSED(bad.mtu_bytes = 1);
	REFUSED(bad.choice = NULL);
	REFUSED(bad.window_frames = 100);
	REFUSED(bad.window_frames = 0);
	REFUSED(bad.link.session = 0);
	REFUSED(bad.link.vcs = 0);
	REFUSED(bad.link.vcs = FRAME_VCS_MAX + 1);
	REFUSED(bad.sl_to_vc[3] = 1);
	REFUSED(bad.messages = 0);
	REFUSED(bad.ack_frames = 0);
#undef REFUSED
	nic_routes_destroy(a.routes);
}

UNIT_TEST(a_full_queue_refuses_and_keeps_what_it_has)
{
	OWNED(end) a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 1, 0, 20), -EAGAIN);
	assert_int_equal(end_count(&a, NIC_MESSAGES_REFUSED), 1);
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 32);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
}

UNIT_TEST(payloads_are_bounded_and_come_back)
{
	static const uint8_t payload[64] = {0x45};
	struct nic_message message = {.destination = 1, .payload = payload, .bytes = 64};
	OWNED(end) a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(nic_send(a.nic, &message, a.now), 0);
		assert_int_equal(nic_send(a.nic, &message, a.now), -EAGAIN);
		pair_exchange(&a, &b);
	}
	assert_int_equal(a.acked, 40);
}

UNIT_TEST(what_cannot_be_sent_is_refused)
{
	static const uint8_t payload[257];
	struct nic_message message = {.destination = 1, .payload = payload, .bytes = 257};
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);

	nic_routes_destroy(a.routes);
	config.routes = a.routes = nic_routes_create(PAIR_HOSTS);
	nic_routes_by_table(a.routes, 1);
	end_begin(&a, &config);
	assert_int_equal(nic_send(a.nic, &message, a.now), -EMSGSIZE);
	assert_int_equal(end_send(&a, 0, 0, 20), -EINVAL);  /* itself */
	assert_int_equal(end_send(&a, 1, 16, 20), -EINVAL); /* SL */
	assert_int_equal(end_send(&a, 1, 0, 15), -EINVAL);  /* no room for the prefix */
	assert_int_equal(end_send(&a, 2, 0, 20), -ENETUNREACH);
	assert_int_equal(end_send(&a, 4000, 0, 20), -ENETUNREACH);
	assert_int_equal(end_count(&a, NIC_MESSAGES_UNREACHABLE), 2);
	assert_false(nic_busy(a.nic));
}

UNIT_TEST(a_message_without_bytes_is_a_frame)
{
	struct nic_message message = {.destination = 1, .payload = "", .bytes = 0};
	OWNED(end) a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	assert_int_equal(nic_send(a.nic, &message, a.now), 0);
	pair_exchange(&a, &b);
	assert_int_equal(b.tails, 1);
}

UNIT_TEST(messages_of_a_vc_leave_in_the_order_of_sending)
{
	static const uint16_t order[] = {1, 2, 1, 3, 2, 2, 1};
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	for (unsigned i = 0; i < 7; i++)
		end_send(&a, order[i], 0, 2 * PAIR_MTU);
	for (unsigned i = 0; i < 14; i++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.destination, order[i / 2]);
	}
}

UNIT_TEST(a_peer_with_a_closed_window_does_not_block_others)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 12 * PAIR_MTU);
	end_send(&a, 1, 0, 20);
	end_send(&a, 2, 0, 20);
	for (unsigned i = 0; i < 8; i++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.destination, 1);
	}
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 2);
}

UNIT_TEST(peers_that_stand_still_leave_room_for_others)
{
	static const uint8_t payload[64] = {0x45};
	struct nic_message message = {.destination = 1, .payload = payload, .bytes = 64};
	OWNED(end) a, b;
	struct box box;

	end_start(&a, 0, 1);
	end_start(&b, 3, 4);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(nic_send(a.nic, &message, a.now), 0);
	assert_int_equal(nic_send(a.nic, &message, a.now), -EAGAIN); /* payloads: half of 16 */
	while (end_send(&a, 1, 0, 20) == 0)
		;
	assert_false(nic_has_room(a.nic, 1, 0, a.now));
	assert_int_equal(a.nic->tx[1].held, 32); /* half of 64 */
	message.destination = 2;
	assert_int_equal(nic_send(a.nic, &message, a.now), 0);
	while (end_send(&a, 2, 0, 20) == 0)
		;
	assert_int_equal(a.nic->tx[2].held, 16);
	while (end_take(&a, &box))
		;
	for (unsigned i = 0; i < 100; i++) { /* a third one continues freely */
		assert_true(nic_has_room(a.nic, 3, 0, a.now));
		assert_int_equal(end_send(&a, 3, 0, 20), 0);
		end_expect(&a, &box, i);
		end_give(&b, &box);
		while (end_take(&b, &box))
			end_give(&a, &box);
	}
	assert_int_equal(b.delivered, 100);
	assert_null(nic_check(a.nic));
}

UNIT_TEST(a_peer_that_answers_nothing_is_refused_as_silent)
{
	OWNED(end) a, b;
	struct box box;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	while (end_send(&a, 1, 0, 20) == 0)
		;
	assert_int_equal(end_send(&a, 1, 0, 20), -EAGAIN);
	for (unsigned ms = 0; ms < 200; ms++) {
		end_wait(&a, PS_PER_MS);
		while (end_take(&a, &box))
			;
	}
	assert_true(nic_is_silent(a.nic, 1));
	assert_int_equal(end_send(&a, 1, 0, 20), -EHOSTDOWN);
	assert_int_equal(end_count(&a, NIC_MESSAGES_SILENT), 1);
	assert_false(nic_is_silent(a.nic, 2));
	for (unsigned ms = 0; ms < 1000; ms++) { /* until it is given up, and after */
		end_wait(&a, PS_PER_MS);
		while (end_take(&a, &box))
			;
	}
	assert_int_equal(a.failed, 32);
	assert_true(nic_is_silent(a.nic, 1));
	assert_int_equal(end_send(&a, 1, 0, 20), 0); /* it may be there again */
	pair_exchange(&a, &b);
	end_wait(&b, PS_PER_MS);
	pair_exchange(&a, &b);
	assert_int_equal(a.acked, 1);
	assert_false(nic_is_silent(a.nic, 1));
}

UNIT_TEST(peers_whose_windows_open_again_take_turns)
{
	OWNED(end) a, b, c;
	struct box box, ack[2];

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	end_start(&c, 2, 3);
	end_send(&a, 1, 0, 16 * PAIR_MTU);
	end_send(&a, 2, 0, 16 * PAIR_MTU);
	for (unsigned i = 0; i < 16; i++) {
		assert_true(end_take(&a, &box));
		end_give(box.packet.destination == 1 ? &b : &c, &box);
	}
	end_wait(&b, PS_PER_MS);
	end_wait(&c, PS_PER_MS);
	assert_true(end_take(&b, &ack[0]));
	assert_true(end_take(&c, &ack[1]));
	end_give(&a, &ack[0]);
	end_give(&a, &ack[1]);
	for (unsigned i = 0; i < 16; i++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.destination, 1 + i % 2);
	}
}

UNIT_TEST(vcs_take_turns)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.link.vcs = 3;
	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % 3);
	end_begin(&a, &config);
	for (unsigned i = 0; i < 3; i++)
		end_send(&a, (uint16_t)(1 + i), (uint8_t)i, 4 * PAIR_MTU);
	for (unsigned i = 0; i < 12; i++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.vc, i % 3);
		assert_int_equal(frame_header_const(box.frame)->sl, i % 3);
	}
}

UNIT_TEST(a_queuing_scheme_gives_the_service_level)
{
	struct queuing queuing = {.scheme = &queuing_dbbm, .queues = 3, .hosts = PAIR_HOSTS};
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.link.vcs = 3;
	config.queuing = &queuing;
	for (unsigned sl = 0; sl < 3; sl++)
		config.sl_to_vc[sl] = (uint8_t)sl;
	end_begin(&a, &config);
	for (unsigned to = 1; to < PAIR_HOSTS; to++)
		end_send(&a, (uint16_t)to, 0, PAIR_MTU);
	for (unsigned to = 1; to < PAIR_HOSTS; to++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.vc, box.packet.destination % 3);
		assert_int_equal(frame_header_const(box.frame)->sl, box.packet.destination % 3);
	}
}

/* A link that grants 'blocks' in VC 0 and 100 in VC 1. */
static void grant(struct end *end, uint32_t sent, uint32_t blocks)
{
	struct control_credit credit = {
		.session = 9, .peer_session = 1, .vcs = 2, .limit = {blocks, 100}};
	struct control_hello hello = {.session = 9, .peer_session = 1, .kind = 0};

	link_end_on_hello(nic_link(end->nic), &hello, end->now);
	link_end_on_credit(nic_link(end->nic), &credit, end->now);
}

static bool take_data(struct end *end, struct box *box)
{
	while (end_take(end, box))
		if (box->packet.kind == FRAME_DATA)
			return true;
	return false;
}

UNIT_TEST(nothing_is_sent_without_credits_and_other_vcs_go_on)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.link.open = false;
	config.link.vcs = 2;
	config.sl_to_vc[1] = 1;
	end_begin(&a, &config);
	for (unsigned i = 0; i < 3; i++)
		end_send(&a, 1, 0, 50); /* 96 bytes: 2 blocks */
	for (unsigned i = 0; i < 3; i++)
		end_send(&a, 2, 1, 50);
	assert_false(take_data(&a, &box));
	grant(&a, 0, 3);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(take_data(&a, &box));
		assert_int_equal(box.packet.vc, i != 0);
	}
	assert_false(take_data(&a, &box));
	assert_false(take_data(&a, &box));
	assert_int_equal(end_count(&a, NIC_STALL_CREDIT), 3); /* both before the grant, one now */
	end_wait(&a, 70 * PS_PER_US);
	grant(&a, 2, 6);
	assert_true(take_data(&a, &box));
	assert_true(take_data(&a, &box));
	assert_false(take_data(&a, &box));
	assert_int_equal(nic_link(a.nic)->tx[0].sent, 6);
}

UNIT_TEST(nothing_is_sent_while_the_link_is_down)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.link.open = false;
	config.link.vcs = 2;
	end_begin(&a, &config);
	grant(&a, 0, 100);
	end_miss_hellos(&a);
	assert_false(nic_link_up(a.nic));
	assert_int_equal(nic_link(a.nic)->downs, 1);
	end_send(&a, 1, 0, 50);
	assert_false(take_data(&a, &box));
	grant(&a, 0, 100);
	assert_true(take_data(&a, &box));
}

UNIT_TEST(the_links_frames_and_acknowledgements_go_first_and_need_no_credits)
{
	OWNED(end) a, b;
	struct box box;

	end_start_unlinked(&b, 1, 2);
	end_start(&a, 0, 1);
	nic_link(b.nic)->state = LINK_UP;
	nic_link(b.nic)->rx[0].granted = 100;
	end_send(&a, 1, 0, 20);
	end_expect(&a, &box, 0);
	end_give(&b, &box);
	end_send(&b, 0, 0, 20);
	end_wait(&b, PS_PER_MS);
	assert_true(end_take(&b, &box));
	assert_int_equal(box.packet.kind, FRAME_HELLO);
	assert_int_equal(box.packet.control, 1);
	assert_true(end_take(&b, &box));
	assert_int_equal(box.packet.kind, FRAME_ACK);
	assert_int_equal(box.packet.control, 1);
	assert_false(end_take(&b, &box));
}

UNIT_TEST(a_frame_without_credit_is_dropped_and_counted)
{
	OWNED(end) a, b;
	struct box box;

	end_start_unlinked(&b, 1, 2);
	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 20);
	end_expect(&a, &box, 0);
	assert_true(end_give(&b, &box));
	assert_int_equal(b.delivered, 0);
	assert_int_equal(end_count(&b, NIC_DISCARD_CREDIT_VIOLATION), 1);
}

UNIT_TEST(blocks_are_free_again_even_while_a_frame_waits_for_others)
{
	static struct box box[2];
	OWNED(end) a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	end_send(&a, 1, 0, 2 * PAIR_MTU);
	end_expect(&a, &box[0], 0);
	end_expect(&a, &box[1], 1);
	assert_false(end_give(&b, &box[1]));
	assert_int_equal(credit_stored(&nic_link(b.nic)->rx[0]), 0);
	assert_int_equal(nic_link(b.nic)->rx[0].received, box[1].packet.blocks);
}

/* A frame from host 0 to host 1 with this route and cursor, and a correct CRC. */
static void make_frame(struct box *box, const uint8_t *route, uint8_t length, uint8_t cursor)
{
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 0,
		.destination = 1,
		.flags = FRAME_F_TAIL,
		.message = (uint32_t)PAIR_FLOW(0) << 16,
		.route = route,
		.route_length = length,
		.payload_bytes = 20};

	memset(box->frame, 0, sizeof(box->frame));
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
	frame_update_mutable(box->frame, frame_mutable_word(0, 0, cursor, FRAME_F_TAIL));
}

UNIT_TEST(a_cursor_that_is_not_at_a_host_element_is_a_routing_error)
{
	static const struct {
		uint8_t route[3], length, cursor;
		bool good;
	} cases[] = {
		{{0x81, 0x82, ROUTE_TYPE_HOST}, 3, 2, true},
		{{0x81, 0x82, ROUTE_TYPE_HOST}, 3, 1, false}, /* a port's element */
		{{0x81, 0x82, ROUTE_TYPE_HOST}, 3, 3, false}, /* used up */
		{{0x81, 0x82, 0x83}, 3, 3, false},
		{{0x81, ROUTE_TYPE_ITB, ROUTE_TYPE_HOST}, 3, 1, false},  /* not for this host */
		{{0x81, ROUTE_TYPE_STEP, ROUTE_TYPE_HOST}, 3, 1, false}, /* for a switch */
		{{0x81, 0x7F, 0}, 2, 1, false}, {{0}, 0, 0, true},       /* by table */
	};
	struct box box;
	struct end b;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		end_start(&b, 1, 2);
		make_frame(&box, cases[i].route, cases[i].length, cases[i].cursor);
		assert_true(end_give(&b, &box));
		assert_int_equal(b.delivered, cases[i].good);
		assert_int_equal(end_count(&b, NIC_DISCARD_ROUTING_ERROR), !cases[i].good);
		end_stop(&b);
	}
}

UNIT_TEST(a_frame_for_somebody_else_is_counted_as_misrouted)
{
	OWNED(end) a, c;
	struct box box;

	end_start(&a, 0, 1);
	end_start(&c, 2, 3);
	end_send(&a, 1, 0, 20);
	end_expect(&a, &box, 0);
	assert_true(end_give(&c, &box));
	assert_int_equal(c.delivered, 0);
	assert_int_equal(end_count(&c, NIC_DISCARD_MISROUTED), 1);
}

UNIT_TEST(a_frame_of_an_unknown_host_or_vc_is_dropped)
{
	struct frame_fields fields = {
		.kind = FRAME_DATA, .source = PAIR_HOSTS, .destination = 1, .payload_bytes = 20};
	OWNED(end) b;
	struct box box;

	memset(&box, 0, sizeof(box));
	end_start(&b, 1, 2);
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	assert_true(end_give(&b, &box));
	assert_int_equal(end_count(&b, NIC_DISCARD_SOURCE), 1);
	fields.source = 0;
	fields.vc = 1;
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	assert_true(end_give(&b, &box));
	assert_int_equal(end_count(&b, NIC_DISCARD_VC), 1);
}

UNIT_TEST(control_frames_that_make_no_sense_are_counted)
{
	static const uint8_t kinds[] = {FRAME_ACK, FRAME_CREDIT, FRAME_HELLO};
	struct frame_fields fields = {.source = 0, .destination = 1, .payload_bytes = 7};
	OWNED(end) b;
	struct box box;

	memset(&box, 0, sizeof(box));
	end_start(&b, 1, 2);
	for (unsigned i = 0; i < 3; i++) {
		fields.kind = kinds[i];
		box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
		assert_true(end_give(&b, &box));
	}
	assert_int_equal(end_count(&b, NIC_CONTROL_BAD), 3);
	fields.kind = FRAME_CN;
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	assert_true(end_give(&b, &box));
	assert_int_equal(end_count(&b, NIC_CONTROL_IGNORED), 1);
	fields.kind = FRAME_SCOUT; /* frames for an agent do not reach the interface */
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	assert_true(end_give(&b, &box));
	assert_int_equal(end_count(&b, NIC_AGENT_ASTRAY), 1);
}

UNIT_TEST(all_frames_of_a_message_take_the_same_route)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	use_source_routes(&a, &config, 4);
	config.choice = &route_choice_round_robin;
	end_begin(&a, &config);
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	for (unsigned i = 0; i < 8; i++) {
		assert_true(end_take(&a, &box));
		assert_int_equal(box.frame[FRAME_HEADER_BYTES], ROUTE_PORT_BIT | (i / 4));
		assert_int_equal(frame_header_const(box.frame)->cursor, 0);
	}
}

static weft_time frame_time(const struct box *box)
{
	return (box->packet.bytes + FRAME_WIRE_OVERHEAD) * PS_PER_NS;
}

/* Selects by contention. A byte takes 1 ns. Frames are as close as the link permits, except for
 * 'late_ps' before the last one. Returns the route of the next message. */
static unsigned route_after_a_message_held_back_for(weft_time late_ps, bool again)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;
	unsigned route;

	use_source_routes(&a, &config, 2);
	config.choice = &route_choice_contention;
	config.selection.rate_bps = 8000000000;
	end_begin(&a, &config);
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(end_take(&a, &box));
		a.now += frame_time(&box) + (i == 2 ? late_ps : 0);
	}
	if (again) { /* frames that a timer repeats do not count */
		end_wait(&a, config.retry_ps);
		assert_true(end_take(&a, &box));
		assert_int_equal(box.frame[FRAME_HEADER_BYTES], ROUTE_PORT_BIT);
		while (end_take(&a, &box))
			a.now += 9 * frame_time(&box);
	}
	end_send(&a, 1, 0, PAIR_MTU);
	assert_true(end_take(&a, &box));
	route = box.frame[FRAME_HEADER_BYTES] & ~ROUTE_PORT_BIT;
	return route;
}

UNIT_TEST(a_message_that_was_held_back_sends_the_next_another_way)
{
	assert_int_equal(route_after_a_message_held_back_for(0, false), 0);
	assert_int_equal(route_after_a_message_held_back_for(50 * PS_PER_NS, false), 1);
	assert_int_equal(route_after_a_message_held_back_for(0, true), 0);
}

UNIT_TEST(a_payload_is_the_hosts_again_once_it_is_sent)
{
	uint8_t payload[100];
	struct nic_message message = {.destination = 1, .payload = payload, .bytes = 100};
	OWNED(end) a;
	struct box box;

	memset(payload, 0x47, sizeof(payload));
	end_start(&a, 0, 1);
	assert_int_equal(nic_send(a.nic, &message, a.now), 0);
	memset(payload, 0, sizeof(payload));
	end_expect(&a, &box, 0);
	for (unsigned i = 0; i < PAIR_MTU; i++)
		assert_int_equal(box.frame[FRAME_HEADER_BYTES + i], 0x47);
}

UNIT_TEST(two_thousand_hosts_fit_in_one_interface)
{
	OWNED(nic_routes) *routes = nic_routes_create(2000);
	struct nic_config config;
	struct nic *nic;

	for (uint16_t to = 0; to < 2000; to++)
		nic_routes_by_table(routes, to);
	nic_config_default(&config, 7, 2000);
	config.routes = routes;
	config.link.session = 1;
	config.link.open = true;
	nic = nic_create(&config, 0);
	assert_non_null(nic);
	for (uint16_t to = 0; to < 2000; to++) {
		struct nic_message message = {.destination = to, .bytes = 16};
		struct weft_packet packet;

		nic_poll(nic, PS_PER_US * to);
		assert_int_equal(nic_send(nic, &message, PS_PER_US * to), to == 7 ? -EINVAL : 0);
		assert_ptr_equal(
			nic_inject(nic, PS_PER_US * to, &packet), to == 7 ? NULL : &packet);
	}
	assert_null(nic_check(nic));
	nic_destroy(nic);
}
