/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "control_pair.h"

/* A data frame of the first end, which has waited, reaches the second end. Its answer is
 * processed. */
static void answer(struct end *ends, struct box *box)
{
	assert_int_equal(end_send(&ends[0], 1, 0, 16), 0);
	assert_true(end_take(&ends[0], box));
	assert_int_equal(box->packet.kind, FRAME_DATA);
	delay(box, 1234);
	carry(box, 0);
	assert_true(end_give(&ends[1], box));
	assert_true(end_take(&ends[1], box));
	carry(box, 0);
}

/* A notification with a different payload in the same frame. */
static void change(struct box *box, const struct cn *cn)
{
	const struct frame_header old = *frame_header_const(box->frame);
	uint8_t route[FRAME_ROUTE_MAX];
	struct frame_fields fields = {.kind = FRAME_CN,
		.source = ntohs(old.source_be),
		.destination = ntohs(old.destination_be),
		.route = route,
		.route_length = old.route_length};

	memcpy(route, box->frame + FRAME_HEADER_BYTES, old.route_length);
	fields.payload_bytes =
		(uint16_t)cn_encode(cn, box->frame + FRAME_HEADER_BYTES + old.route_length);
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
	carry(box, 0);
}

static uint64_t heard(const struct end *end)
{
	uint64_t count[SOURCE_CONTROL_COUNTER_COUNT];

	nic_control_counters(end->nic, count);
	return count[SOURCE_CONTROL_CN_RECEIVED];
}

UNIT_TEST(frames_of_sources_that_measure_have_an_extension)
{
	for (enum source_control_kind kind = SOURCE_CONTROL_NONE; kind <= SOURCE_CONTROL_DRB_CC;
		kind++) {
		struct end ends[2];
		struct box box;

		if (kind == SOURCE_CONTROL_DCQCN)
			continue; /* refused, because only the virtual clock has it */
		start_pair(ends, kind);
		end_send(&ends[0], 1, 0, 16);
		assert_true(end_take(&ends[0], &box));
		assert_int_equal(
			(box.packet.flags & FRAME_F_LATENCY) != 0, source_control_measures(kind));
		if (source_control_measures(kind)) {
			assert_true(latency_check_ok(extension_of(&box)));
			assert_int_equal(box.packet.bytes,
				FRAME_HEADER_BYTES + box.packet.route_length + 40 + 16);
		}
		assert_true(frame_payload_ok(box.frame));
		stop_pair(ends);
	}
}

UNIT_TEST(answer_says_what_the_frame_met)
{
	struct end ends[2];
	struct box box;
	struct cn cn;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &box);
	cn = box_cn(&box);
	assert_int_equal(ntohs(frame_header(box.frame)->destination_be), 0);
	assert_int_equal(cn.message >> 16, PAIR_FLOW(0));
	assert_int_equal(cn.sequence, 0);
	assert_int_equal(cn.waiting_ns, 1234);
	assert_int_equal(cn.path, 0);
	assert_int_equal(cn.flags, CN_F_PREDICTIVE);
	assert_int_equal(cn.flow[0].source, 2);
	assert_int_equal(end_count(&ends[1], NIC_CNS_SENT), 1);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CNS_RECEIVED), 1);
	assert_int_equal(heard(&ends[0]), 1);
	stop_pair(ends);
}

/* The acknowledgement would make it stale. */
UNIT_TEST(answer_leaves_before_the_acknowledgement)
{
	struct end ends[2];
	struct box box;

	start_pair(ends, SOURCE_CONTROL_DRB);
	for (unsigned i = 0; i < 4; i++) /* the fourth is acknowledged immediately */
		answer(ends, &box);
	assert_int_equal(box.packet.kind, FRAME_CN);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box.packet.kind, FRAME_ACK);
	stop_pair(ends);
}

UNIT_TEST(only_marked_frames_are_answered_to_sources_that_learn_by_marks)
{
	struct end ends[2];
	struct box box;
	struct cn cn;

	start_pair(ends, SOURCE_CONTROL_DRB_CN);
	end_send(&ends[0], 1, 0, 2 * PAIR_MTU);
	assert_true(end_take(&ends[0], &box));
	carry(&box, 0);
	assert_true(end_give(&ends[1], &box));
	assert_false(end_take(&ends[1], &box));
	assert_true(end_take(&ends[0], &box));
	carry(&box, FRAME_F_FECN);
	assert_true(end_give(&ends[1], &box));
	assert_true(end_take(&ends[1], &box));
	cn = box_cn(&box);
	assert_int_equal(cn.flags, CN_F_FECN | CN_F_BECN);
	assert_int_equal(cn.sequence, 1);
	assert_int_equal(cn.path, CN_PATH_UNKNOWN);
	carry(&box, 0);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CNS_RECEIVED), 1);
	stop_pair(ends);
}

UNIT_TEST(replayed_answer_changes_only_a_counter)
{
	struct end ends[2];
	struct box box, again;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &box);
	again = box;
	assert_true(end_give(&ends[0], &box));
	assert_true(end_give(&ends[0], &again));
	assert_int_equal(end_count(&ends[0], NIC_CNS_STALE), 1);
	assert_int_equal(heard(&ends[0]), 1);
	stop_pair(ends);
}

UNIT_TEST(answer_to_an_acknowledged_frame_is_stale)
{
	struct end ends[2];
	struct box box, late;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &late);
	end_wait(&ends[1], PS_PER_MS);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box.packet.kind, FRAME_ACK);
	carry(&box, 0);
	assert_true(end_give(&ends[0], &box));
	assert_true(end_give(&ends[0], &late));
	assert_int_equal(end_count(&ends[0], NIC_CNS_STALE), 1);
	assert_int_equal(heard(&ends[0]), 0);
	stop_pair(ends);
}

/* Gives the first end a notification with one change. It must count as foreign. */
#define FOREIGN(ends, good, change_of_cn)                                             \
	do {                                                                          \
		struct box forged = (good);                                           \
		struct cn cn = box_cn(&forged);                                       \
		uint64_t before = end_count(&(ends)[0], NIC_CNS_FOREIGN);             \
                                                                                      \
		change_of_cn;                                                         \
		change(&forged, &cn);                                                 \
		assert_true(end_give(&(ends)[0], &forged));                           \
		assert_int_equal(end_count(&(ends)[0], NIC_CNS_FOREIGN), before + 1); \
		assert_int_equal(heard(&(ends)[0]), 0);                               \
	} while (0)

UNIT_TEST(answer_to_nothing_outstanding_is_foreign)
{
	struct end ends[2];
	struct box box;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &box);
	FOREIGN(ends, box, cn.message ^= 1u << 16); /* another flow */
	FOREIGN(ends, box, cn.message ^= 1);        /* another message */
	FOREIGN(ends, box, cn.sequence++);          /* never sent */
	FOREIGN(ends, box, cn.sequence += 8);       /* the same place in the window */
	FOREIGN(ends, box, cn.path = 1);            /* not its path */
	FOREIGN(ends, box, cn.path = CN_PATH_MAX);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(heard(&ends[0]), 1);
	stop_pair(ends);
}

UNIT_TEST(forged_source_finds_nothing_outstanding)
{
	struct end ends[2];
	struct box box;
	struct frame_header *header = frame_header(box.frame);

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &box);
	header->source_be = htons(2); /* a host to which nothing was sent */
	header->crc_be = htons(frame_header_crc(box.frame));
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CNS_FOREIGN), 1);
	header->source_be = htons(PAIR_HOSTS); /* no host at all */
	header->crc_be = htons(frame_header_crc(box.frame));
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CONTROL_IGNORED), 1);
	assert_int_equal(heard(&ends[0]), 0);
	stop_pair(ends);
}

UNIT_TEST(notification_that_makes_no_sense_is_bad)
{
	struct end ends[2];
	struct box box;
	struct cn cn;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &box);
	cn = box_cn(&box);
	cn.flags |= 0x80;
	change(&box, &cn);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CONTROL_BAD), 1);
	assert_int_equal(heard(&ends[0]), 0);
	stop_pair(ends);
}

UNIT_TEST(interface_without_control_ignores_notifications_and_extensions)
{
	struct end ends[2];
	struct box box, data;

	start(&ends[0], 0, SOURCE_CONTROL_PR_DRB);
	start(&ends[1], 1, SOURCE_CONTROL_NONE);
	end_send(&ends[0], 1, 0, 16);
	assert_true(end_take(&ends[0], &data));
	carry(&data, 0);
	assert_true(end_give(&ends[1], &data));
	assert_int_equal(ends[1].delivered, 1);
	assert_false(end_take(&ends[1], &box));
	stop_pair(ends);
	start(&ends[0], 0, SOURCE_CONTROL_NONE);
	start(&ends[1], 1, SOURCE_CONTROL_NONE);
	box.packet.bytes = 0;
	frame_header(box.frame)->source_be = htons(1);
	frame_header(box.frame)->destination_be = 0;
	frame_header(box.frame)->route_length = 0;
	change(&box, &(struct cn){.path = 0});
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CONTROL_IGNORED), 1);
	stop_pair(ends);
}

UNIT_TEST(wrong_extension_is_counted_and_the_frame_delivered)
{
	for (unsigned sealed = 0; sealed < 2; sealed++) {
		struct end ends[2];
		struct box box;

		start_pair(ends, SOURCE_CONTROL_PR_DRB);
		end_send(&ends[0], 1, 0, 16);
		assert_true(end_take(&ends[0], &box));
		extension_of(&box)->flows = CN_FLOWS_MAX + 1;
		if (sealed)
			latency_seal(extension_of(&box));
		carry(&box, 0);
		assert_true(end_give(&ends[1], &box));
		assert_int_equal(end_count(&ends[1], NIC_EXTENSION_BAD), 1);
		assert_int_equal(ends[1].delivered, 1);
		assert_false(end_take(&ends[1], &box));
		stop_pair(ends);
	}
}

UNIT_TEST(repeated_frame_is_answered_and_heard_again)
{
	struct end ends[2];
	struct box box, lost;

	start_pair(ends, SOURCE_CONTROL_PR_DRB);
	answer(ends, &lost);
	end_wait(&ends[0], 100 * PS_PER_MS);
	assert_true(end_take(&ends[0], &box));
	assert_int_equal(box.packet.sequence, 0);
	carry(&box, 0);
	assert_true(end_give(&ends[1], &box));
	assert_true(end_take(&ends[1], &box));
	carry(&box, 0);
	assert_int_equal(box_cn(&box).sequence, 0);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(heard(&ends[0]), 1);
	stop_pair(ends);
}

UNIT_TEST(high_latency_opens_the_next_path)
{
	struct end ends[2];
	bool used[PATHS] = {false};
	struct box box;

	start_pair(ends, SOURCE_CONTROL_DRB);
	for (unsigned i = 0; i < 64; i++) {
		end_send(&ends[0], 1, 0, 16);
		assert_true(end_take(&ends[0], &box));
		used[box.packet.route_length - 3] = true;
		delay(&box, 100000);
		carry(&box, 0);
		end_give(&ends[1], &box);
		while (end_take(&ends[1], &box)) {
			carry(&box, 0);
			assert_true(end_give(&ends[0], &box));
		}
	}
	assert_true(used[0] && used[1] && used[2]);
	assert_int_equal(ends[1].delivered, 64);
	stop_pair(ends);
}

UNIT_TEST(other_routes_let_the_source_begin_anew)
{
	OWNED(nic_routes) *routes = nic_routes_create(PAIR_HOSTS);
	struct end ends[2];
	struct box box;

	start_pair(ends, SOURCE_CONTROL_DRB);
	answer(ends, &box);
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(ends[0].nic->control->source->path[1].count, PATHS);
	for (uint16_t to = 0; to < PAIR_HOSTS; to++) {
		static const uint8_t route[] = {ROUTE_PORT_BIT | 1, ROUTE_TYPE_HOST};

		nic_routes_add(routes, to, route, sizeof(route));
	}
	assert_int_equal(nic_set_routes(ends[0].nic, routes, ends[0].now), 0);
	assert_int_equal(ends[0].nic->control->source->path[1].count, 1);
	end_send(&ends[0], 1, 0, 16);
	assert_true(end_take(&ends[0], &box));
	assert_int_equal(box.packet.route_length, 2);
	stop_pair(ends);
}

/* Marks the next frame to host 1 until its flow pauses. Carries all answers. */
static void throttle(struct end *ends)
{
	struct box box;

	for (unsigned i = 0; i < 8; i++) {
		end_send(&ends[0], 1, 0, PAIR_MTU);
		while (!end_take(&ends[0], &box))
			end_wait(&ends[0], PS_PER_US);
		carry(&box, FRAME_F_FECN);
		end_give(&ends[1], &box);
		while (end_take(&ends[1], &box)) {
			carry(&box, 0);
			assert_true(end_give(&ends[0], &box));
		}
	}
}

UNIT_TEST(marks_make_a_flow_pause_and_others_pass)
{
	struct end ends[2];
	uint64_t count[SOURCE_CONTROL_COUNTER_COUNT];
	struct box box;

	start_pair(ends, SOURCE_CONTROL_IBA_CC);
	ends[0].nic->choice.byte_fs = 800000000; /* 10 Mbps */
	throttle(ends);
	end_send(&ends[0], 1, 0, PAIR_MTU);
	end_send(&ends[0], 2, 0, PAIR_MTU);
	assert_true(end_take(&ends[0], &box));
	assert_int_equal(box.packet.destination, 2);
	assert_false(end_take(&ends[0], &box));
	for (unsigned i = 0; i < 10000 && !end_take(&ends[0], &box); i++)
		end_wait(&ends[0], PS_PER_US);
	assert_int_equal(box.packet.destination, 1);
	nic_control_counters(ends[0].nic, count);
	assert_true(count[SOURCE_CONTROL_THROTTLED_NS] > 0);
	stop_pair(ends);
}

UNIT_TEST(more_answers_than_there_is_room_for_are_lost_and_counted)
{
	struct end ends[2];
	struct weft_packet packet = {.kind = FRAME_DATA, .source = 0};
	uint8_t frame[FRAME_BYTES_MIN] = {0};

	start_pair(ends, SOURCE_CONTROL_IBA_CC);
	packet.flags = FRAME_F_FECN;
	for (unsigned i = 0; i < NIC_ANSWERS_MAX + 3; i++)
		nic_control_answer(ends[1].nic, &packet, frame);
	assert_int_equal(end_count(&ends[1], NIC_CNS_LOST), 3);
	stop_pair(ends);
}
