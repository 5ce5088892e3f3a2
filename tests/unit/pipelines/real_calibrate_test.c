/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'dilation: auto' on machines whose lateness the test determines. The linker replaces the
 * fabric. */

#include "real/real_fabric.h"

#include <errno.h>

#include "unit.h"

static const char text[] = "weft: run/1\n"
			   "topology: \"ring:switches=3,hosts=1\"\n"
			   "clock: real\n"
			   "traffic: [{pattern: uniform, load: 1%, message: 1KiB}]\n";

static uint32_t good_from; /* dilation from which the machine is fast enough */
static unsigned trials;
static unsigned busy_trial; /* dilation at which it always fails; 0: none */
static uint32_t dilation_of_trial;

struct real_fabric *__wrap_real_fabric_create(
	const struct real_fabric_options *options, struct error *error);
void __wrap_real_fabric_run(
	struct real_fabric *fabric, weft_time duration, const atomic_bool *stop);
int __wrap_real_fabric_result(
	struct real_fabric *fabric, struct run_result *result, struct error *error);
void __wrap_real_fabric_destroy(struct real_fabric *fabric);

struct real_fabric *__wrap_real_fabric_create(
	const struct real_fabric_options *options, struct error *error)
{
	static char fabric;

	dilation_of_trial = options->run->dilation;
	return (struct real_fabric *)&fabric;
}

void __wrap_real_fabric_run(struct real_fabric *fabric, weft_time duration, const atomic_bool *stop)
{
}

/* A thousand arrivals with a latency of 10 us, late by 10 us or by 1 ns. */
int __wrap_real_fabric_result(
	struct real_fabric *fabric, struct run_result *result, struct error *error)
{
	bool good = dilation_of_trial >= good_from && ++trials != busy_trial;

	for (unsigned i = 0; i < 1000; i++) {
		histogram_record(&result->network_due_ns, 10000);
		histogram_record(&result->fidelity.late_ns, good ? 1 : 10000);
	}
	return 0;
}

void __wrap_real_fabric_destroy(struct real_fabric *fabric)
{
}

/* Returns the result of real_calibrate(). 'dilation' is its choice. */
static int calibrate(uint32_t from, unsigned busy, const char *demand, uint32_t *dilation)
{
	struct error error = {""};
	struct run_config *run =
		run_config_parse(text, strlen(text), "r.yaml", &demand, demand != NULL, &error);
	const struct real_fabric_options options = {.run = run};
	char *said;
	size_t length;
	FILE *out = open_memstream(&said, &length);
	int result;

	assert_non_null(run);
	trials = 0;
	good_from = from;
	busy_trial = busy;
	result = real_calibrate(&options, NULL, out, dilation, &error);
	if (result < 0)
		assert_non_null(strstr(error.text, "too busy for any dilation up to 100000"));
	fclose(out);
	free(said);
	run_config_destroy(run);
	return result;
}

static const char *const demands[] = {NULL, "fidelity={late: 1us, share: 99%}"};

UNIT_TEST(a_machine_that_is_too_busy_for_each_dilation_cannot)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t dilation = 77;
		int result = calibrate(UINT32_MAX, 0, demands[i], &dilation);

		assert_int_equal(error_exit_code(result), 3);
		assert_int_equal(dilation, 77);
	}
}

UNIT_TEST(the_dilation_above_the_smallest_that_meets_the_demand_twice_is_chosen_or_1)
{
	static const struct {
		uint32_t from;
		unsigned busy;
		uint32_t chosen;
	} cases[] = {{1, 0, 1}, {3, 0, 10}, {50000, 0, 100000}, {100000, 0, 100000}, {1, 2, 5},
		{5, 1, 20}};

	for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t dilation = 0;

		assert_int_equal(
			calibrate(cases[i / 2].from, cases[i / 2].busy, demands[i % 2], &dilation),
			0);
		assert_int_equal(dilation, cases[i / 2].chosen);
	}
}
