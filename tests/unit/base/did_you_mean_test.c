/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <limits.h>

#include "base/name_table.h"

UNIT_TEST(distance_counts_insertions_deletions_changes_and_swaps)
{
	assert_int_equal(did_you_mean_distance("buffer", "buffer"), 0);
	assert_int_equal(did_you_mean_distance("bufer", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("buffeer", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("buffar", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("bufefr", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("", "abc"), 3);
	assert_int_equal(did_you_mean_distance("kitten", "sitting"), 3);
}

UNIT_TEST(the_nearest_name_is_found)
{
	static const char *const names[] = {"switching", "buffer", "mtu", "vcs", "voq"};
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, "bufer");
	for (unsigned i = 0; i < 5; i++)
		did_you_mean_offer(&nearest, names[i]);
	assert_string_equal(nearest.best, "buffer");
}

UNIT_TEST(another_word_is_no_misspelling)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, "xyzzyplugh");
	did_you_mean_offer(&nearest, "buffer");
	assert_null(nearest.best);
}

UNIT_TEST(endless_names_are_near_nothing)
{
	char name[200];

	for (unsigned i = 0; i < sizeof(name) - 1; i++)
		name[i] = 'a';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(did_you_mean_distance(name, "a"), UINT_MAX);
	assert_int_equal(did_you_mean_distance("a", name), UINT_MAX);
}
