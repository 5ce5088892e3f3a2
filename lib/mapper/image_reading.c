/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "distribution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "fabric_map.h"
#include "table_image.h"
#include "wire/frame.h"

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

/* Returns an image of which a part can be requested now, for the first time or again. Gives up
 * images of lost devices and images that were requested too often. */
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
		 * duplicates; a request for each would double the requests permanently. */
		read->due = now;
	}
	if (read->have == read->image.length)
		finish(reading, read, false);
}

#define HEAD_BYTES 3 /* scheme, number of runs (2) */
#define RUN_BYTES  6 /* hosts per leaf (2), consecutive leaves (2), index of the first leaf (2) */

/* Consecutive leaves with the same number of consecutive hosts each, the common case. */
struct leaf_run {
	uint32_t each, leaves, first;
};

static unsigned number_of(const struct queuing_scheme *scheme)
{
	unsigned number = 0;

	while (queuing_scheme_at(number) != scheme)
		number++;
	return number;
}

/* Returns the number of consecutive hosts, starting at 'host', on the same leaf. */
static uint32_t hosts_in_a_row(const struct queuing *queuing, uint32_t host)
{
	uint32_t end = host + 1;

	while (end < queuing->hosts && queuing->leaf[end] == queuing->leaf[host])
		end++;
	return end - host;
}

static struct leaf_run run_at(const struct queuing *queuing, uint32_t host)
{
	struct leaf_run run = {hosts_in_a_row(queuing, host), 1, queuing->leaf[host]};

	for (uint32_t next = host + run.each;
		next < queuing->hosts && queuing->leaf[next] == run.first + run.leaves &&
		hosts_in_a_row(queuing, next) == run.each;
		next += run.each)
		run.leaves++;
	return run;
}

uint32_t image_queuing_put(uint8_t *at, const struct queuing *queuing)
{
	uint32_t runs = 0;

	if (queuing == NULL)
		return 0;
	for (uint32_t host = 0; host < queuing->hosts; runs++) {
		struct leaf_run run = run_at(queuing, host);

		if (at != NULL)
			image_put(image_put(image_put(at + HEAD_BYTES + RUN_BYTES * runs, run.each,
						    2),
					  run.leaves, 2),
				run.first, 2);
		host += run.each * run.leaves;
	}
	if (at != NULL)
		image_put(image_put(at, number_of(queuing->scheme), 1), runs, 2);
	return HEAD_BYTES + RUN_BYTES * runs;
}

uint32_t image_queuing_length(const uint8_t *at)
{
	return HEAD_BYTES + RUN_BYTES * (uint32_t)image_get(at + 1, 2);
}

static struct leaf_run read_run(const uint8_t *at)
{
	return (struct leaf_run){(uint32_t)image_get(at, 2), (uint32_t)image_get(at + 2, 2),
		(uint32_t)image_get(at + 4, 2)};
}

static bool covers_all_hosts(const uint8_t *at, uint32_t runs, uint32_t hosts)
{
	uint64_t covered = 0;

	for (uint32_t i = 0; i < runs; i++) {
		struct leaf_run run = read_run(at + HEAD_BYTES + RUN_BYTES * i);

		if (run.each == 0 || run.leaves == 0 || run.first + run.leaves > hosts)
			return false;
		covered += (uint64_t)run.each * run.leaves;
	}
	return covered == hosts;
}

uint32_t image_queuing_check(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned queues)
{
	struct queuing queuing = {.queues = queues, .hosts = hosts};
	struct error error;

	if (left < HEAD_BYTES || left < image_queuing_length(at) || queues > FRAME_VCS_MAX)
		return 0;
	for (unsigned i = 0; i <= at[0]; i++)
		if (queuing_scheme_at(i) == NULL)
			return 0;
	queuing.scheme = queuing_scheme_at(at[0]);
	if (!covers_all_hosts(at, (uint32_t)image_get(at + 1, 2), hosts) ||
		(queuing.scheme->check != NULL && queuing.scheme->check(&queuing, &error) < 0))
		return 0;
	return image_queuing_length(at);
}

struct queuing *image_queuing_read(const uint8_t *at, uint32_t hosts, unsigned queues)
{
	struct queuing *queuing = calloc(1, sizeof(*queuing));
	uint32_t *leaf = calloc(hosts + 1u, sizeof(*leaf)), host = 0;

	if (queuing == NULL || leaf == NULL) {
		free(queuing);
		free(leaf);
		errno = ENOMEM;
		return NULL;
	}
	*queuing = (struct queuing){
		.scheme = queuing_scheme_at(at[0]), .queues = queues, .hosts = hosts, .leaf = leaf};
	for (uint32_t i = 0; i < image_get(at + 1, 2); i++) {
		struct leaf_run run = read_run(at + HEAD_BYTES + RUN_BYTES * i);

		for (uint32_t k = 0; k < run.each * run.leaves; k++, host++)
			leaf[host] = run.first + k / run.each;
		if (run.first + run.leaves > queuing->leaves)
			queuing->leaves = run.first + run.leaves;
	}
	return queuing;
}
