/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/name_table.h"

#include "unit.h"

struct fruit {
	const char *name;
	unsigned seeds;
};

static const struct fruit apple = {"apple", 5}, cherry = {"cherry", 1}, plum = {"plum", 1};
static const void *const fruits[] = {&apple, &cherry, &plum};
static const struct name_table list = WORD_LIST(fruits);

UNIT_TEST(an_entry_is_found_by_its_whole_name)
{
	assert_ptr_equal(name_table_find(&list, "cherry"), &cherry);
	assert_null(name_table_find(&list, "cherr"));
	assert_null(name_table_find(&list, "cherry "));
	assert_null(name_table_find(&list, ""));
}

UNIT_TEST(entries_are_in_order_and_null_follows_the_last)
{
	assert_ptr_equal(name_table_at(&list, 0), &apple);
	assert_ptr_equal(name_table_at(&list, 2), &plum);
	assert_null(name_table_at(&list, 3));
	assert_null(name_table_at(&list, 1000));
}

UNIT_TEST(names_end_with_null)
{
	const char *names[WORD_LIST_MAX + 1];

	name_table_names(&list, names);
	assert_string_equal(names[0], "apple");
	assert_string_equal(names[2], "plum");
	assert_null(names[3]);
}

UNIT_TEST(a_hint_names_all_and_the_nearest)
{
	char hint[WORD_LIST_HINT];

	name_table_hint(&list, NULL, hint);
	assert_string_equal(hint, "apple, cherry, plum");
	name_table_hint(&list, "plun", hint);
	assert_string_equal(hint, "apple, cherry, plum; nearest is 'plum'");
	name_table_hint(&list, "xxxxxxxxxxxx", hint);
	assert_string_equal(hint, "apple, cherry, plum");
}

static const char *nearest_to(const char *text, const char *name)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, text);
	did_you_mean_offer(&nearest, name);
	return nearest.best;
}

UNIT_TEST(another_word_is_no_misspelling)
{
	assert_null(nearest_to("foo", "dor"));
	assert_null(nearest_to("clock", "link"));
	assert_null(nearest_to("x", "y"));
	assert_string_equal(nearest_to("bufer", "buffer"), "buffer");
	assert_string_equal(nearest_to("rnu", "run"), "run");
	assert_string_equal(nearest_to("topolyg", "topology"), "topology");
	assert_string_equal(nearest_to("mem", "memif"), "memif");
}

UNIT_TEST(a_hint_that_is_too_long_is_cut)
{
	static const struct fruit long_name = {
		"a-name-of-a-fruit-that-nobody-would-want-to-type-every-day", 0};
	const void *many[WORD_LIST_MAX];
	const struct name_table long_list = {many, WORD_LIST_MAX};
	char hint[WORD_LIST_HINT];

	for (unsigned i = 0; i < WORD_LIST_MAX; i++)
		many[i] = &long_name;
	name_table_hint(&long_list, long_name.name, hint);
	assert_int_equal(strlen(hint), WORD_LIST_HINT - 1);
}
