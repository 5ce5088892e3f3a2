/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "child_process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "content_hash.h"
#include "program_path.h"

#define PROGRAM "weft-fabric"

double child_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags, 0644);

	if (file >= 0 && file != fd) {
		dup2(file, fd);
		close(file);
	}
}

/* In the child; does not return. 'report' closes by itself when the program has started. */
static void become(const char *path, char *const argv[], const char *log, pid_t parent, int report)
{
	sigset_t none;
	int code;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_ABLE);
	redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
	redirect(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(path, argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(EXIT_NOT_ABLE);
	_exit(EXIT_NOT_ABLE);
}

int child_start(pid_t *pid, char *const argv[], const char *log, struct fault *fault)
{
	char path[PATH_MAX];
	pid_t parent = getpid();
	int report[2], code = 0;

	program_path_find(PROGRAM, "fabric", path, sizeof(path));
	if (pipe2(report, O_CLOEXEC) < 0)
		return fault_set(fault, errno, "no process to be had: %s", strerror(errno));
	*pid = fork();
	if (*pid == 0)
		become(path, argv, log, parent, report[1]);
	code = *pid < 0 ? errno : 0;
	close(report[1]);
	if (*pid > 0 && read(report[0], &code, sizeof(code)) > 0)
		waitpid(*pid, NULL, 0);
	close(report[0]);
	if (code == 0)
		return 0;
	*pid = 0;
	unlink(log);
	/* No answer to the request: something that is missing here. */
	return fault_set(
		fault, code == ENOENT ? ENODEV : code, "cannot start %s: %s", path, strerror(code));
}

uint64_t child_program_mark(const char *name)
{
	uint64_t mark = content_hash(CONTENT_HASH_START, WEFT_VERSION, sizeof(WEFT_VERSION));
	char path[PATH_MAX];

	program_path_find(name, "fabric", path, sizeof(path));
	content_hash_file(&mark, path);
	return mark;
}

void child_signal(pid_t pid, int number)
{
	/* The group is there once the child has come so far; before that there is the child. */
	if (pid > 0 && kill(-pid, number) < 0)
		kill(pid, number);
}

/* The last line of a log that is not empty, cut where it is long. */
static void last_line(const char *path, char out[256])
{
	FILE *in = fopen(path, "r");
	char line[256];

	out[0] = '\0';
	while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			strcpy(out, line);
	}
	if (in != NULL)
		fclose(in);
}

void child_describe_failure(int status, const char *log, struct fault *fault)
{
	char line[256];

	last_line(log, line);
	if (WIFSIGNALED(status))
		fault_set(fault, EIO, "ended by signal %d (%s)%s%s", WTERMSIG(status),
			strsignal(WTERMSIG(status)), line[0] != '\0' ? ": " : "", line);
	else if (WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		fault_set(fault, EIO, "no whole result%s%s", line[0] != '\0' ? ": " : "", line);
	else
		fault_set(fault, EIO, "exit code %d%s%s", WEXITSTATUS(status),
			line[0] != '\0' ? ": " : "", line);
}
