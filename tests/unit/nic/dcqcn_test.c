/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/dcqcn.h"

#include "unit.h"

#define TO    1
#define TIMER 55000u

static struct dcqcn dcqcn;

static int start(void **state)
{
	const struct dcqcn_config config = {.alpha_timer_ns = TIMER,
		.rate_timer_ns = TIMER,
		.rate_bytes_ns = UINT64_C(1) << 40,
		.gain = 256,
		.fast = 5,
		.additive = DCQCN_ONE / 1000,
		.hyper = DCQCN_ONE / 100,
		.min = DCQCN_ONE / 1000};

	assert_int_equal(0, dcqcn_init(&dcqcn, &config, 3));
	return 0;
}

static int end(void **state)
{
	dcqcn_fini(&dcqcn);
	return 0;
}

#define TEST(name) UNIT_WITH(name, start, end)

/* In thousandths of the link's rate. */
static unsigned rate(uint64_t now_ns)
{
	return (dcqcn_rate(&dcqcn, TO, now_ns) + DCQCN_ONE / 2000) / (DCQCN_ONE / 1000);
}

TEST(a_flow_starts_at_the_rate_of_the_link)
{
	assert_int_equal(rate(0), 1000);
	dcqcn_sent(&dcqcn, TO, 80, 100);
	assert_int_equal(0, dcqcn.flow[TO].ready_ns);
}

TEST(the_first_notification_halves_the_rate)
{
	dcqcn_notify(&dcqcn, TO, 0);
	assert_int_equal(rate(0), 500);
	dcqcn_sent(&dcqcn, TO, 80, 100);
	assert_int_equal(100 + 160, dcqcn.flow[TO].ready_ns);
	assert_int_equal(DCQCN_ONE, dcqcn_rate(&dcqcn, 2, 0));
}

TEST(fast_recovery_halves_the_distance_to_the_former_rate)
{
	dcqcn_notify(&dcqcn, TO, 0);
	for (unsigned i = 1, below = 500; i < 5; i++) {
		below /= 2;
		assert_in_range(rate(i * TIMER), 1000 - below - 1, 1000 - below);
	}
}

TEST(then_the_target_rises_by_a_constant)
{
	dcqcn_notify(&dcqcn, TO, 0);
	dcqcn_notify(&dcqcn, TO, 0);
	dcqcn_notify(&dcqcn, TO, 0);
	assert_int_equal(rate(0), 125);
	assert_int_equal(rate(4 * TIMER), 242); /* the target is 250 */
	assert_int_equal(rate(24 * TIMER), 269);
	assert_int_equal(rate(34 * TIMER), 279);
}

TEST(both_timer_and_bytes_raise_it_much_faster)
{
	dcqcn_notify(&dcqcn, TO, 0);
	dcqcn_notify(&dcqcn, TO, 0);
	dcqcn.config.rate_bytes_ns = 1000;
	for (unsigned i = 0; i < 8; i++)
		dcqcn_sent(&dcqcn, TO, 1000, 0);
	assert_int_equal(rate(0), 502);
	assert_true(rate(8 * TIMER) > 540);
}

TEST(without_notifications_the_estimate_decays)
{
	dcqcn_notify(&dcqcn, TO, 0);
	assert_int_equal(rate(2000 * TIMER), 1000);
	dcqcn_notify(&dcqcn, TO, 2000 * TIMER);
	assert_int_equal(rate(2000 * TIMER), 1000);
}

TEST(no_rate_falls_below_the_minimum)
{
	for (unsigned i = 0; i < 100; i++)
		dcqcn_notify(&dcqcn, TO, 0);
	assert_int_equal(rate(0), 1);
}
