/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* How 'weft lab' reports why a process ended. */

#include "lab/lab_spawn.h"

#include <signal.h>

#include "unit.h"

/* Exit codes and signals as waitpid() packs them. */
#define EXITED(code) ((code) << 8)

static void expect(int status, bool memory, const char *said)
{
	char text[LAB_ENDING_TEXT];

	lab_ending_describe(status, memory, text);
	assert_string_equal(text, said);
}

UNIT_TEST(a_code_and_a_signal_are_told_apart)
{
	expect(EXITED(3), false, "ended with exit code 3");
	expect(EXITED(0), false, "ended with exit code 0");
	expect(SIGSEGV, false, "was killed by signal 11 (Segmentation fault)");
	/* With a core dump. */
	expect(SIGABRT | 0x80, true, "was killed by signal 6 (Aborted)");
}

UNIT_TEST(of_a_kill_it_is_said_how_much_is_known)
{
	expect(SIGKILL, true,
		"was killed by signal 9 (the kernel's out-of-memory killer; see dmesg)");
	expect(SIGKILL, false, "was killed by signal 9 (SIGKILL; see dmesg)");
}

#define KILLED                                                                               \
	"3,812,3280604600,-;Memory cgroup out of memory: Killed process 8769 (weft-switch) " \
	"total-vm:1342816kB, anon-rss:18048kB, UID:0\n"

UNIT_TEST(a_record_of_the_kernels_log_names_a_process_by_id_name_and_time)
{
	assert_true(lab_ending_names(KILLED, "weft-switch", 8769, 3280000000));
	assert_false(lab_ending_names(KILLED, "weft-switch", 876, 3280000000));
	assert_false(lab_ending_names(KILLED, "weft-nic", 8769, 3280000000));
	/* It belonged to an earlier lab. */
	assert_false(lab_ending_names(KILLED, "weft-switch", 8769, 3290000000));
	assert_false(
		lab_ending_names("6,811,3280604500,-;weft-switch invoked oom-killer: order=0\n",
			"weft-switch", 8769, 0));
	assert_false(lab_ending_names("Killed process 8769 (weft-switch)", "weft-switch", 8769, 0));
	assert_false(lab_ending_names("", "weft-switch", 8769, 0));
}

UNIT_TEST(the_kernel_keeps_fifteen_bytes_of_a_name)
{
	assert_true(lab_ending_names("3,1,5,-;Out of memory: Killed process 7 (a-program-of-so) x",
		"a-program-of-so-many-letters", 7, 0));
}

UNIT_TEST(a_process_that_is_no_child_has_ended)
{
	/* No process has this id, because the maximum in a kernel is 2^22. */
	const struct lab_record record = {.program = "weft-nic", .pid = 1 << 23};
	char text[LAB_ENDING_TEXT];

	lab_ending_find(&record, text);
	assert_string_equal(text, "has ended");
}
