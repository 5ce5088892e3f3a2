/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "permutation_file.h"

#include <string.h>

#include "traffic.h"
#include "unit.h"

#define HOSTS 12

static int parse(uint16_t to[HOSTS], const char *text, struct fault *fault)
{
	return permutation_parse(to, HOSTS, text, strlen(text), "p.txt", fault);
}

static void names_numbers_and_comments_are_understood(void **state)
{
	uint16_t to[HOSTS];
	struct fault fault;

	assert_int_equal(
		parse(to, "# a comment\n\nh0 h5\n  1\t11 # why\nh10 0\r\nh5 h1", &fault), 0);
	assert_int_equal(to[0], 5);
	assert_int_equal(to[1], 11);
	assert_int_equal(to[10], 0);
	assert_int_equal(to[5], 1);
	assert_int_equal(to[2], TRAFFIC_NOWHERE);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{"h0 h1\nh0 h2\n", "p.txt:2:3: this host sends"},
		{"h0 h1\nh2 h1\n", "p.txt:2:6: another host sends to this one"},
		{"h0 h12\n", "p.txt:1:4: there is no such host"},
		{"h0 99999999999999999999\n", "p.txt:1:4: there is no such host"},
		{"h0\n", "p.txt:1:3: not a host"},
		{"x0 h1\n", "p.txt:1:1: not a host"},
		{"h0 h1 h2\n", "p.txt:1:7: more than two"},
		{"h0x h1\n", "p.txt:1:1: not a host"},
		{"h h1\n", "p.txt:1:1: not a host"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t to[HOSTS];
		struct fault fault = {""};

		assert_int_equal(parse(to, cases[i].text, &fault), -EINVAL);
		fault.text[strlen(cases[i].place)] = 0;
		assert_string_equal(fault.text, cases[i].place);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names_numbers_and_comments_are_understood),
	cmocka_unit_test(what_is_wrong_is_said_with_its_place),
};

UNIT_MAIN(tests)
