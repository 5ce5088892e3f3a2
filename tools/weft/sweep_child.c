/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sibling.h"
#include "sweep_table.h"

#define PROGRAM       "weft-fabric"
#define ARGUMENTS_MAX (8 + 2 * (SWEEP_SETS_MAX + SWEEP_KEYS_MAX + 1))

double sweep_clock(void)
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

static int spawn(
	struct sweep_child *child, char *const argv[], const char *log, struct fault *fault)
{
	char path[PATH_MAX];
	pid_t parent = getpid();
	int report[2], code = 0;

	sibling_path(PROGRAM, "fabric", path, sizeof(path));
	if (pipe2(report, O_CLOEXEC) < 0)
		return fault_set(fault, errno, "no process to be had: %s", strerror(errno));
	child->pid = fork();
	if (child->pid == 0)
		become(path, argv, log, parent, report[1]);
	code = child->pid < 0 ? errno : 0;
	close(report[1]);
	if (child->pid > 0 && read(report[0], &code, sizeof(code)) > 0)
		waitpid(child->pid, NULL, 0);
	close(report[0]);
	if (code == 0)
		return 0;
	child->pid = 0;
	unlink(log);
	/* No answer to the request: something that is missing here. */
	return fault_set(
		fault, code == ENOENT ? ENODEV : code, "cannot start %s: %s", path, strerror(code));
}

int sweep_child_start(
	struct sweep_child *child, const struct sweep *sweep, unsigned point, struct fault *fault)
{
	char part[PATH_MAX], log[PATH_MAX];
	const char *argv[ARGUMENTS_MAX] = {PROGRAM, sweep->run_file, "--quiet", "--json", part};
	struct sweep_sets sets;
	unsigned count = 5;
	int result = sweep_sets_init(&sets, sweep, point);

	sweep_point_path(sweep, point, ".part", part);
	sweep_point_path(sweep, point, ".log", log);
	for (unsigned i = 0; i < sets.count && result == 0; i++) {
		argv[count++] = "--set";
		argv[count++] = sets.set[i];
	}
	*child = (struct sweep_child){.point = point, .started = sweep_clock()};
	if (result == 0)
		result = spawn(child, (char *const *)argv, log, fault);
	else
		fault_set(fault, ENOMEM, "sweep: no memory");
	sweep_sets_fini(&sets);
	return result;
}

void sweep_child_kill(const struct sweep_child *child, int signal)
{
	/* The group is there once the child has come so far; before that there is the child. */
	if (child->pid > 0 && kill(-child->pid, signal) < 0)
		kill(child->pid, signal);
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

static void describe_failure(int status, const char *log, struct fault *fault)
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

json_t *sweep_child_result(
	const struct sweep_child *child, const struct sweep *sweep, int status, struct fault *fault)
{
	char part[PATH_MAX], path[PATH_MAX], log[PATH_MAX];
	json_t *result = NULL;

	sweep_point_path(sweep, child->point, ".part", part);
	sweep_point_path(sweep, child->point, ".json", path);
	sweep_point_path(sweep, child->point, ".log", log);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		result = sweep_result_load(part);
	if (result == NULL) {
		describe_failure(status, log, fault);
		unlink(part);
		return NULL;
	}
	if (rename(part, path) != 0) {
		fault_set(fault, errno, "%s: %s", path, strerror(errno));
		json_decref(result);
		return NULL;
	}
	unlink(log);
	return result;
}

void sweep_child_forget(const struct sweep_child *child, const struct sweep *sweep)
{
	char path[PATH_MAX];

	sweep_point_path(sweep, child->point, ".part", path);
	unlink(path);
	sweep_point_path(sweep, child->point, ".log", path);
	unlink(path);
}
