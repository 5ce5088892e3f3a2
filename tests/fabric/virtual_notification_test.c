/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Figures 1 and 4 of the ARN+AFI paper in a whole fabric: where flows meet, how far notifications
 * travel, which devices act, in which channel the packets continue, and that everything ends when
 * the cause is gone. */

#include "setup/congestion_setup.h"
#include "switch/switch_congestion.h"
#include "virtual/virtual_private.h"
#include "virtual/virtual_trace.h"
#include "virtual_lab.h"

/* 16 hosts, two at each leaf and four in each of the trees below the top. Two of them send at full
 * rate to h0 until 'stop', and then a little. The switches follow the literal text of the paper. */
static const char tree[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=4,stages=3\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 30ns}\n"
	"switch: {buffer: 64KiB, mtu: 1KiB, credits: each}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: dmodk, adaptive: arn, afi: true}\n"
	"detector: {crt: 50us, arn-ttl: 100us, arn-refresh: 10us, variants: {down-roots: stage}}\n"
	"measure: {warmup: 0ms, duration: 1200us, sample: 100us}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [h4, h8], to: [h0], load: 100%, message: 1KiB, stop: 250us}\n"
	"  - {pattern: hotspot, from: [h4, h8], to: [h0], load: 10%, message: 1KiB, start: 900us}\n";

#define AGAIN  (900 * PS_PER_US)
#define CRT    (50 * PS_PER_US)
#define AFC    1
#define HOSTS  0 /* as a stage */
#define STAGES 4
#define NOBODY 99

/* Observed events, in order of time. */
struct story {
	struct virtual_lab lab;
	weft_time first_arn;
	unsigned roots_then;       /* at the first notification */
	unsigned root_stage;       /* stage of the switch that then has one */
	unsigned first_told;       /* stage of the receiver */
	unsigned arns[STAGES];     /* received by stage, until a device acted */
	unsigned actor;            /* stage of the first device that sends an adapted packet */
	weft_time acted, last_act; /* adapted packets that an actor sends */
	uint64_t astray;           /* adapted packets in other VCs, or others in the AFC */
	uint64_t at_h0[2];         /* arrivals, by VC */
};

static unsigned stage_of(const struct story *story, struct topology_port at)
{
	return at.kind == DEVICE_HOST ? HOSTS : story->lab.topology->switch_at[at.device].stage;
}

static void see_arn(struct story *story, const struct virtual_trace_record *record)
{
	const struct virtual_fabric *fabric = story->lab.fabric;

	if (record->out)
		return;
	if (story->first_arn == 0) {
		story->first_arn = record->now;
		story->first_told = stage_of(story, record->at);
		for (uint32_t at = 0; at < fabric->switches; at++)
			if (fabric->sw[at]->congestion->detector->roots > 0) {
				story->roots_then++;
				story->root_stage = fabric->topology->switch_at[at].stage;
			}
	}
	if (story->actor == NOBODY)
		story->arns[stage_of(story, record->at)]++;
}

static void see_packet(struct story *story, const struct virtual_trace_record *record)
{
	const struct weft_packet *packet = record->packet;
	bool adapted = (packet->flags & FRAME_F_ADAPTED) != 0;

	story->astray += adapted != (packet->header_vc == AFC);
	if (!record->out) {
		if (record->at.kind == DEVICE_HOST && record->at.device == 0)
			story->at_h0[packet->header_vc]++;
		return;
	}
	if (!adapted || (record->at.kind == DEVICE_SWITCH && packet->vc == AFC))
		return;
	if (story->actor == NOBODY) {
		story->actor = stage_of(story, record->at);
		story->acted = record->now;
	}
	story->last_act = record->now;
}

static void see(void *ctx, const struct virtual_trace_record *record)
{
	if (record->arn != NULL)
		see_arn(ctx, record);
	if (record->packet != NULL)
		see_packet(ctx, record);
}

static void tell(struct story *story, const char *const *set, unsigned sets)
{
	*story = (struct story){.actor = NOBODY, .first_told = NOBODY};
	virtual_lab_open(&story->lab, tree, set, sets);
	virtual_fabric_trace(story->lab.fabric, see, story);
	virtual_lab_run(&story->lab);
	assert_int_equal(story->astray, 0);
	assert_int_equal(story->lab.result.lost, 0);
	assert_int_equal(story->lab.result.packets.dropped, 0);
}

#define TELL(story, ...) tell(story, VIRTUAL_LAB_SET(__VA_ARGS__))

/* No notification is sent before the detector's time has passed. Both channels lead to h0. When the
 * cause is gone, all switches forget the root. */
static void assert_it_begins_and_ends(const struct story *story)
{
	assert_int_equal(story->roots_then, 1);
	assert_true(story->first_arn > CRT);
	assert_true(story->acted >= story->first_arn);
	assert_true(story->at_h0[0] > 0);
	assert_true(story->at_h0[AFC] > 0);
	assert_true(story->last_act < AGAIN);
	assert_true(result_counter(&story->lab.result, "arn_entries_expired") > 0);
}

/* Flow A, with the events of figure 4: the flows meet at the top, and the switch below it on the
 * way up sends packets around it. */
UNIT_TEST(between_stages_3_and_2_a_switch_of_stage_2_acts)
{
	struct story story;

	TELL(&story, "seed=1");
	assert_it_begins_and_ends(&story);
	assert_int_equal(story.root_stage, 3);
	assert_int_equal(story.first_told, 2);
	assert_int_equal(story.actor, 2);
	assert_int_equal(story.arns[1], 0);
	assert_int_equal(story.arns[HOSTS], 0);
	assert_true(result_counter(&story.lab.result, "arn_packets_adapted") > 0);
	virtual_lab_close(&story.lab);
}

/* Flow B: one flow comes from the next leaf and one from far away. They meet in stage 2. */
UNIT_TEST(between_stages_2_and_1_a_leaf_acts)
{
	struct story story;

	TELL(&story, "traffic[0].from=[h2, h4]", "traffic[1].from=[h2, h4]");
	assert_it_begins_and_ends(&story);
	assert_int_equal(story.root_stage, 2);
	assert_int_equal(story.actor, 1);
	assert_int_equal(story.arns[HOSTS], 0);
	virtual_lab_close(&story.lab);
}

/* Flow C: the flows meet at the destination's leaf. No switch can avoid it, so the hosts act. */
UNIT_TEST(at_the_last_switch_the_hosts_act)
{
	struct story story;

	TELL(&story, "traffic[0].from=[h1, h4]", "traffic[1].from=[h1, h4]");
	assert_it_begins_and_ends(&story);
	assert_int_equal(story.root_stage, 1);
	assert_int_equal(story.actor, HOSTS);
	assert_true(story.arns[HOSTS] > 0);
	assert_int_equal(result_counter(&story.lab.result, "arn_packets_adapted"), 0);
	assert_true(result_counter(&story.lab.result, "host_messages_diverted") > 0);
	virtual_lab_close(&story.lab);
}

/* The interpretation in which hosts act on all roots on the way down. */
UNIT_TEST(by_the_default_reading_the_hosts_act_on_all_of_them)
{
	struct story story;

	TELL(&story, "detector.variants.down-roots=hosts");
	assert_it_begins_and_ends(&story);
	assert_int_equal(story.root_stage, 3);
	assert_int_equal(story.actor, HOSTS);
	assert_true(story.arns[2] > 0 && story.arns[1] > 0 && story.arns[HOSTS] > 0);
	virtual_lab_close(&story.lab);
}

/* Two hosts of a leaf meet at its output on the way up, which the leaf avoids by itself. */
UNIT_TEST(on_the_way_up_the_switch_itself_acts)
{
	struct story story;

	TELL(&story, "traffic[0].from=[h4, h5]", "traffic[1].from=[h4, h5]");
	assert_int_equal(story.actor, 1);
	assert_int_equal(story.arns[1] + story.arns[2] + story.arns[HOSTS], 0);
	assert_true(story.last_act < AGAIN);
	virtual_lab_close(&story.lab);
}

UNIT_TEST(hosts_that_do_not_act_are_told_in_vain)
{
	struct story story;

	TELL(&story, "traffic[0].from=[h1, h4]", "traffic[1].from=[h1, h4]",
		"detector.variants.hosts-act=false");
	assert_int_equal(story.actor, NOBODY);
	assert_true(story.arns[HOSTS] > 0);
	virtual_lab_close(&story.lab);
}

/* The top forwards to an empty switch as long as its output is suspected. */
UNIT_TEST(withheld_credits_do_not_put_off_a_root)
{
	for (unsigned i = 0; i < 8; i++) {
		struct story each, coalesced;
		char crt[64];

		/* The remaining credits at the end of CRT differ, so each case is one packet
		 * later. */
		snprintf(crt, sizeof(crt), "detector.crt=%uns", 50000 + 90 * i);
		TELL(&each, crt, "switch.credits=each");
		TELL(&coalesced, crt, "switch.credits=coalesced");
		assert_true(coalesced.first_arn < each.first_arn + CRT / 10);
		assert_true(each.first_arn < coalesced.first_arn + CRT / 10);
		assert_int_equal(coalesced.root_stage, each.root_stage);
		assert_int_equal(coalesced.actor, each.actor);
		virtual_lab_close(&each.lab);
		virtual_lab_close(&coalesced.lab);
	}
}

static weft_time mark_of(const char *set)
{
	const char *const sets[] = {set};
	OWNED(virtual_lab) lab;
	weft_time mark;

	virtual_lab_open(&lab, tree, sets, 1);
	mark = congestion_setup_mark_ps(lab.config);
	return mark;
}

UNIT_TEST(the_mark_of_a_host_lives_as_long_as_an_entry)
{
	assert_int_equal(mark_of("detector.arn-ttl=300us"), 300 * PS_PER_US);
	assert_int_equal(mark_of("routing.afi=false"), 0);
	assert_int_equal(mark_of("routing.adaptive=adaptive-th"), 0);
	assert_int_equal(mark_of("detector.variants.hosts-act=false"), 0);
}
