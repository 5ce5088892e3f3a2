/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arrays.h"
#include "capture/pcapng.h"
#include "lab/lab_signals.h"
#include "wire/pcapng_format.h"

#define INTERFACE_AT 8u  /* the interface's number, in packets and in counts */
#define TIME_AT      12u /* in a packet, upper half first */
#define COUNTS_BYTES 52u /* counts that Weft writes: numbers of frames received and dropped */
#define RECEIVED_AT  24u
#define DROPPED_AT   36u
#define ENDED        UINT64_MAX /* in 'counted': the last counts of the interface were written */

static int open_file(struct capture_output *output, struct error *error)
{
	output->fd = capture_rotation_open(&output->rotation, 0);
	return output->fd < 0 ? error_set(error, -output->fd, "%s: %s", output->rotation.name,
					strerror(-output->fd))
			      : 0;
}

int capture_output_open(struct capture_output *output, const char *path,
	const struct capture_limits *limits, struct error *error)
{
	*output = (struct capture_output){
		.fd = STDOUT_FILENO, .path = "standard output", .rotation = {.limits = limits}};
	if (path != NULL && strcmp(path, "-") != 0) {
		output->path = output->rotation.path = path;
		return open_file(output, error);
	}
	if (capture_rotates(&output->rotation))
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
		return error_set(error, errno, "%s: %s", output->rotation.name, strerror(errno));
	return 0;
}

static bool write_all(struct capture_output *output, const void *bytes, size_t count)
{
	output->rotation.bytes += count;
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

static int write_part(void *output, const void *bytes, size_t count)
{
	return write_all(output, bytes, count) ? 0 : -EIO;
}

/* Drops are left out, because only the last file knows them. */
static bool write_counts(struct capture_output *output, uint64_t now_ns)
{
	struct pcapng pcapng = {.write = write_part, .ctx = output};

	for (uint32_t i = 0; i < output->interfaces; i++) {
		if (output->counted[i] == ENDED)
			continue;
		pcapng_write_counts(&pcapng, i, now_ns, output->counted[i], 0);
		output->counted[i] = 0;
	}
	return pcapng.failed == 0;
}

static bool next_file(struct capture_output *output, uint64_t now_ns)
{
	struct error error;

	if (!write_counts(output, now_ns))
		return false;
	if (close(output->fd) != 0) {
		output->write_errno = errno;
		return false;
	}
	if (open_file(output, &error) < 0 || ftruncate(output->fd, 0) < 0) {
		output->write_errno = errno;
		return false;
	}
	return write_all(output, output->head, output->head_bytes);
}

static bool write_packet(struct capture_output *output, const void *block, size_t bytes)
{
	uint32_t time[2], interface;
	uint64_t now_ns;

	if (capture_output_is_full(output))
		return true;
	memcpy(&interface, (const uint8_t *)block + INTERFACE_AT, sizeof(interface));
	memcpy(time, (const uint8_t *)block + TIME_AT, sizeof(time));
	now_ns = (uint64_t)time[0] << 32 | time[1];
	while (capture_rotation_is_due(&output->rotation, now_ns, bytes))
		if (!next_file(output, now_ns))
			return false;
	output->frames++;
	if (interface < output->interfaces)
		output->counted[interface]++;
	return write_all(output, block, bytes);
}

static bool add_interface(struct capture_output *output)
{
	if (!array_reserve(&output->counted, &output->room, output->interfaces + 1u,
		    sizeof(*output->counted))) {
		output->write_errno = ENOMEM;
		return false;
	}
	output->counted[output->interfaces++] = 0;
	return true;
}

/* At the end of an interface: its counts are totals over all files. */
static bool write_last_counts(struct capture_output *output, const uint8_t *block, size_t bytes)
{
	uint8_t own[COUNTS_BYTES];
	uint32_t interface;
	uint64_t dropped;

	if (bytes != sizeof(own))
		return write_all(output, block, bytes);
	memcpy(own, block, sizeof(own));
	memcpy(&interface, own + INTERFACE_AT, sizeof(interface));
	memcpy(&dropped, own + DROPPED_AT, sizeof(dropped));
	if (interface < output->interfaces) {
		dropped += output->counted[interface];
		memcpy(own + RECEIVED_AT, &dropped, sizeof(dropped));
		output->counted[interface] = ENDED;
	}
	return write_all(output, own, sizeof(own));
}

bool capture_output_write(void *ctx, const void *block, size_t bytes)
{
	struct capture_output *output = ctx;
	bool rotates = capture_rotates(&output->rotation);
	uint32_t type;

	memcpy(&type, block, sizeof(type));
	if (type == PCAPNG_BLOCK_PACKET)
		return bytes >= TIME_AT + 8 && write_packet(output, block, bytes);
	if (type == PCAPNG_BLOCK_COUNTS && rotates)
		return write_last_counts(output, block, bytes);
	if (type == PCAPNG_BLOCK_INTERFACE && rotates && !add_interface(output))
		return false;
	if ((type == PCAPNG_BLOCK_SECTION || type == PCAPNG_BLOCK_INTERFACE) && rotates &&
		!keep_head(output, block, bytes))
		return false;
	return write_all(output, block, bytes);
}

bool capture_output_is_full(const struct capture_output *output)
{
	return output->rotation.limits->frames > 0 &&
	       output->frames >= output->rotation.limits->frames;
}

int capture_output_close(struct capture_output *output, struct error *error)
{
	int fd = output->fd;

	free(output->head);
	free(output->counted);
	output->head = NULL;
	output->counted = NULL;
	output->fd = -1;
	if (fd <= STDOUT_FILENO || close(fd) == 0)
		return 0;
	return error_set(
		error, errno, "%s: cannot be written: %s", output->rotation.name, strerror(errno));
}
