/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "experiment/result/run_stream.h"

#define WAYS    4
#define VCS     2
#define SAMPLES 40
#define WIDTH   (RUN_LINK_FILL + VCS)

/* Random values, a third of which are 0. A root is 0 or 1. */
static void fill(uint32_t *value, struct rng *rng)
{
	for (unsigned i = 0; i < WAYS * WIDTH; i++) {
		uint64_t limit = i % WIDTH == RUN_LINK_ROOT ? 2 : RUN_LINK_SHARE_ONE + 1;

		value[i] = rng_below(rng, 3) == 0 ? 0 : (uint32_t)rng_below(rng, limit);
	}
}

static struct run_link_series make_series(void)
{
	struct run_link_series series = {.ways = WAYS, .vcs = VCS};
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint32_t *value = run_link_series_add(&series);

		assert_non_null(value);
		fill(value, &rng);
	}
	return series;
}

UNIT_TEST(a_series_comes_back_from_json_as_it_was)
{
	struct run_link_series series = make_series(), back = {.ways = WAYS, .vcs = VCS};

	for (unsigned i = 0; i < SAMPLES; i++)
		memset(run_link_series_add(&back), 0, WAYS * WIDTH * sizeof(uint32_t));
	for (uint32_t way = 0; way < WAYS; way++) {
		char *text;
		json_t *json = run_link_series_json(&series, way);

		text = json_dumps(json, 0);
		json_decref(json);
		json = json_loads(text, 0, NULL);
		assert_int_equal(run_link_series_parse(&back, way, json), 0);
		json_decref(json);
		free(text);
	}
	assert_memory_equal(
		back.value, series.value, SAMPLES * WAYS * WIDTH * sizeof(*series.value));
	run_link_series_free(&series);
	run_link_series_free(&back);
}

UNIT_TEST(buffers_and_roots_that_were_never_there_are_left_out)
{
	struct run_link_series series = {.ways = 1, .vcs = VCS};
	uint32_t *value = run_link_series_add(&series);
	json_t *json;

	memset(value, 0, WIDTH * sizeof(*value));
	json = run_link_series_json(&series, 0);
	assert_null(json_object_get(json, "fill"));
	assert_null(json_object_get(json, "root"));
	json_decref(json);
	value[RUN_LINK_FILL + 1] = RUN_LINK_SHARE_ONE / 4;
	value[RUN_LINK_ROOT] = 1;
	json = run_link_series_json(&series, 0);
	assert_true(json_is_true(json_array_get(json_object_get(json, "root"), 0)));
	assert_true(json_real_value(json_array_get(
			    json_array_get(json_object_get(json, "fill"), 1), 0)) == 0.25);
	json_decref(json);
	run_link_series_free(&series);
}

UNIT_TEST(json_of_another_shape_is_refused)
{
	static const char *const texts[] = {"{}",
		"{\"utilisation\": [0], \"blocked\": [0, 0], \"stalls\": [0, 0]}",
		"{\"utilisation\": [0, -1], \"blocked\": [0, 0], \"stalls\": [0, 0]}",
		"{\"utilisation\": [0, 0], \"blocked\": [0, 0], \"stalls\": [0, 0], \"fill\": "
		"[[0, 0]]}",
		"{\"utilisation\": 1, \"blocked\": [0, 0], \"stalls\": [0, 0]}"};
	struct run_link_series series = {.ways = 1, .vcs = VCS};

	run_link_series_add(&series);
	run_link_series_add(&series);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *json = json_loads(texts[i], 0, NULL);

		assert_int_equal(run_link_series_parse(&series, 0, json), -EINVAL);
		json_decref(json);
	}
	run_link_series_free(&series);
}

UNIT_TEST(a_stream_gives_each_sample_as_soon_as_it_is_whole)
{
	struct run_stream writer, reader;
	uint32_t values[WAYS * WIDTH], read[WAYS * WIDTH];
	struct run_sample sample = {.t_ns = 5}, got;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	struct error error;
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	assert_int_equal(run_stream_open(&reader, fd), 0);
	assert_int_equal(run_stream_begin(&writer, fd, WAYS, VCS, &error), 0);
	assert_int_equal(run_stream_open(&reader, fd), 1);
	assert_int_equal(reader.links.ways, WAYS);
	assert_int_equal(reader.links.vcs, VCS);
	for (unsigned i = 0; i < 3; i++) {
		assert_false(run_stream_next(&reader, &got, read));
		fill(values, &rng);
		sample.t_ns += 10;
		run_stream_add(&writer, &sample, values);
		assert_true(run_stream_next(&reader, &got, read));
		assert_int_equal(got.t_ns, sample.t_ns);
		assert_memory_equal(read, values, sizeof(values));
	}
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) + 1000), 0);
	assert_true(
		sizeof(sample) + sizeof(values) <= 1000 || !run_stream_next(&reader, &got, read));
	close(fd);
}

UNIT_TEST(a_stream_goes_on_where_there_is_no_more_room_for_links)
{
	enum { MANY = 600000 }; /* ways: one sample of them fits, and two do not */
	uint32_t *values = calloc(MANY, (RUN_LINK_FILL + 1) * sizeof(*values));
	struct run_sample sample = {.t_ns = 5}, got;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	struct run_stream writer, reader;
	struct error error;

	assert_non_null(values);
	assert_int_equal(run_stream_begin(&writer, fd, MANY, 1, &error), 0);
	assert_int_equal(run_stream_open(&reader, fd), 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(run_stream_has_values(&writer), i == 0);
		assert_int_equal(run_stream_has_values(&reader), i == 0);
		sample.t_ns++;
		run_stream_add(&writer, &sample, i == 0 ? values : NULL);
		assert_true(run_stream_next(&reader, &got, i == 0 ? values : NULL));
		assert_int_equal(got.t_ns, sample.t_ns);
	}
	free(values);
	close(fd);
}

UNIT_TEST(a_stream_of_something_else_is_refused)
{
	struct run_stream stream;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	struct error error;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(run_stream_begin(&stream, ends[1], WAYS, VCS, &error), -EINVAL);
	assert_int_equal(run_stream_begin(&stream, fd, WAYS, VCS, &error), 0);
	assert_int_equal(run_stream_begin(&stream, fd, WAYS, VCS, &error), -EINVAL);
	assert_int_equal(pwrite(fd, "W", 1, 0), 1);
	assert_int_equal(run_stream_open(&stream, fd), -EINVAL);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}
