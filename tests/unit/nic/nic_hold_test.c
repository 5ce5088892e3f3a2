/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* An interface that is told to inject nothing, as during a pause in which tables are exchanged. */

#include "nic_pair.h"

#define PORT(n) (ROUTE_PORT_BIT | (n))

UNIT_TEST(a_paused_interface_sends_the_links_frames_only)
{
	OWNED(end) a;
	struct box box;

	end_start_unlinked(&a, 0, 1);
	end_send(&a, 1, 0, 20);
	nic_pause(a.nic, a.now);
	for (unsigned i = 0; i < 3; i++) {
		end_wait(&a, nic_config(a.nic)->link.hello_ps);
		assert_true(end_take(&a, &box));
		assert_int_equal(box.packet.kind, FRAME_HELLO);
		assert_false(end_take(&a, &box));
	}
}

PAIR_TEST(new_frames_and_repetitions_wait_for_the_end_of_a_pause)
{
	struct box box;

	end_send(a, 1, 0, 4 * PAIR_MTU);
	end_expect(a, &box, 0);
	end_expect(a, &box, 1);
	nic_pause(a->nic, a->now);
	for (unsigned i = 0; i < 100; i++) {
		end_wait(a, 50 * PS_PER_MS);
		assert_false(end_take(a, &box));
	}
	nic_resume(a->nic, a->now);
	end_expect(a, &box, 2);
	end_expect(a, &box, 3);
	assert_false(end_take(a, &box));
}

/* Five times the time to give up. */
PAIR_TEST(no_timer_notices_a_pause)
{
	struct box box;

	end_send(a, 1, 0, 3 * PAIR_MTU);
	for (uint32_t i = 0; i < 3; i++)
		end_expect(a, &box, i);
	nic_pause(a->nic, a->now);
	end_wait(a, 5 * PS_PER_S);
	nic_resume(a->nic, a->now);
	assert_false(end_take(a, &box));
	end_wait(a, 19 * PS_PER_MS);
	assert_false(end_take(a, &box));
	assert_int_equal(end_count(a, NIC_RETRY_TIMEOUTS), 0);
	/* Then it sends one frame instead of all. */
	end_wait(a, 2 * PS_PER_MS);
	end_expect(a, &box, 0);
	assert_false(end_take(a, &box));
	assert_int_equal(a->failed, 0);
}

PAIR_TEST(messages_that_waited_through_a_pause_do_not_fail)
{
	struct box box;

	for (unsigned i = 0; i < 8; i++)
		end_send(a, 1, 0, PAIR_MTU);
	nic_pause(a->nic, a->now);
	for (unsigned i = 0; i < 10; i++)
		end_wait(a, PS_PER_S);
	nic_resume(a->nic, a->now);
	end_wait(a, PS_PER_MS);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(a, &box, i);
	assert_int_equal(a->failed, 0);
}

/* Progress during a pause does not extend the time until the interface gives up afterwards. */
PAIR_TEST(a_peer_that_is_gone_is_still_given_up)
{
	struct box box;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box, 0);
	nic_pause(a->nic, a->now);
	end_wait(a, 3 * PS_PER_S);
	end_give(b, &box);
	end_wait(b, PS_PER_MS);
	assert_true(end_take(b, &box));
	end_give(a, &box);
	nic_resume(a->nic, a->now);
	for (unsigned i = 0; i < 60; i++) {
		end_wait(a, 21 * PS_PER_MS);
		end_take(a, &box);
		assert_int_equal(a->failed, (i + 1) * 21 > 1000 ? 1 : 0);
	}
}

PAIR_TEST(a_paused_interface_acknowledges_once_when_it_goes_on)
{
	struct box box;

	nic_pause(b->nic, b->now);
	end_send(a, 1, 0, 8 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++) {
		end_expect(a, &box, i);
		end_give(b, &box);
	}
	end_wait(b, 10 * PS_PER_MS);
	assert_int_equal(b->delivered, 8);
	assert_false(end_take(b, &box));
	nic_resume(b->nic, b->now);
	assert_true(end_take(b, &box));
	assert_int_equal(box_ack(&box).expected, 8);
	end_give(a, &box);
	assert_int_equal(a->acked, 1);
	assert_false(end_take(b, &box));
}

/* The pause may have delayed the missing frames. */
PAIR_TEST(a_gap_counts_from_the_end_of_a_pause)
{
	struct box box[2];

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box[0], 0);
	end_expect(a, &box[1], 1);
	assert_false(end_give(b, &box[1]));
	nic_pause(b->nic, b->now);
	end_wait(b, 10 * PS_PER_MS);
	nic_resume(b->nic, b->now);
	end_wait(b, PS_PER_MS / 2);
	assert_int_equal(end_count(b, NIC_AGAIN_SENT), 0);
	assert_false(end_take(b, &(struct box){.held = false})); /* nobody asks */
	end_give(b, &box[0]);
	assert_int_equal(b->delivered, 2);
	end_wait(b, PS_PER_MS);
	assert_int_equal(end_count(b, NIC_AGAIN_SENT), 0);
	assert_true(end_take(b, &box[0]));
	assert_int_equal(box_ack(&box[0]).again, 0);
}

UNIT_TEST(a_pause_is_no_stall_for_credits)
{
	OWNED(end) a;
	struct box box;

	end_start_unlinked(&a, 0, 1);
	end_send(&a, 1, 0, 20);
	while (end_take(&a, &box))
		; /* hellos; the message finds no link */
	a.now += PS_PER_MS;
	assert_int_equal(a.nic->stalled_vcs, 1);
	nic_pause(a.nic, a.now);
	assert_int_equal(a.nic->stalled_vcs, 0);
}

/* Nor to the choice of routes. */
UNIT_TEST(a_pause_is_no_contention)
{
	static const uint8_t way[2][3] = {
		{PORT(1), PORT(1), ROUTE_TYPE_HOST}, {PORT(2), PORT(1), ROUTE_TYPE_HOST}};
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	nic_routes_destroy(a.routes);
	config.routes = a.routes = nic_routes_create(PAIR_HOSTS);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nic_routes_add(a.routes, 1, way[i], 3), 0);
	config.choice = &route_choice_contention;
	config.selection.rate_bps = 1000000000;
	end_begin(&a, &config);
	end_send(&a, 1, 0, 2 * PAIR_MTU);
	end_expect(&a, &box, 0);
	nic_pause(a.nic, a.now);
	end_wait(&a, 10 * PS_PER_MS);
	nic_resume(a.nic, a.now);
	end_expect(&a, &box, 1);
	assert_int_equal(*route_choice_coefficient(&a.nic->choice, 1, 0), ROUTE_CHOICE_ONE);
}

/* A frame in transit, from host 0 to host 2, that has reached host 1 of 'ends'. */
static void put_in_transit(struct end *end, struct box *box, uint32_t sequence)
{
	static const uint8_t route[] = {PORT(1), ROUTE_TYPE_ITB, PORT(3), ROUTE_TYPE_HOST};
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 0,
		.destination = 2,
		.sequence = sequence,
		.flags = FRAME_F_TAIL,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = 32};

	memset(box, 0, sizeof(*box));
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
	frame_update_mutable(box->frame, frame_mutable_word(0, 0, 1, FRAME_F_TAIL));
	assert_false(end_give(end, box));
}

PAIR_TEST(what_is_in_transit_goes_on_during_a_pause)
{
	struct box transit, own;

	put_in_transit(b, &transit, 0);
	end_send(b, 0, 0, 20);
	nic_pause(b->nic, b->now);
	assert_ptr_equal(nic_inject(b->nic, b->now, &own.packet), &transit.packet);
	assert_null(nic_inject(b->nic, b->now, &own.packet));
	assert_null(nic_check(b->nic));
}

PAIR_TEST(idle_is_who_was_paused_and_has_nothing_in_transit)
{
	struct box transit, own;

	assert_false(nic_is_idle(b->nic));
	put_in_transit(b, &transit, 0);
	nic_pause(b->nic, b->now);
	assert_false(nic_is_idle(b->nic));
	nic_inject(b->nic, b->now, &own.packet);
	assert_true(nic_is_idle(b->nic));
	nic_resume(b->nic, b->now);
	assert_false(nic_is_idle(b->nic));
}

PAIR_TEST(a_purge_gives_back_what_is_in_transit)
{
	struct box transit;

	put_in_transit(b, &transit, 0);
	nic_pause(b->nic, b->now);
	assert_ptr_equal(nic_purge(b->nic), &transit.packet);
	assert_null(nic_purge(b->nic));
	assert_true(nic_is_idle(b->nic));
	assert_int_equal(end_count(b, NIC_ITB_ABANDONED), 1);
}

UNIT_TEST(a_pause_and_missing_routes_must_both_end)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.routes = NULL;
	end_begin(&a, &config);
	end_send(&a, 1, 0, 20);
	nic_pause(a.nic, a.now);
	assert_int_equal(nic_set_routes(a.nic, a.routes, a.now), 0);
	assert_false(end_take(&a, &box));
	nic_resume(a.nic, a.now);
	end_expect(&a, &box, 0);
}
