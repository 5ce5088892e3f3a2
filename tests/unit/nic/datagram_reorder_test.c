/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/datagram_reorder.h"

#include "base/rng.h"
#include "unit.h"

#define HOSTS  70
#define FRAMES 400

struct bed {
	struct datagram nic; /* host 1 */
	struct weft_packet frame[FRAMES];
};

static void start_with(
	struct bed *bed, uint32_t held_max, bool transit, enum pair_numbers_kind numbers)
{
	const struct itb_config itb = {.pool_bytes = 4096, .frame_bytes_min = 1};
	const struct datagram_config config = {.host = 1,
		.hosts = HOSTS,
		.mtu_bytes = 1000,
		.vcs = 1,
		.queue = 4,
		.itb = transit ? &itb : NULL,
		.held_max = held_max,
		.numbers = numbers};
	const struct link_end_config link = {
		.vcs = 1, .vc_blocks = 1024, .open = true, .session = 1};

	memset(bed, 0, sizeof(*bed));
	assert_int_equal(0, datagram_init(&bed->nic, &config, &link));
	link_end_renew_open(&bed->nic.link);
}

static void start(struct bed *bed, uint32_t held_max, bool transit)
{
	start_with(bed, held_max, transit, PAIR_NUMBERS_ALL);
}

static void stop(struct bed *bed)
{
	assert_null(datagram_reorder_check(&bed->nic));
	datagram_fini(&bed->nic);
}
#define bed_out_of_scope stop

static struct weft_packet *fill(struct bed *bed, unsigned at, uint16_t source, uint32_t sequence)
{
	bed->frame[at] = (struct weft_packet){.bytes = 100,
		.blocks = (uint16_t)frame_blocks(100),
		.source = source,
		.destination = 1,
		.sequence = sequence,
		.flags = FRAME_F_TAIL};
	return &bed->frame[at];
}

static enum datagram_arrival arrive(
	struct bed *bed, unsigned at, uint16_t source, uint32_t sequence, weft_time now)
{
	return datagram_reorder_receive(&bed->nic, fill(bed, at, source, sequence), now);
}

UNIT_TEST(what_comes_after_a_gap_is_held_until_it_is_filled)
{
	OWNED(bed) bed;

	start(&bed, 3, false);
	assert_true(datagram_reorder_is_kept(&bed.nic, fill(&bed, 0, 7, 0)));
	assert_false(datagram_reorder_is_kept(&bed.nic, fill(&bed, 0, 7, 2)));
	assert_int_equal(arrive(&bed, 0, 7, 2, 10), DATAGRAM_HELD);
	assert_int_equal(arrive(&bed, 1, 7, 1, 20), DATAGRAM_HELD);
	assert_false(datagram_reorder_is_kept(&bed.nic, fill(&bed, 2, 7, 0)));
	assert_null(datagram_reorder_release(&bed.nic, 7, 25));
	assert_int_equal(bed.nic.frames_received, 0);
	assert_int_equal(arrive(&bed, 2, 7, 0, 30), DATAGRAM_DELIVERED);
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 7, 30), &bed.frame[1]);
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 7, 30), &bed.frame[0]);
	assert_null(datagram_reorder_release(&bed.nic, 7, 30));
	assert_int_equal(bed.nic.frames_received, 3);
	assert_int_equal(bed.nic.messages_received, 3);
	assert_int_equal(bed.nic.bytes_received, 3 * (100 - FRAME_HEADER_BYTES));
	assert_int_equal(bed.nic.order->reordered, 2);
	assert_int_equal(bed.nic.order->overtaken, 2);
	assert_int_equal(bed.nic.order->max, 2);
	assert_int_equal(bed.nic.order->held_ps, 20 + 10);
	assert_int_equal(bed.nic.out_of_order, 0);
}

UNIT_TEST(sources_do_not_wait_for_each_other)
{
	OWNED(bed) bed;

	start(&bed, 3, false);
	assert_int_equal(arrive(&bed, 0, 69, 1, 0), DATAGRAM_HELD);
	assert_int_equal(arrive(&bed, 1, 5, 1, 0), DATAGRAM_HELD);
	assert_int_equal(arrive(&bed, 2, 69, 0, 0), DATAGRAM_DELIVERED);
	assert_null(datagram_reorder_release(&bed.nic, 5, 0));
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 69, 0), &bed.frame[0]);
	assert_int_equal(arrive(&bed, 3, 5, 0, 0), DATAGRAM_DELIVERED);
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 5, 0), &bed.frame[1]);
}

UNIT_TEST(who_can_hold_no_more_refuses_but_takes_what_it_waits_for)
{
	OWNED(bed) bed;

	start(&bed, 3, false);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(arrive(&bed, i, 7, i + 1, 0), DATAGRAM_HELD);
	assert_int_equal(arrive(&bed, 3, 7, 4, 0), DATAGRAM_REFUSED);
	assert_int_equal(bed.nic.order->no_room, 1);
	assert_int_equal(arrive(&bed, 3, 7, 0, 0), DATAGRAM_DELIVERED);
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(datagram_reorder_release(&bed.nic, 7, 0), &bed.frame[i]);
}

UNIT_TEST(a_last_frame_without_its_end_mark_is_refused)
{
	static const uint8_t route[] = {ROUTE_PORT_BIT, ROUTE_TYPE_ITB, ROUTE_PORT_BIT};
	struct weft_packet *packet;
	OWNED(bed) bed;

	start(&bed, 3, true);
	packet = fill(&bed, 0, 7, 0);
	packet->route = route;
	packet->route_length = sizeof(route);
	assert_int_equal(datagram_reorder_receive(&bed.nic, packet, 0), DATAGRAM_REFUSED);
	packet->flags |= FRAME_F_END_MARK;
	assert_int_equal(datagram_reorder_receive(&bed.nic, packet, 0), DATAGRAM_DELIVERED);
}

UNIT_TEST(nobody_waits_for_what_was_lost)
{
	struct weft_packet *lost;
	OWNED(bed) bed;

	start(&bed, 3, false);
	assert_int_equal(arrive(&bed, 0, 7, 3, 0), DATAGRAM_HELD);
	assert_int_equal(arrive(&bed, 1, 7, 1, 0), DATAGRAM_HELD);
	assert_false(datagram_reorder_lose(&bed.nic, fill(&bed, 2, 7, 2), 5));
	assert_true(datagram_reorder_lose(&bed.nic, fill(&bed, 3, 7, 0), 5));
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 7, 9), &bed.frame[1]);
	lost = datagram_reorder_release(&bed.nic, 7, 9);
	assert_ptr_equal(lost, &bed.frame[2]);
	assert_true(datagram_reorder_is_lost(lost));
	assert_ptr_equal(datagram_reorder_release(&bed.nic, 7, 9), &bed.frame[0]);
	assert_false(datagram_reorder_is_lost(&bed.frame[0]));
	assert_int_equal(bed.nic.frames_received, 2);
	assert_int_equal(bed.nic.held, 0);
	assert_int_equal(bed.nic.order->reordered, 2);
}

/* Frames of one source as they arrive, some never. The reference classifies each frame from all
 * earlier arrivals. */
struct load {
	uint32_t number[FRAMES];
	bool lost[FRAMES];
	uint64_t overtaken, held;
};

static void draw(struct load *load, struct rng *rng)
{
	uint32_t latest = 0, next = 0;
	bool come[FRAMES] = {false};

	*load = (struct load){.overtaken = 0};
	for (unsigned i = 0; i < FRAMES; i++)
		load->number[i] = i;
	/* Adjacent frames change places. */
	for (unsigned i = 0; i < FRAMES; i++) {
		unsigned with = i + (unsigned)rng_below(rng, 12);
		uint32_t number = load->number[i];

		with = with < FRAMES ? with : FRAMES - 1;
		load->number[i] = load->number[with];
		load->number[with] = number;
	}
	for (unsigned i = 0; i < FRAMES; i++) {
		uint32_t number = load->number[i];

		load->lost[i] = rng_below(rng, 10) == 0;
		come[number] = true;
		if (!load->lost[i]) {
			load->overtaken += number < latest;
			load->held += number != next;
			latest = number + 1 > latest ? number + 1 : latest;
		}
		while (next < FRAMES && come[next])
			next++;
	}
}

static void expect(const struct weft_packet *packet, uint32_t *next)
{
	assert_int_equal(packet->sequence, *next);
	(*next)++;
}

UNIT_TEST(each_comes_once_and_in_order_whatever_overtakes_or_is_lost)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint32_t next = 0;
		struct load load;
		struct rng rng;
		OWNED(bed) bed;

		rng_init(&rng, seed, 0, 0);
		draw(&load, &rng);
		start_with(&bed, UINT32_MAX, false, (enum pair_numbers_kind)(seed % 3));
		for (unsigned i = 0; i < FRAMES; i++) {
			struct weft_packet *packet = fill(&bed, i, 9, load.number[i]);
			bool now = load.lost[i] ? datagram_reorder_lose(&bed.nic, packet, i)
						: datagram_reorder_receive(&bed.nic, packet, i) ==
							  DATAGRAM_DELIVERED;

			if (now)
				expect(packet, &next);
			while (now && (packet = datagram_reorder_release(&bed.nic, 9, i)) != NULL)
				expect(packet, &next);
			assert_null(datagram_reorder_check(&bed.nic));
		}
		assert_int_equal(next, FRAMES);
		assert_int_equal(bed.nic.held, 0);
		assert_int_equal(bed.nic.out_of_order, 0);
		assert_int_equal(bed.nic.order->reordered, load.held);
		assert_int_equal(bed.nic.order->overtaken, load.overtaken);
	}
}

UNIT_TEST(a_number_that_was_lost_here_is_told)
{
	OWNED(bed) bed;

	start(&bed, 3, false);
	assert_false(datagram_failed(&bed.nic));
	bed.nic.order->latest.failed = true;
	assert_true(datagram_failed(&bed.nic));
}
