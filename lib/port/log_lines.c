/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "log_lines.h"

#include <string.h>

int log_lines_cause(const char *log, const char **line)
{
	const char *text = log != NULL ? log : "";
	size_t length = strcspn(text, "\n");
	const char *end = text + length;
	const char *call = strstr(text, "(): ");

	if (strncmp(text, "EAL: ", 5) == 0)
		text += 5;
	else if (call != NULL && call < end)
		text = call + 4;
	text += strspn(text, " ");
	*line = text;
	return text < end ? (int)(end - text) : 0;
}
