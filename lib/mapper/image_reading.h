/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads the images that devices use, part by part, for a mapper that did not make them
 * (docs/explanation/the-mapper.md, 'Distribution'). It requests parts from each device until its
 * image is complete; the number of outstanding requests is bounded. Digests tell the images apart:
 * an image that is replaced meanwhile is read again from the start. One thread; no clock. */

#include <stdbool.h>
#include <stdint.h>

#include "distribution.h"

/* No image is longer. */
#define IMAGE_READING_BYTES_MAX (64u << 20)

struct image_read {
	uint32_t device; /* index in the map */
	struct table_image image;
	uint32_t have; /* bytes read so far */
	uint64_t digest;
	uint16_t tries;
	bool asked, done, failed;
	weft_time due;
};

struct image_reading {
	struct distribution_config config; /* the same limits as for sending */
	const struct fabric_map *map;
	struct mapper_speaker *speaker;
	struct image_read *read;
	uint32_t reads, room;
	uint32_t open; /* images not done */
	unsigned outstanding;
	bool failed; /* an image could not be read */
	uint64_t sent;
};

void image_reading_init(struct image_reading *reading, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker);
void image_reading_fini(struct image_reading *reading);

/* Removes all reads. Then the caller adds present devices, each once. May return -ENOMEM. */
void image_reading_clear(struct image_reading *reading);
int image_reading_add(struct image_reading *reading, uint32_t device);

/* True if there is a frame to send: on port 0, or to the local agent (MAPPER_PORT_LOCAL). */
bool image_reading_poll(struct image_reading *reading, weft_time now, struct mapper_frame *frame);
weft_time image_reading_due(const struct image_reading *reading, weft_time now);
/* Handles an authenticated, new part of this device's image. */
void image_reading_on_part(struct image_reading *reading, uint32_t device,
	const struct mapper_image_part *part, weft_time now);

/* No image is being read. */
static inline bool image_reading_done(const struct image_reading *reading)
{
	return reading->open == 0;
}
