/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "setup/link_knobs.h"

#include "unit.h"

UNIT_TEST(a_port_means_both_directions_of_its_cable_and_no_other)
{
	assert_true(link_knobs_mean("s0:1", "s0:1", "h0:0"));
	assert_true(link_knobs_mean("s0:1", "h0:0", "s0:1"));
	assert_false(link_knobs_mean("s0:1", "s0:12", "h0:0"));
	assert_false(link_knobs_mean("s0:12", "s0:1", "h0:0"));
}

UNIT_TEST(an_arrow_means_what_leaves_there)
{
	assert_true(link_knobs_mean("s0:1>", "s0:1", "h0:0"));
	assert_false(link_knobs_mean("s0:1>", "h0:0", "s0:1"));
	assert_true(link_knobs_mean("s0:*>", "s0:7", "s1:0"));
	assert_false(link_knobs_mean("s0:*>", "s1:0", "s0:7"));
}

UNIT_TEST(a_star_means_the_ports_of_one_device)
{
	assert_true(link_knobs_mean("s1:*", "s1:0", "h0:0"));
	assert_true(link_knobs_mean("s1:*", "h0:0", "s1:30"));
	assert_false(link_knobs_mean("s1:*", "s11:0", "h1:0"));
}

UNIT_TEST(all_means_every_direction_and_other_words_none)
{
	static const char *const none[] = {"", ">", "*", ":*", "al", "all>", "s0", "s0:", "s0:1>>"};

	assert_true(link_knobs_mean("all", "s0:1", "h0:0"));
	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(link_knobs_mean(none[i], "s0:1", "h0:0"));
}
