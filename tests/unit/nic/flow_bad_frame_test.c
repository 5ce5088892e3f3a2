/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The cost of one bad frame. Two hosts exchange messages over a path that takes one step. Once, at
 * a random time, a frame is lost, damaged, duplicated, resent later, or forged. Everything arrives
 * once and in order, no host gives up, and the exchange takes at most one more retry time. */

#include "base/rng.h"
#include "nic/flow.h"
#include "nic_pair.h"

#define STEP_PS     (100 * PS_PER_US)
#define RETRY_STEPS 200u /* end_config(): 20 ms */
#define SEND_STEPS  60u
#define MESSAGES    30u /* per host, in the first SEND_STEPS */
#define QUEUE       256u
#define SEEDS       300u
#define LATE_STEPS  500u /* maximum additional delay of a resent frame */
#define SESSION(at) (40u + (at))
#define LIMIT_STEPS 20000u

enum bad { BAD_NONE, BAD_LOSS, BAD_DAMAGE, BAD_DOUBLE, BAD_REPLAY, BAD_FORGED, BAD_COUNT };

struct queue {
	struct box box[QUEUE];
	unsigned count;
};

struct bed {
	struct end end[2];
	struct queue on_the_way[2]; /* to */
	struct box kept;            /* to be resent to 'kept_to' in step 'kept_at' */
	unsigned kept_to, kept_at;
	enum bad bad;
	unsigned bad_at; /* index of the frame in sending order */
	unsigned sent_frames, step;
	struct rng rng;
};

static void push(struct queue *queue, const struct box *box)
{
	assert_true(queue->count < QUEUE);
	queue->box[queue->count++] = *box;
}

static void forge(struct bed *bed, unsigned to)
{
	static const uint8_t kinds[] = {FRAME_DATA, FRAME_ACK, FRAME_FLOW};
	struct frame_fields fields = {.kind = kinds[rng_below(&bed->rng, 3)],
		.source = (uint16_t)(1 - to),
		.destination = (uint16_t)to,
		.flags = FRAME_F_TAIL,
		.message = (uint32_t)rng_next(&bed->rng) & 0xFFFF0000,
		.sequence = rng_chance_ppm(&bed->rng, 500000) ? 0 : (uint32_t)rng_next(&bed->rng)};
	struct box box;

	for (unsigned i = 0; i < CONTROL_FLOW_BYTES; i++)
		box.frame[FRAME_HEADER_BYTES + i] = (uint8_t)rng_next(&bed->rng);
	if (fields.kind == FRAME_FLOW)
		box.frame[FRAME_HEADER_BYTES + 2] = (uint8_t)(1 + rng_below(&bed->rng, 2));
	fields.payload_bytes = fields.kind == FRAME_ACK ? CONTROL_ACK_BYTES : CONTROL_FLOW_BYTES;
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	push(&bed->on_the_way[to], &box);
}

static void spoil(struct bed *bed, unsigned to, struct box *box)
{
	struct queue *queue = &bed->on_the_way[to];

	switch (bed->bad) {
	case BAD_LOSS:
		return;
	case BAD_DAMAGE:
		box->frame[FRAME_HEADER_BYTES] ^= 4;
		break;
	case BAD_DOUBLE:
		push(queue, box);
		break;
	case BAD_REPLAY:
		bed->kept = *box;
		bed->kept_to = to;
		bed->kept_at = bed->step + 1 + (unsigned)rng_below(&bed->rng, LATE_STEPS);
		break;
	default:
		forge(bed, to);
	}
	push(queue, box);
}

static void send_frames(struct bed *bed, unsigned from)
{
	struct box box;

	while (end_take(&bed->end[from], &box)) {
		if (bed->sent_frames++ == bed->bad_at && bed->bad != BAD_NONE)
			spoil(bed, 1 - from, &box);
		else
			push(&bed->on_the_way[1 - from], &box);
	}
}

/* Frames that the interface stores for later must stay in place, because they come from a pool. */
static void receive_frames(struct bed *bed, unsigned to)
{
	static struct box pool[2][64];
	struct queue *queue = &bed->on_the_way[to];

	for (unsigned i = 0; i < queue->count; i++) {
		unsigned at = 0;

		while (pool[to][at].held)
			assert_true(++at < 64);
		pool[to][at] = queue->box[i];
		end_give(&bed->end[to], &pool[to][at]);
	}
	queue->count = 0;
}

static void step(struct bed *bed)
{
	bed->step++;
	for (unsigned i = 0; i < 2; i++) {
		if (bed->kept_at == bed->step && bed->kept_to == i)
			push(&bed->on_the_way[i], &bed->kept);
		receive_frames(bed, i);
		end_wait(&bed->end[i], STEP_PS);
	}
	send_frames(bed, 0);
	send_frames(bed, 1);
}

static void check(const struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct end *end = &bed->end[i];

		assert_int_equal(end->acked, MESSAGES);
		assert_int_equal(end->tails, MESSAGES);
		assert_int_equal(end->new_flows, 1);
		for (unsigned j = 0; j < end->delivered; j++)
			assert_int_equal(end->sequence[j], j);
		assert_int_equal(end_count(end, NIC_GIVE_UPS), 0);
		assert_int_equal(end_count(end, NIC_FLOW_RESTARTS), 0);
	}
}

static bool busy(const struct bed *bed)
{
	return nic_busy(bed->end[0].nic) || nic_busy(bed->end[1].nic) || bed->step < SEND_STEPS;
}

/* Returns the number of steps until everything was acknowledged. */
static unsigned run(struct bed *bed, uint64_t seed, enum bad bad)
{
	struct rng sizes;
	unsigned sent = 0, steps;

	memset(bed, 0, sizeof(*bed));
	rng_init(&sizes, seed, 1, 0);
	rng_init(&bed->rng, seed, 2, 0);
	bed->bad = bad;
	bed->bad_at = (unsigned)rng_below(&bed->rng, 80);
	for (uint16_t i = 0; i < 2; i++)
		end_start(&bed->end[i], i, SESSION(i));
	while (busy(bed) && bed->step < LIMIT_STEPS) {
		for (; sent < MESSAGES && sent * SEND_STEPS <= bed->step * MESSAGES; sent++)
			for (uint16_t i = 0; i < 2; i++)
				assert_int_equal(end_send(&bed->end[i], 1 - i, 0,
							 20 + (uint32_t)rng_below(&sizes, 200)),
					0);
		step(bed);
	}
	steps = bed->step;
	for (unsigned i = 0; i < LATE_STEPS; i++) /* what is sent again still comes */
		step(bed);
	check(bed);
	for (unsigned i = 0; i < 2; i++)
		end_stop(&bed->end[i]);
	return steps;
}

UNIT_TEST(one_bad_frame_costs_a_retry_time_at_most)
{
	struct bed *bed = malloc(sizeof(*bed));

	assert_non_null(bed);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned usual = run(bed, seed, BAD_NONE);

		for (enum bad bad = BAD_LOSS; bad < BAD_COUNT; bad++) {
			unsigned steps = run(bed, seed, bad);

			if (steps > usual + RETRY_STEPS)
				fail_msg("seed %u, kind %u: %u steps, %u without the bad frame",
					(unsigned)seed, bad, steps, usual);
			/* Frames from unknown hosts and duplicates have no effect. */
			if (bad >= BAD_DOUBLE && steps > usual)
				fail_msg("seed %u, kind %u: %u steps, %u without it",
					(unsigned)seed, bad, steps, usual);
		}
	}
	free(bed);
}
