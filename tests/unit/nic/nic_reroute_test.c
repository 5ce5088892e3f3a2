/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* An interface gets different routes while messages wait, are in flight, and are not
 * acknowledged. */

#include "nic/selectors/route_choice.h"
#include "nic_pair.h"

#define PORT(n) (ROUTE_PORT_BIT | (n))

/* Routes to every host in the set through 'port', or two routes if 'other' is not 0. */
static struct nic_routes *make_routes(unsigned set, uint8_t port, uint8_t other)
{
	struct nic_routes *routes = nic_routes_create(PAIR_HOSTS);

	for (uint16_t to = 0; to < PAIR_HOSTS; to++) {
		const uint8_t first[] = {PORT(port), PORT(to), ROUTE_TYPE_HOST};
		const uint8_t second[] = {PORT(other), PORT(to), ROUTE_TYPE_HOST};

		if ((set >> to & 1) == 0)
			continue;
		assert_int_equal(nic_routes_add(routes, to, first, sizeof(first)), 0);
		if (other != 0)
			assert_int_equal(nic_routes_add(routes, to, second, sizeof(second)), 0);
	}
	return routes;
}

/* The former routes are freed immediately, so nothing may point to them. */
static void change(struct end *end, struct nic_routes *routes)
{
	assert_int_equal(nic_set_routes(end->nic, routes, end->now), 0);
	nic_routes_destroy(end->routes);
	end->routes = routes;
	assert_null(nic_check(end->nic));
}

#define ALL 0xF

static void start_with(struct end *end, uint16_t host, struct nic_routes *routes)
{
	struct nic_config config = end_config(end, host, 1u + host);

	nic_routes_destroy(end->routes);
	config.routes = end->routes = routes;
	end_begin(end, &config);
}

/* Through the switches to the host. Returns true if it came back immediately. */
static bool carry(struct end *to, struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	uint8_t cursor = header->route_length == 0 ? 0 : (uint8_t)(header->route_length - 1);

	frame_update_mutable(box->frame,
		frame_mutable_word(header->vc, header->vc_original, cursor, header->flags));
	return end_give(to, box);
}

static void carry_all(struct end *a, struct end *b)
{
	struct box box;
	bool more = true;

	while (more) {
		more = false;
		while (end_take(a, &box)) {
			carry(b, &box);
			more = true;
		}
		while (end_take(b, &box)) {
			carry(a, &box);
			more = true;
		}
	}
}

/* The frame's first hop. */
static unsigned hop_of(const struct box *box)
{
	return box->frame[FRAME_HEADER_BYTES] & ROUTE_PORT_MASK;
}

static void expect_by(struct end *end, struct box *box, uint32_t sequence, unsigned port)
{
	end_expect(end, box, sequence);
	assert_int_equal(hop_of(box), port);
}

UNIT_TEST(the_rest_of_a_message_and_those_that_wait_go_by_the_new_route)
{
	OWNED(end) a;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	end_send(&a, 1, 0, PAIR_MTU);
	expect_by(&a, &box, 0, 1);
	expect_by(&a, &box, 1, 1);
	change(&a, make_routes(ALL, 2, 0));
	for (uint32_t sequence = 2; sequence < 5; sequence++)
		expect_by(&a, &box, sequence, 2);
	assert_int_equal(end_count(&a, NIC_ROUTE_CHANGES), 1);
	assert_int_equal(end_count(&a, NIC_MESSAGES_REROUTED), 1); /* the other one was queued */
}

UNIT_TEST(a_repetition_goes_by_the_new_route)
{
	OWNED(end) a;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, PAIR_MTU);
	expect_by(&a, &box, 0, 1);
	change(&a, make_routes(ALL, 2, 0));
	assert_false(end_take(&a, &box)); /* the change alone is not a reason to repeat it */
	end_wait(&a, 21 * PS_PER_MS);
	end_wait(&a, 21 * PS_PER_MS);
	expect_by(&a, &box, 0, 2);
}

UNIT_TEST(an_acknowledgement_goes_by_the_new_route)
{
	OWNED(end) a, b;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	start_with(&b, 1, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, PAIR_MTU);
	expect_by(&a, &box, 0, 1);
	carry(&b, &box);
	change(&b, make_routes(ALL, 2, 0));
	end_wait(&b, 51 * PS_PER_US);
	assert_true(end_take(&b, &box));
	assert_int_equal(box_ack(&box).expected, 1);
	assert_int_equal(hop_of(&box), 2);
}

UNIT_TEST(what_overtakes_the_old_route_is_put_in_order)
{
	OWNED(end) a, b;
	struct box box[4];

	start_with(&a, 0, make_routes(ALL, 1, 0));
	start_with(&b, 1, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	expect_by(&a, &box[0], 0, 1);
	expect_by(&a, &box[1], 1, 1);
	change(&a, make_routes(ALL, 2, 0));
	expect_by(&a, &box[2], 2, 2);
	expect_by(&a, &box[3], 3, 2);
	assert_false(carry(&b, &box[2]));
	assert_false(carry(&b, &box[3]));
	assert_int_equal(b.delivered, 0);
	carry(&b, &box[0]);
	carry(&b, &box[1]);
	assert_int_equal(b.delivered, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(b.sequence[i], i);
		assert_false(box[i].held);
	}
	carry_all(&a, &b);
	assert_int_equal(a.acked, 1);
	assert_int_equal(end_count(&a, NIC_FRAMES_RETRANSMITTED), 0);
}

UNIT_TEST(without_room_to_reorder_it_comes_again)
{
	OWNED(end) a, b;
	struct nic_config config = end_config(&b, 1, 2);
	struct box box[2];

	start_with(&a, 0, make_routes(ALL, 1, 0));
	config.reorder_windows = 0;
	end_begin(&b, &config);
	end_send(&a, 1, 0, 2 * PAIR_MTU);
	expect_by(&a, &box[0], 0, 1);
	change(&a, make_routes(ALL, 2, 0));
	expect_by(&a, &box[1], 1, 2);
	carry(&b, &box[1]);
	carry(&b, &box[0]);
	for (unsigned i = 0; i < 4; i++) {
		end_wait(&a, 21 * PS_PER_MS);
		end_wait(&b, 21 * PS_PER_MS);
		carry_all(&a, &b);
	}
	assert_int_equal(b.delivered, 2);
	assert_int_equal(a.acked, 1);
}

UNIT_TEST(messages_to_a_host_without_a_route_step_aside_and_go_on)
{
	OWNED(end) a, b;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	start_with(&b, 1, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 20);
	end_send(&a, 1, 0, 20);
	end_send(&a, 2, 0, 20);
	expect_by(&a, &box, 0, 1);
	carry(&b, &box);
	change(&a, make_routes(ALL & ~(1u << 1), 1, 0));
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 2);
	end_wait(&a, 200 * PS_PER_MS);
	assert_false(end_take(&a, &box) && box.packet.destination == 1);
	assert_int_equal(end_count(&a, NIC_MESSAGES_STRANDED), 2);
	assert_int_equal(end_send(&a, 1, 0, 20), -ENETUNREACH);
	change(&a, make_routes(ALL, 2, 0));
	for (unsigned i = 0; i < 4; i++) {
		end_wait(&b, PS_PER_MS);
		carry_all(&a, &b);
	}
	assert_int_equal(b.tails, 2);
	assert_int_equal(a.acked, 2);
	assert_int_equal(a.failed, 0);
}

UNIT_TEST(a_route_that_is_back_is_tried_at_once)
{
	OWNED(end) a;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 6 * PAIR_MTU);
	for (uint32_t i = 0; i < 4; i++)
		expect_by(&a, &box, i, 1);
	change(&a, make_routes(0, 1, 0));
	for (unsigned i = 0; i < 10; i++)
		end_wait(&a, 50 * PS_PER_MS);
	assert_int_equal(end_count(&a, NIC_RETRY_TIMEOUTS), 0); /* nothing could be repeated */
	change(&a, make_routes(ALL, 2, 0));
	expect_by(&a, &box, 0, 2); /* one is enough to learn what has arrived */
	expect_by(&a, &box, 4, 2);
	expect_by(&a, &box, 5, 2);
	assert_false(end_take(&a, &box));
}

/* Neither the time without a route nor the timeouts before it count. */
UNIT_TEST(who_has_a_route_again_gets_the_whole_time)
{
	OWNED(end) a;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 20);
	expect_by(&a, &box, 0, 1);
	for (unsigned i = 0; i < 20; i++) {
		end_wait(&a, 21 * PS_PER_MS);
		end_take(&a, &box);
	}
	change(&a, make_routes(0, 1, 0));
	end_wait(&a, 400 * PS_PER_MS);
	change(&a, make_routes(ALL, 2, 0));
	expect_by(&a, &box, 0, 2);
	end_wait(&a, 21 * PS_PER_MS);
	expect_by(&a, &box, 0, 2);
	end_wait(&a, 800 * PS_PER_MS);
	assert_int_equal(a.failed, 0);
	end_wait(&a, 200 * PS_PER_MS);
	assert_int_equal(a.failed, 1);
}

UNIT_TEST(messages_routed_by_table_stay_so_or_get_a_route)
{
	struct nic_routes *by_table = nic_routes_create(PAIR_HOSTS);
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 3 * PAIR_MTU);
	nic_routes_by_table(by_table, 1);
	end_expect(&a, &box, 0);
	change(&a, by_table);
	end_expect(&a, &box, 1);
	assert_int_equal(frame_header_const(box.frame)->route_length, 0);
	change(&a, make_routes(ALL, 2, 0));
	expect_by(&a, &box, 2, 2);
}

UNIT_TEST(messages_that_get_no_route_in_time_fail)
{
	OWNED(end) a;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	end_send(&a, 1, 0, 20);
	end_send(&a, 1, 0, 20);
	expect_by(&a, &box, 0, 1);
	change(&a, make_routes(0, 1, 0));
	assert_false(end_take(&a, &box));
	end_wait(&a, PS_PER_S / 2);
	assert_int_equal(a.failed, 0);
	end_wait(&a, PS_PER_S);
	assert_int_equal(a.failed, 2);
	assert_int_equal(a.last_error, -ETIMEDOUT);
	assert_false(nic_busy(a.nic));
}

UNIT_TEST(who_has_a_route_again_tells_what_has_arrived)
{
	OWNED(end) a, b;
	struct box box;

	start_with(&a, 0, make_routes(ALL, 1, 0));
	start_with(&b, 1, make_routes(ALL & ~1u, 1, 0));
	end_send(&a, 1, 0, 20);
	expect_by(&a, &box, 0, 1);
	carry(&b, &box);
	end_wait(&b, PS_PER_MS);
	assert_false(end_take(&b, &box)); /* no way to say so */
	change(&b, make_routes(ALL, 1, 0));
	assert_true(end_take(&b, &box));
	assert_int_equal(box_ack(&box).expected, 1);
	carry(&a, &box);
	assert_int_equal(a.acked, 1);
}

UNIT_TEST(without_routes_yet_messages_wait_and_none_fails)
{
	OWNED(end) a, b;
	struct box box;

	start_with(&a, 0, NULL);
	start_with(&b, 1, make_routes(ALL, 1, 0));
	assert_false(nic_has_routes(a.nic));
	assert_int_equal(a.nic->tx[1].window, 0);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 4000, 0, 20), -ENETUNREACH);
	end_send(&b, 0, 0, 20);
	expect_by(&b, &box, 0, 1);
	carry(&a, &box); /* what arrives is taken */
	assert_int_equal(a.tails, 1);
	for (unsigned i = 0; i < 10; i++) {
		end_wait(&a, PS_PER_S);
		assert_false(end_take(&a, &box));
	}
	assert_int_equal(a.failed, 0);
	change(&a, make_routes(ALL, 2, 0));
	assert_true(nic_has_routes(a.nic));
	assert_int_not_equal(a.nic->tx[1].window, 0);
	carry_all(&a, &b);
	assert_int_equal(b.tails, 1);
	assert_int_equal(b.acked, 1);
}

UNIT_TEST(routes_that_do_not_fit_are_refused)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	OWNED(nic_routes) *fewer = nic_routes_create(PAIR_HOSTS - 1);
	OWNED(nic_routes) *two_ways = make_routes(ALL, 1, 2);

	config.choice = &route_choice_contention;
	config.selection.routes = 1;
	end_begin(&a, &config);
	assert_int_equal(nic_set_routes(a.nic, NULL, a.now), -EINVAL);
	assert_int_equal(nic_set_routes(a.nic, fewer, a.now), -EINVAL);
	assert_int_equal(nic_set_routes(a.nic, two_ways, a.now), -EINVAL);
	assert_int_equal(end_count(&a, NIC_ROUTE_CHANGES), 0);
}

UNIT_TEST(a_message_whose_routes_stay_keeps_its_alternative)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.choice = &route_choice_round_robin;
	nic_routes_destroy(a.routes);
	config.routes = a.routes = make_routes(ALL, 1, 2);
	end_begin(&a, &config);
	end_send(&a, 1, 0, 4 * PAIR_MTU);
	for (uint32_t sequence = 0; sequence < 4; sequence++) {
		expect_by(&a, &box, sequence, 1);
		change(&a, make_routes(ALL, 1, 2));
	}
	assert_int_equal(end_count(&a, NIC_MESSAGES_REROUTED), 0);
}

UNIT_TEST(what_was_learnt_of_other_routes_is_forgotten)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	static const uint8_t sets[PAIR_HOSTS * ROUTE_CHOICE_ROUTES_MAX] = {0};
	struct nic_routes *routes = make_routes(ALL, 1, 2);
	struct route_choice *choice;

	config.choice = &route_choice_contention;
	config.selection.sets = sets;
	nic_routes_destroy(a.routes);
	config.routes = a.routes = make_routes(ALL, 1, 2);
	end_begin(&a, &config);
	choice = &a.nic->choice;
	for (uint16_t to = 1; to < 3; to++)
		*route_choice_coefficient(choice, to, 0) = 5 * ROUTE_CHOICE_ONE;
	assert_ptr_equal(choice->options.sets, sets);
	change(&a, routes);
	assert_null(choice->options.sets); /* they were those of the first routes */
	assert_int_equal(*route_choice_coefficient(choice, 1, 0), 5 * ROUTE_CHOICE_ONE);
	change(&a, make_routes(1u << 1, 2, 1));
	change(&a, make_routes(ALL, 2, 1));
	assert_int_equal(*route_choice_coefficient(choice, 1, 0), ROUTE_CHOICE_ONE);
	assert_int_equal(*route_choice_coefficient(choice, 2, 0), ROUTE_CHOICE_ONE);
}

/* Its time started on another route. */
UNIT_TEST(a_message_that_changed_its_route_teaches_nothing)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.choice = &route_choice_contention;
	config.selection.rate_bps = 1000000000;
	nic_routes_destroy(a.routes);
	config.routes = a.routes = make_routes(ALL, 1, 2);
	end_begin(&a, &config);
	end_send(&a, 1, 0, 2 * PAIR_MTU);
	expect_by(&a, &box, 0, 1);
	change(&a, make_routes(ALL, 2, 1));
	end_wait(&a, 10 * PS_PER_MS);
	expect_by(&a, &box, 1, 2);
	assert_int_equal(*route_choice_coefficient(&a.nic->choice, 1, 0), ROUTE_CHOICE_ONE);
}
