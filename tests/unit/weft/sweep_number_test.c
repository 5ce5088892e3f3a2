/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Texts of varied keys as numbers. */

#include "unit.h"

#include <math.h>

#include "sweep_number.h"

UNIT_TEST(quantities_are_in_the_units_of_results)
{
	static const struct {
		const char *text, *suffix;
		double value;
	} cases[] = {
		{"10%", "_share", 0.1},
		{"0.5%", "_share", 0.005},
		{"4KiB", "_bytes", 4096},
		{"1.5us", "_ns", 1500},
		{"30ps", "_ns", 0.03},
		{"100Gbps", "_bps", 1e11},
		{"4", "", 4},
		{"-0.25", "", -0.25},
		{"1e3", "", 1000},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sweep_number number;

		assert_true(sweep_number_parse(cases[i].text, &number));
		assert_string_equal(sweep_number_suffix(number.kind), cases[i].suffix);
		assert_true(fabs(number.value - cases[i].value) <= 1e-12 * fabs(cases[i].value));
	}
}

UNIT_TEST(words_are_no_numbers)
{
	static const char *const words[] = {"", "ud", "true", "inf", "nan", "0x10", "4 KiB", "10 %",
		"[h4]", "1.2.3", "e", "4KiBs", "rlft:ports=4,stages=2"};
	struct sweep_number number;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(sweep_number_parse(words[i], &number));
}

UNIT_MAIN(NULL, NULL)
