/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "file_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrays.h"

static char *refuse_file(const char *path, struct error *error)
{
	int code = errno;

	error_set(error, code, "%s: %s", path, strerror(code));
	/* A folder, an invalid name or a file that is too large is a bad request. */
	errno = code == EISDIR || code == ENOTDIR || code == ENAMETOOLONG || code == EFBIG ? EINVAL
											   : code;
	return NULL;
}

/* Allocator of the text. */
struct memory {
	void *(*resize)(void *memory, size_t bytes);
	void (*free)(void *memory);
};

static char *read_all(FILE *in, size_t max, size_t *length, struct memory memory)
{
	struct stat about;
	size_t room = 1 << 16;
	char *text, *grown;

	/* One byte more than a regular file's size, so that the first read finds its end. */
	if (fstat(fileno(in), &about) == 0 && about.st_size >= (off_t)room &&
		(size_t)about.st_size < max)
		room = (size_t)about.st_size + 1;
	text = memory.resize(NULL, room);
	*length = 0;
	while (text != NULL) {
		*length += fread(text + *length, 1, room - *length, in);
		if (*length < room)
			break;
		if (room > max) {
			memory.free(text);
			errno = EFBIG;
			return NULL;
		}
		room *= 2;
		grown = memory.resize(text, room);
		if (grown == NULL)
			memory.free(text);
		text = grown;
	}
	if (text != NULL && ferror(in)) {
		memory.free(text);
		return NULL;
	}
	if (text != NULL)
		text[*length] = '\0';
	return text;
}

/* A FIFO with a writer is a pipe, such as a shell's <(…). Without O_NONBLOCK, opening a FIFO that
 * has no writer would block forever. */
static FILE *open_fifo(int fd, const char *path, struct error *error)
{
	unsigned char first;
	ssize_t got = read(fd, &first, 1);
	FILE *in;

	if (got == 0) {
		close(fd);
		error_set(error, EINVAL, "%s: this FIFO has no writer; use a regular file", path);
		errno = EINVAL;
		return NULL;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	in = fdopen(fd, "r");
	if (in == NULL) {
		refuse_file(path, error);
		close(fd);
	} else if (got == 1) {
		ungetc(first, in);
	}
	return in;
}

FILE *file_text_open(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	FILE *in;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode))
		return open_fifo(fd, path, error);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (in != NULL)
		return in;
	refuse_file(path, error);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static char *read_text(
	const char *path, size_t max, size_t *length, struct memory memory, struct error *error)
{
	FILE *in = file_text_open(path, error);
	char *text;

	if (in == NULL)
		return NULL;
	text = read_all(in, max, length, memory);
	if (text == NULL)
		refuse_file(path, error);
	fclose(in);
	return text;
}

char *file_text_read(const char *path, size_t max, size_t *length, struct error *error)
{
	return read_text(path, max, length, (struct memory){realloc, free}, error);
}

char *file_text_read_spill(const char *path, size_t max, size_t *length, struct error *error)
{
	char *text = read_text(path, max, length, (struct memory){spill_resize, spill_free}, error);

	if (text != NULL)
		spill_read_in_order(text);
	return text;
}
