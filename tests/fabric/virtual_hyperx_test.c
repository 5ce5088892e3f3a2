/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* omni-war, dal and ugal in whole fabrics on the virtual clock (McDonald et al., SC 2019). With a
 * high bias, there are no detours, and switches choose among minimal links. */

#include "virtual_drawn.h"
#include "virtual_lab.h"
#include "virtual_shift.h"

#define HYPERX                                                      \
	"weft: run/1\n"                                             \
	"topology: \"hyperx:shape=4x4,hosts=4\"\n"                  \
	"clock: virtual\n"                                          \
	"link: {rate: 100Gbps, delay: 30ns}\n"                      \
	"switch: {vcs: 4}\n"                                        \
	"routing: {algorithm: omni-war}\n"                          \
	"measure: {warmup: 100us, duration: 200us, sample: 50us}\n" \
	"traffic:\n"

static const char uniform[] = HYPERX "  - {pattern: uniform, from: all, load: 100%, "
				     "message: 4KiB, arrivals: poisson}\n";
static const char shifted[] = HYPERX "  - {pattern: permutation, file: none, load: 100%, "
				     "message: 4KiB, arrivals: poisson}\n";

#define HOSTS 64
#define EACH  4

/* Every host sends to the corresponding host of the next switch. */
static int write_shift(void **state)
{
	(void)state;
	return virtual_shift_write(HOSTS, EACH);
}

#define DETOURS "routing.ugal-bias=0B"
#define MINIMAL "routing.ugal-bias=1MiB"

/* Returns accepted traffic in thousandths of the hosts' rate. */
static unsigned accepted(const char *bias, const char *load, bool shifts)
{
	return virtual_shift_accepted(shifts ? shifted : uniform, shifts, bias, load);
}

UNIT_TEST(uniform_traffic_is_carried_as_on_minimal_links_until_these_are_nearly_full)
{
	assert_in_range(accepted(MINIMAL, "traffic[0].load=70%", false), 690, 710);
	assert_in_range(accepted(DETOURS, "traffic[0].load=70%", false), 690, 710);
	assert_in_range(accepted(MINIMAL, "traffic[0].load=100%", false), 860, 900);
	assert_in_range(accepted(DETOURS, "traffic[0].load=100%", false), 740, 900);
}

/* With minimal paths, four hosts share one link. With detours, two other links of the row carry
 * part of the traffic. */
UNIT_TEST(detours_carry_a_shift_that_minimal_links_do_not)
{
	assert_in_range(accepted(MINIMAL, "traffic[0].load=45%", true), 245, 255);
	assert_in_range(accepted(DETOURS, "traffic[0].load=45%", true), 380, 450);
}

UNIT_TEST(dal_and_ugal_carry_more_of_a_shift_than_minimal_links)
{
	assert_in_range(accepted("routing.algorithm=dal", "traffic[0].load=45%", true), 380, 450);
	assert_in_range(accepted("routing.algorithm=ugal", "traffic[0].load=45%", true), 330, 380);
}

UNIT_TEST(the_result_is_that_of_one_worker)
{
	static const char *const algorithms[] = {
		"routing.algorithm=omni-war", "routing.algorithm=dal", "routing.algorithm=ugal"};

	for (unsigned i = 0; i < 3; i++) {
		const struct drawn drawn = {
			.set = {"topology=hyperx:shape=3x3,hosts=2", algorithms[i], "switch.vcs=4",
				"traffic[0].load=100%", "traffic[0].arrivals=poisson"},
			.sets = 5};

		drawn_expect_workers(
			&drawn, 0, NULL, i == 0 ? (const unsigned[]){2, 3, 0} : drawn_workers);
	}
}

UNIT_MAIN(write_shift, virtual_shift_remove)
