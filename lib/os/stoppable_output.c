/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "stoppable_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct stoppable_output {
	int fd;
	const atomic_bool *stop;
};

/* Waits for room. 0; -1 and errno, EINTR if '*stop'. Signals are blocked except while it waits, so
 * that none arrives between the check of '*stop' and the wait. */
static int wait_for_room(const struct stoppable_output *output)
{
	struct pollfd room = {.fd = output->fd, .events = POLLOUT};
	sigset_t all, before;
	int ready = -1;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (ready < 0 && !atomic_load(output->stop)) {
		ready = ppoll(&room, 1, NULL, &before);
		if (ready < 0 && errno != EINTR)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (atomic_load(output->stop))
		errno = EINTR;
	return ready < 0 || atomic_load(output->stop) ? -1 : 0;
}

/* A cookie_write_function_t: all of it, or 0 and errno. A pipe with room has it for PIPE_BUF. */
static ssize_t write_all(void *cookie, const char *bytes, size_t count)
{
	const struct stoppable_output *output = cookie;

	for (size_t done = 0; done < count;) {
		size_t left = count - done;
		ssize_t written;

		if (wait_for_room(output) < 0)
			return 0;
		written = write(output->fd, bytes + done, left < PIPE_BUF ? left : PIPE_BUF);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return 0;
		done += written > 0 ? (size_t)written : 0;
	}
	return (ssize_t)count;
}

static int release(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *stoppable_output_open(int fd, const atomic_bool *stop)
{
	struct stoppable_output *output = malloc(sizeof(*output));
	FILE *stream;

	if (output == NULL)
		return NULL;
	*output = (struct stoppable_output){.fd = fd, .stop = stop};
	stream = fopencookie(
		output, "w", (cookie_io_functions_t){.write = write_all, .close = release});
	if (stream == NULL)
		free(output);
	return stream;
}
