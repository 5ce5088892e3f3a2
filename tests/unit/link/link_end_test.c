/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link/link_end.h"

#include "base/rng.h"
#include "unit.h"

/* Two ends and a wire with a delay between them, in time steps. Frames keep their order, as on any
 * link, and some are lost. The far end stores arriving frames and frees them at random. */

#define VCS        3
#define VC_BLOCKS  40
#define HELLO_PS   (10 * PS_PER_MS)
#define REFRESH_PS (1 * PS_PER_MS)
#define STEP_PS    (100 * PS_PER_US)
#define DELAY_PS   (250 * PS_PER_US)
#define WIRE_ROOM  4096
#define STORE_ROOM (VCS * VC_BLOCKS)

enum message_kind { MESSAGE_HELLO, MESSAGE_CREDIT, MESSAGE_DATA };

struct message {
	enum message_kind kind;
	weft_time arrives;
	struct control_hello hello;
	struct control_credit credit;
	unsigned vc, blocks;
	uint32_t for_session; /* session of the receiver, as the sender knew it */
};

struct wire {
	struct message message[WIRE_ROOM];
	unsigned head, tail;
};

struct side {
	struct link_end end;
	struct wire out;
	struct {
		unsigned vc, blocks;
	} stored[STORE_ROOM];
	unsigned stored_frames;
	uint64_t sent_frames, accepted, refused, stale_refused, went_down;
};

struct bench {
	struct side side[2];
	weft_time now;
	struct rng rng;
	uint32_t credit_loss_ppm, data_loss_ppm;
	bool sending;
	uint32_t last_session;
};

static void start_side(struct bench *bench, unsigned which)
{
	struct side *side = &bench->side[which];
	const struct link_end_config config = {
		.device = 100 + which,
		.port = (uint8_t)which,
		.device_kind = (uint8_t)which,
		.vcs = VCS,
		.vc_blocks = VC_BLOCKS,
		.session = ++bench->last_session,
		.hello_ps = HELLO_PS,
		.refresh_ps = REFRESH_PS,
	};

	link_end_init(&side->end, &config, bench->now);
	side->stored_frames = 0;
}

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (bench == NULL)
		return 1;
	rng_init(&bench->rng, 1, 0, 0);
	bench->now = PS_PER_S;
	bench->sending = true;
	start_side(bench, 0);
	start_side(bench, 1);
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void transmit(struct bench *bench, struct side *side, struct message message, uint32_t loss)
{
	struct wire *wire = &side->out;

	if (rng_chance_ppm(&bench->rng, loss))
		return;
	message.arrives = bench->now + DELAY_PS;
	wire->message[wire->tail++ % WIRE_ROOM] = message;
	assert_true(wire->tail - wire->head <= WIRE_ROOM);
}

static void receive_data(struct side *side, const struct message *message)
{
	struct credit_rx *rx = &side->end.rx[message->vc];

	if (!credit_arrive(rx, message->blocks)) {
		credit_release(rx, message->blocks);
		if (message->for_session == side->end.config.session)
			side->refused++;
		else
			side->stale_refused++;
		return;
	}
	assert_true(credit_stored(rx) <= VC_BLOCKS);
	assert_int_equal(message->for_session, side->end.config.session);
	side->accepted++;
	assert_true(side->stored_frames < STORE_ROOM);
	side->stored[side->stored_frames].vc = message->vc;
	side->stored[side->stored_frames++].blocks = message->blocks;
}

static void receive_all(struct bench *bench, struct side *side, struct wire *wire)
{
	for (; wire->head != wire->tail; wire->head++) {
		const struct message *message = &wire->message[wire->head % WIRE_ROOM];

		if (message->arrives > bench->now)
			return;
		if (message->kind == MESSAGE_HELLO)
			link_end_on_hello(&side->end, &message->hello, bench->now);
		else if (message->kind == MESSAGE_CREDIT)
			link_end_on_credit(&side->end, &message->credit, bench->now);
		else
			receive_data(side, message);
	}
}

static void send_control(struct bench *bench, struct side *side)
{
	unsigned due = link_end_poll(&side->end, bench->now);
	struct message message = {0};

	if ((due & LINK_WENT_DOWN) != 0)
		side->went_down++;
	if ((due & LINK_SEND_HELLO) != 0) {
		message.kind = MESSAGE_HELLO;
		link_end_fill_hello(&side->end, &message.hello, bench->now);
		transmit(bench, side, message, bench->credit_loss_ppm);
	}
	if ((due & LINK_SEND_CREDIT) != 0) {
		message.kind = MESSAGE_CREDIT;
		link_end_fill_credit(&side->end, &message.credit, bench->now);
		transmit(bench, side, message, bench->credit_loss_ppm);
	}
}

static void send_data(struct bench *bench, struct side *side)
{
	struct message message = {.kind = MESSAGE_DATA};

	for (unsigned tries = 0; tries < 4 && side->end.state == LINK_UP; tries++) {
		message.vc = (unsigned)rng_below(&bench->rng, VCS);
		message.blocks = 1 + (unsigned)rng_below(&bench->rng, 8);
		message.for_session = side->end.peer_session;
		if (!credit_suffices(&side->end.tx[message.vc], message.blocks))
			continue;
		credit_take(&side->end.tx[message.vc], message.blocks);
		side->sent_frames++;
		transmit(bench, side, message, bench->data_loss_ppm);
	}
}

static void free_some(struct bench *bench, struct side *side)
{
	while (side->stored_frames > 0 && rng_below(&bench->rng, 4) != 0) {
		unsigned i = (unsigned)rng_below(&bench->rng, side->stored_frames);

		credit_release(&side->end.rx[side->stored[i].vc], side->stored[i].blocks);
		side->stored[i] = side->stored[--side->stored_frames];
	}
}

static void step(struct bench *bench)
{
	bench->now += STEP_PS;
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &bench->side[i];

		receive_all(bench, side, &bench->side[1 - i].out);
		free_some(bench, side);
		if (bench->sending)
			send_data(bench, side);
		send_control(bench, side);
	}
}

static void run(struct bench *bench, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		step(bench);
}

/* No more data and no more losses, for long enough that hellos and refreshes occur. */
static void settle(struct bench *bench)
{
	bench->sending = false;
	bench->credit_loss_ppm = bench->data_loss_ppm = 0;
	run(bench, 400);
}

static void assert_all_credits_are_back(const struct bench *bench)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned vc = 0; vc < VCS; vc++) {
			const struct link_end *end = &bench->side[i].end;

			assert_int_equal(credit_stored(&end->rx[vc]), 0);
			assert_int_equal(credit_available(&end->tx[vc]), VC_BLOCKS);
		}
}

/* Blocks of a VC on the wire from 'from'. */
static uint32_t blocks_in_flight(const struct side *from, unsigned vc)
{
	const struct wire *wire = &from->out;
	uint32_t blocks = 0;

	for (unsigned i = wire->head; i != wire->tail; i++)
		if (wire->message[i % WIRE_ROOM].kind == MESSAGE_DATA &&
			wire->message[i % WIRE_ROOM].vc == vc)
			blocks += wire->message[i % WIRE_ROOM].blocks;
	return blocks;
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct bench *bench)

TEST(two_ends_meet_and_grant_their_whole_buffers)
{
	bench->sending = false;
	run(bench, 20);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(bench->side[i].end.state, LINK_UP);
		assert_int_equal(bench->side[i].end.peer_device, 100 + (1 - i));
		assert_int_equal(bench->side[i].end.peer_port, 1 - i);
		assert_int_equal(bench->side[i].end.peer_kind, 1 - i);
	}
	assert_all_credits_are_back(bench);
}

TEST(nothing_may_be_sent_before_the_neighbour_has_granted_it)
{
	for (unsigned vc = 0; vc < VCS; vc++)
		assert_int_equal(credit_available(&bench->side[0].end.tx[vc]), 0);
	assert_int_equal(bench->side[0].end.state, LINK_WAITING);
}

TEST(credits_in_flight_and_stored_blocks_are_conserved)
{
	for (unsigned i = 0; i < 5000; i++) {
		step(bench);
		for (unsigned vc = 0; vc < VCS; vc++) {
			const struct credit_tx *tx = &bench->side[0].end.tx[vc];
			const struct credit_rx *rx = &bench->side[1].end.rx[vc];
			uint32_t flight = blocks_in_flight(&bench->side[0], vc);

			assert_int_equal(tx->sent - rx->received, flight);
			if (bench->side[0].end.state == LINK_UP && tx->limit != 0)
				assert_true(credit_available(tx) + flight + credit_stored(rx) <=
					    VC_BLOCKS);
		}
	}
	assert_true(bench->side[1].accepted > 5000);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	settle(bench);
	assert_all_credits_are_back(bench);
}

TEST(lost_credit_frames_cost_nothing_but_time)
{
	bench->credit_loss_ppm = 300000;
	run(bench, 10000);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	assert_true(bench->side[0].accepted > 1000);
	settle(bench);
	assert_int_equal(bench->side[0].end.blocks_healed, 0);
	assert_all_credits_are_back(bench);
}

TEST(lost_data_frames_do_not_leak_credits)
{
	bench->data_loss_ppm = 100000;
	run(bench, 10000);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	assert_true(bench->side[0].accepted > 5000);
	settle(bench);
	assert_true(bench->side[0].end.blocks_healed > 1000);
	assert_all_credits_are_back(bench);
}

TEST(losses_of_both_kinds_heal_together)
{
	bench->credit_loss_ppm = bench->data_loss_ppm = 200000;
	run(bench, 20000);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	settle(bench);
	assert_all_credits_are_back(bench);
}

TEST(the_next_credit_frame_heals_what_a_lost_data_frame_took)
{
	struct link_end *sender = &bench->side[0].end, *receiver = &bench->side[1].end;
	struct control_credit credit;

	settle(bench);
	credit_take(&sender->tx[1], 7); /* never arrives */
	link_end_fill_credit(sender, &credit, bench->now);
	link_end_on_credit(receiver, &credit, bench->now);
	assert_int_equal(receiver->blocks_healed, 7);
	assert_true((link_end_poll(receiver, bench->now) & LINK_SEND_CREDIT) != 0);
	link_end_fill_credit(receiver, &credit, bench->now);
	assert_true(link_end_on_credit(sender, &credit, bench->now));
	assert_int_equal(credit_available(&sender->tx[1]), VC_BLOCKS);
}

TEST(hellos_of_links_that_came_up_at_different_times_are_due_together)
{
	struct control_hello hello;

	link_end_fill_hello(&bench->side[0].end, &hello, 42 * HELLO_PS + 1);
	link_end_fill_hello(&bench->side[1].end, &hello, 43 * HELLO_PS - 1);
	assert_int_equal(bench->side[0].end.hello_due, 43 * HELLO_PS);
	assert_int_equal(bench->side[1].end.hello_due, 43 * HELLO_PS);
}

TEST(an_end_without_a_neighbour_is_due_four_times_per_hello_interval)
{
	const struct link_end *end = &bench->side[0].end;

	assert_int_equal(link_end_due(end) - end->polled_at, HELLO_PS / 4);
}

/* The neighbour dies in the middle of this. */
TEST(an_end_that_is_polled_only_when_due_sends_its_hellos_and_notices_silence)
{
	struct link_end *end = &bench->side[0].end;
	weft_time silent;
	unsigned hellos = 0;

	settle(bench);
	silent = end->heard_at + LINK_HELLOS_MISSED * HELLO_PS;
	while (end->state == LINK_UP) {
		struct control_hello hello;

		assert_true(link_end_due(end) > bench->now);
		bench->now = link_end_due(end);
		if ((link_end_poll(end, bench->now) & LINK_SEND_HELLO) == 0)
			continue;
		link_end_fill_hello(end, &hello, bench->now);
		hellos++;
	}
	assert_int_equal(bench->now, silent + 1);
	assert_int_equal(hellos, LINK_HELLOS_MISSED);
}

TEST(totals_may_pass_two_to_the_32)
{
	settle(bench);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned vc = 0; vc < VCS; vc++) {
			struct credit_tx *tx = &bench->side[i].end.tx[vc];
			struct credit_rx *rx = &bench->side[1 - i].end.rx[vc];
			uint32_t shift = UINT32_MAX - 500 - tx->sent;

			tx->sent += shift;
			tx->limit += shift;
			rx->received += shift;
			rx->released += shift;
			rx->granted += shift;
		}
	bench->sending = true;
	bench->data_loss_ppm = 50000;
	run(bench, 5000);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	assert_true(bench->side[0].end.tx[0].sent < 0x80000000u); /* it did pass */
	settle(bench);
	assert_all_credits_are_back(bench);
}

TEST(a_frame_beyond_what_was_granted_is_refused_and_harms_nobody)
{
	struct side *receiver = &bench->side[1];
	const struct message overrun = {.kind = MESSAGE_DATA,
		.vc = 0,
		.blocks = VC_BLOCKS + 1,
		.for_session = receiver->end.config.session};

	settle(bench);
	receive_data(receiver, &overrun);
	assert_int_equal(receiver->refused, 1);
	settle(bench);
	assert_all_credits_are_back(bench);
}

/* Frames for the earlier life are refused. Frames for the new life never are. */
TEST(a_restarted_end_starts_from_nothing_and_is_never_overrun)
{
	for (unsigned life = 0; life < 100; life++) {
		run(bench, 1 + (unsigned)rng_below(&bench->rng, 200));
		start_side(bench, life % 2);
	}
	run(bench, 400);
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	assert_true(bench->side[0].stale_refused + bench->side[1].stale_refused > 0);
	settle(bench);
	assert_all_credits_are_back(bench);
}

TEST(restarts_heal_under_losses_too)
{
	bench->credit_loss_ppm = bench->data_loss_ppm = 100000;
	for (unsigned life = 0; life < 200; life++) {
		run(bench, 1 + (unsigned)rng_below(&bench->rng, 300));
		start_side(bench, (unsigned)rng_below(&bench->rng, 2));
	}
	assert_int_equal(bench->side[0].refused + bench->side[1].refused, 0);
	settle(bench);
	assert_all_credits_are_back(bench);
}

TEST(limits_granted_to_an_earlier_life_do_not_count)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit = {.session = 77,
		.peer_session = end->config.session + 1000,
		.vcs = VCS,
		.limit = {9, 9, 9}};

	link_end_on_credit(end, &credit, bench->now);
	for (unsigned vc = 0; vc < VCS; vc++)
		assert_int_equal(credit_available(&end->tx[vc]), 0);
}

TEST(totals_told_to_an_earlier_life_do_not_count)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit = {.session = 77,
		.peer_session = end->config.session + 1000,
		.vcs = VCS,
		.sent = {500, 500, 500}};

	link_end_on_credit(end, &credit, bench->now);
	for (unsigned vc = 0; vc < VCS; vc++)
		assert_int_equal(credit_limit(&end->rx[vc]), VC_BLOCKS);
	assert_int_equal(end->blocks_healed, 0);
}

TEST(credits_for_another_number_of_vcs_are_ignored)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit = {
		.session = 77, .peer_session = end->config.session, .vcs = VCS + 1};

	assert_false(link_end_on_credit(end, &credit, bench->now));
	assert_int_equal(end->peer_session, 0);
}

/* Polls every 'gap' until 'until', where the last poll is. Returns true if the link went down at
 * one of them. */
static bool poll_until(struct bench *bench, struct link_end *end, weft_time until, weft_time gap)
{
	bool down = false;

	while (bench->now < until) {
		bench->now = bench->now + gap < until ? bench->now + gap : until;
		down |= (link_end_poll(end, bench->now) & LINK_WENT_DOWN) != 0;
	}
	return down;
}

static void hear_hello(struct bench *bench)
{
	struct control_hello hello;

	link_end_fill_hello(&bench->side[1].end, &hello, bench->now);
	link_end_on_hello(&bench->side[0].end, &hello, bench->now);
}

TEST(hellos_of_a_build_with_other_formats_are_counted)
{
	struct link_end *end = &bench->side[0].end;
	struct control_hello hello;

	hear_hello(bench);
	assert_int_equal(end->other_formats, 0);
	link_end_fill_hello(&bench->side[1].end, &hello, bench->now);
	hello.formats++;
	link_end_on_hello(end, &hello, bench->now);
	assert_int_equal(end->other_formats, 1);
}

TEST(a_link_is_down_after_three_missed_hellos_and_not_before)
{
	static const weft_time gaps[] = {STEP_PS, HELLO_PS / 3, HELLO_PS};
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	for (unsigned i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		hear_hello(bench);
		assert_int_equal(end->state, LINK_UP);
		assert_false(poll_until(bench, end, bench->now + 3 * HELLO_PS, gaps[i]));
		assert_int_equal(end->state, LINK_UP);
		assert_true(poll_until(bench, end, bench->now + 1, 1));
		assert_int_equal(end->state, LINK_DOWN);
		assert_false(poll_until(bench, end, bench->now + HELLO_PS, gaps[i]));
	}
}

/* The ring returns the oldest frames first: data for some iterations, and then the hellos. */
TEST(an_end_that_was_not_run_does_not_take_unread_hellos_for_missed_ones)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	for (unsigned i = 0; i < 10; i++) {
		assert_false(poll_until(bench, end, bench->now + PS_PER_S, PS_PER_S));
		assert_false(poll_until(bench, end, bench->now + PS_PER_MS, 10 * PS_PER_US));
		hear_hello(bench);
		assert_int_equal(end->state, LINK_UP);
	}
}

TEST(an_end_without_carrier_is_down_at_its_next_poll)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	assert_int_equal(end->state, LINK_UP);
	link_end_set_dark(end, true, bench->now);
	assert_true((link_end_poll(end, bench->now) & LINK_WENT_DOWN) != 0);
	assert_int_equal(end->state, LINK_DOWN);
	assert_int_equal(end->downs, 1);
}

TEST(an_end_without_carrier_goes_down_once)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	link_end_set_dark(end, true, bench->now);
	link_end_poll(end, bench->now);
	assert_false(poll_until(bench, end, bench->now + PS_PER_S, HELLO_PS));
}

TEST(an_end_that_has_its_carrier_again_says_hello_at_once)
{
	struct link_end *end = &bench->side[0].end;
	struct control_hello hello;

	settle(bench);
	link_end_set_dark(end, true, bench->now);
	link_end_poll(end, bench->now);
	link_end_fill_hello(end, &hello, bench->now);
	link_end_set_dark(end, false, bench->now);
	assert_true((link_end_poll(end, bench->now) & LINK_SEND_HELLO) != 0);
}

TEST(a_link_that_lost_its_carrier_comes_back_with_all_its_credits)
{
	run(bench, 500);
	bench->credit_loss_ppm = bench->data_loss_ppm = 1000000;
	for (unsigned i = 0; i < 2; i++)
		link_end_set_dark(&bench->side[i].end, true, bench->now);
	run(bench, 20);
	assert_int_equal(bench->side[0].end.state, LINK_DOWN);
	for (unsigned i = 0; i < 2; i++)
		link_end_set_dark(&bench->side[i].end, false, bench->now);
	settle(bench);
	assert_int_equal(bench->side[0].end.state, LINK_UP);
	assert_all_credits_are_back(bench);
}

/* The limit also applies to the time since the hello. */
TEST(an_absence_before_a_hello_is_no_excuse_after_it)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	bench->now += PS_PER_S;
	hear_hello(bench);
	assert_int_equal(link_end_poll(end, bench->now) & LINK_WENT_DOWN, 0);
	assert_false(poll_until(bench, end, bench->now + 3 * HELLO_PS, STEP_PS));
	assert_true(poll_until(bench, end, bench->now + 1, 1));
}

/* The end has no CPU, which is known. Silence counts from one hello before the end of the last
 * excuse. */
TEST(a_neighbour_that_is_known_to_be_away_brings_no_link_down)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	hear_hello(bench);
	for (unsigned i = 0; i < 100; i++) {
		assert_false(poll_until(bench, end, bench->now + HELLO_PS, STEP_PS));
		link_end_forgive_stall(end, bench->now);
	}
	assert_false(poll_until(bench, end, bench->now + 2 * HELLO_PS, STEP_PS));
	assert_true(poll_until(bench, end, bench->now + STEP_PS, STEP_PS));
}

TEST(an_end_that_is_always_late_finds_a_dead_neighbour_at_its_fourth_poll)
{
	const weft_time gap = 50 * HELLO_PS;
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	hear_hello(bench);
	link_end_poll(end, bench->now);
	for (unsigned polls = 1; polls < 4; polls++)
		assert_false(poll_until(bench, end, bench->now + gap, gap));
	assert_true(poll_until(bench, end, bench->now + gap, gap));
}

/* Polls at random times, some of them late. */
TEST(a_dead_neighbour_is_found_within_four_of_the_longest_gaps)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	for (unsigned round = 0; round < 2000; round++) {
		weft_time longest = 1 + rng_below(&bench->rng, 8 * HELLO_PS);
		weft_time bound = 4 * (longest > HELLO_PS ? longest : HELLO_PS);
		weft_time heard;

		hear_hello(bench);
		link_end_poll(end, heard = bench->now);
		while (end->state == LINK_UP)
			poll_until(bench, end, bench->now + 1 + rng_below(&bench->rng, longest),
				longest);
		assert_in_range(bench->now - heard, 3 * HELLO_PS + 1, bound);
	}
}

TEST(an_end_that_is_down_still_says_hello)
{
	struct link_end *end = &bench->side[0].end;

	settle(bench);
	assert_true(poll_until(bench, end, bench->now + PS_PER_S, HELLO_PS));
	assert_int_equal(end->state, LINK_DOWN);
	assert_true((link_end_poll(end, bench->now) & LINK_SEND_HELLO) != 0);
}

TEST(a_link_that_was_never_up_has_not_gone_down)
{
	bench->credit_loss_ppm = bench->data_loss_ppm = 1000000;
	run(bench, 1000);
	assert_int_equal(bench->side[0].end.state, LINK_DOWN);
	assert_int_equal(bench->side[0].end.downs, 0);
}

TEST(a_cut_link_comes_back_with_all_its_credits)
{
	run(bench, 500);
	bench->credit_loss_ppm = bench->data_loss_ppm = 1000000;
	run(bench, 1000);
	assert_int_equal(bench->side[0].end.state, LINK_DOWN);
	assert_int_equal(bench->side[1].end.state, LINK_DOWN);
	assert_int_equal(bench->side[0].went_down, 1);
	assert_int_equal(bench->side[0].end.downs, 1);
	settle(bench);
	assert_int_equal(bench->side[0].end.state, LINK_UP);
	assert_int_equal(bench->side[1].end.state, LINK_UP);
	assert_all_credits_are_back(bench);
}

TEST(a_grant_waits_for_a_quarter_of_the_buffer_or_the_refresh)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit;
	weft_time now;

	settle(bench);
	now = bench->now;
	link_end_fill_credit(end, &credit, now);
	credit_arrive(&end->rx[2], VC_BLOCKS / 4);
	credit_release(&end->rx[2], VC_BLOCKS / 4 - 1);
	assert_int_equal(link_end_poll(end, now) & LINK_SEND_CREDIT, 0);
	credit_release(&end->rx[2], 1);
	assert_true((link_end_poll(end, now) & LINK_SEND_CREDIT) != 0);
	link_end_fill_credit(end, &credit, now);
	assert_int_equal(link_end_poll(end, now + REFRESH_PS - 1) & LINK_SEND_CREDIT, 0);
	assert_true((link_end_poll(end, now + REFRESH_PS) & LINK_SEND_CREDIT) != 0);
}

TEST(a_sender_that_has_run_dry_hears_of_an_eighth_of_the_buffer)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit;
	weft_time now;

	settle(bench);
	now = bench->now;
	link_end_fill_credit(end, &credit, now);
	credit_arrive(&end->rx[1], VC_BLOCKS - VC_BLOCKS / 8 + 1);
	credit_release(&end->rx[1], VC_BLOCKS / 8 - 1);
	assert_int_equal(link_end_poll(end, now) & LINK_SEND_CREDIT, 0);
	credit_release(&end->rx[1], 1);
	assert_true((link_end_poll(end, now) & LINK_SEND_CREDIT) != 0);
}

TEST(an_end_that_grants_each_packet_owes_a_credit_frame_for_a_single_block)
{
	struct link_end *end = &bench->side[0].end;
	struct control_credit credit;
	weft_time now;

	settle(bench);
	now = bench->now;
	link_end_fill_credit(end, &credit, now);
	credit_arrive(&end->rx[1], 10);
	end->config.each = true;
	assert_int_equal(link_end_poll(end, now) & LINK_SEND_CREDIT, 0);
	credit_release(&end->rx[1], 1);
	assert_true((link_end_poll(end, now) & LINK_SEND_CREDIT) != 0);
	end->config.each = false;
	assert_int_equal(link_end_poll(end, now) & LINK_SEND_CREDIT, 0);
}

TEST(an_open_end_is_up_at_once_and_sends_no_control_frames)
{
	const struct link_end_config config = {.vcs = 2,
		.open = true,
		.vc_blocks = 16,
		.session = 1,
		.hello_ps = 1,
		.refresh_ps = 1};
	struct link_end end;

	link_end_init(&end, &config, 0);
	assert_int_equal(end.state, LINK_UP);
	assert_int_equal(link_end_poll(&end, PS_PER_S), 0);
	assert_int_equal(credit_available(&end.tx[1]), 16);
}

TEST(an_open_end_is_bounded_by_its_buffer_between_two_renewals)
{
	const struct link_end_config config = {.vcs = 1,
		.open = true,
		.vc_blocks = 16,
		.session = 1,
		.hello_ps = 1,
		.refresh_ps = 1};
	struct link_end end;

	link_end_init(&end, &config, 0);
	credit_take(&end.tx[0], 16);
	assert_false(credit_suffices(&end.tx[0], 1));
	link_end_renew_open(&end);
	assert_true(credit_suffices(&end.tx[0], 16));
	assert_true(credit_arrive(&end.rx[0], 10));
	link_end_renew_open(&end);
	assert_true(credit_arrive(&end.rx[0], 6));
	link_end_renew_open(&end);
	assert_false(credit_arrive(&end.rx[0], 1)); /* it is full */
}
