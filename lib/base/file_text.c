/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "file_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *refuse_file(const char *path, struct fault *fault)
{
	int code = errno;

	fault_set(fault, code, "%s: %s", path, strerror(code));
	/* A folder, an impossible name, a file that is too large: bad requests. */
	errno = code == EISDIR || code == ENOTDIR || code == ENAMETOOLONG || code == EFBIG ? EINVAL
											   : code;
	return NULL;
}

static char *read_all(FILE *in, size_t most, size_t *length)
{
	size_t room = 1 << 16;
	char *text = malloc(room), *grown;

	*length = 0;
	while (text != NULL) {
		*length += fread(text + *length, 1, room - *length, in);
		if (*length < room)
			break;
		if (room > most) {
			free(text);
			errno = EFBIG;
			return NULL;
		}
		room *= 2;
		grown = realloc(text, room);
		if (grown == NULL)
			free(text);
		text = grown;
	}
	if (text != NULL && ferror(in)) {
		free(text);
		text = NULL;
	}
	return text;
}

char *file_text_read(const char *path, size_t most, size_t *length, struct fault *fault)
{
	FILE *in = fopen(path, "r");
	char *text;

	if (in == NULL)
		return refuse_file(path, fault);
	text = read_all(in, most, length);
	if (text == NULL)
		refuse_file(path, fault);
	fclose(in);
	return text;
}
