/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/weft_time.h"

/* Disk sizes may also have decimal units. */
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
	uint64_t time_ps, files = 0;
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(rotate, ","), rotate);
	if (comma != NULL && !quantity_number(comma + 1, 2, 99999, &files))
		return error_set(error, EINVAL, "--rotate %s: expected 2 to 99999 files", rotate);
	limits->files = (uint32_t)files;
	if (parse_size(text, &limits->rotate_bytes))
		return 0;
	if (quantity_parse(QUANTITY_TIME, text, &time_ps) == 0 && time_ps >= PS_PER_MS) {
		limits->rotate_ns = time_ps / PS_PER_NS;
		return 0;
	}
	return error_set(error, EINVAL,
		"--rotate %s: expected a size such as 100MB or a time such as 60s, optionally with "
		"',FILES' to keep only the newest files",
		rotate);
}

static void name_file(
	const struct capture_rotation *rotation, uint32_t file, char *name, size_t size)
{
	const char *slash = strrchr(rotation->path, '/');
	const char *dot = strrchr(slash != NULL ? slash : rotation->path, '.');
	int stem = (int)(dot != NULL ? (size_t)(dot - rotation->path) : strlen(rotation->path));

	if (capture_rotates(rotation))
		snprintf(name, size, "%.*s-%05" PRIu32 "%s", stem, rotation->path, file,
			dot != NULL ? dot : "");
	else
		snprintf(name, size, "%s", rotation->path);
}

int capture_rotation_open(struct capture_rotation *rotation, int flags)
{
	uint32_t keep = rotation->limits != NULL ? rotation->limits->files : 0;
	char old[sizeof(rotation->name)];
	int fd;

	if (keep > 0 && rotation->file >= keep) {
		name_file(rotation, rotation->file - keep + 1, old, sizeof(old));
		unlink(old);
	}
	name_file(rotation, ++rotation->file, rotation->name, sizeof(rotation->name));
	rotation->bytes = rotation->frames = 0;
	fd = open(rotation->name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	return fd < 0 ? -errno : fd;
}

bool capture_rotation_is_due(struct capture_rotation *rotation, uint64_t now_ns, size_t bytes)
{
	const struct capture_limits *limits = rotation->limits;

	/* Every file holds at least one frame. Frames of several ports may be out of order. */
	if (capture_rotates(rotation) && rotation->frames > 0 &&
		((limits->rotate_bytes > 0 && rotation->bytes + bytes > limits->rotate_bytes) ||
			(limits->rotate_ns > 0 && now_ns > rotation->began_ns &&
				now_ns - rotation->began_ns >= limits->rotate_ns)))
		return true;
	if (rotation->frames++ == 0)
		rotation->began_ns = now_ns;
	return false;
}
