/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One change of tables (docs/explanation/the-mapper.md, 'Distribution'). The mapper sends images in
 * parts to the devices whose tables change. Unless the change may go live, it then pauses and
 * drains the fabric. Finally it commits and, after a pause, resumes. If the fabric does not drain,
 * all devices are purged and drained again. Each step repeats its request to each device concerned
 * until the device's status confirms it; the number of outstanding requests is limited. A failure
 * before the first commit cancels the change, which then has no effect. Single-threaded; no
 * clock. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "fabric_map.h"
#include "mapper_frame.h"
#include "table_image.h"

struct distribution_config {
	uint16_t priority;
	uint32_t session; /* session of the mapper */
	unsigned outstanding;
	weft_time retry_ps;
	unsigned tries;
	unsigned part_bytes; /* image bytes per frame, 1 to MAPPER_PART_MAX */
	weft_time drain_ps;  /* maximum wait for an idle fabric, before and after a purge */
	weft_time settle_ps; /* minimum time between two idle reports that prove idleness; must
				exceed a frame's time on a cable */
};

enum distribution_step {
	DISTRIBUTION_IDLE, /* not started, or finished */
	DISTRIBUTION_PREPARE,
	DISTRIBUTION_PAUSE,
	DISTRIBUTION_DRAIN,
	DISTRIBUTION_PURGE, /* followed by another DRAIN */
	DISTRIBUTION_COMMIT,
	DISTRIBUTION_RESUME,
	DISTRIBUTION_ABORT,
};

struct distribution_target {
	uint32_t device;          /* index in the map */
	struct table_image image; /* bytes NULL: tables are unchanged */
	uint32_t staged;
	uint16_t tries;
	bool asked, done, failed;
	bool refused; /* the device refused its image */
	weft_time due;
};

struct distribution {
	struct distribution_config config;
	const struct fabric_map *map;
	struct mapper_speaker *speaker;

	struct distribution_target *target;
	uint32_t targets, room;
	uint32_t *target_of; /* [map device] target index, or MAP_NONE */
	uint32_t known;      /* number of entries in target_of */
	uint32_t next,
		/* next: first target not known to be asked in this step; open: targets not done */
		open;
	unsigned outstanding;

	enum distribution_step step;
	uint32_t epoch;
	uint16_t round;  /* number of the current step or drain round */
	bool pause;      /* uses pause and drain */
	bool purge;      /* the fabric did not drain in time */
	bool drained;    /* all devices were idle before the commit */
	bool failed;     /* cancelled without effect */
	bool incomplete; /* committed, but at least one device did not answer */
	unsigned idle_rounds;
	bool round_idle;
	weft_time drain_until, round_at;
	/* ID of a higher-priority mapper reported by a device; 0: none. */
	uint64_t greater;
	uint16_t greater_priority;
	uint64_t sent, retried, changes, pauses, purges;
};

/* Returns 0 or -ENOMEM. */
int distribution_init(struct distribution *distribution, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker);
void distribution_fini(struct distribution *distribution);

/* distribution_clear() removes all targets. Then add each present device once, with its new image,
 * whose ownership is transferred, or an empty one. Both functions return 0 or -ENOMEM. */
int distribution_clear(struct distribution *distribution);
int distribution_add(
	struct distribution *distribution, uint32_t device, const struct table_image *image);
void distribution_start(
	struct distribution *distribution, uint32_t epoch, bool pause, weft_time now);
/* Abandons the distribution in its current state, as if the mapper had died. */
void distribution_stop(struct distribution *distribution);

/* Cancels the distribution unless the commit has started. */
void distribution_call_off(struct distribution *distribution, weft_time now);
/* Stops waiting for a device that is gone. */
void distribution_lose(struct distribution *distribution, uint32_t device, weft_time now);

/* Returns true if it filled a frame, for port 0 or the local agent (MAPPER_PORT_LOCAL). */
bool distribution_poll(
	struct distribution *distribution, weft_time now, struct mapper_frame *frame);
weft_time distribution_due(const struct distribution *distribution, weft_time now);
/* Handles an authenticated, new status of a device. */
void distribution_on_status(struct distribution *distribution, uint32_t device,
	const struct mapper_status *status, weft_time now);

static inline bool distribution_done(const struct distribution *distribution)
{
	return distribution->step == DISTRIBUTION_IDLE;
}

/* Reads the images that devices use, for a mapper that did not create them
 * (docs/explanation/the-mapper.md, 'Distribution'). Parts are requested from each device until its
 * image is complete; the number of outstanding requests is limited. If the digest changes
 * meanwhile, the image was replaced and is read again from the start. Single-threaded; no clock. */

/* Maximum image size. */
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
	struct distribution_config config; /* same limits as for sending */
	const struct fabric_map *map;
	struct mapper_speaker *speaker;
	struct image_read *read;
	uint32_t reads, room;
	uint32_t open; /* images that are not done */
	unsigned outstanding;
	bool failed; /* at least one image could not be read */
	uint64_t sent;
};

void image_reading_init(struct image_reading *reading, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker);
void image_reading_fini(struct image_reading *reading);

/* Removes all reads. Call image_reading_add() (0 or -ENOMEM) once for each present device. */
void image_reading_clear(struct image_reading *reading);
int image_reading_add(struct image_reading *reading, uint32_t device);

/* Returns true if it filled a frame, for port 0 or the local agent (MAPPER_PORT_LOCAL). */
bool image_reading_poll(struct image_reading *reading, weft_time now, struct mapper_frame *frame);
weft_time image_reading_due(const struct image_reading *reading, weft_time now);
/* Handles an authenticated, new part of a device's image. */
void image_reading_on_part(struct image_reading *reading, uint32_t device,
	const struct mapper_image_part *part, weft_time now);

/* Returns true if no image is being read. */
static inline bool image_reading_done(const struct image_reading *reading)
{
	return reading->open == 0;
}
