/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A pause ends, whichever device fails during it. */

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE (150 * PS_PER_MS)

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

static unsigned count_paused(const struct mapper_fabric *fabric)
{
	unsigned paused = 0;

	for (uint32_t i = 0; i < 9; i++)
		paused += fabric->net.host_agent[i].paused + fabric->net.switch_agent[i].paused;
	return paused;
}

static uint64_t count_left(const struct mapper_fabric *fabric)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < 9; i++)
		left += fabric->net.host_agent[i].pauses_left +
			fabric->net.switch_agent[i].pauses_left;
	return left;
}

/* The mapper at host 'leader' has paused all devices, and waits for switch 7. All hosts may be the
 * mapper, or only that one. */
static uint32_t start_paused(struct mapper_fabric *fabric, bool all)
{
	struct mapper_config config = mapper_usual("ud", true);
	uint32_t leader = 0;

	config.distribution.drain_ps = 3 * PS_PER_S;
	fabric_start(fabric, network_torus(3, 1), &config, 1);
	for (uint32_t i = 1; i < 9 && !all; i++)
		fabric->mapper[i].config.listen_ps = fabric->mapper[i].config.takeover_ps =
			1000 * PS_PER_S;
	run(fabric, 2 * A_WHILE);
	assert_int_equal(fabric_leaders(fabric, &leader), 1);
	assert_int_equal(count_paused(fabric), 0);
	fabric->mapper[leader].live_from = WEFT_TIME_NEVER;
	fabric->net.switch_agent[7].idle = false;
	/* This host is not involved in the following steps. */
	net_cut_link(
		&fabric->net, (uint32_t)fabric->net.topology->host_link[leader == 8 ? 7 : 8], true);
	while (count_paused(fabric) < 17)
		run(fabric, 10 * PS_PER_US);
	return leader;
}

static void end(struct mapper_fabric *fabric)
{
	OWNED(topology) *topology = (struct topology *)(uintptr_t)fabric->net.topology;

	fabric_end(fabric);
}

UNIT_TEST(who_hears_no_mapper_any_more_goes_on)
{
	struct mapper_fabric fabric;
	uint32_t leader = start_paused(&fabric, false);
	weft_time heard = fabric.net.switch_agent[4].heard_at;

	fabric.net.host_dead[leader] = true;
	net_run(&fabric.net, heard + NET_PATIENCE_PS - PS_PER_MS);
	assert_true(fabric.net.switch_agent[4].paused);
	assert_true(mapper_agent_due(&fabric.net.switch_agent[4]) == heard + NET_PATIENCE_PS);
	run(&fabric, A_WHILE);
	assert_int_equal(count_paused(&fabric), 1); /* the dead one */
	assert_int_equal(count_left(&fabric), 16);
	fabric_assert_works(&fabric);
	end(&fabric);
}

/* All mappers with a rank fail together. The last standby mappers take over in time. */
UNIT_TEST(a_mapper_that_takes_over_ends_the_pause_before)
{
	struct mapper_fabric fabric;
	uint32_t leader = start_paused(&fabric, true), other = leader;

	for (uint32_t i = 0; i < 9; i++)
		if (i == leader || fabric.net.host_agent[i].rank < fabric.config.standbys)
			fabric.net.host_dead[i] = true;
	fabric.net.switch_agent[7].idle = true;
	run(&fabric, NET_PATIENCE_PS + A_WHILE);
	assert_int_equal(fabric_leaders(&fabric, &other), 1);
	for (uint32_t i = 0; i < 9; i++)
		assert_false(fabric.net.switch_agent[i].paused);
	assert_int_equal(count_left(&fabric), 0);
	end(&fabric);
}

UNIT_TEST(who_hears_its_mapper_stays_paused)
{
	struct mapper_fabric fabric;
	uint32_t leader = start_paused(&fabric, false);

	run(&fabric, 3 * NET_PATIENCE_PS);
	/* The leader does not give up its own pause either. */
	assert_int_equal(
		mapper_agent_wait(&fabric.net.host_agent[leader], fabric.net.now + NET_PATIENCE_PS),
		0);
	assert_int_equal(count_paused(&fabric), 17);
	fabric.net.switch_agent[7].idle = true;
	run(&fabric, A_WHILE);
	assert_int_equal(count_paused(&fabric), 0);
	assert_int_equal(count_left(&fabric), 0);
	end(&fabric);
}
