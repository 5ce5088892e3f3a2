/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_query.h"
#include "lab_signals.h"
#include "os/runtime_dir.h"

#define STEP_MS 10
/* --- starting --- */

static int enter_netns(const char *name)
{
	char path[256];
	int fd, result;

	if (name[0] == '\0')
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	result = setns(fd, CLONE_NEWNET);
	close(fd);
	return result;
}

/* Neither Ctrl-C nor the end of the terminal reaches the process. It has no session of its own:
 * with autogroups the kernel shares out CPUs among sessions first, and then loops of a lab that
 * sleep and wake all the time keep those of other sessions off a CPU for seconds. */
static void leave_terminal(void)
{
	setpgid(0, 0);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTTOU, SIG_IGN); /* an error may go to the terminal */
}

/* In the child; does not return. Errors go into the log, which 'up' reads, as the program's. */
static void become(char *const argv[], const char *netns, const char *log)
{
	const char *slash = strrchr(argv[0], '/'), *program = slash != NULL ? slash + 1 : argv[0];
	int null = open("/dev/null", O_RDONLY);
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);

	leave_terminal();
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
	}
	if (enter_netns(netns) != 0)
		dprintf(STDERR_FILENO, "%s: network namespace '%s': %s\n", program, netns,
			strerror(errno));
	else {
		execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "%s: %s cannot be started: %s\n", program, argv[0],
			strerror(errno));
	}
	_exit(EXIT_NOT_ABLE);
}

/* In the child: waits until the parent has recorded this process. */
static void wait_for_word(const int word[2])
{
	ssize_t got;
	char byte;

	close(word[1]);
	/* Ctrl-C reaches this process as well; the parent decides about it. */
	do
		got = read(word[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(EXIT_NOT_ABLE);
	close(word[0]);
}

/* A process that waits for a byte on '*word' before it becomes argv[0]. */
static pid_t fork_waiting(char *const argv[], const char *netns, const char *log, int *word)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		wait_for_word(ends);
		become(argv, netns, log);
	}
	close(ends[0]);
	*word = ends[1];
	if (pid < 0)
		close(ends[1]);
	return pid;
}

pid_t lab_spawn(char *const argv[], const char *netns, const char *log, lab_spawn_record_fn record,
	void *ctx, struct error *error)
{
	int word, result;
	pid_t pid = fork_waiting(argv, netns, log, &word);

	if (pid < 0)
		return error_set(
			error, errno, "%s: cannot be started: %s", argv[0], strerror(errno));
	result = record(ctx, pid, error);
	if (result == 0 && write(word, "", 1) != 1)
		result = error_set(
			error, errno, "%s: cannot be started: %s", argv[0], strerror(errno));
	close(word);
	if (result == 0)
		return pid;
	lab_wait_child(pid);
	return result;
}

/* --- ending --- */

static unsigned count_alive(const struct lab_state *state)
{
	/* Reaps our children, so that they do not stay as zombies. */
	for (unsigned i = 0; i < state->processes; i++)
		waitpid(state->process[i].pid, NULL, WNOHANG);
	return lab_state_count_alive(state);
}

static void signal_alive(const struct lab_state *state, int number)
{
	for (unsigned i = 0; i < state->processes; i++)
		if (lab_record_alive(&state->process[i]))
			kill(state->process[i].pid, number);
}

static unsigned wait_ended(const struct lab_state *state, int patience_ms)
{
	unsigned alive = count_alive(state);

	for (int waited = 0; alive > 0 && waited < patience_ms; waited += STEP_MS) {
		lab_sleep_ms(STEP_MS);
		alive = count_alive(state);
	}
	return alive;
}

unsigned lab_end_processes(const struct lab_state *state, int patience_ms)
{
	unsigned killed;

	signal_alive(state, SIGTERM);
	killed = wait_ended(state, patience_ms);
	if (killed > 0) {
		signal_alive(state, SIGKILL);
		wait_ended(state, patience_ms);
	}
	for (unsigned i = 0; i < state->processes; i++) {
		char dir[RUNTIME_DIR_MAX];

		runtime_dir_path(state->process[i].prefix, dir);
		runtime_dir_remove(dir);
	}
	return killed;
}
