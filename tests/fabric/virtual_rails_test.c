/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts with several ports on the virtual clock: which ports messages use, and that none is
 * lost. */

#include <unistd.h>

#include "base/rng.h"
#include "frames_once.h"
#include "topo/topology_file.h"
#include "topo/topology_hosts.h"
#include "virtual_lab.h"

#define HEAD "weft: run/1\nclock: virtual\nrouting: {algorithm: ud, mode: table}\n"

/* Traffic ends before the run does. */
#define ENDS "measure: {duration: 3ms, sample: 1ms}\n"

static const char planes[] = HEAD "topology: \"rail:rails=2,ports=4,stages=2\"\n" ENDS
				  "traffic: [{pattern: uniform, load: 40%, stop: 1ms}]\n";

/* Two hosts with two ports each and one host with one port, all at one switch. */
static const char joined[] =
	HEAD ENDS "topology:\n  switches: [{name: s, ports: 8}]\n"
		  "  hosts: [{name: x, ports: 2}, {name: y, ports: 2}, {name: z}]\n  links:\n"
		  "    - {a: x:0, b: s:0}\n    - {a: x:1, b: s:1}\n    - {a: y:0, b: s:2}\n"
		  "    - {a: y:1, b: s:3}\n    - {a: z, b: s:4}\n"
		  "traffic: [{pattern: uniform, load: 30%, stop: 1ms}]\n";

/* Frames from one port to another. */
static uint32_t sent(const struct virtual_lab *lab, const char *from, const char *to)
{
	int32_t a = topology_find_host(lab->topology, from);
	int32_t b = topology_find_host(lab->topology, to);

	assert_true(a >= 0 && b >= 0);
	return pair_numbers_get(&lab->fabric->host[a].nic.sent, (uint32_t)b);
}

static void run_to_the_end(
	struct virtual_lab *lab, const char *text, const char *const *set, unsigned sets)
{
	virtual_lab_open(lab, text, set, sets);
	virtual_lab_run(lab);
	expect_each_frame_once(lab->fabric);
	assert_true(lab->result.packets.injected > 0);
	assert_int_equal(lab->result.packets.delivered, lab->result.packets.injected);
	assert_int_equal(lab->result.packets.pending, 0);
}

#define RUN(lab, text, ...) run_to_the_end(lab, text, VIRTUAL_LAB_SET(__VA_ARGS__))

UNIT_TEST(two_rails_carry_twice_as_much_as_one)
{
	static const char full[] = HEAD "topology: \"rlft:ports=8,stages=2\"\n"
					"measure: {warmup: 200us, duration: 1200us}\n"
					"traffic: [{pattern: uniform, load: 100%}]\n";
	OWNED(run_result) one = virtual_lab_result(full, VIRTUAL_LAB_SET("seed=1"));
	OWNED(run_result) two =
		virtual_lab_result(full, VIRTUAL_LAB_SET("topology=rail:rails=2,ports=8,stages=2"));
	double ratio = (double)two.packets.delivered / (double)one.packets.delivered;

	if (ratio < 1.97 || ratio > 2.03)
		fail_msg("%.3f times as many frames", ratio);
}

UNIT_TEST(same_rail_stays_on_the_number_of_the_port)
{
	OWNED(virtual_lab) lab;

	RUN(&lab, joined, "seed=1");
	assert_true(sent(&lab, "x:0", "y:0") > 0 && sent(&lab, "x:1", "y:1") > 0);
	assert_int_equal(sent(&lab, "x:0", "y:1") + sent(&lab, "x:1", "y:0"), 0);
	assert_true(sent(&lab, "x:1", "z") > 0 && sent(&lab, "z", "y:0") > 0);
	assert_int_equal(sent(&lab, "z", "y:1"), 0);
	assert_int_equal(sent(&lab, "x:0", "x:1"), 0);
}

UNIT_TEST(spread_takes_all_ports)
{
	OWNED(virtual_lab) lab;

	RUN(&lab, joined, "traffic[0].rail=spread");
	assert_true(sent(&lab, "x:0", "y:0") > 0 && sent(&lab, "x:1", "y:1") > 0);
	assert_true(sent(&lab, "x:0", "y:1") > 0 && sent(&lab, "x:1", "y:0") > 0);
	assert_true(sent(&lab, "z", "y:0") > 0 && sent(&lab, "z", "y:1") > 0);
	assert_int_equal(sent(&lab, "x:0", "x:1"), 0);
}

UNIT_TEST(the_plane_of_the_destination_is_the_only_one_there)
{
	OWNED(virtual_lab) lab;

	RUN(&lab, joined, "traffic[0].rail=plane-of-destination");
	/* x is host 0, y host 1. */
	assert_true(sent(&lab, "y:0", "x:0") > 0 && sent(&lab, "z", "x:0") > 0);
	assert_true(sent(&lab, "x:1", "y:1") > 0 && sent(&lab, "z", "y:1") > 0);
	assert_int_equal(sent(&lab, "x:0", "y:0") + sent(&lab, "y:1", "x:1"), 0);
}

UNIT_TEST(a_sender_may_be_one_port)
{
	OWNED(virtual_lab) lab;

	RUN(&lab, joined, "traffic[0].from=[x:1]", "traffic[0].to=[y]");
	assert_true(sent(&lab, "x:1", "y:1") > 0);
	assert_int_equal(sent(&lab, "x:0", "y:0") + sent(&lab, "y:1", "x:1"), 0);
}

UNIT_TEST(a_host_that_sends_through_two_ports_is_one_sender)
{
	OWNED(run_result)
	result = virtual_lab_result(
		planes, VIRTUAL_LAB_SET("traffic=[{pattern: uniform, from: [h0, h1:1], load: 40%, "
					"stop: 100us}]"));

	assert_int_equal(result.entry[0].senders, 2);
}

UNIT_TEST(an_entry_that_omits_ports_is_printed)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	OWNED(virtual_lab) lab;

	assert_non_null(out);
	virtual_lab_open(&lab, joined,
		VIRTUAL_LAB_SET("traffic=[{pattern: uniform, load: 30%, from: [x:0, y:0, z]}]",
			"measure.duration=1ms"));
	virtual_lab_run(&lab);
	run_result_print(&lab.result, lab.config, out);
	fclose(out);
	assert_non_null(strstr(text, " offered by 3 hosts"));
	free(text);
}

UNIT_TEST(a_leaf_that_dies_takes_its_rail_and_no_other)
{
	OWNED(virtual_lab) whole, cut;

	virtual_lab_open(&whole, planes, NULL, 0);
	virtual_lab_run(&whole);
	virtual_lab_open(&cut, planes,
		VIRTUAL_LAB_SET("events=[{at: 500us, switch: r1-s0, down: forever}]"));
	virtual_lab_run(&cut);
	for (uint32_t i = 0; i < whole.topology->hosts; i++)
		for (uint32_t k = 0; k < whole.topology->hosts; k++) {
			const struct topology_device *host = whole.topology->host_at;

			if (host[i].rail == 0 && host[k].rail == 0)
				assert_int_equal(sent(&whole, host[i].name, host[k].name),
					sent(&cut, host[i].name, host[k].name));
		}
	/* No more frames of the leaf's hosts arrive there. Other pairs of the rail continue. */
	assert_true(cut.result.packets.delivered < whole.result.packets.delivered);
	assert_true(
		datagram_expected(&cut.fabric->host[topology_find_host(cut.topology, "h7:1")].nic,
			(uint16_t)topology_find_host(cut.topology, "h0:1")) <
		sent(&whole, "h0:1", "h7:1"));
	assert_int_equal(
		datagram_expected(&cut.fabric->host[topology_find_host(cut.topology, "h7:1")].nic,
			(uint16_t)topology_find_host(cut.topology, "h4:1")),
		sent(&whole, "h4:1", "h7:1"));
}

/* Creates a file in the test's folder. The caller removes it. */
static void write_file(char path[64], const char *text)
{
	FILE *file;

	snprintf(path, 64, "rails-%d.txt", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

UNIT_TEST(flows_of_a_list_take_the_ports_in_turn)
{
	char path[64], set[96];
	OWNED(virtual_lab) lab;

	write_file(path, "h0 h1 0 64KiB\nh0 h1 0 64KiB\nh0 h1 0 64KiB\nh2:1 h3 0 64KiB\n"
			 "h3 h0 1us 4KiB 3\n");
	snprintf(set, sizeof(set), "traffic=[{pattern: flows, file: %s/%s}]",
		getcwd((char[512]){0}, 512), path);
	virtual_lab_open(&lab, planes, (const char *const[]){set}, 1);
	virtual_lab_run(&lab);
	unlink(path);
	assert_int_equal(sent(&lab, "h0:0", "h1:0"), 2 * sent(&lab, "h0:1", "h1:1"));
	assert_true(sent(&lab, "h2:1", "h3:1") > 0);
	/* The host where the flow that it waits for ends. */
	assert_true(sent(&lab, "h3:1", "h0:1") > 0);
	assert_int_equal(sent(&lab, "h3:0", "h0:0"), 0);
}

UNIT_TEST(ranks_take_the_ports_of_their_host)
{
	static const char goal[] = "num_ranks 4\nrank 0 {\nl1: send 4096b to 2 tag 0\n}\n"
				   "rank 1 {\nl1: send 4096b to 3 tag 0\n}\n"
				   "rank 2 {\nl1: recv 4096b from 0 tag 0\n}\n"
				   "rank 3 {\nl1: recv 4096b from 1 tag 0\n}\n";
	char path[64], set[160];
	struct virtual_lab lab;

	write_file(path, goal);
	snprintf(set, sizeof(set), "traffic=[{pattern: goal, ranks-per-host: 2, file: %s/%s}]",
		getcwd((char[512]){0}, 512), path);
	virtual_lab_open(&lab, planes, (const char *const[]){set}, 1);
	virtual_lab_run(&lab);
	assert_true(sent(&lab, "h0:0", "h1:0") > 0 && sent(&lab, "h0:1", "h1:1") > 0);
	virtual_lab_close(&lab);
	snprintf(set, sizeof(set), "traffic=[{pattern: goal, ranks-per-host: 3, file: %s/%s}]",
		getcwd((char[512]){0}, 512), path);
	virtual_lab_assert_refused(planes, (const char *const[]){set}, 1,
		"rank 1 at h0:1 sends to rank 3 at h1:0, but no cables lead there; use a rank "
		"file with ports in one plane");
	unlink(path);
}

/* Hosts with 1 to 8 ports at the switches of two rings. The first port is in the first ring. */
static char *draw_run(struct rng *rng)
{
	OWNED(topology) *topology;
	uint32_t hosts = 4, first = 0;
	uint8_t next[6] = {2, 2, 2, 2, 2, 2};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	topology = topology_create("drawn", 6, hosts);
	for (uint32_t h = 0; h < hosts; h++)
		topology->host_at[h].ports = (uint8_t)(1 + rng_below(rng, 8));
	topology->host_at[0].ports = 2; /* some host has several ports */
	assert_int_equal(topology_split_hosts(topology, "drawn", NULL), 0);
	for (uint32_t s = 0; s < 6; s++)
		topology_add_link(topology, (struct topology_port){DEVICE_SWITCH, s, 0},
			(struct topology_port){DEVICE_SWITCH, s / 3 * 3 + (s + 1) % 3, 1}, 0,
			WEFT_TIME_NEVER, 0);
	for (uint32_t h = 0; h < topology->hosts; h++) {
		first = (uint32_t)rng_below(rng, h < hosts ? 3 : 6);
		topology_add_link(topology, (struct topology_port){DEVICE_HOST, h, 0},
			(struct topology_port){DEVICE_SWITCH, first, next[first]++}, 0,
			WEFT_TIME_NEVER, 0);
	}
	assert_int_equal(topology_finish(topology, "drawn", NULL), 0);
	fputs(HEAD ENDS "topology:\n", out);
	topology_write_keys(topology, out, 2);
	fputs("traffic: [{pattern: uniform, load: 20%, stop: 1ms}]\n", out);
	fclose(out);
	return text;
}

UNIT_TEST(drawn_hosts_lose_nothing_by_any_rule_and_pattern)
{
	static const char *const rules[] = {"same-rail", "spread", "plane-of-destination"};
	static const char *const patterns[] = {"uniform", "all-to-all", "permutation", "transpose",
		"bit-reversal", "hotspot, to: [h1], share: 50%", "local", "shuffle"};

	for (uint64_t seed = 0; seed < 48; seed++) {
		struct rng rng;
		struct virtual_lab lab;
		char *text, traffic[160], mode[40];

		rng_init(&rng, seed, 0, 0);
		text = draw_run(&rng);
		snprintf(traffic, sizeof(traffic),
			"traffic=[{pattern: %s, load: 20%%, stop: 1ms, rail: %s}]",
			patterns[seed % 8], rules[seed / 8 % 3]);
		snprintf(mode, sizeof(mode), "routing.mode=%s", seed % 2 == 0 ? "table" : "source");
		run_to_the_end(&lab, text, (const char *const[]){traffic, mode}, 2);
		for (uint32_t i = 0; i < lab.topology->hosts; i++)
			for (uint32_t k = 0; k < lab.topology->hosts; k++)
				if (topology_apart(lab.topology, i, k) ||
					lab.topology->host_at[i].owner ==
						lab.topology->host_at[k].owner)
					assert_int_equal(
						pair_numbers_get(&lab.fabric->host[i].nic.sent, k),
						0);
		virtual_lab_close(&lab);
		free(text);
	}
}
