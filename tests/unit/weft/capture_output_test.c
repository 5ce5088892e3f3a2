/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* When a capture continues in the next file. */

#include "capture/pcapng_merge.h"

#include <errno.h>

#include "base/weft_time.h"
#include "unit.h"

UNIT_TEST(a_file_ends_at_a_size_or_a_time_and_the_last_ones_are_kept)
{
	struct capture_limits limits = {0};

	assert_int_equal(capture_limits_parse(&limits, "100MB", NULL), 0);
	assert_int_equal(limits.rotate_bytes, 100000000);
	assert_int_equal(limits.files, 0);
	limits = (struct capture_limits){0};
	assert_int_equal(capture_limits_parse(&limits, "60s,99999", NULL), 0);
	assert_int_equal(limits.rotate_ns, 60000000000);
	assert_int_equal(limits.files, 99999);
}

UNIT_TEST(a_number_of_files_that_is_out_of_range_is_refused)
{
	static const char *const numbers[] = {"", "1", "-2", " 3", "+3", "3x", "100000",
		"4294967298", "18446744073709551618", "-18446744073709551613"};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct capture_limits limits = {0};
		struct error error = {""};
		char text[64];

		snprintf(text, sizeof(text), "1MB,%s", numbers[i]);
		assert_int_equal(capture_limits_parse(&limits, text, &error), -EINVAL);
		assert_non_null(strstr(error.text, "expected 2 to 99999 files"));
	}
}
