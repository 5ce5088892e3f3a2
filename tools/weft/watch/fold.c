/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <string.h>

#define INDENT 4

static int begins_character(char byte)
{
	return (byte & 0xC0) != 0x80;
}

/* Bytes of a line that fit: up to the last space within 'columns', or all of them. */
static size_t fitting(const char *line, size_t bytes, unsigned columns)
{
	size_t at = 0, space = 0;
	unsigned column = 0;

	for (; at < bytes; at++) {
		if (!begins_character(line[at]))
			continue;
		if (column++ == columns)
			return space > 0 ? space : at;
		if (line[at] == ' ' && at > strspn(line, " "))
			space = at;
	}
	return bytes;
}

static void print_line(const char *line, size_t bytes, unsigned columns, FILE *out)
{
	size_t indent = strspn(line, " "), fit = fitting(line, bytes, columns);

	if (indent + INDENT >= columns)
		indent = 0;
	fprintf(out, "%.*s\n", (int)fit, line);
	while (fit < bytes) {
		line += fit;
		bytes -= fit;
		while (bytes > 0 && *line == ' ') {
			line++;
			bytes--;
		}
		fit = fitting(line, bytes, columns - (unsigned)indent - INDENT);
		if (bytes > 0)
			fprintf(out, "%*s%.*s\n", (int)indent + INDENT, "", (int)fit, line);
	}
}

void fold_print(const char *text, unsigned columns, FILE *out)
{
	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");

		print_line(text, bytes, columns, out);
		text += bytes;
		text += *text == '\n';
	}
}
