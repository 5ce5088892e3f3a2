/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "process/lab_process.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"

#define FOLDER "/tmp/weft-rendezvous-XXXXXX"

UNIT_TEST(processes_of_a_lab_agree_on_one_clock)
{
	char folder[] = FOLDER, path[64];
	struct clock first, second;
	struct error error = {""};

	assert_non_null(mkdtemp(folder));
	assert_int_equal(lab_clock(folder, 10, &first, &error), 0);
	assert_int_equal(lab_clock(folder, 10, &second, &error), 0);
	assert_int_equal(first.hz, second.hz);
	assert_int_equal(first.origin_tsc, second.origin_tsc);
	assert_int_equal(first.dilation, 10);
	assert_int_equal(second.dilation, 10);
	assert_int_equal(lab_clock(folder, 1, &second, &error), -EINVAL);
	assert_non_null(strstr(error.text, "has dilation 10, but this process has 1"));
	snprintf(path, sizeof(path), "%s/clock", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0); /* nothing else is left in it */
}

/* Otherwise, another process would read an empty clock. A limit on the file size replaces a full
 * disk. */
UNIT_TEST(a_clock_that_does_not_fit_is_an_error_and_leaves_no_file)
{
	char folder[] = FOLDER;
	struct rlimit before, none;
	struct error error = {""};
	struct clock clock;
	int result;

	assert_non_null(mkdtemp(folder));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	result = lab_clock(folder, 1, &clock, &error);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(result, -EFBIG);
	assert_non_null(strstr(error.text, "cannot be written: File too large"));
	assert_int_equal(rmdir(folder), 0);
}
