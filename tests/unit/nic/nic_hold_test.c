/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* An interface that was told to inject nothing, as while tables are exchanged behind a pause. */

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
	struct end *ends = *state;
	struct box box;

	end_send(&ends[0], 1, 0, 4 * PAIR_MTU);
	end_expect(&ends[0], &box, 0);
	end_expect(&ends[0], &box, 1);
	nic_pause(ends[0].nic, ends[0].now);
	for (unsigned i = 0; i < 100; i++) {
		end_wait(&ends[0], 50 * PS_PER_MS);
		assert_false(end_take(&ends[0], &box));
	}
	nic_resume(ends[0].nic, ends[0].now);
	end_expect(&ends[0], &box, 2);
	end_expect(&ends[0], &box, 3);
	assert_false(end_take(&ends[0], &box));
}

/* Five times the time to give up. */
PAIR_TEST(no_timer_notices_a_pause)
{
	struct end *ends = *state;
	struct box box;

	end_send(&ends[0], 1, 0, 3 * PAIR_MTU);
	for (uint32_t i = 0; i < 3; i++)
		end_expect(&ends[0], &box, i);
	nic_pause(ends[0].nic, ends[0].now);
	end_wait(&ends[0], 5 * PS_PER_S);
	nic_resume(ends[0].nic, ends[0].now);
	assert_false(end_take(&ends[0], &box));
	end_wait(&ends[0], 19 * PS_PER_MS);
	assert_false(end_take(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_RETRY_TIMEOUTS), 0);
	/* And then one frame, not all. */
	end_wait(&ends[0], 2 * PS_PER_MS);
	end_expect(&ends[0], &box, 0);
	assert_false(end_take(&ends[0], &box));
	assert_int_equal(ends[0].failed, 0);
}

PAIR_TEST(messages_that_waited_through_a_pause_do_not_fail)
{
	struct end *ends = *state;
	struct box box;

	for (unsigned i = 0; i < 8; i++)
		end_send(&ends[0], 1, 0, PAIR_MTU);
	nic_pause(ends[0].nic, ends[0].now);
	for (unsigned i = 0; i < 10; i++)
		end_wait(&ends[0], PS_PER_S);
	nic_resume(ends[0].nic, ends[0].now);
	end_wait(&ends[0], PS_PER_MS);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(&ends[0], &box, i);
	assert_int_equal(ends[0].failed, 0);
}

/* Progress within a pause is no reason to wait for longer than the time to give up after it. */
PAIR_TEST(a_peer_that_is_gone_is_still_given_up)
{
	struct end *ends = *state;
	struct box box;

	end_send(&ends[0], 1, 0, 2 * PAIR_MTU);
	end_expect(&ends[0], &box, 0);
	nic_pause(ends[0].nic, ends[0].now);
	end_wait(&ends[0], 3 * PS_PER_S);
	end_give(&ends[1], &box);
	end_wait(&ends[1], PS_PER_MS);
	assert_true(end_take(&ends[1], &box));
	end_give(&ends[0], &box);
	nic_resume(ends[0].nic, ends[0].now);
	for (unsigned i = 0; i < 60; i++) {
		end_wait(&ends[0], 21 * PS_PER_MS);
		end_take(&ends[0], &box);
		assert_int_equal(ends[0].failed, (i + 1) * 21 > 1000 ? 1 : 0);
	}
}

PAIR_TEST(a_paused_interface_acknowledges_once_when_it_goes_on)
{
	struct end *ends = *state;
	struct box box;

	nic_pause(ends[1].nic, ends[1].now);
	end_send(&ends[0], 1, 0, 8 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++) {
		end_expect(&ends[0], &box, i);
		end_give(&ends[1], &box);
	}
	end_wait(&ends[1], 10 * PS_PER_MS);
	assert_int_equal(ends[1].delivered, 8);
	assert_false(end_take(&ends[1], &box));
	nic_resume(ends[1].nic, ends[1].now);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box_ack(&box).expected, 8);
	end_give(&ends[0], &box);
	assert_int_equal(ends[0].acked, 1);
	assert_false(end_take(&ends[1], &box));
}

/* The pause may have delayed the missing frames. */
PAIR_TEST(a_gap_counts_from_the_end_of_a_pause)
{
	struct end *ends = *state;
	struct box box[2];

	end_send(&ends[0], 1, 0, 2 * PAIR_MTU);
	end_expect(&ends[0], &box[0], 0);
	end_expect(&ends[0], &box[1], 1);
	assert_false(end_give(&ends[1], &box[1]));
	nic_pause(ends[1].nic, ends[1].now);
	end_wait(&ends[1], 10 * PS_PER_MS);
	nic_resume(ends[1].nic, ends[1].now);
	end_wait(&ends[1], PS_PER_MS / 2);
	assert_int_equal(end_count(&ends[1], NIC_AGAIN_SENT), 0);
	assert_false(end_take(&ends[1], &(struct box){.held = false})); /* nobody asks */
	end_give(&ends[1], &box[0]);
	assert_int_equal(ends[1].delivered, 2);
	end_wait(&ends[1], PS_PER_MS);
	assert_int_equal(end_count(&ends[1], NIC_AGAIN_SENT), 0);
	assert_true(end_take(&ends[1], &box[0]));
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

/* To the choice of routes either. */
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
	struct end *host = &((struct end *)*state)[1];
	struct box transit, own;

	put_in_transit(host, &transit, 0);
	end_send(host, 0, 0, 20);
	nic_pause(host->nic, host->now);
	assert_ptr_equal(nic_inject(host->nic, host->now, &own.packet), &transit.packet);
	assert_null(nic_inject(host->nic, host->now, &own.packet));
	assert_null(nic_check(host->nic));
}

PAIR_TEST(idle_is_who_was_paused_and_has_nothing_in_transit)
{
	struct end *host = &((struct end *)*state)[1];
	struct box transit, own;

	assert_false(nic_is_idle(host->nic));
	put_in_transit(host, &transit, 0);
	nic_pause(host->nic, host->now);
	assert_false(nic_is_idle(host->nic));
	nic_inject(host->nic, host->now, &own.packet);
	assert_true(nic_is_idle(host->nic));
	nic_resume(host->nic, host->now);
	assert_false(nic_is_idle(host->nic));
}

PAIR_TEST(a_purge_gives_back_what_is_in_transit)
{
	struct end *host = &((struct end *)*state)[1];
	struct box transit;

	put_in_transit(host, &transit, 0);
	nic_pause(host->nic, host->now);
	assert_ptr_equal(nic_purge(host->nic), &transit.packet);
	assert_null(nic_purge(host->nic));
	assert_true(nic_is_idle(host->nic));
	assert_int_equal(end_count(host, NIC_ITB_ABANDONED), 1);
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
