/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A flapping cable is left unused, and all other cables are not affected. */

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE  (150 * PS_PER_MS)
#define SHORTEST PS_PER_MS /* minimum in mapper_usual() */
#define LONGEST  (SHORTEST << (LINK_HOLD_DOWNS_MAX - 2))

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* Host 0 is the only candidate, and its work is complete. */
static struct mapper *start(struct mapper_fabric *fabric, const struct topology *topology)
{
	struct mapper_config config = mapper_usual("ud", true);

	fabric_start(fabric, topology, &config, 1);
	for (uint32_t i = 1; i < topology->hosts; i++)
		fabric->mapper[i].config.listen_ps = 1000 * PS_PER_S;
	run(fabric, A_WHILE);
	fabric_assert_works(fabric);
	return &fabric->mapper[0];
}

static void end(struct mapper_fabric *fabric)
{
	OWNED(topology) *topology = (struct topology *)(uintptr_t)fabric->net.topology;

	fabric_end(fabric);
}

static void flap(struct mapper_fabric *fabric, uint32_t link, weft_time half)
{
	net_cut_link(&fabric->net, link, true);
	run(fabric, half);
	net_cut_link(&fabric->net, link, false);
	run(fabric, half);
}

/* Until the cable is held down for the longest time. */
static void flap_often(struct mapper_fabric *fabric, uint32_t link)
{
	for (unsigned i = 0; i < 16; i++)
		flap(fabric, link, PS_PER_MS);
}

static const struct map_port *port_at(const struct mapper_fabric *fabric, uint32_t link)
{
	const struct topology_port at = fabric->net.topology->link_at[link].a;
	const struct fabric_map *map = &fabric->mapper[0].map;

	return &map->device[fabric_map_find(map, net_id(at.kind, at.device))].port[at.port];
}

/* It is up for long enough to be found, and too short for any other use. */
UNIT_TEST(a_cable_that_flaps_does_not_keep_others_from_being_mapped_around)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	struct mapper *mapper = start(&fabric, topology);
	uint32_t flapping = network_cable_between(topology, 1, 2);
	uint64_t maps = mapper->counters.maps;

	mapper->config.gather_ps = 3 * PS_PER_MS;
	net_cut_link(&fabric.net, network_cable_between(topology, 0, 3), true);
	for (unsigned i = 0; i < 40; i++)
		flap(&fabric, flapping, PS_PER_MS);
	assert_true(mapper->counters.maps > maps);
	assert_true(mapper->counters.maps - maps < 6);
	net_cut_link(&fabric.net, flapping, true);
	fabric_assert_works(&fabric);
	net_cut_link(&fabric.net, flapping, false);
	run(&fabric, SHORTEST * LINK_HOLD_FORGET / 2 + A_WHILE);
	assert_int_equal(port_at(&fabric, flapping)->state, MAP_LINKED);
	fabric_assert_works(&fabric);
	end(&fabric);
}

UNIT_TEST(each_time_it_is_held_for_twice_as_long)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	uint32_t flapping = network_cable_between(topology, 1, 2);
	weft_time hold = 0;

	start(&fabric, topology);
	for (unsigned i = 0; i < 16; i++) {
		net_cut_link(&fabric.net, flapping, true);
		run(&fabric, PS_PER_MS);
		net_cut_link(&fabric.net, flapping, false);
		if (hold > 0) {
			run(&fabric, hold);
			assert_int_equal(port_at(&fabric, flapping)->state, MAP_EMPTY);
		}
		run(&fabric, PS_PER_MS);
		assert_int_equal(port_at(&fabric, flapping)->state, MAP_LINKED);
		if (i == 0)
			hold = SHORTEST;
		else if (i < LINK_HOLD_DOWNS_MAX - 1)
			hold *= 2;
	}
	end(&fabric);
}

/* Sweeps, and answers of its neighbours, do not bypass this. */
UNIT_TEST(nobody_asks_about_it_meanwhile)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	uint32_t flapping = network_cable_between(topology, 1, 2);

	start(&fabric, topology);
	flap_often(&fabric, flapping);
	assert_in_range(LONGEST / fabric.config.sweep_ps, 4, 100);
	for (unsigned i = 1; i < LONGEST / fabric.config.sweep_ps; i++) {
		run(&fabric, fabric.config.sweep_ps);
		assert_int_equal(port_at(&fabric, flapping)->state, MAP_EMPTY);
	}
	end(&fabric);
}

static bool loses_reports(void *context, uint32_t link, const uint8_t *data)
{
	return data[frame_payload_offset(frame_header_const(data))] == MAPPER_REPORT;
}

/* The switches at both ends, like in a sweep. */
static void ask_ends(struct mapper_fabric *fabric)
{
	struct mapper *mapper = &fabric->mapper[0];

	for (uint32_t number = 1; number <= 2; number++) {
		uint32_t at = fabric_map_find(&mapper->map, net_id(DEVICE_SWITCH, number));
		const struct map_device *device = &mapper->map.device[at];

		discovery_ask(&mapper->discovery, device->parent, device->parent_port, true);
	}
	run(fabric, PS_PER_MS);
}

UNIT_TEST(what_only_answers_tell_of_counts_too)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	uint32_t flapping = network_cable_between(topology, 1, 2);

	start(&fabric, topology);
	fabric.net.hooks.loses = loses_reports;
	for (unsigned i = 0; i < 6; i++) {
		net_cut_link(&fabric.net, flapping, true);
		ask_ends(&fabric);
		assert_int_equal(port_at(&fabric, flapping)->state, MAP_EMPTY);
		net_cut_link(&fabric.net, flapping, false);
		ask_ends(&fabric);
	}
	assert_int_equal(port_at(&fabric, flapping)->state, MAP_EMPTY);
	end(&fabric);
}

UNIT_TEST(what_was_long_ago_is_forgotten)
{
	struct topology *topology = network_torus(3, 1);
	struct mapper_fabric fabric;
	uint32_t flapping = network_cable_between(topology, 1, 2);

	start(&fabric, topology);
	flap_often(&fabric, flapping);
	run(&fabric, SHORTEST * LINK_HOLD_FORGET + PS_PER_MS);
	flap(&fabric, flapping, PS_PER_MS);
	assert_int_equal(port_at(&fabric, flapping)->state, MAP_LINKED);
	end(&fabric);
}
