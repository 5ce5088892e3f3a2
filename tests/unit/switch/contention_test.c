/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/contention.h"

#include "switch/switch_congestion.h"
#include "switch_bench.h"

#define PORTS     4
#define VCS       2
#define OUT       3 /* the contended output */
#define THRESHOLD (10 * PS_PER_US)

struct bed {
	struct bench *bench;
	struct contention contention;
	struct latency_extension extension[BENCH_PACKETS]; /* by sequence number */
};

static struct latency_extension *extension_of(void *ctx, const struct weft_packet *packet)
{
	return &((struct bed *)ctx)->extension[packet->sequence];
}

/* No packet leaves before bench_grant(). */
static struct bed *open_bed_of(bool voq)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	struct switch_config config = bench_config(PORTS, VCS);

	assert_non_null(bed);
	config.voq = voq;
	bed->bench = bench_create(&config);
	bed->contention.config = (struct contention_config){.threshold_ps = THRESHOLD,
		.flows = CN_FLOWS_MAX,
		.scope = CONTENTION_OUTPUT,
		.extension = extension_of,
		.ctx = bed};
	switch_set_contention(bed->bench->sw, &bed->contention);
	return bed;
}

static struct bed *open_bed(void)
{
	return open_bed_of(true);
}

static void close_bed(struct bed *bed)
{
	bench_destroy(bed->bench);
	free(bed);
}

OWNED_POINTER_BY(bed, close_bed)

/* A packet from source to destination arrives for 'output'. */
static unsigned arrive(
	struct bed *bed, unsigned input, uint8_t vc, struct cn_flow flow, unsigned output)
{
	const struct bench_packet what = {
		.destination = flow.destination, .vc = vc, .sl = vc, .flags = FRAME_F_LATENCY};
	struct weft_packet *packet = bench_make(bed->bench, &what);

	bed->bench->table[flow.destination] = (uint8_t)output;
	packet->source = flow.source;
	latency_begin(&bed->extension[packet->sequence], 1);
	bench_receive(bed->bench, input, packet);
	return packet->sequence;
}

/* The head of (input, vc) leaves through OUT after this time. */
static void leave_after(struct bed *bed, weft_time time_ps)
{
	bed->bench->now += time_ps;
	bench_grant(bed->bench, OUT, 0, 1);
	assert_true(bench_leave(bed->bench, OUT) >= 0);
}

static uint32_t waited(const struct bed *bed, unsigned number)
{
	return bed->bench->packet[number].latency_ns;
}

static void expect_flows(
	const struct bed *bed, unsigned number, const struct cn_flow *flow, unsigned flows)
{
	struct cn cn = {0};

	assert_true(latency_decode(&cn, &bed->extension[number]));
	assert_true(cn.flags & CN_F_PREDICTIVE);
	assert_int_equal(cn.flows, flows);
	for (unsigned i = 0; i < flows; i++) {
		assert_int_equal(cn.flow[i].source, flow[i].source);
		assert_int_equal(cn.flow[i].destination, flow[i].destination);
	}
}

UNIT_TEST(waiting_time_is_departure_minus_admission)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->bench->packet[number].latency_ns = 100;
	leave_after(bed, 7 * PS_PER_US);
	assert_int_equal(waited(bed, number), 100 + 7000);
	assert_int_equal(bed->contention.waited_ps, 7 * PS_PER_US);
}

UNIT_TEST(waiting_time_saturates)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->bench->packet[number].latency_ns = UINT32_MAX - 6999;
	leave_after(bed, 7 * PS_PER_US);
	assert_int_equal(waited(bed, number), UINT32_MAX);
}

UNIT_TEST(packet_without_the_flag_is_left_alone)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = bench_send(bed->bench, 0, 0, OUT);

	leave_after(bed, 2 * THRESHOLD);
	assert_int_equal(waited(bed, number), 0);
	assert_int_equal(bed->contention.recorded, 0);
	assert_int_equal(bed->contention.waited_ps, 2 * THRESHOLD);
}

UNIT_TEST(wait_up_to_the_threshold_records_nothing)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	arrive(bed, 1, 0, (struct cn_flow){2, 6}, OUT);
	leave_after(bed, THRESHOLD);
	assert_false(latency_is_predictive(&bed->extension[number]));
	assert_int_equal(bed->contention.recorded, 0);
}

UNIT_TEST(longer_wait_records_who_waits_for_the_output)
{
	static const struct cn_flow found[] = {{3, 5}, {2, 6}, {4, 7}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	arrive(bed, 0, 1, found[0], OUT); /* another VC of its input */
	arrive(bed, 1, 0, found[1], OUT);
	arrive(bed, 1, 0, (struct cn_flow){8, 8}, 2); /* another output */
	arrive(bed, 2, 1, found[2], OUT);
	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, found, 3);
	assert_int_equal(bed->contention.recorded, 1);
}

UNIT_TEST(buffer_means_the_same_vc_of_the_same_input)
{
	static const struct cn_flow found[] = {{8, 8}, {3, 5}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->contention.config.scope = CONTENTION_BUFFER;
	arrive(bed, 0, 0, found[0], 2);
	arrive(bed, 0, 0, found[1], OUT);
	arrive(bed, 0, 1, (struct cn_flow){9, 9}, OUT);
	arrive(bed, 1, 0, (struct cn_flow){2, 6}, OUT);
	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, found, 2);
}

UNIT_TEST(each_flow_is_recorded_once_and_never_its_own)
{
	static const struct cn_flow own = {1, 5}, other = {2, 5}, back = {5, 1};
	static const struct cn_flow found[] = {{2, 5}, {5, 1}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, own, OUT);

	arrive(bed, 0, 0, own, OUT);
	arrive(bed, 0, 0, other, OUT);
	arrive(bed, 0, 0, other, OUT);
	arrive(bed, 1, 0, own, OUT);
	arrive(bed, 1, 0, other, OUT);
	arrive(bed, 1, 1, back, OUT);
	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, found, 2);
}

UNIT_TEST(no_more_flows_than_configured_are_recorded)
{
	for (uint8_t max = 0; max <= CN_FLOWS_MAX; max++) {
		struct cn_flow found[CN_FLOWS_MAX + 2];
		OWNED(bed) *bed = open_bed();
		unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

		bed->contention.config.flows = max;
		for (uint16_t i = 0; i < CN_FLOWS_MAX + 2; i++) {
			found[i] = (struct cn_flow){(uint16_t)(10 + i), 6};
			arrive(bed, 1 + i % 2, 0, found[i], OUT);
		}
		/* Input 1 has the even ones. */
		for (unsigned i = 0; i < CN_FLOWS_MAX; i++)
			found[i].source = (uint16_t)(i < 5 ? 10 + 2 * i : 11 + 2 * (i - 5));
		leave_after(bed, THRESHOLD + 1);
		expect_flows(bed, number, found, max);
	}
}

UNIT_TEST(flows_are_those_at_the_time_of_departure)
{
	static const struct cn_flow late[] = {{3, 7}};
	OWNED(bed) *bed = open_bed();
	unsigned number;

	arrive(bed, 0, 0, (struct cn_flow){2, 6}, OUT);
	number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);
	leave_after(bed, PS_PER_US);
	bed->bench->now += THRESHOLD;
	arrive(bed, 1, 1, late[0], OUT);
	leave_after(bed, 1);
	expect_flows(bed, number, late, 1);
}

UNIT_TEST(packet_alone_becomes_predictive_without_flows)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, NULL, 0);
	assert_int_equal(bed->contention.recorded, 1);
}

UNIT_TEST(later_switch_adds_time_but_records_no_flows)
{
	static const struct cn_flow first[] = {{20, 21}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	latency_record(&bed->extension[number], first, 1);
	arrive(bed, 1, 0, (struct cn_flow){2, 6}, OUT);
	leave_after(bed, THRESHOLD + PS_PER_US);
	expect_flows(bed, number, first, 1);
	assert_int_equal(bed->contention.recorded, 0);
	assert_int_equal(waited(bed, number), 11000);
}

UNIT_TEST(later_switch_records_its_flows_instead_if_the_last_ones_are_wanted)
{
	static const struct cn_flow first[] = {{20, 21}, {22, 23}}, found[] = {{2, 6}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->contention.config.last = true;
	latency_record(&bed->extension[number], first, 2);
	arrive(bed, 1, 0, found[0], OUT);
	leave_after(bed, THRESHOLD + PS_PER_US);
	expect_flows(bed, number, found, 1);
	assert_int_equal(bed->contention.recorded, 1);
}

UNIT_TEST(without_a_threshold_only_time_is_recorded)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->contention.config.threshold_ps = WEFT_TIME_NEVER;
	leave_after(bed, 100 * THRESHOLD);
	assert_false(latency_is_predictive(&bed->extension[number]));
	assert_int_equal(waited(bed, number), 1000000);
}

UNIT_TEST(extension_in_the_frame_is_kept_right)
{
	static const struct cn_flow found[] = {{2, 6}};
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->contention.config.in_frame = true;
	arrive(bed, 1, 0, found[0], OUT);
	leave_after(bed, THRESHOLD + PS_PER_US);
	assert_true(latency_check_ok(&bed->extension[number]));
	assert_int_equal(latency_waiting_ns(&bed->extension[number]), 11000);
	assert_int_equal(waited(bed, number), 0);
	expect_flows(bed, number, found, 1);
}

UNIT_TEST(damaged_extension_in_a_frame_is_left_and_counted)
{
	OWNED(bed) *bed = open_bed();
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);
	struct latency_extension before;

	bed->contention.config.in_frame = true;
	bed->extension[number].flags ^= 0x20;
	before = bed->extension[number];
	leave_after(bed, 2 * THRESHOLD);
	assert_memory_equal(&before, &bed->extension[number], sizeof(before));
	assert_int_equal(bed->contention.bad, 1);
	assert_int_equal(bed->contention.recorded, 0);
}

UNIT_TEST(without_voqs_only_packets_for_the_output_count)
{
	static const struct cn_flow found[] = {{2, 6}, {4, 9}};
	OWNED(bed) *bed = open_bed_of(false);
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	arrive(bed, 0, 0, (struct cn_flow){7, 7}, 2);
	arrive(bed, 0, 0, found[0], OUT);
	arrive(bed, 1, 1, found[1], OUT);
	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, found, 2);
}

UNIT_TEST(without_voqs_the_buffer_is_one_queue)
{
	static const struct cn_flow found[] = {{7, 7}, {2, 6}};
	OWNED(bed) *bed = open_bed_of(false);
	unsigned number = arrive(bed, 0, 0, (struct cn_flow){1, 5}, OUT);

	bed->contention.config.scope = CONTENTION_BUFFER;
	arrive(bed, 0, 0, found[0], 2);
	arrive(bed, 0, 0, found[1], OUT);
	arrive(bed, 1, 0, (struct cn_flow){4, 9}, OUT);
	leave_after(bed, THRESHOLD + 1);
	expect_flows(bed, number, found, 2);
}

UNIT_TEST(switch_without_it_decides_nothing_for_plain_packets)
{
	OWNED(bed) *bed = open_bed();
	struct weft_switch *sw = bed->bench->sw;

	assert_int_equal(sw->signal.plain_vcs, 0);
	assert_int_equal(sw->signal.departures, CONGESTION_TIMED);
	switch_set_contention(sw, NULL);
	assert_int_equal(sw->signal.plain_vcs, VCS);
	assert_int_equal(sw->signal.departures, 0);
}

UNIT_TEST(default_threshold_is_twice_a_full_frame)
{
	/* 1,000 bytes and the 24 around them at 1 Gbps. */
	assert_int_equal(contention_threshold(1000, 1000000000), 2 * 8192 * PS_PER_NS);
	assert_int_equal(contention_threshold(9118, 1000000), 2 * 9142 * 8 * PS_PER_US);
}
