/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The guarantee of delivery under random load while routes appear, change and disappear, and
 * interfaces are paused, each separately. */

#include "nic_load.h"

#define PORT(n) (uint8_t)(ROUTE_PORT_BIT | (n))

struct rerouted {
	struct channel channel;
	bool paused[CHANNEL_HOSTS_MAX];
};

static void add_random_route(
	struct channel *channel, struct nic_routes *routes, uint16_t host, uint16_t to)
{
	uint8_t path = (uint8_t)rng_below(&channel->rng, CHANNEL_PATHS_MAX);
	const uint8_t route[] = {PORT(path), PORT(to), ROUTE_TYPE_HOST};

	if (rng_chance_ppm(&channel->rng, 300000))
		add_route_by_host(channel, routes, host, to, path);
	else
		assert_int_equal(nic_routes_add(routes, to, route, sizeof(route)), 0);
}

/* One to four routes to each host, a third of them through a third host; with 'lacking_ppm', some
 * hosts have none. */
static struct nic_routes *random_routes(
	struct channel *channel, uint16_t host, uint32_t lacking_ppm)
{
	struct nic_routes *routes = nic_routes_create((uint16_t)channel->options.hosts);

	for (uint16_t to = 0; to < channel->options.hosts; to++) {
		unsigned count = 1 + (unsigned)rng_below(&channel->rng, 4);

		if (rng_chance_ppm(&channel->rng, lacking_ppm))
			continue;
		while (count-- > 0)
			add_random_route(channel, routes, host, to);
	}
	return routes;
}

/* The former routes are freed immediately. */
static void reroute(struct channel *channel, uint16_t host, uint32_t lacking_ppm)
{
	struct station *station = &channel->station[host];
	struct nic_routes *routes = random_routes(channel, host, lacking_ppm);

	assert_int_equal(nic_set_routes(station->nic, routes, channel->now), 0);
	nic_routes_destroy(station->routes);
	station->routes = routes;
}

static void pause_or_resume(struct rerouted *rerouted, uint16_t host)
{
	struct channel *channel = &rerouted->channel;

	rerouted->paused[host] = !rerouted->paused[host];
	if (rerouted->paused[host])
		nic_pause(channel->station[host].nic, channel->now);
	else
		nic_resume(channel->station[host].nic, channel->now);
}

static void resume_all(struct rerouted *rerouted, bool reroute_all)
{
	for (uint16_t host = 0; host < rerouted->channel.options.hosts; host++) {
		if (reroute_all)
			reroute(&rerouted->channel, host, 0);
		if (rerouted->paused[host])
			pause_or_resume(rerouted, host);
	}
}

/* At these intervals, something changes at some host. */
static void run_changing(struct rerouted *rerouted, const struct channel_options *options,
	uint64_t data_frames, unsigned every, uint32_t lacking_ppm, uint32_t pause_ppm)
{
	struct channel *channel = &rerouted->channel;

	memset(rerouted->paused, 0, sizeof(rerouted->paused));
	channel_start(channel, options);
	while (channel->data_frames < data_frames) {
		uint16_t host = (uint16_t)rng_below(&channel->rng, options->hosts);

		load_step(channel, 2);
		if (channel->step % every != 0)
			continue;
		if (rng_chance_ppm(&channel->rng, pause_ppm))
			pause_or_resume(rerouted, host);
		else
			reroute(channel, host, lacking_ppm);
		channel_check(channel);
	}
	resume_all(rerouted, true);
	load_end(channel);
	assert_true(channel_count(channel, NIC_MESSAGES_REROUTED) > 1000);
}

static struct channel_options changing_options(void)
{
	struct channel_options options = channel_good;

	options.hosts = 6;
	options.vcs = 2;
	options.itbs = true;
	options.paths = CHANNEL_PATHS_MAX;
	options.path_delay = 3;
	options.choice = &route_choice_round_robin;
	return options;
}

static int make_rerouted(void **state)
{
	*state = calloc(1, sizeof(struct rerouted));
	return *state == NULL;
}

#define LOAD_TEST(f) UNIT_BED(f, make_rerouted, unmake, struct rerouted *rerouted)

LOAD_TEST(order_survives_changes_of_routes)
{
	struct channel_options options = changing_options();

	run_changing(rerouted, &options, 200000, 10, 0, 0);
	assert_true(channel_count(&rerouted->channel, NIC_FRAMES_REORDERED) > 10000);
	assert_int_equal(channel_count(&rerouted->channel, NIC_MESSAGES_STRANDED), 0);
	channel_stop(&rerouted->channel);
}

LOAD_TEST(nothing_is_lost_where_routes_come_and_go)
{
	struct channel_options options = changing_options();

	run_changing(rerouted, &options, 200000, 20, 300000, 0);
	assert_true(channel_count(&rerouted->channel, NIC_MESSAGES_STRANDED) > 1000);
	channel_stop(&rerouted->channel);
}

LOAD_TEST(nothing_is_lost_or_doubled_by_pauses)
{
	struct channel_options options = changing_options();

	run_changing(rerouted, &options, 200000, 20, 100000, 500000);
	channel_stop(&rerouted->channel);
}

LOAD_TEST(all_that_and_loss_damage_and_doubles_are_survived)
{
	struct channel_options options = changing_options();

	options.spread = 10;
	options.choice = &route_choice_contention;
	options.loss_ppm = options.control_loss_ppm = 5000;
	options.duplicate_ppm = 5000;
	options.damage_ppm = 2500;
	options.itb_pool = 16 * 1024;
	run_changing(rerouted, &options, 200000, 20, 200000, 300000);
	channel_stop(&rerouted->channel);
}

/* Like the mapper: all pause, frames in flight arrive, all routes change, all continue. No host
 * mistakes the pause for a loss. */
LOAD_TEST(a_change_behind_a_pause_causes_no_repetition)
{
	OWNED(channel) *channel = &rerouted->channel;
	struct channel_options options = changing_options();

	channel_start(channel, &options);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 400; i++)
			load_step(channel, 1);
		for (uint16_t host = 0; host < options.hosts; host++)
			pause_or_resume(rerouted, host);
		channel_run(channel, 2000); /* six times the time of a retry */
		assert_int_equal(channel->carried, 0);
		for (uint16_t host = 0; host < options.hosts; host++)
			assert_true(nic_is_idle(channel->station[host].nic));
		resume_all(rerouted, true);
	}
	load_end(channel);
	assert_int_equal(channel_count(channel, NIC_RETRY_TIMEOUTS), 0);
	assert_int_equal(channel_count(channel, NIC_FRAMES_RETRANSMITTED), 0);
}
