/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "permutation.h"

#include <stdio.h>
#include <string.h>

#include "file_text.h"

#define LINE_MAX_BYTES 256
#define BLANKS         " \t\r\n"

static int take_line(struct pair_file *file, char *line)
{
	char *rest, *first, *second;

	line[strcspn(line, "#")] = '\0';
	first = strtok_r(line, BLANKS, &rest);
	if (first == NULL)
		return 0;
	second = strtok_r(NULL, BLANKS, &rest);
	if (second == NULL || strtok_r(NULL, BLANKS, &rest) != NULL)
		return fault_set(file->fault, EINVAL, "%s:%u: expected %s", file->path, file->line,
			file->words);
	return file->take(file->ctx, first, second);
}

int pair_file_read(struct pair_file *file)
{
	FILE *in = file_text_open(file->path, file->fault);
	char line[LINE_MAX_BYTES];
	int result = 0;

	if (in == NULL)
		return -errno;
	while (result == 0 && fgets(line, sizeof(line), in) != NULL) {
		file->line++;
		if (strchr(line, '\n') == NULL && !feof(in))
			result = fault_set(file->fault, EINVAL, "%s:%u: the line is too long",
				file->path, file->line);
		else
			result = take_line(file, line);
	}
	if (result == 0 && ferror(in))
		result = fault_set(file->fault, errno, "%s: %s", file->path, strerror(errno));
	fclose(in);
	return result;
}
