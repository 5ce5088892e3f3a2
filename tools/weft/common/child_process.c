/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "child_process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config_files.h"

#define PROGRAM       "weft-fabric"
#define ARGUMENTS_MAX 256
#define LOOK_NS       250000000 /* between two iterations of a waiting program */
#define PATIENCE_S    15        /* after which a child that was asked to end is killed */

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

/* In the child; does not return. The start of the program closes 'report'. */
static void become(const char *path, char *const argv[], const char *log, pid_t parent, int report)
{
	sigset_t none;
	int code;

	sigemptyset(&none);
	child_become(parent, &none);
	redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
	redirect(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	execvp(path, argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(EXIT_NOT_ABLE);
	_exit(EXIT_NOT_ABLE);
}

/* The program at 'path'. */
static int start(
	pid_t *pid, const char *path, char *const argv[], const char *log, struct fault *fault)
{
	pid_t parent = getpid();
	int report[2], code = 0;

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
	/* ENODEV: the request is not wrong, the program is missing on this machine. */
	return fault_set(
		fault, code == ENOENT ? ENODEV : code, "cannot start %s: %s", path, strerror(code));
}

int child_start_run(pid_t *pid, const struct child_run *run, struct fault *fault)
{
	const char *argv[ARGUMENTS_MAX] = {"sh", "-c"};
	char path[PATH_MAX], *script = NULL;
	unsigned count = 0;
	int result;

	program_path_find(PROGRAM, path, sizeof(path));
	if (run->srun != NULL) {
		if (asprintf(&script,
			    "exec srun --quiet --ntasks=1 --job-name=weft-reproduce %s \"$0\" "
			    "\"$@\"",
			    run->srun) < 0)
			return fault_set(fault, ENOMEM, "no memory for a command of srun");
		argv[2] = script;
		count = 3;
	}
	argv[count++] = run->srun != NULL ? path : PROGRAM;
	argv[count++] = run->run_file;
	argv[count++] = "--quiet";
	argv[count++] = "--json";
	argv[count++] = run->part;

	for (unsigned i = 0; i < run->sets && count + 3 <= ARGUMENTS_MAX; i++) {
		argv[count++] = "--set";
		argv[count++] = run->set[i];
	}
	result = count + 3 > ARGUMENTS_MAX
			 ? fault_set(fault, EINVAL, "too many changes of the run file")
			 : start(pid, run->srun != NULL ? "/bin/sh" : path, (char *const *)argv,
				   run->log, fault);
	free(script);
	return result;
}

uint64_t child_program_mark(const char *name)
{
	uint64_t mark = content_hash(CONTENT_HASH_START, WEFT_VERSION, sizeof(WEFT_VERSION));
	char path[PATH_MAX];

	program_path_find(name, path, sizeof(path));
	content_hash_file(&mark, path);
	return mark;
}

void child_signal(pid_t pid, int number)
{
	/* The group exists once the child has called setpgid(). */
	if (pid > 0 && kill(-pid, number) < 0)
		kill(pid, number);
}

/* The last line of a log that is not empty, truncated. */
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

void child_signals_block(sigset_t *signals, sigset_t *before)
{
	struct sigaction hangup;

	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	/* A blocked signal is kept for whoever waits for it, even if it is ignored. */
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, before);
	/* A caller may ignore it, and then nobody hears how a child has ended. */
	signal(SIGCHLD, SIG_DFL);
}

void child_become(pid_t parent, const sigset_t *mask)
{
	setpgid(0, 0);
	/* A terminal with 'stty tostop' stops who writes to it out of another group. */
	signal(SIGTTOU, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* It may have ended before. */
	if (getppid() != parent)
		_exit(EXIT_NOT_ABLE);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

void child_watch_begin(struct child_watch *watch)
{
	child_signals_block(&watch->signals, &watch->before);
}

void child_watch_end(const struct child_watch *watch)
{
	sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

void child_watch_interrupt(struct child_watch *watch)
{
	watch->signal_all(watch->ctx, watch->interrupted ? SIGKILL : SIGINT);
	if (!watch->interrupted)
		watch->kill_at = child_clock() + PATIENCE_S;
	watch->interrupted = true;
}

void child_watch_wait(struct child_watch *watch)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int number = sigtimedwait(&watch->signals, NULL, &look);

	if (number > 0 && number != SIGCHLD)
		child_watch_interrupt(watch);
	if (watch->interrupted && child_clock() >= watch->kill_at)
		watch->signal_all(watch->ctx, SIGKILL);
}

/* The folder of this executable; "." if it is unknown. */
static void own_folder(char out[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	out[length > 0 ? length : 0] = '\0';
	slash = strrchr(out, '/');
	if (slash == NULL)
		strcpy(out, ".");
	else
		*slash = '\0';
}

void program_path_find(const char *name, char *out, size_t size)
{
	const char *wanted = getenv("WEFT_PROGRAMS");
	char here[PATH_MAX];

	if (wanted != NULL) {
		snprintf(out, size, "%s/%s", wanted, name);
		if (access(out, X_OK) == 0)
			return;
	}
	own_folder(here);
	snprintf(out, size, "%s/%s", here, name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s/../../apps/%s/%s", here, name + strlen("weft-"), name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s", name);
}

bool program_path_exists(const char *path)
{
	const char *at = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(path, '/') != NULL)
		return access(path, X_OK) == 0;
	while (at != NULL) {
		size_t length = strcspn(at, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)length, at, path);
		if (access(file, X_OK) == 0)
			return true;
		at = at[length] == ':' ? at + length + 1 : NULL;
	}
	return false;
}

void program_path_exec(const char *name, char *const argv[])
{
	char path[PATH_MAX];

	program_path_find(name, path, sizeof(path));
	execvp(path, argv);
}
