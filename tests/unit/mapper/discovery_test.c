/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Discovery on fabrics in memory finds exactly what exists. */

#include "mapper/discovery.h"

#include "mapper/fabric_map.h"
#include "mapper_net.h"
#include "random_network.h"

#define SESSION 4242

/* A discovery at host 0. */
struct bench {
	struct net net;
	struct fabric_map map;
	struct mapper_speaker speaker;
	struct discovery discovery;
	uint64_t refused;
};

static void on_frame(
	void *context, uint32_t host, weft_time now, const uint8_t *data, unsigned bytes)
{
	struct bench *bench = context;
	struct mapper_message message;

	if (host != 0)
		return;
	if (mapper_frame_open(bench->net.key, data, bytes, &message) != MAPPER_REFUSED_NONE ||
		message.target != bench->speaker.id || message.target_session != SESSION ||
		message.type != MAPPER_REPLY) {
		bench->refused++;
		return;
	}
	discovery_on_reply(&bench->discovery, &message, now);
}

static bool on_poll(void *context, uint32_t host, weft_time now, struct mapper_frame *frame)
{
	struct bench *bench = context;

	return host == 0 && discovery_poll(&bench->discovery, now, frame);
}

static weft_time on_due(void *context, uint32_t host, weft_time now)
{
	return host == 0 ? discovery_due(&((struct bench *)context)->discovery) : WEFT_TIME_NEVER;
}

static void bench_start(struct bench *bench, const struct topology *topology, uint64_t seed)
{
	static const struct fabric_key key = {{7}};
	const struct discovery_config config = {.priority = 1,
		.session = SESSION,
		.outstanding = 16,
		.retry_ps = 200 * PS_PER_US,
		.tries = 40};
	struct mapper_reply self = {.kind = 1, .ports = 1, .number = 0, .session = 100000};

	memset(bench, 0, sizeof(*bench));
	net_init(&bench->net, topology, &key, seed);
	bench->net.hooks = (struct net_hooks){
		.context = bench, .receive = on_frame, .poll = on_poll, .due = on_due};
	assert_int_equal(fabric_map_init(&bench->map), 0);
	self.name_length = (uint8_t)snprintf(self.name, sizeof(self.name), "h0");
	assert_int_equal(fabric_map_add(&bench->map, NET_HOST_ID, &self), 0);
	bench->map.device[0].present = true;
	bench->speaker = (struct mapper_speaker){.key = &key, .id = NET_HOST_ID};
	assert_int_equal(
		discovery_init(&bench->discovery, &config, &bench->map, &bench->speaker), 0);
}

static void bench_end(struct bench *bench)
{
	discovery_fini(&bench->discovery);
	fabric_map_fini(&bench->map);
	net_fini(&bench->net);
}
#define bench_out_of_scope bench_end

static void discover(struct bench *bench)
{
	discovery_reset(&bench->discovery);
	discovery_ask(&bench->discovery, 0, 0, true);
	net_run(&bench->net, bench->net.now + PS_PER_S);
	assert_true(discovery_done(&bench->discovery));
	assert_false(bench->discovery.failed);
	assert_int_equal(fabric_map_find_ways(&bench->map), 0);
	assert_int_equal(fabric_map_number(&bench->map), 0);
}

static struct topology *found_topology(struct bench *bench)
{
	struct error error;
	struct topology *topology = fabric_map_topology(&bench->map, &error);

	if (topology == NULL)
		fail_msg("%s", error.text);
	return topology;
}

/* Checks that both have exactly the same cables, by names, ports and identities. In the topology,
 * host 0 reaches all devices. */
static void assert_identical(struct bench *bench, const struct topology *expected)
{
	OWNED(topology) *found = found_topology(bench);
	unsigned differences = miscabling_report(found, expected, NULL);

	if (differences > 0) {
		miscabling_report(found, expected, stderr);
		fail_msg("%u differences", differences);
	}
	assert_int_equal(found->links, expected->links);
	assert_int_equal(found->switches, expected->switches);
	assert_int_equal(found->hosts, expected->hosts);
	for (uint32_t i = 0; i < bench->map.devices; i++) {
		const struct map_device *device = &bench->map.device[i];
		enum device_kind kind = device->facts.kind == 0 ? DEVICE_SWITCH : DEVICE_HOST;

		assert_int_equal(device->id, net_id(kind, device->number));
	}
}

UNIT_TEST(what_is_found_is_the_file_on_random_networks_with_losses)
{
	for (uint64_t seed = 0; seed < 150; seed++) {
		OWNED(topology) *topology = random_network(seed, 40);
		OWNED(bench) bench;

		bench_start(&bench, topology, seed);
		bench.net.loss_ppm = seed % 3 == 0 ? 0 : 20000;
		discover(&bench);
		assert_identical(&bench, topology);
		assert_int_equal(bench.net.misrouted, 0);
	}
}

UNIT_TEST(what_is_found_is_the_file_on_generated_networks)
{
	static const char *const specs[] = {"rlft:ports=4,stages=3", "torus:dims=5x5,hosts=1",
		"cplant", "hypercube:dims=5,hosts=1", "dragonfly:a=4,p=2,h=2", "ring:switches=24",
		"rlft:ports=8,stages=2"};
	struct error error;

	for (unsigned i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		OWNED(topology) *topology = topology_generate(specs[i], &error);
		OWNED(bench) bench;

		if (topology == NULL)
			fail_msg("%s", error.text);
		/* With longer losses, the far side of a ring would need more tries. */
		bench_start(&bench, topology, i);
		bench.net.loss_ppm = 10000;
		discover(&bench);
		assert_identical(&bench, topology);
	}
}

UNIT_TEST(a_fat_tree_gets_its_stages_back)
{
	OWNED(topology) *topology = network_fat_tree(3, 3);
	OWNED(topology) *found;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	found = found_topology(&bench);
	for (uint32_t i = 0; i < topology->switches; i++)
		assert_int_equal(found->switch_at[i].stage, topology->switch_at[i].stage);
}

/* One frame in each direction for each cable, and at most as many again for cables found from both
 * ends. */
UNIT_TEST(frames_are_linear_in_cables)
{
	struct error error;
	OWNED(topology) *topology = topology_generate("torus:dims=8x8,hosts=2", &error);
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	assert_true(bench.discovery.sent >= topology->links);
	assert_true(bench.discovery.sent <= 2 * topology->links);
	assert_int_equal(bench.discovery.retried, 0);
	assert_int_equal(bench.discovery.replies, bench.discovery.sent);
}

UNIT_TEST(somebody_who_does_not_answer_is_told_and_left_out)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(topology) *found;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	bench.net.switch_dead[3] = true;
	discover(&bench);
	found = found_topology(&bench);
	assert_int_equal(bench.discovery.findings, 2);
	assert_int_equal(bench.discovery.finding[0].kind, DISCOVERY_SILENT);
	assert_int_equal(fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 3)), MAP_NONE);
	assert_int_equal(found->links, topology->links - 3);
	assert_int_equal(bench.map.devices, 6 + 6 - 2);
}

UNIT_TEST(a_device_without_the_key_is_left_out)
{
	static const struct fabric_key other = {{8}};
	OWNED(topology) *topology = network_ring(6);
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	bench.net.switch_agent[3].speaker.key = &other;
	discover(&bench);
	assert_int_equal(fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 3)), MAP_NONE);
	assert_true(bench.refused > 0);
}

/* Two cables have swapped ends, one is missing, and there is an additional one. */
UNIT_TEST(miscabling_is_told_by_name)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(topology) *expected = network_ring(6), *found;
	char *text = NULL;
	size_t length;
	struct bench bench;
	FILE *out;

	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port *end = &topology->link_at[i].b;

		if (topology->link_at[i].a.kind != DEVICE_HOST)
			continue;
		if (end->device == 2 || end->device == 3)
			end->device = 5 - end->device;
	}
	expected->switch_at[5].ports = 4;
	assert_int_equal(topology_finish(topology, "test", NULL), 0);
	bench_start(&bench, topology, 1);
	discover(&bench);
	found = found_topology(&bench);
	out = open_memstream(&text, &length);
	assert_int_equal(miscabling_report(found, expected, out), 3);
	fclose(out);
	assert_non_null(strstr(text, "switch s5: has 3 ports instead of 4\n"));
	assert_non_null(strstr(text, "h2:0 - s2:2: this cable is missing; h2:0 leads to s3:2, "
				     "s2:2 leads to h3:0\n"));
	assert_non_null(strstr(text, "h3:0 - s3:2: this cable is missing"));
	free(text);
	bench_end(&bench);
}

/* A missing device keeps its number, and unused numbers have no names. */
UNIT_TEST(what_has_gone_is_not_found)
{
	OWNED(topology) *topology = network_ring(6);
	struct topology *found;
	struct error error;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	bench.map.device[fabric_map_find(&bench.map, net_id(DEVICE_HOST, 5))].number = 9;
	fabric_map_cut(
		&bench.map, fabric_map_find(&bench.map, net_id(DEVICE_HOST, 2)), 0, MAP_EMPTY);
	assert_int_equal(fabric_map_find_ways(&bench.map), 0);
	found = fabric_map_found(&bench.map, &error);
	assert_non_null(found);
	assert_int_equal(found->switches, 6);
	assert_int_equal(found->hosts, 5);
	assert_int_equal(found->links, topology->links - 1);
	assert_int_equal(topology_find_host(found, "h2"), -1);
	assert_true(topology_find_host(found, "h5") >= 0);
	topology_destroy(found);
	/* The mapper itself has no cable left. */
	fabric_map_cut(&bench.map, 0, 0, MAP_EMPTY);
	assert_int_equal(fabric_map_find_ways(&bench.map), 0);
	found = fabric_map_found(&bench.map, &error);
	assert_non_null(found);
	assert_int_equal(found->switches, 0);
	assert_int_equal(found->hosts, 1);
	assert_string_equal(found->host_at[0].name, "h0");
	topology_destroy(found);
}

/* Routes do not use it, although it still exists. */
UNIT_TEST(what_is_left_out_is_found)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(topology) *found;
	struct error error;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	bench.map.device[fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 3))].left_out = 2;
	found = fabric_map_found(&bench.map, &error);
	assert_non_null(found);
	assert_int_equal(miscabling_report(found, topology, NULL), 0);
}

UNIT_TEST(the_same_identity_twice_is_told)
{
	OWNED(topology) *topology = network_ring(6);
	bool told = false;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	bench.net.switch_agent[3].config.id = bench.net.switch_agent[3].speaker.id = 2;
	discover(&bench);
	for (unsigned i = 0; i < bench.discovery.findings; i++)
		told |= bench.discovery.finding[i].kind == DISCOVERY_TWO_SESSIONS;
	assert_true(told);
}

UNIT_TEST(a_greater_mapper_that_is_obeyed_is_noticed)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	bench.net.switch_agent[2].followed = NET_HOST_ID + 3;
	bench.net.switch_agent[2].followed_priority = 1;
	bench.net.switch_agent[4].followed = NET_HOST_ID + 1;
	bench.net.switch_agent[4].followed_priority = 0;
	discover(&bench);
	assert_int_equal(bench.discovery.greater, NET_HOST_ID + 3);
}

/* After a change of cables, only the changed part is queried, and the map is correct again. A
 * restarted switch keeps its number. */
UNIT_TEST(single_ports_can_be_asked_again)
{
	OWNED(topology) *topology = network_ring(6);
	struct topology *found;
	uint32_t s2, s3;
	uint64_t before;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	s2 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 2));
	s3 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 3));
	fabric_map_cut(&bench.map, s2, 0, MAP_EMPTY);
	fabric_map_cut(&bench.map, s3, 0, MAP_EMPTY);
	assert_int_equal(fabric_map_find_ways(&bench.map), 0);
	assert_false(bench.map.device[s3].present);
	found = found_topology(&bench);
	assert_int_equal(found->links, topology->links - 3);
	assert_true(found->host_at[3].cut_off);
	topology_destroy(found);
	net_start_device(&bench.net, DEVICE_SWITCH, 3, 9999);
	before = bench.discovery.sent;
	discovery_reset(&bench.discovery);
	discovery_ask(&bench.discovery, s2, 0, false);
	net_run(&bench.net, bench.net.now + PS_PER_S);
	assert_int_equal(fabric_map_find_ways(&bench.map), 0);
	assert_identical(&bench, topology);
	assert_int_equal(bench.map.device[s3].facts.session, 9999);
	assert_true(bench.discovery.sent - before <= 4);
}

/* The agent checked before its link came up again. */
UNIT_TEST(a_reply_proves_the_link_that_it_came_over)
{
	OWNED(topology) *topology = network_torus(3, 1);
	const struct map_device *device;
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	device = &bench.map.device[fabric_map_find(&bench.map, net_id(DEVICE_HOST, 5))];
	mapper_agent_set_link(&bench.net.host_agent[5], 0, false);
	discovery_ask(&bench.discovery, device->parent, device->parent_port, true);
	net_run(&bench.net, bench.net.now + 10 * PS_PER_MS);
	assert_int_equal(device->port[0].state, MAP_LINKED);
}

/* Recorded answers are replayed late, to a later discovery. */
UNIT_TEST(replies_that_nobody_waits_for_are_not_used)
{
	OWNED(topology) *topology = network_ring(3);
	struct mapper_message message = {.type = MAPPER_REPLY, .sender = 99};
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	message.reply = (struct mapper_reply){.probe = 1, .kind = 0, .ports = 4, .session = 1};
	for (unsigned number = 0; number < 30; number++) {
		message.reply.probe = number;
		assert_int_equal(discovery_on_reply(&bench.discovery, &message, bench.net.now),
			MAPPER_REFUSED_STALE);
	}
	assert_identical(&bench, topology);
}

/* Returns the number of a probe of port 0 of 'device' that is in flight. */
static uint32_t ask_again(struct bench *bench, uint32_t device)
{
	struct mapper_frame frame;

	discovery_reset(&bench->discovery);
	discovery_ask(&bench->discovery, device, 0, true);
	assert_true(discovery_poll(&bench->discovery, bench->net.now, &frame));
	assert_true(bench->discovery.probe[0].used);
	return bench->discovery.probe[0].number;
}

/* Otherwise, a killed neighbour would delay all changes until the tries are used up. */
UNIT_TEST(nobody_waits_for_an_answer_over_a_link_that_is_down)
{
	OWNED(topology) *topology = network_ring(6);
	struct mapper_frame frame;
	OWNED(bench) bench;
	uint32_t s2;

	bench_start(&bench, topology, 1);
	discover(&bench);
	s2 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 2));
	ask_again(&bench, s2);
	bench.net.now += bench.discovery.config.retry_ps;
	assert_true(discovery_poll(&bench.discovery, bench.net.now, &frame));
	bench.map.device[s2].facts.linked &= ~(uint64_t)1;
	bench.net.now += bench.discovery.config.retry_ps;
	assert_false(discovery_poll(&bench.discovery, bench.net.now, &frame));
	assert_true(discovery_done(&bench.discovery));
	assert_int_equal(bench.discovery.findings, 0);
}

/* The path of an answer would lead through a device that cannot be reached, or in a circle. */
UNIT_TEST(what_was_asked_of_a_device_that_is_lost_since_is_not_used)
{
	OWNED(topology) *topology = network_ring(6);
	struct mapper_message message = {.type = MAPPER_REPLY};
	struct mapper_frame frame;
	OWNED(bench) bench;
	uint32_t s2, s3;

	bench_start(&bench, topology, 1);
	discover(&bench);
	s2 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 2));
	s3 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 3));
	message.reply = bench.map.device[s3].facts;
	message.sender = net_id(DEVICE_SWITCH, 3);
	message.reply.probe = ask_again(&bench, s2);
	for (uint8_t port = 0; port < 2; port++) {
		fabric_map_cut(&bench.map, s2, port, MAP_EMPTY);
		fabric_map_cut(&bench.map, s3, port, MAP_EMPTY);
	}
	assert_int_equal(fabric_map_find_ways(&bench.map), 0);
	assert_false(bench.map.device[s2].present);
	assert_int_equal(discovery_on_reply(&bench.discovery, &message, bench.net.now),
		MAPPER_REFUSED_STALE);
	assert_false(bench.map.device[s3].present);
	/* It is not queried a second time either. */
	ask_again(&bench, 0);
	bench.discovery.probe[0].device = s2;
	assert_false(discovery_poll(&bench.discovery, bench.net.now + PS_PER_S, &frame));
	assert_true(discovery_done(&bench.discovery));
}

static void assert_cables_have_two_ends(const struct fabric_map *map)
{
	for (uint32_t i = 0; i < map->devices; i++)
		for (unsigned p = 0; p < map->device[i].facts.ports; p++) {
			const struct map_port *port = &map->device[i].port[p], *far;

			if (port->state != MAP_LINKED)
				continue;
			far = &map->device[port->peer].port[port->peer_port];
			assert_int_equal(far->state, MAP_LINKED);
			assert_true(far->peer == i && far->peer_port == p);
		}
}

/* Switch 3 was behind port 0 of switch 2. If one end remained there, the next cable of port 0 would
 * be its second. */
UNIT_TEST(a_cable_whose_end_does_not_answer_as_it_should_is_none)
{
	static const struct {
		enum discovery_finding_kind kind;
		uint32_t sender, session;
		uint8_t ports, entry;
	} answers[] = {{DISCOVERY_LOOP, 2, 0, 0, 1}, {DISCOVERY_TWO_CABLES, 4, 0, 0, 0},
		{DISCOVERY_CHANGED, 3, 0, 5, 0}, {DISCOVERY_TWO_SESSIONS, 3, 77, 0, 0}};

	for (unsigned i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		OWNED(topology) *topology = network_ring(6);
		struct mapper_message message = {
			.type = MAPPER_REPLY, .sender = net_id(DEVICE_SWITCH, answers[i].sender)};
		struct map_device *sender;
		OWNED(bench) bench;
		uint32_t s2;

		bench_start(&bench, topology, 1);
		discover(&bench);
		s2 = fabric_map_find(&bench.map, net_id(DEVICE_SWITCH, 2));
		sender = &bench.map.device[fabric_map_find(&bench.map, message.sender)];
		message.reply = sender->facts;
		message.reply.entry = answers[i].entry;
		message.reply.ports += answers[i].ports;
		message.reply.session += answers[i].session;
		message.reply.probe = ask_again(&bench, s2);
		if (answers[i].kind == DISCOVERY_TWO_SESSIONS)
			sender->former = message.reply.session;
		discovery_on_reply(&bench.discovery, &message, bench.net.now);
		assert_int_equal(bench.discovery.findings, 1);
		assert_int_equal(bench.discovery.finding[0].kind, answers[i].kind);
		assert_int_equal(bench.map.device[s2].port[0].state, MAP_SILENT);
		assert_cables_have_two_ends(&bench.map);
	}
}

/* No cable leads to the mapper's own host, so no discovery can find it. */
UNIT_TEST(nobody_answers_in_the_mappers_own_name)
{
	OWNED(topology) *topology = network_ring(3);
	struct mapper_message message = {.type = MAPPER_REPLY, .sender = NET_HOST_ID};
	OWNED(bench) bench;

	bench_start(&bench, topology, 1);
	discover(&bench);
	message.reply = bench.map.device[0].facts;
	message.reply.session = 666;
	message.reply.probe = ask_again(&bench, 1);
	assert_int_equal(discovery_on_reply(&bench.discovery, &message, bench.net.now),
		MAPPER_REFUSED_STALE);
	assert_int_equal(bench.map.device[0].facts.session, 100000);
}
