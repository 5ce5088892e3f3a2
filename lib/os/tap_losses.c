/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "tap.h"

/* Read by the thread that opens the TAPs, which is in the namespace. */
#define INTERFACES "/proc/thread-self/net/dev"
#define SOCKETS    "/proc/thread-self/net/snmp"
#define FULL       "RcvbufErrors"
#define TX_DROPPED 11    /* numbers before it in the line of an interface */
#define TEXT_BYTES 32768 /* some 250 interfaces */

struct losses_job {
	struct tap_losses *losses;
	bool sockets;
};

static int open_here(void *ctx, struct error *error)
{
	const struct losses_job *job = ctx;

	(void)error;
	job->losses->interfaces = open(INTERFACES, O_RDONLY | O_CLOEXEC);
	if (job->sockets)
		job->losses->sockets = open(SOCKETS, O_RDONLY | O_CLOEXEC);
	return 0;
}

void tap_losses_open(struct tap_losses *losses, const struct tap_options *options, bool sockets)
{
	struct losses_job job = {.losses = losses, .sockets = sockets};

	*losses = (struct tap_losses){.interfaces = -1, .sockets = -1};
	if (options->netns != NULL)
		netns_run(options->netns, open_here, &job, NULL);
	else
		open_here(&job, NULL);
	losses->sockets_before = tap_losses_sockets(losses);
}

void tap_losses_close(struct tap_losses *losses)
{
	if (losses->interfaces >= 0)
		close(losses->interfaces);
	if (losses->sockets >= 0)
		close(losses->sockets);
	*losses = (struct tap_losses){.interfaces = -1, .sockets = -1};
}

/* The file as it is now. */
static void read_text(int fd, char text[TEXT_BYTES])
{
	size_t used = 0;
	ssize_t more;

	while (used < TEXT_BYTES - 1 &&
		(more = pread(fd, text + used, TEXT_BYTES - 1 - used, (off_t)used)) > 0)
		used += (size_t)more;
	text[used] = '\0';
}

/* The text behind name and colon in the first line that begins with them; NULL: none does. */
static char *find_line(char *text, const char *name)
{
	size_t length = strlen(name);

	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += strspn(line, " \n");
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

uint64_t tap_losses_queue(const struct tap_losses *losses, const char *name)
{
	char text[TEXT_BYTES], *at;

	if (losses->interfaces < 0)
		return 0;
	read_text(losses->interfaces, text);
	at = find_line(text, name);
	for (unsigned i = 0; at != NULL && i < TX_DROPPED; i++)
		strtoull(at, &at, 10);
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* A line has the names, and the next one their values. */
static uint64_t count_sockets(int fd)
{
	char text[TEXT_BYTES];
	char *names, *values;

	read_text(fd, text);
	names = find_line(text, "Udp");
	values = names != NULL ? find_line(names, "Udp") : NULL;
	while (values != NULL && *names == ' ') {
		uint64_t count = strtoull(values, &values, 10);
		size_t length = strcspn(++names, " \n");

		if (length == strlen(FULL) && strncmp(names, FULL, length) == 0)
			return count;
		names += length;
	}
	return 0;
}

uint64_t tap_losses_sockets(const struct tap_losses *losses)
{
	uint64_t now = losses->sockets >= 0 ? count_sockets(losses->sockets) : 0;

	return now > losses->sockets_before ? now - losses->sockets_before : 0;
}
