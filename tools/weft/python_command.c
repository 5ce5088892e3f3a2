/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "common/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Debian's interpreter has the package's modules; another one may come first in PATH. */
static const char *const interpreters[] = {"/usr/bin/python3", "python3"};

#define MAIN "/weft/__main__.py"

/* Names this executable to the package, which starts it for its own needs. */
static void set_program(void)
{
	char program[PATH_MAX] = "";

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		setenv("WEFT", program, 1);
}

/* An interpreter finds its library by the name that it is started with. Returns if it cannot start.
 */
static void start(const char *interpreter, char **words)
{
	words[0] = (char *)interpreter;
	execvp(interpreter, words);
}

int cmd_python(int argc, char **argv)
{
	const char *wanted = getenv("WEFT_PYTHON");
	char script[] = PYTHON_SOURCE MAIN, installed[] = PYTHON_INSTALLED MAIN;
	char isolated[] = "-I", **words;

	words = calloc((size_t)argc + 4, sizeof(*words));
	if (words == NULL)
		return (int)command_fail(argv[0], EXIT_NOT_ABLE, "no memory");
	words[1] = isolated; /* files of the working directory are not imported */
	words[2] = access(script, R_OK) == 0 ? script : installed;
	memcpy(words + 3, argv, (size_t)argc * sizeof(*words));
	if (access(words[2], R_OK) < 0)
		return (int)command_fail(argv[0], EXIT_NOT_ABLE,
			"%s is missing; it is in the package python3-weft", words[2]);
	set_program();
	if (wanted != NULL)
		start(wanted, words);
	for (size_t i = 0; wanted == NULL && i < sizeof(interpreters) / sizeof(interpreters[0]);
		i++)
		start(interpreters[i], words);
	return (int)command_fail(argv[0], EXIT_NOT_ABLE, "cannot start %s: %s",
		wanted != NULL ? wanted : "python3", strerror(errno));
}
