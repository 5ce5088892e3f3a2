/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Control planes over a fabric in memory. Its devices handle orders and mapper frames like the poll
 * loops, but carry no data. */

#include "mapping/control_plane.h"
#include "mapping/control_plane_private.h"

#include <jansson.h>
#include <unistd.h>

#include "mapper/fabric_map.h"
#include "mapper_usual.h"
#include "topo/generator.h"
#include "topo/topology_file.h"
#include "unit.h"
#include "wire/frame_check.h"

#define PLANES      2
#define FRAME_BYTES 1400
#define TURN_PS     (20 * PS_PER_US)

struct wire_frame {
	struct wire_frame *next;
	unsigned port, bytes;
	uint8_t data[];
};

struct device {
	struct topology_port at;
	struct device_control *control;
	struct wire_frame *arrived, **last;
	struct switch_tables *of_switch;
	struct host_tables *of_host;
	bool paused, refuses, stands_still;
	unsigned pauses, commits;
};

struct world {
	struct topology *topology;
	struct device *device; /* switches, then hosts */
	unsigned devices;
	struct control_plane *plane[PLANES];
	struct control_plane_device place[PLANES][64];
	struct fabric_key key[PLANES];
	bool *cut; /* by link */
	weft_time now;
};

static struct device *device_at(struct world *world, struct topology_port at)
{
	return &world->device[at.kind == DEVICE_SWITCH ? at.device
						       : world->topology->switches + at.device];
}

/* --- a device's loop --- */

static void transmit(
	struct world *world, struct topology_port from, const uint8_t *data, unsigned bytes)
{
	const struct topology_link *link = topology_link_at(world->topology, from);
	struct topology_port to;
	struct wire_frame *frame;
	struct device *device;

	if (link == NULL || world->cut[link - world->topology->link_at])
		return;
	assert_true(topology_peer(world->topology, from, &to));
	device = device_at(world, to);
	frame = malloc(sizeof(*frame) + bytes);
	assert_non_null(frame);
	*frame = (struct wire_frame){.port = to.port, .bytes = bytes};
	memcpy(frame->data, data, bytes);
	*device->last = frame;
	device->last = &frame->next;
}

static void arrive(struct world *world, struct device *device, struct wire_frame *frame)
{
	struct frame_header *header = frame_header(frame->data);
	struct topology_port at = device->at;
	uint8_t element;

	assert_int_equal(frame_check(frame->data, frame->bytes), FRAME_FAULT_OK);
	element = frame_route(frame->data)[header->cursor];
	if (element == ROUTE_TYPE_AGENT) {
		device_control_up(device->control, frame->port, frame->data, frame->bytes);
		return;
	}
	assert_true(at.kind == DEVICE_SWITCH && (element & ROUTE_PORT_BIT) != 0);
	frame_update_mutable(frame->data, frame_mutable_word(header->vc, header->vc_original,
						  (uint8_t)(header->cursor + 1), header->flags));
	at.port = element & ROUTE_PORT_MASK;
	transmit(world, at, frame->data, frame->bytes);
}

static void obey(struct world *world, struct device *device, struct device_order *order)
{
	struct topology_port at = device->at;
	struct switch_tables *of_switch = device->of_switch;
	struct host_tables *of_host = device->of_host;

	at.port = order->port;
	switch (order->kind) {
	case DEVICE_SEND:
		transmit(world, at, order->frame, order->bytes);
		break;
	case DEVICE_COMMIT:
		order->refused = device->refuses;
		if (device->refuses)
			break;
		device->commits++;
		device->of_switch = order->of_switch;
		device->of_host = order->of_host;
		order->of_switch = of_switch;
		order->of_host = of_host;
		break;
	case DEVICE_PAUSE:
		device->pauses++;
		device->paused = true;
		break;
	case DEVICE_RESUME:
		device->paused = false;
		break;
	default:
		break;
	}
}

static uint64_t linked(const struct world *world, struct topology_port at, unsigned ports)
{
	uint64_t set = 0;

	for (unsigned port = 0; port < ports; port++) {
		const struct topology_link *link;

		at.port = (uint8_t)port;
		link = topology_link_at(world->topology, at);
		if (link != NULL && !world->cut[link - world->topology->link_at])
			set |= (uint64_t)1 << port;
	}
	return set;
}

static void turn_loop(struct world *world, struct device *device)
{
	unsigned ports = device->at.kind == DEVICE_HOST
				 ? 1
				 : world->topology->switch_at[device->at.device].ports;
	struct device_order *order;

	if (device->stands_still)
		return;
	while (device->arrived != NULL) {
		struct wire_frame *frame = device->arrived;

		device->arrived = frame->next;
		if (device->arrived == NULL)
			device->last = &device->arrived;
		arrive(world, device, frame);
		free(frame);
	}
	while ((order = device_control_next(device->control)) != NULL) {
		obey(world, device, order);
		device_control_done(device->control);
	}
	device_control_update(device->control, linked(world, device->at, ports), device->paused);
}

/* --- the world --- */

/* The default would ask again too soon, because a frame takes one iteration at each device. */
static struct mapper_config patient_mapper(const char *algorithm, bool tables)
{
	struct mapper_config config = mapper_usual(algorithm, tables);

	config.gather_ps = PS_PER_MS;
	config.discovery.retry_ps = config.distribution.retry_ps = 2 * PS_PER_MS;
	config.distribution.drain_ps = 50 * PS_PER_MS;
	config.distribution.settle_ps = 100 * PS_PER_US;
	return config;
}

/* Devices with odd numbers are in the second process, if there is one. */
static unsigned plane_of(const struct world *world, uint32_t number)
{
	return world->plane[1] != NULL ? number % 2 : 0;
}

static void start_plane(struct world *world, unsigned which, unsigned planes,
	const struct mapper_config *mapper, const struct topology *expect)
{
	struct control_plane_config config = {
		.topology = world->topology,
		.device = world->place[which],
		.session = 100 + which,
		.version = which,
		.key = &world->key[which],
		.mapper = *mapper,
		.lease_ps = 50 * PS_PER_MS,
		.report_retry_ps = 2 * PS_PER_MS,
		.frame_bytes = FRAME_BYTES,
		.expect = expect,
		.announce = "found",
	};

	for (unsigned i = 0; i < world->devices; i++) {
		struct topology_port at = world->device[i].at;

		if (at.device % planes == which)
			world->place[which][config.devices++] =
				(struct control_plane_device){.kind = at.kind,
					.number = at.device,
					.candidate = at.kind == DEVICE_HOST,
					.priority = at.device == 2};
	}
	world->plane[which] = control_plane_create(&config, 0);
	assert_non_null(world->plane[which]);
}

static void start(struct world *world, const char *network, unsigned planes,
	const struct mapper_config *mapper, const struct topology *expect)
{
	struct error error;

	memset(world, 0, sizeof(*world));
	memset(world->key[0].bytes, 7, sizeof(world->key[0].bytes));
	world->key[1] = world->key[0];
	world->topology = topology_generate(network, &error);
	assert_non_null(world->topology);
	world->devices = world->topology->switches + world->topology->hosts;
	world->device = calloc(world->devices, sizeof(*world->device));
	world->cut = calloc(world->topology->links, sizeof(bool));
	for (unsigned i = 0; i < world->devices; i++) {
		struct device *device = &world->device[i];
		bool host = i >= world->topology->switches;

		device->at.kind = host ? DEVICE_HOST : DEVICE_SWITCH;
		device->at.device = host ? i - world->topology->switches : i;
		device->last = &device->arrived;
	}
	for (unsigned which = 0; which < planes; which++)
		start_plane(world, which, planes, mapper, expect);
	for (unsigned i = 0; i < world->devices; i++) {
		struct topology_port at = world->device[i].at;

		world->device[i].control = control_plane_control(
			world->plane[plane_of(world, at.device)], at.kind, at.device);
		assert_non_null(world->device[i].control);
	}
}

static void stop(struct world *world)
{
	for (unsigned i = 0; i < world->devices; i++) {
		struct device *device = &world->device[i];

		for (struct wire_frame *frame; (frame = device->arrived) != NULL; free(frame))
			device->arrived = frame->next;
		switch_tables_destroy(device->of_switch);
		host_tables_destroy(device->of_host);
	}
	for (unsigned i = 0; i < PLANES; i++)
		control_plane_destroy(world->plane[i]);
	free(world->device);
	free(world->cut);
	topology_destroy(world->topology);
}
#define world_out_of_scope stop

static bool is_routed(const struct world *world)
{
	for (unsigned i = 0; i < PLANES; i++)
		if (world->plane[i] != NULL && !control_plane_is_routed(world->plane[i]))
			return false;
	return true;
}

static void step(struct world *world)
{
	for (unsigned i = 0; i < world->devices; i++)
		turn_loop(world, &world->device[i]);
	for (unsigned i = 0; i < PLANES; i++)
		if (world->plane[i] != NULL)
			control_plane_poll(world->plane[i], world->now, world->now);
	world->now += TURN_PS;
}

static void run(struct world *world, weft_time time)
{
	for (weft_time until = world->now + time; world->now < until;)
		step(world);
}

static bool run_until_routed(struct world *world, weft_time time)
{
	for (weft_time until = world->now + time; world->now < until && !is_routed(world);)
		step(world);
	return is_routed(world);
}

/* --- what the tables say --- */

/* Follows the route of 'from' to 'to', or the switches' tables, over the existing cables. */
static bool leads(struct world *world, uint32_t from, uint16_t to)
{
	const struct host_tables *tables =
		device_at(world, (struct topology_port){DEVICE_HOST, from, 0})->of_host;
	struct topology_port at = {DEVICE_HOST, from, 0}, next;
	const uint8_t *route = NULL;
	uint8_t length = 0;

	if (tables == NULL || !nic_routes_reaches(tables->routes, to))
		return false;
	if (!tables->routes->to[to].by_table)
		route = nic_routes_get(tables->routes, to, 0, &length);
	for (unsigned hops = 0; hops < 16; hops++) {
		const struct topology_link *link = topology_link_at(world->topology, at);

		if (link == NULL || world->cut[link - world->topology->link_at] ||
			!topology_peer(world->topology, at, &next))
			return false;
		if (next.kind == DEVICE_HOST)
			return next.device == to;
		at = next;
		at.port = route != NULL ? route[hops] & ROUTE_PORT_MASK
					: device_at(world, at)->of_switch->port[to];
	}
	return false;
}

static unsigned count_ways(struct world *world)
{
	unsigned ways = 0;

	for (uint32_t from = 0; from < world->topology->hosts; from++)
		for (uint32_t to = 0; to < world->topology->hosts; to++)
			ways += from != to && leads(world, from, (uint16_t)to);
	return ways;
}

/* 4 fully connected switches with 8 hosts. */
#define NETWORK "full:switches=4,hosts=2"
#define WAYS    (8 * 7)
#define A_WHILE (400 * PS_PER_MS)

UNIT_TEST(every_host_gets_a_way_to_every_other)
{
	const struct mapper_config tables = patient_mapper("ud", true);
	const struct mapper_config routes = patient_mapper("ud", false);
	const struct mapper_config *const all[] = {&tables, &routes};
	struct world world;

	for (unsigned i = 0; i < 2; i++) {
		start(&world, NETWORK, 1, all[i], NULL);
		assert_false(is_routed(&world));
		assert_true(run_until_routed(&world, A_WHILE));
		assert_int_equal(count_ways(&world), WAYS);
		stop(&world);
	}
}

UNIT_TEST(two_processes_find_each_other)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;

	start(&world, NETWORK, 2, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	assert_int_equal(count_ways(&world), WAYS);
}

/* Cuts every cable between switches in turn. Each is repaired before the next is cut. */
UNIT_TEST(a_cut_cable_is_gone_round)
{
	const struct mapper_config mapper = patient_mapper("ud", true);
	OWNED(world) world;

	start(&world, NETWORK, 2, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	for (uint32_t i = 0; i < world.topology->links; i++) {
		const struct topology_link *link = &world.topology->link_at[i];

		if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
			continue;
		world.cut[i] = true;
		run(&world, 200 * PS_PER_MS);
		assert_int_equal(count_ways(&world), WAYS);
		world.cut[i] = false;
		run(&world, 200 * PS_PER_MS);
		assert_true(is_routed(&world));
	}
}

UNIT_TEST(a_host_that_is_cut_off_leaves_the_process_without_all_routes)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	struct topology_port port = {DEVICE_HOST, 5, 0};
	OWNED(world) world;

	start(&world, NETWORK, 1, &mapper, NULL);
	world.cut[topology_link_at(world.topology, port) - world.topology->link_at] = true;
	assert_false(run_until_routed(&world, A_WHILE));
	assert_int_equal(count_ways(&world), 7 * 6);
	world.cut[topology_link_at(world.topology, port) - world.topology->link_at] = false;
	assert_true(run_until_routed(&world, A_WHILE));
	assert_int_equal(count_ways(&world), WAYS);
}

static json_t *ask_status(struct world *world);

static json_int_t count_refusing(struct world *world)
{
	json_t *all = ask_status(world);
	const json_t *agent;
	json_int_t refusing = 0;
	size_t i;

	json_array_foreach(json_object_get(all, "agents"), i, agent) refusing +=
		json_is_true(json_object_get(agent, "tables_refused"));
	json_decref(all);
	return refusing;
}

/* Its agent has them and reports this, but the loop knows that it cannot use them. */
UNIT_TEST(a_device_that_refuses_its_tables_is_not_routed)
{
	const struct mapper_config mapper = patient_mapper("ud", true);
	struct world world;

	for (unsigned i = 0; i < 2; i++) {
		start(&world, NETWORK, 1, &mapper, NULL);
		world.device[i == 0 ? 1 : world.devices - 1].refuses = true;
		assert_false(run_until_routed(&world, A_WHILE));
		assert_int_equal(count_refusing(&world), 1);
		stop(&world);
	}
}

static json_int_t count_forged(struct world *world)
{
	json_t *all = ask_status(world);
	const json_t *agent;
	json_int_t forged = 0;
	size_t i;

	json_array_foreach(json_object_get(all, "agents"), i, agent) forged +=
		json_integer_value(json_object_get(json_object_get(agent, "refused"), "forged"));
	json_decref(all);
	return forged;
}

/* Each maps a fabric from the devices with its key. */
UNIT_TEST(processes_with_different_keys_know_nothing_of_each_other)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	unsigned within = 0;
	OWNED(world) world;

	start(&world, NETWORK, 2, &mapper, NULL);
	world.key[1].bytes[0] ^= 1;
	run(&world, A_WHILE);
	for (uint32_t from = 0; from < world.topology->hosts; from++)
		for (uint16_t to = 0; to < world.topology->hosts; to++) {
			struct topology_port at = {DEVICE_HOST, from, 0};
			const struct host_tables *tables = device_at(&world, at)->of_host;

			if (tables == NULL || !nic_routes_reaches(tables->routes, to))
				continue;
			assert_int_equal(from % 2, to % 2);
			within++;
		}
	assert_true(within > 0);
	assert_true(count_forged(&world) > 0);
	assert_false(is_routed(&world));
}

/* Up/down routes before and after a cable was cut are not always compatible. */
UNIT_TEST(a_pause_reaches_all_loops_and_ends)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	unsigned pauses = 0, ways;
	OWNED(world) world;

	start(&world, "torus:dims=4x4,hosts=1", 2, &mapper, NULL);
	ways = world.topology->hosts * (world.topology->hosts - 1);
	assert_true(run_until_routed(&world, A_WHILE));
	for (uint32_t i = 0; i < world.topology->links && pauses == 0; i++) {
		if (world.topology->link_at[i].a.kind == DEVICE_HOST ||
			world.topology->link_at[i].b.kind == DEVICE_HOST)
			continue;
		world.cut[i] = true;
		run(&world, 200 * PS_PER_MS);
		assert_int_equal(count_ways(&world), ways);
		pauses = world.device[0].pauses;
	}
	assert_true(pauses > 0);
	for (unsigned i = 0; i < world.devices; i++) {
		assert_false(world.device[i].paused);
		assert_int_equal(world.device[i].pauses, pauses);
	}
}

/* In one process. */
static struct control_device *leader_in(struct world *world)
{
	struct control_plane *plane = world->plane[0];

	for (unsigned i = 0; i < plane->devices; i++)
		if (plane->device[i].mapper != NULL &&
			mapper_leads(&plane->device[i].mapper->mapper))
			return &plane->device[i];
	fail_msg("nobody leads");
	return NULL;
}

/* Cuts cables until a change has to drain the fabric. Stops just before a round in which the
 * mapper's own device will report that it is idle, as it was when its loop last checked. */
static const struct distribution_target *go_to_a_round(struct world *world)
{
	struct control_device *leader = leader_in(world);
	const struct distribution *distribution = &leader->mapper->mapper.distribution;

	for (uint32_t i = 0; i < world->topology->links; i++) {
		if (world->topology->link_at[i].a.kind == DEVICE_HOST ||
			world->topology->link_at[i].b.kind == DEVICE_HOST)
			continue;
		world->cut[i] = true;
		for (weft_time until = world->now + 200 * PS_PER_MS; world->now < until;) {
			step(world);
			if (distribution->step == DISTRIBUTION_DRAIN &&
				device_control_idle(leader->control) &&
				!distribution->target[distribution->target_of[0]].asked)
				return &distribution->target[distribution->target_of[0]];
		}
	}
	fail_msg("no change needs a pause");
	return NULL;
}

/* If no loop has checked a port since the request, the frames waiting there are unknown. */
UNIT_TEST(the_mappers_own_device_answers_when_its_loop_has_looked)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	const struct distribution_target *own;
	struct device *device;
	OWNED(world) world;

	start(&world, "torus:dims=4x4,hosts=1", 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	own = go_to_a_round(&world);
	device = device_at(
		&world, (struct topology_port){DEVICE_HOST, leader_in(&world)->config.number, 0});
	device->stands_still = true;
	run(&world, 2 * mapper.distribution.settle_ps);
	assert_false(own->done);
	assert_true(own->asked);
	device->stands_still = false;
	run(&world, A_WHILE);
	assert_true(is_routed(&world));
}

/* --- what it tells --- */

struct place {
	char directory[32], path[48], request[96];
};

static void choose_place(struct place *place, const char *request)
{
	strcpy(place->directory, "/tmp/weft-control-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->path, sizeof(place->path), "%s/file", place->directory);
	snprintf(place->request, sizeof(place->request), "%s %s", request, place->path);
}

static void clear_place(const struct place *place)
{
	unlink(place->path);
	assert_int_equal(rmdir(place->directory), 0);
}

static json_t *ask_status(struct world *world)
{
	struct place place;
	json_t *all;

	choose_place(&place, "status");
	assert_true(control_plane_ask(world->plane[0], place.request));
	step(world);
	all = json_load_file(place.path, 0, NULL);
	assert_non_null(all);
	clear_place(&place);
	return all;
}

static const json_t *leader_of(const json_t *all)
{
	const json_t *mapper, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(all, "mappers"), i,
		mapper) if (strcmp(json_string_value(json_object_get(mapper, "state")),
				    "leading") == 0)
	{
		assert_null(found);
		found = mapper;
	}
	return found;
}

static json_int_t number_of(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

/* All cables are cut while the switches are paused, so no mapper can reach a switch. */
UNIT_TEST(a_pause_that_no_mapper_ends_is_over_in_the_loops_too)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	json_t *all, *agent;
	size_t i;

	start(&world, "ring:switches=3", 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	for (i = 0; i < world.topology->links; i++)
		world.cut[i] = true;
	for (i = 0; i < world.topology->switches; i++) {
		world.plane[0]->device[i].agent.paused = true;
		world.device[i].paused = true;
	}
	run(&world, mapper_patience_ps(&mapper) / 2);
	for (i = 0; i < world.topology->switches; i++)
		assert_true(world.device[i].paused);
	run(&world, mapper_patience_ps(&mapper));
	all = ask_status(&world);
	json_array_foreach(json_object_get(all, "agents"), i, agent)
	{
		assert_false(world.device[i].paused);
		assert_int_equal(number_of(agent, "pauses_left"), i < world.topology->switches);
	}
	json_decref(all);
}

UNIT_TEST(the_status_says_who_leads_and_whom_all_follow)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	const json_t *leader, *agent;
	json_t *all;
	size_t i;

	start(&world, NETWORK, 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	run(&world, 50 * PS_PER_MS);
	all = ask_status(&world);
	leader = leader_of(all);
	assert_non_null(leader);
	/* The only device with a priority. */
	assert_string_equal(json_string_value(json_object_get(leader, "host")), "h2");
	assert_int_equal(number_of(leader, "devices"), 12);
	assert_int_equal(number_of(leader, "cables"), 14);
	assert_true(number_of(leader, "first_map_ns") > 0);
	assert_int_equal(json_array_size(json_object_get(leader, "findings")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "agents")), 12);
	json_array_foreach(json_object_get(all, "agents"), i, agent)
	{
		assert_string_equal(json_string_value(json_object_get(agent, "follows")), "h2");
		assert_int_equal(number_of(agent, "epoch"), number_of(leader, "epoch"));
	}
	json_decref(all);
}

UNIT_TEST(a_device_that_no_mapper_reaches_is_said_to_hear_nothing)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	unsigned silent = 0;
	OWNED(world) world;
	const json_t *agent;
	json_t *all;
	size_t i;

	start(&world, NETWORK, 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	world.device[0].stands_still = true;
	run(&world, 150 * PS_PER_MS);
	all = ask_status(&world);
	json_array_foreach(json_object_get(all, "agents"), i, agent)
	{
		bool nothing = json_is_true(json_object_get(agent, "silent"));

		assert_int_equal(nothing, number_of(agent, "heard_ns") > 100000000);
		/* The mapper receives its own frames. */
		if (strcmp(json_string_value(json_object_get(agent, "device")), "h2") == 0)
			assert_int_equal(number_of(agent, "heard_ns"), 0);
		if (strcmp(json_string_value(json_object_get(agent, "device")), "s0") == 0)
			assert_true(nothing);
		silent += nothing;
	}
	assert_true(silent >= 1 && silent < 12);
	json_decref(all);
}

UNIT_TEST(hosts_are_named_the_first_too_and_others_by_identity)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	char name[64];

	start(&world, NETWORK, 1, &mapper, NULL);
	control_plane_name_of(world.plane[0], (uint64_t)1 << 32, name);
	assert_string_equal(name, "h0");
	control_plane_name_of(world.plane[0], ((uint64_t)1 << 32) + world.topology->hosts, name);
	assert_string_equal(name, "0x100000008");
	control_plane_name_of(world.plane[0], 1, name);
	assert_string_equal(name, "0x1");
}

/* Dimension-order routes of a torus need two VC classes. */
UNIT_TEST(the_status_says_why_another_algorithm_is_in_use)
{
	struct mapper_config mapper = patient_mapper("dor", true);
	const json_t *leader;
	struct world world;
	json_t *all;

	for (mapper.vcs = 1; mapper.vcs <= 2; mapper.vcs++) {
		start(&world, "torus:dims=4x4,hosts=1", 1, &mapper, NULL);
		assert_true(run_until_routed(&world, A_WHILE));
		run(&world, 50 * PS_PER_MS);
		all = ask_status(&world);
		leader = leader_of(all);
		assert_non_null(leader);
		assert_string_equal(json_string_value(json_object_get(leader, "fault")), "");
		assert_int_equal(json_string_length(json_object_get(leader, "fallback")) > 0,
			mapper.vcs == 1);
		json_decref(all);
		stop(&world);
	}
}

static void expect_news(struct world *world, const char *begin, const char *part, bool warns)
{
	bool warning = !warns;
	char *text = control_plane_message(world->plane[0], &warning);

	assert_non_null(text);
	assert_memory_equal(text, begin, strlen(begin));
	assert_non_null(strstr(text, part));
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_int_equal(warning, warns);
	free(text);
}

/* Nothing is printed while agents wait. */
UNIT_TEST(what_somebody_is_to_be_told_waits_for_whoever_prints_it)
{
	struct mapper_config mapper = patient_mapper("dor", true);
	OWNED(topology) *expect = topology_generate("torus:dims=4x4,hosts=1", NULL);
	OWNED(world) world;
	bool warning;

	mapper.vcs = 1;
	start(&world, "torus:dims=4x4,hosts=1", 1, &mapper, expect);
	assert_true(run_until_routed(&world, A_WHILE));
	run(&world, 50 * PS_PER_MS);
	expect_news(&world, "mapper: h2: ", "computed with ud instead: ", true);
	expect_news(&world, "found: h2: ", "is as expected", false);
	assert_null(control_plane_message(world.plane[0], &warning));
}

UNIT_TEST(of_news_that_nobody_takes_the_latest_are_kept)
{
	const struct mapper_config mapper = patient_mapper("ud", true);
	OWNED(topology) *expect = topology_generate(NETWORK, NULL);
	OWNED(world) world;
	bool *cut;

	start(&world, NETWORK, 1, &mapper, expect);
	assert_true(run_until_routed(&world, A_WHILE));
	cut = &world.cut[topology_link_at(expect, (struct topology_port){DEVICE_SWITCH, 0, 0}) -
			 expect->link_at];
	for (unsigned i = 0; i < CONTROL_MESSAGES_MAX + 3; i++) {
		*cut = !*cut;
		run(&world, 100 * PS_PER_MS);
	}
	assert_int_equal(world.plane[0]->messages_count, CONTROL_MESSAGES_MAX);
	/* The fifth of 20. */
	expect_news(&world, "found: h2: ", "is as expected", false);
	expect_news(&world, "found: h2: ", "is not as expected", false);
}

/* The tables of dmodk contain alternatives. The tables of ud, which replace them, contain none. */
UNIT_TEST(adaptive_routing_without_a_choice_is_told_of)
{
	static const char *const networks[] = {"rlft:ports=4,stages=2", NETWORK};
	struct mapper_config mapper = patient_mapper("dmodk", true);
	char why[CONTROL_WHY_MAX];
	struct world world;

	for (unsigned i = 0; i < 2; i++) {
		start(&world, networks[i], 1, &mapper, NULL);
		world.plane[0]->config.adaptive = true;
		assert_true(run_until_routed(&world, A_WHILE));
		run(&world, 50 * PS_PER_MS);
		control_mapper_fallback_reason(world.plane[0], leader_in(&world)->mapper, why);
		assert_int_equal(strlen(why) > 0, i == 1);
		assert_int_equal(strstr(why, "nothing to choose from") != NULL, i == 1);
		world.plane[0]->config.adaptive = false;
		control_mapper_fallback_reason(world.plane[0], leader_in(&world)->mapper, why);
		assert_int_equal(strlen(why) > 0, i == 1);
		assert_null(strstr(why, "nothing to choose from"));
		stop(&world);
	}
}

/* Returns the map that a process writes for h2. The caller destroys it. */
static struct topology *written_map(struct world *world)
{
	struct topology *found;
	struct place place;
	struct error error;

	choose_place(&place, "map h2");
	assert_true(control_plane_ask(world->plane[0], place.request));
	step(world);
	found = topology_load(place.path, &error);
	if (found == NULL)
		fail_msg("%s", error.text);
	clear_place(&place);
	return found;
}

UNIT_TEST(the_map_is_written_as_a_topology)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	OWNED(topology) *found;

	start(&world, NETWORK, 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	run(&world, 50 * PS_PER_MS);
	found = written_map(&world);
	assert_int_equal(miscabling_report(found, world.topology, NULL), 0);
}

/* Its hosts are also missing, because hosts in a topology file need links. */
UNIT_TEST(a_map_without_a_dead_switch_is_a_topology_too)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	OWNED(topology) *found;

	start(&world, NETWORK, 1, &mapper, NULL);
	assert_true(run_until_routed(&world, A_WHILE));
	for (uint32_t i = 0; i < world.topology->links; i++) {
		const struct topology_link *link = &world.topology->link_at[i];

		world.cut[i] = (link->a.kind == DEVICE_SWITCH && link->a.device == 3) ||
			       (link->b.kind == DEVICE_SWITCH && link->b.device == 3);
	}
	run(&world, 300 * PS_PER_MS);
	found = written_map(&world);
	assert_int_equal(found->switches, world.topology->switches - 1);
	assert_int_equal(topology_find_switch(found, "s3"), -1);
}

UNIT_TEST(what_is_not_as_expected_is_told)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(topology) *expect = topology_generate(NETWORK, NULL);
	OWNED(world) world;
	const json_t *leader;
	json_t *all;

	start(&world, NETWORK, 1, &mapper, expect);
	assert_true(run_until_routed(&world, A_WHILE));
	run(&world, 50 * PS_PER_MS);
	all = ask_status(&world);
	assert_int_equal(json_array_size(json_object_get(leader_of(all), "miscabled")), 0);
	json_decref(all);
	for (uint32_t i = 0; i < expect->links; i++)
		world.cut[i] = expect->link_at[i].a.kind == DEVICE_SWITCH &&
			       expect->link_at[i].b.kind == DEVICE_SWITCH && !world.cut[0] &&
			       expect->link_at[i].a.device == 0 && expect->link_at[i].b.device == 3;
	run(&world, 200 * PS_PER_MS);
	all = ask_status(&world);
	leader = leader_of(all);
	assert_non_null(leader);
	assert_true(json_array_size(json_object_get(leader, "miscabled")) > 0);
	assert_true(number_of(leader, "last_change_ns") > 0);
	json_decref(all);
}

UNIT_TEST(devices_of_another_version_are_told_by_name)
{
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(topology) *expect = topology_generate(NETWORK, NULL);
	OWNED(world) world;
	const json_t *lines, *line;
	char device[16];
	json_t *all;
	size_t i;

	start(&world, NETWORK, 2, &mapper, expect);
	assert_true(run_until_routed(&world, A_WHILE));
	run(&world, 50 * PS_PER_MS);
	all = ask_status(&world);
	lines = json_object_get(leader_of(all), "miscabled");
	assert_int_equal(json_array_size(lines), world.devices / 2);
	json_array_foreach(lines, i, line)
	{
		const char *text = json_string_value(line);

		assert_int_equal(sscanf(text, "%*s %15[^:]", device), 1);
		assert_int_equal((device[1] - '0') % 2, 1);
		assert_non_null(strstr(text, ": runs a different version of Weft"));
	}
	json_decref(all);
}

UNIT_TEST(a_device_that_is_flooded_keeps_nobody_else_waiting)
{
	static const uint8_t nonsense[64];
	const struct mapper_config mapper = patient_mapper("ud", false);
	OWNED(world) world;
	struct device *device;
	unsigned port, bytes;

	start(&world, NETWORK, 1, &mapper, NULL);
	device = &world.device[0];
	while (device_control_up(device->control, 0, nonsense, sizeof(nonsense)))
		;
	for (unsigned turn = 0; turn < 3; turn++)
		device_control_update(device->control, 0, false);
	control_plane_poll(world.plane[0], world.now, world.now);
	assert_non_null(device_control_take(device->control, &port, &bytes));
	run(&world, A_WHILE);
}
