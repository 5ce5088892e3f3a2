/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Mapper frames at a switch (docs/explanation/the-mapper.md): which are forwarded, which are for
 * its agent, and that all others are routing errors. */

#include "switch_bench.h"

#define PORTS 4
#define VCS   2

static const uint8_t to_agent[] = {ROUTE_PORT_BIT | 2, ROUTE_TYPE_AGENT};
static const uint8_t agent_inside[] = {ROUTE_TYPE_AGENT, ROUTE_PORT_BIT | 2};
static const uint8_t elsewhere[] = {
	ROUTE_TYPE_HOST, ROUTE_TYPE_ITB, ROUTE_PORT_BIT | PORTS, 0, ROUTE_TYPE_STEP};

static const uint8_t kinds[] = {FRAME_SCOUT, FRAME_MAPPER};

static int set_up(void **state)
{
	const struct switch_config config = bench_config(PORTS, VCS);
	struct bench *bench = bench_create(&config);

	switch_serve_agent(bench->sw, true);
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	bench_destroy(*state);
	return 0;
}

static struct bench_packet frame_of(uint8_t kind, const uint8_t *route, unsigned length, uint8_t at)
{
	return (struct bench_packet){.control = true,
		.kind = kind,
		.route = route,
		.route_length = (uint8_t)length,
		.cursor = at};
}

static void expect_error(struct bench *bench, const struct bench_packet *what)
{
	enum switch_counter reason =
		what->control ? SWITCH_CONTROL_DISCARD_ROUTE : SWITCH_DISCARD_ROUTING_ERROR;
	uint64_t before = bench_count(bench, 1, reason);

	bench_arrive(bench, 1, what);
	assert_int_equal(bench_count(bench, 1, reason), before + 1);
	assert_null(switch_take_for_agent(bench->sw));
	assert_int_equal(bench_discarded(bench), 1);
	bench_check(bench);
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct bench *bench)

TEST(a_port_at_the_cursor_sends_it_on_without_credits)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct bench_packet what = frame_of(kinds[i], to_agent, 2, 0);
		unsigned number = bench_arrive(bench, 1, &what);

		assert_int_equal(bench_leave(bench, 2), number);
		assert_int_equal(bench->packet[number].cursor, 1);
		assert_null(switch_take_for_agent(bench->sw));
	}
	assert_int_equal(bench->sw->port[1].link.rx[0].received, 0);
}

TEST(an_agent_as_the_last_element_is_the_agent_of_this_switch)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct bench_packet what = frame_of(kinds[i], to_agent, 2, 1);
		unsigned number = bench_arrive(bench, 1, &what);
		const struct weft_packet *packet = switch_take_for_agent(bench->sw);

		assert_ptr_equal(packet, &bench->packet[number]);
		assert_null(packet->next);
		assert_int_equal(packet->in_port, 1);
		assert_int_equal(bench_count(bench, 1, SWITCH_CONTROL_AGENT), i + 1);
	}
	assert_int_equal(bench_discarded(bench), 0);
	assert_int_equal(bench_count(bench, 1, SWITCH_CONTROL_IN), 2);
}

TEST(frames_for_the_agent_come_in_their_order)
{
	const struct bench_packet what = frame_of(FRAME_MAPPER, to_agent, 2, 1);
	const struct weft_packet *packet;
	unsigned number = 0;

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(bench_arrive(bench, i % PORTS, &what), i);
	for (packet = switch_take_for_agent(bench->sw); packet != NULL; packet = packet->next)
		assert_int_equal(packet->sequence, number++);
	assert_int_equal(number, 5);
	bench_arrive(bench, 0, &what);
	assert_int_equal(switch_take_for_agent(bench->sw)->sequence, 5);
	assert_null(switch_take_for_agent(bench->sw));
}

TEST(an_agent_that_is_not_the_last_element_is_a_routing_error)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct bench_packet what = frame_of(kinds[i], agent_inside, 2, 0);

		expect_error(bench, &what);
	}
}

TEST(other_elements_and_ports_that_are_not_there_are_routing_errors)
{
	for (unsigned i = 0; i < sizeof(elsewhere); i++) {
		const struct bench_packet last =
			frame_of(FRAME_SCOUT, elsewhere, i + 1, (uint8_t)i);
		const struct bench_packet inside =
			frame_of(FRAME_SCOUT, elsewhere, sizeof(elsewhere), (uint8_t)i);

		expect_error(bench, &last);
		expect_error(bench, &inside);
	}
}

/* Their routes consist only of ports. */
TEST(a_step_towards_a_port_is_a_routing_error)
{
	static const uint8_t steps[] = {
		ROUTE_PORT_BIT | 2, ROUTE_TYPE_STEP, ROUTE_PORT_BIT | 2, ROUTE_TYPE_AGENT};

	for (unsigned i = 0; i < 2; i++) {
		const struct bench_packet what = frame_of(kinds[i], steps, sizeof(steps), 1);

		expect_error(bench, &what);
	}
}

TEST(a_cursor_past_the_end_is_a_routing_error)
{
	const struct bench_packet what = frame_of(FRAME_MAPPER, to_agent, 2, 2);

	expect_error(bench, &what);
}

TEST(the_table_says_nothing_about_frames_of_the_mapper)
{
	for (unsigned i = 0; i < 2; i++) {
		struct bench_packet what = frame_of(kinds[i], NULL, 0, 0);

		what.destination = 2;
		expect_error(bench, &what);
	}
}

TEST(a_switch_without_an_agent_takes_nothing)
{
	const struct bench_packet what = frame_of(FRAME_SCOUT, to_agent, 2, 1);

	switch_serve_agent(bench->sw, false);
	expect_error(bench, &what);
}

TEST(no_other_kind_reaches_the_agent)
{
	const struct bench_packet ack = frame_of(FRAME_ACK, to_agent, 2, 1);
	const struct bench_packet notification = frame_of(FRAME_CN, to_agent, 2, 1);
	const struct bench_packet data = {.route = to_agent, .route_length = 2, .cursor = 1};

	expect_error(bench, &ack);
	expect_error(bench, &notification);
	expect_error(bench, &data);
}

TEST(a_port_that_is_down_counts_as_for_other_control_frames)
{
	const struct bench_packet what = frame_of(FRAME_SCOUT, to_agent, 2, 0);

	bench_pass(bench, 4 * BENCH_HELLO_PS, BIT64(2));
	bench_arrive(bench, 1, &what);
	assert_int_equal(bench_count(bench, 1, SWITCH_CONTROL_DISCARD_DOWN), 1);
	assert_int_equal(bench_discarded(bench), 1);
}

TEST(a_full_reserve_keeps_nothing_from_the_agent)
{
	const struct bench_packet on = frame_of(FRAME_MAPPER, to_agent, 2, 0);
	const struct bench_packet own = frame_of(FRAME_MAPPER, to_agent, 2, 1);

	for (unsigned i = 0; i < 10; i++)
		bench_arrive(bench, 1, &on);
	assert_int_equal(bench_count(bench, 1, SWITCH_CONTROL_DISCARD_FULL), 2);
	bench_arrive(bench, 1, &own);
	assert_non_null(switch_take_for_agent(bench->sw));
}
