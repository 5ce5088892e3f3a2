/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Adaptive-routing notifications at an interface. A blocked VC blocks no other. */

#include "nic/arn_marks.h"
#include "nic_load.h"
#include "nic_pair.h"

#define MARK_PS  PS_PER_MS
#define ADAPTED  1 /* the last VC */
#define MESSAGES 64

/* VC 0 and the adapted-flow channel, or three queues and none. */
static void begin(struct end *end, uint16_t host, weft_time mark_ps, uint8_t vcs)
{
	struct nic_config config = end_config(end, host, host + 1u);

	config.link.vcs = vcs;
	config.mark_ps = mark_ps;
	if (mark_ps == 0)
		for (unsigned sl = 0; sl < 16; sl++)
			config.sl_to_vc[sl] = (uint8_t)(sl % vcs);
	end_begin(end, &config);
}

static void give_arn(struct end *end, const struct control_arn *arn)
{
	struct frame_fields fields = {
		.kind = FRAME_ARN, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	struct box box = {.packet = {.bytes = 0}};

	fields.payload_bytes = (uint16_t)control_arn_encode(arn, box.frame + FRAME_HEADER_BYTES);
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	assert_true(end_give(end, &box));
}

static void mark(struct end *end, uint16_t destination)
{
	const struct control_arn arn = {.id = 1, .destination = destination, .vc = 0};

	give_arn(end, &arn);
}

/* Takes the next frame while this VC has no credits. The poll comes first, because it would renew
 * them. */
static bool take_without(struct end *end, unsigned closed, struct box *box)
{
	struct credit_tx *tx;

	nic_poll(end->nic, end->now);
	tx = &nic_link(end->nic)->tx[closed];
	tx->limit = tx->sent;
	if (!nic_inject(end->nic, end->now, &box->packet))
		return false;
	nic_frame_build(end->nic, &box->packet, box->frame, end->now);
	return true;
}

/* The next frame is a data frame to 'to' in 'vc', adapted if this is not its own VC. */
static void check_frame(const struct box *box, uint16_t to, uint8_t vc)
{
	const struct frame_header *header = frame_header_const(box->frame);

	assert_int_equal(frame_check(box->frame, box->packet.bytes), FRAME_FAULT_OK);
	assert_int_equal(header->kind, FRAME_DATA);
	assert_int_equal(box->packet.destination, to);
	assert_int_equal(header->vc, vc);
	assert_int_equal(header->vc_original, 0);
	assert_int_equal((header->flags & FRAME_F_ADAPTED) != 0, vc == ADAPTED);
}

static void expect_frame(struct end *end, uint16_t to, uint8_t vc)
{
	struct box box;

	assert_true(end_take(end, &box));
	check_frame(&box, to, vc);
}

UNIT_TEST(marked_messages_leave_in_the_adapted_flow_channel)
{
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	mark(&a, 1);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 2, 0, 20), 0);
	expect_frame(&a, 2, 0);
	expect_frame(&a, 1, ADAPTED);
	assert_int_equal(end_count(&a, NIC_ARNS_RECEIVED), 1);
	assert_int_equal(end_count(&a, NIC_MESSAGES_DIVERTED), 1);
	assert_int_equal(end_count(&a, NIC_FRAMES_ADAPTED), 1);
	/* Until the mark ends. */
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	end_wait(&a, MARK_PS - 1);
	expect_frame(&a, 1, ADAPTED);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	end_wait(&a, 1);
	expect_frame(&a, 1, 0);
}

/* A late loop may date frames back, but not to before the notification that they follow. */
UNIT_TEST(marked_messages_are_not_ready_before_their_arn_was_due)
{
	struct box box;
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 2, 0, 20), 0);
	end_wait(&a, MARK_PS / 2);
	mark(&a, 1);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 2);
	assert_true(box.packet.arrived_ps < a.now);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.destination, 1);
	assert_int_equal(box.packet.arrived_ps, a.now);
}

/* The mark is of (destination, VC). */
UNIT_TEST(other_vcs_of_a_marked_destination_are_not_marked)
{
	const struct control_arn arn = {.id = 1, .destination = 1, .vc = 1};
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct box box;

	config.link.vcs = 3;
	config.mark_ps = MARK_PS;
	config.sl_to_vc[1] = 1;
	end_begin(&a, &config);
	give_arn(&a, &arn);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 1, 1, 20), 0);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.vc, 0);
	assert_true(end_take(&a, &box));
	assert_int_equal(box.packet.vc, 2);
	assert_int_equal(box.packet.vc_original, 1);
}

UNIT_TEST(marked_messages_hold_up_nobody_behind_them)
{
	struct box box;
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	mark(&a, 1);
	for (uint16_t to = 1; to < PAIR_HOSTS; to++)
		assert_int_equal(end_send(&a, to, 0, 20), 0);
	assert_true(take_without(&a, ADAPTED, &box));
	check_frame(&box, 2, 0);
	assert_true(take_without(&a, ADAPTED, &box));
	check_frame(&box, 3, 0);
	assert_false(take_without(&a, ADAPTED, &box));
	expect_frame(&a, 1, ADAPTED);
}

/* Also a message that stepped aside because of the window, or that only waited for credits. */
UNIT_TEST(a_message_that_waits_for_credits_goes_on_when_it_is_marked)
{
	struct box box;
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 2, 0, 20), 0);
	assert_false(take_without(&a, 0, &box));
	mark(&a, 1);
	assert_true(take_without(&a, 0, &box));
	check_frame(&box, 1, ADAPTED);
	assert_false(take_without(&a, 0, &box));
	expect_frame(&a, 2, 0);
}

UNIT_TEST(the_rest_of_a_message_that_is_marked_on_its_way_is_adapted)
{
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	assert_int_equal(end_send(&a, 1, 0, 2 * PAIR_MTU + 10), 0);
	expect_frame(&a, 1, 0);
	mark(&a, 1);
	expect_frame(&a, 1, ADAPTED);
	expect_frame(&a, 1, ADAPTED);
	assert_int_equal(end_count(&a, NIC_MESSAGES_DIVERTED), 1);
}

UNIT_TEST(frames_that_overtake_in_the_adapted_flow_channel_are_delivered_in_order)
{
	struct box late[2], box;
	OWNED(end) a, b;

	begin(&a, 0, MARK_PS, 2);
	begin(&b, 1, MARK_PS, 2);
	assert_int_equal(end_send(&a, 1, 0, 4 * PAIR_MTU), 0);
	end_expect(&a, &late[0], 0);
	end_expect(&a, &late[1], 1);
	mark(&a, 1);
	for (unsigned i = 2; i < 4; i++) {
		static struct box held[2];

		end_expect(&a, &held[i - 2], i);
		assert_int_equal(held[i - 2].packet.vc, ADAPTED);
		assert_false(end_give(&b, &held[i - 2]));
	}
	assert_int_equal(b.delivered, 0);
	assert_true(end_give(&b, &late[0]));
	assert_true(end_give(&b, &late[1]));
	assert_int_equal(b.delivered, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(b.sequence[i], i);
	assert_int_equal(b.tails, 1);
	while (end_take(&b, &box))
		assert_true(end_give(&a, &box));
	assert_int_equal(a.acked, 1);
	assert_int_equal(end_count(&a, NIC_FRAMES_RETRANSMITTED), 0);
}

/* Otherwise, the tree that they should leave would never drain. */
UNIT_TEST(marked_messages_wait_for_room_rather_than_leave_by_their_own_vc)
{
	unsigned max = MESSAGES - MESSAGES / 4; /* everything except the part reserved for VC 0 */
	unsigned few = MESSAGES / 8;
	struct box box;
	OWNED(end) a;

	begin(&a, 0, MARK_PS, 2);
	mark(&a, 1);
	for (unsigned i = 0; i < few; i++) {
		assert_int_equal(end_send(&a, 1, 0, 20), 0);
		assert_false(take_without(&a, ADAPTED, &box));
	}
	assert_int_equal(end_count(&a, NIC_MESSAGES_DIVERTED), few);
	/* As many other peers as needed have the remaining records. */
	for (unsigned i = few; i < max; i++)
		vc_share_take(&a.nic->message_share, ADAPTED);
	assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 2, 0, 20), 0);
	assert_false(take_without(&a, ADAPTED, &box));
	for (unsigned i = few; i < max; i++)
		vc_share_put(&a.nic->message_share, ADAPTED);
	assert_null(nic_check(a.nic));
	/* The waiting message is no longer marked. */
	end_wait(&a, MARK_PS);
	expect_frame(&a, 2, 0);
	expect_frame(&a, 1, ADAPTED);
}

UNIT_TEST(what_the_host_no_longer_waits_for_makes_room_for_the_marked)
{
	OWNED(end) a, b;

	begin(&a, 0, MARK_PS, 2);
	begin(&b, 1, MARK_PS, 2);
	for (unsigned round = 0; round < 20; round++) {
		mark(&a, 1);
		for (unsigned i = 0; i < 10; i++)
			assert_int_equal(end_send(&a, 1, 0, 20), 0);
		pair_exchange(&a, &b);
	}
	assert_int_equal(a.acked, 200);
	assert_int_equal(end_count(&a, NIC_MESSAGES_DIVERTED), 200);
}

UNIT_TEST(a_vc_that_has_come_to_a_stop_leaves_the_others_room)
{
	static const uint8_t payload[16] = {1};
	struct nic_message real = {.destination = 1, .payload = payload, .bytes = 16};
	struct box box;
	OWNED(end) a;

	begin(&a, 0, 0, 3);
	while (nic_has_room(a.nic, 1, 0, a.now))
		if (nic_send(a.nic, &real, a.now) < 0)
			assert_int_equal(end_send(&a, 1, 0, 20), 0);
	assert_int_equal(end_send(&a, 1, 0, 20), -EAGAIN);
	/* Messages and payloads of the other peers. */
	assert_true(nic_has_room(a.nic, 1, 1, a.now));
	real.destination = 2;
	real.sl = 1;
	assert_int_equal(nic_send(a.nic, &real, a.now), 0);
	real.sl = 2;
	assert_int_equal(nic_send(a.nic, &real, a.now), 0);
	assert_int_equal(end_send(&a, 3, 2, 20), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(take_without(&a, 0, &box));
		assert_int_not_equal(box.packet.vc, 0);
	}
	assert_false(take_without(&a, 0, &box));
}

UNIT_TEST(notifications_that_make_no_sense_are_counted_as_bad)
{
	const struct control_arn nobody = {.id = 1, .destination = PAIR_HOSTS};
	const struct control_arn channel = {.id = 1, .destination = 1, .vc = ADAPTED};
	OWNED(end) a, b;

	begin(&a, 0, MARK_PS, 2);
	give_arn(&a, &nobody);
	give_arn(&a, &channel);
	assert_int_equal(end_count(&a, NIC_CONTROL_BAD), 2);
	assert_int_equal(end_count(&a, NIC_ARNS_RECEIVED), 0);
	begin(&b, 1, 0, 2);
	mark(&b, 0);
	assert_int_equal(end_count(&b, NIC_CONTROL_IGNORED), 1);
}

UNIT_TEST(an_adapted_flow_channel_of_its_own_is_needed)
{
	struct end a;
	struct nic_config config = end_config(&a, 0, 1);

	config.mark_ps = MARK_PS;
	assert_null(nic_create(&config, 0));
	assert_int_equal(errno, EINVAL);
	config.link.vcs = 2;
	config.sl_to_vc[7] = 1;
	assert_null(nic_create(&config, 0));
	nic_routes_destroy(a.routes);
}

/* Marks appear and disappear, on paths that lose, duplicate and overtake. */
UNIT_WITH(every_message_arrives_once_and_in_order_whatever_is_marked, make, unmake)
{
	OWNED(channel) *channel = *state;
	struct channel_options options = channel_good;

	options.hosts = 4;
	options.vcs = 3;
	options.spread = 10;
	options.mark_ps = 20 * PS_PER_US;
	options.loss_ppm = options.duplicate_ppm = 2000;
	channel_start(channel, &options);
	while (channel->data_frames < 100000) {
		struct station *station =
			&channel->station[rng_below(&channel->rng, options.hosts)];
		const struct control_arn arn = {.id = 1,
			.destination = (uint16_t)rng_below(&channel->rng, options.hosts),
			.vc = (uint8_t)rng_below(&channel->rng, 2)};

		assert_true(nic_afi_on_arn(station->nic, &arn, channel->now));
		load_step(channel, 1);
	}
	load_end(channel);
	assert_true(channel_count(channel, NIC_FRAMES_ADAPTED) > 10000);
	assert_true(channel_count(channel, NIC_FRAMES_ADAPTED) < 90000);
}

UNIT_TEST(notifications_of_no_switch_of_no_root_or_too_many_are_refused)
{
	OWNED(end) a;
	struct nic_config config = end_config(&a, 0, 1);
	struct control_arn arn = {.id = 0x00010300, .destination = 1};

	config.link.vcs = 2;
	config.mark_ps = PS_PER_MS;
	config.arn_policer = (struct arn_policer_config){.rate = 4, .switches = 1, .ports = 4};
	end_begin(&a, &config);
	nic_link(a.nic)->peer_kind = 1;
	give_arn(&a, &arn);
	nic_link(a.nic)->peer_kind = 0;
	arn.id = 0x00020300;
	give_arn(&a, &arn);
	assert_int_equal(end_count(&a, NIC_ARNS_REFUSED), 2);
	assert_false(arn_marks_has(a.nic->marks, 1, 0, a.now));
	arn.id = 0x00010300;
	for (unsigned i = 0; i < 6; i++)
		give_arn(&a, &arn);
	assert_int_equal(end_count(&a, NIC_ARNS_RECEIVED), 4);
	assert_int_equal(end_count(&a, NIC_ARNS_REFUSED), 4);
	end_wait(&a, PS_PER_MS / 4);
	give_arn(&a, &arn);
	give_arn(&a, &arn);
	assert_int_equal(end_count(&a, NIC_ARNS_RECEIVED), 5);
}
