/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/voq.h"

#include "base/rng.h"
#include "unit.h"

#define PACKETS 64

struct fixture {
	struct voq queue;
	struct weft_packet packet[PACKETS];
};

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){0};
	for (unsigned i = 0; i < PACKETS; i++)
		fixture.packet[i].blocks = (uint16_t)(i + 1);
	*state = &fixture;
	return 0;
}

#define TEST(name) UNIT_BED(name, set_up, NULL, struct fixture *f)

TEST(packets_leave_in_the_order_of_arrival)
{
	for (unsigned i = 0; i < PACKETS; i++)
		voq_push(&f->queue, &f->packet[i]);
	for (unsigned i = 0; i < PACKETS; i++)
		assert_ptr_equal(voq_pop(&f->queue), &f->packet[i]);
	assert_null(f->queue.head);
}

TEST(order_holds_however_pushes_and_pops_are_mixed)
{
	uint64_t pushed = 0, popped = 0;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	while (popped < 10000) {
		if (pushed - popped < PACKETS && rng_below(&rng, 2) == 0)
			voq_push(&f->queue, &f->packet[pushed++ % PACKETS]);
		else if (f->queue.head != NULL)
			assert_ptr_equal(voq_pop(&f->queue), &f->packet[popped++ % PACKETS]);
	}
}

TEST(a_push_tells_whether_the_head_is_new)
{
	assert_true(voq_push(&f->queue, &f->packet[0]));
	assert_false(voq_push(&f->queue, &f->packet[1]));
	voq_pop(&f->queue);
	assert_false(voq_push(&f->queue, &f->packet[2]));
	voq_pop(&f->queue);
	voq_pop(&f->queue);
	assert_true(voq_push(&f->queue, &f->packet[3]));
}

TEST(the_blocks_are_those_of_the_packets_in_it)
{
	for (unsigned i = 0; i < 5; i++)
		voq_push(&f->queue, &f->packet[i]);
	assert_int_equal(f->queue.blocks, 1 + 2 + 3 + 4 + 5);
	voq_pop(&f->queue);
	assert_int_equal(f->queue.blocks, 2 + 3 + 4 + 5);
}

TEST(the_wait_of_a_head_counts_from_its_first_stall)
{
	voq_push(&f->queue, &f->packet[0]);
	voq_stall(&f->queue, 100);
	voq_stall(&f->queue, 200);
	assert_int_equal(f->queue.stalled_at, 100);
}

TEST(the_next_head_has_not_waited_yet)
{
	voq_push(&f->queue, &f->packet[0]);
	voq_push(&f->queue, &f->packet[1]);
	voq_stall(&f->queue, 100);
	voq_pop(&f->queue);
	assert_int_equal(f->queue.stalled_at, 0);
	voq_stall(&f->queue, 300);
	assert_int_equal(f->queue.stalled_at, 300);
}

TEST(a_stall_at_time_zero_is_a_stall)
{
	voq_push(&f->queue, &f->packet[0]);
	voq_stall(&f->queue, 0);
	assert_true(f->queue.stalled_at != 0);
}

TEST(a_stall_marks_the_packet_that_is_the_head)
{
	voq_push(&f->queue, &f->packet[0]);
	voq_push(&f->queue, &f->packet[1]);
	voq_stall(&f->queue, 1);
	assert_int_equal(f->packet[0].stalled, 1);
	assert_int_equal(f->packet[1].stalled, 0);
}
