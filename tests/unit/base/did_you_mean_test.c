/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <limits.h>

#include "did_you_mean.h"

static void distance_counts_insertions_deletions_changes_and_swaps(void **state)
{
	assert_int_equal(did_you_mean_distance("buffer", "buffer"), 0);
	assert_int_equal(did_you_mean_distance("bufer", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("buffeer", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("buffar", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("bufefr", "buffer"), 1);
	assert_int_equal(did_you_mean_distance("", "abc"), 3);
	assert_int_equal(did_you_mean_distance("kitten", "sitting"), 3);
}

static void the_nearest_name_is_found(void **state)
{
	static const char *const names[] = {"switching", "buffer", "mtu", "vcs", "voq"};
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, "bufer");
	for (unsigned i = 0; i < 5; i++)
		did_you_mean_offer(&nearest, names[i]);
	assert_string_equal(nearest.best, "buffer");
}

static void another_word_is_no_misspelling(void **state)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, "xyzzyplugh");
	did_you_mean_offer(&nearest, "buffer");
	assert_null(nearest.best);
}

static void endless_names_are_near_nothing(void **state)
{
	char name[200];

	for (unsigned i = 0; i < sizeof(name) - 1; i++)
		name[i] = 'a';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(did_you_mean_distance(name, "a"), UINT_MAX);
	assert_int_equal(did_you_mean_distance("a", name), UINT_MAX);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(distance_counts_insertions_deletions_changes_and_swaps),
	cmocka_unit_test(the_nearest_name_is_found),
	cmocka_unit_test(another_word_is_no_misspelling),
	cmocka_unit_test(endless_names_are_near_nothing),
};

UNIT_MAIN(tests)
