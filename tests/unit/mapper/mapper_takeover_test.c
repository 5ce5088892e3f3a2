/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A mapper takes over that would assign other tables than the devices have. It reads these, and
 * changes them without a pause where old and new tables are compatible. */

#include "mapper_fabric.h"
#include "networks.h"
#include "random_network.h"

#define A_WHILE  (150 * PS_PER_MS)
#define NETWORKS 40
/* A network where a different root means different, but compatible tables. */
#define CHANGES_LIVE 13

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* The process of the mapper dies, and its host continues. All other mappers would root their trees
 * elsewhere. */
static uint32_t kill_mapper(struct mapper_fabric *fabric, uint64_t seed)
{
	uint32_t switches = fabric->net.topology->switches, first = 0;

	assert_int_equal(fabric_leaders(fabric, &first), 1);
	mapper_fini(&fabric->mapper[first]);
	mapper_agent_stand_by(&fabric->net.host_agent[first]);
	fabric->config.listen_ps = 1000 * PS_PER_S;
	fabric_start_mapper(fabric, first, 1);
	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		fabric->mapper[i].root = switches == 1 ? 0 : 1 + (uint32_t)(seed % (switches - 1));
	return first;
}

static struct mapper *the_leader(struct mapper_fabric *fabric)
{
	uint32_t at = 0;

	assert_int_equal(fabric_leaders(fabric, &at), 1);
	return &fabric->mapper[at];
}

static void start(struct mapper_fabric *fabric, uint64_t seed, const char *algorithm, bool tables)
{
	struct mapper_config config = mapper_usual(algorithm, tables);

	config.distribution.part_bytes = 64;
	fabric_start(fabric, random_network(seed, 24), &config, seed);
	run(fabric, A_WHILE);
	fabric_assert_works(fabric);
}

static void end(struct mapper_fabric *fabric)
{
	OWNED(topology) *topology = (struct topology *)(uintptr_t)fabric->net.topology;

	fabric_end(fabric);
}

/* Every commit without a pause is checked against the tables that were in use (mapper_fabric.h). */
UNIT_TEST(tables_that_were_found_are_replaced_live_where_that_is_safe)
{
	static const char *const algorithms[] = {"ud", "dfs", "ud-itb"};
	unsigned live = 0, paused = 0, same = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct mapper_fabric fabric;
		struct mapper *leader;

		start(&fabric, seed, algorithms[seed % 3], seed % 3 != 2 && seed % 2 != 0);
		fabric.net.loss_ppm = seed % 4 == 0 ? 10000 : 0;
		kill_mapper(&fabric, seed);
		fabric_watch_commits(&fabric);
		run(&fabric, 4 * A_WHILE);
		leader = the_leader(&fabric);
		fabric_assert_works(&fabric);
		assert_int_equal(
			leader->counters.live + leader->counters.paused, fabric.commits > 0);
		assert_int_equal(leader->counters.found, fabric.commits > 0);
		live += fabric.commits > 0 && leader->counters.live == 1;
		paused += leader->counters.paused == 1;
		same += fabric.commits == 0;
		assert_true(mapper_current(leader)->set != NULL ||
			    mapper_current(leader)->table != NULL);
		end(&fabric);
	}
	assert_true(live > 0 && paused > 0 && live + paused + same == NETWORKS);
}

/* The number of its host is the highest, so tables contain a host that is not in the new map. */
UNIT_TEST(the_mappers_host_dies_and_its_number_with_it)
{
	unsigned found = 0;

	for (uint64_t seed = 0; seed < NETWORKS / 4; seed++) {
		struct mapper_fabric fabric;
		uint32_t first;

		start(&fabric, seed, "ud", seed % 2 != 0);
		first = kill_mapper(&fabric, seed);
		fabric.net.host_dead[first] = true;
		net_cut_link(&fabric.net, (uint32_t)fabric.net.topology->host_link[first], true);
		fabric_watch_commits(&fabric);
		run(&fabric, 4 * A_WHILE);
		fabric_assert_works(&fabric);
		found += (unsigned)the_leader(&fabric)->counters.found;
		end(&fabric);
	}
	assert_true(found > 0);
}

/* Packets of the tables before these may be in flight, and those tables are unknown. */
UNIT_TEST(young_tables_are_replaced_behind_a_pause)
{
	for (unsigned young = 0; young < 2; young++) {
		struct mapper_fabric fabric;
		struct mapper *leader;

		start(&fabric, CHANGES_LIVE, "dfs", true);
		kill_mapper(&fabric, CHANGES_LIVE);
		for (uint32_t i = 0; i < fabric.net.topology->hosts; i++)
			fabric.mapper[i].config.linger_ps = young ? PS_PER_S : 20 * PS_PER_MS;
		run(&fabric, 4 * A_WHILE);
		leader = the_leader(&fabric);
		fabric_assert_works(&fabric);
		assert_int_equal(leader->counters.found, !young);
		assert_int_equal(leader->counters.live, !young);
		assert_int_equal(leader->counters.paused, young);
		end(&fabric);
	}
}

/* Then the compatibility of the two is unknown. */
UNIT_TEST(an_image_that_cannot_be_read_is_replaced_behind_a_pause)
{
	for (unsigned trial = 0; trial < 3; trial++) {
		struct mapper_fabric fabric;
		struct mapper *leader;

		start(&fabric, CHANGES_LIVE, "dfs", true);
		kill_mapper(&fabric, CHANGES_LIVE);
		for (uint32_t i = 0; i < fabric.net.topology->switches; i++) {
			struct mapper_agent *agent = &fabric.net.switch_agent[i];

			if (trial == 0)
				agent->digest++;
			else if (trial == 1)
				agent->image[2] ^= 1; /* another number */
			else
				agent->image[0]++; /* no image */
			if (trial > 0)
				agent->digest =
					table_image_digest(agent->image, agent->image_bytes);
		}
		run(&fabric, 4 * A_WHILE);
		leader = the_leader(&fabric);
		fabric_assert_works(&fabric);
		assert_int_equal(leader->counters.found, 0);
		assert_int_equal(leader->counters.paused, 1);
		assert_int_equal(leader->counters.live, 0);
		end(&fabric);
	}
}

/* A cable fails while images are being read. The images read so far are useless, and reading starts
 * again. */
UNIT_TEST(a_change_meanwhile_begins_anew)
{
	struct mapper_fabric fabric;
	struct mapper *leader;

	start(&fabric, CHANGES_LIVE, "dfs", true);
	kill_mapper(&fabric, CHANGES_LIVE);
	fabric_watch_commits(&fabric);
	while (fabric_leaders(&fabric, &(uint32_t){0}) == 0)
		run(&fabric, 10 * PS_PER_US);
	leader = the_leader(&fabric);
	while (!leader->reads)
		run(&fabric, PS_PER_US);
	for (uint32_t i = 0; i < fabric.net.topology->links; i++)
		if (fabric.net.topology->link_at[i].a.kind == DEVICE_SWITCH &&
			fabric.net.topology->link_at[i].b.kind == DEVICE_SWITCH) {
			net_cut_link(&fabric.net, i, true);
			break;
		}
	run(&fabric, 4 * A_WHILE);
	fabric_assert_works(&fabric);
	assert_false(the_leader(&fabric)->reads);
	assert_int_equal(leader->counters.found, 1);
	end(&fabric);
}

static unsigned count_paused(const struct mapper_fabric *fabric)
{
	unsigned paused = 0;

	for (uint32_t i = 0; i < 9; i++)
		paused += fabric->net.host_agent[i].paused + fabric->net.switch_agent[i].paused;
	return paused;
}

/* Two candidates, hosts 0 and 8. Returns the leader. */
static uint32_t start_two(struct mapper_fabric *fabric, uint64_t seed)
{
	struct mapper_config config = mapper_usual("ud", true);
	uint32_t first = 0;

	fabric_start(fabric, network_torus(3, 1), &config, seed);
	for (uint32_t i = 1; i < 8; i++) {
		fabric->mapper[i].config.listen_ps = 1000 * PS_PER_S;
		fabric->mapper[i].config.takeover_ps = 1000 * PS_PER_S;
	}
	run(fabric, 2 * A_WHILE);
	assert_int_equal(fabric_leaders(fabric, &first), 1);
	return first;
}

/* The first mapper is stalled, as during a long computation. The second one takes over and pauses
 * all devices for a cut cable, the first one for which old and new tables are incompatible. The
 * cable is joined, and the first mapper returns: it sees no change. */
UNIT_TEST(who_leads_again_ends_the_pause_of_another)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct mapper_fabric fabric;
		uint32_t first = start_two(&fabric, seed), second = 8 - first, link = 3;
		const struct topology *topology = fabric.net.topology;

		fabric.net.host_dead[first] = true;
		fabric.net.switch_agent[4].idle = false;
		while (!mapper_leads(&fabric.mapper[second]))
			run(&fabric, 100 * PS_PER_US);
		while (topology->link_at[link].a.kind != DEVICE_SWITCH ||
			topology->link_at[link].b.kind != DEVICE_SWITCH)
			link++;
		net_cut_link(&fabric.net, link, true);
		while (fabric.mapper[second].distribution.step != DISTRIBUTION_DRAIN)
			run(&fabric, 20 * PS_PER_US);
		assert_true(count_paused(&fabric) > 0);
		net_cut_link(&fabric.net, link, false);
		fabric.net.host_dead[first] = false;
		fabric.net.switch_agent[4].idle = true;
		run(&fabric, PS_PER_S);
		assert_int_equal(the_leader(&fabric)->state, MAPPER_LEADING);
		assert_int_equal(count_paused(&fabric), 0);
		fabric_assert_works(&fabric);
		end(&fabric);
	}
}

/* At whatever time the mapper dies, mappers without a rank may have older information. */
UNIT_TEST(those_without_a_rank_take_over_after_those_who_have_one)
{
	struct mapper_config config = mapper_usual("ud", true);
	struct mapper_fabric fabric;
	uint32_t leader = 0;

	fabric_start(&fabric, network_torus(3, 1), &config, 1);
	run(&fabric, 2 * A_WHILE);
	assert_int_equal(fabric_leaders(&fabric, &leader), 1);
	for (unsigned moment = 0; moment < 200; moment++) {
		weft_time first_other = WEFT_TIME_NEVER, last_ranked = 0;

		run(&fabric, PS_PER_MS);
		for (uint32_t i = 0; i < 9; i++) {
			weft_time due = mapper_due(&fabric.mapper[i], fabric.net.now);

			if (i == leader)
				continue;
			if (fabric.net.host_agent[i].rank < config.standbys)
				last_ranked = due > last_ranked ? due : last_ranked;
			else
				first_other = due < first_other ? due : first_other;
		}
		assert_true(last_ranked > 0 && first_other < WEFT_TIME_NEVER);
		assert_true(first_other > last_ranked + config.takeover_ps / 2);
	}
	end(&fabric);
}

/* The others see its link go down, and up again when it continues. */
static void freeze(struct mapper_fabric *fabric, uint32_t host, bool frozen)
{
	const struct topology_port at = {DEVICE_HOST, host, 0};
	const struct topology_link *link = topology_link_at(fabric->net.topology, at);

	fabric->net.host_dead[host] = frozen;
	net_cut_link(&fabric->net, (uint32_t)(link - fabric->net.topology->link_at), frozen);
}

/* Another mapper has led meanwhile, and has distributed tables without its host. */
UNIT_TEST(a_mapper_that_was_stopped_and_goes_on_finds_what_others_did)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct mapper_fabric fabric;
		uint32_t first = 0;

		start(&fabric, seed, "ud", seed % 2 != 0);
		assert_int_equal(fabric_leaders(&fabric, &first), 1);
		freeze(&fabric, first, true);
		run(&fabric, 4 * A_WHILE);
		freeze(&fabric, first, false);
		mapper_absent(&fabric.mapper[first], 4 * A_WHILE, fabric.net.now);
		run(&fabric, 2 * A_WHILE);
		the_leader(&fabric);
		fabric_assert_works(&fabric);
		end(&fabric);
	}
}
