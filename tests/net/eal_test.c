/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Starts and stops EAL, each time in a child process, because a process can start it only once. */

#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_memory.h>

#include "os/private_dir.h"
#include "os/telemetry_client.h"
#include "port/eal.h"
#include "port/port.h"

#define TIMEOUT_MS 5000

/* The standard output and standard error of a child. */
struct child {
	pid_t pid;
	int out;
};

static struct child child_start(int (*run)(void))
{
	struct child child;
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	fflush(NULL);
	child.pid = fork();
	if (child.pid == 0) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		dup2(pipe_fds[1], STDERR_FILENO);
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		exit(run());
	}
	close(pipe_fds[1]);
	child.out = pipe_fds[0];
	return child;
}

static void child_read(struct child *child, char *text, size_t size, const char *until)
{
	size_t used = 0;

	do {
		ssize_t n = read(child->out, text + used, size - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
		text[used] = '\0';
	} while (until == NULL || strstr(text, until) == NULL);
	text[used] = '\0';
}

static int child_wait(struct child *child)
{
	int status;

	close(child->out);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool runtime_dir_exists(const char *prefix)
{
	char path[RUNTIME_DIR_MAX];

	runtime_dir_path(prefix, path);
	return access(path, F_OK) == 0;
}

static int start_with(char **argv, const char *prefix)
{
	const struct eal_options options = {.prefix = prefix, .lcores = 3, .memory_mib = 64};
	struct error error = {""};
	int argc = 0, result;

	while (argv[argc] != NULL)
		argc++;
	result = eal_start(argc, argv, &options, &error);
	if (result < 0)
		printf("fault: %s\n", error.text);
	fflush(stdout);
	return result;
}

/* --- children --- */

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
	(void)number;
	asked_to_stop = 1;
}

static int run_named(const char *prefix)
{
	char *argv[] = {(char *)"test", NULL};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t none, both;

	sigemptyset(&none);
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (start_with(argv, prefix) < 0)
		return 1;
	printf("ready\n");
	fflush(stdout);
	while (!asked_to_stop)
		sigsuspend(&none);
	eal_stop();
	return 0;
}

static int run_until_signal(void)
{
	return run_named("weft-test-signal");
}

static int run_unnamed(void)
{
	return run_named(NULL);
}

static int run_quietly(void)
{
	char *argv[] = {(char *)"test", NULL};
	int result = start_with(argv, "weft-test-quiet");

	if (result == 1)
		eal_stop();
	return result == 1 ? 0 : 1;
}

static int run_with_user_arguments(void)
{
	char *argv[] = {(char *)"test", (char *)"-l", (char *)"0", (char *)"-m", (char *)"32",
		(char *)"--", (char *)"ours", NULL};
	int result = start_with(argv, "weft-test-user");

	if (result < 0)
		return 1;
	/* Weft's three lcores were replaced with the user's one. */
	if (result != 6 || rte_lcore_count() != 1 || rte_eal_get_physmem_size() != 32u << 20)
		return 2;
	eal_stop();
	return 0;
}

static int run_lcores(void)
{
	char *argv[] = {(char *)"test", NULL};
	unsigned lcores;

	if (start_with(argv, "weft-test-lcores") < 0)
		return 1;
	lcores = rte_lcore_count();
	eal_stop();
	return lcores == 3 ? 0 : 2;
}

static int run_bad_option(void)
{
	char *argv[] = {(char *)"test", (char *)"--nosuch", (char *)"--", NULL};

	return start_with(argv, "weft-test-bad") == -EINVAL ? 0 : 1;
}

static int run_bad_device(void)
{
	char *argv[] = {
		(char *)"test", (char *)"--vdev", (char *)"net_nosuch0", (char *)"--", NULL};

	return start_with(argv, "weft-test-bad") < 0 ? 0 : 1;
}

static int run_pool_too_big(void)
{
	char *argv[] = {(char *)"test", NULL};
	struct error error = {""};

	if (start_with(argv, "weft-test-pool") < 0)
		return 1;
	if (port_pool_create("big", 1u << 20, 2048, SOCKET_ID_ANY, &error) != NULL)
		return 2;
	printf("fault: %s\n", error.text);
	fflush(stdout);
	eal_stop();
	return 0;
}

/* --- claims --- */

static void signal_leaves_nothing_behind(int number)
{
	struct child child = child_start(run_until_signal);
	char text[4096];

	child_read(&child, text, sizeof(text), "ready");
	assert_non_null(strstr(text, "ready"));
	assert_true(runtime_dir_exists("weft-test-signal"));
	kill(child.pid, number);
	assert_int_equal(child_wait(&child), 0);
	assert_false(runtime_dir_exists("weft-test-signal"));
}

UNIT_TEST(interrupt_leaves_nothing_behind)
{
	signal_leaves_nothing_behind(SIGINT);
}

UNIT_TEST(terminate_leaves_nothing_behind)
{
	signal_leaves_nothing_behind(SIGTERM);
}

UNIT_TEST(telemetry_answers_while_it_runs)
{
	struct child child = child_start(run_until_signal);
	char text[TELEMETRY_REPLY_MAX];
	struct error error;
	int fd;

	child_read(&child, text, sizeof(text), "ready");
	fd = telemetry_client_open("weft-test-signal", TIMEOUT_MS, &error);
	assert_true(fd >= 0);
	assert_true(telemetry_client_call(fd, "/info", text, sizeof(text), TIMEOUT_MS, &error) > 0);
	assert_non_null(strstr(text, "DPDK 22.11"));
	telemetry_client_close(fd);
	kill(child.pid, SIGTERM);
	assert_int_equal(child_wait(&child), 0);
}

UNIT_TEST(killed_program_can_be_cleared_up_and_its_prefix_used_again)
{
	struct child child = child_start(run_until_signal);
	char text[4096], path[RUNTIME_DIR_MAX];
	struct error error;

	child_read(&child, text, sizeof(text), "ready");
	kill(child.pid, SIGKILL);
	assert_int_equal(child_wait(&child), 128 + SIGKILL);
	assert_int_equal(
		telemetry_client_open("weft-test-signal", TIMEOUT_MS, &error), -ECONNREFUSED);
	signal_leaves_nothing_behind(SIGTERM);
	runtime_dir_path("weft-test-signal", path);
	assert_int_equal(runtime_dir_remove(path), 0);
}

/* The name that 'weft run' uses for itself. In a base folder of the test's own, because any other
 * program that starts in between would remove the killed program's folder. */
UNIT_TEST(start_removes_folders_of_killed_programs_but_not_of_running_ones)
{
	char base[] = "/tmp/weft-eal-XXXXXX", all[RUNTIME_DIR_MAX];

	assert_non_null(mkdtemp(base));
	setenv("RUNTIME_DIRECTORY", base, 1);

	struct child killed = child_start(run_unnamed), running = child_start(run_unnamed), next;
	char text[4096], of_killed[32], of_running[32];

	snprintf(of_killed, sizeof(of_killed), "weft-%d", (int)killed.pid);
	snprintf(of_running, sizeof(of_running), "weft-%d", (int)running.pid);
	child_read(&killed, text, sizeof(text), "ready");
	child_read(&running, text, sizeof(text), "ready");
	kill(killed.pid, SIGKILL);
	assert_int_equal(child_wait(&killed), 128 + SIGKILL);
	assert_true(runtime_dir_exists(of_killed));
	next = child_start(run_until_signal);
	child_read(&next, text, sizeof(text), "ready");
	assert_false(runtime_dir_exists(of_killed));
	assert_true(runtime_dir_exists(of_running));
	kill(next.pid, SIGTERM);
	kill(running.pid, SIGTERM);
	assert_int_equal(child_wait(&next), 0);
	assert_int_equal(child_wait(&running), 0);
	assert_false(runtime_dir_exists(of_running));
	runtime_dir_path("", all);
	unsetenv("RUNTIME_DIRECTORY");
	assert_int_equal(rmdir(all), 0);
	assert_int_equal(rmdir(base), 0);
}

UNIT_TEST(start_and_stop_say_nothing)
{
	struct child child = child_start(run_quietly);
	char text[4096];

	child_read(&child, text, sizeof(text), NULL);
	assert_int_equal(child_wait(&child), 0);
	assert_string_equal(text, "");
}

UNIT_TEST(arguments_of_the_user_win)
{
	struct child child = child_start(run_with_user_arguments);

	assert_int_equal(child_wait(&child), 0);
}

UNIT_TEST(lcores_asked_for_are_there_on_any_number_of_cpus)
{
	struct child child = child_start(run_lcores);

	assert_int_equal(child_wait(&child), 0);
}

/* The child prints exactly this line, and leaves no runtime directory. */
static void one_line_is_said(int (*run)(void), const char *line)
{
	struct child child = child_start(run);
	char text[4096];

	child_read(&child, text, sizeof(text), NULL);
	assert_int_equal(child_wait(&child), 0);
	assert_string_equal(text, line);
	assert_false(runtime_dir_exists("weft-test-bad"));
}

UNIT_TEST(wrong_argument_is_one_line_and_leaves_nothing)
{
	one_line_is_said(
		run_bad_option, "fault: cannot start DPDK: unrecognized option '--nosuch'\n");
}

UNIT_TEST(wrong_device_is_one_line_and_leaves_nothing)
{
	one_line_is_said(run_bad_device,
		"fault: cannot start DPDK: failed to parse device \"net_nosuch0\"\n");
}

UNIT_TEST(pool_that_does_not_fit_says_what_it_needs)
{
	struct child child = child_start(run_pool_too_big);
	char text[4096];

	child_read(&child, text, sizeof(text), NULL);
	assert_int_equal(child_wait(&child), 0);
	assert_non_null(strstr(text, "1048576 buffers"));
}

UNIT_TEST(absent_program_is_told_from_a_silent_one)
{
	struct error error;

	assert_int_equal(telemetry_client_open("weft-no-such", TIMEOUT_MS, &error), -ENOENT);
	assert_non_null(strstr(error.text, "no program with this prefix is running"));
}
