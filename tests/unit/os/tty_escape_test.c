/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "os/terminal.h"

/* In the child, whose streams are the terminal. */
static void speak(void)
{
	static struct tty_escape guard;

	tty_escape(&guard);
	printf("name \x1b[31m\r\n");
	fflush(stdout);
	fprintf(stderr, "\r50 %% \x1b[2J");
	fprintf(stderr, "\r\x1b[K%s", "60 % \x1b[K");
	fflush(stderr);
	_exit(0);
}

UNIT_TEST(a_terminal_gets_no_control_characters_but_those_of_progress)
{
	struct termios raw;
	char text[256] = "";
	size_t length = 0;
	ssize_t got;
	int terminal;
	pid_t pid;

	memset(&raw, 0, sizeof(raw));
	cfmakeraw(&raw);
	pid = forkpty(&terminal, NULL, &raw, NULL);
	assert_true(pid >= 0);
	if (pid == 0)
		speak();
	while (length < sizeof(text) - 1 &&
		(got = read(terminal, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	assert_string_equal(text, "name \\x1b[31m\\x0d\n\r50 % \\x1b[2J\r\x1b[K60 % \\x1b[K");
	waitpid(pid, NULL, 0);
	close(terminal);
}

UNIT_TEST(a_file_gets_all_bytes)
{
	static struct tty_escape guard;
	char text[16] = "";
	FILE *file = tmpfile();
	pid_t pid;

	assert_non_null(file);
	pid = fork();
	if (pid == 0) {
		dup2(fileno(file), STDOUT_FILENO);
		tty_escape(&guard);
		printf("\x1b[31m\r\n");
		fflush(stdout);
		_exit(0);
	}
	assert_true(pid > 0);
	waitpid(pid, NULL, 0);
	rewind(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_string_equal(text, "\x1b[31m\r\n");
	fclose(file);
}
