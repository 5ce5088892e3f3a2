/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Which processes of a lab are alive. */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/lab_state.h"

#include "unit.h"

/* Returns the state of a process and sets its start time. */
static char state_of(pid_t pid, uint64_t *start)
{
	char path[64], text[1024] = "", letter = '?';
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	at = strrchr(text, ')') + 2;
	letter = *at;
	for (unsigned field = 3; field < 22; field++)
		at = strchr(at, ' ') + 1;
	assert_int_equal(sscanf(at, "%" SCNu64, start), 1);
	return letter;
}

static void *stay(void *ctx)
{
	for (;;)
		pause();
	return ctx;
}

static pid_t start_process_without_main_thread(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		pthread_create(&thread, NULL, stay, NULL);
		pthread_exit(NULL);
	}
	return pid;
}

UNIT_TEST(a_process_whose_main_thread_alone_has_ended_is_alive)
{
	struct lab_record record = {.pid = start_process_without_main_thread()};

	while (state_of(record.pid, &record.start) != 'Z')
		sched_yield();
	assert_true(lab_record_alive(&record));
	kill(record.pid, SIGKILL);
	waitpid(record.pid, NULL, 0);
	assert_false(lab_record_alive(&record));
}

UNIT_TEST(a_process_of_which_only_the_exit_code_is_left_has_ended)
{
	struct lab_record record = {.pid = fork()};

	if (record.pid == 0)
		_exit(0);
	while (state_of(record.pid, &record.start) != 'Z')
		sched_yield();
	assert_false(lab_record_alive(&record));
	waitpid(record.pid, NULL, 0);
}
