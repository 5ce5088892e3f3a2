/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Devices that answer but do not accept their tables. All others get theirs. */

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE (150 * PS_PER_MS)

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* Host 0 is the only candidate. Sweeps occur when a test requests them. */
static struct mapper *start(struct mapper_fabric *fabric, const struct topology *topology)
{
	struct mapper_config config = mapper_usual("ud", true);

	config.sweep_ps = 1000 * PS_PER_S;
	fabric_start(fabric, topology, &config, 1);
	for (uint32_t i = 1; i < topology->hosts; i++)
		fabric->mapper[i].config.listen_ps = 1000 * PS_PER_S;
	return &fabric->mapper[0];
}

static void sweep(struct mapper_fabric *fabric)
{
	fabric->mapper[0].sweep_at = fabric->net.now;
	run(fabric, A_WHILE);
}

/* Everything works except at these devices, by number of one kind. */
static void assert_works_without(
	struct mapper_fabric *fabric, enum device_kind kind, uint32_t first, uint32_t last)
{
	const struct topology *topology = fabric->net.topology;
	bool *cut = fabric->net.link_cut, *before = calloc(topology->links, sizeof(*before));

	assert_non_null(before);
	memcpy(before, cut, topology->links * sizeof(*before));
	for (uint32_t i = 0; i < topology->links; i++)
		for (unsigned end = 0; end < 2; end++) {
			struct topology_port port =
				end == 0 ? topology->link_at[i].a : topology->link_at[i].b;

			if (port.kind == kind && port.device >= first && port.device <= last)
				cut[i] = true;
		}
	fabric_assert_works(fabric);
	memcpy(cut, before, topology->links * sizeof(*before));
	free(before);
}

static bool is_told(const struct mapper *mapper, uint64_t id)
{
	for (unsigned i = 0; i < mapper->discovery.findings; i++) {
		const struct discovery_finding *finding = &mapper->discovery.finding[i];

		if (finding->kind == DISCOVERY_NO_TABLES &&
			mapper->map.device[finding->device].id == id)
			return true;
	}
	return false;
}

/* Host 8; a switch; the switch at the root of the tree, and the mapper's host. */
UNIT_TEST(who_takes_no_tables_is_left_out_and_told)
{
	static const struct topology_port refusing[] = {
		{DEVICE_HOST, 8, 0}, {DEVICE_SWITCH, 4, 0}, {DEVICE_SWITCH, 0, 0}};

	for (unsigned i = 0; i < 3; i++) {
		OWNED(topology) *topology = network_torus(3, 1);
		OWNED(mapper_fabric) fabric;
		struct mapper *mapper = start(&fabric, topology);
		struct mapper_agent *agent =
			net_agent(&fabric.net, refusing[i].kind, refusing[i].device);

		agent->config.image_bytes_max = 10;
		run(&fabric, A_WHILE);
		assert_int_equal(mapper->counters.called_off, 2);
		assert_true(is_told(mapper, agent->config.id));
		assert_true(agent->config.id != mapper->root + 1u);
		assert_works_without(
			&fabric, refusing[i].kind, refusing[i].device, refusing[i].device);
		/* A cut elsewhere is mapped around, and the refusing device is not queried. */
		net_cut_link(&fabric.net, network_cable_between(topology, 1, 2), true);
		run(&fabric, A_WHILE);
		assert_int_equal(mapper->counters.called_off, 2);
		assert_works_without(
			&fabric, refusing[i].kind, refusing[i].device, refusing[i].device);
		assert_null(agent->image);
	}
}

UNIT_TEST(who_was_left_out_is_tried_again_ever_more_rarely)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
	struct mapper *mapper = start(&fabric, topology);
	struct mapper_agent *agent = &fabric.net.switch_agent[4];

	agent->config.image_bytes_max = 10;
	run(&fabric, A_WHILE);
	for (unsigned sweeps = 1; sweeps <= 15; sweeps++) {
		unsigned tries = 3 + (sweeps >= 3) + (sweeps >= 7) + (sweeps >= 15);

		sweep(&fabric);
		assert_int_equal(mapper->counters.called_off, tries);
		assert_true(is_told(mapper, agent->config.id));
	}
	agent->config.image_bytes_max = 1 << 20;
	for (unsigned sweeps = 0; sweeps < 16; sweeps++)
		sweep(&fabric);
	assert_non_null(agent->image);
	assert_false(is_told(mapper, agent->config.id));
	fabric_assert_works(&fabric);
}

/* Its next build may know these images. */
UNIT_TEST(a_new_life_takes_part_at_once)
{
	OWNED(topology) *topology = network_torus(3, 1);
	OWNED(mapper_fabric) fabric;
	struct mapper *mapper = start(&fabric, topology);
	const struct map_device *device;

	fabric.net.switch_agent[4].config.image_bytes_max = 10;
	run(&fabric, A_WHILE);
	net_start_device(&fabric.net, DEVICE_SWITCH, 4, 31337);
	device = &mapper->map.device[fabric_map_find(&mapper->map, 5)];
	discovery_ask(&mapper->discovery, device->parent, device->parent_port, true);
	run(&fabric, A_WHILE);
	assert_int_equal(mapper->counters.called_off, 2);
	fabric_assert_works(&fabric);
}

static bool loses_tables(void *context, uint32_t link, const uint8_t *data)
{
	const struct mapper_fabric *fabric = context;
	const struct frame_header *header = frame_header_const(data);

	return link == network_cable_between(fabric->net.topology, 0, 1) &&
	       data[frame_payload_offset(header)] == MAPPER_TABLE;
}

/* Switches 1 to 3 and their hosts, all at the same time. */
UNIT_TEST(behind_a_cable_that_loses_tables_all_are_left_out_at_once)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(mapper_fabric) fabric;
	struct mapper *mapper = start(&fabric, topology);

	net_cut_link(&fabric.net, network_cable_between(topology, 3, 4), true);
	fabric.net.hooks.loses = loses_tables;
	run(&fabric, 2 * A_WHILE);
	assert_int_equal(mapper->counters.called_off, 2);
	assert_works_without(&fabric, DEVICE_SWITCH, 1, 3);
	fabric.net.hooks.loses = NULL;
	sweep(&fabric);
	fabric_assert_works(&fabric);
}
