/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch of stage 2 in the view of its adaptation: ports 0 to 3 go down, 4 to 7 up. The test sets
 * queues and credits. */

#include "switch/congestion_control.h"

#include <errno.h>

#include "paper_detector.h"
#include "unit.h"

#define PORTS   8
#define VCS     2
#define AFC     1
#define BLOCKS  100
#define UPS     (BIT64(4) | BIT64(5) | BIT64(6) | BIT64(7))
#define DOWN    2 /* the port to HOT */
#define HOT     1
#define FAR     9 /* through all up ports; primary 4 */
#define HOSTS   12
#define PACKETS 64

struct bench {
	struct credit_tx tx[PORTS][VCS];
	struct peer_buffer output[PORTS];
	uint64_t alternatives[HOSTS], usable;
	struct voq voq[PORTS][PORTS][VCS]; /* [output][input][vc] */
	struct weft_packet packet[PACKETS];
	unsigned packets;
	struct congestion_control *congestion;
	struct congestion_detector_config detector;
	struct arn_table_config table;
	struct congestion_control_config config;
	weft_time now;
	struct congestion_signal signal;
};

static const struct weft_packet *head(void *ctx, unsigned input, unsigned vc, unsigned output)
{
	struct bench *bench = ctx;

	return bench->voq[output][input][vc].head;
}

/* Defaults that a test may change before begin(). */
static void prepare(struct bench *bench, const char *mode, bool afi)
{
	*bench = (struct bench){.usable = 0xFF, .now = PS_PER_MS};
	bench->detector = paper_detector();
	bench->detector.ports = PORTS;
	bench->table = paper_table();
	for (unsigned port = 0; port < PORTS; port++) {
		bench->output[port] = (struct peer_buffer){bench->tx[port], BLOCKS, .exact = true};
		bench->detector.vc_blocks[port] = BLOCKS;
		for (unsigned vc = 0; vc < VCS; vc++)
			bench->tx[port][vc].limit = BLOCKS;
	}
	for (unsigned host = 0; host < HOSTS; host++)
		bench->alternatives[host] = host == FAR ? UPS : BIT64(DOWN);
	bench->config = (struct congestion_control_config){.device = 0x77,
		.seed = 1,
		.vcs = VCS,
		.stage = 2,
		.up_ports = UPS,
		.mode = adaptive_mode_find(mode),
		.afi = afi,
		.threshold_ppm = 750000,
		.alternatives = bench->alternatives,
		.hosts = HOSTS,
		.output = bench->output,
		.usable = &bench->usable,
		.detector = &bench->detector,
		.table = &bench->table,
		.head = head,
		.ctx = bench,
		.signal = &bench->signal};
}

static void begin(struct bench *bench)
{
	bench->congestion = congestion_control_create(&bench->config);
	assert_non_null(bench->congestion);
}

static void start(struct bench *bench, const char *mode, bool afi)
{
	prepare(bench, mode, afi);
	begin(bench);
}

static void stop(struct bench *bench)
{
	if (bench->congestion->detector != NULL) {
		assert_null(congestion_detector_check(bench->congestion->detector));
		assert_null(arn_table_check(bench->congestion->table));
	}
	congestion_control_destroy(bench->congestion);
}
#define bench_out_of_scope stop

/* A packet of 10 blocks that arrives. 'flags' are as the last switch left them. */
static struct weft_packet *come(struct bench *bench, uint8_t input, uint16_t to, uint8_t flags)
{
	struct weft_packet *packet = &bench->packet[bench->packets++];

	assert_in_range(bench->packets, 1, PACKETS);
	*packet = (struct weft_packet){.kind = FRAME_DATA,
		.in_port = input,
		.destination = to,
		.vc = flags & FRAME_F_ADAPTED ? AFC : 0,
		.vc_original = 0,
		.flags = flags,
		.blocks = 10};
	packet->out_port = (uint8_t)congestion_control_route(
		bench->congestion, packet, to == FAR ? 4 : DOWN, 0, bench->now);
	packet->vc_next = congestion_control_next_vc(bench->congestion, packet, 0);
	return packet;
}

/* It is then stored. */
static void store(struct bench *bench, uint8_t input, uint16_t to, uint8_t flags)
{
	struct weft_packet *packet = come(bench, input, to, flags);
	struct voq *queue = &bench->voq[packet->out_port][input][packet->vc];

	voq_push(queue, packet);
	if (bench->congestion->detector != NULL &&
		queue->blocks > congestion_detector_report_above(bench->congestion->detector))
		congestion_control_grown(
			bench->congestion, packet, packet->out_port, queue, bench->now);
}

static void leave(struct bench *bench, unsigned input, unsigned vc, unsigned output)
{
	struct voq *queue = &bench->voq[output][input][vc];
	struct weft_packet *packet = voq_pop(queue);

	congestion_control_left(bench->congestion, packet, output, queue);
}

static void fill(struct bench *bench, uint8_t input, uint16_t to, uint8_t flags, unsigned packets)
{
	while (packets-- > 0)
		store(bench, input, to, flags);
}

static void pass(struct bench *bench, weft_time time)
{
	bench->now += time;
	congestion_control_poll(bench->congestion, bench->now);
}

static unsigned arns(struct bench *bench, struct congestion_control_arn *last)
{
	unsigned count = 0;

	while (congestion_control_take_arn(bench->congestion, last))
		count++;
	return count;
}

/* Another switch notifies about a root for packets to FAR. */
static void notify(struct bench *bench, unsigned port, uint8_t stage)
{
	const struct control_arn arn = {.id = 5, .destination = FAR, .vc = 0, .root_info = stage};

	congestion_control_on_arn(bench->congestion, port, &arn, bench->now, bench->now);
}

/* A late loop may date packets back, but not to before the notification that they follow. */
UNIT_TEST(a_packet_that_obeys_a_notification_is_not_ready_before_it_was_due)
{
	const struct control_arn arn = {.id = 5, .destination = FAR, .root_info = 2};
	struct weft_packet *packet;
	OWNED(bench) bench;

	start(&bench, "none", true);
	congestion_control_on_arn(bench.congestion, 4, &arn, bench.now - 300, bench.now);
	assert_int_equal(come(&bench, 0, HOT, 0)->arrived_ps, 0);
	packet = come(&bench, 0, FAR, 0);
	assert_true(packet->out_port != 4 && afi_is_adapted(packet));
	assert_int_equal(packet->arrived_ps, bench.now - 300);
	*packet = (struct weft_packet){.destination = FAR, .arrived_ps = bench.now - 200};
	assert_int_not_equal(
		congestion_control_route(bench.congestion, packet, 4, 0, bench.now), 4);
	assert_int_equal(packet->arrived_ps, bench.now - 200);
}

UNIT_TEST(a_root_makes_entries_and_its_packets_have_notifications_sent_back)
{
	struct congestion_control_arn out;
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 4, HOT, 0, 9);
	assert_int_equal(arns(&bench, &out), 0);
	pass(&bench, CRT - 1);
	assert_false(arn_table_concerns(bench.congestion->table, HOT));
	pass(&bench, 1);
	assert_true(arn_table_concerns(bench.congestion->table, HOT));
	assert_int_equal(arns(&bench, &out), 0);
	come(&bench, 5, HOT, 0);
	come(&bench, 5, HOT, 0);
	assert_int_equal(arns(&bench, &out), 1);
	assert_int_equal(out.port, 5);
	assert_int_equal(out.arn.destination, HOT);
	assert_int_equal(out.arn.vc, 0);
	assert_int_equal(out.arn.root_info, 1);
	assert_int_equal(out.arn.id >> 8, 0x77 << 8 | DOWN);
	assert_int_equal(bench.congestion->adapted, 0);
	/* Each port once in each interval, in port order. */
	bench.now += REFRESH;
	come(&bench, 6, HOT, 0);
	come(&bench, 5, HOT, 0);
	come(&bench, 6, HOT, 0);
	assert_true(congestion_control_take_arn(bench.congestion, &out));
	assert_int_equal(out.port, 6);
	assert_int_equal(arns(&bench, &out), 1);
	assert_int_equal(out.port, 5);
}

UNIT_TEST(a_branch_makes_none)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	bench.tx[DOWN][0].sent = 22;
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_BRANCH);
	assert_int_equal(bench.congestion->table->count, 0);
}

UNIT_TEST(credits_are_those_of_the_vc_where_the_head_is_stored_next)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	bench.tx[DOWN][AFC].sent = 22;
	fill(&bench, 4, HOT, 0, 9);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_SUSPECT);
	fill(&bench, 5, HOT, FRAME_F_ADAPTED, 9);
	for (unsigned i = 0; i < 9; i++)
		leave(&bench, 4, 0, DOWN);
	/* Only the AFC's VOQ remains, whose packets cannot leave. */
	store(&bench, 5, HOT, FRAME_F_ADAPTED);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_BRANCH);
}

UNIT_TEST(an_entry_lives_while_its_root_stands_and_a_ttl_longer)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	for (weft_time time = 0; time < 3 * TTL; time += REFRESH)
		pass(&bench, REFRESH);
	assert_true(arn_table_concerns(bench.congestion->table, HOT));
	assert_int_equal(bench.congestion->due, bench.now + REFRESH);
	leave(&bench, 4, 0, DOWN);
	leave(&bench, 4, 0, DOWN);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_ROOT);
	leave(&bench, 4, 0, DOWN);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_NONE);
	pass(&bench, TTL - 1);
	assert_true(arn_table_concerns(bench.congestion->table, HOT));
	pass(&bench, 1);
	assert_false(arn_table_concerns(bench.congestion->table, HOT));
}

/* A queue above HCDTh, or a running timer. */
UNIT_TEST(the_alert_stands_while_time_or_departures_count)
{
	struct bench bench;

	prepare(&bench, "none", true);
	begin(&bench);
	assert_false(bench.signal.alert);
	notify(&bench, 4, 2);
	assert_true(bench.signal.alert);
	pass(&bench, TTL);
	assert_false(bench.signal.alert);
	bench.tx[DOWN][0].sent = 22;
	fill(&bench, 5, HOT, 0, 9);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_BRANCH);
	assert_true(bench.signal.alert);
	for (unsigned i = 0; i < 9; i++)
		leave(&bench, 5, 0, DOWN);
	assert_false(bench.signal.alert);
	bench.tx[DOWN][0].sent = 0;
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	for (unsigned i = 0; i < 9; i++)
		leave(&bench, 4, 0, DOWN);
	assert_true(bench.signal.alert);
	pass(&bench, TTL);
	assert_false(bench.signal.alert);
	stop(&bench);
	start(&bench, "adaptive-th", true);
	assert_false(bench.signal.alert);
	stop(&bench);
}

/* All except the AFC's, until an entry or a mode may change the output. */
UNIT_TEST(packets_are_plain_while_there_is_nothing_to_decide)
{
	struct bench bench;

	start(&bench, "none", true);
	assert_int_equal(bench.signal.plain_vcs, AFC);
	fill(&bench, 5, HOT, 0, 9);
	assert_int_equal(bench.signal.plain_vcs, AFC);
	notify(&bench, 4, 2);
	assert_int_equal(bench.signal.plain_vcs, 0);
	pass(&bench, TTL);
	congestion_control_set_calm(bench.congestion, 0);
	assert_int_equal(bench.signal.plain_vcs, 0);
	stop(&bench);
	start(&bench, "none", false);
	assert_int_equal(bench.signal.plain_vcs, VCS);
	stop(&bench);
	start(&bench, "adaptive-th", true);
	assert_int_equal(bench.signal.plain_vcs, 0);
	stop(&bench);
}

/* VOQs that count together are counted at every step. */
UNIT_TEST(the_alert_always_stands_where_vcs_count_together)
{
	OWNED(bench) bench;

	prepare(&bench, "none", true);
	bench.detector.by_vc = false;
	begin(&bench);
	pass(&bench, CRT);
	assert_true(bench.signal.alert);
}

UNIT_TEST(every_voq_of_a_root_tells_of_its_own_head)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 4, HOT, 0, 9);
	fill(&bench, 5, HOT + 1, 0, 9);
	pass(&bench, CRT);
	assert_true(arn_table_concerns(bench.congestion->table, HOT));
	assert_true(arn_table_concerns(bench.congestion->table, HOT + 1));
	/* And one that exceeds the threshold later, immediately. */
	fill(&bench, 6, HOT + 2, 0, 8);
	assert_false(arn_table_concerns(bench.congestion->table, HOT + 2));
	store(&bench, 6, HOT + 2, 0);
	assert_true(arn_table_concerns(bench.congestion->table, HOT + 2));
	/* New heads at the refresh. */
	store(&bench, 4, HOT + 3, 0);
	for (unsigned i = 0; i < 9; i++)
		leave(&bench, 4, 0, DOWN);
	fill(&bench, 4, HOT + 3, 0, 8);
	pass(&bench, REFRESH);
	assert_true(arn_table_concerns(bench.congestion->table, HOT + 3));
}

UNIT_TEST(the_head_is_responsible_not_who_comes_in)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	/* Another VOQ of the root exceeds the threshold with a packet for a different destination
	 * at its end. */
	fill(&bench, 6, HOT + 2, 0, 8);
	store(&bench, 6, HOT + 3, 0);
	assert_true(arn_table_concerns(bench.congestion->table, HOT + 2));
	assert_false(arn_table_concerns(bench.congestion->table, HOT + 3));
}

UNIT_TEST(new_tables_forget_the_entries_and_standing_roots_tell_again)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	notify(&bench, 4, 2);
	congestion_control_set_tables(bench.congestion, bench.alternatives, HOSTS, 2);
	assert_int_equal(bench.congestion->table->count, 0);
	assert_int_equal(come(&bench, 0, FAR, 0)->out_port, 4);
	pass(&bench, REFRESH);
	assert_true(arn_table_concerns(bench.congestion->table, HOT));
	assert_false(arn_table_concerns(bench.congestion->table, FAR));
}

UNIT_TEST(an_adapted_head_makes_no_entry_but_keeps_one_by_its_original_vc)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 5, HOT, FRAME_F_ADAPTED, 9);
	pass(&bench, CRT);
	assert_int_equal(bench.congestion->detector->output[DOWN].state, CONGESTION_ROOT);
	assert_int_equal(bench.congestion->table->count, 0);
	fill(&bench, 4, HOT, 0, 9);
	assert_int_equal(bench.congestion->table->count, 1);
	for (unsigned i = 0; i < 9; i++)
		leave(&bench, 4, 0, DOWN);
	/* The AFC's packets alone keep the root and the entry of VC 0 alive. */
	for (weft_time time = 0; time < 2 * TTL; time += REFRESH)
		pass(&bench, REFRESH);
	assert_int_equal(bench.congestion->table->count, 1);
}

UNIT_TEST(adapted_packets_stay_on_their_way_and_notify)
{
	struct congestion_control_arn out;
	OWNED(bench) bench;

	start(&bench, "adaptive-th", true);
	notify(&bench, 4, 1);
	bench.tx[4][0].sent = bench.tx[4][AFC].sent = BLOCKS;
	assert_int_equal(come(&bench, 0, FAR, FRAME_F_ADAPTED)->out_port, 4);
	assert_int_equal(arns(&bench, &out), 1);
	assert_int_equal(out.arn.vc, 0);
	assert_int_equal(bench.packet[0].vc_next, AFC);
}

UNIT_TEST(a_consumed_notification_sends_packets_around_in_the_afc)
{
	struct congestion_control_arn out;
	struct weft_packet *packet;
	OWNED(bench) bench;

	start(&bench, "none", true);
	bench.tx[5][AFC].sent = 2;
	bench.tx[6][AFC].sent = 1;
	bench.tx[6][0].sent = 50; /* does not count */
	bench.usable &= ~BIT64(7);
	notify(&bench, 4, 2);
	packet = come(&bench, 0, FAR, FRAME_F_TAIL);
	assert_int_equal(packet->out_port, 6);
	assert_int_equal(packet->flags, FRAME_F_TAIL | FRAME_F_ADAPTED);
	assert_int_equal(packet->vc_next, AFC);
	assert_int_equal(packet->vc_original, 0);
	assert_int_equal(arns(&bench, &out), 0);
	/* It stays so, regardless of credits, until it expires. */
	bench.tx[6][AFC].sent = 90;
	assert_int_equal(come(&bench, 0, FAR, 0)->out_port, 6);
	assert_int_equal(bench.congestion->adapted, 2);
	pass(&bench, TTL);
	packet = come(&bench, 0, FAR, 0);
	assert_int_equal(packet->out_port, 4);
	assert_int_equal(packet->vc_next, 0);
}

UNIT_TEST(who_follows_an_entry_is_adapted_also_where_the_table_says_the_same_port)
{
	struct weft_packet *packet;
	OWNED(bench) bench;

	start(&bench, "none", true);
	for (unsigned port = 5; port < PORTS; port++)
		bench.tx[port][AFC].sent = 1;
	notify(&bench, 5, 2);
	packet = come(&bench, 0, FAR, 0);
	assert_int_equal(packet->out_port, 4);
	assert_int_equal(packet->flags, FRAME_F_ADAPTED);
	assert_int_equal(packet->vc_next, AFC);
}

UNIT_TEST(without_afi_the_bit_stays_off_and_the_vcs_own_credits_count)
{
	struct weft_packet *packet;
	OWNED(bench) bench;

	start(&bench, "none", false);
	bench.tx[5][0].sent = bench.tx[7][0].sent = 2;
	bench.tx[6][0].sent = 1;
	bench.tx[6][AFC].sent = 50;
	notify(&bench, 4, 2);
	packet = come(&bench, 0, FAR, 0);
	assert_int_equal(packet->out_port, 6);
	assert_int_equal(packet->flags, 0);
	assert_int_equal(packet->vc_next, 0);
	/* A bit set by another switch has no meaning either. */
	packet = come(&bench, 0, FAR, FRAME_F_ADAPTED);
	assert_int_equal(packet->out_port, 6);
	assert_int_equal(packet->vc_next, 0);
}

UNIT_TEST(an_alternative_whose_link_is_down_is_not_taken)
{
	OWNED(bench) bench;

	start(&bench, "none", true);
	bench.tx[5][AFC].sent = bench.tx[7][AFC].sent = 2;
	notify(&bench, 4, 2);
	bench.usable &= ~BIT64(6);
	assert_int_equal(come(&bench, 0, FAR, 0)->out_port, 4);
}

/* The congestionRootInfo of a root on the way up is the switch's own stage. */
UNIT_TEST(a_root_on_the_way_up_is_gone_around_here)
{
	struct congestion_control_arn out;
	struct weft_packet *packet;
	OWNED(bench) bench;

	start(&bench, "none", true);
	fill(&bench, 0, FAR, 0, 9);
	pass(&bench, CRT);
	packet = come(&bench, 1, FAR, 0);
	assert_int_not_equal(packet->out_port, 4);
	assert_true(afi_is_adapted(packet));
	assert_int_equal(arns(&bench, &out), 0);
}

UNIT_TEST(roots_on_the_way_down_are_for_hosts_where_that_is_the_reading)
{
	struct congestion_control_arn out;
	OWNED(bench) bench;

	prepare(&bench, "none", true);
	bench.table.down_roots_to_hosts = true;
	begin(&bench);
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	come(&bench, 5, HOT, 0);
	assert_int_equal(arns(&bench, &out), 1);
	assert_int_equal(out.arn.root_info, 0);
}

UNIT_TEST(adaptive_modes_work_without_notifications)
{
	struct weft_packet *packet;
	OWNED(bench) bench;

	prepare(&bench, "adaptive-th", true);
	bench.config.detector = NULL;
	bench.config.table = NULL;
	begin(&bench);
	notify(&bench, 4, 2);
	assert_int_equal(come(&bench, 0, FAR, 0)->out_port, 4);
	bench.tx[4][0].sent = 76;
	bench.usable &= ~(BIT64(5) | BIT64(6));
	packet = come(&bench, 0, FAR, 0);
	assert_int_equal(packet->out_port, 7);
	assert_int_equal(packet->vc_next, AFC);
	assert_int_equal(bench.congestion->adapted, 1);
	fill(&bench, 4, HOT, 0, 9);
	pass(&bench, CRT);
	assert_int_equal(bench.congestion->due, WEFT_TIME_NEVER);
}

UNIT_TEST(what_finds_no_room_to_be_sent_is_counted)
{
	struct congestion_control_arn out;
	OWNED(bench) bench;

	start(&bench, "none", true);
	notify(&bench, 4, 1);
	for (unsigned i = 0; i < CONGESTION_CONTROL_OUTBOX + 3; i++) {
		come(&bench, 0, FAR, 0);
		bench.packets = 0;
		bench.now += REFRESH / 4;
		if (i % 40 == 0)
			notify(&bench, 4, 1);
		bench.now += REFRESH;
	}
	assert_int_equal(bench.congestion->out_overflow, 3);
	assert_int_equal(arns(&bench, &out), CONGESTION_CONTROL_OUTBOX);
}

UNIT_TEST(what_makes_no_sense_is_refused)
{
	struct bench bench;

	prepare(&bench, "none", true);
	bench.config.vcs = 1;
	assert_null(congestion_control_create(&bench.config));
	prepare(&bench, "none", true);
	bench.config.table = NULL;
	assert_null(congestion_control_create(&bench.config));
	prepare(&bench, "none", true);
	bench.config.head = NULL;
	assert_null(congestion_control_create(&bench.config));
	prepare(&bench, "none", true);
	bench.detector.lcdth_ppm = 900000;
	assert_null(congestion_control_create(&bench.config));
	assert_int_equal(errno, EINVAL);
	prepare(&bench, "none", true);
	bench.table.ttl_ps = 0;
	assert_null(congestion_control_create(&bench.config));
}
