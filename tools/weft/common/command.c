/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_escape.h"

#define MESSAGE_BYTES 4096

enum weft_exit command_fail(const char *name, enum weft_exit code, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_escape(text, sizeof(text));
	fprintf(stderr, "weft %s: %s\n", name, text);
	return code;
}

enum weft_exit command_fault(const char *name, int result, const struct fault *fault)
{
	return command_fail(name, fault_exit_code(result), "%s", fault->text);
}

bool command_wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return true;
	return false;
}

bool command_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number >= min &&
	       *number <= max;
}

int command_jobs(const char *text, unsigned max, unsigned *jobs, struct fault *fault)
{
	uint64_t number;

	if (!command_number(text, 1, max, &number))
		return fault_set(fault, EINVAL, "--jobs %s: expected 1 to %u", text, max);
	*jobs = (unsigned)number;
	return 0;
}

int command_print_json(json_t *document, size_t flags)
{
	int result = json_dumpf(document, stdout, JSON_INDENT(2) | flags);

	putchar('\n');
	json_decref(document);
	return result;
}

const char *command_root(void)
{
	const char *root = getenv("WEFT_SYSFS_ROOT");

	return root != NULL ? root : "";
}
