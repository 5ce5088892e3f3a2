/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/datagram_cuts.h"

#include "unit.h"

#define FRAMES 8

struct bed {
	struct datagram nic; /* host 1 of 70 */
	struct weft_packet frame[FRAMES];
};

static void start(struct bed *bed)
{
	const struct datagram_config config = {.host = 1,
		.hosts = 70,
		.mtu_bytes = 1000,
		.vcs = 1,
		.queue = 4,
		.itb = &(const struct itb_config){.pool_bytes = 4096, .frame_bytes_min = 1},
		.held_max = 3};
	const struct link_end_config link = {.vcs = 1, .vc_blocks = 64, .open = true, .session = 1};

	memset(bed, 0, sizeof(*bed));
	assert_int_equal(0, datagram_init(&bed->nic, &config, &link));
	link_end_renew_open(&bed->nic.link);
}

static void stop(struct bed *bed)
{
	assert_null(datagram_recovery_check(bed->nic.recovery));
	datagram_fini(&bed->nic);
}
#define bed_out_of_scope stop

static struct weft_packet *fill(
	struct bed *bed, unsigned at, uint16_t source, uint16_t destination, uint32_t sequence)
{
	bed->frame[at] = (struct weft_packet){.bytes = 100,
		.blocks = (uint16_t)frame_blocks(100),
		.source = source,
		.destination = destination,
		.sequence = sequence,
		.flags = FRAME_F_TAIL};
	return &bed->frame[at];
}

UNIT_TEST(what_is_reported_goes_again_when_the_report_has_come)
{
	OWNED(bed) bed;

	start(&bed);
	datagram_recovery_report(&bed.nic, fill(&bed, 0, 1, 3, 9), 200);
	datagram_recovery_report(&bed.nic, fill(&bed, 1, 1, 4, 2), 100);
	datagram_recovery_report(&bed.nic, fill(&bed, 2, 1, 5, 2), 200);
	assert_null(datagram_recovery_resend(&bed.nic, 99));
	assert_int_equal(datagram_recovery_due(bed.nic.recovery, 99), 100);
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 100), &bed.frame[1]);
	assert_null(datagram_recovery_resend(&bed.nic, 199));
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 300), &bed.frame[0]);
	assert_int_equal(datagram_recovery_due(bed.nic.recovery, 300), WEFT_TIME_NEVER);
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 300), &bed.frame[2]);
	assert_int_equal(bed.nic.recovery->retransmitted, 3);
}

UNIT_TEST(its_header_is_as_at_first)
{
	struct weft_packet *packet;
	OWNED(bed) bed;

	start(&bed);
	packet = fill(&bed, 0, 1, 3, 9);
	packet->cursor = 4;
	packet->flags |= FRAME_F_ADAPTED | FRAME_F_END_MARK;
	packet->vc = packet->header_vc = packet->vc_next = packet->vc_original = 3;
	packet->stalled = 1;
	datagram_recovery_report(&bed.nic, packet, 1);
	assert_int_equal(packet->cursor | packet->vc | packet->header_vc | packet->vc_next |
				 packet->vc_original | packet->stalled,
		0);
	assert_int_equal(packet->flags, FRAME_F_TAIL);
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 1), packet);
}

UNIT_TEST(it_goes_under_credits)
{
	struct credit_tx *tx;
	OWNED(bed) bed;
	uint32_t sent;

	start(&bed);
	tx = &bed.nic.link.tx[0];
	datagram_recovery_report(&bed.nic, fill(&bed, 0, 1, 3, 9), 1);
	sent = tx->sent;
	tx->limit = sent + frame_blocks(100) - 1;
	assert_null(datagram_recovery_resend(&bed.nic, 1));
	tx->limit++;
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 1), &bed.frame[0]);
	assert_int_equal(tx->sent, sent + frame_blocks(100));
}

static void absorb(struct bed *bed, unsigned frames)
{
	static const uint8_t route[] = {ROUTE_TYPE_ITB, ROUTE_PORT_BIT};

	for (unsigned i = 0; i < frames; i++) {
		struct weft_packet *packet = fill(bed, i, 3, 4, i);

		packet->route = route;
		packet->route_length = sizeof(route);
		assert_true(datagram_absorb(&bed->nic, packet, 1, 2));
	}
}

/* First as many in transit as permitted, then one resent frame, although no other frame waits. */
UNIT_TEST(what_is_in_transit_does_not_starve_it)
{
	unsigned before = 0;
	OWNED(bed) bed;
	bool blocked;

	start(&bed);
	absorb(&bed, 6);
	datagram_recovery_report(&bed.nic, fill(&bed, 6, 1, 3, 9), 1);
	while (datagram_transit(&bed.nic, 0, true, 10, &blocked) != NULL)
		before++;
	assert_int_equal(before, 4);
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 10), &bed.frame[6]);
	assert_non_null(datagram_transit(&bed.nic, 0, true, 10, &blocked));
	assert_non_null(datagram_transit(&bed.nic, 0, true, 10, &blocked));
}

/* The host's own turn: it has frames to send, but no new frame may leave. A frame in transit leaves
 * instead; otherwise, none would. A resent frame may leave, and gets its turn. */
UNIT_TEST(what_may_not_leave_takes_no_turn)
{
	const struct datagram_message own = {.bytes = 100, .destination = 5};
	OWNED(bed) bed;
	bool blocked;

	start(&bed);
	absorb(&bed, 7);
	datagram_send(&bed.nic, &own);
	for (unsigned i = 0; i < 6; i++)
		assert_non_null(datagram_transit(&bed.nic, 1, false, 10, &blocked));
	assert_null(datagram_transit(&bed.nic, 1, true, 10, &blocked));
	datagram_recovery_report(&bed.nic, fill(&bed, 7, 1, 3, 9), 1);
	assert_null(datagram_transit(&bed.nic, 1, false, 10, &blocked));
	assert_ptr_equal(datagram_recovery_resend(&bed.nic, 10), &bed.frame[7]);
	assert_non_null(datagram_transit(&bed.nic, 1, false, 10, &blocked));
}

/* --- frames that cut cables lose --- */

static void start_cuts(struct bed *bed)
{
	start(bed);
	bed->nic.config.retry_ps = 100;
	bed->nic.config.give_up_ps = 8000;
	bed->nic.config.window_frames = 2;
}

static void lose(struct bed *bed, unsigned at, uint16_t destination, uint32_t cable, weft_time now)
{
	struct weft_packet *packet = fill(bed, at, 1, destination, at);

	packet->stalled = DATAGRAM_WAIT_CUT;
	packet->latency_ns = cable;
	datagram_recovery_report(&bed->nic, packet, now);
	datagram_recovery_settle(&bed->nic, now);
}

static struct weft_packet *next(struct bed *bed, weft_time now)
{
	datagram_recovery_settle(&bed->nic, now);
	return datagram_recovery_resend(&bed->nic, now);
}

UNIT_TEST(of_frames_for_a_cut_cable_one_goes_again_after_a_time_that_doubles)
{
	static const weft_time at[] = {100, 300, 700, 1500, 2300};
	OWNED(bed) bed;

	start_cuts(&bed);
	for (unsigned i = 0; i < 3; i++)
		lose(&bed, i, 3, 7, 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_null(next(&bed, at[i] - 1));
		assert_ptr_equal(next(&bed, at[i]), &bed.frame[i % 3]);
		assert_null(next(&bed, at[i]));
		lose(&bed, i % 3, 3, 7, at[i] + 10);
	}
	assert_null(next(&bed, 2400));
	assert_int_equal(datagram_recovery_due(bed.nic.recovery, 2400), 3100);
}

UNIT_TEST(if_that_frame_is_not_reported_lost_the_others_follow)
{
	OWNED(bed) bed;

	start_cuts(&bed);
	for (unsigned i = 0; i < 3; i++)
		lose(&bed, i, 3, 7, 0);
	assert_ptr_equal(next(&bed, 100), &bed.frame[0]);
	assert_null(next(&bed, 199));
	assert_ptr_equal(next(&bed, 200), &bed.frame[1]);
	assert_ptr_equal(next(&bed, 200), &bed.frame[2]);
	assert_int_equal(bed.nic.recovery->pairs, 0);
}

UNIT_TEST(the_wait_for_the_report_of_that_frame_starts_when_it_is_sent)
{
	struct credit_tx *tx;
	OWNED(bed) bed;
	uint32_t limit;

	start_cuts(&bed);
	for (unsigned i = 0; i < 3; i++)
		lose(&bed, i, 3, 7, 0);
	tx = &bed.nic.link.tx[0];
	limit = tx->limit;
	tx->limit = tx->sent;
	assert_null(next(&bed, 100));
	assert_null(next(&bed, 5000));
	assert_int_equal(bed.nic.recovery->waits, 2);
	tx->limit = limit;
	assert_ptr_equal(next(&bed, 5000), &bed.frame[0]);
	assert_null(next(&bed, 5099));
	assert_ptr_equal(next(&bed, 5100), &bed.frame[1]);
}

UNIT_TEST(a_cable_that_is_joined_lets_go_only_the_frames_that_it_lost)
{
	OWNED(bed) bed;

	start_cuts(&bed);
	lose(&bed, 0, 3, 7, 0);
	lose(&bed, 1, 4, 8, 0);
	/* The report of this frame arrives after the cable is joined. */
	fill(&bed, 2, 1, 5, 2)->stalled = DATAGRAM_WAIT_CUT;
	bed.frame[2].latency_ns = 7;
	datagram_recovery_report(&bed.nic, &bed.frame[2], 50);
	datagram_cuts_release(&bed.nic, 7, 20);
	assert_ptr_equal(next(&bed, 20), &bed.frame[2]);
	assert_ptr_equal(next(&bed, 20), &bed.frame[0]);
	assert_null(next(&bed, 99));
	datagram_cuts_release(&bed.nic, DATAGRAM_CAUSE_ANY, 99);
	assert_ptr_equal(next(&bed, 99), &bed.frame[1]);
}

UNIT_TEST(frames_beyond_the_window_wait_without_being_sent)
{
	const struct datagram_message message = {.bytes = 100, .destination = 3};
	struct datagram_origin origin;
	struct weft_packet *packet;
	OWNED(bed) bed;
	uint32_t sent;

	start_cuts(&bed);
	packet = &bed.frame[2];
	lose(&bed, 0, 3, 7, 0);
	lose(&bed, 1, 3, 7, 0);
	sent = bed.nic.link.tx[0].sent;
	datagram_send(&bed.nic, &message);
	assert_true(datagram_inject(&bed.nic, 10, packet, &origin));
	assert_true(datagram_cuts_keep(&bed.nic, packet));
	assert_int_equal(bed.nic.link.tx[0].sent, sent);
	assert_int_equal(bed.nic.frames_sent, 0);
	datagram_cuts_release(&bed.nic, 7, 20);
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(next(&bed, 20), &bed.frame[i]);
	assert_int_equal(bed.nic.recovery->retransmitted, 2);
	assert_int_equal(bed.nic.frames_sent, 1);
}

UNIT_TEST(all_frames_for_a_destination_are_given_up_at_a_time)
{
	unsigned given_up = 0;
	OWNED(bed) bed;

	start_cuts(&bed);
	for (unsigned i = 0; i < 3; i++)
		lose(&bed, i, 3, 7, i);
	assert_ptr_equal(next(&bed, 100), &bed.frame[0]);
	lose(&bed, 0, 3, 7, 110);
	assert_null(next(&bed, 8000));
	for (struct weft_packet *at = bed.nic.recovery->given_up; at != NULL; at = at->next)
		given_up++;
	assert_int_equal(given_up, 3);
	assert_int_equal(bed.nic.recovery->abandoned, 3);
}
