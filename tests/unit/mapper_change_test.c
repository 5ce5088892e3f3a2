/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* How tables change: all or nothing, behind a pause where they must, and never by somebody without
 * the key. */

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE (150 * PS_PER_MS)

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* One candidate, host 0, beside a fabric whose tables nobody knows: changes are not live. */
static void start_unknown(struct mapper_fabric *fabric, const struct topology *topology)
{
	struct mapper_config config = fabric_config("ud", true);

	fabric_start(fabric, topology, &config, 1);
	for (uint32_t i = 1; i < topology->hosts; i++)
		fabric->mapper[i].config.listen_ps = 1000 * PS_PER_S;
	fabric->net.switch_agent[1].epoch = 17;
	fabric->net.switch_agent[1].digest = 4711;
}

static unsigned count_committed(struct mapper_fabric *fabric)
{
	unsigned committed = 0;

	for (uint32_t i = 0; i < fabric->net.topology->switches; i++)
		committed += fabric->net.switch_agent[i].image != NULL;
	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		committed += fabric->net.host_agent[i].image != NULL;
	return committed;
}

static void unknown_tables_are_replaced_behind_a_pause(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;

	start_unknown(&fabric, topology);
	fabric_watch_commits(&fabric);
	run(&fabric, A_WHILE);
	fabric_assert_works(&fabric);
	assert_int_equal(fabric.mapper[0].counters.paused, 1);
	assert_int_equal(fabric.commits, 18);
	assert_int_equal(fabric.commits_live, 0);
	assert_int_equal(fabric.net.switch_agent[1].epoch, 18);
	fabric_end(&fabric);
	topology_destroy(topology);
}

static void nothing_is_committed_before_everybody_is_idle(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;

	start_unknown(&fabric, topology);
	fabric.net.switch_agent[7].idle = false;
	while (!fabric.net.host_agent[5].paused)
		run(&fabric, 10 * PS_PER_US);
	run(&fabric, 3 * PS_PER_MS);
	assert_int_equal(fabric.mapper[0].distribution.step, DISTRIBUTION_DRAIN);
	assert_int_equal(count_committed(&fabric), 0);
	fabric.net.switch_agent[7].idle = true;
	run(&fabric, PS_PER_MS);
	assert_int_equal(count_committed(&fabric), 18);
	fabric_assert_works(&fabric);
	assert_int_equal(fabric.mapper[0].distribution.purges, 0);
	fabric_end(&fabric);
	topology_destroy(topology);
}

/* Idle at one look and not at the next: a frame was on a cable between them. */
static void idle_once_is_not_idle(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	struct distribution *distribution;

	start_unknown(&fabric, topology);
	distribution = &fabric.mapper[0].distribution;
	while (distribution->idle_rounds == 0)
		run(&fabric, PS_PER_US);
	assert_int_equal(distribution->step, DISTRIBUTION_DRAIN);
	fabric.net.host_agent[3].idle = false;
	run(&fabric, PS_PER_MS);
	assert_int_equal(distribution->step, DISTRIBUTION_DRAIN);
	assert_int_equal(count_committed(&fabric), 0);
	fabric_end(&fabric);
	topology_destroy(topology);
}

static void what_does_not_drain_is_purged(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;

	start_unknown(&fabric, topology);
	fabric.net.switch_agent[7].idle = false;
	run(&fabric, A_WHILE);
	assert_int_equal(fabric.mapper[0].distribution.purges, 1);
	assert_int_equal(count_committed(&fabric), 18);
	fabric_assert_works(&fabric);
	fabric_end(&fabric);
	topology_destroy(topology);
}

static void one_device_that_refuses_calls_all_off(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;

	start_unknown(&fabric, topology);
	fabric.net.host_agent[8].config.image_bytes_max = 10;
	run(&fabric, A_WHILE);
	assert_true(fabric.mapper[0].counters.called_off > 0);
	assert_int_equal(count_committed(&fabric), 0);
	for (uint32_t i = 0; i < 9; i++)
		assert_false(fabric.net.host_agent[i].paused);
	fabric_end(&fabric);
	topology_destroy(topology);
}

static void a_device_that_dies_meanwhile_is_left_out(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	uint32_t link = (uint32_t)topology->host_link[8];

	start_unknown(&fabric, topology);
	fabric.net.switch_agent[7].idle = false;
	while (!fabric.net.host_agent[5].paused)
		run(&fabric, 10 * PS_PER_US);
	fabric.net.host_dead[8] = true;
	net_cut_link(&fabric.net, link, true);
	fabric.net.switch_agent[7].idle = true;
	run(&fabric, A_WHILE);
	assert_int_equal(count_committed(&fabric), 17);
	fabric_assert_works(&fabric);
	fabric_end(&fabric);
	topology_destroy(topology);
}

/* A restarted switch has no tables; it gets its own again, and nobody else anything. */
static void a_restarted_device_gets_its_tables_back(void **state)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;

	start_unknown(&fabric, topology);
	run(&fabric, A_WHILE);
	fabric_watch_commits(&fabric);
	net_start_device(&fabric.net, DEVICE_SWITCH, 4, 31337);
	/* Nobody has seen a cable go: it is found when its turn comes. */
	run(&fabric, 18 * fabric.config.sweep_ps);
	fabric_assert_works(&fabric);
	assert_int_equal(fabric.commits, 1);
	fabric_end(&fabric);
	topology_destroy(topology);
}

static void who_lacks_the_key_never_leads(void **state)
{
	static const struct fabric_key other = {{99}};
	struct topology *topology = network_torus(3, 1);
	struct mapper_config config = fabric_config("ud", true);
	struct mapper_fabric fabric;
	uint32_t leader = 0;

	fabric_start(&fabric, topology, &config, 1);
	for (uint32_t i = 7; i < 9; i++) {
		const struct fabric_key *key = i == 7 ? &other : NULL;

		fabric.net.host_agent[i].config.priority = 60000;
		fabric.net.host_agent[i].config.key = fabric.net.host_agent[i].speaker.key = key;
		mapper_fini(&fabric.mapper[i]);
		fabric.config.listen_ps = 0;
		fabric_start_mapper(&fabric, i, 1);
	}
	run(&fabric, 4 * A_WHILE);
	for (uint32_t i = 0; i < 9; i++) {
		assert_true(fabric.net.switch_agent[i].followed < NET_HOST_ID + 7);
		assert_int_equal(fabric.net.switch_agent[i].number, i);
		if (i < 7 && mapper_leads(&fabric.mapper[i]))
			leader++;
	}
	assert_int_equal(leader, 1);
	assert_int_equal(count_committed(&fabric), 9 + 7 + 2); /* their own, to themselves */
	fabric_end(&fabric);
	topology_destroy(topology);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(unknown_tables_are_replaced_behind_a_pause),
	cmocka_unit_test(nothing_is_committed_before_everybody_is_idle),
	cmocka_unit_test(idle_once_is_not_idle),
	cmocka_unit_test(what_does_not_drain_is_purged),
	cmocka_unit_test(one_device_that_refuses_calls_all_off),
	cmocka_unit_test(a_device_that_dies_meanwhile_is_left_out),
	cmocka_unit_test(a_restarted_device_gets_its_tables_back),
	cmocka_unit_test(who_lacks_the_key_never_leads),
};

UNIT_MAIN(tests)
