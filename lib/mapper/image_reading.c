/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "image_reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "fabric_map.h"

void image_reading_init(struct image_reading *reading, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker)
{
	*reading = (struct image_reading){.config = *config, .map = map, .speaker = speaker};
}

void image_reading_clear(struct image_reading *reading)
{
	for (uint32_t i = 0; i < reading->reads; i++)
		free(reading->read[i].image.bytes);
	reading->reads = reading->open = 0;
	reading->outstanding = 0;
	reading->failed = false;
}

void image_reading_fini(struct image_reading *reading)
{
	image_reading_clear(reading);
	free(reading->read);
	reading->read = NULL;
	reading->room = 0;
}

int image_reading_add(struct image_reading *reading, uint32_t device)
{
	if (!array_reserve(
		    &reading->read, &reading->room, reading->reads + 1u, sizeof(*reading->read)))
		return -ENOMEM;
	reading->read[reading->reads++] = (struct image_read){.device = device};
	reading->open++;
	return 0;
}

static void finish(struct image_reading *reading, struct image_read *read, bool failed)
{
	reading->outstanding -= read->asked;
	read->asked = false;
	read->done = true;
	read->failed = failed;
	reading->failed |= failed;
	reading->open--;
}

static void build_question(struct image_reading *reading, struct image_read *read, weft_time now,
	struct mapper_frame *frame)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = MAPPER_READ;
	message.read = (struct mapper_read){read->have, (uint16_t)reading->config.part_bytes};
	message.command.priority = reading->config.priority;
	message.command.session = reading->config.session;
	map_command_build(reading->map, read->device, reading->speaker, &message, frame);
	read->due = now + reading->config.retry_ps;
	read->tries++;
	reading->sent++;
}

/* A read that may be requested now, or again. Gives up reads of lost devices and those requested
 * too often. */
static struct image_read *next_read(struct image_reading *reading, weft_time now)
{
	for (uint32_t i = 0; i < reading->reads && reading->open > 0; i++) {
		struct image_read *read = &reading->read[i];

		if (read->done || (read->asked && now < read->due))
			continue;
		if (!reading->map->device[read->device].present ||
			read->tries >= reading->config.tries) {
			finish(reading, read, true);
			continue;
		}
		if (read->asked || reading->outstanding < reading->config.outstanding)
			return read;
	}
	return NULL;
}

bool image_reading_poll(struct image_reading *reading, weft_time now, struct mapper_frame *frame)
{
	struct image_read *read = next_read(reading, now);

	if (read == NULL)
		return false;
	reading->outstanding += !read->asked;
	read->asked = true;
	build_question(reading, read, now, frame);
	return true;
}

weft_time image_reading_due(const struct image_reading *reading, weft_time now)
{
	weft_time due = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < reading->reads && reading->open > 0; i++) {
		const struct image_read *read = &reading->read[i];

		if (read->done)
			continue;
		if (!read->asked && reading->outstanding < reading->config.outstanding)
			return now;
		if (read->asked && read->due < due)
			due = read->due;
	}
	return due;
}

static bool begin(struct image_read *read, const struct mapper_image_part *part)
{
	free(read->image.bytes);
	read->image = (struct table_image){NULL, 0};
	read->have = 0;
	read->digest = part->digest;
	if (part->total == 0 || part->total > IMAGE_READING_BYTES_MAX)
		return false;
	read->image = (struct table_image){malloc(part->total), part->total};
	return read->image.bytes != NULL;
}

static struct image_read *read_of(struct image_reading *reading, uint32_t device)
{
	for (uint32_t i = 0; i < reading->reads && reading->open > 0; i++)
		if (reading->read[i].device == device && reading->read[i].asked)
			return &reading->read[i];
	return NULL;
}

void image_reading_on_part(struct image_reading *reading, uint32_t device,
	const struct mapper_image_part *part, weft_time now)
{
	struct image_read *read = read_of(reading, device);

	if (read == NULL)
		return;
	if (read->image.bytes == NULL || part->digest != read->digest ||
		part->total != read->image.length) {
		if (!begin(read, part)) {
			finish(reading, read, true);
			return;
		}
	}
	if (part->offset == read->have) {
		memcpy(read->image.bytes + part->offset, part->data, part->bytes);
		read->have += part->bytes;
		read->tries = 0;
		/* Requests the next part only after the expected one. Other answers are late or
		 * duplicates: a request for each would double the requests from then on. */
		read->due = now;
	}
	if (read->have == read->image.length)
		finish(reading, read, false);
}
