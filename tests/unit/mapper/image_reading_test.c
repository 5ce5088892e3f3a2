/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reading the images that devices use: the request that follows each answer. */

#include "mapper/distribution.h"

#include "unit.h"

#define PARTS      8
#define PART_BYTES 16
#define SECOND     1 /* device of the map */

struct bench {
	struct fabric_map map;
	struct mapper_speaker speaker;
	struct image_reading reading;
	uint8_t image[PARTS * PART_BYTES];
};

static void bench_start(struct bench *bench)
{
	const struct distribution_config config = {.session = 1,
		.outstanding = 4,
		.retry_ps = PS_PER_MS,
		.tries = 3,
		.part_bytes = PART_BYTES};
	const struct mapper_reply host = {.kind = 1, .ports = 1};
	const struct mapper_reply second = {.ports = 4, .session = 9};

	memset(bench, 0, sizeof(*bench));
	memset(bench->image, 7, sizeof(bench->image));
	assert_int_equal(fabric_map_init(&bench->map), 0);
	assert_int_equal(fabric_map_add(&bench->map, 100, &host), 0);
	assert_int_equal(fabric_map_add(&bench->map, 200, &second), SECOND);
	fabric_map_connect(&bench->map, 0, 0, SECOND, 2);
	assert_int_equal(fabric_map_find_ways(&bench->map), 0);
	bench->speaker.id = 100;
	image_reading_init(&bench->reading, &config, &bench->map, &bench->speaker);
	assert_int_equal(image_reading_add(&bench->reading, SECOND), 0);
}

static void bench_end(struct bench *bench)
{
	image_reading_fini(&bench->reading);
	fabric_map_fini(&bench->map);
}

static unsigned questions(struct bench *bench, weft_time now)
{
	struct mapper_frame frame;
	unsigned count = 0;

	while (image_reading_poll(&bench->reading, now, &frame))
		count++;
	return count;
}

static void answer(struct bench *bench, unsigned part, weft_time now)
{
	const struct mapper_image_part message = {.total = sizeof(bench->image),
		.offset = part * PART_BYTES,
		.digest = 5,
		.bytes = PART_BYTES,
		.data = bench->image + part * PART_BYTES};

	image_reading_on_part(&bench->reading, SECOND, &message, now);
}

/* Otherwise, if a request was repeated because its answer was late, all later requests would be
 * doubled. */
UNIT_TEST(an_answer_that_comes_twice_is_asked_for_once)
{
	struct bench bench;

	bench_start(&bench);
	assert_int_equal(questions(&bench, 0), 1);
	for (unsigned part = 0; part < PARTS; part++) {
		answer(&bench, part, 0);
		assert_int_equal(questions(&bench, 0), part + 1 < PARTS);
		answer(&bench, part, 0);
		assert_int_equal(questions(&bench, 0), 0);
	}
	assert_true(image_reading_done(&bench.reading));
	assert_false(bench.reading.failed);
	assert_memory_equal(bench.reading.read[0].image.bytes, bench.image, sizeof(bench.image));
	bench_end(&bench);
}

UNIT_TEST(what_was_lost_is_asked_for_again)
{
	struct bench bench;

	bench_start(&bench);
	assert_int_equal(questions(&bench, 0), 1);
	answer(&bench, 1, 0);
	assert_int_equal(questions(&bench, PS_PER_MS - 1), 0);
	assert_int_equal(questions(&bench, PS_PER_MS), 1);
	assert_int_equal(bench.reading.read[0].have, 0);
	bench_end(&bench);
}
