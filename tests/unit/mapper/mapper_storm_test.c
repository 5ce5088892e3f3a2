/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Two epochs of routes never combine into a cycle. Thousands of changes on random networks are
 * judged at every commit and at random times, from the tables that devices have installed
 * (mapper_mixture.h). */

#include "mapper_fabric.h"
#include "random_network.h"

#define A_WHILE (150 * PS_PER_MS)
#define STORMS  200
#define CHANGES 20

struct storm {
	struct mapper_fabric fabric;
	struct topology *topology;
	struct rng rng;
	uint32_t lives;
};

struct tally {
	uint64_t changes, commits, live_commits, live, paused, found, moments, taken_over;
};

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* The seed determines algorithm, root, and the number of requests at a time and of parts. */
static void start(struct storm *storm, uint64_t seed)
{
	static const char *const algorithms[] = {"ud", "dfs", "ud-itb", "ud-random"};
	const char *algorithm = algorithms[seed % 4];
	struct mapper_config config = mapper_usual(
		algorithm, seed / 4 % 2 == 0 && route_algorithm_find(algorithm)->tables != NULL);

	rng_init(&storm->rng, seed, 3, 3);
	storm->topology = random_network(seed * 4 + 1, 24);
	storm->lives = 0;
	config.options.seed = seed;
	config.distribution.outstanding = 1 + (unsigned)rng_below(&storm->rng, 8);
	config.distribution.part_bytes = 32 + (unsigned)rng_below(&storm->rng, 1000);
	fabric_start(&storm->fabric, storm->topology, &config, seed);
	run(&storm->fabric, A_WHILE);
	fabric_assert_works(&storm->fabric);
	fabric_watch_commits(&storm->fabric);
	storm->fabric.net.loss_ppm = (uint32_t)rng_below(&storm->rng, 8000);
}

/* The process of a leading mapper dies. Its successor may root its trees elsewhere. */
static void kill_a_mapper(struct storm *storm, struct tally *tally)
{
	struct mapper_fabric *fabric = &storm->fabric;
	uint32_t root = (uint32_t)rng_below(&storm->rng, storm->topology->switches), at = 0;

	/* Some are left. */
	if (storm->lives + 1 >= storm->topology->hosts / 2 || fabric_leaders(fabric, &at) == 0)
		return;
	tally->live += fabric->mapper[at].counters.live;
	tally->paused += fabric->mapper[at].counters.paused;
	tally->found += fabric->mapper[at].counters.found;
	mapper_fini(&fabric->mapper[at]);
	mapper_agent_stand_by(&fabric->net.host_agent[at]);
	fabric->config.listen_ps = 10 * PS_PER_S;
	fabric_start_mapper(fabric, at, ++storm->lives);
	for (uint32_t i = 0; i < storm->topology->hosts; i++)
		if (!mapper_leads(&fabric->mapper[i]))
			fabric->mapper[i].root = root;
	tally->taken_over++;
}

static void change_something(struct storm *storm, struct tally *tally)
{
	struct net *net = &storm->fabric.net;
	uint32_t link = (uint32_t)rng_below(&storm->rng, storm->topology->links);

	if (rng_below(&storm->rng, 20) == 0)
		kill_a_mapper(storm, tally);
	else
		net_cut_link(net, link, !net->link_cut[link]);
	tally->changes++;
}

static bool somebody_is_paused(const struct mapper_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->net.topology->hosts; i++)
		if (fabric->net.host_agent[i].paused)
			return true;
	return false;
}

/* After a pause, no packet is in flight. */
static void look(struct storm *storm, struct tally *tally)
{
	if (somebody_is_paused(&storm->fabric))
		return;
	assert_false(mixture_can_deadlock(&storm->fabric.mixture));
	tally->moments++;
}

static void let_pass(struct storm *storm, struct tally *tally, weft_time time)
{
	for (unsigned i = 0; i < 4; i++) {
		run(&storm->fabric, rng_below(&storm->rng, time / 2 + 1));
		look(storm, tally);
	}
}

static void end(struct storm *storm, struct tally *tally)
{
	struct mapper_fabric *fabric = &storm->fabric;

	for (uint32_t i = 0; i < storm->topology->links; i++)
		if (fabric->net.link_cut[i])
			net_cut_link(&fabric->net, i, false);
	fabric->net.loss_ppm = 0;
	run(fabric, 12 * A_WHILE);
	look(storm, tally);
	fabric_assert_works(fabric);
	for (uint32_t i = 0; i < storm->topology->hosts; i++) {
		tally->live += fabric->mapper[i].counters.live;
		tally->paused += fabric->mapper[i].counters.paused;
		tally->found += fabric->mapper[i].counters.found;
	}
	tally->commits += fabric->commits;
	tally->live_commits += fabric->commits_live;
	fabric_end(fabric);
	topology_destroy(storm->topology);
}

/* Cables between switches and to hosts are cut and joined, some before the last change is
 * complete, and mappers die. */
UNIT_TEST(no_change_ever_combines_routes_into_a_cycle)
{
	static struct storm storm;
	struct tally tally = {0};

	for (uint64_t seed = 0; seed < STORMS; seed++) {
		start(&storm, seed);
		for (unsigned i = 0; i < CHANGES; i++) {
			change_something(&storm, &tally);
			let_pass(&storm, &tally, i % 4 == 0 ? A_WHILE : 2 * PS_PER_MS);
		}
		end(&storm, &tally);
	}
	print_message("%lu changes: %lu live, %lu behind a pause; %lu of %lu commits live; %lu "
		      "moments; %lu mappers died, %lu times tables were read\n",
		(unsigned long)tally.changes, (unsigned long)tally.live,
		(unsigned long)tally.paused, (unsigned long)tally.live_commits,
		(unsigned long)tally.commits, (unsigned long)tally.moments,
		(unsigned long)tally.taken_over, (unsigned long)tally.found);
	assert_true(tally.live > 2000 && tally.paused > 200 && tally.found > 10);
	assert_true(tally.live_commits > 0 && tally.live_commits < tally.commits);
}

static void install(struct net *net, uint32_t at, const struct route_table *table)
{
	struct mapper_agent *agent = &net->switch_agent[at];
	struct table_image image;

	assert_int_equal(table_image_of_switch(&image,
				 &(struct table_image_source){net->topology, .table = table}, at),
		0);
	free(agent->image);
	agent->image = image.bytes;
	agent->image_bytes = image.length;
}

/* Shows that the judge can refuse. Switch 3 of the ring still sends packets for host 0 to switch 2,
 * which already sends them back as long as old packets may be in flight. Neither the old tables nor
 * the new ones can deadlock. */
UNIT_TEST(the_judge_sees_a_cycle_of_half_old_and_half_new_tables)
{
	static const uint8_t way[2][4] = {{2, 1, 1, 1}, {2, 1, 0, 0}}; /* ports of network_ring() */
	OWNED(topology) *topology = network_ring(4);
	struct mixture mixture;
	struct net net;

	net_init(&net, topology, NULL, 1);
	for (unsigned epoch = 0; epoch < 2; epoch++) {
		OWNED(route_table) *table = route_table_create(4, 4);

		for (uint32_t at = 0; at < 4; at++)
			route_table_row(table, at)[0] = way[epoch][at];
		for (uint32_t at = 0; at < 4; at++) {
			install(&net, at, table);
			if (epoch == 1)
				mixture_note(&mixture, DEVICE_SWITCH, at);
		}
		if (epoch == 0)
			mixture_init(&mixture, &net, 10);
		assert_int_equal(mixture_can_deadlock(&mixture), epoch);
	}
	net.now = 11;
	assert_false(mixture_can_deadlock(&mixture));
	mixture_fini(&mixture);
	net_fini(&net);
}
