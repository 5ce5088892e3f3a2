/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_lock.h"
#include "lab_query.h"
#include "os/private_dir.h"

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

/* Neither Ctrl-C nor the end of the terminal reaches the process. It does not get its own
 * session: with autogroups, the kernel divides CPU time among sessions first, and a lab's loops,
 * which sleep and wake continuously, keep other sessions off a CPU for seconds. */
static void leave_terminal(void)
{
	setpgid(0, 0);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTTOU, SIG_IGN); /* an error may appear on the terminal */
}

/* Runs in the child; does not return. Errors are written to the log, which 'up' reads, as if the
 * program had written them. */
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

/* Runs in the child: waits until the parent has recorded this process. */
static void wait_for_word(const int word[2])
{
	ssize_t got;
	char byte;

	close(word[1]);
	/* Ctrl-C also reaches this process; the parent decides what to do. */
	do
		got = read(word[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(EXIT_NOT_ABLE);
	close(word[0]);
}

/* Starts a process that waits for a byte on '*word' before it becomes argv[0]. */
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
		return error_set(error, errno, "cannot start %s: %s", argv[0], strerror(errno));
	result = record(ctx, pid, error);
	if (result == 0 && write(word, "", 1) != 1)
		result = error_set(error, errno, "cannot start %s: %s", argv[0], strerror(errno));
	close(word);
	if (result == 0)
		return pid;
	lab_wait_child(pid);
	return result;
}

/* --- ending --- */

static unsigned count_alive(const struct lab_state *state)
{
	/* Reaps this program's children, so that they do not remain as zombies. */
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

#define RECORD_BYTES 8192 /* longest record in /dev/kmsg; a shorter buffer makes the read fail */
#define COMM_MAX     15   /* characters of a program's name that the kernel keeps */
#define REAP_MS      2000
#define REAP_STEP_MS 5

/* Parses lines such as "6,339,5140900,-;Out of memory: Killed process 712 (weft-switch) …". */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us)
{
	const char *killed = strstr(line, "Killed process ");
	char name[COMM_MAX + 1];
	uint64_t at_us;
	long victim;

	if (killed == NULL || sscanf(line, "%*u,%*u,%" SCNu64, &at_us) != 1 ||
		sscanf(killed, "Killed process %ld (%15[^)]", &victim, name) != 2)
		return false;
	return victim == (long)pid && at_us >= since_us && strncmp(name, program, COMM_MAX) == 0;
}

/* Returns the start time of a process on the log's clock, minus a second, because the two clocks
 * differ slightly. */
static uint64_t started_us(const struct lab_record *record)
{
	uint64_t us = record->start * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	return us > 1000000 ? us - 1000000 : 0;
}

bool lab_ending_in_log(const struct lab_record *record)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t since_us = started_us(record);
	char line[RECORD_BYTES];
	bool found = false;
	ssize_t length;

	if (fd < 0)
		return false;
	/* EPIPE: records were overwritten in the meantime; the next read continues after them. */
	while ((length = read(fd, line, sizeof(line) - 1)) > 0 || (length < 0 && errno == EPIPE)) {
		line[length > 0 ? length : 0] = '\0';
		found |= lab_ending_names(line, record->program, record->pid, since_us);
	}
	close(fd);
	return found;
}

void lab_ending_describe(int status, bool memory, char out[LAB_ENDING_TEXT])
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number != 0)
		snprintf(out, LAB_ENDING_TEXT, "was killed by signal %d (%s)", number,
			number == SIGKILL ? (memory ? "the kernel's out-of-memory killer; see dmesg"
						    : "SIGKILL; see dmesg")
					  : strsignal(number));
	else
		snprintf(out, LAB_ENDING_TEXT, "ended with exit code %d", WEXITSTATUS(status));
}

void lab_ending_find(const struct lab_record *record, char out[LAB_ENDING_TEXT])
{
	bool memory = lab_ending_in_log(record);
	int status;
	pid_t reaped;

	/* Reaps a child. Its main thread may have ended some milliseconds before the others. */
	reaped = waitpid(record->pid, &status, WNOHANG);
	for (int waited = 0; reaped == 0 && waited < REAP_MS; waited += REAP_STEP_MS) {
		lab_sleep_ms(REAP_STEP_MS);
		reaped = waitpid(record->pid, &status, WNOHANG);
	}
	if (reaped == record->pid)
		lab_ending_describe(status, memory, out);
	else if (memory)
		lab_ending_describe(SIGKILL, memory, out);
	else
		snprintf(out, LAB_ENDING_TEXT, "has ended");
}
