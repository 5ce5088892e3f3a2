/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Efficiency over time around a hot spot. */

#include "transient.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"

#define MS 1e6 /* ns */

#define HEAD                                                                             \
	"weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: virtual\n"             \
	"switch: {mtu: 4KiB, buffer: 32KiB}\nrouting: {algorithm: dmodk, mode: table}\n" \
	"measure: {duration: 12ms, sample: 1ms}\n"

/* The course of a run file's run on 8 hosts. */
static struct transient begin(const char *traffic)
{
	struct transient transient;
	struct fault fault = {""};
	char text[1024];
	struct run_config *config;
	struct topology *topology;

	snprintf(text, sizeof(text), HEAD "%s", traffic);
	config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &fault);
	assert_string_equal(fault.text, "");
	topology = run_config_open_topology(config, &fault);
	assert_int_equal(transient_begin(&transient, config, topology, &fault), 0);
	topology_destroy(topology);
	run_config_destroy(config);
	return transient;
}

static void take(struct transient *transient, const double *accepted, unsigned samples)
{
	json_t *series = json_array(), *result;

	for (unsigned i = 0; i < samples; i++)
		json_array_append_new(series,
			json_pack("{s:f,s:f}", "t_ns", (i + 1) * MS, "released", accepted[i]));
	result = json_pack("{s:o}", "series", series);
	assert_int_equal(transient_take(transient, result), 0);
	json_decref(result);
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

#define HOT_SPOT                                                                               \
	"traffic: [{pattern: uniform, from: [h0, h1, h2, h3], load: 100%, message: 4KiB}, "    \
	"{pattern: hotspot, from: [h4, h5], to: [h7], load: 100%, message: 4KiB, start: 2ms, " \
	"stop: 10ms}]\n"

UNIT_TEST(a_hot_host_takes_what_its_link_carries_and_no_more)
{
	struct transient transient = begin(HOT_SPOT);

	/* Of four hosts' traffic 7/8 go elsewhere; 4/8 + 2 links' worth want to the hot one. */
	assert_near(transient.deliverable, (4 * 7 / 8.0 + 1) / 8);
	assert_near(transient.start_ns, 2 * MS);
	assert_near(transient.stop_ns, 10 * MS);
	transient_fini(&transient);
}

UNIT_TEST(without_a_hot_spot_all_that_is_generated_is_deliverable)
{
	struct transient transient =
		begin("traffic: [{pattern: uniform, from: all, load: 40%, message: 4KiB}]\n");
	static const double accepted[] = {
		0.1, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.3, 0.4, 0.4, 0.4, 0.2};

	assert_near(transient.deliverable, 0.4);
	take(&transient, accepted, 12);
	assert_near(transient_before(&transient), (0.4 * 4 + 0.3 + 0.2) / 6);
	assert_near(transient_minimum(&transient), 0.2);
	assert_near(transient_end(&transient), (0.4 + 0.2) / 2);
	assert_near(transient_back_ns(&transient), 0);
	assert_true(isnan(transient_at(&transient, MS)));
	transient_fini(&transient);
}

UNIT_TEST(a_network_that_recovers_is_told_from_one_that_does_not)
{
	/*                                  before    | the hot spot: 2 ms to 10 ms       | */
	static const double recovers[] = {
		0.1, 0.6, 0.3, 0.1, 0.2, 0.5, 0.2, 0.52, 0.54, 0.55, 0.05, 0.6};
	static const double stays[] = {0.1, 0.6, 0.3, 0.1, 0.2, 0.5, 0.2, 0.52, 0.2, 0.2, 0.6, 0.6};
	struct transient transient = begin(HOT_SPOT); /* deliverable: 0.5625, 0.9 of it 0.50625 */

	take(&transient, recovers, 12);
	assert_near(transient_before(&transient), 0.6);
	assert_near(transient_minimum(&transient), 0.1);
	assert_near(transient_at(&transient, 3 * MS), 0.2);
	assert_true(isnan(transient_at(&transient, 9 * MS)));
	assert_near(transient_end(&transient), 0.55);
	assert_near(transient_back_ns(&transient), 5 * MS);
	take(&transient, stays, 12);
	assert_true(isinf(transient_back_ns(&transient)));
	assert_near(transient_end(&transient), 0.2);
	transient_fini(&transient);
}

UNIT_TEST(a_hot_spot_that_outlasts_the_run_ends_with_it)
{
	struct transient transient = begin(
		"traffic: [{pattern: uniform, from: [h0], load: 100%, message: 4KiB}, "
		"{pattern: hotspot, from: [h4], to: [h7], load: 50%, message: 4KiB, start: 2ms}]\n");

	assert_near(transient.stop_ns, 12 * MS);
	assert_near(transient.deliverable, 1.5 / 8);
	transient_fini(&transient);
}

UNIT_TEST(a_result_without_samples_is_refused)
{
	struct transient transient = begin(HOT_SPOT);
	json_t *result = json_object();

	assert_int_equal(transient_take(&transient, result), -EINVAL);
	assert_true(isnan(transient_minimum(&transient)) && isnan(transient_end(&transient)));
	json_decref(result);
	transient_fini(&transient);
}

UNIT_MAIN(NULL, NULL)
