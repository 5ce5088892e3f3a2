/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <math.h>

#include "stats/steadiness.h"

UNIT_TEST(students_t_is_that_of_the_tables)
{
	/* Two-sided 95 %, as in published tables of the distribution. */
	static const struct {
		unsigned degrees;
		double t;
	} table[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {5, 2.571}, {6, 2.447},
		{7, 2.365}, {9, 2.262}, {10, 2.228}, {19, 2.093}, {30, 2.042}, {60, 2.000},
		{120, 1.980}, {1000, 1.962}};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_true(fabs(student_t_95(table[i].degrees) - table[i].t) < 0.0006);
}

UNIT_TEST(the_distribution_is_known_where_it_is_simple)
{
	/* With one degree of freedom, it is Cauchy's; with two, t / √(2 + t²). */
	assert_true(fabs(student_t_within(1, 1) - 0.5) < 1e-12);
	assert_true(fabs(student_t_within(1, 2) - 1 / sqrt(3)) < 1e-12);
	assert_true(fabs(student_t_within(0, 7)) < 1e-12);
}

UNIT_TEST(an_interval_is_t_times_the_error_of_the_mean)
{
	const double value[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* mean 5, squares 32 */
	struct confidence c = confidence_of(value, 8);

	assert_int_equal(c.count, 8);
	assert_true(fabs(c.mean - 5) < 1e-12);
	assert_true(fabs(c.half_width - 2.364624 * sqrt(32.0 / 7 / 8)) < 1e-5);
}

UNIT_TEST(equal_values_leave_no_doubt)
{
	const double value[] = {0.25, 0.25, 0.25};

	assert_true(confidence_of(value, 3).half_width == 0);
}

UNIT_TEST(one_value_has_no_interval)
{
	const double value[] = {3};

	assert_true(confidence_of(value, 1).mean == 3);
	assert_true(isnan(confidence_of(value, 1).half_width));
	assert_int_equal(confidence_of(value, 0).count, 0);
}
