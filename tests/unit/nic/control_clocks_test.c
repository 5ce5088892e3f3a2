/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Both clocks make the same decisions. The interface with real frames (nic.h) and the interface of
 * the virtual clock (datagram.h) send the same messages at the same times, and receive the same
 * notifications. They must choose the same path for each message, pause for the same time, and
 * count the same. */

#include "base/rng.h"
#include "control_pair.h"
#include "nic/datagram/datagram_control.h"
#include "route/route_set.h"

#define MESSAGES 2000
#define BYTE_FS  800000000 /* a link of 10 Mbps makes pauses long */

struct bed {
	struct end ends[2];
	struct route_set *routes;
	struct datagram nic;
	struct rng rng;
};

static struct route_set *copy_routes(const struct nic_routes *from)
{
	struct route_set *set = route_set_create(PAIR_HOSTS);

	assert_non_null(set);
	for (unsigned path = 0; path < PATHS; path++) {
		uint8_t length;
		const uint8_t *route = nic_routes_get(from, 1, path, &length);

		assert_int_equal(route_set_add(set, 0, 1, route, length), 0);
	}
	return set;
}

static void open_bed(struct bed *bed, enum source_control_kind kind, uint64_t seed)
{
	const struct source_control_config control = control_config(kind, 0);
	struct datagram_config config = {.hosts = PAIR_HOSTS,
		.mtu_bytes = PAIR_MTU,
		.vcs = 1,
		.queue = 4,
		.control = &control};
	const struct link_end_config link = {
		.vcs = 1, .vc_blocks = 1024, .open = true, .session = 1};

	start_pair(bed->ends, kind);
	bed->ends[0].nic->choice.byte_fs = BYTE_FS;
	bed->routes = copy_routes(bed->ends[0].routes);
	config.routes = bed->routes;
	config.selection = route_choice_options_default();
	config.choice = &route_choice_first;
	assert_int_equal(datagram_init(&bed->nic, &config, &link), 0);
	bed->nic.choice.byte_fs = BYTE_FS;
	rng_init(&bed->rng, seed, 0, 0);
}

static void close_bed(struct bed *bed)
{
	datagram_fini(&bed->nic);
	route_set_destroy(bed->routes);
	stop_pair(bed->ends);
}

/* Treats a frame like the network: calm and crowded periods of 100 messages, with path 0 as the
 * worst. */
static void meet(struct bed *bed, unsigned message, struct box *box)
{
	bool crowded = message / 100 % 2 != 0;
	unsigned longest = crowded ? 20000 / box->packet.route_length : 200;
	uint8_t flags = crowded && rng_below(&bed->rng, 2) != 0 ? FRAME_F_FECN : 0;

	if (box->packet.flags & FRAME_F_LATENCY) {
		struct cn_flow flow[2] = {{2, 3}, {3, (uint16_t)(1 + message / 400)}};

		latency_add(extension_of(box), (uint32_t)rng_below(&bed->rng, longest));
		if (crowded)
			latency_record(extension_of(box), flow, 2);
		latency_seal(extension_of(box));
	}
	carry(box, flags);
}

/* Both send a message to host 1. '*path' is the path on the virtual clock. Returns false if both
 * pause. */
static bool send_both(struct bed *bed, struct box *box, unsigned *path)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	bool real, simulated;

	link_end_renew_open(&bed->nic.link);
	real = end_take(&bed->ends[0], box);
	simulated = datagram_inject(&bed->nic, bed->ends[0].now, &packet, &origin);
	assert_int_equal(real, simulated);
	if (real) {
		assert_int_equal(packet.bytes, box->packet.bytes);
		*path = origin.path;
	}
	return real;
}

/* Frames of host 1 reach host 0. Its notifications also reach the virtual clock's host. */
static void hear_both(struct bed *bed)
{
	struct end *ends = bed->ends;
	struct box box;

	while (end_take(&ends[1], &box)) {
		struct cn cn;
		bool is_cn = box.packet.kind == FRAME_CN;

		carry(&box, 0);
		if (is_cn)
			cn = box_cn(&box);
		assert_true(end_give(&ends[0], &box));
		if (!is_cn)
			continue;
		if (cn.path == CN_PATH_UNKNOWN)
			cn.path = bed->nic.fifo[0].chosen.which;
		datagram_on_cn(&bed->nic, 1, &cn, ends[0].now);
	}
}

static void compare_counters(const struct bed *bed, enum source_control_kind kind)
{
	uint64_t real[SOURCE_CONTROL_COUNTER_COUNT], simulated[SOURCE_CONTROL_COUNTER_COUNT];

	nic_control_counters(bed->ends[0].nic, real);
	source_control_counters(bed->nic.control->source, simulated);
	for (unsigned i = SOURCE_CONTROL_CN_RECEIVED; i < SOURCE_CONTROL_COUNTER_COUNT; i++)
		assert_int_equal(real[i], simulated[i]);
	assert_true(real[SOURCE_CONTROL_CN_RECEIVED] > 100);
	if (source_control_spreads(kind))
		assert_true(real[SOURCE_CONTROL_PATHS_OPENED] > 5 &&
			    real[SOURCE_CONTROL_PATHS_CLOSED] > 5);
	if (kind == SOURCE_CONTROL_IBA_CC)
		assert_true(real[SOURCE_CONTROL_THROTTLED_NS] > 0);
	if (kind == SOURCE_CONTROL_PR_DRB)
		assert_true(real[SOURCE_CONTROL_SOLUTIONS_APPLIED] > 0);
}

static void send_one(struct bed *bed, unsigned message)
{
	const struct datagram_message same = {.destination = 1, .bytes = 16};
	struct box box;
	unsigned path;

	assert_int_equal(end_send(&bed->ends[0], 1, 0, 16), 0);
	datagram_send(&bed->nic, &same);
	while (!send_both(bed, &box, &path))
		end_wait(&bed->ends[0], PS_PER_US);
	assert_int_equal(path, box.packet.route_length - 3);
	meet(bed, message, &box);
	assert_true(end_give(&bed->ends[1], &box));
	hear_both(bed);
	end_wait(&bed->ends[0], (1 + rng_below(&bed->rng, 20)) * PS_PER_US);
	bed->ends[1].now = bed->ends[0].now;
}

static void both_decide_alike(enum source_control_kind kind)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct bed bed;

		open_bed(&bed, kind, seed);
		for (unsigned i = 0; i < MESSAGES; i++)
			send_one(&bed, i);
		assert_int_equal(bed.ends[1].delivered, MESSAGES);
		compare_counters(&bed, kind);
		close_bed(&bed);
	}
}

UNIT_TEST(iba_cc_pauses_alike_at_both_clocks)
{
	both_decide_alike(SOURCE_CONTROL_IBA_CC);
}

UNIT_TEST(drb_cn_chooses_alike_at_both_clocks)
{
	both_decide_alike(SOURCE_CONTROL_DRB_CN);
}

UNIT_TEST(drb_chooses_alike_at_both_clocks)
{
	both_decide_alike(SOURCE_CONTROL_DRB);
}

UNIT_TEST(pr_drb_chooses_alike_at_both_clocks)
{
	both_decide_alike(SOURCE_CONTROL_PR_DRB);
}

UNIT_TEST(drb_cc_chooses_alike_at_both_clocks)
{
	both_decide_alike(SOURCE_CONTROL_DRB_CC);
}
