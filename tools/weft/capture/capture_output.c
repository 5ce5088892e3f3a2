/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_output.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/weft_time.h"
#include "lab/lab_signals.h"

/* draft-ietf-opsawg-pcapng */
#define SECTION_HEADER 0x0A0D0D0Au
#define INTERFACE      1u
#define PACKET         6u
#define TIME_AT        12u /* in a packet, upper half first */

/* Sizes of disks have decimal units as well. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const struct {
		const char *unit;
		uint64_t bytes;
	} units[] = {{"kB", 1000}, {"MB", 1000000}, {"GB", 1000000000}};
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*text >= '1' && *text <= '9' && strcmp(end, units[i].unit) == 0 &&
			number <= UINT64_MAX / units[i].bytes) {
			*bytes = number * units[i].bytes;
			return true;
		}
	return quantity_parse(QUANTITY_SIZE, text, bytes) == 0 && *bytes > 0;
}

int capture_limits_parse(struct capture_limits *limits, const char *rotate, struct error *error)
{
	const char *comma = strchr(rotate, ',');
	char text[64], *end = NULL;
	unsigned long files = 0;
	uint64_t time_ps;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(rotate, ","), rotate);
	if (comma != NULL)
		files = strtoul(comma + 1, &end, 10);
	if (comma != NULL &&
		(comma[1] < '0' || comma[1] > '9' || *end != '\0' || files < 2 || files > 99999))
		return error_set(
			error, EINVAL, "--rotate %s: expected from 2 to 99999 files", rotate);
	limits->files = (uint32_t)files;
	if (parse_size(text, &limits->rotate_bytes))
		return 0;
	if (quantity_parse(QUANTITY_TIME, text, &time_ps) == 0 && time_ps >= PS_PER_MS) {
		limits->rotate_ns = time_ps / PS_PER_NS;
		return 0;
	}
	return error_set(error, EINVAL,
		"--rotate %s: expected a size such as 100MB, or a time such as 60s, and ',FILES' to "
		"keep only the last ones",
		rotate);
}

static bool rotates(const struct capture_output *output)
{
	return output->limits->rotate_bytes > 0 || output->limits->rotate_ns > 0;
}

/* "lab.pcapng" becomes "lab-00001.pcapng". */
static void name_file(const struct capture_output *output, uint32_t file, char *name, size_t size)
{
	const char *slash = strrchr(output->path, '/');
	const char *dot = strrchr(slash != NULL ? slash : output->path, '.');
	int stem = (int)(dot != NULL ? (size_t)(dot - output->path) : strlen(output->path));

	if (rotates(output))
		snprintf(name, size, "%.*s-%05" PRIu32 "%s", stem, output->path, file,
			dot != NULL ? dot : "");
	else
		snprintf(name, size, "%s", output->path);
}

static int open_file(struct capture_output *output, struct error *error)
{
	name_file(output, output->file, output->name, sizeof(output->name));
	output->fd = open(output->name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return output->fd < 0 ? error_set(error, errno, "%s: %s", output->name, strerror(errno))
			      : 0;
}

int capture_output_open(struct capture_output *output, const char *path,
	const struct capture_limits *limits, struct error *error)
{
	*output = (struct capture_output){
		.fd = STDOUT_FILENO, .path = "standard output", .limits = limits, .file = 1};
	if (path != NULL && strcmp(path, "-") != 0) {
		output->path = path;
		return open_file(output, error);
	}
	if (rotates(output))
		return error_set(error, EINVAL, "--rotate: expected -o FILE");
	if (isatty(STDOUT_FILENO))
		return error_set(error, EINVAL,
			"a terminal cannot show a capture: expected -o FILE, or a pipe into "
			"'wireshark -k -i -'");
	return 0;
}

int capture_output_begin(struct capture_output *output, struct error *error)
{
	/* Only files have a length. */
	if (output->fd != STDOUT_FILENO && ftruncate(output->fd, 0) < 0 && errno != EINVAL)
		return error_set(error, errno, "%s: %s", output->name, strerror(errno));
	return 0;
}

static bool write_all(struct capture_output *output, const void *bytes, size_t count)
{
	output->bytes += count;
	while (count > 0) {
		ssize_t written = write(output->fd, bytes, count);

		if (written < 0 && errno == EINTR && !lab_interrupted())
			continue;
		if (written <= 0) {
			output->write_errno = written < 0 ? errno : EIO;
			return false;
		}
		bytes = (const char *)bytes + written;
		count -= (size_t)written;
	}
	return true;
}

static bool keep_head(struct capture_output *output, const void *block, size_t bytes)
{
	uint8_t *grown = realloc(output->head, output->head_bytes + bytes);

	if (grown == NULL) {
		output->write_errno = ENOMEM;
		return false;
	}
	output->head = grown;
	memcpy(output->head + output->head_bytes, block, bytes);
	output->head_bytes += bytes;
	return true;
}

/* Starts the next file, and removes the one that is too many. */
static bool next_file(struct capture_output *output)
{
	char old[sizeof(output->name)];
	struct error error;

	if (close(output->fd) != 0) {
		output->write_errno = errno;
		return false;
	}
	output->fd = -1;
	if (output->limits->files > 0 && output->file >= output->limits->files) {
		name_file(output, output->file - output->limits->files + 1, old, sizeof(old));
		unlink(old);
	}
	output->file++;
	output->bytes = output->frames = 0;
	if (open_file(output, &error) < 0 || ftruncate(output->fd, 0) < 0) {
		output->write_errno = errno;
		return false;
	}
	return write_all(output, output->head, output->head_bytes);
}

/* A file has at least one frame. Frames of several ports are not in order. */
static bool is_file_full(const struct capture_output *output, uint64_t now_ns, size_t bytes)
{
	const struct capture_limits *limits = output->limits;

	return output->frames > 0 &&
	       ((limits->rotate_bytes > 0 && output->bytes + bytes > limits->rotate_bytes) ||
		       (limits->rotate_ns > 0 && now_ns > output->began_ns &&
			       now_ns - output->began_ns >= limits->rotate_ns));
}

static bool write_packet(struct capture_output *output, const void *block, size_t bytes)
{
	uint32_t time[2];
	uint64_t now_ns;

	if (capture_output_is_full(output))
		return true;
	memcpy(time, (const uint8_t *)block + TIME_AT, sizeof(time));
	now_ns = (uint64_t)time[0] << 32 | time[1];
	if (is_file_full(output, now_ns, bytes) && !next_file(output))
		return false;
	if (output->frames++ == 0)
		output->began_ns = now_ns;
	output->all_frames++;
	return write_all(output, block, bytes);
}

bool capture_output_write(void *ctx, const void *block, size_t bytes)
{
	struct capture_output *output = ctx;
	uint32_t type;

	memcpy(&type, block, sizeof(type));
	if (type == PACKET)
		return bytes >= TIME_AT + 8 && write_packet(output, block, bytes);
	if ((type == SECTION_HEADER || type == INTERFACE) && rotates(output) &&
		!keep_head(output, block, bytes))
		return false;
	return write_all(output, block, bytes);
}

bool capture_output_is_full(const struct capture_output *output)
{
	return output->limits->frames > 0 && output->all_frames >= output->limits->frames;
}

int capture_output_close(struct capture_output *output, struct error *error)
{
	int fd = output->fd;

	free(output->head);
	output->head = NULL;
	output->fd = -1;
	if (fd <= STDOUT_FILENO || close(fd) == 0)
		return 0;
	return error_set(error, errno, "%s: cannot be written: %s", output->name, strerror(errno));
}
