/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* How tables change: completely or not at all, after a pause where necessary, and never on orders
 * without the key. */

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE (150 * PS_PER_MS)

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* Host 0 is the only candidate, in a fabric whose tables it does not know, so changes are not
 * live. */
static void start_unknown(struct mapper_fabric *fabric, const struct topology *topology)
{
	struct mapper_config config = mapper_usual("ud", true);

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

UNIT_TEST(unknown_tables_are_replaced_behind_a_pause)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	fabric_watch_commits(&fabric);
	run(&fabric, A_WHILE);
	fabric_assert_works(&fabric);
	assert_int_equal(fabric.mapper[0].counters.paused, 1);
	assert_int_equal(fabric.commits, 18);
	assert_int_equal(fabric.commits_live, 0);
	assert_int_equal(fabric.net.switch_agent[1].epoch, 18);
}

UNIT_TEST(nothing_is_committed_before_everybody_is_idle)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

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
}

/* Idle at one check and not at the next, because a frame was on a cable between them. */
UNIT_TEST(idle_once_is_not_idle)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
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
}

/* The fabric of start_unknown(), and the orders that its agents give. */
struct purging {
	struct mapper_fabric fabric; /* first */
	struct topology *topology;
	bool purged[2][9];
	unsigned count, commits, commits_too_early;
	bool empties; /* switch 7 is idle once it is purged */
};

static void purging_ordered(void *context, enum device_kind kind, uint32_t at, unsigned orders)
{
	struct purging *purging = context;

	if (orders & MAPPER_AGENT_PURGE) {
		purging->count += !purging->purged[kind][at];
		purging->purged[kind][at] = true;
		if (purging->empties && kind == DEVICE_SWITCH && at == 7)
			purging->fabric.net.switch_agent[7].idle = true;
	}
	if (orders & MAPPER_AGENT_COMMIT) {
		purging->commits++;
		purging->commits_too_early += purging->count < 18;
	}
}

static void purging_forget(struct purging *purging)
{
	memset(purging->purged, 0, sizeof(purging->purged));
	purging->count = purging->commits = purging->commits_too_early = 0;
}

static void purging_start(struct purging *purging, bool empties)
{
	memset(purging, 0, sizeof(*purging));
	purging->topology = network_torus(3, 1);
	start_unknown(&purging->fabric, purging->topology);
	purging->fabric.net.hooks.ordered = purging_ordered;
	purging->fabric.mapper[0].config.linger_ps = PS_PER_S;
	purging->fabric.net.switch_agent[7].idle = false;
	purging->empties = empties;
}

static void purging_end(struct purging *purging)
{
	fabric_end(&purging->fabric);
	topology_destroy(purging->topology);
}
#define purging_out_of_scope purging_end

UNIT_TEST(what_does_not_drain_is_purged)
{
	OWNED(purging) purging;
	struct mapper *mapper;

	purging_start(&purging, false);
	mapper = &purging.fabric.mapper[0];
	run(&purging.fabric, A_WHILE);
	assert_int_equal(mapper->distribution.purges, 1);
	assert_int_equal(purging.count, 18);
	assert_int_equal(purging.commits, 18);
	assert_int_equal(purging.commits_too_early, 0);
	fabric_assert_works(&purging.fabric);
}

static void ask(struct mapper *mapper, uint64_t id)
{
	const struct map_device *device = &mapper->map.device[fabric_map_find(&mapper->map, id)];

	discovery_ask(&mapper->discovery, device->parent, device->parent_port, true);
}

/* Either all devices get tables, or none does. Packets that do not drain may be anywhere. */
UNIT_TEST(who_keeps_its_tables_is_purged_too)
{
	OWNED(purging) purging;
	struct mapper *mapper;

	purging_start(&purging, false);
	mapper = &purging.fabric.mapper[0];
	run(&purging.fabric, A_WHILE);
	purging_forget(&purging);
	net_start_device(&purging.fabric.net, DEVICE_SWITCH, 4, 31337);
	ask(mapper, net_id(DEVICE_SWITCH, 4));
	run(&purging.fabric, A_WHILE);
	assert_int_equal(purging.commits, 1);
	assert_int_equal(purging.commits_too_early, 0);
	assert_int_equal(purging.count, 18);
	purging_forget(&purging);
	purging.fabric.net.host_agent[5].paused = true;
	ask(mapper, net_id(DEVICE_HOST, 5));
	run(&purging.fabric, A_WHILE);
	assert_int_equal(purging.commits, 0);
	assert_int_equal(purging.count, 18);
	assert_int_equal(mapper->distribution.purges, 3);
	fabric_assert_works(&purging.fabric);
}

/* A neighbour may have forwarded packets before it was purged itself. */
UNIT_TEST(after_a_purge_everybody_is_to_be_idle_again)
{
	OWNED(purging) purging;

	purging_start(&purging, false);
	while (purging.count < 18)
		run(&purging.fabric, 10 * PS_PER_US);
	run(&purging.fabric, 3 * PS_PER_MS);
	assert_int_equal(purging.fabric.mapper[0].distribution.step, DISTRIBUTION_DRAIN);
	assert_int_equal(purging.commits, 0);
	purging.fabric.net.switch_agent[7].idle = true;
	run(&purging.fabric, PS_PER_MS);
	assert_int_equal(purging.commits, 18);
	assert_int_equal(purging.fabric.mapper[0].distribution.purges, 1);
}

/* A device that is not idle after a purge may have packets of unknown tables. Until these packets
 * must be gone, every change needs a pause. A missing host does not cause this. */
UNIT_TEST(what_a_purge_leaves_makes_the_next_change_pause)
{
	for (unsigned empties = 0; empties < 2; empties++) {
		OWNED(purging) purging;
		struct mapper *mapper;

		purging_start(&purging, empties);
		mapper = &purging.fabric.mapper[0];
		run(&purging.fabric, A_WHILE);
		net_cut_link(&purging.fabric.net, (uint32_t)purging.topology->host_link[8], true);
		run(&purging.fabric, A_WHILE);
		assert_int_equal(mapper->counters.live, empties);
		assert_int_equal(mapper->counters.paused, 2 - empties);
		/* Later, this is forgotten. */
		purging.fabric.net.switch_agent[7].idle = true;
		run(&purging.fabric, PS_PER_S);
		net_cut_link(&purging.fabric.net, (uint32_t)purging.topology->host_link[7], true);
		run(&purging.fabric, A_WHILE);
		assert_int_equal(mapper->counters.live, empties + 1);
		assert_int_equal(mapper->counters.paused, 2 - empties);
		fabric_assert_works(&purging.fabric);
	}
}

/* Only a change that left packets behind makes the next ones pause, but not a change that sent
 * nothing. */
UNIT_TEST(what_sends_nothing_leaves_nothing_behind)
{
	OWNED(purging) purging;
	struct mapper *mapper;
	weft_time live_from;

	purging_start(&purging, false);
	mapper = &purging.fabric.mapper[0];
	run(&purging.fabric, A_WHILE);
	live_from = mapper->live_from;
	assert_true(live_from > purging.fabric.net.now);
	mapper->stale = true;
	run(&purging.fabric, A_WHILE);
	assert_int_equal(mapper->counters.unchanged, 1);
	assert_int_equal(mapper->live_from, live_from);
}

static void assert_nobody_is_paused(const struct mapper_fabric *fabric)
{
	for (uint32_t i = 0; i < 9; i++)
		assert_false(
			fabric->net.host_agent[i].paused || fabric->net.switch_agent[i].paused);
}

/* It does not answer while all devices are told to continue, but answers the probe after that. */
UNIT_TEST(who_misses_the_end_of_a_pause_is_told_again)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	fabric.mapper[0].config.sweep_ps = 1000 * PS_PER_S;
	while (fabric.mapper[0].distribution.step != DISTRIBUTION_RESUME)
		run(&fabric, PS_PER_US);
	fabric.net.host_dead[5] = true;
	while (fabric.mapper[0].distribution.step == DISTRIBUTION_RESUME)
		run(&fabric, PS_PER_US);
	fabric.net.host_dead[5] = false;
	assert_true(fabric.net.host_agent[5].paused);
	run(&fabric, A_WHILE);
	assert_nobody_is_paused(&fabric);
	/* Only once: it does not continue to pause. */
	assert_int_equal(fabric.mapper[0].counters.paused, 2);
	run(&fabric, 4 * A_WHILE);
	assert_int_equal(fabric.mapper[0].counters.paused, 2);
}

/* Its pause must end whether the answer arrives while nothing is to be done or while other devices
 * get tables. No other mapper would end it. */
UNIT_TEST(a_pause_that_a_mapper_learns_of_is_ended)
{
	for (unsigned distributing = 0; distributing < 2; distributing++) {
		OWNED(topology) *topology = network_torus(3, 1);
		OWNED(mapper_fabric) fabric;
		struct mapper *mapper;

		start_unknown(&fabric, topology);
		mapper = &fabric.mapper[0];
		mapper->config.sweep_ps = 1000 * PS_PER_S;
		run(&fabric, 2 * A_WHILE);
		assert_int_equal(mapper->state, MAPPER_LEADING);
		if (distributing)
			net_cut_link(&fabric.net, (uint32_t)topology->host_link[8], true);
		while (distributing && mapper->distribution.step != DISTRIBUTION_COMMIT)
			run(&fabric, PS_PER_US);
		fabric.net.host_agent[5].paused = true;
		ask(mapper, NET_HOST_ID + 5);
		run(&fabric, A_WHILE);
		assert_nobody_is_paused(&fabric);
		assert_int_equal(mapper->counters.live, distributing);
		assert_int_equal(mapper->counters.paused, 2);
	}
}

/* Waiting devices continue with the tables that they have, which are known as before. When there
 * are routes again, the tables are replaced live. */
UNIT_TEST(a_pause_is_ended_though_no_routes_can_be_had)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
	struct mapper *mapper;

	start_unknown(&fabric, topology);
	mapper = &fabric.mapper[0];
	run(&fabric, 2 * A_WHILE);
	mapper->config.algorithm = route_algorithm_find("dmodk");
	mapper->config.fallback = NULL;
	fabric.net.host_agent[5].paused = true;
	ask(mapper, NET_HOST_ID + 5);
	run(&fabric, 2 * A_WHILE);
	assert_true(mapper->error.text[0] != '\0');
	assert_nobody_is_paused(&fabric);
	assert_int_equal(mapper->counters.paused, 2);
	assert_int_equal(mapper->counters.maps, 2);
	assert_non_null(mapper_current(mapper)->table);
	fabric_assert_works(&fabric);
	mapper->config.algorithm = route_algorithm_find("ud");
	net_cut_link(&fabric.net, (uint32_t)topology->host_link[8], true);
	run(&fabric, A_WHILE);
	assert_int_equal(mapper->counters.live, 1);
	fabric_assert_works(&fabric);
}

/* As when memory runs out: no report would lead to another try. */
UNIT_TEST(a_map_that_could_not_be_made_is_tried_again)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
	struct mapper_frame frame;
	struct mapper *mapper;
	uint8_t *peer_port;

	start_unknown(&fabric, topology);
	mapper = &fabric.mapper[0];
	run(&fabric, 2 * A_WHILE);
	peer_port = &mapper->map.device[1].port[0].peer_port;
	*peer_port ^= 1; /* its neighbour has two cables there */
	mapper->stale = true;
	mapper_poll(mapper, fabric.net.now, &frame);
	assert_true(mapper->error.text[0] != '\0');
	assert_false(mapper->stale);
	*peer_port ^= 1;
	assert_int_equal(fabric_map_find_ways(&mapper->map), 0);
	run(&fabric, 2 * fabric.config.sweep_ps);
	assert_true(mapper->error.text[0] == '\0');
	fabric_assert_works(&fabric);
}

UNIT_TEST(who_was_told_of_a_greater_one_leads_again_when_that_is_gone)
{
	OWNED(topology) *topology = network_torus(3, 1);
	struct mapper_agent *told;
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	for (uint32_t i = 1; i < topology->hosts; i++)
		fabric.mapper[i].config.takeover_ps = 1000 * PS_PER_S;
	told = &fabric.net.switch_agent[5];
	while (told->staged == NULL)
		run(&fabric, PS_PER_US);
	/* Its answers name a mapper that no longer exists. */
	told->followed = UINT64_MAX;
	told->followed_priority = UINT16_MAX;
	told->heard_at = fabric.net.now;
	run(&fabric, 10 * A_WHILE);
	assert_int_equal(fabric.mapper[0].counters.led, 2);
	assert_int_equal(fabric.mapper[0].counters.stepped_down, 1);
	fabric_assert_works(&fabric);
}

UNIT_TEST(one_device_that_refuses_calls_all_off)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	fabric.net.host_agent[8].config.image_bytes_max = 10;
	while (fabric.mapper[0].counters.called_off == 0)
		run(&fabric, PS_PER_US);
	assert_int_equal(count_committed(&fabric), 0);
	for (uint32_t i = 0; i < 9; i++)
		assert_false(fabric.net.host_agent[i].paused);
}

UNIT_TEST(a_device_that_dies_meanwhile_is_left_out)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
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
}

/* A restarted switch has no tables. It gets its own again, and no other device gets any. */
UNIT_TEST(a_restarted_device_gets_its_tables_back)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	run(&fabric, A_WHILE);
	fabric_watch_commits(&fabric);
	net_start_device(&fabric.net, DEVICE_SWITCH, 4, 31337);
	/* No device saw the cable fail. The mapper finds this out when the sweep reaches it. */
	run(&fabric, 18 * fabric.config.sweep_ps);
	fabric_assert_works(&fabric);
	assert_int_equal(fabric.commits, 1);
}

/* Under one leader, for years. */
UNIT_TEST(a_device_may_restart_again_and_again)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;

	start_unknown(&fabric, topology);
	run(&fabric, A_WHILE);
	for (uint32_t life = 0; life < 3 * DISCOVERY_RESTARTS_MAX; life++) {
		net_start_device(&fabric.net, DEVICE_SWITCH, 4, 31337 + life);
		run(&fabric, 19 * fabric.config.sweep_ps);
		fabric_assert_works(&fabric);
	}
	assert_int_equal(fabric.mapper[0].counters.led, 1);
}

static void without_key(struct mapper_fabric *fabric)
{
	struct net *net = &fabric->net;

	net->key = NULL;
	for (uint32_t i = 0; i < net->topology->switches; i++)
		net->switch_agent[i].config.key = net->switch_agent[i].speaker.key = NULL;
	for (uint32_t i = 0; i < net->topology->hosts; i++)
		net->host_agent[i].config.key = net->host_agent[i].speaker.key = NULL;
	for (uint32_t i = 0; i < net->topology->hosts; i++) {
		mapper_fini(&fabric->mapper[i]);
		fabric_start_mapper(fabric, i, 1);
		if (i > 0)
			fabric->mapper[i].config.listen_ps = 1000 * PS_PER_S;
	}
}

/* A mapper without a key committed other tables there: with the next epoch, the highest epoch, and
 * the highest that a mapper believes. Nothing else changes. */
UNIT_TEST(tables_that_somebody_made_up_are_replaced)
{
	static const uint32_t forged[] = {9, UINT32_MAX, UINT32_MAX / 2, UINT32_MAX / 2 + 1};
	OWNED(topology) *topology = network_torus(3, 1);

	for (unsigned i = 0; i < 4; i++) {
		OWNED(mapper_fabric) fabric;
		uint64_t forged_digest;
		uint32_t before;

		start_unknown(&fabric, topology);
		without_key(&fabric);
		run(&fabric, A_WHILE);
		fabric_assert_works(&fabric);
		before = fabric.mapper[0].epoch;
		fabric.net.switch_agent[4].epoch = forged[i];
		forged_digest = fabric.net.switch_agent[4].digest ^= 1;
		fabric.net.switch_agent[4].committed_at = fabric.net.now;
		run(&fabric, 80 * fabric.config.sweep_ps);
		fabric_assert_works(&fabric);
		assert_true(fabric.net.switch_agent[4].digest != forged_digest);
		assert_true(fabric.mapper[0].epoch > before);
	}
}

UNIT_TEST(who_lacks_the_key_never_leads)
{
	static const struct fabric_key other = {{99}};
	OWNED(topology) *topology = network_torus(3, 1);
	struct mapper_config config = mapper_usual("ud", true);
	OWNED(mapper_fabric) fabric;
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
}

/* Few tries and many lost frames leave pauses behind. When frames are no longer lost, all pauses
 * end, and afterwards nothing is computed or paused. */
UNIT_TEST(pauses_that_losses_leave_behind_are_ended_for_good)
{
	for (uint64_t seed = 0; seed < 16; seed++) {
		OWNED(topology) *topology = network_torus(3, 1);
		OWNED(mapper_fabric) fabric;
		struct mapper *mapper;
		uint64_t maps;

		start_unknown(&fabric, topology);
		mapper = &fabric.mapper[0];
		mapper->distribution.config.tries = 3;
		fabric.net.loss_ppm = 60000;
		rng_init(&fabric.net.rng, seed, 0, 7);
		run(&fabric, A_WHILE);
		fabric.net.loss_ppm = 0;
		run(&fabric, 4 * A_WHILE);
		maps = mapper->counters.maps;
		run(&fabric, 2 * A_WHILE);
		assert_int_equal(mapper->counters.maps, maps);
		assert_nobody_is_paused(&fabric);
		fabric_assert_works(&fabric);
	}
}

/* A cut cable between switches changes only tables of switches, because hosts name their
 * destination. */
UNIT_TEST(who_keeps_its_tables_has_them_from_an_earlier_epoch)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
	struct mapper *mapper;
	unsigned kept = 0;

	start_unknown(&fabric, topology);
	mapper = &fabric.mapper[0];
	run(&fabric, A_WHILE);
	net_cut_link(&fabric.net, 0, true);
	assert_true(mapper_host_epoch(mapper, 0) > 0);
	run(&fabric, 4 * A_WHILE);
	for (uint32_t i = 0; i < topology->hosts; i++) {
		const struct mapper_agent *agent = &fabric.net.host_agent[i];

		assert_int_equal(mapper_host_epoch(mapper, agent->number), agent->epoch);
		kept += agent->epoch < mapper->epoch;
	}
	assert_int_equal(kept, topology->hosts);
	assert_int_equal(mapper_host_epoch(mapper, topology->hosts), 0);
}
