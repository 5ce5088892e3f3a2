/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Control frames of one channel that arrive at the same time are in the order in which they were
 * sent, regardless of the free records that the previous run left. */

#include "virtual/virtual_control.h"
#include "virtual_lab.h"

#define FRAMES 5

static const char tree[] = "weft: run/1\n"
			   "topology: \"rlft:ports=4,stages=2\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "measure: {warmup: 0ms, duration: 100us, sample: 100us}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 10%, message: 1000B}\n";

/* Leaves free records so that they are taken in this order. */
static void free_in_order(struct virtual_fabric *fabric, const uint32_t *order)
{
	for (unsigned i = 0; i < FRAMES; i++)
		assert_int_equal(virtual_control_take(fabric, &fabric->credits), i);
	for (unsigned i = FRAMES; i-- > 0;)
		virtual_control_give(&fabric->credits, order[i]);
}

static void expect_in_order(struct virtual_fabric *fabric, uint32_t min)
{
	struct sim_event event = {0};

	for (unsigned i = 0; i < FRAMES; i++) {
		assert_true(event_queue_pop(fabric->events, WEFT_TIME_NEVER, &event));
		assert_int_equal(event.at, 30 * PS_PER_NS);
		assert_int_equal(virtual_credit_at(fabric, event.item)->limit, min + i);
		virtual_control_give(&fabric->credits, event.item);
	}
	assert_true(event_queue_is_empty(fabric->events));
}

UNIT_TEST(credit_frames_of_one_time_arrive_in_the_order_sent)
{
	static const uint32_t order[][FRAMES] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1},
		{1, 0, 4, 2, 3}, {3, 4, 0, 1, 2}};

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		OWNED(virtual_lab) lab;
		struct link_end *end;
		uint32_t min;

		virtual_lab_open(&lab, tree, NULL, 0);
		end = &lab.fabric->host[1].nic.link;
		min = credit_limit(&end->rx[0]);
		free_in_order(lab.fabric, order[i]);
		for (unsigned k = 0; k < FRAMES; k++) {
			virtual_send_credit(
				lab.fabric, end, virtual_host_channel(lab.fabric, 1), 0);
			end->rx[0].received++;
			end->rx[0].released++;
		}
		expect_in_order(lab.fabric, min);
	}
}
