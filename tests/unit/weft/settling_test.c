/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial.h"

#include <errno.h>
#include <math.h>

#include "unit.h"

/* Ten messages of 100 ns, then ten of 200 ns, then twenty of 150: means 100, 150, 150. */
static const char run[] = "{\"series\": ["
			  "{\"t_ns\": 10, \"released\": 0.1, \"released_latency_ns\": 100},"
			  "{\"t_ns\": 20, \"released\": 0.1, \"released_latency_ns\": 200},"
			  "{\"t_ns\": 30, \"released\": 0.2, \"released_latency_ns\": 150}]}";

UNIT_TEST(the_deviation_is_that_of_the_mean_so_far_from_the_mean_of_all)
{
	json_t *result = json_loads(run, 0, NULL);
	struct settling settling = {.sample = NULL};

	assert_int_equal(settling_take(&settling, result), 0);
	assert_true(fabs(settling_deviation(&settling, 0) - 100.0 / 3) < 1e-9);
	assert_true(fabs(settling_deviation(&settling, 0.25) - 100.0 / 3) < 1e-9);
	assert_true(fabs(settling_deviation(&settling, 0.3)) < 1e-9);
	assert_true(fabs(settling_deviation(&settling, 1)) < 1e-9);
	settling_fini(&settling);
	json_decref(result);
}

UNIT_TEST(a_run_in_which_nothing_arrives_has_no_mean)
{
	json_t *none = json_loads("{\"series\": []}", 0, NULL);
	json_t *idle = json_loads(
		"{\"series\": [{\"t_ns\": 10, \"released\": 0, \"released_latency_ns\": 0}]}", 0,
		NULL);
	struct settling settling = {.sample = NULL};

	assert_int_equal(settling_take(&settling, none), -EINVAL);
	assert_int_equal(settling_take(&settling, idle), -EINVAL);
	assert_true(isnan(settling_deviation(&settling, 0)));
	settling_fini(&settling);
	json_decref(none);
	json_decref(idle);
}

UNIT_MAIN(NULL, NULL)
