/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "part_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS  20
#define TEXT_MAX 65536

static size_t count_words(const char *const *words)
{
	size_t count = 0;

	while (words[count] != NULL)
		count++;
	return count;
}

const char **part_child_words(const char *const *first, const json_t *more)
{
	size_t begun = count_words(first), count = json_array_size(more);
	const char **words = calloc(begun + count + 1, sizeof(*words));

	for (size_t i = 0; words != NULL && i < begun; i++)
		words[i] = first[i];
	for (size_t i = 0; words != NULL && i < count; i++)
		words[begun + i] = json_string_value(json_array_get(more, i));
	return words;
}

/* Runs in the child; does not return. */
static void become(const char *const *words, int out, int err)
{
	size_t count = count_words(words);
	char **argv = calloc(count + 2, sizeof(*argv));
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (argv == NULL)
		_exit(EXIT_NOT_ABLE);
	argv[0] = (char *)(uintptr_t) "weft";
	for (size_t i = 0; i < count; i++)
		argv[1 + i] = (char *)(uintptr_t)words[i];
	dup2(null, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	if (err >= 0)
		dup2(err, STDERR_FILENO);
	execv("/proc/self/exe", argv);
	_exit(EXIT_NOT_ABLE);
}

/* Returns whether the input has ended. A console sends no further request before it has received
 * the answer. */
static bool input_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, LOOK_MS) > 0;
}

/* Waits for the child, and returns its exit code. */
static int wait_for(pid_t pid)
{
	bool asked = false;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (asked)
			poll(NULL, 0, LOOK_MS);
		else if (input_ended()) {
			asked = true;
			kill(pid, SIGTERM);
		}
	}
	if (asked && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return EXIT_INTERRUPTED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_ABLE;
}

static json_t *text_of(int fd)
{
	static char text[TEXT_MAX];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	json_t *value;

	text[got > 0 ? got : 0] = '\0';
	value = json_string(text);
	return value != NULL ? value : json_string("(no text)");
}

json_t *part_child_run(const char *const *words, const struct lab_lock *lock, struct error *error)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	pid_t pid = out >= 0 && err >= 0 ? fork() : -1;
	json_t *answer = NULL;

	if (pid == 0) {
		if (lock != NULL)
			lab_lock_pass(lock);
		become(words, out, err);
	}
	if (pid < 0) {
		error_set(error, errno, "cannot start a process: %s", strerror(errno));
	} else {
		int code = wait_for(pid);

		answer = json_pack(
			"{s:i,s:o,s:o}", "code", code, "out", text_of(out), "err", text_of(err));
	}
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return answer;
}

int part_child_pass(const char *const *words)
{
	pid_t pid = fork();

	if (pid == 0)
		become(words, -1, -1);
	return pid < 0 ? EXIT_NOT_ABLE : wait_for(pid);
}
