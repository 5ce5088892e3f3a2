/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One change of tables (docs/explanation/the-mapper.md, 'Distribution'): sends parts of images to
 * the devices that get new ones; then, unless the change may go live, pauses and drains; then
 * commits and resumes. If the fabric does not drain, all devices are purged and drained again. Each
 * step repeats its request to every device concerned until the device's status confirms it; the
 * number of outstanding requests is bounded. A failure before the first commit cancels the change,
 * and nothing has changed. One thread; no clock. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "fabric_map.h"
#include "mapper_frame.h"
#include "table_image.h"

struct distribution_config {
	uint16_t priority;
	uint32_t session; /* the mapper's */
	unsigned outstanding;
	weft_time retry_ps;
	unsigned tries;
	unsigned part_bytes; /* bytes of an image per frame, 1 to MAPPER_PART_MAX */
	weft_time drain_ps;  /* maximum wait for an idle fabric, before and after a purge */
	weft_time settle_ps; /* minimum time between two idle reports that prove idleness: longer
				than a frame is on a cable */
};

enum distribution_step {
	DISTRIBUTION_IDLE, /* nothing to do, or done */
	DISTRIBUTION_PREPARE,
	DISTRIBUTION_PAUSE,
	DISTRIBUTION_DRAIN,
	DISTRIBUTION_PURGE, /* then drain again */
	DISTRIBUTION_COMMIT,
	DISTRIBUTION_RESUME,
	DISTRIBUTION_ABORT,
};

struct distribution_target {
	uint32_t device;          /* index in the map */
	struct table_image image; /* bytes NULL: its tables stay */
	uint32_t staged;
	uint16_t tries;
	bool asked, done, failed;
	bool refused; /* failed because it refused its image */
	weft_time due;
};

struct distribution {
	struct distribution_config config;
	const struct fabric_map *map;
	struct mapper_speaker *speaker;

	struct distribution_target *target;
	uint32_t targets, room;
	uint32_t *target_of; /* by device of the map; MAP_NONE */
	uint32_t known;      /* entries of target_of */
	uint32_t next,
		/* First target that may not have been asked in this step; targets not yet done. */
		open;
	unsigned outstanding;

	enum distribution_step step;
	uint32_t epoch;
	uint16_t round;  /* number of the current step, or round of draining */
	bool pause;      /* with pause and drain */
	bool purge;      /* it did not drain in time */
	bool drained;    /* every device was idle before the commit */
	bool failed;     /* cancelled: nothing has changed */
	bool incomplete; /* committed, but a device did not answer */
	unsigned idle_rounds;
	bool round_idle;
	weft_time drain_until, round_at;
	/* A higher mapper named in a status. */
	uint64_t greater;
	uint16_t greater_priority;
	uint64_t sent, retried, changes, pauses, purges;
};

/* -ENOMEM. */
int distribution_init(struct distribution *distribution, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker);
void distribution_fini(struct distribution *distribution);

/* Removes all targets. Then the caller adds each present device once, with its new image, which
 * becomes the distribution's, or an empty one. May return -ENOMEM. */
int distribution_clear(struct distribution *distribution);
int distribution_add(
	struct distribution *distribution, uint32_t device, const struct table_image *image);
void distribution_start(
	struct distribution *distribution, uint32_t epoch, bool pause, weft_time now);
/* Abandons the distribution in its current state, as if the mapper had died. */
void distribution_stop(struct distribution *distribution);

/* Cancels it unless something was committed. */
void distribution_call_off(struct distribution *distribution, weft_time now);
/* The device is gone: stops waiting for it. */
void distribution_lose(struct distribution *distribution, uint32_t device, weft_time now);

/* True if there is a frame to send: on port 0, or to the local agent (MAPPER_PORT_LOCAL). */
bool distribution_poll(
	struct distribution *distribution, weft_time now, struct mapper_frame *frame);
weft_time distribution_due(const struct distribution *distribution, weft_time now);
/* Handles an authenticated, new status of this device. */
void distribution_on_status(struct distribution *distribution, uint32_t device,
	const struct mapper_status *status, weft_time now);

static inline bool distribution_done(const struct distribution *distribution)
{
	return distribution->step == DISTRIBUTION_IDLE;
}

/* Reads the images that devices use, part by part, for a mapper that did not make them
 * (docs/explanation/the-mapper.md, 'Distribution'). It requests parts from each device until its
 * image is complete; the number of outstanding requests is bounded. Digests tell the images apart:
 * an image that is replaced meanwhile is read again from the start. One thread; no clock. */

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
