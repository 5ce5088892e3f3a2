/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly routing in whole fabrics on the virtual clock. Compares the accepted traffic of 72
 * hosts with the papers (Kim, Dally, Scott, Abts, ISCA 2008, section 5.2; Jiang, Kim, Dally, ISCA
 * 2009). */

#include "virtual_lab.h"
#include "virtual_shift.h"

#define FLY                                                         \
	"weft: run/1\n"                                             \
	"topology: \"dragonfly:a=4,p=2,h=2\"\n"                     \
	"clock: virtual\n"                                          \
	"link: {rate: 100Gbps, delay: 30ns}\n"                      \
	"switch: {vcs: 4}\n"                                        \
	"routing: {algorithm: df-min}\n"                            \
	"measure: {warmup: 200us, duration: 300us, sample: 50us}\n" \
	"traffic:\n"

static const char fly_uniform[] = FLY "  - {pattern: uniform, from: all, load: 100%, "
				      "message: 4KiB, arrivals: poisson}\n";
static const char fly_shift[] = FLY "  - {pattern: permutation, file: none, load: 100%, "
				    "message: 4KiB, arrivals: poisson}\n";

#define HOSTS 72
#define GROUP 8

/* Every host sends to the corresponding host of the next group. */
static int write_shift(void **state)
{
	(void)state;
	return virtual_shift_write(HOSTS, GROUP);
}

/* Returns accepted traffic in thousandths of the hosts' rate. Nothing is lost, and hosts restore
 * the order. */
static unsigned accepted(const char *algorithm, const char *load, bool shifted)
{
	char algorithm_set[64], load_set[64], file_set[64];
	const char *set[] = {algorithm_set, load_set, file_set};
	OWNED(run_result) result;
	double share;

	snprintf(algorithm_set, sizeof(algorithm_set), "routing.algorithm=%s", algorithm);
	snprintf(load_set, sizeof(load_set), "traffic[0].load=%s", load);
	snprintf(file_set, sizeof(file_set), "traffic[0].file=%s", virtual_shift);
	result = virtual_lab_result(shifted ? fly_shift : fly_uniform, set, shifted ? 3 : 2);
	assert_false(result.deadlock);
	assert_int_equal(result.lost, 0);
	assert_int_equal(result.duplicated, 0);
	assert_int_equal(result.out_of_order, 0);
	assert_int_equal(result.packets.dropped, 0);
	share = result.accepted;
	return (unsigned)(share * 1000 + 0.5);
}

UNIT_TEST(minimal_paths_carry_uniform_traffic)
{
	assert_in_range(accepted("df-min", "80%", false), 780, 820);
	assert_in_range(accepted("df-min", "100%", false), 880, 1000);
}

/* All packets of a group share one link: 1 / (a h). */
UNIT_TEST(minimal_paths_of_a_shift_share_one_link)
{
	assert_in_range(accepted("df-min", "100%", true), 123, 127);
}

/* Every packet crosses two links between groups. */
UNIT_TEST(detours_halve_what_any_pattern_can_have)
{
	assert_in_range(accepted("df-valiant", "45%", true), 435, 460);
	assert_in_range(accepted("df-valiant", "100%", false), 500, 600);
	assert_in_range(accepted("df-valiant-node", "45%", true), 435, 460);
	assert_in_range(accepted("df-valiant-node", "100%", false), 450, 560);
}

UNIT_TEST(ugal_is_close_to_the_better_of_both)
{
	assert_in_range(accepted("df-ugal-l", "80%", false), 780, 820);
	assert_in_range(accepted("df-ugal-l", "45%", true), 400, 460);
	assert_in_range(accepted("df-ugal-l", "60%", true), 450, 520);
	assert_in_range(accepted("df-par", "60%", true), 450, 550);
}

/* It knows the busy global links of its neighbours (section 5.2: uniform traffic as with minimal
 * paths). */
UNIT_TEST(the_oracle_is_closer_to_the_better_of_both)
{
	assert_in_range(accepted("df-ugal-g", "100%", false), 910, 1000);
	assert_in_range(accepted("df-ugal-g", "45%", true), 430, 460);
	assert_in_range(accepted("df-ugal-g", "60%", true), 500, 560);
}

UNIT_MAIN(write_shift, virtual_shift_remove)
