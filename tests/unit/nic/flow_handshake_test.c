/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* How flows start. Frames of unknown hosts and of earlier lives start and end nothing. */

#include "base/rng.h"
#include "nic/flow.h"
#include "nic_pair.h"

#define LIFE_A 11 /* sessions of later lives, so flows must be started */
#define LIFE_B 12

static int begin(void **state)
{
	struct end *ends = malloc(2 * sizeof(*ends));

	assert_non_null(ends);
	end_start(&ends[0], 0, LIFE_A);
	end_start(&ends[1], 1, LIFE_B);
	*state = ends;
	return 0;
}

#define BEGIN_TEST(test) PAIR_WITH(test, begin)

/* A frame from host 'source' to 'destination' with a valid CRC. 'payload' is already in it. */
static void seal(struct box *box, struct frame_fields fields, uint16_t source, uint16_t destination)
{
	fields.source = source;
	fields.destination = destination;
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
}

static void forge_data(struct box *box, uint16_t flow, uint16_t number, uint32_t sequence)
{
	memset(box->frame, 0, sizeof(box->frame));
	seal(box,
		(struct frame_fields){.kind = FRAME_DATA,
			.flags = FRAME_F_TAIL,
			.message = (uint32_t)flow << 16 | number,
			.sequence = sequence,
			.payload_bytes = 20},
		0, 1);
}

static void forge_flow(struct box *box, const struct control_flow *flow, uint16_t source)
{
	memset(box->frame, 0, sizeof(box->frame));
	control_flow_encode(flow, box->frame + FRAME_HEADER_BYTES);
	seal(box, (struct frame_fields){.kind = FRAME_FLOW, .payload_bytes = CONTROL_FLOW_BYTES},
		source, source == 0 ? 1 : 0);
}

static void forge_ack(struct box *box, const struct control_ack *ack)
{
	memset(box->frame, 0, sizeof(box->frame));
	control_ack_encode(ack, box->frame + FRAME_HEADER_BYTES);
	seal(box, (struct frame_fields){.kind = FRAME_ACK, .payload_bytes = CONTROL_ACK_BYTES}, 1,
		0);
}

static void settle(struct end *a, struct end *b)
{
	pair_exchange(a, b);
	end_wait(b, PS_PER_MS);
	end_wait(a, PS_PER_MS);
	pair_exchange(a, b);
}

/* Everything that 'a' sends arrives without a sender's timer. */
static void expect_undisturbed(struct end *a, struct end *b)
{
	unsigned delivered = b->delivered, acked = a->acked;

	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(end_send(a, 1, 0, 20), 0);
		settle(a, b);
	}
	assert_int_equal(b->delivered, delivered + 10);
	assert_int_equal(a->acked, acked + 10);
	assert_int_equal(end_count(a, NIC_RETRY_TIMEOUTS), 0);
	assert_int_equal(end_count(a, NIC_FLOW_RESTARTS), 0);
	assert_int_equal(end_count(a, NIC_GIVE_UPS), 0);
}

BEGIN_TEST(a_flow_begins_with_one_ask_and_one_offer)
{
	expect_undisturbed(a, b);
	assert_int_equal(b->new_flows, 1);
	assert_int_equal(end_count(a, NIC_ASKS_SENT), 1);
	assert_int_equal(end_count(b, NIC_OFFERS_SENT), 1);
	assert_int_equal(end_count(a, NIC_FRAMES_ABANDONED), 0);
	assert_int_equal(end_count(b, NIC_DISCARD_OLD_FLOW), 0);
}

BEGIN_TEST(no_data_leaves_before_the_offer)
{
	struct box box;

	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &box));
	assert_int_equal(box.packet.kind, FRAME_FLOW);
	assert_int_equal(box.packet.control, 1);
	assert_false(end_take(a, &box));
	assert_int_equal(end_count(a, NIC_FRAMES_INJECTED), 0);
	assert_int_equal(end_count(a, NIC_MESSAGES_INJECTED), 1); /* it may be lost with the ask */
}

BEGIN_TEST(an_ask_without_an_answer_is_repeated)
{
	struct box box;

	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &box));
	end_wait(a, 20 * PS_PER_MS - 1);
	assert_false(end_take(a, &box));
	end_wait(a, 1);
	pair_begin(a, b);
	end_expect(a, &box, 0);
	assert_int_equal(end_count(a, NIC_RETRY_TIMEOUTS), 1);
}

UNIT_TEST(an_ask_waits_for_the_link)
{
	OWNED(end) a;
	struct box box;

	end_start_unlinked(&a, 0, LIFE_A);
	end_send(&a, 1, 0, 20);
	for (unsigned ms = 0; ms < 25; ms++) { /* longer than a retry */
		end_wait(&a, PS_PER_MS);
		while (end_take(&a, &box))
			assert_int_equal(box.packet.kind, FRAME_HELLO);
	}
	assert_int_equal(end_count(&a, NIC_ASKS_SENT), 0);
	assert_int_equal(end_count(&a, NIC_RETRY_TIMEOUTS), 0);
	nic_link(a.nic)->state = LINK_UP;
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.kind, FRAME_FLOW);
}

UNIT_TEST(few_frames_are_in_flight_before_the_first_acknowledgement)
{
	OWNED(end) a, b;
	struct nic_config config = end_config(&a, 0, LIFE_A);
	struct box box;

	config.window_frames = 128;
	end_begin(&a, &config);
	end_start(&b, 1, LIFE_B);
	end_send(&a, 1, 0, 128 * PAIR_MTU);
	pair_begin(&a, &b);
	for (uint32_t i = 0; i < FLOW_FLIGHT; i++) {
		end_expect(&a, &box, i);
		end_give(&b, &box);
	}
	assert_false(end_take(&a, &box));
	assert_true(end_take(&b, &box));
	end_give(&a, &box);
	for (uint32_t i = FLOW_FLIGHT; i < 128; i++)
		end_expect(&a, &box, i);
}

BEGIN_TEST(frames_of_an_offered_flow_may_come_in_any_order)
{
	static struct box box[8];

	for (unsigned i = 0; i < 8; i++)
		end_send(a, 1, 0, 20);
	pair_begin(a, b);
	for (uint32_t i = 0; i < 8; i++)
		end_expect(a, &box[i], i);
	for (uint32_t i = 8; i-- > 0;)
		end_give(b, &box[i]);
	assert_int_equal(b->delivered, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(b->sequence[i], i);
}

/* The receiver's answers do not disturb the sender of the flow in use. */
BEGIN_TEST(data_of_an_unknown_flow_changes_nothing)
{
	struct box box;

	expect_undisturbed(a, b);
	for (unsigned i = 0; i < 3; i++) {
		forge_data(&box, (uint16_t)(0x5A00 + i), 0, i == 0 ? 0 : i * 0x12345);
		assert_true(end_give(b, &box));
		expect_undisturbed(a, b);
	}
	assert_int_equal(b->new_flows, 1);
	assert_int_equal(end_count(b, NIC_DISCARD_OLD_FLOW), 3);
	assert_int_equal(end_count(a, NIC_OFFERS_FOREIGN), 3);
}

BEGIN_TEST(data_before_any_flow_is_not_delivered)
{
	struct box box;

	forge_data(&box, 77, 0, 0);
	end_give(b, &box);
	assert_int_equal(b->delivered, 0);
	expect_undisturbed(a, b);
}

BEGIN_TEST(an_ask_of_a_stranger_ends_no_flow)
{
	struct control_flow ask = {.step = CONTROL_FLOW_ASK, .flow = 9, .sequence = 9};
	struct box box;

	expect_undisturbed(a, b);
	forge_flow(&box, &ask, 0);
	end_give(b, &box);
	expect_undisturbed(a, b);
	assert_int_equal(b->new_flows, 1);
	assert_int_equal(end_count(a, NIC_OFFERS_FOREIGN), 1);
}

/* The request is due once more, and the answer to the first one overtakes it. */
BEGIN_TEST(an_ask_that_waits_is_not_sent_behind_the_offer)
{
	struct box ask, offer;

	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &ask));
	end_give(b, &ask);
	assert_true(end_take(b, &offer));
	end_wait(a, 20 * PS_PER_MS);
	end_give(a, &offer);
	settle(a, b);
	assert_int_equal(end_count(a, NIC_RETRY_TIMEOUTS), 1);
	assert_int_equal(end_count(a, NIC_ASKS_SENT), 1);
	assert_int_equal(b->delivered, 1);
}

/* The frames that arrived would be resent. */
BEGIN_TEST(an_ask_in_the_name_of_the_flow_in_use_is_not_answered)
{
	const struct flow_tx *tx = &a->nic->tx[1];
	struct control_flow ask = {.step = CONTROL_FLOW_ASK};
	struct box box, data;

	expect_undisturbed(a, b);
	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &data));
	end_give(b, &data);
	ask.flow = tx->flow;
	ask.sequence = tx->acked;
	forge_flow(&box, &ask, 0);
	end_give(b, &box);
	settle(a, b);
	assert_int_equal(end_count(b, NIC_ASKS_FOREIGN), 1);
	assert_int_equal(b->delivered, 11);
	expect_undisturbed(a, b);
}

/* Its first frame is in flight. 'forged' arrives before it, and names that flow. */
static void expect_begun_once(struct end *a, struct end *b, bool is_ask)
{
	const struct flow_tx *tx = &a->nic->tx[1];
	struct control_flow ask = {.step = CONTROL_FLOW_ASK};
	struct box box, data;

	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &box));
	end_give(b, &box);
	assert_true(end_take(b, &box));
	end_give(a, &box);
	assert_true(end_take(a, &data));
	ask.flow = tx->flow;
	ask.sequence = tx->acked;
	if (is_ask)
		forge_flow(&box, &ask, 0);
	else
		forge_data(&box, tx->flow, (uint16_t)(tx->number + 1000), tx->acked);
	end_give(b, &box);
	end_give(b, &data);
	settle(a, b);
	assert_int_equal(b->delivered, 1);
	expect_undisturbed(a, b);
}

BEGIN_TEST(an_ask_in_the_name_of_a_flow_on_offer_is_not_answered)
{
	expect_begun_once(a, a + 1, true);
}

BEGIN_TEST(a_frame_that_cannot_be_of_the_flow_on_offer_is_not_answered)
{
	expect_begun_once(a, a + 1, false);
}

/* From a different flow; from the correct one, but for no frame in flight. */
BEGIN_TEST(offers_that_answer_nothing_are_ignored)
{
	const struct flow_tx *tx = &a->nic->tx[1];
	struct control_flow offer = {.step = CONTROL_FLOW_OFFER, .offered = 1, .session = LIFE_B};
	struct box box, data;

	expect_undisturbed(a, b);
	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &data)); /* in flight, so offers match a frame */
	offer.flow = tx->flow;
	offer.sequence = tx->acked - 1;
	forge_flow(&box, &offer, 1);
	end_give(a, &box);
	offer.sequence = tx->high;
	forge_flow(&box, &offer, 1);
	end_give(a, &box);
	offer.flow++;
	offer.sequence = tx->acked;
	forge_flow(&box, &offer, 1);
	end_give(a, &box);
	assert_int_equal(end_count(a, NIC_OFFERS_FOREIGN), 3);
	end_give(b, &data);
	settle(a, b);
	expect_undisturbed(a, b);
}

BEGIN_TEST(an_offer_that_names_another_number_than_the_ask_is_ignored)
{
	struct control_flow offer = {.step = CONTROL_FLOW_OFFER, .offered = 1, .session = LIFE_B};
	struct box box, ask;

	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &ask));
	offer.flow = a->nic->tx[1].flow;
	offer.sequence = a->nic->tx[1].acked + 1;
	forge_flow(&box, &offer, 1);
	end_give(a, &box);
	assert_false(end_take(a, &box));
	end_give(b, &ask);
	settle(a, b);
	assert_int_equal(a->acked, 1);
}

/* Returns the end's answer to a forged request for a flow. */
static struct control_flow forged_offer(struct end *b)
{
	struct control_flow ask = {.step = CONTROL_FLOW_ASK, .flow = 9, .sequence = 9}, offer;
	struct box box;

	forge_flow(&box, &ask, 0);
	end_give(b, &box);
	assert_true(end_take(b, &box));
	assert_true(
		control_flow_decode(&offer, box.frame + FRAME_HEADER_BYTES, CONTROL_FLOW_BYTES));
	return offer;
}

BEGIN_TEST(an_offer_is_void_once_another_one_is_taken_up)
{
	struct control_flow offer = forged_offer(b);
	struct box box;

	expect_undisturbed(a, b);
	forge_data(&box, offer.offered, offer.number, offer.first);
	end_give(b, &box);
	assert_int_equal(b->new_flows, 1);
	expect_undisturbed(a, b);
}

BEGIN_TEST(the_number_of_the_message_must_fit_the_offer)
{
	struct control_flow offer = forged_offer(b);
	struct box box;

	forge_data(&box, offer.offered, (uint16_t)(offer.number + 1), offer.first);
	end_give(b, &box);
	forge_data(&box, offer.offered, offer.number, offer.first + FLOW_FLIGHT);
	end_give(b, &box);
	forge_data(&box, offer.offered, offer.number, offer.first - 1);
	end_give(b, &box);
	assert_false(b->nic->rx[0].known);
	forge_data(&box, offer.offered, offer.number, offer.first);
	end_give(b, &box);
	assert_int_equal(b->delivered, 1);
}

BEGIN_TEST(forged_acknowledgements_are_ignored_and_counted)
{
	const struct flow_tx *tx = &a->nic->tx[1];
	struct control_ack ack;
	struct box box, data;

	expect_undisturbed(a, b);
	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &data));
	for (unsigned what = 0; what < 4; what++) {
		ack = (struct control_ack){.expected = tx->high,
			.again = 1,
			.flow = tx->flow,
			.session = tx->peer_session};
		ack.expected += what == 0;                     /* ahead of what was sent */
		ack.flow = (uint16_t)(ack.flow + (what == 1)); /* another flow */
		ack.session += what == 2;
		if (what == 3)
			ack.expected = tx->acked - 1;
		forge_ack(&box, &ack);
		end_give(a, &box);
		assert_int_equal(end_count(a, NIC_ACKS_FOREIGN), what < 3 ? what + 1 : 3);
		assert_int_equal(end_count(a, NIC_ACKS_STALE), what == 3);
		assert_int_equal(a->acked, 10);
		assert_false(end_take(a, &box));
	}
	end_give(b, &data);
	settle(a, b);
	expect_undisturbed(a, b);
}

#define RECORDS 64

/* All frames of the first lives are recorded, and replayed to the second lives. */
UNIT_TEST(frames_of_an_earlier_life_deliver_nothing_and_end_nothing)
{
	static struct box record[2][RECORDS];
	unsigned records[2] = {0, 0};
	struct end end[2];

	end_start(&end[0], 0, LIFE_A);
	end_start(&end[1], 1, LIFE_B);
	for (unsigned i = 0; i < 8; i++) {
		end_send(&end[0], 1, 0, 20);
		end_wait(&end[0], PS_PER_MS);
		end_wait(&end[1], PS_PER_MS);
		for (unsigned j = 0; j < 4; j++) {
			struct box box;

			while (end_take(&end[j % 2], &box)) {
				record[j % 2][records[j % 2]++] = box;
				end_give(&end[1 - j % 2], &box);
			}
		}
	}
	assert_int_equal(end[1].delivered, 8);
	end_stop(&end[0]);
	end_stop(&end[1]);
	end_start(&end[0], 0, LIFE_A + 10);
	end_start(&end[1], 1, LIFE_B + 10);
	end_send(&end[0], 1, 0, 20);
	for (unsigned j = 0; j < 2; j++)
		for (unsigned i = 0; i < records[j]; i++)
			assert_true(end_give(&end[1 - j], &record[j][i]));
	assert_int_equal(end[1].delivered, 0);
	settle(&end[0], &end[1]);
	assert_int_equal(end[1].delivered, 1);
	expect_undisturbed(&end[0], &end[1]);
	for (unsigned j = 0; j < 2; j++)
		for (unsigned i = 0; i < records[j]; i++)
			assert_true(end_give(&end[1 - j], &record[j][i]));
	assert_int_equal(end[1].delivered, 11);
	expect_undisturbed(&end[0], &end[1]);
	assert_int_equal(end[1].new_flows, 1);
	end_stop(&end[0]);
	end_stop(&end[1]);
}

BEGIN_TEST(a_sender_that_restarts_is_served_without_a_timeout)
{
	expect_undisturbed(a, b);
	end_stop(a);
	end_start(a, 0, LIFE_A + 10);
	a->now = b->now;
	expect_undisturbed(a, b);
	assert_int_equal(b->new_flows, 2);
	assert_int_equal(b->delivered, 20);
}

/* The number is off by 65,536 frames: a flow of that name, but a different one. */
BEGIN_TEST(another_flow_of_the_same_name_is_told_apart)
{
	struct box box, offer;

	expect_undisturbed(a, b);
	b->nic->rx[0].expected += 1u << 20;
	end_send(a, 1, 0, 20);
	assert_true(end_take(a, &box));
	end_give(b, &box);
	assert_true(end_take(b, &offer));
	assert_int_equal(frame_header_const(offer.frame)->kind, FRAME_FLOW);
	end_give(a, &offer);
	settle(a, b);
	assert_int_equal(a->acked, 11);
	assert_int_equal(end_count(a, NIC_FLOW_RESTARTS), 1);
}
