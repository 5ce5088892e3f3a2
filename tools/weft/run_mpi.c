/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "commands.h"

#define OPTION       "--mpi"
#define OWN_WORDS    16
#define NOT_STARTED  127
#define SIGNAL_CODES 128 /* exit codes above are signals, as in shells */

enum weft_exit run_mpi_take(int *argc, char **argv, unsigned *ranks)
{
	size_t length = strlen(OPTION);
	const char *text = NULL;
	uint64_t number = 0;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (strncmp(argv[i], OPTION "=", length + 1) == 0)
			text = argv[i] + length + 1;
		else if (strcmp(argv[i], OPTION) == 0)
			text = i + 1 < *argc ? argv[++i] : "";
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	*argc = kept;
	*ranks = 0;
	if (text == NULL)
		return EXIT_DONE;
	if (!command_number(text, 1, RUN_MPI_RANKS_MAX, &number))
		return command_fail("run", EXIT_BAD_REQUEST,
			"--mpi '%s': expected a number of processes from 1 to %u", text,
			RUN_MPI_RANKS_MAX);
	*ranks = (unsigned)number;
	return EXIT_DONE;
}

/* The words of mpirun. There may be more ranks than cores, and their threads may use any core. */
static char **words_of(int argc, char **argv, const char *program, const char *number)
{
	const char *const own[] = {"mpirun", "--quiet", "--oversubscribe", "--bind-to", "none",
		"-n", number, geteuid() == 0 ? "--allow-run-as-root" : NULL};
	char **words = calloc((size_t)argc + OWN_WORDS, sizeof(*words));
	unsigned count = 0;

	if (words == NULL)
		return NULL;
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] != NULL)
			words[count++] = (char *)own[i];
	words[count++] = (char *)program;
	words[count++] = (char *)OPTION;
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	return words;
}

/* In the child. Signals of the terminal go to this program, which passes them on; whatever has
 * nobody at its terminal must not read from it. */
static void become_mpirun(char **words, pid_t parent, const sigset_t *mask)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	child_become(parent, mask);
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	execvp(words[0], words);
	_exit(NOT_STARTED);
}

/* Until mpirun has ended: its status, or -1: nobody knows it. mpirun hands SIGUSR1 on to the ranks,
 * to which it is the end of the run; SIGTERM would give them two seconds. */
static int wait_for(pid_t pid, const sigset_t *signals, bool *asked)
{
	const struct timespec second = {.tv_sec = 1};
	int status = 0;
	pid_t ended;

	*asked = false;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		int number = sigtimedwait(signals, NULL, &second);

		if (number <= 0 || number == SIGCHLD)
			continue;
		kill(pid, *asked ? SIGTERM : SIGUSR1);
		*asked = true;
	}
	return ended == pid ? status : -1;
}

/* 'asked': by a signal, which has come before the run or more than once if it has ended ranks. */
static int code_of(int status, bool asked)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_CODES + WTERMSIG(status);

	if (code <= EXIT_NOT_ABLE)
		return code;
	if (asked && code > SIGNAL_CODES)
		return EXIT_INTERRUPTED;
	if (code == NOT_STARTED)
		return command_fail(
			"run", EXIT_NOT_ABLE, "--mpi: cannot start mpirun: install openmpi-bin");
	if (code > SIGNAL_CODES && code < SIGNAL_CODES + NSIG)
		return command_fail("run", EXIT_NOT_ABLE,
			"--mpi: a process was ended by signal %d (%s), and the others with it",
			code - SIGNAL_CODES, strsignal(code - SIGNAL_CODES));
	return command_fail("run", EXIT_NOT_ABLE,
		"--mpi: mpirun ended with exit code %d; without --quiet it says why", code);
}

static int start(char **words)
{
	pid_t parent = getpid(), pid;
	sigset_t signals, before;
	bool asked;
	int status;

	child_signals_block(&signals, &before);
	pid = fork();
	if (pid == 0)
		become_mpirun(words, parent, &before);
	if (pid < 0)
		return command_fail("run", EXIT_NOT_ABLE, "--mpi: %s", strerror(errno));
	status = wait_for(pid, &signals, &asked);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status < 0)
		return command_fail("run", EXIT_NOT_ABLE, "--mpi: mpirun was lost");
	return code_of(status, asked);
}

int run_mpi(int argc, char **argv, unsigned ranks)
{
	char program[PATH_MAX], number[16], **words;
	int code;

	program_path_find("weft-fabric", program, sizeof(program));
	if (!program_path_exists(program))
		return command_fail("run", EXIT_NOT_ABLE, "--mpi: cannot start weft-fabric: %s",
			strerror(ENOENT));
	snprintf(number, sizeof(number), "%u", ranks);
	words = words_of(argc, argv, program, number);
	if (words == NULL)
		return command_fail("run", EXIT_NOT_ABLE, "no memory");
	code = start(words);
	free(words);
	return code;
}
