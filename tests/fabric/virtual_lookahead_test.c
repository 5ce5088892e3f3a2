/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The length of rounds in a fabric on several threads, and that nothing arrives too late in a
 * round. */

#include <unistd.h>

#include "virtual/virtual_control.h"
#include "virtual/virtual_partitions.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

#define NS    PS_PER_NS
#define CASES 20
/* Time of 1,000 bytes at 100 Gbps. */
#define FRAME ((1000 + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD) * (weft_time)80)

/* For two workers. */
static struct virtual_lookahead lookahead_with(const char *const *sets, unsigned count)
{
	struct virtual_lookahead lookahead;
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain, sets, count);
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
	lookahead = lab.fabric->partitions->lookahead;
	return lookahead;
}

#define LOOKAHEAD(...) lookahead_with(VIRTUAL_LAB_SET(__VA_ARGS__))

UNIT_TEST(a_packet_is_elsewhere_after_the_delays_of_link_and_routing)
{
	struct virtual_lookahead lookahead = LOOKAHEAD("switch.routing-delay=100ns");

	assert_int_equal(lookahead.min_ps, 30 * NS);
	assert_int_equal(lookahead.packet_ps, 130 * NS);
	assert_int_equal(lookahead.frame_ps, FRAME);
}

UNIT_TEST(a_switch_that_stores_waits_for_the_tail_of_a_packet)
{
	struct virtual_lookahead lookahead =
		LOOKAHEAD("switch.routing-delay=100ns", "switch.switching=store-and-forward");

	assert_int_equal(lookahead.packet_ps, 130 * NS + FRAME);
	lookahead = LOOKAHEAD("switch.routing-delay=0ns", "switch.switching=store-and-forward");
	assert_int_equal(lookahead.packet_ps, 30 * NS + FRAME);
}

/* Not only credit frames cross there, or switches send these at other times. */
UNIT_TEST(what_crosses_sooner_than_packets_shortens_rounds)
{
	const struct virtual_lookahead lookahead[] = {
		LOOKAHEAD("switch.routing-delay=100ns", "routing.adaptive=arn", "switch.voq=true"),
		LOOKAHEAD("switch.routing-delay=100ns", "nic.control=iba-cc", "switch.fecn=8"),
		LOOKAHEAD("switch.routing-delay=100ns", "topology=torus:dims=4x4,hosts=2",
			"routing.mode=source", "routing.algorithm=ud-itb"),
	};

	for (unsigned i = 0; i < sizeof(lookahead) / sizeof(lookahead[0]); i++)
		assert_int_equal(lookahead[i].packet_ps, lookahead[i].min_ps);
}

/* Such routes may end at a switch, which discards a packet as soon as it arrives. */
UNIT_TEST(routes_of_a_file_shorten_rounds)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain, VIRTUAL_LAB_SET("switch.routing-delay=100ns"));
	lab.config->routing.file = strdup("routes");
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
	assert_int_equal(lab.fabric->partitions->lookahead.packet_ps, 30 * NS);
}

UNIT_TEST(a_round_ends_before_a_credit_frame_of_it_can_be_elsewhere)
{
	const struct virtual_lookahead lookahead = {
		.min_ps = 30, .packet_ps = 180, .frame_ps = 100};

	/* The transmissions of the round end after 100, and their credit frames arrive after
	 * 130. */
	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, WEFT_TIME_NEVER), 1130);
	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, 1040), 1070);
	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, 1000), 1030);
}

/* In a full list. */
UNIT_TEST(a_round_is_no_shorter_than_the_least_delay)
{
	const struct virtual_lookahead lookahead = {
		.min_ps = 30, .packet_ps = 180, .frame_ps = 100};

	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, 500), 1030);
}

UNIT_TEST(a_round_ends_before_a_packet_of_it_can_be_elsewhere)
{
	const struct virtual_lookahead lookahead = {.min_ps = 30, .packet_ps = 60, .frame_ps = 100};

	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, WEFT_TIME_NEVER), 1060);
	assert_int_equal(virtual_lookahead_end(&lookahead, 1000, 1040), 1060);
}

UNIT_TEST(ends_that_are_over_leave_the_list)
{
	struct virtual_ends ends = {.count = 0};

	assert_int_equal(virtual_ends_next(&ends, 0), WEFT_TIME_NEVER);
	virtual_ends_list(&ends, 30);
	virtual_ends_list(&ends, 10);
	virtual_ends_list(&ends, 20);
	assert_int_equal(virtual_ends_next(&ends, 10), 10);
	assert_int_equal(virtual_ends_next(&ends, 11), 20);
	assert_int_equal(ends.count, 2);
	assert_int_equal(virtual_ends_next(&ends, 31), WEFT_TIME_NEVER);
}

UNIT_TEST(an_end_that_found_no_room_may_be_any_until_the_last_such_is_over)
{
	struct virtual_ends ends = {.count = 0};

	for (unsigned i = 0; i < VIRTUAL_ENDS_MAX; i++)
		virtual_ends_list(&ends, 1000);
	virtual_ends_list(&ends, 500);
	virtual_ends_list(&ends, 400);
	assert_int_equal(virtual_ends_next(&ends, 100), 100);
	assert_int_equal(virtual_ends_next(&ends, 500), 500);
	assert_int_equal(virtual_ends_next(&ends, 501), 1000);
}

/* Rounds of worker 0. */
static uint64_t count_rounds(const char *routing_delay)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;
	uint64_t rounds;

	virtual_lab_open(&lab, drawn_plain, VIRTUAL_LAB_SET(routing_delay, "switch.buffer=1MiB"));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
	virtual_lab_run(&lab);
	rounds = lab.fabric->partitions->worker[0].use.rounds;
	return rounds;
}

/* 120 ns instead of 30, except for an occasional credit frame. */
UNIT_TEST(a_routing_delay_makes_rounds_fewer)
{
	assert_in_range(count_rounds("switch.routing-delay=90ns"), 1,
		count_rounds("switch.routing-delay=0ns") / 3);
}

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Credit frames determine the length of rounds: small buffers, frames of all lengths. */
static void draw(unsigned seed, struct drawn *drawn)
{
	struct rng generator, *rng = &generator;
	unsigned sets = 0;

	rng_init(rng, seed, 1, 0);
	*drawn = (struct drawn){.workers = 2 + (unsigned)rng_below(rng, 4)};
	drawn->set[sets++] = PICK(rng, "switch.routing-delay=20ns", "switch.routing-delay=150ns",
		"switch.routing-delay=2us");
	drawn->set[sets++] = PICK(rng, "link.delay=1ns", "link.delay=30ns", "link.delay=400ns");
	drawn->set[sets++] =
		PICK(rng, "switch.buffer=16KiB", "switch.buffer=40KiB", "switch.buffer=128KiB");
	drawn->set[sets++] = PICK(rng, "switch.credits=coalesced", "switch.credits=each");
	drawn->set[sets++] =
		PICK(rng, "switch.switching=cut-through", "switch.switching=store-and-forward");
	drawn->set[sets++] = PICK(rng, "switch.voq=true", "switch.voq=false");
	drawn->set[sets++] = PICK(rng, "switch.vcs=1", "switch.vcs=3");
	drawn->set[sets++] = PICK(rng, "watchdog=off", "watchdog=3us");
	drawn->set[sets++] =
		PICK(rng, "traffic[0].load=20%", "traffic[0].load=70%", "traffic[0].load=100%");
	drawn->set[sets++] = PICK(rng, "traffic[0].message=64B", "traffic[0].message=2KiB",
		"traffic[0].message=5000B");
	drawn->set[sets++] = PICK(rng, "routing.mode=table", "routing.mode=source");
	drawn->sets = sets;
}

UNIT_TEST(no_credit_frame_comes_too_late)
{
	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct drawn drawn;

		draw(seed, &drawn);
		drawn_expect_workers(&drawn, seed, NULL, (const unsigned[]){drawn.workers, 0});
	}
}

/* Partitions learn of the end after a round, and continue for up to the longest delay. */
UNIT_TEST(a_schedule_shortens_rounds)
{
	char path[] = "/tmp/weft-lookahead-XXXXXX", file[64];
	struct virtual_lookahead lookahead;

	close(mkstemp(path));
	snprintf(file, sizeof(file), "traffic[0].file=%s", path);
	drawn_schedule(path, "alltoall");
	lookahead = lookahead_with(
		VIRTUAL_LAB_SET("traffic=[{pattern: goal}]", file, "switch.routing-delay=100ns"));
	assert_int_equal(lookahead.packet_ps, 30 * NS);
	unlink(path);
}

/* A credit frame for each packet, and slow links that carry many packets. */
static const char *const many_ends[] = {"topology=rlft:ports=12,stages=3", "link.rate=1Gbps",
	"switch.credits=each", "switch.routing-delay=100ns", "traffic[0].load=100%",
	"measure={warmup: 0us, duration: 60us, sample: 20us}"};

#define MANY_ENDS (sizeof(many_ends) / sizeof(many_ends[0]))

/* With two workers. */
static void run_many_ends(struct virtual_lab *lab)
{
	struct error error = {""};

	virtual_lab_open(lab, drawn_plain, many_ends, MANY_ENDS);
	assert_int_equal(virtual_fabric_set_ranks(lab->fabric, NULL, 2, &error), 0);
	virtual_lab_run(lab);
}

UNIT_TEST(more_ends_than_the_list_holds_change_no_byte)
{
	struct drawn drawn = {.sets = MANY_ENDS};
	OWNED(virtual_lab) lab;

	memcpy(drawn.set, many_ends, sizeof(many_ends));
	drawn_expect_workers(&drawn, 0, NULL, (const unsigned[]){2, 0});
	run_many_ends(&lab);
	assert_int_not_equal(lab.fabric->ends.unlisted_before, 0);
	assert_in_range(lab.fabric->partitions->worker[0].use.rounds, 1, 60 * 1000 / 30);
}

UNIT_TEST(a_credit_frame_that_comes_too_late_ends_the_run)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain, VIRTUAL_LAB_SET("switch.routing-delay=100ns"));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
	/* Nothing is listed. */
	for (unsigned i = 0; i < 2; i++)
		virtual_partition_at(lab.fabric, i)->ends.wanted = false;
	lab.fabric->partitions->lookahead.frame_ps = PS_PER_US;
	assert_int_equal(virtual_fabric_run(lab.fabric, NULL, NULL, NULL, &error), -EINVAL);
	assert_string_equal(error.text,
		"--workers 2: this is a bug in Weft, please report it: an event arrived too late for another worker; use one worker");
}
