/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares the share of a link that credits allow (credit_cover.h) with a single flow on the
 * virtual clock. Rates, delays, frames, buffers and credit rules are drawn. */

#include "base/rng.h"
#include "setup/credit_cover.h"
#include "virtual_lab.h"

#define CASES 60

static const char line[] = "weft: run/1\n"
			   "topology: \"mesh:dims=2x2,hosts=1\"\n"
			   "clock: virtual\n"
			   "watchdog: off\n"
			   "routing: {algorithm: dor, mode: table}\n"
			   "traffic:\n"
			   "  - {pattern: hotspot, from: [h0], to: [h3], load: 100%}\n";

static uint64_t draw(struct rng *rng, uint64_t min, uint64_t max)
{
	return min + rng_next(rng) % (max - min + 1);
}

/* The settings of a case, derived from a number. */
static void draw_case(struct rng *rng, char set[10][64])
{
	static const char *const words[][2] = {{"switch.credits=each", "switch.credits=coalesced"},
		{"switch.switching=cut-through", "switch.switching=store-and-forward"}};
	/* Rates at which a byte takes whole picoseconds. */
	static const unsigned rates[] = {1, 2, 5, 10, 25, 40, 50, 80, 100, 200, 400};
	uint64_t mtu = 64 * draw(rng, 4, 64), vcs = draw(rng, 1, 4), frames = draw(rng, 1, 60);
	uint64_t gbps = rates[draw(rng, 0, sizeof(rates) / sizeof(rates[0]) - 1)];
	uint64_t frame_ns = (mtu + 64) * 8 / gbps + 1;
	/* From far below the limit to ten times what the buffer covers. */
	uint64_t delay_ns = 10 + frames * frame_ns * draw(rng, 0, 50) / 10;

	snprintf(set[0], 64, "link.rate=%uGbps", (unsigned)gbps);
	snprintf(set[1], 64, "link.delay=%uns", (unsigned)delay_ns);
	snprintf(set[2], 64, "switch.mtu=%uB", (unsigned)mtu);
	snprintf(set[3], 64, "nic.mtu=%uB", (unsigned)mtu);
	snprintf(set[4], 64, "traffic[0].message=%uB", (unsigned)mtu);
	snprintf(set[5], 64, "switch.vcs=%u", (unsigned)vcs);
	snprintf(set[6], 64, "switch.buffer=%uB",
		(unsigned)(64 * vcs * (frames * (mtu / 64 + 1) + draw(rng, 0, mtu / 64))));
	snprintf(set[7], 64, "%s", words[0][draw(rng, 0, 1)]);
	snprintf(set[8], 64, "%s", words[1][draw(rng, 0, 1)]);
	snprintf(set[9], 64, "switch.routing-delay=%uns", (unsigned)draw(rng, 0, 300));
}

/* Returns the minimum over all links, because in this uniform network the flow's path can be any of
 * them. */
static uint32_t bound_of(const struct virtual_lab *lab)
{
	uint32_t min = UINT32_MAX;

	for (uint32_t i = 0; i < 2 * lab->topology->links; i++) {
		const struct topology_link *link = &lab->topology->link_at[i / 2];
		uint32_t ppm = credit_cover_ppm(
			lab->config, lab->topology, i % 2 == 0 ? link->a : link->b);

		min = ppm < min ? ppm : min;
	}
	return min;
}

/* A window of 200 round trips. Its ends cut off at most one buffer. */
static void check_case(char text[10][64], bool *bound)
{
	char warmup[64], duration[64], sample[64];
	const char *set[13] = {[10] = warmup, duration, sample};
	struct virtual_lab lab;
	uint64_t trip_ns;
	double expected, share, edge;

	for (unsigned k = 0; k < 10; k++)
		set[k] = text[k];
	virtual_lab_open(&lab, line, set, 10);
	expected = bound_of(&lab) / 1e6;
	edge = run_config_vc_blocks(lab.config) * 64.0 * 8 * 1.2e9 /
	       (double)lab.topology->link_at[0].rate_bps;
	trip_ns = 4 * lab.topology->link_at[0].delay_ps / PS_PER_NS + 100000;
	edge /= (double)(200 * trip_ns);
	virtual_lab_close(&lab);
	snprintf(warmup, sizeof(warmup), "measure.warmup=%uus", (unsigned)(20 * trip_ns / 1000));
	snprintf(duration, sizeof(duration), "measure.duration=%uus",
		(unsigned)(220 * trip_ns / 1000));
	snprintf(sample, sizeof(sample), "measure.sample=%uus", (unsigned)(220 * trip_ns / 1000));
	virtual_lab_open(&lab, line, set, 13);
	virtual_lab_run(&lab);
	share = lab.result.entry[0].accepted;
	if (share > expected + edge || share < 0.97 * expected - edge)
		fail_msg("bound %.4f, flow %.4f +- %.4f: %s %s %s %s %s %s %s %s %s", expected,
			share, edge, text[0], text[1], text[3], text[5], text[6], text[7], text[8],
			text[9], text[4]);
	*bound = expected < 0.99;
	virtual_lab_close(&lab);
}

UNIT_TEST(one_flow_gets_what_credits_let_through_and_no_more)
{
	unsigned bound = 0;
	struct rng rng;

	rng_init(&rng, 46, 4, 3);
	for (unsigned i = 0; i < CASES; i++) {
		char text[10][64];
		bool is_bound;

		draw_case(&rng, text);
		check_case(text, &is_bound);
		bound += is_bound;
	}
	assert_in_range(bound, CASES / 2, CASES - 5);
}

static void take_line(void *ctx, const char *text)
{
	char *lines = ctx;

	snprintf(lines + strlen(lines), 1000 - strlen(lines), "%s\n", text);
}

static void assert_lines(const char *expected, const char *const *set, unsigned sets)
{
	char lines[1000] = "";
	struct virtual_lab lab;

	virtual_lab_open(&lab, line, set, sets);
	credit_cover_report(lab.config, lab.topology, take_line, lines);
	virtual_lab_close(&lab);
	assert_string_equal(lines, expected);
}

UNIT_TEST(links_that_replace_those_of_wormhole_switching_are_named)
{
	static const char *const link[] = {"", "  link: {rate: 10Gbps, delay: 100ns}\n"};
	static const char *const said[] = {"",
		"topology: the file sets 10Gbps and 100ns for links; the defaults of wormhole switching are "
		"1.28Gbps and 49.2ns\n"};

	for (unsigned i = 0; i < 2; i++) {
		OWNED(topology) *topology = NULL;
		OWNED(run_config) *config;
		char text[1000], lines[1000] = "";
		struct error error;

		snprintf(text, sizeof(text),
			"weft: run/1\ntopology:\n%s"
			"  switches: [{name: s0, ports: 2}]\n  hosts: [{name: h0}, {name: h1}]\n"
			"  links: [{a: 'h0:0', b: 's0:0'}, {a: 'h1:0', b: 's0:1'}]\n"
			"clock: virtual\nswitch: {switching: wormhole}\n",
			link[i]);
		config = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
		if (config == NULL || (topology = run_config_open_topology(config, &error)) == NULL)
			fail_msg("%s", error.text);
		credit_cover_report(config, topology, take_line, lines);
		assert_string_equal(lines, said[i]);
	}
}

/* 128 KiB are 62 frames of 2 KiB, which take 10.51 us at 100 Gbps. Their credits are absent for two
 * delays and one transmission, and longer if 16 frames share a credit frame. */
UNIT_TEST(links_that_are_alike_are_one_line)
{
#define LONG                                                                               \
	"link.rate=100Gbps", "link.delay=10us", "switch.buffer=128KiB", "switch.mtu=2KiB", \
		"nic.mtu=2KiB", "traffic[0].message=2KiB"
	assert_lines("", VIRTUAL_LAB_SET("link.delay=30ns"));
	assert_lines(
		"s0:4 and 15 similar inputs: 128 KiB cover 10.51 us at 100 Gbps; the round trip "
		"is 20.17 us: at most 53 %\n",
		VIRTUAL_LAB_SET(LONG, "switch.credits=each"));
	assert_lines(
		"s0:4 and 15 similar inputs: 128 KiB cover 10.51 us at 100 Gbps; the round trip "
		"is 26.14 us: at most 41 %\n",
		VIRTUAL_LAB_SET(LONG));
	assert_lines(
		"s0:4 and 15 similar inputs: 64 KiB, a VC's share of 128 KiB, cover 5.253 us at "
		"100 Gbps; the round trip is 20.17 us: at most 27 % in one VC\n",
		VIRTUAL_LAB_SET(LONG, "switch.vcs=2", "switch.credits=each"));
}
