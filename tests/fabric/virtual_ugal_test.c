/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* ugal in a ring on the virtual clock, with tornado traffic, for which dimension order uses only
 * one direction (Singh, "Load-Balanced Routing in Interconnection Networks", 2005). */

#include "virtual_drawn.h"
#include "virtual_lab.h"
#include "virtual_shift.h"

#define RING                                                         \
	"weft: run/1\n"                                              \
	"topology: \"torus:dims=8\"\n"                               \
	"clock: virtual\n"                                           \
	"link: {rate: 100Gbps, delay: 30ns}\n"                       \
	"switch: {vcs: 4}\n"                                         \
	"routing: {algorithm: ugal}\n"                               \
	"measure: {warmup: 200us, duration: 600us, sample: 100us}\n" \
	"traffic:\n"

static const char uniform[] = RING "  - {pattern: uniform, from: all, load: 100%, "
				   "message: 4KiB, arrivals: poisson}\n";
static const char tornado[] = RING "  - {pattern: permutation, file: none, load: 100%, "
				   "message: 4KiB, arrivals: poisson}\n";

static int write_tornado(void **state)
{
	(void)state;
	return virtual_shift_write(8, 3);
}

/* Returns accepted traffic in thousandths of the hosts' rate. */
static unsigned accepted(const char *algorithm, const char *load, bool shifts)
{
	return virtual_shift_accepted(shifts ? tornado : uniform, shifts, algorithm, load);
}

/* Dimension order is limited to a third, and falls further once links are full. */
UNIT_TEST(detours_carry_a_tornado_that_dimension_order_does_not)
{
	assert_in_range(accepted("routing.algorithm=dor", "traffic[0].load=40%", true), 100, 337);
	assert_in_range(accepted("routing.algorithm=ugal", "traffic[0].load=40%", true), 375, 405);
}

UNIT_TEST(uniform_traffic_is_carried_as_in_dimension_order)
{
	unsigned minimal = accepted("routing.algorithm=dor", "traffic[0].load=80%", false);

	assert_in_range(minimal, 710, 800);
	assert_in_range(accepted("routing.algorithm=ugal", "traffic[0].load=80%", false),
		minimal - 20, 800);
}

UNIT_TEST(the_result_is_that_of_one_worker)
{
	const struct drawn drawn = {
		.set = {"topology=torus:dims=4x3,hosts=2", "routing.algorithm=ugal", "switch.vcs=4",
			"traffic[0].load=100%", "traffic[0].arrivals=poisson"},
		.sets = 5};

	drawn_expect_workers(&drawn, 0, NULL, drawn_workers);
}

UNIT_MAIN(write_tornado, virtual_shift_remove)
