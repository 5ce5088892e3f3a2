/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "lab/lab_spawn.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static int record(void *ctx, pid_t pid, struct error *error)
{
	*(pid_t *)ctx = pid;
	return 0;
}

UNIT_TEST(the_recorded_process_becomes_the_program)
{
	char folder[] = "/tmp/weft-spawn-XXXXXX", log[64];
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"echo $$", NULL};
	struct error error = {""};
	pid_t recorded = 0;
	long written = 0;
	FILE *file;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	snprintf(log, sizeof(log), "%s/log", folder);
	pid = lab_spawn(argv, "", log, record, &recorded, &error);
	assert_true(pid > 0);
	assert_int_equal(pid, recorded);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no other process is left */
	file = fopen(log, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld", &written), 1);
	assert_int_equal(written, pid);
	assert_int_equal(fscanf(file, "%ld", &written), EOF);
	fclose(file);
	unlink(log);
	rmdir(folder);
}

static void on_signal(int number)
{
}

static int record_interrupted(void *ctx, pid_t pid, struct error *error)
{
	/* Before it waits, and repeatedly while it waits. */
	for (unsigned i = 0; i < 200; i++) {
		kill(pid, SIGINT);
		sched_yield();
	}
	return 0;
}

/* Like Ctrl-C, which reaches all processes of the terminal. */
UNIT_TEST(a_signal_does_not_end_what_waits_to_become_the_program)
{
	const struct sigaction action = {.sa_handler = on_signal};
	char *argv[] = {(char *)"/bin/true", NULL};
	struct sigaction before;
	struct error error = {""};
	int status = -1;
	pid_t pid;

	sigaction(SIGINT, &action, &before);
	pid = lab_spawn(argv, "", "/dev/null", record_interrupted, NULL, &error);
	sigaction(SIGINT, &before, NULL);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int cannot_record(void *ctx, pid_t pid, struct error *error)
{
	(*(unsigned *)ctx)++;
	return error_set(error, ENOSPC, "the disk is full");
}

UNIT_TEST(process_that_cannot_be_recorded_is_not_started)
{
	char folder[] = "/tmp/weft-spawn-XXXXXX", made[64];
	char *argv[] = {(char *)"/usr/bin/touch", made, NULL};
	struct error error = {""};
	unsigned asked = 0;

	assert_non_null(mkdtemp(folder));
	snprintf(made, sizeof(made), "%s/made", folder);
	assert_int_equal(lab_spawn(argv, "", "/dev/null", cannot_record, &asked, &error), -ENOSPC);
	assert_string_equal(error.text, "the disk is full");
	assert_int_equal(asked, 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(rmdir(folder), 0);
}
