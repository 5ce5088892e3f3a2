/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reception and accounting: where a packet goes, what is refused, and that packets that bypass the
 * queues have the same outcome as queued ones. */

#include "switch/forward.h"

#include <errno.h>

#include "switch_bench.h"

#define PORTS     6
#define VCS       3
#define VC_BLOCKS 64 /* bench_config() */
#define OUT       5

static const uint8_t route[] = {ROUTE_PORT_BIT | 4, ROUTE_PORT_BIT | ROUTE_ADAPTIVE | 3,
	ROUTE_TYPE_HOST, ROUTE_PORT_BIT | PORTS, ROUTE_PORT_BIT | 63};

static int set_up(void **state)
{
	const struct switch_config config = bench_config(PORTS, VCS);
	struct bench *bench = bench_create(&config);

	bench_grant_all(bench);
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	bench_destroy(*state);
	return 0;
}

/* Arrives at port 0 and leaves through 'output'. */
static const struct weft_packet *pass(
	struct bench *bench, const struct bench_packet *what, unsigned output)
{
	unsigned number = bench_arrive(bench, 0, what);

	assert_int_equal(bench_leave(bench, output), number);
	return &bench->packet[number];
}

/* Arrives at port 0 and is discarded, counted there as 'reason', and takes no space. */
static void expect_discard(
	struct bench *bench, const struct bench_packet *what, enum switch_counter reason)
{
	uint64_t before = bench_count(bench, 0, reason);

	bench_arrive(bench, 0, what);
	assert_int_equal(bench_count(bench, 0, reason), before + 1);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(switch_stored_packets(bench->sw), 0);
	for (unsigned vc = 0; vc < VCS; vc++)
		assert_int_equal(credit_stored(&bench->sw->port[0].link.rx[vc]), 0);
	bench_check(bench);
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct bench *bench)

TEST(a_packet_without_a_route_goes_where_the_table_says)
{
	const struct bench_packet what = {.destination = 3};

	pass(bench, &what, 3);
	bench->table[3] = 2;
	pass(bench, &what, 2);
}

TEST(a_source_route_goes_before_the_table)
{
	const struct bench_packet what = {.destination = 3, .route = route, .route_length = 1};

	pass(bench, &what, 4);
}

TEST(the_element_at_the_cursor_counts_and_the_cursor_advances)
{
	struct bench_packet what = {.route = route, .route_length = 3};

	assert_int_equal(pass(bench, &what, 4)->cursor, 1);
	what.cursor = 1;
	assert_int_equal(pass(bench, &what, 3)->cursor, 2);
}

TEST(a_hop_that_may_be_replaced_is_taken_as_it_stands)
{
	const struct bench_packet what = {.route = route, .route_length = 2, .cursor = 1};

	pass(bench, &what, 3);
}

TEST(a_packet_routed_by_table_keeps_its_cursor)
{
	const struct bench_packet what = {.destination = 3};

	assert_int_equal(pass(bench, &what, 3)->cursor, 0);
}

TEST(the_sl_gives_the_next_vc_and_the_header_says_so)
{
	struct bench_packet what = {.destination = OUT, .vc = 1};

	for (unsigned sl = 0; sl < 16; sl++) {
		what.sl = (uint8_t)sl;
		assert_int_equal(pass(bench, &what, OUT)->header_vc, sl % VCS);
	}
}

TEST(the_original_vc_and_the_flags_stay_in_the_header)
{
	const struct bench_packet what = {.destination = OUT,
		.sl = 2,
		.vc = 1,
		.vc_original = 9,
		.flags = FRAME_F_TAIL | FRAME_F_FECN};
	const struct weft_packet *packet = pass(bench, &what, OUT);

	assert_int_equal(packet->vc_original, 9);
	assert_int_equal(packet->flags, FRAME_F_TAIL | FRAME_F_FECN);
}

TEST(an_interface_element_at_the_cursor_is_a_routing_error)
{
	const struct bench_packet what = {.route = route, .route_length = 3, .cursor = 2};

	expect_discard(bench, &what, SWITCH_DISCARD_ROUTING_ERROR);
}

TEST(a_cursor_past_the_end_is_a_routing_error)
{
	const struct bench_packet what = {.route = route, .route_length = 2, .cursor = 2};

	expect_discard(bench, &what, SWITCH_DISCARD_ROUTING_ERROR);
}

TEST(a_port_that_is_not_there_is_a_routing_error)
{
	struct bench_packet what = {.route = route, .route_length = 5, .cursor = 3};

	expect_discard(bench, &what, SWITCH_DISCARD_ROUTING_ERROR);
	what.cursor = 4;
	expect_discard(bench, &what, SWITCH_DISCARD_ROUTING_ERROR);
}

/* Ports 4 and 3 with steps at one or neither, then steps before an element that is not a port. */
static const uint8_t steps[] = {ROUTE_PORT_BIT | 4, ROUTE_TYPE_STEP, ROUTE_PORT_BIT | 3,
	ROUTE_PORT_BIT | 2, ROUTE_TYPE_STEP, ROUTE_TYPE_STEP, ROUTE_PORT_BIT | 1, ROUTE_TYPE_STEP,
	ROUTE_TYPE_HOST, ROUTE_TYPE_STEP, ROUTE_PORT_BIT | PORTS, ROUTE_TYPE_STEP};

TEST(a_next_step_is_passed_over_and_the_element_after_it_counts)
{
	struct bench_packet what = {.route = steps, .route_length = sizeof(steps), .cursor = 1};

	assert_int_equal(pass(bench, &what, 3)->cursor, 3);
	what.control = true;
	what.kind = FRAME_ACK;
	assert_int_equal(pass(bench, &what, 3)->cursor, 3);
	what.cursor = 2;
	assert_int_equal(pass(bench, &what, 3)->cursor, 3);
}

TEST(a_next_step_before_anything_but_a_port_is_a_routing_error)
{
	static const uint8_t cursors[] = {4, 7, 9, sizeof(steps) - 1};
	struct bench_packet what = {.route = steps, .route_length = sizeof(steps)};

	for (unsigned i = 0; i < sizeof(cursors); i++) {
		what.cursor = cursors[i];
		what.control = false;
		expect_discard(bench, &what, SWITCH_DISCARD_ROUTING_ERROR);
		what.control = true;
		what.kind = FRAME_ACK;
		expect_discard(bench, &what, SWITCH_CONTROL_DISCARD_ROUTE);
	}
}

UNIT_TEST(a_next_step_towards_a_link_that_is_down_is_no_routing_error)
{
	struct switch_config config = bench_config(PORTS, VCS);
	const struct bench_packet what = {
		.route = steps, .route_length = sizeof(steps), .cursor = 1};
	OWNED(bench) *bench;

	config.absent_ports = BIT64(3);
	bench = bench_create(&config);
	expect_discard(bench, &what, SWITCH_DISCARD_LINK_DOWN);
}

/* Ports 0 to 3 belong to a ring, and 5 to a host. The classes are those of vc_rule_test.c. */
UNIT_TEST(what_the_route_says_about_steps_chooses_the_vc)
{
	static const struct {
		unsigned input, vc, cursor, output, next;
	} cases[] = {
		{5, 0, 0, 4, 0},                  /* a step follows */
		{5, 0, 2, 3, 1},                  /* none does */
		{0, 0, 1, 3, 1},                  /* the second step begins */
		{0, 1, 1, 3, 2},                  /* the last one */
		{0, 1, 2, 3, 1}, {0, 1, 0, 4, 1}, /* only a host's switch looks ahead */
	};
	struct switch_config config = bench_config(PORTS, VCS);
	struct vc_rule *rule = vc_rule_create(1, VCS);

	rule->steps = VC_STEPS_LINKS;
	memset(rule->ring, 0, 5);
	config.vc_rule = rule;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bench_packet what = {.route = steps,
			.route_length = sizeof(steps),
			.cursor = (uint8_t)cases[i].cursor,
			.vc = (uint8_t)cases[i].vc};
		OWNED(bench) *bench = bench_create(&config);
		unsigned number;

		bench_grant_all(bench);
		number = bench_arrive(bench, cases[i].input, &what);
		assert_int_equal(bench_leave(bench, cases[i].output), number);
		assert_int_equal(bench->packet[number].header_vc, cases[i].next);
	}
	vc_rule_destroy(rule);
}

TEST(a_destination_beyond_the_table_has_no_route)
{
	const struct bench_packet what = {.destination = BENCH_HOSTS};

	expect_discard(bench, &what, SWITCH_DISCARD_NO_ROUTE);
}

TEST(a_destination_without_a_port_in_the_table_has_no_route)
{
	const struct bench_packet what = {.destination = 3};

	bench->alternatives[3] = BIT64(4);
	bench->table[3] = SWITCH_PORT_NONE;
	expect_discard(bench, &what, SWITCH_DISCARD_NO_ROUTE);
	bench->table[3] = PORTS;
	expect_discard(bench, &what, SWITCH_DISCARD_NO_ROUTE);
}

TEST(without_a_table_only_source_routes_lead_on)
{
	const struct bench_packet by_table = {.destination = 3};
	const struct bench_packet by_route = {.route = route, .route_length = 1};

	switch_set_routing(bench->sw, &(struct switch_routing){.hosts = BENCH_HOSTS});
	expect_discard(bench, &by_table, SWITCH_DISCARD_NO_ROUTE);
	pass(bench, &by_route, 4);
}

TEST(a_vc_that_the_switch_does_not_have_is_refused)
{
	struct bench_packet what = {.destination = OUT, .vc = VCS};

	expect_discard(bench, &what, SWITCH_DISCARD_VC);
	what.vc = FRAME_VCS_MAX - 1;
	expect_discard(bench, &what, SWITCH_DISCARD_VC);
}

UNIT_TEST(a_port_without_a_cable_discards_as_a_link_that_is_down)
{
	struct switch_config config = bench_config(PORTS, VCS);
	const struct bench_packet what = {.destination = OUT};
	OWNED(bench) *bench;

	config.absent_ports = BIT64(OUT);
	bench = bench_create(&config);
	expect_discard(bench, &what, SWITCH_DISCARD_LINK_DOWN);
}

TEST(a_frame_beyond_the_credits_is_dropped_and_counted_as_a_violation)
{
	struct bench_packet what = {.destination = OUT, .blocks = VC_BLOCKS + 1};

	expect_discard(bench, &what, SWITCH_DISCARD_CREDIT_VIOLATION);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_VC), 0);
}

TEST(a_full_vc_takes_no_block_more_however_often_it_is_tried)
{
	const struct bench_packet what = {.destination = OUT};

	for (unsigned i = 0; i < 3 * VC_BLOCKS; i++) {
		bench_arrive(bench, 0, &what);
		assert_true(credit_stored(&bench->sw->port[0].link.rx[0]) <= VC_BLOCKS);
	}
	assert_int_equal(switch_stored_packets(bench->sw), VC_BLOCKS);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_CREDIT_VIOLATION), 2 * VC_BLOCKS);
	bench_discarded(bench);
}

TEST(a_violation_in_one_vc_leaves_the_other_vcs_their_credits)
{
	const struct bench_packet overrun = {.destination = OUT, .blocks = VC_BLOCKS + 1};
	const struct bench_packet good = {
		.destination = OUT, .vc = 1, .sl = 1, .blocks = VC_BLOCKS};

	expect_discard(bench, &overrun, SWITCH_DISCARD_CREDIT_VIOLATION);
	pass(bench, &good, OUT);
}

TEST(a_violator_gets_no_more_and_no_less_than_the_buffer_afterwards)
{
	const struct bench_packet overrun = {.destination = OUT, .blocks = VC_BLOCKS + 1};
	struct control_credit told;

	expect_discard(bench, &overrun, SWITCH_DISCARD_CREDIT_VIOLATION);
	told = bench_told(bench, 0);
	assert_int_equal(told.limit[0], overrun.blocks + VC_BLOCKS); /* its total + the buffer */
}

TEST(a_stored_packet_is_not_granted_again_before_it_has_left)
{
	const struct bench_packet what = {.destination = OUT, .blocks = 10};

	bench_arrive(bench, 0, &what);
	assert_int_equal(bench_told(bench, 0).limit[0], VC_BLOCKS);
	bench_leave(bench, OUT);
	assert_int_equal(bench_told(bench, 0).limit[0], VC_BLOCKS + 10);
}

UNIT_TEST(the_buffer_is_split_equally_among_the_vcs)
{
	struct switch_config config = bench_config(PORTS, 4);
	OWNED(bench) *bench;

	config.buffer_blocks = 2048;
	bench = bench_create(&config);
	for (unsigned vc = 0; vc < 4; vc++)
		assert_int_equal(bench_told(bench, 0).limit[vc], 512);
}

UNIT_TEST(all_that_is_advertised_fits_into_the_ports_receive_ring)
{
	struct switch_config config = bench_config(PORTS, VCS);
	OWNED(bench) *bench;
	uint32_t sum = 0;

	config.buffer_blocks = 2048;
	config.port_slots[2] = 100;
	bench = bench_create(&config);
	for (unsigned vc = 0; vc < VCS; vc++)
		sum += bench_told(bench, 2).limit[vc];
	assert_true(sum <= 100);
	assert_true(sum > 100 - VCS);
	assert_int_equal(bench_told(bench, 1).limit[0], 2048 / VCS);
}

UNIT_TEST(a_ring_longer_than_the_buffer_makes_the_buffer_no_bigger)
{
	struct switch_config config = bench_config(PORTS, VCS);
	OWNED(bench) *bench;

	config.port_slots[2] = 100000;
	bench = bench_create(&config);
	assert_int_equal(bench_told(bench, 2).limit[0], VC_BLOCKS);
}

static void expect_refusal(const struct switch_config *config)
{
	errno = 0;
	assert_null(switch_create(config, 0));
	assert_int_equal(errno, EINVAL);
}

UNIT_TEST(a_configuration_out_of_range_is_refused)
{
	struct switch_config config = bench_config(0, 1);

	expect_refusal(&config);
	config = bench_config(SWITCH_PORTS_MAX + 1, 1);
	expect_refusal(&config);
	config = bench_config(PORTS, FRAME_VCS_MAX + 1);
	expect_refusal(&config);
	config = bench_config(PORTS, VCS);
	config.vcs = 0;
	expect_refusal(&config);
	config = bench_config(PORTS, VCS);
	config.session = 0;
	expect_refusal(&config);
	config = bench_config(PORTS, VCS);
	config.sl_to_vc[15] = VCS;
	expect_refusal(&config);
	config = bench_config(PORTS, VCS);
	config.buffer_blocks = VCS - 1; /* a VC without a block */
	expect_refusal(&config);
	config = bench_config(PORTS, VCS);
	config.port_slots[1] = VCS - 1;
	expect_refusal(&config);
}

/* More classes than VCs, or a rule that does not contain the switch. */
UNIT_TEST(a_vc_rule_that_does_not_fit_is_refused)
{
	struct switch_config config = bench_config(PORTS, VCS);
	struct vc_rule *rule = vc_rule_create(3, VCS + 1);

	config.vc_rule = rule;
	expect_refusal(&config);
	rule->classes = VCS;
	config.vc_rule_at = 3;
	expect_refusal(&config);
	vc_rule_destroy(rule);
}

TEST(control_frames_are_accounted_apart_from_data)
{
	const struct bench_packet what = {.destination = OUT, .control = true};

	pass(bench, &what, OUT);
	assert_int_equal(bench_count(bench, 0, SWITCH_CONTROL_IN), 1);
	assert_int_equal(bench_count(bench, OUT, SWITCH_CONTROL_OUT), 1);
	assert_int_equal(bench_count(bench, 0, SWITCH_DATA_IN), 0);
	assert_int_equal(bench_count(bench, OUT, SWITCH_DATA_OUT), 0);
	assert_int_equal(bench->sw->port[0].link.rx[0].received, 0);
}

TEST(bytes_count_for_data_and_control_on_both_sides)
{
	struct bench_packet what = {.destination = OUT, .blocks = 2};

	pass(bench, &what, OUT);
	what.control = true;
	pass(bench, &what, OUT);
	assert_int_equal(bench_count(bench, 0, SWITCH_BYTES_IN), 4 * FRAME_BLOCK_BYTES);
	assert_int_equal(bench_count(bench, OUT, SWITCH_BYTES_OUT), 4 * FRAME_BLOCK_BYTES);
}

TEST(a_control_frame_without_a_way_is_counted_apart)
{
	struct bench_packet what = {.destination = BENCH_HOSTS, .control = true};

	expect_discard(bench, &what, SWITCH_CONTROL_DISCARD_ROUTE);
	what = (struct bench_packet){
		.route = route, .route_length = 3, .cursor = 2, .control = true};
	expect_discard(bench, &what, SWITCH_CONTROL_DISCARD_ROUTE);
}

TEST(a_control_frame_keeps_the_vc_of_its_header)
{
	const struct bench_packet what = {.destination = OUT, .vc = 1, .sl = 2, .control = true};

	assert_int_equal(pass(bench, &what, OUT)->header_vc, 1);
}

TEST(a_full_control_reserve_discards_and_data_goes_on)
{
	const struct bench_packet control = {.destination = OUT, .control = true};
	const struct bench_packet data = {.destination = 4};

	for (unsigned i = 0; i < 8 + 3; i++)
		bench_arrive(bench, 0, &control);
	assert_int_equal(bench_count(bench, 0, SWITCH_CONTROL_DISCARD_FULL), 3);
	assert_int_equal(bench_discarded(bench), 3);
	pass(bench, &data, 4);
	for (unsigned i = 0; i < 8; i++)
		assert_true(bench_leave(bench, OUT) >= 0);
	pass(bench, &control, OUT); /* there is room again */
}

TEST(full_data_buffers_do_not_hold_up_control_frames)
{
	const struct bench_packet data = {.destination = OUT, .blocks = VC_BLOCKS};
	const struct bench_packet control = {.destination = OUT, .control = true};

	bench_arrive(bench, 0, &data);
	pass(bench, &control, OUT);
}

static void draw_packet(struct rng *rng, struct bench_packet *what)
{
	static const uint8_t good_route[] = {
		ROUTE_PORT_BIT | 1, ROUTE_PORT_BIT | 2, ROUTE_PORT_BIT | OUT};

	*what = (struct bench_packet){
		.destination = (uint16_t)rng_below(rng, PORTS),
		.vc = (uint8_t)rng_below(rng, VCS),
		.sl = (uint8_t)rng_below(rng, 16),
		.blocks = (uint16_t)(1 + rng_below(rng, 6)),
		.flags = (uint8_t)rng_below(rng, 256),
	};
	if (rng_below(rng, 3) == 0) {
		what->route = good_route;
		what->route_length = 3;
		what->cursor = (uint8_t)rng_below(rng, 3);
	}
}

TEST(a_discarded_packet_says_which_counter_it_is_in)
{
	const struct bench_packet what = {.destination = BENCH_HOSTS};
	const struct weft_packet *packet = &bench->packet[bench_arrive(bench, 0, &what)];

	assert_int_equal(packet->out_port, SWITCH_PORT_NONE);
	assert_int_equal(packet->discard, SWITCH_DISCARD_NO_ROUTE);
	assert_int_equal(bench_count(bench, 0, (enum switch_counter)packet->discard), 1);
	bench_discarded(bench);
}

/* One in four is bad in some way. */
static void spoil_packet(struct rng *rng, struct bench_packet *what)
{
	switch (rng_below(rng, 16)) {
	case 0:
		what->vc = (uint8_t)rng_below(rng, FRAME_VCS_MAX);
		break;
	case 1:
		what->destination = (uint16_t)rng_below(rng, 2 * BENCH_HOSTS);
		break;
	case 2:
		what->route = route;
		what->route_length = 5;
		what->cursor = (uint8_t)rng_below(rng, 6);
		break;
	case 3:
		what->blocks = (uint16_t)(1 + rng_below(rng, 2 * VC_BLOCKS));
		break;
	}
}

/* Every packet that arrived left, is stored, or has a counter that states why not. */
TEST(nothing_is_unaccounted_for_whatever_arrives)
{
	uint64_t in = 0, out = 0, discarded = 0;
	struct weft_packet *packets[8];
	struct bench_packet what;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	while (bench->packets < BENCH_PACKETS) {
		unsigned port = (unsigned)rng_below(&rng, PORTS);

		draw_packet(&rng, &what);
		spoil_packet(&rng, &what);
		bench_arrive(bench, port, &what);
		in++;
		out += switch_transmit(bench->sw, (unsigned)rng_below(&rng, PORTS), packets,
			(unsigned)rng_below(&rng, 8), bench->now);
		discarded += bench_discarded(bench);
		if (rng_below(&rng, 8) == 0)
			bench_told(bench, port);
		assert_int_equal(in, out + discarded + switch_stored_packets(bench->sw));
		bench_check(bench);
	}
	assert_true(discarded > 100);
	assert_true(out > 100);
}

/* Compares bypassing the queues with queuing. Two switches get the same packets, credits and
 * departures. One is driven like by the poll driver. The other always stores, and immediately sends
 * what the first let pass. */
struct twins {
	struct bench *direct, *usual;
	struct rng rng;
	uint64_t outputs; /* through which the driver can send */
	uint64_t passed, stored;
	bool voq;
};

static void assert_same_port(const struct switch_port *a, const struct switch_port *b)
{
	assert_memory_equal(a->link.tx, b->link.tx, sizeof(a->link.tx));
	assert_memory_equal(a->link.rx, b->link.rx, sizeof(a->link.rx));
	assert_memory_equal(a->count, b->count, sizeof(a->count));
	assert_int_equal(a->output.ready, b->output.ready);
	assert_int_equal(a->output.stalled, b->output.stalled);
	assert_int_equal(a->output.next_input, b->output.next_input);
}

static void assert_same_state(const struct twins *twins)
{
	const struct weft_switch *a = twins->direct->sw, *b = twins->usual->sw;

	assert_int_equal(a->busy, b->busy);
	assert_int_equal(a->idle, b->idle);
	for (unsigned port = 0; port < PORTS; port++)
		assert_same_port(&a->port[port], &b->port[port]);
	for (unsigned i = 0; i < PORTS * PORTS; i++) {
		assert_int_equal(a->cross[i].ready, b->cross[i].ready);
		assert_int_equal(a->cross[i].stalled, b->cross[i].stalled);
		assert_int_equal(a->cross[i].next_vc, b->cross[i].next_vc);
	}
}

/* Like the poll driver: bypasses the queues if possible, otherwise queues. */
static unsigned drive_direct(struct twins *twins, unsigned input, struct weft_packet *packet)
{
	struct weft_packet read = *packet;
	unsigned output = bench_pass_queues(twins->direct, input, &read, twins->outputs);

	if (output == SWITCH_PORT_NONE) {
		bench_receive(twins->direct, input, packet);
		return output;
	}
	switch_count_in(&twins->direct->sw->port[input], 1, packet->bytes);
	packet->mutable_word = read.mutable_word;
	switch_count_passed(twins->direct->sw, input, packet->vc, output, 1, packet->bytes);
	return output;
}

static void twins_receive(struct twins *twins)
{
	unsigned input = (unsigned)rng_below(&twins->rng, PORTS), output;
	struct weft_packet *direct, *usual;
	struct bench_packet what;

	draw_packet(&twins->rng, &what);
	spoil_packet(&twins->rng, &what);
	direct = bench_make(twins->direct, &what);
	usual = bench_make(twins->usual, &what);
	output = drive_direct(twins, input, direct);
	bench_receive(twins->usual, input, usual);
	if (output == SWITCH_PORT_NONE) {
		twins->stored++;
		return;
	}
	twins->passed++;
	assert_int_equal(bench_leave(twins->usual, output), usual->sequence);
	assert_int_equal(direct->mutable_word, usual->mutable_word);
}

static void twins_transmit(struct twins *twins, unsigned output)
{
	int left = bench_leave(twins->direct, output);

	assert_int_equal(bench_leave(twins->usual, output), left);
	if (left >= 0)
		assert_int_equal(twins->direct->packet[left].mutable_word,
			twins->usual->packet[left].mutable_word);
}

static void twins_grant(struct twins *twins, unsigned port, unsigned vc, uint32_t blocks)
{
	bench_grant(twins->direct, port, vc, blocks);
	bench_grant(twins->usual, port, vc, blocks);
	bench_told(twins->direct, port);
	bench_told(twins->usual, port);
}

/* All waiting packets leave, so outputs are idle again. */
static void twins_empty(struct twins *twins)
{
	while (switch_stored_packets(twins->direct->sw) > 0) {
		for (unsigned i = 0; i < PORTS * VCS; i++)
			twins_grant(twins, i / VCS, i % VCS, 10);
		for (unsigned output = 0; output < PORTS; output++)
			twins_transmit(twins, output);
	}
}

static void run_twins(bool voq, uint64_t seed)
{
	struct switch_config config = bench_config(PORTS, VCS);
	struct twins twins = {.voq = voq};

	config.voq = voq;
	twins.direct = bench_create(&config);
	twins.usual = bench_create(&config);
	rng_init(&twins.rng, seed, 0, 0);
	while (twins.direct->packets < BENCH_PACKETS) {
		twins.outputs = rng_next(&twins.rng) | rng_next(&twins.rng);
		for (unsigned i = 0; i < 4 && twins.direct->packets < BENCH_PACKETS; i++)
			twins_receive(&twins);
		for (unsigned i = 0; i < 4; i++)
			twins_transmit(&twins, (unsigned)rng_below(&twins.rng, PORTS));
		twins_grant(&twins, (unsigned)rng_below(&twins.rng, PORTS),
			(unsigned)rng_below(&twins.rng, VCS), (uint32_t)rng_below(&twins.rng, 40));
		if (rng_below(&twins.rng, 16) == 0)
			twins_empty(&twins);
		assert_same_state(&twins);
		bench_check(twins.direct);
	}
	assert_true(twins.passed > 200);
	assert_true(twins.stored > 200);
	bench_destroy(twins.direct);
	bench_destroy(twins.usual);
}

UNIT_TEST(the_way_past_the_queues_has_the_outcome_of_the_usual_way)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		run_twins(true, seed);
}

UNIT_TEST(the_way_past_the_queues_is_right_without_voqs_too)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		run_twins(false, seed);
}

static unsigned try_direct(struct bench *bench, unsigned vc, uint64_t outputs)
{
	struct weft_packet packet = {.blocks = 1, .destination = OUT, .vc = (uint8_t)vc};

	return bench_pass_queues(bench, 0, &packet, outputs);
}

TEST(nothing_goes_past_a_packet_that_waits_for_the_same_output)
{
	bench_send(bench, 1, 0, OUT);
	assert_int_equal(try_direct(bench, 0, UINT64_MAX), SWITCH_PORT_NONE);
	bench_leave(bench, OUT);
	assert_int_equal(try_direct(bench, 0, UINT64_MAX), OUT);
	switch_count_in(&bench->sw->port[0], 1, 64);
	switch_count_passed(bench->sw, 0, 0, OUT, 1, 64);
}

TEST(nothing_goes_past_a_control_frame)
{
	const struct bench_packet control = {.destination = OUT, .control = true};

	bench_arrive(bench, 1, &control);
	assert_int_equal(try_direct(bench, 0, UINT64_MAX), SWITCH_PORT_NONE);
}

TEST(nothing_goes_past_where_the_driver_cannot_send)
{
	assert_int_equal(try_direct(bench, 0, ~BIT64(OUT)), SWITCH_PORT_NONE);
}

TEST(a_source_route_goes_past_the_queues_too)
{
	struct weft_packet packet = {
		.blocks = 1, .route_length = 1, .hop = ROUTE_PORT_BIT | ROUTE_ADAPTIVE | OUT};

	assert_int_equal(bench_pass_queues(bench, 0, &packet, UINT64_MAX), OUT);
	assert_int_equal(packet.mutable_word, MUTABLE_CURSOR(1));
}
