/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lab_log_read(
	const struct lab_state *state, const struct lab_record *record, struct error *error)
{
	char path[400], *text = malloc(LAB_LOG_MAX + 1);
	size_t count = 0;
	FILE *file;

	lab_record_log(state, record, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL || text == NULL) {
		error_set(error, errno, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else {
		if (fseek(file, -(long)LAB_LOG_MAX, SEEK_END) != 0)
			rewind(file);
		count = fread(text, 1, LAB_LOG_MAX, file);
		for (size_t i = 0; i < count; i++)
			if (text[i] == '\0' || (text[i] & 0x80) != 0)
				text[i] = '?';
		text[count] = '\0';
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/* Behind "PROGRAM: " of a line; NULL: it does not begin so. */
static char *behind(char *line, const char *program)
{
	size_t length = strlen(program);

	return strncmp(line, program, length) == 0 && strncmp(line + length, ": ", 2) == 0
		       ? line + length + 2
		       : NULL;
}

bool lab_log_take_error(char *log, const char *program, char error[ERROR_TEXT])
{
	char *found = NULL, *rest;

	for (char *line = log; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *text = behind(line, program);

		if (text != NULL && strncmp(text, "warning: ", 9) != 0)
			found = line;
	}
	if (found == NULL)
		return false;
	rest = found + strcspn(found, "\n");
	snprintf(error, ERROR_TEXT, "%.*s", (int)(rest - behind(found, program)),
		behind(found, program));
	rest += *rest == '\n';
	memmove(found, rest, strlen(rest) + 1);
	return true;
}
