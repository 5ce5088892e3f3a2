/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "os/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

#define BYTES 100000

static char *make_text(void)
{
	char *text = malloc(BYTES + 1);

	assert_non_null(text);
	for (unsigned i = 0; i < BYTES; i++)
		text[i] = (char)('a' + i % 23);
	text[BYTES] = '\0';
	return text;
}

static unsigned read_piece(int fd, unsigned before)
{
	char piece[3000];
	ssize_t count = read(fd, piece, sizeof(piece));

	assert_true(count > 0);
	for (ssize_t i = 0; i < count; i++)
		assert_int_equal(piece[i], 'a' + (before + i) % 23);
	return (unsigned)count;
}

/* A pipe that is much smaller than the text and read only now and then. A program that waits for it
 * hangs. */
UNIT_TEST(a_full_pipe_is_not_waited_for)
{
	struct text_output output;
	unsigned bytes = 0, turns = 0;
	int end[2];

	assert_int_equal(pipe(end), 0);
	assert_true(fcntl(end[1], F_SETPIPE_SZ, 8192) > 0);
	text_output_begin(&output, end[1], make_text());
	for (; !text_output_write(&output); turns++)
		bytes += read_piece(end[0], bytes);
	assert_true(turns > 20);
	while (bytes < BYTES)
		bytes += read_piece(end[0], bytes);
	assert_null(output.text);
	assert_true(text_output_write(&output));
	/* The descriptor is still blocking, because other processes also use it. */
	assert_int_equal(fcntl(end[1], F_GETFL) & O_NONBLOCK, 0);
	close(end[0]);
	close(end[1]);
}

UNIT_TEST(what_nobody_will_read_is_forgotten)
{
	struct text_output output;
	int end[2];

	assert_int_equal(pipe(end), 0);
	close(end[1]);
	text_output_begin(&output, end[1], make_text());
	assert_true(text_output_write(&output));
	assert_null(output.text);
	close(end[0]);
}
