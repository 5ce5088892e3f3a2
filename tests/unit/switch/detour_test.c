/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The decisions of a switch of a Dragonfly. Ports 0 to 2 are local, 3 and 4 are global, and 5
 * has a host. In a HyperX, ports 0 to 4 are a row. The table sends everything to host 8 through
 * port 0. */

#include "switch/detour.h"

#include "queuing/vc_ladder.h"
#include "switch_bench.h"

#define PORTS     6
#define VCS       4
#define VC_BLOCKS 64
#define FROM_HOST 5
#define LOCAL     2
#define GLOBAL    3
#define HOST      8
#define ALL       0x1F
#define PACKETS   600

struct place {
	struct vc_rule *rule;
	struct bench *bench;
	uint32_t sequence; /* the next packet's */
};

static struct place create(unsigned steps, enum detour_queues queues, uint32_t bias)
{
	struct switch_config config = bench_config(PORTS, VCS);
	struct place place = {.rule = vc_rule_create(1, VCS)};

	assert_non_null(place.rule);
	place.rule->steps = (uint8_t)steps;
	memset(place.rule->ring, 0, FROM_HOST);
	place.rule->dateline[0] = BIT64(3) | BIT64(4);
	config.vc_rule = place.rule;
	config.detour = (struct detour_config){.seed = 7, .bias_blocks = bias, .queues = queues};
	place.bench = bench_create(&config);
	place.bench->table[HOST] = 0;
	place.bench->alternatives[HOST] = ALL;
	for (unsigned port = 0; port < PORTS; port++)
		for (unsigned vc = 0; vc < VCS; vc++)
			bench_grant(place.bench, port, vc, VC_BLOCKS);
	return place;
}

static void destroy(struct place *place)
{
	bench_destroy(place->bench);
	vc_rule_destroy(place->rule);
}
#define place_out_of_scope destroy

/* 'used' blocks of 'vc' are stored in the neighbour at 'port'. */
static void fill(struct place *place, unsigned port, unsigned vc, uint32_t used)
{
	credit_take(&place->bench->sw->port[port].link.tx[vc], used);
}

/* Returns the output of a packet that arrives through 'input' in 'vc', and its next VC in
 * '*next'. */
static unsigned way(struct place *place, unsigned input, uint8_t vc, unsigned *next)
{
	struct weft_switch *sw = place->bench->sw;
	struct weft_packet packet = {.destination = HOST,
		.sequence = place->sequence++,
		.blocks = 2,
		.vc = vc,
		.in_port = (uint8_t)input};
	enum vc_turn turn = VC_GO_ON;
	port_set set = place->rule->steps == VC_STEPS_UGAL
			       ? port_set_of(switch_table_port(
					 sw, detour_draw_host(7, &packet, BENCH_HOSTS)))
			       : place->bench->alternatives[HOST];
	unsigned output = detour_route(sw, &packet, set, switch_table_port(sw, HOST), &turn);

	*next = vc_rule_next(place->rule, 0, input, vc, output, turn);
	return output;
}

/* How many of PACKETS use each output. */
static void count_ways(struct place *place, unsigned input, uint8_t vc, unsigned out[PORTS])
{
	unsigned next;

	memset(out, 0, PORTS * sizeof(*out));
	for (unsigned i = 0; i < PACKETS; i++)
		out[way(place, input, vc, &next)]++;
}

static void expect_about(unsigned count, unsigned expected)
{
	assert_in_range(count, expected * 3 / 4, expected * 5 / 4);
}

UNIT_TEST(a_minimal_algorithm_takes_the_port_of_the_table)
{
	OWNED(place) place = create(VC_STEPS_DF_MIN, DETOUR_HYBRID, 0);
	unsigned out[PORTS];

	count_ways(&place, FROM_HOST, 0, out);
	assert_int_equal(out[0], PACKETS);
}

/* Each switch of the group has two links to other groups: 2 of the 8 are this switch's own. */
UNIT_TEST(a_detour_takes_each_global_link_of_the_group_equally_often)
{
	OWNED(place) place = create(VC_STEPS_DF_VALIANT, DETOUR_HYBRID, 0);
	unsigned out[PORTS];

	count_ways(&place, FROM_HOST, 0, out);
	for (unsigned port = 0; port < 3; port++)
		expect_about(out[port], PACKETS / 4);
	for (unsigned port = 3; port < 5; port++)
		expect_about(out[port], PACKETS / 8);
}

UNIT_TEST(the_second_switch_of_a_detour_leaves_the_group)
{
	OWNED(place) place = create(VC_STEPS_DF_VALIANT, DETOUR_HYBRID, 0);
	unsigned out[PORTS];

	count_ways(&place, LOCAL, 0, out);
	expect_about(out[3], PACKETS / 2);
	assert_int_equal(out[3] + out[4], PACKETS);
}

/* On every later rung, and in the VCs above. */
UNIT_TEST(then_packets_follow_the_table)
{
	static const struct {
		uint8_t input, vc, next;
	} rungs[] = {{GLOBAL, 0, 1}, {LOCAL, 1, 2}, {GLOBAL, 1, 2}};
	OWNED(place) place = create(VC_STEPS_DF_VALIANT, DETOUR_HYBRID, 0);

	for (unsigned i = 0; i < sizeof(rungs) / sizeof(rungs[0]); i++)
		for (unsigned n = 0; n < 20; n++) {
			unsigned next;

			assert_int_equal(way(&place, rungs[i].input, rungs[i].vc, &next), 0);
			assert_int_equal(next, rungs[i].next);
		}
}

/* As between the tables of two generations. Towards a host, none is needed. */
UNIT_TEST(a_packet_on_the_last_rung_goes_to_a_host_or_is_discarded)
{
	OWNED(place) place = create(VC_STEPS_DF_VALIANT, DETOUR_HYBRID, 0);
	const struct bench_packet what = {.destination = HOST, .vc = 2};

	bench_arrive(place.bench, LOCAL, &what);
	assert_int_equal(bench_count(place.bench, LOCAL, SWITCH_DISCARD_NO_ROUTE), 1);
	assert_int_equal(bench_discarded(place.bench), 1);
	place.bench->table[HOST] = FROM_HOST;
	bench_arrive(place.bench, LOCAL, &what);
	assert_int_equal(switch_stored_packets(place.bench->sw), 1);
}

UNIT_TEST(a_detour_to_a_switch_draws_again_in_the_other_group)
{
	OWNED(place) place = create(VC_STEPS_DF_NODE, DETOUR_HYBRID, 0);
	unsigned out[PORTS];

	place.bench->table[HOST] = 4;
	count_ways(&place, GLOBAL, 0, out);
	for (unsigned port = 0; port < 3; port++)
		expect_about(out[port], PACKETS / 4);
	expect_about(out[4], PACKETS / 4);
}

/* q(minimal) <= 2 q(detour) + bias: equality is minimal, one block more is not. */
UNIT_TEST(ugal_compares_twice_the_queue_of_the_detour)
{
	static const enum detour_queues choices[] = {DETOUR_VC, DETOUR_PORT};

	for (unsigned i = 0; i < 2; i++)
		for (uint32_t bias = 0; bias <= 3; bias += 3) {
			OWNED(place) place = create(VC_STEPS_DF_UGAL_L, choices[i], bias);
			unsigned out[PORTS];

			place.bench->alternatives[HOST] = BIT64(1);
			fill(&place, 1, 0, 10);
			fill(&place, 0, 1, 20 + bias);
			count_ways(&place, FROM_HOST, 0, out);
			assert_int_equal(out[0], PACKETS);
			fill(&place, 0, 1, 1);
			count_ways(&place, FROM_HOST, 0, out);
			assert_int_equal(out[1], PACKETS);
		}
}

/* The other VCs of the minimal port are full. */
UNIT_TEST(which_vcs_count_is_a_choice)
{
	static const struct {
		enum detour_queues queues;
		uint64_t set;
		unsigned output;
	} rows[] = {
		{DETOUR_VC, BIT64(1), 0},
		{DETOUR_PORT, BIT64(1), 1},
		{DETOUR_HYBRID, BIT64(1), 1},
		{DETOUR_HYBRID, BIT64(0), 0},
		{DETOUR_VC, BIT64(0), 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWNED(place) place = create(VC_STEPS_DF_UGAL_L, rows[i].queues, 0);
		unsigned next, output;

		place.bench->alternatives[HOST] = rows[i].set;
		fill(&place, 0, 0, 60);
		output = way(&place, FROM_HOST, 0, &next);
		assert_int_equal(output, rows[i].output);
		/* For the same port, the class decides: minimal in 1. */
		assert_int_equal(next, rows[i].output == 0 ? 1 : 0);
	}
}

UNIT_TEST(a_progressive_packet_may_turn_at_the_second_switch_only)
{
	OWNED(place) place = create(VC_STEPS_DF_PAR, DETOUR_VC, 0);
	unsigned next;

	place.bench->alternatives[HOST] = BIT64(3);
	for (unsigned vc = 0; vc < VCS; vc++)
		fill(&place, 0, vc, 60);
	assert_int_equal(way(&place, LOCAL, 0, &next), 3);
	assert_int_equal(next, 0);
	assert_int_equal(way(&place, GLOBAL, 0, &next), 0);
	assert_int_equal(way(&place, LOCAL, 2, &next), 0);
	/* Already on a detour, it leaves the group. */
	assert_int_equal(way(&place, LOCAL, 1, &next), 3);
}

UNIT_TEST(a_packet_does_not_go_back_by_its_input_or_a_port_that_is_down)
{
	OWNED(place) place = create(VC_STEPS_DF_PAR, DETOUR_VC, 0);
	unsigned out[PORTS];

	for (unsigned vc = 0; vc < VCS; vc++)
		fill(&place, 0, vc, 60);
	place.bench->sw->usable &= ~BIT64(1);
	count_ways(&place, LOCAL, 0, out);
	assert_int_equal(out[1] + out[LOCAL], 0);
	assert_int_equal(out[0] + out[3] + out[4], PACKETS);
	place.bench->sw->usable |= BIT64(1);
}

/* The table contains no port: every packet takes a detour, and acknowledgements find a path. */
UNIT_TEST(a_pair_may_have_detours_alone)
{
	OWNED(place) place = create(VC_STEPS_DF_UGAL_L, DETOUR_HYBRID, 0);
	const struct bench_packet ack = {.destination = HOST, .control = true, .kind = FRAME_ACK};
	struct bench *bench = place.bench;
	unsigned next, number, found = 0;

	bench->table[HOST] = SWITCH_PORT_NONE;
	for (unsigned i = 0; i < 20; i++)
		assert_in_range(way(&place, FROM_HOST, 0, &next), 0, 4);
	number = bench_arrive(bench, FROM_HOST, &ack);
	for (unsigned port = 3; port < 5; port++)
		found += bench_leave(bench, port) == (int)number;
	assert_int_equal(found, 1);
}

/* (queue + packet) x links: 2 x 1 compared with 2 x 2 on idle links. */
UNIT_TEST(a_switch_of_a_hyperx_weighs_queues_by_the_links_that_follow)
{
	for (uint32_t bias = 0; bias <= 3; bias += 3) {
		OWNED(place) place = create(VC_STEPS_OMNI_WAR, DETOUR_PORT, bias);
		unsigned out[PORTS];

		place.bench->alternatives[HOST] = BIT64(1);
		fill(&place, 3, 0, 1);
		fill(&place, 1, 1, 1 + bias);
		count_ways(&place, FROM_HOST, 0, out);
		assert_int_equal(out[1], PACKETS);
		fill(&place, 1, 2, 2);
		count_ways(&place, FROM_HOST, 0, out);
		for (unsigned port = 0; port < 5; port += 2)
			expect_about(out[port], PACKETS / 3);
		/* The packet is on the last rung. */
		count_ways(&place, 4, 2, out);
		assert_int_equal(out[1], PACKETS);
	}
}

/* Host h is at port h % 6. A sixth of the draws leads to each port, and a sixth to this switch. */
UNIT_TEST(ugal_in_a_grid_goes_to_a_drawn_host_if_the_minimal_queue_is_long)
{
	OWNED(place) place = create(VC_STEPS_UGAL, DETOUR_PORT, 0);
	unsigned out[PORTS], next;

	count_ways(&place, FROM_HOST, 0, out);
	assert_int_equal(out[0], PACKETS);
	assert_int_equal(way(&place, FROM_HOST, 0, &next), 0);
	assert_int_equal(next, 2);
	for (unsigned vc = 0; vc < VCS; vc++)
		fill(&place, 0, vc, 60);
	count_ways(&place, FROM_HOST, 0, out);
	expect_about(out[0], PACKETS / 3);
	for (unsigned port = 1; port < 5; port++)
		expect_about(out[port], PACKETS / 6);
}

/* The minimal path has 1 link, and every detour has 2 + 3. For each block on a detour, up to 5
 * blocks may wait on the minimal path. */
UNIT_TEST(ugal_weighs_queues_by_the_links_of_their_paths)
{
	uint32_t host_switch[BENCH_HOSTS];
	uint8_t links[] = {0, 1, 2, 1, 0, 3, 2, 3, 0};
	const struct route_lengths lengths = {
		.switches = 3, .hosts = BENCH_HOSTS, .host_switch = host_switch, .links = links};
	OWNED(place) place = create(VC_STEPS_UGAL, DETOUR_HYBRID, 3);
	unsigned out[PORTS];

	for (uint32_t host = 0; host < BENCH_HOSTS; host++)
		host_switch[host] = host == HOST ? 1 : 2;
	place.bench->sw->detour.config.lengths = &lengths;
	for (unsigned port = 1; port < 5; port++)
		fill(&place, port, 0, 2);
	fill(&place, 0, 3, 13);
	count_ways(&place, FROM_HOST, 0, out);
	assert_int_equal(out[0], PACKETS);
	fill(&place, 0, 2, 1);
	count_ways(&place, FROM_HOST, 0, out);
	assert_in_range(out[0], 1, PACKETS / 2);
}

/* Ports 3 and 4 cross a dateline. */
UNIT_TEST(a_packet_in_the_first_half_finds_its_host_and_there_enters_the_second)
{
	OWNED(place) place = create(VC_STEPS_UGAL, DETOUR_PORT, 0);
	unsigned next;

	for (uint32_t sequence = 0; sequence < 100; sequence++) {
		const struct weft_packet same = {.destination = HOST, .sequence = sequence};
		unsigned port = place.bench->table[detour_draw_host(7, &same, BENCH_HOSTS)];
		bool here = port == FROM_HOST;

		assert_int_equal(way(&place, LOCAL, 0, &next), here ? 0 : port);
		assert_int_equal(next, here ? 2 : port >= GLOBAL);
		assert_int_equal(way(&place, LOCAL, 2, &next), 0);
		assert_int_equal(next, 2);
		place.sequence = sequence + 1;
	}
}

/* The link of the minimal port is down, and on its rung the packet has no other port. */
UNIT_TEST(a_packet_that_can_neither_go_on_nor_turn_is_discarded)
{
	OWNED(place) place = create(VC_STEPS_DF_UGAL_L, DETOUR_HYBRID, 0);
	const struct bench_packet late = {.destination = HOST, .vc = 1};
	const struct bench_packet early = {.destination = HOST};
	struct bench *bench = place.bench;

	bench->sw->usable &= ~BIT64(0);
	bench_arrive(bench, LOCAL, &late);
	assert_int_equal(bench_count(bench, LOCAL, SWITCH_DISCARD_LINK_DOWN), 1);
	assert_int_equal(bench_discarded(bench), 1);
	bench_arrive(bench, FROM_HOST, &early);
	assert_int_equal(switch_stored_packets(bench->sw), 1);
	bench->sw->usable |= BIT64(0);
}
