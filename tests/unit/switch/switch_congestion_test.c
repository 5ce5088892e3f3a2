/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch of stage 2 with adaptive routing, AFI and notifications (switch_congestion.h): what
 * happens to its packets, and that the detector is informed of every change. Ports 0 to 3 go down,
 * 4 to 7 up. Host h below 32 is at port h % 4. The others are reached through all up ports, 4
 * first. */

#include "switch/switch_congestion.h"

#include <errno.h>

#include "paper_detector.h"
#include "switch/fecn.h"
#include "switch_bench.h"

#define PORTS     8
#define VCS       3
#define AFC       2
#define VC_BLOCKS 64 /* bench_config() */
#define UPS       (BIT64(4) | BIT64(5) | BIT64(6) | BIT64(7))
#define FAR       40
#define DOWN      2 /* host 2 is behind it */

struct bed {
	struct bench *bench;
	struct congestion_detector_config detector;
	struct arn_table_config table;
	struct switch_congestion_config config;
	struct fecn fecn;
};

static struct switch_config switch_of(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.voq = voq;
	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % AFC);
	return config;
}

/* Defaults that a test may change before begin(). */
static void prepare(struct bed *bed, const struct switch_config *config, const char *mode)
{
	*bed = (struct bed){.bench = bench_create(config)};
	for (unsigned host = 0; host < BENCH_HOSTS; host++) {
		bed->bench->table[host] = (uint8_t)(host < 32 ? host % 4 : 4);
		bed->bench->alternatives[host] = host < 32 ? BIT64(host % 4) : UPS;
	}
	bed->detector = paper_detector();
	bed->table = paper_table();
	bed->config = (struct switch_congestion_config){.seed = 1,
		.mode = adaptive_mode_find(mode),
		.afi = true,
		.threshold_ppm = 750000,
		.stage = 2,
		.up_ports = UPS,
		.detector = config->voq ? &bed->detector : NULL,
		.table = config->voq ? &bed->table : NULL};
}

static void begin(struct bed *bed)
{
	assert_int_equal(switch_congestion(bed->bench->sw, &bed->config), 0);
}

static void start(struct bed *bed, const char *mode)
{
	const struct switch_config config = switch_of(true);

	prepare(bed, &config, mode);
	begin(bed);
}

/* All VCs of all neighbours are empty. */
static void open_all(struct bed *bed)
{
	for (unsigned port = 0; port < PORTS; port++)
		for (unsigned vc = 0; vc < VCS; vc++)
			bench_grant(bed->bench, port, vc, VC_BLOCKS);
}

static const struct weft_packet *arrive(
	struct bed *bed, unsigned input, const struct bench_packet *what)
{
	return &bed->bench->packet[bench_arrive(bed->bench, input, what)];
}

static struct congestion_control *congestion_control_of(struct bed *bed)
{
	return bed->bench->sw->congestion;
}

UNIT_TEST(a_packet_that_leaves_its_primary_port_is_sent_into_the_afc)
{
	const struct bench_packet what = {.destination = FAR, .vc = 1, .vc_original = 1, .sl = 1};
	const struct weft_packet *packet;
	struct bed bed;

	start(&bed, "adaptive-th");
	open_all(&bed);
	packet = arrive(&bed, 0, &what);
	assert_int_equal(packet->out_port, 4);
	assert_int_equal(packet->header_vc, 1);
	assert_int_equal(packet->flags & FRAME_F_ADAPTED, 0);
	bed.bench->sw->port[4].link.tx[1].sent += VC_BLOCKS; /* the primary is full */
	bed.bench->sw->port[6].link.tx[AFC].limit += 1;
	packet = arrive(&bed, 0, &what);
	assert_int_equal(packet->out_port, 6);
	assert_int_equal(packet->vc_next, AFC);
	assert_int_equal(packet->header_vc, AFC);
	assert_int_equal(packet->vc_original, 1);
	assert_int_equal(packet->flags & FRAME_F_ADAPTED, FRAME_F_ADAPTED);
	assert_int_equal(congestion_control_of(&bed)->adapted, 1);
	bench_destroy(bed.bench);
}

UNIT_TEST(an_adapted_packet_goes_the_deterministic_way_in_the_afc)
{
	const struct bench_packet what = {.destination = FAR, .vc = AFC, .flags = FRAME_F_ADAPTED};
	const struct weft_packet *packet;
	struct bed bed;

	start(&bed, "oblivious");
	for (unsigned i = 0; i < 20; i++) {
		packet = arrive(&bed, 0, &what);
		assert_int_equal(packet->out_port, 4);
		assert_int_equal(packet->header_vc, AFC);
		assert_int_equal(packet->flags, FRAME_F_ADAPTED);
	}
	assert_int_equal(congestion_control_of(&bed)->adapted, 0);
	bench_destroy(bed.bench);
}

UNIT_TEST(a_source_route_is_not_adapted)
{
	static const uint8_t route[] = {ROUTE_PORT_BIT | 4};
	const struct bench_packet what = {.destination = FAR, .route = route, .route_length = 1};
	struct bed bed;

	start(&bed, "oblivious");
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(arrive(&bed, 0, &what)->out_port, 4);
	bench_destroy(bed.bench);
}

UNIT_TEST(no_packet_is_plain_where_marks_are_set)
{
	struct bed bed;

	start(&bed, "oblivious");
	assert_int_equal(bed.bench->sw->signal.plain_vcs, 0);
	switch_congestion_end(bed.bench->sw);
	assert_int_equal(bed.bench->sw->signal.plain_vcs, VCS);
	switch_set_fecn(bed.bench->sw, &bed.fecn);
	assert_int_equal(bed.bench->sw->signal.plain_vcs, 0);
	switch_set_fecn(bed.bench->sw, NULL);
	assert_int_equal(bed.bench->sw->signal.plain_vcs, VCS);
	bench_destroy(bed.bench);
}

/* And again when it is gone, but never VOQs of the AFC. */
UNIT_TEST(packets_are_plain_until_there_is_an_entry)
{
	const struct control_arn arn = {.id = 5, .destination = FAR, .vc = 1, .root_info = 1};
	struct weft_switch *sw;
	struct bed bed;

	start(&bed, "none");
	sw = bed.bench->sw;
	assert_int_equal(sw->signal.plain_vcs, AFC);
	congestion_control_on_arn(sw->congestion, 4, &arn, bed.bench->now, bed.bench->now);
	assert_int_equal(sw->signal.plain_vcs, 0);
	congestion_control_poll(sw->congestion, bed.bench->now + bed.table.ttl_ps);
	assert_int_equal(sw->signal.plain_vcs, AFC);
	switch_set_fecn(sw, &bed.fecn);
	assert_int_equal(sw->signal.plain_vcs, 0);
	bench_destroy(bed.bench);
}

UNIT_TEST(no_packet_is_plain_where_the_mode_chooses)
{
	struct bed bed;

	start(&bed, "adaptive-th");
	assert_int_equal(bed.bench->sw->signal.plain_vcs, 0);
	bench_destroy(bed.bench);
}

UNIT_TEST(who_goes_around_a_dead_link_is_adapted)
{
	const struct bench_packet what = {.destination = FAR};
	const struct weft_packet *packet;
	struct bed bed;

	start(&bed, "none");
	bench_pass(bed.bench, 100 * PS_PER_MS, BIT64(4));
	packet = arrive(&bed, 0, &what);
	assert_int_not_equal(packet->out_port, 4);
	assert_int_equal(packet->header_vc, AFC);
	assert_int_equal(packet->flags & FRAME_F_ADAPTED, FRAME_F_ADAPTED);
	bench_destroy(bed.bench);
}

UNIT_TEST(the_far_buffer_is_the_most_that_was_granted_until_the_link_goes_down)
{
	struct bed bed;

	start(&bed, "none");
	assert_int_equal(bed.bench->sw->peer_buffers[5].vc_blocks, 0);
	bench_grant(bed.bench, 5, 0, 48);
	assert_int_equal(bed.bench->sw->peer_buffers[5].vc_blocks, 48);
	bed.bench->sw->port[5].link.tx[0].sent += 40;
	bench_grant(bed.bench, 5, 0, 40);
	assert_int_equal(bed.bench->sw->peer_buffers[5].vc_blocks, 48);
	assert_int_equal(bed.bench->sw->peer_buffers[6].vc_blocks, 0);
	bench_pass(bed.bench, 100 * PS_PER_MS, BIT64(5));
	assert_int_equal(bed.bench->sw->peer_buffers[5].vc_blocks, 0);
	bench_destroy(bed.bench);
}

UNIT_TEST(a_neighbour_that_has_restarted_may_have_another_buffer)
{
	struct bed bed;

	start(&bed, "none");
	bench_grant(bed.bench, 5, 0, 48);
	bench_grant(bed.bench, 6, 0, 48);
	bench_meet(bed.bench, 5, 2000);
	assert_int_equal(bed.bench->sw->peer_buffers[5].vc_blocks, 0);
	assert_int_equal(bed.bench->sw->peer_buffers[6].vc_blocks, 48);
	/* A credit frame may be the first to show it. */
	bed.bench->peer_credit[6].session = 2000;
	bed.bench->peer_credit[6].limit[0] = 0;
	bench_grant(bed.bench, 6, 0, 16);
	assert_int_equal(bed.bench->sw->peer_buffers[6].vc_blocks, 16);
	bench_destroy(bed.bench);
}

/* It does not show that 4 of 48 blocks are occupied. */
UNIT_TEST(a_credit_frame_that_does_not_count_tells_nothing_of_the_far_buffer)
{
	struct control_credit other[2];
	struct bed bed;

	start(&bed, "none");
	bench_grant(bed.bench, 5, 0, 48);
	other[0] = other[1] = bed.bench->peer_credit[5];
	other[0].vcs++;
	other[1].peer_session++;
	bed.bench->sw->port[5].link.tx[0].sent += 4;
	for (unsigned i = 0; i < 2; i++) {
		switch_on_credit(bed.bench->sw, 5, &other[i], bed.bench->now);
		assert_int_equal(bed.bench->sw->peer_buffers[5].told[0], 48);
	}
	switch_on_credit(bed.bench->sw, 5, &bed.bench->peer_credit[5], bed.bench->now);
	assert_int_equal(bed.bench->sw->peer_buffers[5].told[0], 44);
	bench_destroy(bed.bench);
}

UNIT_TEST(buffers_that_were_granted_before_are_known)
{
	const struct switch_config config = switch_of(true);
	struct bed bed;

	prepare(&bed, &config, "none");
	bench_grant(bed.bench, 7, 0, 64);
	begin(&bed);
	assert_int_equal(bed.bench->sw->peer_buffers[7].vc_blocks, 64);
	bench_destroy(bed.bench);
}

/* Packets for host 'to' until their VOQ is above HCDTh. */
static void fill(struct bed *bed, unsigned input, uint16_t to)
{
	const struct bench_packet what = {.destination = to, .blocks = 9};

	for (unsigned i = 0; i < 6; i++)
		arrive(bed, input, &what);
}

/* And then a root of its output after CRT. */
static void make_root(struct bed *bed, unsigned input, uint16_t to)
{
	fill(bed, input, to);
	bench_pass(bed->bench, CRT, 0);
	assert_true(switch_congestion_is_due(bed->bench->sw, bed->bench->now));
	congestion_control_poll(congestion_control_of(bed), bed->bench->now);
	assert_int_equal(congestion_control_of(bed)->detector->roots, 1);
}

/* Roots of a switch in which a VOQ for FAR is full. At the end of CRT, the next buffer has this
 * many blocks that it has not reported as free again. */
static uint64_t roots_with_unreported(uint32_t blocks, bool each)
{
	const struct switch_config config = switch_of(true);
	struct bed bed;
	uint64_t roots;

	prepare(&bed, &config, "none");
	bed.config.credits_each = each;
	begin(&bed);
	open_all(&bed);
	fill(&bed, 1, FAR);
	bed.bench->sw->port[4].link.tx[0].sent += blocks;
	bench_pass(bed.bench, CRT, 0);
	congestion_control_poll(congestion_control_of(&bed), bed.bench->now);
	roots = congestion_control_of(&bed)->detector->roots;
	bench_destroy(bed.bench);
	return roots;
}

/* FCTh is 78 %, and credits for 49 of 64 blocks are less. */
UNIT_TEST(credits_that_the_neighbour_may_withhold_are_no_packets_there)
{
	assert_int_equal(roots_with_unreported(15, false), 1);
	assert_int_equal(roots_with_unreported(15, true), 0);
}

/* At most a quarter is withheld, so the rest is stored there. */
UNIT_TEST(a_neighbour_that_fills_is_no_place_to_get_away_to)
{
	assert_int_equal(roots_with_unreported(32, false), 0);
}

UNIT_TEST(a_root_on_the_way_up_is_consumed_where_it_is)
{
	const struct bench_packet what = {.destination = FAR};
	const struct weft_packet *packet;
	struct bed bed;

	start(&bed, "none");
	open_all(&bed);
	make_root(&bed, 1, FAR);
	packet = arrive(&bed, 0, &what);
	assert_int_not_equal(packet->out_port, 4);
	assert_int_equal(packet->header_vc, AFC);
	assert_false(switch_congestion_is_due(bed.bench->sw, bed.bench->now));
	bench_check(bed.bench);
	bench_destroy(bed.bench);
}

UNIT_TEST(a_root_on_the_way_down_is_told_to_the_input_of_its_packets)
{
	const struct bench_packet what = {.destination = DOWN};
	struct congestion_control_arn out;
	struct bed bed;

	start(&bed, "none");
	open_all(&bed);
	make_root(&bed, 6, DOWN);
	assert_false(congestion_control_take_arn(congestion_control_of(&bed), &out));
	assert_int_equal(arrive(&bed, 5, &what)->out_port, DOWN);
	assert_true(congestion_control_take_arn(congestion_control_of(&bed), &out));
	assert_int_equal(out.port, 5);
	assert_int_equal(out.arn.destination, DOWN);
	assert_int_equal(out.arn.root_info, 1);
	assert_false(congestion_control_take_arn(congestion_control_of(&bed), &out));
	bench_destroy(bed.bench);
}

UNIT_TEST(a_notification_that_comes_in_turns_packets_away)
{
	const struct control_arn arn = {.id = 5, .destination = FAR, .vc = 1, .root_info = 2};
	const struct bench_packet other = {.destination = FAR},
				  what = {.destination = FAR, .vc = 1, .vc_original = 1, .sl = 1};
	struct bed bed;

	start(&bed, "none");
	congestion_control_on_arn(
		congestion_control_of(&bed), 4, &arn, bed.bench->now, bed.bench->now);
	assert_int_equal(arrive(&bed, 0, &other)->out_port, 4);
	assert_int_not_equal(arrive(&bed, 0, &what)->out_port, 4);
	bench_destroy(bed.bench);
}

static void suspect_down(struct bed *bed)
{
	start(bed, "none");
	open_all(bed);
	fill(bed, 6, DOWN);
	assert_int_equal(
		congestion_control_of(bed)->detector->output[DOWN].state, CONGESTION_SUSPECT);
}

UNIT_TEST(what_leaves_ends_a_suspicion)
{
	struct bed bed;

	suspect_down(&bed);
	bench_check(bed.bench);
	while (bench_leave(bed.bench, DOWN) >= 0)
		bench_check(bed.bench);
	assert_int_equal(
		congestion_control_of(&bed)->detector->output[DOWN].state, CONGESTION_NONE);
	bench_destroy(bed.bench);
}

UNIT_TEST(what_a_dead_link_discards_ends_a_suspicion)
{
	struct bed bed;

	suspect_down(&bed);
	bench_pass(bed.bench, 100 * PS_PER_MS, BIT64(DOWN));
	assert_int_equal(
		congestion_control_of(&bed)->detector->output[DOWN].state, CONGESTION_NONE);
	bench_check(bed.bench);
	bench_destroy(bed.bench);
}

UNIT_TEST(what_finds_its_vc_above_the_threshold_is_marked)
{
	const struct bench_packet what = {.destination = DOWN, .blocks = 9};
	struct bed bed;
	unsigned marked = 0;

	start(&bed, "none");
	fecn_init(&bed.fecn);
	assert_true(fecn_set(&bed.fecn, 6, 0, 8, VC_BLOCKS)); /* half of it, 32 blocks */
	switch_set_fecn(bed.bench->sw, &bed.fecn);
	for (unsigned i = 0; i < 7; i++) {
		bool over = 9 * i > 32;

		assert_int_equal((arrive(&bed, 6, &what)->flags & FRAME_F_FECN) != 0, over);
		marked += over;
		assert_int_equal(arrive(&bed, 5, &what)->flags & FRAME_F_FECN, 0);
	}
	assert_int_equal(bed.fecn.marked, marked);
	bench_destroy(bed.bench);
}

/* Without the victim mask, only a root of congestion marks, where the next buffer has credits. */
UNIT_TEST(without_the_victim_mask_packets_without_credits_are_not_marked)
{
	const struct bench_packet what = {.destination = DOWN, .blocks = 9};
	struct bed bed;

	start(&bed, "none");
	fecn_init(&bed.fecn);
	assert_true(fecn_set(&bed.fecn, 6, 0, 15, VC_BLOCKS));
	fecn_set_rules(&bed.fecn, &(struct fecn_rules){.victims = false});
	switch_set_fecn(bed.bench->sw, &bed.fecn);
	arrive(&bed, 6, &what);
	assert_int_equal(arrive(&bed, 6, &what)->flags & FRAME_F_FECN, 0);
	bench_grant_all(bed.bench);
	assert_true(arrive(&bed, 6, &what)->flags & FRAME_F_FECN);
	bench_destroy(bed.bench);
}

static void expect_refusal(struct bed *bed)
{
	assert_int_equal(switch_congestion(bed->bench->sw, &bed->config), -EINVAL);
	assert_null(bed->bench->sw->congestion);
	assert_int_equal(bed->bench->sw->signal.plain_vcs, bed->bench->sw->vcs);
}

UNIT_TEST(what_cannot_be_is_refused)
{
	struct switch_config config = switch_of(true);
	struct bed bed;

	prepare(&bed, &config, "none");
	bed.config.mode = NULL;
	expect_refusal(&bed);
	bed.config.mode = adaptive_mode_find("none");
	bed.config.table = NULL;
	expect_refusal(&bed);
	bed.bench->sw->table_alternatives = NULL;
	bed.config.table = &bed.table;
	expect_refusal(&bed);
	bench_destroy(bed.bench);

	config.sl_to_vc[3] = AFC; /* no service level may use the AFC */
	prepare(&bed, &config, "none");
	expect_refusal(&bed);
	bed.config.afi = false;
	begin(&bed);
	assert_int_equal(switch_congestion(bed.bench->sw, &bed.config), -EINVAL); /* it has one */
	bench_destroy(bed.bench);

	config = switch_of(false);
	prepare(&bed, &config, "adaptive-th");
	bed.config.detector = &bed.detector;
	bed.config.table = &bed.table;
	expect_refusal(&bed);
	bed.config.detector = NULL;
	bed.config.table = NULL;
	begin(&bed);
	bench_destroy(bed.bench);
}

/* Arrivals within credits, grants, notifications, links that go down, watchdog. */
struct load {
	struct bed bed;
	struct rng rng;
	uint64_t sent_back;
};

static void arrive_somewhere(struct load *load)
{
	struct bench *bench = load->bed.bench;
	struct bench_packet what = {
		.destination =
			(uint16_t)(rng_below(&load->rng, 4) != 0 ? 32 + rng_below(&load->rng, 2)
								 : rng_below(&load->rng, 4)),
		.sl = (uint8_t)rng_below(&load->rng, 2),
		.blocks = (uint16_t)(1 + rng_below(&load->rng, 12))};
	unsigned input = (unsigned)rng_below(&load->rng, 4);
	struct weft_packet *packet;

	what.vc = what.vc_original = what.sl;
	if (rng_below(&load->rng, 4) == 0) {
		what.vc = AFC;
		what.flags = FRAME_F_ADAPTED;
	}
	bench_told(bench, input);
	if (credit_expected(&bench->sw->port[input].link.rx[what.vc], what.blocks) == 0)
		return;
	bench->packets %= BENCH_PACKETS / 2; /* never this many are stored */
	packet = bench_make(bench, &what);
	bench_receive(bench, input, packet);
	if ((packet->flags & FRAME_F_ADAPTED) != 0)
		assert_int_equal(packet->header_vc, AFC);
}

static void notify(struct load *load)
{
	const struct control_arn arn = {.id = (uint32_t)rng_below(&load->rng, 3),
		.destination = (uint16_t)(32 + rng_below(&load->rng, 2)),
		.vc = (uint8_t)rng_below(&load->rng, 2),
		.root_info = (uint8_t)rng_below(&load->rng, 3)};

	congestion_control_on_arn(load->bed.bench->sw->congestion,
		4 + (unsigned)rng_below(&load->rng, 4), &arn, load->bed.bench->now,
		load->bed.bench->now);
}

static void load_once(struct load *load)
{
	struct bench *bench = load->bed.bench;
	struct congestion_control_arn out;
	unsigned port = (unsigned)rng_below(&load->rng, PORTS);

	switch (rng_below(&load->rng, 64)) {
	case 0:
		notify(load);
		break;
	case 1:
		bench_pass(bench, PS_PER_MS, 0);
		break;
	default:
		arrive_somewhere(load);
	}
	if (rng_below(&load->rng, 2) == 0)
		bench_leave(bench, port);
	if (rng_below(&load->rng, 3) == 0)
		bench_grant(bench, port, (unsigned)rng_below(&load->rng, VCS), 8);
	bench->now += 5 * PS_PER_US;
	if (switch_congestion_is_due(bench->sw, bench->now))
		congestion_control_poll(bench->sw->congestion, bench->now);
	while (congestion_control_take_arn(bench->sw->congestion, &out))
		load->sent_back++;
	bench_discarded(bench);
	bench_check(bench);
}

static void run_load(struct load *load, const char *mode, uint64_t seed)
{
	struct switch_config config = switch_of(true);

	*load = (struct load){0};
	rng_init(&load->rng, seed, 0, 0);
	config.watchdog_ps = 20 * PS_PER_MS;
	prepare(&load->bed, &config, mode);
	begin(&load->bed);
	open_all(&load->bed);
	for (unsigned i = 0; i < 6000; i++)
		load_once(load);
	bench_pass(load->bed.bench, 100 * PS_PER_MS, BIT64(4) | BIT64(DOWN));
	bench_discarded(load->bed.bench);
	bench_check(load->bed.bench);
}

UNIT_TEST(the_detector_is_told_of_all_that_comes_and_goes)
{
	uint64_t roots = 0, sent_back = 0, adapted = 0;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct load load;

		run_load(&load, seed % 2 == 0 ? "none" : "adaptive-th", seed);
		roots += congestion_control_of(&load.bed)->detector->roots;
		adapted += congestion_control_of(&load.bed)->adapted;
		sent_back += load.sent_back;
		bench_destroy(load.bed.bench);
	}
	assert_true(roots > 0);
	assert_true(sent_back > 0);
	assert_true(adapted > 0);
}
