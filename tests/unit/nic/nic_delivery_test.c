/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reliable delivery, one claim at a time. */

#include "nic_pair.h"

UNIT_TEST(a_message_is_cut_at_the_mtu_and_its_last_frame_marked)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	assert_int_equal(end_send(&a, 1, 0, 2 * PAIR_MTU + 1), 0);
	for (uint32_t i = 0; i < 3; i++) {
		end_expect(&a, &box, i);
		assert_int_equal(ntohs(frame_header_const(box.frame)->payload_bytes_be),
			i < 2 ? PAIR_MTU : 1);
		assert_int_equal(box.packet.flags, i == 2 ? FRAME_F_TAIL : 0);
	}
	assert_false(end_take(&a, &box));
}

/* Takes the next frame. Returns when an ideal interface could have sent it. */
static weft_time take_ready(struct end *end, enum frame_kind kind, struct box *box)
{
	assert_true(end_take(end, box));
	assert_int_equal(box->packet.kind, kind);
	return box->packet.arrived_ps;
}

UNIT_TEST(data_is_ready_when_its_message_was_generated)
{
	struct nic_message message = {.destination = 1, .bytes = 2 * PAIR_MTU};
	struct box box;
	OWNED(end) a;

	end_start(&a, 0, 1);
	message.generated_ps = a.now - PS_PER_US;
	assert_int_equal(nic_send(a.nic, &message, a.now), 0);
	assert_int_equal(take_ready(&a, FRAME_DATA, &box), message.generated_ps);
	end_wait(&a, PS_PER_US);
	assert_int_equal(take_ready(&a, FRAME_DATA, &box), message.generated_ps);
}

/* Two acknowledgements in one iteration: each frame waited for one of them. */
PAIR_TEST(data_that_waited_for_the_window_is_ready_when_it_opened)
{
	struct box data, ack[2];
	weft_time due[2];

	end_send(a, 1, 0, 20 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++) {
		end_expect(a, &data, i);
		end_give_due(b, &data, b->now - 8 + i);
		if (i % 4 == 3)
			assert_int_equal(take_ready(b, FRAME_ACK, &ack[i / 4]), b->now - 8 + i);
	}
	end_wait(a, 2 * PS_PER_US);
	for (unsigned i = 0; i < 2; i++) {
		due[i] = a->now - (2 - i) * PS_PER_NS;
		end_give_due(a, &ack[i], due[i]);
	}
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(take_ready(a, FRAME_DATA, &data), due[i / 4]);
	assert_false(end_take(a, &data));
}

UNIT_TEST(a_repetition_is_ready_when_its_timer_has_expired)
{
	struct box box;
	OWNED(end) a;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, PAIR_MTU);
	end_expect(&a, &box, 0);
	end_wait(&a, 20 * PS_PER_MS);
	assert_int_equal(take_ready(&a, FRAME_DATA, &box), a.now);
}

/* The store is full of messages to one peer. The message to another peer is older than the free
 * space. */
PAIR_TEST(a_message_that_was_refused_is_ready_when_there_is_room)
{
	struct nic_message message = {.destination = 1, .bytes = 20, .generated_ps = a->now};
	struct box data, ack;

	while (end_send(a, 1, 0, 20) == 0)
		;
	assert_false(nic_has_room(a->nic, 1, 0, a->now));
	for (uint32_t i = 0; i < 4; i++) {
		end_expect(a, &data, i);
		end_give(b, &data);
	}
	assert_true(end_take(b, &ack));
	end_wait(a, PS_PER_US);
	end_give_due(a, &ack, a->now - PS_PER_NS);
	assert_true(nic_has_room(a->nic, 1, 0, a->now));
	assert_int_equal(nic_send(a->nic, &message, a->now), 0);
	assert_int_equal(
		nic_message_at(a->nic, a->nic->backlog[0].tail)->ready_ps, a->now - PS_PER_NS);
}

PAIR_TEST(the_sender_learns_of_delivery)
{
	end_send(a, 1, 0, 100);
	pair_exchange(a, b);
	assert_int_equal(a->acked, 0);
	end_wait(b, 50 * PS_PER_US);
	pair_exchange(a, b);
	assert_int_equal(a->acked, 1);
	assert_int_equal(a->last_cookie, 101);
	assert_int_equal(b->delivered, 2);
	assert_false(nic_busy(a->nic));
}

PAIR_TEST(acknowledgements_wait_for_several_frames)
{
	struct box box;

	for (unsigned i = 0; i < 4; i++) {
		end_send(a, 1, 0, 20);
		end_expect(a, &box, i);
		end_give(b, &box);
		assert_int_equal(end_take(b, &box), i == 3);
	}
	assert_int_equal(box_ack(&box).expected, 4);
}

PAIR_TEST(acknowledgements_do_not_wait_long)
{
	struct box box;

	end_send(a, 1, 0, 20);
	end_expect(a, &box, 0);
	end_give(b, &box);
	end_wait(b, 50 * PS_PER_US - 1);
	assert_false(end_take(b, &box));
	end_wait(b, 1);
	assert_true(end_take(b, &box));
	assert_int_equal(box_ack(&box).expected, 1);
	assert_int_equal(box_ack(&box).again, 0);
}

UNIT_TEST(the_window_bounds_what_is_in_flight)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 20 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(&a, &box, i);
	assert_false(end_take(&a, &box));
}

UNIT_TEST(after_a_timeout_the_first_frame_is_sent_again)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 3 * PAIR_MTU);
	for (uint32_t i = 0; i < 3; i++)
		end_expect(&a, &box, i);
	end_wait(&a, 20 * PS_PER_MS - 1);
	assert_false(end_take(&a, &box));
	end_wait(&a, 1);
	end_expect(&a, &box, 0);
	assert_false(end_take(&a, &box));
	assert_int_equal(end_count(&a, NIC_FRAMES_INJECTED), 3);
	assert_int_equal(end_count(&a, NIC_FRAMES_RETRANSMITTED), 1);
}

PAIR_TEST(a_whole_lost_window_is_sent_again_in_doubling_portions)
{
	struct box box;
	uint32_t next = 0;

	end_send(a, 1, 0, 7 * PAIR_MTU);
	for (uint32_t i = 0; i < 7; i++)
		end_expect(a, &box, i);
	end_wait(a, 20 * PS_PER_MS);
	for (unsigned portion = 1; portion <= 4; portion *= 2) {
		for (unsigned i = 0; i < portion; i++) {
			end_expect(a, &box, next++);
			end_give(b, &box);
		}
		assert_false(end_take(a, &box));
		end_wait(b, PS_PER_MS);
		assert_true(end_take(b, &box));
		end_give(a, &box);
	}
	assert_int_equal(a->acked, 1);
	assert_int_equal(end_count(a, NIC_RETRY_TIMEOUTS), 1);
}

PAIR_TEST(only_what_is_missing_is_sent_again)
{
	static struct box box[8];
	struct box ack, again;

	end_send(a, 1, 0, 9 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(a, &box[i], i);
	end_give(b, &box[0]);
	for (uint32_t i = 4; i < 8; i++)
		end_give(b, &box[i]);
	end_wait(b, PS_PER_MS);
	assert_true(end_take(b, &ack));
	assert_int_equal(box_ack(&ack).expected, 1);
	assert_int_equal(box_ack(&ack).missing, 3);
	end_give(a, &ack);
	for (uint32_t i = 1; i < 4; i++) {
		end_expect(a, &again, i);
		end_give(b, &again);
	}
	end_expect(a, &again, 8); /* and the next one continues */
	end_give(b, &again);
	assert_int_equal(b->delivered, 9);
}

PAIR_TEST(what_was_sent_after_a_timeout_is_not_repeated_for_it)
{
	struct box box;
	uint32_t next = 0;

	end_send(a, 1, 0, 6 * PAIR_MTU);
	for (uint32_t i = 0; i < 6; i++)
		end_expect(a, &box, i);
	end_wait(a, 20 * PS_PER_MS);
	end_send(a, 1, 0, 20);
	for (unsigned portion = 1; portion <= 4; portion *= 2) {
		for (unsigned i = 0; i < portion && next < 6; i++) {
			end_expect(a, &box, next++);
			end_give(b, &box);
		}
		if (portion == 1)
			end_expect(a, &box, 6); /* new, and lost like the others */
		assert_false(end_take(a, &box));
		end_wait(b, PS_PER_MS);
		assert_true(end_take(b, &box));
		end_give(a, &box);
	}
	assert_int_equal(a->acked, 1);
	assert_false(end_take(a, &box));
}

PAIR_TEST(answers_that_take_long_are_waited_for)
{
	struct box box, ack;

	for (unsigned i = 0; i < 10; i++) {
		end_send(a, 1, 0, 20);
		end_expect(a, &box, i);
		end_give(b, &box);
		end_wait(b, PS_PER_MS);
		assert_true(end_take(b, &ack));
		/* Before the first answer, it knows no round trip. */
		for (unsigned ms = 0; ms < (i == 0 ? 15 : 60); ms++) {
			end_wait(a, PS_PER_MS);
			if (i > 5)
				assert_false(end_take(a, &box));
			while (end_take(a, &box))
				;
		}
		end_give(a, &ack);
		while (end_take(a, &box))
			;
	}
	assert_int_equal(a->acked, 10);
}

/* Sends two frames, the second of which arrives first, and the first 'ps' later. Returns true if b
 * requested it in the meantime; then the repetition also arrives. */
static bool overtake(struct end *a, struct end *b, weft_time ps)
{
	static struct box box[2];
	struct box ack, again;
	bool asked = false;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	assert_true(end_take(a, &box[0]));
	assert_true(end_take(a, &box[1]));
	end_give(b, &box[1]);
	for (weft_time waited = 0; waited < ps; waited += 100 * PS_PER_US) {
		end_wait(b, 100 * PS_PER_US);
		while (end_take(b, &ack)) {
			asked |= box_ack(&ack).again != 0;
			end_give(a, &ack);
		}
	}
	end_give(b, &box[0]);
	while (end_take(a, &again))
		end_give(b, &again);
	end_wait(b, PS_PER_MS);
	while (end_take(b, &ack))
		end_give(a, &ack);
	assert_false(nic_busy(a->nic));
	return asked;
}

PAIR_TEST(patience_grows_with_what_frames_are_overtaken_by)
{
	assert_false(overtake(a, b, 900 * PS_PER_US));
	assert_false(overtake(a, b, 1700 * PS_PER_US));
	assert_false(overtake(a, b, 3300 * PS_PER_US));
}

PAIR_TEST(a_request_in_vain_teaches_patience)
{
	assert_true(overtake(a, b, 1500 * PS_PER_US));
	assert_false(overtake(a, b, 1500 * PS_PER_US));
}

PAIR_TEST(patience_fades)
{
	assert_true(overtake(a, b, 1500 * PS_PER_US));
	for (unsigned i = 0; i < 200; i++)
		overtake(a, b, 100 * PS_PER_US);
	assert_true(overtake(a, b, 1500 * PS_PER_US));
}

UNIT_TEST(retries_become_rarer)
{
	OWNED(end) a;
	struct box box;
	unsigned sent = 0;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 20);
	for (unsigned ms = 0; ms < 900; ms++) {
		end_wait(&a, PS_PER_MS);
		sent += end_take(&a, &box);
	}
	assert_in_range(sent, 5, 10); /* 45 without backoff */
}

PAIR_TEST(frames_that_overtook_a_lost_one_wait_for_it)
{
	static struct box box[4];

	end_send(a, 1, 0, 4 * PAIR_MTU);
	for (uint32_t i = 0; i < 4; i++)
		end_expect(a, &box[i], i);
	assert_true(end_give(b, &box[0]));
	assert_false(end_give(b, &box[3]));
	assert_false(end_give(b, &box[2]));
	assert_int_equal(b->delivered, 1);
	assert_true(end_give(b, &box[1]));
	assert_int_equal(b->delivered, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(b->sequence[i], i);
		assert_false(box[i].held);
	}
}

PAIR_TEST(a_gap_that_lasts_is_asked_for)
{
	static struct box box[2];
	struct box ack;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box[0], 0);
	end_expect(a, &box[1], 1);
	end_give(b, &box[1]);
	end_wait(b, PS_PER_MS - 1);
	assert_false(end_take(b, &ack));
	end_wait(b, 1);
	assert_true(end_take(b, &ack));
	assert_int_equal(box_ack(&ack).expected, 0);
	assert_int_not_equal(box_ack(&ack).again, 0);
	end_give(a, &ack);
	end_expect(a, &box[0], 0);
}

/* Retry is 20 ms. A cable that is cut again loses few requests and answers. */
PAIR_TEST(requests_without_an_answer_become_rarer)
{
	static struct box box[2];
	unsigned requests = 0;
	struct box ack;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box[0], 0);
	end_expect(a, &box[1], 1);
	end_give(b, &box[1]);
	for (unsigned ms = 0; ms < 31; ms++) {
		end_wait(b, PS_PER_MS);
		requests += end_take(b, &ack) && box_ack(&ack).again != 0;
	}
	assert_int_equal(requests, 5); /* after 1, 2, 4, 8, 16 ms */
}

PAIR_TEST(a_request_that_arrives_twice_is_obeyed_once)
{
	static struct box box[2];
	struct box ack, copy;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box[0], 0);
	end_expect(a, &box[1], 1);
	end_give(b, &box[1]);
	end_wait(b, PS_PER_MS);
	assert_true(end_take(b, &ack));
	copy = ack;
	end_give(a, &ack);
	end_expect(a, &box[0], 0);
	end_give(a, &copy);
	assert_false(end_take(a, &box[0]));
	assert_int_equal(end_count(a, NIC_GO_BACKS), 1);
}

PAIR_TEST(a_damaged_payload_is_asked_for_at_once_and_once)
{
	struct box box, ack;

	end_send(a, 1, 0, 3 * PAIR_MTU);
	end_expect(a, &box, 0);
	end_give(b, &box);
	for (uint32_t i = 1; i < 3; i++) {
		end_expect(a, &box, i);
		box.frame[FRAME_HEADER_BYTES + 5] ^= 0x10;
		assert_true(end_give(b, &box));
	}
	assert_int_equal(end_count(b, NIC_DISCARD_PAYLOAD_CRC), 2);
	assert_int_equal(b->delivered, 1);
	assert_true(end_take(b, &ack));
	assert_int_equal(box_ack(&ack).expected, 1);
	assert_int_not_equal(box_ack(&ack).again, 0);
	assert_int_equal(end_count(b, NIC_AGAIN_SENT), 1);
	assert_false(end_take(b, &ack));
}

PAIR_TEST(a_request_whose_answer_is_lost_is_repeated)
{
	struct box box, ack;
	uint8_t first;

	end_send(a, 1, 0, 20);
	end_send(a, 1, 0, 20);
	end_expect(a, &box, 0);
	end_give(b, &box);
	end_expect(a, &box, 1);
	box.frame[FRAME_HEADER_BYTES] ^= 1;
	end_give(b, &box);
	assert_true(end_take(b, &ack));
	first = box_ack(&ack).again;
	end_wait(b, PS_PER_MS);
	assert_true(end_take(b, &ack));
	assert_int_not_equal(box_ack(&ack).again, 0);
	assert_int_not_equal(box_ack(&ack).again, first);
}

PAIR_TEST(a_duplicate_is_not_delivered_but_acknowledged)
{
	struct box box, copy, ack;

	end_send(a, 1, 0, 20);
	end_expect(a, &box, 0);
	copy = box;
	end_give(b, &box);
	end_wait(b, PS_PER_MS);
	assert_true(end_take(b, &ack)); /* lost */
	assert_true(end_give(b, &copy));
	assert_int_equal(b->delivered, 1);
	assert_int_equal(end_count(b, NIC_DISCARD_DUPLICATE), 1);
	assert_true(end_take(b, &ack));
	end_give(a, &ack);
	assert_int_equal(a->acked, 1);
}

PAIR_TEST(what_an_acknowledgement_covers_is_not_repeated)
{
	static struct box box[4];
	struct box ack;

	end_send(a, 1, 0, 4 * PAIR_MTU);
	for (uint32_t i = 0; i < 4; i++) {
		end_expect(a, &box[i], i);
		end_give(b, &box[i]);
	}
	end_wait(a, 20 * PS_PER_MS);
	end_expect(a, &box[0], 0);
	assert_true(end_take(b, &ack));
	end_give(a, &ack);
	assert_false(end_take(a, &box[0]));
	assert_int_equal(end_count(a, NIC_FRAMES_RETRANSMITTED), 1);
}

UNIT_TEST(a_message_without_progress_fails_and_says_so)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 2, 0, 200);
	for (unsigned ms = 0; ms <= 1020 && a.failed == 0; ms++) {
		end_wait(&a, PS_PER_MS);
		while (end_take(&a, &box))
			;
	}
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.last_error, -ETIMEDOUT);
	assert_int_equal(a.last_cookie, 102);
	assert_int_equal(end_count(&a, NIC_MESSAGES_FAILED), 1);
	assert_int_equal(end_count(&a, NIC_FRAMES_ABANDONED), 4);
	assert_false(nic_busy(a.nic));
}

PAIR_TEST(delivery_goes_on_after_a_failure)
{
	struct box box;

	end_send(a, 1, 0, 3 * PAIR_MTU);
	end_expect(a, &box, 0);
	end_give(b, &box);
	for (unsigned ms = 0; ms <= 1020; ms++) {
		end_wait(a, PS_PER_MS);
		while (end_take(a, &box))
			;
	}
	assert_int_equal(a->failed, 1);
	b->delivered = 0;
	end_send(a, 1, 0, 20);
	pair_begin(a, b);
	end_expect(a, &box, 0); /* starts a new flow */
	assert_true(end_give(b, &box));
	assert_int_equal(b->delivered, 1);
	assert_int_equal(b->new_flows, 2);
	end_wait(b, PS_PER_MS);
	pair_exchange(a, b);
	assert_int_equal(a->acked, 1);
}

UNIT_TEST(messages_fail_when_the_link_stays_down)
{
	OWNED(end) a;
	struct box box;

	end_start_unlinked(&a, 0, 1);
	for (unsigned i = 0; i < 5; i++)
		end_send(&a, (uint16_t)(1 + i % 3), 0, 20);
	for (unsigned ms = 0; ms < 1500; ms++) {
		end_wait(&a, PS_PER_MS);
		while (end_take(&a, &box))
			assert_int_equal(box.packet.kind, FRAME_HELLO);
	}
	assert_int_equal(a.failed, 5);
}

UNIT_TEST(a_sender_that_restarts_is_understood)
{
	struct end a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	for (unsigned i = 0; i < 5; i++)
		end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	end_stop(&a);
	end_start(&a, 0, 3);
	for (unsigned i = 0; i < 3; i++)
		end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	end_wait(&b, PS_PER_MS);
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 8);
	assert_int_equal(b.new_flows, 2);
	assert_int_equal(a.acked, 3);
	end_stop(&a);
	end_stop(&b);
}

UNIT_TEST(a_receiver_that_restarts_gets_what_was_not_acknowledged)
{
	static struct box box[16]; /* some wait in the receiver's window */
	struct end a, b;
	struct box ack;
	unsigned used = 0;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	for (unsigned i = 0; i < 4; i++)
		end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	assert_int_equal(a.acked, 4);
	end_stop(&b);
	end_start(&b, 1, 4);
	end_send(&a, 1, 0, 20);
	end_send(&a, 1, 0, 3 * PAIR_MTU);
	end_expect(&a, &box[used], 4);
	end_give(&b, &box[used++]); /* unknown here */
	assert_int_equal(b.delivered, 0);
	for (unsigned ms = 0; ms < 50; ms++) {
		end_wait(&a, PS_PER_MS);
		end_wait(&b, PS_PER_MS);
		while (end_take(&a, &box[used]))
			end_give(&b, &box[used++]);
		while (end_take(&b, &ack))
			end_give(&a, &ack);
	}
	assert_int_equal(b.delivered, 4);
	assert_int_equal(b.tails, 2);
	assert_int_equal(a.acked, 6);
	assert_int_equal(end_count(&a, NIC_FLOW_RESTARTS), 1);
	end_stop(&a);
	end_stop(&b);
}

/* All frames of 'a' are lost until it gives up. 'last' receives its last frame. */
static void send_in_vain(struct end *a, struct box *last)
{
	unsigned failed = a->failed;

	for (unsigned ms = 0; ms <= 1020 && a->failed == failed; ms++) {
		end_wait(a, PS_PER_MS);
		while (end_take(a, last))
			;
	}
	assert_true(a->failed > failed);
}

UNIT_TEST(after_giving_up_a_receiver_that_restarted_gets_everything_once)
{
	struct end a, b;
	struct box box, ack;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	end_wait(&b, PS_PER_MS);
	pair_exchange(&a, &b);
	assert_int_equal(a.acked, 1);
	end_stop(&b);
	end_send(&a, 1, 0, 20);
	send_in_vain(&a, &box);
	end_start(&b, 1, 4);
	for (unsigned i = 0; i < 3; i++) {
		end_send(&a, 1, 0, 20);
		if (i == 0)
			pair_begin(&a, &b);
		end_expect(&a, &box, i);
		end_give(&b, &box);
	}
	end_wait(&b, PS_PER_MS);
	assert_true(end_take(&b, &ack));
	end_give(&a, &ack); /* from a session that it did not know */
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 3);
	assert_int_equal(a.acked, 4);
	assert_int_equal(end_count(&a, NIC_FLOW_RESTARTS), 0);
	end_stop(&a);
	end_stop(&b);
}

UNIT_TEST(a_receiver_that_restarts_gets_a_new_flow_at_once)
{
	static struct box box[3];
	struct end a, b;
	struct box offer;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	for (uint32_t i = 0; i < 3; i++) {
		end_send(&a, 1, 0, 20);
		end_expect(&a, &box[i], i);
	}
	end_give(&b, &box[0]);
	end_stop(&b);
	end_start(&b, 1, 4);
	for (uint32_t i = 0; i < 3; i++) /* they were still under way */
		end_give(&b, &box[i]);
	assert_int_equal(b.delivered, 0);
	assert_true(end_take(&b, &offer));
	assert_false(end_take(&b, &box[0])); /* one offer for all of them */
	end_give(&a, &offer);
	pair_exchange(&a, &b);
	end_wait(&b, PS_PER_MS);
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 3);
	assert_int_equal(a.acked, 3);
	assert_int_equal(end_count(&a, NIC_FLOW_RESTARTS), 1);
	assert_int_equal(end_count(&a, NIC_RETRY_TIMEOUTS), 0);
	end_stop(&a);
	end_stop(&b);
}

PAIR_TEST(a_late_first_frame_of_a_flow_that_was_given_up_changes_nothing)
{
	struct box late, box;

	end_send(a, 1, 0, 20);
	send_in_vain(a, &late);
	for (uint32_t i = 0; i < 2; i++) {
		end_send(a, 1, 0, 20);
		if (i == 0)
			pair_begin(a, b);
		end_expect(a, &box, i);
		end_give(b, &box);
		assert_true(end_give(b, &late));
	}
	assert_int_equal(end_count(b, NIC_DISCARD_OLD_FLOW), 2);
	end_wait(b, PS_PER_MS);
	pair_exchange(a, b);
	assert_int_equal(b->delivered, 2);
	assert_int_equal(a->acked, 2);
}

UNIT_TEST(a_late_frame_of_an_earlier_life_changes_nothing)
{
	static struct box late;
	struct end a, b;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	end_send(&a, 1, 0, 20);
	end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	end_send(&a, 1, 0, 20);
	end_expect(&a, &late, 2);
	end_stop(&a);
	end_start(&a, 0, 3);
	end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 3);
	assert_true(end_give(&b, &late));
	assert_int_equal(end_count(&b, NIC_DISCARD_OLD_FLOW), 1);
	end_send(&a, 1, 0, 20);
	pair_exchange(&a, &b);
	assert_int_equal(b.delivered, 4);
	end_stop(&a);
	end_stop(&b);
}

UNIT_TEST(a_late_acknowledgement_of_an_earlier_flow_changes_nothing)
{
	struct end a, b;
	struct box box, ack;

	end_start(&a, 0, 1);
	end_start(&b, 1, 2);
	end_send(&a, 1, 0, 20);
	end_expect(&a, &box, 0);
	end_give(&b, &box);
	end_wait(&b, PS_PER_MS);
	assert_true(end_take(&b, &ack));
	end_stop(&a);
	end_start(&a, 0, 3);
	end_send(&a, 1, 0, 20);
	pair_begin(&a, &b);
	end_expect(&a, &box, 0);
	end_give(&a, &ack);
	assert_int_equal(a.acked, 0);
	assert_int_equal(end_count(&a, NIC_ACKS_FOREIGN), 1);
	end_stop(&a);
	end_stop(&b);
}

/* Both ends after four billion frames minus three. */
PAIR_TEST(numbers_wrap)
{
	struct flow_tx *tx;
	struct flow_rx *rx;

	tx = &a->nic->tx[1];
	rx = &b->nic->rx[0];
	tx->acked = tx->send = tx->high = tx->next = (uint32_t)-3;
	tx->number = UINT16_MAX;
	rx->known = true;
	rx->flow = tx->flow;
	rx->expected = (uint32_t)-3;
	for (unsigned i = 0; i < 4; i++)
		end_send(a, 1, 0, 3 * PAIR_MTU);
	for (unsigned i = 0; i < 4; i++) {
		pair_exchange(a, b);
		end_wait(b, PS_PER_MS);
	}
	assert_int_equal(b->delivered, 12);
	assert_int_equal(b->sequence[2], UINT32_MAX);
	assert_int_equal(b->sequence[3], 0);
	assert_int_equal(a->acked, 4);
}

UNIT_TEST(frames_out_of_order_are_bounded)
{
	static struct box box[8];
	OWNED(end) a, b;
	struct nic_config config = end_config(&b, 1, 2);

	config.reorder_frames = 3;
	end_begin(&b, &config);
	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 8 * PAIR_MTU);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(&a, &box[i], i);
	for (uint32_t i = 1; i < 8; i++)
		assert_int_equal(end_give(&b, &box[i]), i > 3);
	assert_int_equal(end_count(&b, NIC_DISCARD_NO_WINDOW), 4);
	end_give(&b, &box[0]);
	assert_int_equal(b.delivered, 4);
}

UNIT_TEST(the_wait_for_an_answer_begins_when_the_frame_leaves)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 20);
	end_send(&a, 2, 0, 20);
	assert_true(end_take(&a, &box));
	nic_link(a.nic)->state = LINK_DOWN; /* the second one is admitted and has to wait */
	assert_false(end_take(&a, &box));
	end_wait(&a, 19 * PS_PER_MS);
	nic_link(a.nic)->state = LINK_UP;
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 2);
	end_wait(&a, 2 * PS_PER_MS);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 1);
	assert_false(end_take(&a, &box)); /* not the second one yet */
}

PAIR_TEST(slow_progress_is_progress)
{
	struct box box, ack;

	end_send(a, 1, 0, 6 * PAIR_MTU);
	for (uint32_t i = 0; i < 6; i++) {
		/* One frame passes every 0.5 s. A second without any would end the flow. */
		for (unsigned ms = 0; ms < 500; ms++) {
			end_wait(a, PS_PER_MS);
			while (end_take(a, &box))
				if (ms == 499 || box.packet.sequence == i)
					ack = box;
		}
		assert_int_equal(ack.packet.sequence, i);
		end_give(b, &ack);
		end_wait(b, PS_PER_MS);
		assert_true(end_take(b, &ack));
		end_give(a, &ack);
	}
	assert_int_equal(a->acked, 1);
	assert_int_equal(a->failed, 0);
}

PAIR_TEST(progress_ends_the_backoff)
{
	struct box box;

	end_send(a, 1, 0, 20);
	for (unsigned ms = 0; ms < 500; ms++) {
		end_wait(a, PS_PER_MS);
		while (end_take(a, &box))
			;
	}
	end_give(b, &box);
	end_wait(b, PS_PER_MS);
	end_send(a, 1, 0, 20);
	pair_exchange(a, b);
	end_wait(b, PS_PER_MS);
	pair_exchange(a, b);
	assert_false(nic_busy(a->nic));
	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &box));
	end_wait(a, 20 * PS_PER_MS);
	assert_true(end_take(a, &box)); /* after one interval, not eight */
}

PAIR_TEST(a_gap_that_closes_in_time_is_not_asked_for)
{
	static struct box box[2];
	struct box ack;

	end_send(a, 1, 0, 2 * PAIR_MTU);
	end_expect(a, &box[0], 0);
	end_expect(a, &box[1], 1);
	end_give(b, &box[1]);
	end_wait(b, PS_PER_MS); /* the request is made and has not left */
	end_give(b, &box[0]);
	assert_true(end_take(b, &ack));
	assert_int_equal(box_ack(&ack).expected, 2);
	assert_int_equal(box_ack(&ack).again, 0);
}

/* Damages the next frame of 'a'. Returns true if 'b' requests it immediately. */
static bool asks_after_damage(struct end *a, struct end *b, struct box *ask)
{
	struct box box;

	assert_true(end_take(a, &box));
	box.frame[FRAME_HEADER_BYTES] ^= 1;
	assert_true(end_give(b, &box));
	return end_take(b, ask) && box_ack(ask).again != 0;
}

PAIR_TEST(the_same_loss_is_asked_for_once_and_another_one_at_once)
{
	struct box box, ask, other;

	end_send(a, 1, 0, 6 * PAIR_MTU);
	end_expect(a, &box, 0);
	end_give(b, &box);
	assert_true(asks_after_damage(a, b, &ask));
	assert_int_equal(box_ack(&ask).missing, 1);
	assert_false(asks_after_damage(a, b, &other));
	end_give(a, &ask);
	end_expect(a, &box, 1);
	end_give(b, &box);
	assert_true(asks_after_damage(a, b, &ask)); /* frame 3; 2 is also missing */
	assert_int_equal(box_ack(&ask).expected, 2);
	assert_int_equal(box_ack(&ask).missing, 2);
}

UNIT_TEST(a_frame_beyond_the_window_is_dropped_and_recovered)
{
	static struct box box[16];
	OWNED(end) a, b;
	struct nic_config config = end_config(&a, 0, 1);

	config.window_frames = 16; /* twice the receiver's */
	end_begin(&a, &config);
	end_start(&b, 1, 2);
	end_send(&a, 1, 0, 16 * PAIR_MTU);
	for (uint32_t i = 0; i < 16; i++)
		end_expect(&a, &box[i], i);
	for (uint32_t i = 1; i < 16; i++)
		assert_int_equal(end_give(&b, &box[i]), i >= 8);
	assert_int_equal(end_count(&b, NIC_DISCARD_BEYOND_WINDOW), 8);
	end_give(&b, &box[0]);
	assert_int_equal(b.delivered, 8);
}

PAIR_TEST(acknowledgements_stay_rare)
{
	struct box box, ack;

	for (unsigned i = 0; i < 24; i++) {
		end_send(a, 1, 0, 20);
		end_expect(a, &box, i);
		end_give(b, &box);
		if (end_take(b, &ack))
			end_give(a, &ack);
	}
	assert_int_equal(end_count(b, NIC_ACKS_SENT), 6);
}

UNIT_TEST(repetitions_go_before_new_frames)
{
	OWNED(end) a;
	struct box box;

	end_start(&a, 0, 1);
	end_send(&a, 1, 0, 3 * PAIR_MTU);
	for (uint32_t i = 0; i < 3; i++)
		end_expect(&a, &box, i);
	end_send(&a, 2, 0, 2 * PAIR_MTU);
	assert_true(end_take(&a, &box));
	end_wait(&a, 20 * PS_PER_MS);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 1);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 2);
}

PAIR_TEST(a_slow_link_is_not_a_dead_one)
{
	struct box box;

	for (unsigned i = 0; i < 5; i++)
		end_send(a, 1, 0, 20);
	for (unsigned i = 0; i < 5; i++) {
		nic_link(a->nic)->state = LINK_DOWN;
		for (unsigned ms = 0; ms < 400; ms++) {
			end_wait(a, PS_PER_MS);
			assert_false(end_take(a, &box));
		}
		nic_link(a->nic)->state = LINK_UP;
		end_expect(a, &box, i);
		end_give(b, &box);
		end_wait(b, PS_PER_MS);
		assert_true(end_take(b, &box));
		end_give(a, &box);
	}
	assert_int_equal(a->acked, 5); /* the last one after two seconds */
}
