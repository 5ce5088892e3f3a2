/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/iba_cc.h"

#include "unit.h"

#define HOSTS 4
#define TIMER 1000

static struct iba_cc cc;

static struct iba_cc_config config_of(void)
{
	struct iba_cc_config config;

	iba_cc_config_default(&config);
	config.timer_ns = TIMER;
	return config;
}

static void start(const struct iba_cc_config *config)
{
	iba_cc_fini(&cc);
	assert_int_equal(0, iba_cc_init(&cc, config, HOSTS));
}

static void start_default(void)
{
	const struct iba_cc_config config = config_of();

	start(&config);
}

static int end(void **state)
{
	iba_cc_fini(&cc);
	return 0;
}

static void mark(unsigned times, uint16_t destination, uint64_t now)
{
	while (times-- > 0)
		iba_cc_mark(&cc, destination, now);
}

#define TEST(name) UNIT_WITH(name, NULL, end)

TEST(a_linear_entry_is_an_eighth_of_a_packet_an_index)
{
	struct cc_table table;

	cc_table_fill(&table, CC_TABLE_LINEAR);
	assert_int_equal(0, cc_table_delay(&table, 0, 800));
	assert_int_equal(100, cc_table_delay(&table, 1, 800));
	assert_int_equal(1000, cc_table_delay(&table, 10, 800));
	assert_int_equal(12700, cc_table_delay(&table, 127, 800));
}

TEST(an_llnl_entry_grows_with_the_square)
{
	struct cc_table table;

	cc_table_fill(&table, CC_TABLE_LLNL);
	/* floor(i * i * 7 / 106^2 / 0.408): 24 at 127, 0 up to 25, 1 from 26 on. */
	assert_int_equal(24 * 100, cc_table_delay(&table, 127, 800));
	assert_int_equal(0, cc_table_delay(&table, 25, 800));
	assert_int_equal(100, cc_table_delay(&table, 26, 800));
}

TEST(a_shift_divides_and_a_multiplier_multiplies)
{
	struct cc_table table = {.count = 0};

	assert_true(cc_table_add(&table, 0, 3));
	assert_true(cc_table_add(&table, 2, 3));
	assert_int_equal(300, cc_table_delay(&table, 0, 100));
	assert_int_equal(75, cc_table_delay(&table, 1, 100));
}

TEST(a_table_takes_what_its_bits_hold_and_no_more_entries)
{
	struct cc_table table = {.count = 0};

	assert_false(cc_table_add(&table, 4, 1));
	assert_false(cc_table_add(&table, 0, 1 << 14));
	for (unsigned i = 0; i < CC_TABLE_ENTRIES; i++)
		assert_true(cc_table_add(&table, 3, (1 << 14) - 1));
	assert_false(cc_table_add(&table, 0, 1));
}

TEST(an_index_beyond_a_short_table_is_its_last_entry)
{
	struct cc_table table = {.count = 0};

	cc_table_add(&table, 0, 0);
	cc_table_add(&table, 0, 5);
	assert_int_equal(50, cc_table_delay(&table, 100, 10));
}

TEST(a_mark_raises_the_index_by_the_increase)
{
	struct iba_cc_config config = config_of();

	config.increase = 3;
	start(&config);
	mark(2, 1, 0);
	assert_int_equal(6, iba_cc_index(&cc, 1, 0));
}

TEST(the_index_never_passes_the_limit)
{
	struct iba_cc_config config = config_of();

	config.limit = 5;
	start(&config);
	mark(9, 1, 0);
	assert_int_equal(5, iba_cc_index(&cc, 1, 0));
}

TEST(each_expiry_of_the_timer_lowers_the_index_by_one)
{
	start_default();
	mark(5, 1, 10);
	assert_int_equal(5, iba_cc_index(&cc, 1, TIMER - 1));
	assert_int_equal(4, iba_cc_index(&cc, 1, TIMER));
	assert_int_equal(2, iba_cc_index(&cc, 1, 3 * TIMER));
}

TEST(an_expiry_lowers_the_indices_of_all_flows)
{
	start_default();
	mark(5, 1, 10);
	mark(3, 2, 500);
	assert_int_equal(4, iba_cc_index(&cc, 1, TIMER));
	assert_int_equal(2, iba_cc_index(&cc, 2, TIMER));
}

TEST(the_index_never_falls_below_the_minimum)
{
	struct iba_cc_config config = config_of();

	config.min = 2;
	start(&config);
	assert_int_equal(2, iba_cc_index(&cc, 1, 0));
	mark(3, 1, 0);
	assert_int_equal(5, iba_cc_index(&cc, 1, 0));
	assert_int_equal(2, iba_cc_index(&cc, 1, 50 * TIMER));
}

TEST(a_flow_pauses_after_each_packet_as_the_table_says)
{
	start_default();
	mark(16, 1, 0);
	iba_cc_sent(&cc, 1, 80, 100);
	/* 80 for the packet itself, 16 / 8 of it as pause. */
	assert_int_equal(100 + 80 + 160, iba_cc_ready_ns(&cc, 1));
}

TEST(by_destination_other_flows_are_not_held)
{
	start_default();
	mark(16, 1, 0);
	iba_cc_sent(&cc, 1, 80, 100);
	assert_int_equal(0, iba_cc_ready_ns(&cc, 2));
	assert_int_equal(0, iba_cc_index(&cc, 2, 0));
}

TEST(by_host_all_flows_are_one)
{
	struct iba_cc_config config = config_of();

	config.per_host = true;
	start(&config);
	mark(16, 1, 0);
	assert_int_equal(16, iba_cc_index(&cc, 2, 0));
	iba_cc_sent(&cc, 1, 80, 100);
	assert_int_equal(340, iba_cc_ready_ns(&cc, 3));
}

TEST(a_raise_goes_to_the_first_delay_that_suffices)
{
	start_default();
	iba_cc_raise(&cc, 1, 3, 0);
	assert_int_equal(24, iba_cc_index(&cc, 1, 0));
	iba_cc_raise(&cc, 1, 2, 0);
	assert_int_equal(24, iba_cc_index(&cc, 1, 0));
	iba_cc_raise(&cc, 1, 1000, 0);
	assert_int_equal(127, iba_cc_index(&cc, 1, 0));
}

TEST(numbers_out_of_range_are_refused)
{
	struct iba_cc_config config = config_of();

	config.limit = CC_TABLE_ENTRIES;
	assert_int_not_equal(0, iba_cc_init(&cc, &config, HOSTS));
	config = config_of();
	config.min = 128;
	assert_int_not_equal(0, iba_cc_init(&cc, &config, HOSTS));
	config = config_of();
	config.timer_ns = 0;
	assert_int_not_equal(0, iba_cc_init(&cc, &config, HOSTS));
}
