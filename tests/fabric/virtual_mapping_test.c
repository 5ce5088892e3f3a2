/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Mapping on the virtual clock gives the same figures each time, and the number of frames grows
 * only in proportion to the cables. */

#include "virtual_mapping.h"

#include "../unit/unit.h"

static struct virtual_mapping_result map(const char *spec, const char *algorithm, bool tables)
{
	const struct virtual_mapping_options options =
		virtual_mapping_usual(route_algorithm_find(algorithm), tables);
	struct virtual_mapping_result result = {0};
	struct error error;
	OWNED(topology) *topology = topology_generate(spec, &error);

	if (topology == NULL || virtual_mapping_run(topology, &options, &result, &error) != 0)
		fail_msg("%s", error.text);
	return result;
}

UNIT_TEST(mapping_takes_the_same_each_time)
{
	struct virtual_mapping_result a = map("torus:dims=4x4,hosts=2", "ud", true);
	struct virtual_mapping_result b = map("torus:dims=4x4,hosts=2", "ud", true);

	assert_int_equal(a.cold.time_ps, b.cold.time_ps);
	assert_int_equal(a.cold.hops, b.cold.hops);
	assert_int_equal(a.heal.time_ps, b.heal.time_ps);
	assert_int_equal(a.heal.hops, b.heal.hops);
}

/* 72 hosts with 144 cables, and 432 hosts with 1,296 cables. */
UNIT_TEST(frames_and_time_are_linear_in_cables)
{
	struct virtual_mapping_result small = map("rlft:ports=12,stages=2", "dmodk", true);
	struct virtual_mapping_result large = map("rlft:ports=12,stages=3", "dmodk", true);

	assert_int_equal(small.cold.probes, 144);
	assert_int_equal(large.cold.probes, 1296);
	assert_true(large.cold.frames <= 9 * small.cold.frames);
	assert_true(large.cold.time_ps <= 9 * small.cold.time_ps);
	assert_true(large.heal.frames <= 9 * small.heal.frames);
	assert_true(large.heal.time_ps <= 9 * small.heal.time_ps);
}

UNIT_TEST(routes_of_hosts_are_distributed_too)
{
	struct virtual_mapping_result result =
		map("irregular:switches=16,degree=4,hosts=2,ports=8,seed=1", "ud-itb", false);

	assert_true(result.cold.tables_and_phases >= 2 * (16 + 32));
	assert_true(result.cold.time_ps < PS_PER_S);
	assert_true(result.heal.time_ps < 200 * PS_PER_MS);
}
