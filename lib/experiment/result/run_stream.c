/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FORMAT "weft samples 1 " WEFT_VERSION

struct head {
	char format[48];
	uint32_t sample_bytes, ways, vcs;
};

static size_t value_bytes(const struct run_stream *stream)
{
	return run_link_series_values(&stream->links) * sizeof(*stream->links.value);
}

/* Returns the size of the next record. */
static size_t record_bytes(const struct run_stream *stream)
{
	return sizeof(struct run_sample) +
	       (run_stream_has_values(stream) ? value_bytes(stream) : 0);
}

static off_t place_of(const struct run_stream *stream)
{
	return (off_t)(sizeof(struct head) + stream->samples * sizeof(struct run_sample) +
		       stream->with_values * value_bytes(stream));
}

static void go_on(struct run_stream *stream)
{
	stream->with_values += run_stream_has_values(stream);
	stream->samples++;
}

static struct head head_of(uint32_t ways, uint32_t vcs)
{
	struct head head = {.sample_bytes = sizeof(struct run_sample), .ways = ways, .vcs = vcs};

	strncpy(head.format, FORMAT, sizeof(head.format) - 1);
	return head;
}

bool run_stream_has_values(const struct run_stream *stream)
{
	return stream->links.ways > 0 && !run_link_series_is_full(&stream->links, stream->samples);
}

int run_stream_begin(
	struct run_stream *stream, int fd, uint32_t ways, uint32_t vcs, struct error *error)
{
	struct head head = head_of(ways, vcs);
	struct stat status;

	*stream = (struct run_stream){.fd = fd, .links = {.ways = ways, .vcs = vcs}};
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size != 0)
		return error_set(
			error, EINVAL, "--live %d: not the number of an open, empty file", fd);
	if (pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head))
		return 0;
	return error_set(error, errno != 0 ? errno : EIO, "--live %d: cannot be written", fd);
}

void run_stream_add(
	struct run_stream *stream, const struct run_sample *sample, const uint32_t *values)
{
	size_t bytes = record_bytes(stream);
	/* The casts remove const; pwritev() only reads these buffers. */
	struct iovec part[2] = {{(void *)(uintptr_t)sample, sizeof(*sample)},
		{(void *)(uintptr_t)values, values != NULL ? bytes - sizeof(*sample) : 0}};

	if (stream->failed)
		return;
	if (pwritev(stream->fd, part, 2, place_of(stream)) == (ssize_t)bytes)
		go_on(stream);
	else
		stream->failed = true;
}

int run_stream_open(struct run_stream *stream, int fd)
{
	struct head head, expected;

	*stream = (struct run_stream){.fd = fd};
	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return 0;
	expected = head_of(head.ways, head.vcs);
	if (memcmp(&head, &expected, sizeof(head)) != 0)
		return -EINVAL;
	stream->links.ways = head.ways;
	stream->links.vcs = head.vcs;
	return 1;
}

bool run_stream_next(struct run_stream *stream, struct run_sample *sample, uint32_t *values)
{
	size_t bytes = record_bytes(stream);
	struct iovec part[2] = {{sample, sizeof(*sample)}, {values, bytes - sizeof(*sample)}};
	struct stat status;

	/* The file grows page by page during a write, so the record may be incomplete. */
	if (fstat(stream->fd, &status) < 0 || status.st_size < place_of(stream) + (off_t)bytes ||
		preadv(stream->fd, part, 2, place_of(stream)) != (ssize_t)bytes)
		return false;
	go_on(stream);
	return true;
}
