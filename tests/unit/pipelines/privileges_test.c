/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "process/sandbox.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs.h"
#include "os/program_threads.h"

static int in_child(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static uint64_t status_number(const char *path, const char *format)
{
	FILE *file = fopen(path, "r");
	uint64_t found = UINT64_MAX;
	char line[128];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, format, &found) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return found;
}

/* Capabilities of the calling thread. */
static uint64_t permitted(void)
{
	return status_number("/proc/thread-self/status", "CapPrm: %" SCNx64);
}

struct other {
	pthread_t thread;
	int order[2], answer[2]; /* pipes */
	bool blocks;
};

/* Waits in a system call, and reports its capabilities on request. */
static void *other_main(void *context)
{
	struct other *other = context;
	uint64_t found;
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigdelset(&all, THREAD_SIGNAL);
	if (other->blocks)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (write(other->answer[1], "", 1) != 1 || read(other->order[0], &byte, 1) != 1)
		return NULL;
	found = permitted();
	return write(other->answer[1], &found, sizeof(found)) < 0 ? NULL : context;
}

static bool other_start(struct other *other)
{
	char byte;

	return pipe(other->order) == 0 && pipe(other->answer) == 0 &&
	       pthread_create(&other->thread, NULL, other_main, other) == 0 &&
	       read(other->answer[0], &byte, 1) == 1;
}

static uint64_t other_ask(struct other *other)
{
	uint64_t found = UINT64_MAX;

	if (write(other->order[1], "", 1) != 1 ||
		read(other->answer[0], &found, sizeof(found)) != sizeof(found))
		return UINT64_MAX;
	return found;
}

static int keeps_one_in_all_threads(void)
{
	struct other one = {.blocks = false}, two = {.blocks = true};
	const uint64_t raw = PRIVILEGE(CAP_NET_RAW);
	struct error error;

	if (!other_start(&one) || !other_start(&two))
		return 1;
	if (privileges_keep(raw, &error) != 0)
		return 2;
	if (permitted() != raw)
		return 3;
	/* The call in which it waits continues. */
	return other_ask(&one) != raw || other_ask(&two) != raw ? 4 : 0;
}

UNIT_TEST(all_threads_give_up_what_is_not_wanted)
{
	need_root();
	assert_int_equal(in_child(keeps_one_in_all_threads), 0);
}

static int cannot_open_the_file_of_another(void)
{
	char path[] = "/tmp/weft-caps-XXXXXX";
	int fd = mkstemp(path), result = 0;
	struct error error;

	if (fd < 0 || fchown(fd, 12345, 12345) != 0)
		return 1;
	close(fd);
	fd = open(path, O_RDONLY); /* the control */
	result = fd < 0 || close(fd) != 0 ? 2 : 0;
	if (result == 0 && (privileges_keep(0, &error) != 0 || open(path, O_RDONLY) >= 0))
		result = 3;
	unlink(path); /* may fail: the caller removes it */
	return result;
}

UNIT_TEST(root_without_capabilities_is_refused_the_files_of_others)
{
	need_root();
	assert_int_equal(in_child(cannot_open_the_file_of_another), 0);
	assert_int_equal(system("rm -f /tmp/weft-caps-*"), 0);
}

static int cannot_get_them_back(void)
{
	struct error error;

	if (privileges_keep(0, &error) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 1;
	execl("/bin/sh", "sh", "-c", "grep -q '^CapPrm:.0000000000000000$' /proc/self/status",
		NULL);
	return 2;
}

UNIT_TEST(a_program_that_is_executed_does_not_get_them_back)
{
	need_root();
	assert_int_equal(in_child(cannot_get_them_back), 0);
}

static int has_none(void)
{
	struct error error;

	if (setuid(12345) != 0)
		return 1;
	return privileges_keep(PRIVILEGE(CAP_NET_RAW), &error) != 0 || permitted() != 0 ? 2 : 0;
}

UNIT_TEST(a_user_without_any_gets_none)
{
	need_root();
	assert_int_equal(in_child(has_none), 0);
}

/* How often the process's first thread has slept, for example between two checks of the others. */
static uint64_t sleeps(void)
{
	return status_number("/proc/self/status", "voluntary_ctxt_switches: %" SCNu64);
}

#define LOOKS 12

/* Leaves signals pending during several checks. Returns NULL unless exactly one signal is then
 * pending, apart from those sent while it counted. */
static void *answer_late(void *signals)
{
	const struct timespec at_once = {0};
	uint64_t before = sleeps();
	unsigned taken = 0;

	while (sleeps() - before < LOOKS)
		sched_yield();
	before = sleeps();
	while (sigtimedwait(signals, NULL, &at_once) > 0)
		taken++;
	return taken > 0 && taken <= 1 + sleeps() - before ? signals : NULL;
}

static int has_a_thread_that_answers_late(void)
{
	void *result = NULL;
	struct error error;
	sigset_t signals;
	pthread_t thread;

	sigemptyset(&signals);
	sigaddset(&signals, THREAD_SIGNAL);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, answer_late, &signals) != 0 ||
		privileges_keep(0, &error) != 0)
		return 1;
	return pthread_join(thread, &result) == 0 && result != NULL ? 0 : 2;
}

/* Queued signals count against a limit that all processes of a user share. */
UNIT_TEST(a_thread_that_does_not_answer_is_not_signalled_again)
{
	need_root();
	assert_int_equal(in_child(has_a_thread_that_answers_late), 0);
}
