/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_text.h"

static char path[] = "/tmp/weft-file-text-XXXXXX/fifo";

static int make(void **state)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	if (mkdtemp(path) == NULL)
		return -1;
	*slash = '/';
	return mkfifo(path, 0600);
}

static int clear(void **state)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

UNIT_TEST(a_fifo_without_a_writer_is_refused_at_once)
{
	struct error error;
	size_t length;

	assert_null(file_text_read(path, 100, &length, &error));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(error.text, "this FIFO has no writer; use a regular file"));
}

UNIT_TEST(a_fifo_with_a_writer_is_read)
{
	int fd = open(path, O_RDWR);
	struct error error;
	char text[6] = "";
	FILE *in;

	assert_int_equal(write(fd, "words", 5), 5);
	in = file_text_open(path, &error);
	assert_non_null(in);
	close(fd);
	assert_int_equal(fread(text, 1, 6, in), 5);
	assert_string_equal(text, "words");
	assert_int_equal(fcntl(fileno(in), F_GETFL) & O_NONBLOCK, 0);
	fclose(in);
}

UNIT_MAIN(make, clear)
