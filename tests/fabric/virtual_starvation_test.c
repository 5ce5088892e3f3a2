/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Drawn runs. A result must report a deadlock exactly if there is one, and name the starved hosts
 * and queues (deadlock.h, starvation.h). */

#include <unistd.h>

#include "base/rng.h"
#include "draws.h"
#include "virtual/virtual_partitions.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

/* --- good runs --- */

static bool may_deadlock(const struct drawn *drawn)
{
	for (unsigned i = 0; i < drawn->sets; i++)
		if (strcmp(drawn->set[i], "routing.algorithm=minhop") == 0)
			return true;
	return false;
}

/* An incast of all hosts, small pools, and credits for each small frame really starve hosts and
 * long frames. These runs use a share of the hot spot that a few turns serve, and the defaults. */
static void soften(struct drawn *drawn)
{
	drawn->set[drawn->sets++] = "measure.duration=200us";
	drawn->set[drawn->sets++] = "switch.credits=coalesced";
	for (unsigned i = 0; i < drawn->sets; i++)
		if (strncmp(drawn->set[i], "nic.itb.pool=", 13) == 0)
			drawn->set[i] = "nic.itb.pool=512KiB";
		else if (strcmp(drawn->set[i], "traffic[1].load=40%") == 0)
			drawn->set[i] = "traffic[1].load=3%";
		else if (strcmp(drawn->set[i], "topology=rlft:ports=6,stages=3") == 0)
			drawn->set[i] = "topology=rlft:ports=4,stages=3"; /* half of the time */
}

UNIT_TEST(of_good_runs_none_is_called_deadlocked_or_starved)
{
	unsigned cases = unit_draws(200), good = 0, known = 0;

	for (unsigned seed = 1; good < cases; seed++) {
		struct error error = {""};
		struct drawn drawn;
		json_t *result;
		char *text;

		drawn_draw(seed, &drawn);
		if (may_deadlock(&drawn))
			continue;
		soften(&drawn);
		text = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
		if (text == NULL)
			continue;
		good++;
		result = json_loads(text, 0, NULL);
		if (json_is_true(json_object_get(json_object_get(result, "checks"), "deadlock")) ||
			json_array_size(json_object_get(result, "starved")) > 0)
			fail_msg("seed %u: %s", seed, strstr(text, "\"checks\""));
		known += json_is_array(json_object_get(result, "starved"));
		json_decref(result);
		free(text);
	}
	assert_true(known > cases / 2);
}

/* --- rings and tori --- */

static const char ring[] = "weft: run/1\n"
			   "topology: \"ring:switches=6,hosts=2\"\n"
			   "clock: virtual\n"
			   "watchdog: off\n"
			   "link: {rate: 10Gbps}\n"
			   "switch: {buffer: 8KiB, mtu: 1KiB}\n"
			   "nic: {mtu: 1KiB}\n"
			   "routing: {algorithm: minhop, mode: table, may-deadlock: true}\n"
			   "measure: {duration: 2ms, sample: 200us}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, load: 100%, message: 1KiB, stop: 200us}\n";

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Returns true if the result of a drawn ring or torus reports a deadlock. In half of the cases, a
 * flow runs for 5 ms. 'stuck': frames are still in the network at the end. */
static bool is_called_deadlocked(unsigned seed, const char *duration, bool *stuck)
{
	OWNED(virtual_lab) lab;
	struct rng rng;
	char topology[64], from[32], to[32];
	unsigned switches, hosts, first;
	bool beside, called;

	rng_init(&rng, seed, 0, 0);
	switches = 3 + (unsigned)rng_below(&rng, 8);
	hosts = 1 + (unsigned)rng_below(&rng, 3);
	if (rng_below(&rng, 3) > 0) {
		snprintf(topology, sizeof(topology), "topology=ring:switches=%u,hosts=%u", switches,
			hosts);
	} else {
		snprintf(topology, sizeof(topology), "topology=torus:dims=4x%u,hosts=%u",
			switches / 2 + 2, hosts);
		switches = 4 * (switches / 2 + 2);
	}
	first = (unsigned)rng_below(&rng, switches);
	snprintf(from, sizeof(from), "traffic[1].from=[h%u]", first * hosts);
	snprintf(to, sizeof(to), "traffic[1].to=[h%u]", (first + 1) % switches * hosts);
	beside = rng_below(&rng, 2) > 0;
	virtual_lab_open(&lab, ring,
		VIRTUAL_LAB_SET(topology, duration, "measure.sample=1ms", "traffic[1].message=1KiB",
			"traffic[1].pattern=hotspot", from, to, "traffic[1].stop=5ms",
			beside ? "traffic[1].load=50%" : "traffic[1].start=4999us",
			PICK(&rng, "switch.buffer=4KiB", "switch.buffer=8KiB",
				"switch.buffer=32KiB"),
			PICK(&rng, "switch.credits=coalesced", "switch.credits=each"),
			PICK(&rng, "switch.voq=true", "switch.voq=false"),
			PICK(&rng, "switch.switching=cut-through",
				"switch.switching=store-and-forward"),
			PICK(&rng, "routing.mode=table", "routing.mode=source"),
			PICK(&rng, "watchdog=off", "watchdog=2s"),
			PICK(&rng, "traffic[0].load=30%", "traffic[0].load=60%",
				"traffic[0].load=100%"),
			PICK(&rng, "traffic[0].message=1KiB", "traffic[0].message=300B",
				"traffic[0].message=2500B")));
	virtual_lab_run(&lab);
	*stuck = virtual_packets_out(lab.fabric) > 0;
	called = lab.result.deadlock;
	assert_int_equal(lab.result.cycles > 0, called);
	return called;
}

/* After 2 ms, the messages of the first 200 us have arrived, except those that never will. */
UNIT_TEST(rings_and_tori_are_called_deadlocked_if_and_only_if_they_are)
{
	unsigned cases = unit_draws(200), deadlocked = 0;

	for (unsigned seed = 1; seed <= cases; seed++) {
		bool is, moving;
		bool late = is_called_deadlocked(seed, "measure.duration=1s", &is);
		bool early = is_called_deadlocked(seed, "measure.duration=2ms", &moving);

		if (is != late || is != early)
			fail_msg("seed %u: deadlocked %d, called so %d after 2 ms, %d after 1 s",
				seed, is, early, late);
		deadlocked += is;
	}
	assert_in_range(deadlocked, cases / 8, cases * 7 / 8);
}

/* --- credits that a switch withholds --- */

/* Messages of one or several frames, short and long, all arrive if buffers hold a few frames and
 * routes are free of deadlock. */
static uint64_t deliver_mixed(unsigned seed, const char *credits)
{
	OWNED(virtual_lab) lab;
	struct rng rng;
	uint64_t delivered;

	rng_init(&rng, seed, 1, 0);
	virtual_lab_open(&lab, ring,
		VIRTUAL_LAB_SET("routing.algorithm=ud", "measure.duration=1s", "measure.sample=1s",
			"traffic[1].pattern=uniform", "traffic[1].stop=200us", credits,
			PICK(&rng, "topology=ring:switches=5,hosts=2",
				"topology=torus:dims=3x3,hosts=1",
				"topology=irregular:switches=8,degree=3,hosts=2,seed=3"),
			PICK(&rng, "switch.buffer=1216B", "switch.buffer=1472B",
				"switch.buffer=2KiB", "switch.buffer=3KiB", "switch.buffer=12KiB"),
			PICK(&rng, "switch.voq=true", "switch.voq=false"),
			PICK(&rng, "switch.switching=cut-through",
				"switch.switching=store-and-forward"),
			PICK(&rng, "traffic[0].load=10%", "traffic[0].load=60%"),
			PICK(&rng, "traffic[1].load=1%", "traffic[1].load=30%"),
			PICK(&rng, "traffic[1].message=64B", "traffic[1].message=300B",
				"traffic[1].message=2500B")));
	virtual_lab_run(&lab);
	assert_false(lab.result.deadlock);
	delivered = lab.result.messages.delivered;
	if (virtual_packets_out(lab.fabric) > 0 || delivered != lab.result.messages.generated)
		fail_msg("seed %u, %s: %llu of %llu messages arrived", seed, credits,
			(unsigned long long)delivered,
			(unsigned long long)lab.result.messages.generated);
	return delivered;
}

UNIT_TEST(withheld_credits_keep_nothing_for_ever)
{
	for (unsigned seed = unit_draws(100); seed > 0; seed--)
		assert_int_equal(deliver_mixed(seed, "switch.credits=coalesced"),
			deliver_mixed(seed, "switch.credits=each"));
}

static bool is_starved(const struct run_result *result, const char *host)
{
	for (unsigned i = 0; i < result->starved_count; i++)
		if (strcmp(result->starved[i].host, host) == 0)
			return true;
	return false;
}

/* All first hosts send three switches clockwise and are blocked. The second host of switch 0 sends
 * in the other direction. */
static void half_a_ring(unsigned switches, const char *watchdog)
{
	char topology[64], text[4096] = "", name[16];
	OWNED(run_result) result;
	size_t used;

	snprintf(topology, sizeof(topology), "topology=ring:switches=%u,hosts=2", switches);
	used = (size_t)snprintf(
		text, sizeof(text), "%.*s", (int)(strstr(ring, "  - ") - ring), ring);
	for (unsigned i = 0; i < switches; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"  - {pattern: hotspot, from: [h%u], to: [h%u], load: 100%%, message: 1KiB}\n",
			2 * i, (2 * i + 6) % (2 * switches));
	snprintf(text + used, sizeof(text) - used,
		"  - {pattern: hotspot, from: [h1], to: [h%u], load: 50%%, message: 1KiB}\n",
		2 * switches - 1);
	result = virtual_lab_result(text, VIRTUAL_LAB_SET(topology, watchdog));
	assert_true(result.deadlock);
	assert_int_equal(result.cycles, switches);
	assert_int_equal(result.to_ns, 2000000); /* it was not ended */
	assert_true(result.entry[switches].delivered > 1000);
	assert_true(result.starvation_known);
	for (unsigned i = 0; i < 2 * switches; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(is_starved(&result, name), i % 2 == 0);
	}
	assert_true(result.starved[0].stuck);
}

UNIT_TEST(a_circle_beside_a_flow_that_runs_on_is_named_with_its_hosts)
{
	for (unsigned switches = 7; switches <= 12; switches++) {
		half_a_ring(switches, "watchdog=off");
		half_a_ring(switches, "watchdog=50ms");
	}
}

/* A deadlock is reported even if a watchdog breaks the cycle. */
UNIT_TEST(a_circle_that_was_freed_again_is_named)
{
	OWNED(run_result) result =
		virtual_lab_result(ring, VIRTUAL_LAB_SET("watchdog=100us", "traffic[0].stop=1ms"));

	assert_true(result.deadlock);
	assert_int_equal(result.cycles, 6);
}

/* --- starvation without a deadlock --- */

static const char row[] = "weft: run/1\n"
			  "topology: \"mesh:dims=12,hosts=3\"\n"
			  "clock: virtual\n"
			  "link: {rate: 10Gbps}\n"
			  "switch: {buffer: 8KiB, mtu: 1KiB}\n"
			  "nic: {mtu: 1KiB}\n"
			  "routing: {algorithm: dor, mode: table}\n"
			  "measure: {duration: 2ms, sample: 200us}\n"
			  "traffic:\n"
			  "  - {pattern: hotspot, to: [h35], load: 10%, message: 1KiB}\n";

/* Each switch of the row leaves a quarter of its share to traffic from behind. */
UNIT_TEST(the_far_end_of_a_parking_lot_starves)
{
	OWNED(run_result) result = virtual_lab_result(row, NULL, 0);

	assert_false(result.deadlock);
	assert_true(result.starvation_known);
	assert_true(is_starved(&result, "h0"));
	assert_false(is_starved(&result, "h34"));
	assert_false(is_starved(&result, "h24"));
	assert_false(result.starved[0].stuck);
	assert_true(result.starved[0].waited_ns >= 1000000);
}

/* 200 us are less than four turns of 36 hosts at 10 Gbps. */
UNIT_TEST(a_run_that_is_too_short_cannot_tell)
{
	OWNED(run_result) result =
		virtual_lab_result(row, VIRTUAL_LAB_SET("measure.duration=200us"));
	json_t *document = run_result_json(&result, NULL);

	assert_false(result.starvation_known);
	assert_true(json_is_null(json_object_get(document, "starved")));
	json_decref(document);
}

/* Each host of a Dragonfly sends to the next group. Re-injected frames are last in a row of 18
 * channels around all groups, each of which carries frames of its own hosts half of the time. */
UNIT_TEST(hosts_whose_in_transit_buffers_fill_are_named)
{
	char path[] = "/tmp/weft-starvation-XXXXXX", file[64];
	static const char text[] =
		"weft: run/1\n"
		"topology: \"dragonfly:a=4,p=2,h=2\"\n"
		"clock: virtual\n"
		"link: {rate: 100Gbps, delay: 30ns}\n"
		"routing: {algorithm: bmin-itb, mode: source}\n"
		"traffic: [{pattern: permutation, load: 30%, message: 4KiB, arrivals: poisson}]\n"
		"measure: {warmup: 100us, duration: 600us, sample: 50us}\n";
	FILE *out = fdopen(mkstemp(path), "w");
	struct run_result result;

	for (unsigned i = 0; i < 72; i++)
		fprintf(out, "h%u h%u\n", i, (i + 8) % 72);
	fclose(out);
	snprintf(file, sizeof(file), "traffic[0].file=%s", path);
	result = virtual_lab_result(text, VIRTUAL_LAB_SET(file));
	assert_false(result.deadlock);
	assert_true(result.pools > 0);
	assert_true(result.pool[0].came > 10 * result.pool[0].left);
	assert_true(result.starved_count > 10);
	run_result_free(&result);
	result = virtual_lab_result(text, VIRTUAL_LAB_SET(file, "traffic[0].load=20%"));
	assert_int_equal(result.pools, 0);
	assert_int_equal(result.starved_count, 0);
	run_result_free(&result);
	unlink(path);
}

/* --- what counts --- */

UNIT_TEST(waits_of_the_warm_up_do_not_count)
{
	struct deadlock_head head[] = {
		{.buffer = 1, .waited_ps = 900}, {.buffer = 2, .waited_ps = 900, .dead = true}};
	const struct deadlock_heads seen = {.head = head, .count = 2};
	struct deadlock_heads kept = {0};

	assert_int_equal(starvation_keep(&kept, &seen, 100, 500), 0);
	assert_int_equal(kept.count, 1);
	assert_int_equal(starvation_keep(&kept, &seen, 600, 500), 0);
	assert_int_equal(kept.count, 2);
	assert_int_equal(kept.head[0].waited_ps, 600);
	assert_int_equal(kept.head[1].waited_ps, 900);
	starvation_begin(&kept);
	assert_int_equal(kept.count, 1);
	assert_true(kept.head[0].dead);
	deadlock_heads_free(&kept);
}

UNIT_TEST(a_long_circle_has_its_number_of_channels)
{
	OWNED(topology) *topology = topology_generate("ring:switches=100", NULL);
	struct deadlock_circle circle = {.channels = 100};
	OWNED(run_result) result = {0};

	for (uint32_t i = 0; i < DEADLOCK_CIRCLE_MAX; i++)
		circle.port[i] = (struct topology_port){DEVICE_SWITCH, i, 0};
	assert_int_equal(deadlock_result(&circle, topology, &result), 0);
	assert_int_equal(result.cycles, DEADLOCK_CIRCLE_MAX);
	assert_int_equal(result.channels, 100);
}

UNIT_TEST(without_a_middle_nothing_fills)
{
	struct starvation_transit middle = {0}, end = {1000, 100, true};
	OWNED(run_result) result = {0};

	assert_int_equal(starvation_judge_transit("h1", &middle, &end, &result), 0);
	assert_int_equal(result.pools, 0);
	middle.taken = true;
	assert_int_equal(starvation_judge_transit("h1", &middle, &end, &result), 0);
	assert_int_equal(result.pools, 1);
}
