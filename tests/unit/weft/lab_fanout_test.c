/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "lab_spawn.h"

#include "rng.h"
#include "unit.h"

#define NETWORK "torus:dims=4x4,hosts=2"

static struct topology *network;

static struct lab_plan *plan_of(enum lab_link_kind kind)
{
	const struct lab_plan_request request = {.lab = "demo",
		.run_dir = "/run/weft/demo",
		.kind = kind,
		.frame_bytes = 2048,
		.topology = network};
	struct fault fault = {""};
	struct lab_plan *plan = lab_plan_create(&request, &fault);

	if (plan == NULL)
		fail_msg("%s", fault.text);
	return plan;
}

static int open_network(void **state)
{
	struct fault fault = {""};

	network = topology_generate(NETWORK, &fault);
	return network == NULL ? -1 : 0;
}

static int close_network(void **state)
{
	topology_destroy(network);
	return 0;
}

/* As the driver and the kernel do it, one pair of interfaces after the other. */
static bool refused(const struct lab_plan *plan, const pid_t *running, unsigned process, pid_t pid)
{
	for (uint32_t mine = 0; mine < 2 * network->links; mine++)
		for (uint32_t other = 0; other < 2 * network->links; other++) {
			unsigned holder = plan->link[other / 2].process[other % 2];
			unsigned a = lab_fanout_index(plan, mine / 2, mine % 2);
			unsigned b = lab_fanout_index(plan, other / 2, other % 2);

			if (plan->link[mine / 2].kind == LAB_LINK_VETH &&
				plan->link[other / 2].kind == LAB_LINK_VETH &&
				plan->link[mine / 2].process[mine % 2] == process &&
				holder != process && running[holder] != 0 &&
				(((unsigned)pid ^ a) & 0xffff) ==
					(((unsigned)running[holder] ^ b) & 0xffff))
				return true;
		}
	return false;
}

/* Ids that differ above the bits in which indexes are alike: their groups meet often. */
UNIT_TEST(what_the_kernel_would_refuse_is_known)
{
	struct lab_plan *plan = plan_of(LAB_LINK_VETH);
	unsigned meetings = 0;
	pid_t running[64];
	struct rng rng;

	assert_true(plan->processes > 2 && plan->processes <= 64);
	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 300; i++) {
		unsigned process = (unsigned)rng_below(&rng, plan->processes);
		pid_t pid = 65536 + 256 * (pid_t)rng_below(&rng, 200);

		for (unsigned p = 0; p < plan->processes; p++)
			running[p] = rng_below(&rng, 8) != 0
					     ? 0
					     : 65536 + 256 * (pid_t)rng_below(&rng, 200);
		assert_int_equal(lab_fanout_meets(plan, running, process, pid),
			refused(plan, running, process, pid));
		meetings += refused(plan, running, process, pid);
	}
	assert_in_range(meetings, 20, 280);
	lab_plan_destroy(plan);
}

UNIT_TEST(ids_in_a_row_do_not_meet)
{
	struct lab_plan *plan = plan_of(LAB_LINK_VETH);
	pid_t running[64] = {0};

	for (pid_t first = 1000; first < 3000; first += 37)
		for (unsigned p = 0; p < plan->processes; p++) {
			running[p] = 0;
			assert_false(lab_fanout_meets(plan, running, p, first + (pid_t)p));
			running[p] = first + (pid_t)p;
		}
	lab_plan_destroy(plan);
}

UNIT_TEST(links_of_other_kinds_have_no_groups)
{
	struct lab_plan *plan = plan_of(LAB_LINK_SHARED);
	pid_t running[64];

	for (unsigned p = 0; p < plan->processes; p++)
		running[p] = 5000;
	assert_false(lab_fanout_meets(plan, running, 0, 5000));
	lab_plan_destroy(plan);
}

UNIT_MAIN(open_network, close_network)
