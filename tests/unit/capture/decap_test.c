/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Packets put into frames are extracted unchanged, whatever the order of the frames. Damaged and
 * missing frames cost only the packets to which they belong. */

#include "capture/decap.h"

#include "tap_frames.h"
#include "unit.h"

#define PACKETS 400
#define FRAMES  (PACKETS * 20)

struct sent {
	uint8_t bytes[1400], frame[20][FRAME_HEADER_BYTES + 1400];
	uint32_t packet_at, packet_bytes, frame_bytes[20], frames, next;
	bool lost; /* a frame of it */
	bool found;
};

static struct sent *sent;

static int set_up(void **state)
{
	sent = calloc(PACKETS, sizeof(*sent));
	return sent != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	free(sent);
	return 0;
}

static void cut(struct rng *rng, unsigned i)
{
	struct sent *one = &sent[i];
	uint32_t part = 64 + (uint32_t)rng_below(rng, 1500), at = 0, message_bytes;
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = (uint16_t)rng_below(rng, 4),
		.destination = (uint16_t)(4 + rng_below(rng, 4)),
		.message = i,
		.sequence = (uint32_t)rng_next(rng)};

	memset(one, 0, sizeof(*one));
	message_bytes = tap_frames_draw_message(rng, one->bytes, &one->packet_at);
	one->packet_bytes = message_bytes - one->packet_at;
	/* Distinguishes it from all others. */
	memcpy(one->bytes + message_bytes - 4, &(uint32_t){i}, 4);
	while (at < message_bytes) {
		uint32_t bytes = message_bytes - at < part ? message_bytes - at : part;

		one->frame_bytes[one->frames] =
			tap_frames_build(one->frame[one->frames], &fields, one->bytes + at, bytes);
		one->frames++;
		fields.sequence++;
		at += bytes;
	}
}

/* The first frame, then the others in any order. */
static void shuffle(struct rng *rng, struct sent *one)
{
	for (uint32_t i = one->frames; i-- > 2;) {
		uint32_t other = 1 + (uint32_t)rng_below(rng, i), bytes = one->frame_bytes[i];
		static uint8_t frame[sizeof(one->frame[0])];

		memcpy(frame, one->frame[i], sizeof(frame));
		memcpy(one->frame[i], one->frame[other], sizeof(frame));
		memcpy(one->frame[other], frame, sizeof(frame));
		one->frame_bytes[i] = one->frame_bytes[other];
		one->frame_bytes[other] = bytes;
	}
}

static void check(const struct decap_packet *packet)
{
	uint32_t i;

	memcpy(&i, packet->bytes + packet->packet_bytes - 4, 4);
	assert_true(i < PACKETS);
	assert_int_equal(packet->packet_bytes, sent[i].packet_bytes);
	assert_int_equal(packet->captured_bytes, sent[i].packet_bytes);
	assert_memory_equal(packet->bytes, sent[i].bytes + sent[i].packet_at, packet->packet_bytes);
	assert_false(sent[i].lost);
	assert_false(sent[i].found);
	sent[i].found = true;
}

static void add(struct decap *decap, unsigned i)
{
	struct sent *one = &sent[i];
	const struct decap_frame frame = {one->frame[one->next], one->frame_bytes[one->next],
		one->frame_bytes[one->next], i % 3, i % 2};
	struct decap_packet packet;

	one->next++;
	if (decap_add(decap, &frame, &packet) == 1)
		check(&packet);
}

static unsigned run(uint32_t loss_ppm, bool damage, struct decap_counts *counts)
{
	struct decap *decap = decap_create();
	unsigned lost = 0, missing = 0, left = PACKETS;
	struct rng rng;

	rng_init(&rng, 5, loss_ppm, damage);
	for (unsigned i = 0; i < PACKETS; i++) {
		cut(&rng, i);
		shuffle(&rng, &sent[i]);
	}
	while (left > 0) {
		unsigned i = (unsigned)rng_below(&rng, PACKETS);
		struct sent *one = &sent[i];

		if (one->next == one->frames)
			continue;
		left -= one->next + 1 == one->frames;
		if (rng_chance_ppm(&rng, loss_ppm)) {
			one->lost = true;
			if (!damage) {
				one->next++;
				continue;
			}
			one->frame[one->next]
				  [14 + rng_below(&rng, one->frame_bytes[one->next] - 20)] ^=
				(uint8_t)(1u << rng_below(&rng, 8));
		}
		add(decap, i);
	}
	for (unsigned i = 0; i < PACKETS; i++) {
		lost += sent[i].lost;
		missing += !sent[i].found;
	}
	*counts = decap_end(decap);
	decap_destroy(decap);
	assert_int_equal(counts->packets, PACKETS - missing);
	assert_int_equal(missing, lost);
	return lost;
}

UNIT_TEST(every_packet_comes_out_as_it_went_in)
{
	struct decap_counts counts;

	assert_int_equal(run(0, false, &counts), 0);
	assert_int_equal(counts.incomplete, 0);
	assert_int_equal(counts.other, 0);
	assert_true(counts.frames > PACKETS + 100);
}

UNIT_TEST(a_frame_that_is_missing_costs_its_packet_alone)
{
	struct decap_counts counts;
	unsigned lost = run(100000, false, &counts);

	assert_in_range(lost, 20, PACKETS / 2);
	assert_true(counts.incomplete > 0);
}

UNIT_TEST(a_frame_that_is_damaged_costs_its_packet_alone)
{
	struct decap_counts counts;
	unsigned lost = run(100000, true, &counts);

	assert_in_range(lost, 20, PACKETS / 2);
	assert_true(counts.other >= lost);
}

UNIT_TEST(a_packet_that_the_capture_cut_off_keeps_its_length)
{
	struct decap *decap = decap_create();
	struct decap_packet packet;
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	do
		cut(&rng, 0);
	while (sent[0].frames > 1 || sent[0].packet_bytes < 200 || sent[0].packet_at > 0);
	const struct decap_frame frame = {
		sent[0].frame[0], FRAME_HEADER_BYTES + 50, sent[0].frame_bytes[0], 0, 0};

	assert_int_equal(decap_add(decap, &frame, &packet), 1);
	assert_int_equal(packet.packet_bytes, sent[0].packet_bytes);
	assert_int_equal(packet.captured_bytes, 50);
	assert_memory_equal(packet.bytes, sent[0].bytes, 50);
	decap_destroy(decap);
}

UNIT_MAIN(set_up, tear_down)
