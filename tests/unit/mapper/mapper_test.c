/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The mapper as a whole, on fabrics in memory with a candidate at each host. */

#include "mapper/fabric_map.h"
#include "mapper_fabric.h"
#include "random_network.h"

#define A_WHILE (150 * PS_PER_MS)

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* There is one. */
static uint32_t leading_host(struct mapper_fabric *fabric)
{
	uint32_t leader = 0;

	assert_int_equal(fabric_leaders(fabric, &leader), 1);
	return leader;
}

static struct mapper *the_leader(struct mapper_fabric *fabric)
{
	struct mapper *mapper = &fabric->mapper[leading_host(fabric)];

	assert_int_equal(mapper->state, MAPPER_LEADING);
	return mapper;
}

static void assert_map_is(struct mapper *mapper, const struct topology *expected)
{
	assert_non_null(mapper_current(mapper));
	assert_int_equal(miscabling_report(mapper_current(mapper)->topology, expected, NULL), 0);
}

/* The fabric with its topology, which belongs to it alone. */
static void end_all(struct mapper_fabric *fabric)
{
	OWNED(topology) *topology = (struct topology *)(uintptr_t)fabric->net.topology;

	fabric_end(fabric);
}

/* For FABRIC_TEST(): square tori as struct mapper_fabric, before any mapping. */
static int start_torus(void **state, uint32_t side, const char *algorithm)
{
	const struct mapper_config config = mapper_usual(algorithm, true);
	struct mapper_fabric *fabric = malloc(sizeof(*fabric));

	assert_non_null(fabric);
	fabric_start(fabric, network_torus(side, 1), &config, 1);
	*state = fabric;
	return 0;
}

static int torus_of_9(void **state)
{
	return start_torus(state, 3, "ud");
}

static int torus_of_16(void **state)
{
	return start_torus(state, 4, "ud");
}

static int torus_of_16_dfs(void **state)
{
	return start_torus(state, 4, "dfs");
}

static int tear_down(void **state)
{
	end_all(*state);
	free(*state);
	return 0;
}

#define FABRIC_TEST(test, set_up) UNIT_BED(test, set_up, tear_down, struct mapper_fabric *fabric)

UNIT_TEST(a_fabric_gets_one_mapper_and_routes)
{
	for (uint64_t seed = 0; seed < 24; seed++) {
		struct topology *topology = random_network(seed, 24);
		struct mapper_config config =
			mapper_usual(seed % 3 == 0 ? "ud-itb" : "ud", seed % 3 == 1);
		struct mapper_fabric fabric;

		fabric_start(&fabric, topology, &config, seed);
		fabric.net.loss_ppm = seed % 2 == 0 ? 0 : 10000;
		run(&fabric, A_WHILE);
		assert_map_is(the_leader(&fabric), topology);
		fabric_assert_works(&fabric);
		end_all(&fabric);
	}
}

FABRIC_TEST(a_cut_cable_is_mapped_around_and_only_changes_are_sent, torus_of_16)
{
	OWNED(topology) *cut;
	struct mapper *leader;
	uint64_t sent;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	fabric_assert_works(fabric);
	sent = leader->distribution.sent;
	fabric_watch_commits(fabric);
	net_cut_link(&fabric->net, 9, true);
	run(fabric, 5 * PS_PER_MS);
	cut = fabric_cables(fabric);
	assert_map_is(leader, cut);
	fabric_assert_works(fabric);
	assert_true(leader->distribution.sent - sent < 2 * (16 + 16));
	net_cut_link(&fabric->net, 9, false);
	run(fabric, A_WHILE);
	assert_map_is(leader, fabric->net.topology);
	fabric_assert_works(fabric);
	assert_int_equal(leader->counters.reports, 4);
}

/* Queries beyond a device that is lost meanwhile must not create circles in the map. */
UNIT_TEST(a_cable_that_flaps_during_discovery_leaves_a_whole_map)
{
	for (unsigned trial = 0; trial < 120; trial++) {
		struct mapper_config config = mapper_usual("ud", true);
		struct topology *topology = network_torus(3, 1);
		struct mapper_fabric fabric;
		uint32_t link = trial % topology->links;

		fabric_start(&fabric, topology, &config, trial);
		run(&fabric, (20 + trial * 7 % 110) * PS_PER_US);
		net_cut_link(&fabric.net, link, true);
		run(&fabric, (trial % 5 + 1) * 30 * PS_PER_US);
		net_cut_link(&fabric.net, link, false);
		run(&fabric, A_WHILE);
		assert_map_is(the_leader(&fabric), topology);
		end_all(&fabric);
	}
}

/* A mapper from which nothing arrives for a lease is not obeyed if another mapper asks, which then
 * gets the reports. */
FABRIC_TEST(nobody_waits_longer_than_the_lease_to_hear_of_the_mapper, torus_of_16)
{
	struct mapper *leader;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	for (unsigned i = 0; i < 50; i++) {
		run(fabric, 7 * PS_PER_MS);
		for (uint32_t s = 0; s < fabric->net.topology->switches; s++) {
			const struct mapper_agent *agent = &fabric->net.switch_agent[s];

			assert_int_equal(agent->followed, leader->agent->config.id);
			assert_true(fabric->net.now - agent->heard_at <= agent->config.lease_ps);
		}
	}
}

static void set_switch(struct mapper_fabric *fabric, uint32_t at, bool dead)
{
	fabric->net.switch_dead[at] = dead;
	for (uint32_t i = 0; i < fabric->net.topology->links; i++) {
		const struct topology_link *link = &fabric->net.topology->link_at[i];

		if ((link->a.kind == DEVICE_SWITCH && link->a.device == at) ||
			(link->b.kind == DEVICE_SWITCH && link->b.device == at))
			net_cut_link(&fabric->net, i, dead);
	}
}

FABRIC_TEST(a_switch_dies_and_starts_anew, torus_of_16)
{
	uint32_t victim = 5;

	run(fabric, A_WHILE);
	if (the_leader(fabric) == &fabric->mapper[victim])
		victim = 6;
	set_switch(fabric, victim, true);
	run(fabric, A_WHILE);
	fabric_assert_works(fabric);
	set_switch(fabric, victim, false);
	net_start_device(&fabric->net, DEVICE_SWITCH, victim, 5555);
	run(fabric, 3 * A_WHILE);
	assert_map_is(the_leader(fabric), fabric->net.topology);
	fabric_assert_works(fabric);
}

FABRIC_TEST(a_mapper_is_settled_while_it_sweeps_but_not_while_its_map_has_changed, torus_of_16)
{
	const struct mapper *leader;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	net_run(&fabric->net, leader->sweep_at);
	assert_false(discovery_done(&leader->discovery));
	assert_true(mapper_is_settled(leader));
	net_cut_link(&fabric->net, 3, true);
	run(fabric, fabric->config.gather_ps / 2);
	assert_false(mapper_is_settled(leader));
	run(fabric, A_WHILE);
	assert_true(mapper_is_settled(leader));
}

static uint32_t host_link(const struct topology *topology, uint32_t host)
{
	return (uint32_t)topology->host_link[host];
}

/* Its neighbour had no CPU for longer than links wait, so one or both ends go down. */
FABRIC_TEST(a_mapper_whose_own_link_is_down_for_a_moment_changes_nothing, torus_of_16)
{
	run(fabric, A_WHILE);
	fabric_watch_commits(fabric);
	for (unsigned ends = 1; ends <= 2; ends++) {
		uint32_t leader = leading_host(fabric);

		for (unsigned up = 0; up < 2; up++) {
			mapper_agent_set_link(&fabric->net.host_agent[leader], 0, up);
			if (ends == 2)
				net_cut_link(
					&fabric->net, host_link(fabric->net.topology, leader), !up);
			run(fabric, fabric->config.takeover_ps / 2);
		}
		assert_ptr_equal(the_leader(fabric), &fabric->mapper[leader]);
	}
	assert_int_equal(fabric->commits, 0);
	fabric_assert_works(fabric);
}

/* In between, it is up for less time than a probe of the neighbour takes. */
FABRIC_TEST(a_mapper_whose_own_link_bounces_changes_nothing, torus_of_16)
{
	uint32_t link;

	run(fabric, A_WHILE);
	fabric_watch_commits(fabric);
	link = host_link(fabric->net.topology, leading_host(fabric));
	for (unsigned up = 0; up < 2; up++) {
		net_cut_link(&fabric->net, link, true);
		run(fabric, up ? fabric->config.takeover_ps / 2 : PS_PER_US);
		net_cut_link(&fabric->net, link, false);
		run(fabric, up ? A_WHILE : PS_PER_US / 2);
	}
	assert_int_equal(fabric->commits, 0);
	fabric_assert_works(fabric);
}

FABRIC_TEST(a_mapper_that_wakes_up_before_its_link_does_changes_nothing, torus_of_16)
{
	struct mapper_agent *agent;
	uint32_t leader;

	run(fabric, A_WHILE);
	fabric_watch_commits(fabric);
	leader = leading_host(fabric);
	agent = &fabric->net.host_agent[leader];
	mapper_agent_set_link(agent, 0, false);
	mapper_absent(&fabric->mapper[leader], agent->config.lease_ps + 1, fabric->net.now);
	run(fabric, fabric->config.takeover_ps / 2);
	mapper_agent_set_link(agent, 0, true);
	run(fabric, A_WHILE);
	assert_int_equal(fabric->commits, 0);
	fabric_assert_works(fabric);
}

FABRIC_TEST(a_mapper_that_is_cut_off_for_long_drops_its_routes, torus_of_16)
{
	const struct mapper_agent *agent;
	uint64_t before;

	run(fabric, A_WHILE);
	agent = &fabric->net.host_agent[leading_host(fabric)];
	before = agent->digest;
	net_cut_link(&fabric->net, host_link(fabric->net.topology, agent->number), true);
	run(fabric, fabric->config.takeover_ps + PS_PER_MS);
	assert_int_not_equal(agent->digest, before);
}

FABRIC_TEST(another_takes_over_when_the_mapper_dies, torus_of_16)
{
	uint32_t first, second;

	run(fabric, A_WHILE);
	first = leading_host(fabric);
	fabric->net.host_dead[first] = true;
	net_cut_link(&fabric->net, host_link(fabric->net.topology, first), true);
	run(fabric, 4 * A_WHILE);
	second = leading_host(fabric);
	assert_int_not_equal(first, second);
	fabric_assert_works(fabric);
	/* The mapper then repairs later failures. */
	net_cut_link(&fabric->net, 9, true);
	run(fabric, A_WHILE);
	fabric_assert_works(fabric);
}

/* It dies while all devices wait for its commit. */
FABRIC_TEST(the_pause_of_a_mapper_that_dies_is_ended_by_the_next, torus_of_9)
{
	uint32_t first;

	fabric->net.switch_agent[1].epoch = 17; /* unknown tables require a pause */
	fabric->net.switch_agent[1].digest = 4711;
	fabric->net.switch_agent[7].idle = false;
	while (!fabric->net.host_agent[5].paused)
		run(fabric, 10 * PS_PER_US);
	first = leading_host(fabric);
	fabric->net.host_dead[first] = true;
	net_cut_link(&fabric->net, host_link(fabric->net.topology, first), true);
	run(fabric, 10 * PS_PER_MS);
	assert_true(fabric->net.host_agent[(first + 1) % 9].paused);
	fabric->net.switch_agent[7].idle = true;
	run(fabric, 4 * A_WHILE);
	leading_host(fabric);
	fabric_assert_works(fabric);
}

/* Packets of the tables before the last may still be in flight. */
FABRIC_TEST(old_generations_count_until_their_packets_are_gone, torus_of_16_dfs)
{
	const struct topology *topology = fabric->net.topology;
	struct mapper *leader;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	assert_int_equal(leader->generations, 1);
	/* The last cable between two leaf switches of a tree. The tree remains. */
	for (uint32_t i = 0; leader->counters.live < 2 && i < topology->links; i++) {
		if (topology->link_at[i].a.kind == DEVICE_HOST ||
			topology->link_at[i].b.kind == DEVICE_HOST)
			continue;
		net_cut_link(&fabric->net, i, true);
		run(fabric, 2 * PS_PER_MS);
		if (leader->counters.live == 2)
			break;
		net_cut_link(&fabric->net, i, false);
		run(fabric, A_WHILE);
	}
	assert_int_equal(leader->counters.live, 2);
	assert_int_equal(leader->generations, 2);
	assert_true(leader->generation[0].until > fabric->net.now);
	assert_true(leader->generation[0].until <= fabric->net.now + fabric->config.linger_ps);
	run(fabric, A_WHILE);
	/* The next change drops it. */
	set_switch(fabric, leader == &fabric->mapper[15] ? 14 : 15, true);
	run(fabric, 2 * PS_PER_MS);
	assert_true(leader->generations <= 2);
	assert_true(leader->generation[0].number > 1);
}

/* Only the process dies, and the tables are correct, so its successor has nothing to send. */
FABRIC_TEST(taking_over_a_fabric_that_works_changes_nothing, torus_of_16)
{
	uint32_t first, second;

	run(fabric, A_WHILE);
	first = leading_host(fabric);
	fabric_watch_commits(fabric);
	mapper_fini(&fabric->mapper[first]);
	mapper_agent_stand_by(&fabric->net.host_agent[first]);
	fabric->config.listen_ps = 10 * PS_PER_S;
	fabric_start_mapper(fabric, first, 1);
	run(fabric, 4 * A_WHILE);
	second = leading_host(fabric);
	assert_int_not_equal(first, second);
	assert_int_equal(fabric->commits, 0);
	assert_int_equal(fabric->mapper[second].counters.unchanged, 1);
	assert_int_equal(fabric->mapper[second].distribution.pauses, 0);
	fabric_assert_works(fabric);
}

/* Two rings of four, joined by two cables. Both parts continue, and become one again. */
UNIT_TEST(a_fabric_in_two_has_two_mappers_and_one_when_joined)
{
	struct mapper_config config = mapper_usual("ud", true);
	struct mapper_fabric fabric;
	struct topology *topology;
	struct network network;
	uint32_t leader = 0;

	network_begin(&network, 8, 8);
	for (uint32_t i = 0; i < 4; i++) {
		network_link(&network, i, (i + 1) % 4);
		network_link(&network, 4 + i, 4 + (i + 1) % 4);
	}
	network_link(&network, 0, 4);
	network_link(&network, 2, 6);
	for (uint32_t i = 0; i < 8; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	fabric_start(&fabric, topology, &config, 1);
	run(&fabric, A_WHILE);
	leading_host(&fabric);
	net_cut_link(&fabric.net, 8, true);
	net_cut_link(&fabric.net, 9, true);
	run(&fabric, 4 * A_WHILE);
	assert_int_equal(fabric_leaders(&fabric, &leader), 2);
	fabric_assert_works(&fabric);
	net_cut_link(&fabric.net, 9, false);
	run(&fabric, 4 * A_WHILE);
	the_leader(&fabric);
	fabric_assert_works(&fabric);
	net_cut_link(&fabric.net, 8, false);
	run(&fabric, 4 * A_WHILE);
	assert_map_is(the_leader(&fabric), topology);
	fabric_assert_works(&fabric);
	end_all(&fabric);
}

/* A candidate of higher priority takes the lead. A higher identity alone does not suffice. */
FABRIC_TEST(priority_takes_the_lead, torus_of_9)
{
	uint32_t leader, other;

	run(fabric, A_WHILE);
	leader = leading_host(fabric);
	other = leader == 0 ? 1 : 0;
	fabric->net.host_agent[other].config.priority = 5;
	mapper_fini(&fabric->mapper[other]);
	fabric_start_mapper(fabric, other, 1);
	run(fabric, A_WHILE);
	assert_ptr_equal(the_leader(fabric), &fabric->mapper[other]);
	run(fabric, 10 * A_WHILE);
	assert_ptr_equal(the_leader(fabric), &fabric->mapper[other]);
	fabric_assert_works(fabric);
}

/* A mapper of lower priority that keeps sending costs only one query of each device at a time. */
FABRIC_TEST(many_commands_of_a_lesser_mapper_cost_few_probes, torus_of_9)
{
	struct mapper_speaker lesser = {.key = fabric->net.key, .id = 42};
	static struct mapper_frame frame, answer;
	struct mapper *leader;
	uint64_t sent;
	uint32_t at;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	at = leading_host(fabric);
	sent = leader->discovery.sent;
	leader->discovery.config.outstanding = 4; /* there is a queue */
	for (unsigned i = 0; i < 500; i++) {
		struct mapper_message message;

		memset(&message, 0, sizeof(message));
		message.type = MAPPER_PROBE;
		message.command = (struct mapper_command){
			.session = 3, .back_length = 1, .back = {ROUTE_TYPE_AGENT}};
		mapper_frame_build(
			&lesser, &message, (const uint8_t[]){ROUTE_TYPE_AGENT}, 1, &frame);
		mapper_agent_receive(&fabric->net.host_agent[at], fabric->net.now, 0, frame.data,
			frame.bytes, &answer);
		run(fabric, 10 * PS_PER_NS);
	}
	assert_int_equal(fabric->net.host_agent[at].refused[MAPPER_REFUSED_LESSER], 500);
	run(fabric, 5 * PS_PER_MS);
	assert_true(leader->discovery.sent - sent >= leader->map.devices - 1);
	assert_true(leader->discovery.sent - sent <= 3 * leader->map.devices);
	assert_true(discovery_done(&leader->discovery));
}

/* The agent at a leading mapper does not report its links to it, because the mapper would search
 * for a path to itself. */
FABRIC_TEST(a_report_in_the_name_of_its_own_device_is_refused, torus_of_9)
{
	struct mapper_message message;
	struct mapper_frame frame;
	struct mapper_counters before;
	struct mapper *leader;

	run(fabric, A_WHILE);
	leader = the_leader(fabric);
	before = leader->counters;
	memset(&message, 0, sizeof(message));
	message.type = MAPPER_REPORT;
	message.target = leader->speaker.id;
	message.target_session = leader->config.session;
	message.report = (struct mapper_report){
		.sequence = 1, .session = leader->map.device[0].facts.session, .up = false};
	mapper_frame_build(&(struct mapper_speaker){.key = fabric->net.key,
				   .id = leader->speaker.id,
				   .counter = UINT64_MAX / 2},
		&message, (const uint8_t[]){ROUTE_TYPE_AGENT}, 1, &frame);
	mapper_receive(leader, fabric->net.now, frame.data, frame.bytes);
	assert_int_equal(leader->counters.refused[MAPPER_REFUSED_STALE],
		before.refused[MAPPER_REFUSED_STALE] + 1);
	assert_int_equal(leader->counters.reports, before.reports);
	run(fabric, A_WHILE);
	assert_ptr_equal(the_leader(fabric), leader);
	fabric_assert_works(fabric);
}

/* Static routes, in the form of each host's image. */
static void assert_images_are(struct mapper_fabric *fabric, const struct table_image_source *source)
{
	for (uint32_t host = 0; host < source->topology->hosts; host++) {
		const struct mapper_agent *agent = &fabric->net.host_agent[host];
		struct table_image image;

		assert_int_equal(table_image_of_host(&image, source, host), 0);
		assert_int_equal(agent->image_bytes, image.length);
		assert_memory_equal(agent->image, image.bytes, image.length);
		free(image.bytes);
	}
	for (uint32_t at = 0; at < source->topology->switches; at++)
		assert_int_equal(table_image_queues(fabric->net.switch_agent[at].image),
			source->queuing->queues);
}

UNIT_TEST(several_algorithms_a_root_and_service_levels_are_as_static_routes_have_them)
{
	for (uint64_t seed = 0; seed < 12; seed++) {
		struct topology *topology = random_network(seed, 16);
		struct mapper_config config = mapper_usual("ud", false);
		struct table_image_source expected = {topology};
		struct mapper_fabric fabric;
		struct error error;

		config.other[0] = route_algorithm_find("ud-itb");
		config.others = 1;
		config.options = (struct route_options){.seed = seed, .alternatives = 2};
		config.choose_root = true;
		config.root_choice = (enum route_root_choice)(seed % 3);
		config.queuing = queuing_scheme_at(1 + seed % 3);
		config.vcs = 4;
		fabric_start(&fabric, topology, &config, seed);
		run(&fabric, A_WHILE);
		fabric_assert_works(&fabric);
		assert_int_equal(route_root_choose(topology, config.algorithm, config.root_choice,
					 seed, &config.options.root, &error),
			0);
		expected.set = route_merge_compute(topology,
			(const struct route_algorithm *[]){config.algorithm, config.other[0]}, 2,
			&config.options, NULL, &error);
		expected.queuing = queuing_create(topology, config.queuing, 4, &error);
		assert_images_are(&fabric, &expected);
		route_set_destroy((struct route_set *)(uintptr_t)expected.set);
		queuing_destroy((struct queuing *)(uintptr_t)expected.queuing);
		end_all(&fabric);
	}
}

/* The classes of dor on a ring need two VCs, and exclude a queuing scheme. */
UNIT_TEST(routes_that_want_other_vcs_are_not_used)
{
	for (unsigned trial = 0; trial < 3; trial++) {
		struct topology *topology =
			topology_generate("torus:dims=4x4,hosts=1", &(struct error){0});
		struct mapper_config config = mapper_usual("dor", true);
		struct mapper_fabric fabric;

		config.vcs = trial == 1 ? 1 : 2;
		config.queuing = trial == 2 ? &queuing_dbbm : NULL;
		fabric_start(&fabric, topology, &config, 1);
		run(&fabric, A_WHILE);
		fabric_assert_works(&fabric);
		assert_string_equal(mapper_current(the_leader(&fabric))->table->origin.algorithm,
			trial == 0 ? "dor" : "ud");
		end_all(&fabric);
	}
}

/* Steps in the routes of hosts, and their classes in the switches. A cut cable changes routes while
 * others are in use. Without enough VCs, other routes are in use. */
UNIT_TEST(multi_step_paths_reach_their_devices_in_each_epoch)
{
	for (unsigned vcs = 3; vcs <= 4; vcs++) {
		struct topology *topology =
			topology_generate("torus:dims=5x4,hosts=1", &(struct error){0});
		struct mapper_config config = mapper_usual("msp", false);
		struct mapper_fabric fabric;
		const char *algorithm = vcs == 4 ? "msp" : "ud";

		config.vcs = vcs;
		fabric_start(&fabric, topology, &config, 1);
		run(&fabric, A_WHILE);
		for (unsigned epoch = 0; epoch < 3; epoch++) {
			const struct route_set *set;

			fabric_assert_works(&fabric);
			set = mapper_current(the_leader(&fabric))->set;
			assert_string_equal(route_set_origin_const(set)->algorithm, algorithm);
			assert_true((route_set_count(set, 0, 7) > 1) == (vcs == 4));
			net_cut_link(&fabric.net, 9, epoch == 0);
			run(&fabric, A_WHILE);
		}
		end_all(&fabric);
	}
}

/* Minimal paths on a ring of six can deadlock, so they are refused unless the configuration allows
 * it. */
UNIT_TEST(routes_that_can_deadlock_are_used_only_if_that_is_wanted)
{
	for (unsigned wanted = 0; wanted < 2; wanted++) {
		struct topology *topology = network_ring(6);
		struct mapper_config config = mapper_usual("minhop", false);
		struct mapper_fabric fabric;

		config.fallback = NULL;
		config.may_deadlock = wanted;
		fabric_start(&fabric, topology, &config, 1);
		run(&fabric, A_WHILE);
		assert_int_equal(mapper_current(the_leader(&fabric)) != NULL, wanted);
		assert_int_equal(the_leader(&fabric)->error.text[0] == '\0', wanted);
		end_all(&fabric);
	}
}

/* More mappers than an agent once remembered. The one with the highest identity leads, and all
 * others stand by. */
UNIT_TEST(however_many_lead_at_once_one_is_left)
{
	static const char *const networks[] = {
		"irregular:switches=16,degree=4,hosts=2,ports=8,seed=1", "rlft:ports=12,stages=3"};

	for (unsigned trial = 0; trial < 2; trial++) {
		struct topology *topology = topology_generate(networks[trial], &(struct error){0});
		struct mapper_config config = mapper_usual(trial == 0 ? "ud" : "dmodk", true);
		struct mapper_fabric fabric;
		uint64_t led = 0;

		config.listen_ps = 0;
		fabric_start(&fabric, topology, &config, 1);
		run(&fabric, A_WHILE);
		assert_int_equal(leading_host(&fabric), topology->hosts - 1);
		the_leader(&fabric);
		fabric_assert_works(&fabric);
		for (uint32_t i = 0; i < topology->switches; i++)
			assert_int_equal(
				fabric.net.switch_agent[i].refused[MAPPER_REFUSED_NO_ROOM], 0);
		for (uint32_t i = 0; i < topology->hosts; i++)
			led += fabric.mapper[i].counters.led;
		assert_int_equal(led, topology->hosts);
		end_all(&fabric);
	}
}

/* A process that does not run for a while does not count as failed while its neighbours report
 * it. */
UNIT_TEST(a_mapper_has_more_patience_than_the_links)
{
	const weft_time retry = 20 * PS_PER_MS;

	assert_int_equal(mapper_tries(retry, 30 * PS_PER_MS), MAPPER_TRIES_MIN);
	for (weft_time down = PS_PER_MS; down < 20 * PS_PER_S; down += 7 * PS_PER_MS) {
		unsigned tries = mapper_tries(retry, down);

		assert_true(tries >= MAPPER_TRIES_MIN && tries * retry >= 3 * down);
		assert_true(tries == MAPPER_TRIES_MIN || (tries - 1) * retry < 3 * down);
	}
	assert_int_equal(mapper_tries(PS_PER_US, 30 * PS_PER_S), UINT16_MAX);
}
