/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "process/sandbox.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs.h"

#define FINE 77 /* exit code of a child that ended normally */

static int enter(void)
{
	const struct sandbox_options options = {.program = "test"};
	struct error error;

	return sandbox_enter(&options, &error);
}

static int enter_and_run(int (*run)(void))
{
	return enter() == 0 ? run() : 1;
}

/* Returns the exit code of a child that exits with the result of 'child' for 'run'. 'text' receives
 * its standard error. */
static int exit_code_of(int (*child)(int (*run)(void)), int (*run)(void), char *text, size_t size)
{
	int status, ends[2];
	ssize_t length;
	pid_t pid;

	if (!sandbox_is_built())
		skip_because("a sanitizer's build has no sandbox");
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(child(run));
	}
	close(ends[1]);
	length = read(ends[0], text, size - 1);
	text[length > 0 ? length : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int confined(int (*run)(void), char *text, size_t size)
{
	return exit_code_of(enter_and_run, run, text, size);
}

static void ends_with(int (*run)(void), const char *call)
{
	char text[512], expected[64];

	assert_int_equal(confined(run, text, sizeof(text)), EXIT_NOT_ABLE);
	snprintf(expected, sizeof(expected), "(%s) is not allowed", call);
	if (strstr(text, "test: ended by its sandbox: system call ") == NULL ||
		strstr(text, expected) == NULL)
		fail_msg("'%s' is not in '%s'", expected, text);
}

static int execute(void)
{
	execl("/bin/true", "true", NULL);
	return FINE;
}

UNIT_TEST(a_program_that_executes_another_is_ended_and_the_call_named)
{
	ends_with(execute, "execve");
}

static int start_a_process(void)
{
	return fork() == 0 ? 1 : FINE;
}

UNIT_TEST(no_process_is_started)
{
	ends_with(start_a_process, "clone");
}

static int make_code(void)
{
	void *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? 1 : FINE;
}

UNIT_TEST(no_memory_becomes_code)
{
	ends_with(make_code, "mmap");
}

static int turn_into_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 ? FINE : 1;
}

UNIT_TEST(nor_later)
{
	ends_with(turn_into_code, "mprotect");
}

static int unmount(void)
{
	return umount2("/nonexistent", 0) == 0 ? 1 : FINE;
}

UNIT_TEST(nothing_is_unmounted_without_need)
{
	ends_with(unmount, "umount2");
}

static int go_into_the_internet(void)
{
	return socket(AF_INET6, SOCK_STREAM, 0) < 0 ? 1 : FINE;
}

UNIT_TEST(no_socket_of_a_kind_that_no_device_has)
{
	ends_with(go_into_the_internet, "socket");
}

static int go_ends[2];

static void *run_when_told(void *context)
{
	int (*const *run)(void) = context;
	char byte;

	if (read(go_ends[0], &byte, 1) == 1)
		(*run)();
	return NULL;
}

/* In a thread that existed before the sandbox. */
static int run_beside_and_enter(int (*run)(void))
{
	pthread_t thread;

	if (pipe(go_ends) != 0 || pthread_create(&thread, NULL, run_when_told, &run) != 0 ||
		enter() != 0 || write(go_ends[1], "", 1) != 1)
		return 1;
	pthread_join(thread, NULL);
	return 2;
}

UNIT_TEST(threads_that_run_already_are_restricted_too)
{
	char text[512];

	assert_int_equal(
		exit_code_of(run_beside_and_enter, execute, text, sizeof(text)), EXIT_NOT_ABLE);
}

static void *wait_for_nothing(void *context)
{
	pause();
	return context;
}

static void *do_nothing(void *context)
{
	return context;
}

static int work(void)
{
	char path[] = "/tmp/weft-box-XXXXXX";
	int fd = mkstemp(path);
	pthread_t thread;

	if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0 || unlink(path) != 0)
		return 1;
	if (socket(AF_UNIX, SOCK_SEQPACKET, 0) < 0)
		return 2;
	if (pthread_create(&thread, NULL, do_nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 3;
	return malloc(1 << 24) != NULL ? FINE : 4;
}

UNIT_TEST(files_sockets_threads_and_memory_work_as_before)
{
	char text[512];

	assert_int_equal(confined(work, text, sizeof(text)), FINE);
	assert_string_equal(text, "");
}

/* Like a thread that runs the handler of sandbox.c late. */
static int give_up_capabilities(void)
{
	struct error error;

	return privileges_keep(0, &error) == 0 ? FINE : 1;
}

UNIT_TEST(capabilities_can_be_given_up_inside)
{
	char text[512];

	assert_int_equal(confined(give_up_capabilities, text, sizeof(text)), FINE);
	assert_string_equal(text, "");
}

static int cancel_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_nothing, NULL) != 0)
		return 1;
	pthread_cancel(thread);
	return pthread_join(thread, NULL) == 0 ? FINE : 2;
}

/* Like EAL when it ends: the C library loads code when this is first done. */
UNIT_TEST(threads_can_be_cancelled)
{
	char text[512];

	assert_int_equal(confined(cancel_a_thread, text, sizeof(text)), FINE);
	assert_string_equal(text, "");
}
