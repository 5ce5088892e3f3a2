/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "text_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void text_output_begin(struct text_output *output, int fd, char *text)
{
	*output = (struct text_output){.fd = fd, .text = text, .bytes = strlen(text)};
}

void text_output_end(struct text_output *output)
{
	free(output->text);
	*output = (struct text_output){.fd = -1};
}

/* A writable pipe takes PIPE_BUF bytes without waiting. The descriptor is shared with other
 * processes and must stay as it is, so O_NONBLOCK is not possible. */
static ssize_t write_some(struct text_output *output)
{
	struct pollfd ready = {.fd = output->fd, .events = POLLOUT};
	size_t left = output->bytes - output->written;

	if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) {
		errno = (ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? EPIPE : EAGAIN;
		return -1;
	}
	return write(output->fd, output->text + output->written, left < PIPE_BUF ? left : PIPE_BUF);
}

bool text_output_write(struct text_output *output)
{
	while (output->text != NULL && output->written < output->bytes) {
		ssize_t count = write_some(output);

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (count < 0)
			break;
		output->written += (size_t)count;
	}
	text_output_end(output);
	return true;
}
