/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Frames through a switch's poll driver. The rings are shorter than a burst, so that frames wait in
 * the transmitters, wait in the queues, and bypass them, in any combination. */

#include "poll/switch_metrics.h"
#include "switch/switch_congestion.h"
#include "switch_neighbours.h"

static void check_end(const struct bench *bench)
{
	uint64_t sent = 0, seen = 0, spoilt = 0, refused = 0, control_sent = 0, control_seen = 0;

	for (unsigned i = 0; i < PORTS; i++) {
		const struct neighbour *host = &bench->host[i];

		sent += host->data_sent;
		seen += host->data_seen;
		spoilt += host->data_spoilt;
		control_sent += host->control_sent;
		control_seen += host->control_seen;
		for (unsigned fault = 0; fault < FRAME_FAULT_COUNT; fault++)
			refused += loop_of(bench, i)->port[i].faults[fault];
		for (unsigned vc = 0; vc < VCS; vc++) {
			assert_int_equal(credit_available(&host->link.tx[vc]), VC_BLOCKS);
			assert_int_equal(
				credit_available(&loop_of(bench, i)->sw->port[i].link.tx[vc]),
				VC_BLOCKS);
		}
	}
	assert_true(sent > 3000);
	assert_int_equal(seen, sent - spoilt);
	assert_int_equal(refused, spoilt);
	assert_int_equal(
		control_seen, control_sent - sum_count(bench, SWITCH_CONTROL_DISCARD_FULL));
	assert_int_equal(sum_count(bench, SWITCH_DATA_IN), seen);
	assert_int_equal(sum_count(bench, SWITCH_DATA_OUT), seen);
	if (control_seen == control_sent)
		assert_int_equal(
			sum_count(bench, SWITCH_BYTES_IN), sum_count(bench, SWITCH_BYTES_OUT));
}

static void run_all(struct bench_config config, uint32_t spoil_ppm)
{
	static struct bench bench;

	start(&bench, &config);
	bench.spoil_ppm = spoil_ppm;
	for (unsigned i = 0; i < 20000; i++)
		turn(&bench);
	bench.sending = false;
	for (unsigned i = 0; i < 2000; i++)
		turn(&bench);
	check_end(&bench);
	stop(&bench);
}

UNIT_TEST(frames_keep_their_order_whether_they_wait_or_pass)
{
	run_all((struct bench_config){.voq = true, .slots = 8}, 0);
}

UNIT_TEST(rings_of_a_single_slot_change_nothing_but_the_pace)
{
	run_all((struct bench_config){.voq = true, .slots = 1}, 0);
}

UNIT_TEST(long_rings_change_nothing_either)
{
	run_all((struct bench_config){.voq = true, .slots = 256}, 0);
}

UNIT_TEST(without_voqs_the_order_is_kept_too)
{
	run_all((struct bench_config){.voq = false, .slots = 8}, 0);
}

UNIT_TEST(timed_links_keep_the_order_with_voqs)
{
	run_all((struct bench_config){.voq = true, .timed = true, .slots = 64}, 0);
}

UNIT_TEST(timed_links_keep_the_order_without_voqs)
{
	run_all((struct bench_config){.voq = false, .timed = true, .slots = 8}, 0);
}

UNIT_TEST(spoilt_frames_are_counted_and_their_credits_come_back)
{
	run_all((struct bench_config){.voq = true, .slots = 8}, 20000);
}

UNIT_TEST(parts_keep_the_order_as_a_whole_switch_does)
{
	for (unsigned shards = 2; shards <= PORTS; shards++)
		run_all((struct bench_config){.voq = true, .slots = 8, .shards = shards}, 0);
}

UNIT_TEST(parts_with_short_and_long_rings_do_so_too)
{
	run_all((struct bench_config){.voq = true, .slots = 1, .shards = 2}, 0);
	run_all((struct bench_config){.voq = true, .slots = 256, .shards = 3}, 0);
}

UNIT_TEST(parts_with_timed_links_do_so_too)
{
	run_all((struct bench_config){.voq = true, .timed = true, .slots = 64, .shards = 2}, 0);
}

UNIT_TEST(frames_spoilt_between_parts_are_counted_and_their_credits_come_back)
{
	run_all((struct bench_config){.voq = true, .slots = 8, .shards = 2}, 20000);
}

UNIT_TEST(the_metrics_of_parts_are_those_of_one_switch)
{
	uint64_t whole[SWITCH_METRIC_COUNT], port[SWITCH_METRIC_COUNT];
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 8, .shards = 2});
	bench.lossy = true;
	turns(&bench, 2000);
	port_cut(&bench.port[3], true);
	port_cut(&bench.host[3].port, true);
	turns(&bench, 6000);
	switch_metrics_sum(bench.division->shard[1], whole);
	assert_true(whole[SWITCH_DATA_IN] > 0 && whole[SWITCH_DISCARD_LINK_DOWN] > 0);
	/* From input 0, in the first shard, to output 3, in the second. */
	switch_metrics_read(bench.ps, 0, port);
	assert_true(
		port[SWITCH_DISCARD_LINK_DOWN] > bench.sw->port[0].count[SWITCH_DISCARD_LINK_DOWN]);
	assert_int_equal(whole[SWITCH_METRIC_UP], PORTS - 1);
	stop(&bench);
}

/* The switch gets a detector and a table, at stage 1. */
static void adapt(struct bench *bench)
{
	const struct congestion_detector_config detector = {.hcdth_ppm = 810000,
		.lcdth_ppm = 630000,
		.fcth_ppm = 780000,
		.crt_ps = PS_PER_MS,
		.refresh_ps = PS_PER_MS,
		.by_vc = true};
	const struct arn_table_config table = {
		.entries = 16, .ttl_ps = PS_PER_S, .refresh_ps = PS_PER_MS};
	const struct switch_congestion_config config = {.seed = 1,
		.mode = adaptive_mode_find("none"),
		.stage = 1,
		.detector = &detector,
		.table = &table};

	assert_int_equal(switch_congestion(bench->sw, &config), 0);
	/* No other device sends notifications. */
	for (unsigned i = 0; i < PORTS; i++) {
		bench->host[i].link.config.device_kind = 0;
		bench->sw->port[i].link.peer_kind = 0;
	}
}

static void send_arn(struct bench *bench, unsigned from, const struct control_arn *arn)
{
	struct frame_fields fields = {
		.kind = FRAME_ARN, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);

	fields.payload_bytes = (uint16_t)control_arn_encode(arn, frame + FRAME_HEADER_BYTES);
	send_frame(bench, &bench->host[from], mbuf, &fields);
}

/* Host 2 reports contention of packets to it. Host 0 sends some of them. */
UNIT_TEST(a_notification_goes_back_where_its_packets_come_from)
{
	static const struct control_arn arn = {.id = 0x01020304, .destination = 2};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	adapt(&bench);
	turns(&bench, 2000);
	send_arn(&bench, 2, &arn);
	send_data(&bench, 1, 3);
	turns(&bench, 100);
	send_data(&bench, 0, 2);
	turns(&bench, 100);
	assert_int_equal(bench.host[0].arns_seen, 1);
	assert_int_equal(
		bench.host[1].arns_seen + bench.host[2].arns_seen + bench.host[3].arns_seen, 0);
	assert_int_equal(bench.host[0].arn.id, arn.id);
	assert_int_equal(bench.host[0].arn.destination, 2);
	assert_int_equal(bench.ps->port[2].arns_in, 1);
	assert_int_equal(bench.ps->port[0].arns_out, 1);
	assert_int_equal(bench.host[2].data_seen, 1);
	/* No other notification for the same entry before its refresh time has passed. */
	send_data(&bench, 0, 2);
	turns(&bench, 100);
	assert_int_equal(bench.host[0].arns_seen, 1);
	turns(&bench, 1000);
	send_data(&bench, 0, 2);
	turns(&bench, 100);
	assert_int_equal(bench.host[0].arns_seen, 2);
	stop(&bench);
}

/* From hosts, about roots that do not exist, and too many. */
UNIT_TEST(notifications_that_no_switch_would_send_are_refused)
{
	static const struct arn_policer_config guard = {.rate = 10, .switches = 2, .ports = 4};
	struct control_arn arn = {.id = 0x00010300, .destination = 2};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	adapt(&bench);
	poll_switch_limit_arns(bench.ps, &guard);
	turns(&bench, 2000);
	bench.sw->port[2].link.peer_kind = 1;
	send_arn(&bench, 2, &arn);
	turns(&bench, 10);
	assert_int_equal(bench.ps->port[2].arns_refused, 1);
	assert_int_equal(bench.sw->congestion->table->count, 0);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t no_root[] = {0x00000300, 0x00030300, 0x00010400};

		arn.id = no_root[i];
		send_arn(&bench, 3, &arn);
		turns(&bench, 10);
		assert_int_equal(bench.ps->port[3].arns_refused, i + 1);
	}
	arn.id = 0x00010300;
	arn.destination = 4000;
	send_arn(&bench, 3, &arn);
	turns(&bench, 10);
	assert_int_equal(bench.ps->port[3].arns_refused, 4);
	assert_int_equal(bench.ps->port[3].arns_in, 0);
	arn.destination = 2;
	for (unsigned i = 0; i < 12; i++)
		send_arn(&bench, 3, &arn);
	turns(&bench, 12);
	assert_int_equal(bench.ps->port[3].arns_in, 10);
	assert_int_equal(bench.ps->port[3].arns_refused, 6);
	assert_int_equal(bench.ps->port[2].control_bad + bench.ps->port[3].control_bad, 0);
	stop(&bench);
}

UNIT_TEST(a_notification_without_a_table_for_it_is_refused)
{
	static const struct control_arn arn = {.id = 1, .destination = 2};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	send_arn(&bench, 2, &arn);
	turns(&bench, 100);
	assert_int_equal(bench.ps->port[2].control_bad, 1);
	assert_int_equal(bench.ps->port[2].arns_in, 0);
	stop(&bench);
}

/* The cut is unnoticed, so neighbours are assumed to be alive. */
static void let_pass(struct bench *bench, weft_time ps)
{
	bench->now += ps;
	for (unsigned i = 0; i < PORTS; i++) {
		bench->host[i].link.heard_at = bench->now;
		bench->sw->port[i].link.heard_at = bench->now;
	}
}

/* While there is an entry, no packet bypasses the queues. Before and afterwards, packets do. */
UNIT_TEST(with_adaptation_the_order_is_kept_too)
{
	static const struct control_arn arn = {.id = 1, .destination = 2};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 8});
	adapt(&bench);
	turns(&bench, 4000);
	assert_int_equal(bench.sw->signal.plain_vcs, VCS);
	congestion_control_on_arn(bench.sw->congestion, 2, &arn, bench.now, bench.now);
	turns(&bench, 4000);
	assert_int_equal(bench.sw->signal.plain_vcs, 0);
	assert_true(bench.ps->port[0].arns_out > 0);
	let_pass(&bench, PS_PER_S);
	turns(&bench, 4000);
	assert_int_equal(bench.sw->signal.plain_vcs, VCS);
	bench.sending = false;
	turns(&bench, 2000);
	check_end(&bench);
	stop(&bench);
}

/* Cuts both ends of the cable, like an order to both their processes. */
static void cut(struct bench *bench, unsigned at, bool cut)
{
	port_cut(&bench->port[at], cut);
	port_cut(&bench->host[at].port, cut);
}

/* Runs until the link of port 'at' is up, or down. */
static unsigned turns_until(struct bench *bench, unsigned at, bool up)
{
	unsigned count = 0;

	for (; ((bench->sw->linked >> at & 1) != 0) != up; count++) {
		assert_true(count < 5000);
		turn(bench);
	}
	return count;
}

UNIT_TEST(a_cut_cable_is_down_after_three_missed_hellos)
{
	static struct bench bench;
	unsigned count;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	bench.lossy = true;
	turns(&bench, 2000);
	cut(&bench, 3, true);
	count = turns_until(&bench, 3, false);
	assert_in_range(count * STEP_PS, 3 * PS_PER_MS - 100 * PS_PER_US, 3 * PS_PER_MS + STEP_PS);
	turns(&bench, 100); /* the other end heard something a little later */
	assert_int_equal(bench.host[3].link.state, LINK_DOWN);
	assert_int_equal(bench.sw->linked, 7);
	send_data(&bench, 0, 3);
	turns(&bench, 10);
	assert_int_equal(sum_count(&bench, SWITCH_DISCARD_LINK_DOWN), 1);
	turns(&bench, 5000); /* does not come back by itself */
	assert_int_equal(bench.sw->linked, 7);
	stop(&bench);
}

/* More data from host 0 than is read in an iteration, then credits and hellos of all hosts for
 * longer than three hellos, during which the switch does not run. */
UNIT_TEST(a_switch_that_was_not_run_finds_its_neighbours_alive)
{
	static struct bench bench;
	unsigned data = 3 * PORT_BURST;

	start(&bench, &(struct bench_config){.voq = true, .slots = 512});
	bench.sending = false;
	bench.lossy = true; /* the hosts, who do run, may well take the switch for dead */
	turns(&bench, 2000);
	for (unsigned i = 0; i < data; i++)
		send_data(&bench, 0, 2);
	for (unsigned i = 0; i < 10 * PS_PER_MS / STEP_PS; i++) {
		bench.now += STEP_PS;
		for (unsigned at = 0; at < PORTS; at++)
			host_turn(&bench, &bench.host[at]);
	}
	for (unsigned i = 0; i < 1000; i++) {
		turn(&bench);
		assert_int_equal(bench.sw->linked, 15);
	}
	assert_int_equal(bench.host[2].data_seen, data);
	stop(&bench);
}

/* While the cable is cut, its neighbour continues to send as long as it has credits. */
UNIT_TEST(a_cable_that_is_joined_again_has_all_its_credits)
{
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 8});
	bench.lossy = true;
	turns(&bench, 2000);
	for (unsigned round = 0; round < 4; round++) {
		uint64_t seen;

		cut(&bench, round, true);
		turns_until(&bench, round, false);
		turns(&bench, 500);
		cut(&bench, round, false);
		assert_true(turns_until(&bench, round, true) <= 1000);
		seen = bench.host[round].data_seen;
		turns(&bench, 1000);
		assert_true(bench.host[round].data_seen > seen + 10);
	}
	bench.sending = false;
	turns(&bench, 3000);
	for (unsigned i = 0; i < PORTS; i++)
		for (unsigned vc = 0; vc < VCS; vc++) {
			assert_int_equal(credit_available(&bench.host[i].link.tx[vc]), VC_BLOCKS);
			assert_int_equal(
				credit_available(&bench.sw->port[i].link.tx[vc]), VC_BLOCKS);
		}
	stop(&bench);
}

/* A quiet switch whose links are up. */
static void start_quiet(struct bench *bench)
{
	start(bench, &(struct bench_config){.voq = true, .slots = 64});
	bench->sending = false;
	turns(bench, 2000);
}

UNIT_TEST(an_output_is_blocked_while_its_data_has_no_credits)
{
	static struct bench bench;
	struct credit_tx *credits;
	weft_time blocked;

	start_quiet(&bench);
	assert_int_equal(bench.ps->port[2].blocked_ps, 0);
	bench.host[2].silent = true;
	credits = &bench.sw->port[2].link.tx[0];
	credits->limit = credits->sent;
	turns(&bench, 10);
	assert_int_equal(bench.ps->port[2].blocked_ps, 0); /* nothing waits */
	send_data(&bench, 0, 2);
	turns(&bench, 5);
	blocked = bench.ps->port[2].blocked_ps;
	turns(&bench, 10);
	assert_int_equal(bench.ps->port[2].blocked_ps, blocked + 10 * STEP_PS);
	bench.host[2].silent = false;
	turns(&bench, 1000);
	assert_int_equal(bench.host[2].data_seen, 1);
	blocked = bench.ps->port[2].blocked_ps;
	turns(&bench, 10);
	assert_int_equal(bench.ps->port[2].blocked_ps, blocked);
	assert_int_equal(bench.ps->port[0].blocked_ps, 0);
	stop(&bench);
}

/* A loop that returns after a pause cannot tell how long data has been waiting. */
UNIT_TEST(an_output_was_not_blocked_before_its_data_was_seen)
{
	static struct bench bench;
	struct credit_tx *credits;

	start_quiet(&bench);
	bench.host[2].silent = true;
	credits = &bench.sw->port[2].link.tx[0];
	credits->limit = credits->sent;
	send_data(&bench, 0, 2);
	bench.now += 1000 * STEP_PS;
	turns(&bench, 2);
	assert_true(bench.ps->port[2].blocked_ps <= 2 * STEP_PS);
	stop(&bench);
}

/* A frame of host 'from' with these fields. */
static void send_fields(struct bench *bench, unsigned from, const struct frame_fields *fields)
{
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);

	if (fields->kind == FRAME_DATA)
		credit_take(&bench->host[from].link.tx[0], 1);
	send_frame(bench, &bench->host[from], mbuf, fields);
}

UNIT_TEST(data_of_another_source_ends_at_the_port_of_its_host)
{
	const struct frame_fields spoofed = {.kind = FRAME_DATA, .source = 1, .destination = 2};
	static struct bench bench;

	start_quiet(&bench);
	poll_switch_set_host(bench.ps, 0, 0, false);
	for (unsigned i = 0; i < 500; i++) { /* more than there are credits */
		send_fields(&bench, 0, &spoofed);
		turns(&bench, 1);
	}
	turns(&bench, 1000);
	assert_int_equal(bench.ps->port[0].source.spoofed, 500);
	assert_int_equal(bench.host[2].data_seen, 0);
	assert_int_equal(credit_available(&bench.host[0].link.tx[0]), VC_BLOCKS);
	assert_int_equal(bench.sw->port[0].link.blocks_healed, 0);
	send_data(&bench, 0, 2);
	send_data(&bench, 1, 2);
	turns(&bench, 100);
	assert_int_equal(bench.host[2].data_seen, 2);
	stop(&bench);
}

UNIT_TEST(an_acknowledgement_of_another_source_ends_there_too)
{
	struct frame_fields ack = {.kind = FRAME_ACK, .source = 1, .destination = 2};
	static struct bench bench;

	start_quiet(&bench);
	poll_switch_set_host(bench.ps, 0, 0, false);
	send_fields(&bench, 0, &ack);
	turns(&bench, 100);
	assert_int_equal(bench.ps->port[0].source.control_spoofed, 1);
	assert_int_equal(bench.host[2].control_seen, 0);
	ack.source = 0;
	send_fields(&bench, 0, &ack);
	turns(&bench, 100);
	assert_int_equal(bench.host[2].control_seen, 1);
	stop(&bench);
}

/* Data of host 1 that host 0 re-injects. After the mark, its cursor is 1. */
static void send_in_transit(struct bench *bench, uint8_t first)
{
	const uint8_t route[] = {first, ROUTE_PORT_BIT | 2, ROUTE_TYPE_HOST};
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 1,
		.destination = 2,
		.route = route,
		.route_length = sizeof(route)};
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);
	unsigned bytes = frame_build(frame, &fields);

	frame_update_mutable(frame, frame_mutable_word(0, 0, 1, 0));
	rte_pktmbuf_data_len(mbuf) = (uint16_t)bytes;
	rte_pktmbuf_pkt_len(mbuf) = bytes;
	mbuf_packet(mbuf)->arrived_ps = bench->now;
	credit_take(&bench->host[0].link.tx[0], frame_blocks(bytes));
	tx_queue_send(&bench->host[0].tx, &mbuf, 1, bench->now);
	turns(bench, 100);
}

/* Allowed where the fabric has in-transit buffers, but only for frames after a mark. */
UNIT_TEST(a_host_may_pass_frames_on_where_hosts_do)
{
	static struct bench bench;

	start_quiet(&bench);
	poll_switch_set_host(bench.ps, 0, 0, false);
	send_in_transit(&bench, ROUTE_TYPE_ITB);
	assert_int_equal(bench.ps->port[0].source.spoofed, 1);
	poll_switch_set_host(bench.ps, 0, 0, true);
	send_in_transit(&bench, ROUTE_PORT_BIT | 2);
	assert_int_equal(bench.ps->port[0].source.spoofed, 2);
	assert_int_equal(bench.sw->port[2].count[SWITCH_DATA_OUT], 0);
	bench.host[2].silent = true; /* it expects shorter routes */
	send_in_transit(&bench, ROUTE_TYPE_ITB);
	assert_int_equal(bench.ps->port[0].source.spoofed, 2);
	assert_int_equal(bench.sw->port[2].count[SWITCH_DATA_OUT], 1);
	stop(&bench);
}

UNIT_TEST(the_host_of_a_port_is_learned_from_its_hello)
{
	const struct frame_fields spoofed = {.kind = FRAME_DATA, .source = 1, .destination = 2};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	poll_switch_learn_hosts(bench.ps, false);
	bench.host[0].link.config.device = FRAME_HOST_DEVICE;
	turns(&bench, 2000);
	assert_true(bench.ps->port[0].source.known);
	assert_int_equal(bench.ps->port[0].source.host, 0);
	assert_false(bench.ps->port[1].source.known); /* its identity is not a host's */
	send_fields(&bench, 0, &spoofed);
	turns(&bench, 100);
	assert_int_equal(bench.ps->port[0].source.spoofed, 1);
	stop(&bench);
}

UNIT_TEST(a_port_takes_nothing_of_another_fabric_and_remembers_its_number)
{
	struct frame_fields fields = {
		.kind = FRAME_DATA, .fabric = 0x1234, .source = 0, .destination = 2};
	const struct control_hello hello = {.device = 9, .session = 9, .kind = 1};
	static struct bench bench;
	struct rte_mbuf *mbuf;
	uint8_t *frame;

	start_quiet(&bench);
	send_fields(&bench, 0, &fields);
	turns(&bench, 100);
	assert_int_equal(bench.ps->port[0].faults[FRAME_FAULT_FABRIC], 1);
	assert_int_equal(bench.ps->port[0].guard.foreign_fabric, 0);
	assert_int_equal(bench.host[2].data_seen, 0);
	fields.kind = FRAME_HELLO;
	mbuf = make_frame(&frame);
	fields.payload_bytes = (uint16_t)control_hello_encode(&hello, frame + FRAME_HEADER_BYTES);
	send_frame(&bench, &bench.host[0], mbuf, &fields);
	poll_switch_run(bench.ps, bench.now);
	assert_int_equal(bench.ps->port[0].faults[FRAME_FAULT_FABRIC], 2);
	assert_int_equal(bench.ps->port[0].guard.foreign_fabric, PORT_AUTH_FOREIGN | 0x1234);
	assert_int_equal(bench.sw->port[0].link.peer_session, bench.host[0].link.config.session);
	turns(&bench, 2000); /* hellos of its own fabric */
	assert_int_equal(bench.ps->port[0].guard.foreign_fabric, 0);
	stop(&bench);
}

UNIT_TEST(a_port_with_a_key_does_not_link_to_a_neighbour_without)
{
	static const struct link_key key = {{1}};
	static struct bench bench;

	start(&bench, &(struct bench_config){.voq = true, .slots = 64});
	bench.sending = false;
	poll_switch_guard(bench.ps, 0, FRAME_FABRIC_NONE, &key);
	turns(&bench, 2000);
	assert_int_equal(bench.sw->linked & BIT64(0), 0);
	assert_true(bench.ps->port[0].guard.seal.count.bad_tag > 0);
	assert_int_equal(bench.sw->linked & BIT64(1), BIT64(1));
	stop(&bench);
}

UNIT_TEST(an_acknowledgement_before_the_neighbour_is_proven_is_refused)
{
	static const struct link_key key = {{1}};
	const struct frame_fields ack = {.kind = FRAME_ACK, .source = 0, .destination = 2};
	struct link_seal *seal;
	static struct bench bench;
	struct rte_mbuf *mbuf;
	uint8_t *frame;

	start_quiet(&bench);
	seal = &bench.ps->port[0].guard.seal;
	poll_switch_guard(bench.ps, 0, FRAME_FABRIC_NONE, &key);
	bench.sw->port[0].link.peer_session = 0;
	mbuf = make_frame(&frame);
	rte_pktmbuf_data_len(mbuf) = (uint16_t)frame_build(frame, &ack);
	rte_pktmbuf_pkt_len(mbuf) = rte_pktmbuf_data_len(mbuf);
	mbuf_packet(mbuf)->arrived_ps = bench.now;
	tx_queue_send(&bench.host[0].tx, &mbuf, 1, bench.now);
	poll_switch_run(bench.ps, bench.now);
	assert_int_equal(seal->count.unproven, 1);
	assert_int_equal(bench.host[2].control_seen, 0);
	stop(&bench);
}

int main(void)
{
	char name[] = "poll-switch-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
