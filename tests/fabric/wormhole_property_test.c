/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The trains of the virtual clock and the referee get the same messages on the same random network:
 * first and last cycle of every message, its in-transit buffers, discards, every STOP and GO, what
 * each link carried and for how long it was stopped must be equal.
 *
 * Without arguments it takes WORMHOLE_CASES cases; the long forms, and a single case, shrunk:
 *
 *     wormhole_property_test CASES [FIRST]
 *     wormhole_property_test seed SEED
 *     WEFT_WORMHOLE_CASES=CASES meson test --suite fabric wormhole_property -t 100 */

#include <inttypes.h>

#include "base/rng.h"
#include "flit_bed.h"
#include "route/route_algorithm.h"
#include "wormhole_case.h"

#ifndef WORMHOLE_CASES
#define WORMHOLE_CASES 800
#endif

static struct {
	uint64_t first, cases;
} wanted = {1, WORMHOLE_CASES};

/* Features of the cases, to show that they cover difficult situations. */
struct seen {
	uint64_t messages, flits, marks, absorbed, discards, stuck, cut;
	uint64_t discarding; /* cases */
};

/* Both models, and the first difference, or an error that one of them reports. */
static bool disagree(
	const struct wormhole_case *the_case, char *text, size_t size, struct seen *seen)
{
	OWNED(wormhole_outcome) flits, trains;
	bool differ;

	wormhole_run_flits(the_case, &flits);
	wormhole_run_trains(the_case, &trains);
	differ = wormhole_differ(the_case, &flits, &trains, text, size);
	if (!differ && wormhole_check(the_case, &flits) != NULL) {
		snprintf(text, size, "%s", wormhole_check(the_case, &flits));
		differ = true;
	}
	if (seen != NULL) {
		seen->messages += the_case->messages;
		seen->marks += flits.marks;
		seen->absorbed += flits.absorbed;
		seen->discards += flits.discards;
		seen->discarding += flits.discards > 0;
		seen->stuck += flits.stuck;
		seen->cut += the_case->until != FLIT_NEVER;
		for (uint32_t i = 0; i < 2 * the_case->topology->links; i++)
			seen->flits += flits.carried[i];
	}
	return differ;
}

static bool is_bad(const struct wormhole_case *the_case)
{
	char text[512];

	return disagree(the_case, text, sizeof(text), NULL);
}

/* Prints the smallest form of the case. */
static void tell(struct wormhole_case *the_case)
{
	char text[512];

	wormhole_case_shrink(the_case, is_bad);
	disagree(the_case, text, sizeof(text), NULL);
	fprintf(stderr, "the smallest case that was found (links with their cycles):\n");
	wormhole_case_print(the_case, stderr);
	fprintf(stderr, "%s\n", text);
}

UNIT_TEST(trains_and_flits_agree_in_every_cycle)
{
	struct seen seen = {0};

	for (uint64_t seed = wanted.first; seed < wanted.first + wanted.cases; seed++) {
		OWNED(wormhole_case) the_case;
		char text[512];

		wormhole_case_draw(&the_case, seed);
		if (disagree(&the_case, text, sizeof(text), &seen)) {
			fprintf(stderr, "seed %" PRIu64 ": %s\n%s\n", seed, the_case.name, text);
			tell(&the_case);
			fail_msg("wormhole_property_test seed %" PRIu64, seed);
		}
	}
	print_message("%" PRIu64 " cases, %" PRIu64 " messages, %" PRIu64
		      " flits over links, %" PRIu64 " symbols, %" PRIu64
		      " absorbed in transit, %" PRIu64 " discarded in %" PRIu64 " cases, %" PRIu64
		      " deadlocks\n",
		wanted.cases, seen.messages, seen.flits, seen.marks, seen.absorbed, seen.discards,
		seen.discarding, seen.stuck);
	if (wanted.cases < 400)
		return;
	/* Cases of all kinds occur. */
	assert_true(seen.marks > 20 * wanted.cases);
	assert_true(seen.absorbed > 5 * wanted.cases);
	assert_true(seen.discarding * 20 > wanted.cases);
	assert_true(seen.stuck * 100 > wanted.cases);
	assert_true(seen.cut * 8 > wanted.cases);
}

/* Cases that are drawn too rarely or never. */
static void expect_agreement(struct flit_bed *bed, uint64_t until)
{
	struct wormhole_case the_case = {.name = "by hand",
		.topology = bed->topology,
		.parameters = bed->parameters,
		.message = bed->message,
		.messages = bed->messages,
		.until = until};
	char text[512];

	if (disagree(&the_case, text, sizeof(text), NULL)) {
		wormhole_case_print(&the_case, stderr);
		fail_msg("%s", text);
	}
}

/* Its last flits are on their way to the first host when the second host refuses it. */
UNIT_TEST(a_message_may_be_discarded_while_it_still_comes_to_another_host)
{
	for (uint32_t bytes = 101; bytes <= 512; bytes += 45) {
		struct flit_bed bed;

		flit_bed_row(&bed, 3, 3);
		bed.parameters.pool = bytes + 50;
		flit_bed_add(&bed, 0, 6, 8, 2000, "2");  /* h6 is busy, */
		flit_bed_add(&bed, 0, 7, 8, 100, "0i2"); /* and its pool not empty */
		flit_bed_add(&bed, 0, 0, 8, bytes, "30i30i2");
		for (unsigned i = 0; i < 20; i++)
			flit_bed_add(&bed, 5 * i, 1, 5, 40 + i, "32");
		expect_agreement(&bed, FLIT_NEVER);
		topology_destroy(bed.topology);
	}
}

/* After a tail, a single cycle decides whether there is space. */
UNIT_TEST(a_pool_is_given_back_in_the_same_cycle)
{
	for (uint64_t cycle = 60; cycle < 130; cycle++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 2, 2);
		bed.parameters.pool = 20;
		flit_bed_add(&bed, 0, 0, 3, 20, "1i21");
		flit_bed_add(&bed, cycle, 0, 3, 20, "1i21");
		flit_bed_add(&bed, cycle / 2, 1, 2, 20, "20");
		expect_agreement(&bed, FLIT_NEVER);
		topology_destroy(bed.topology);
	}
}

/* The smallest case, in every part of a cycle. */
UNIT_TEST(a_run_may_end_in_any_cycle)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 2, 2);
	flit_bed_add(&bed, 0, 2, 3, 90, "1");
	flit_bed_add(&bed, 3, 0, 3, 100, "1i21");
	flit_bed_add(&bed, 3, 1, 3, 100, "21");
	for (uint64_t until = 1; until < 700; until++)
		expect_agreement(&bed, until);
	expect_agreement(&bed, FLIT_NEVER);
	topology_destroy(bed.topology);
}

#define JAM_MESSAGES 700
#define JAM_BYTES    512

/* Uniform traffic that exceeds the capacity of the routes. */
static void fill_jam(struct wormhole_case *the_case)
{
	uint32_t hosts = the_case->topology->hosts;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	the_case->message = calloc(JAM_MESSAGES, sizeof(*the_case->message));
	assert_non_null(the_case->message);
	for (uint32_t i = 0; i < JAM_MESSAGES; i++) {
		struct flit_message *message = &the_case->message[i];

		message->source = i % hosts;
		message->destination =
			(message->source + 1 + (uint32_t)rng_below(&rng, hosts - 1)) % hosts;
		message->bytes = JAM_BYTES;
		message->cycle = 20 * i;
		message->route = route_set_get(the_case->routes, message->source,
			message->destination, 0, &message->route_length);
	}
	the_case->messages = JAM_MESSAGES;
}

static void open_jam(struct wormhole_case *the_case)
{
	const struct topology_defaults links = {
		.rate_bps = FLIT_RATE_THESIS_BPS, .delay_ps = FLIT_DELAY_THESIS_PS};
	struct route_options options = {.seed = 1, .alternatives = 1};
	struct error error = {""};

	*the_case = (struct wormhole_case){
		.name = "jam", .parameters = FLIT_PARAMETERS_THESIS, .until = FLIT_NEVER};
	the_case->topology = topology_open_with("torus:dims=6x6,hosts=2", &links, &error);
	if (the_case->topology == NULL)
		fail_msg("%s", error.text);
	the_case->routes = route_compute(
		the_case->topology, route_algorithm_find("bmin-itb"), &options, NULL, &error);
	if (the_case->routes == NULL)
		fail_msg("%s", error.text);
	fill_jam(the_case);
}

/* Re-injection waits for full channels and fills them: the jams of a torus close to saturation
 * (docs/explanation/wormhole.md). */
UNIT_TEST(trains_and_flits_agree_in_a_jam_at_in_transit_buffers)
{
	OWNED(wormhole_outcome) flits;
	OWNED(wormhole_case) the_case;
	uint64_t sum = 0;
	char text[512];

	open_jam(&the_case);
	if (disagree(&the_case, text, sizeof(text), NULL))
		fail_msg("%s", text);
	wormhole_run_flits(&the_case, &flits);
	for (uint32_t i = 0; i < the_case.messages; i++) {
		assert_true(flits.fate[i].tail != FLIT_NEVER);
		sum += flits.fate[i].tail + 1 - flits.fate[i].left;
	}
	/* It is a jam, because without load a message takes about 800 cycles, and it ends. */
	assert_true(sum > UINT64_C(3000) * the_case.messages);
	assert_true(flits.pool_peak >= 6 * JAM_BYTES);
}

/* The feature that a case needs to reveal a change. */
enum change { ROUTING, STOP_MARK, DETECTION, PROGRAMMING, CHANGES };

static bool must_show(enum change change, const struct wormhole_outcome *flits)
{
	if (change == STOP_MARK)
		return flits->marks > 0;
	return change == ROUTING || flits->absorbed > 0;
}

static bool shows(enum change change, const struct wormhole_case *the_case,
	const struct wormhole_outcome *flits)
{
	struct wormhole_case other = *the_case;
	OWNED(wormhole_outcome) outcome;
	char text[512];
	bool differ;

	other.parameters.routing += change == ROUTING;
	other.parameters.stop -= change == STOP_MARK;
	other.parameters.detection += change == DETECTION;
	other.parameters.programming += change == PROGRAMMING;
	wormhole_run_flits(&other, &outcome);
	differ = wormhole_differ(the_case, flits, &outcome, text, sizeof(text));
	return differ;
}

/* A reference model that compares nothing would always agree. */
UNIT_TEST(a_cycle_or_a_mark_more_is_a_difference)
{
	unsigned shown[CHANGES] = {0}, due[CHANGES] = {0};

	for (uint64_t seed = 1; seed <= 25; seed++) {
		OWNED(wormhole_case) the_case;
		OWNED(wormhole_outcome) flits;

		wormhole_case_draw(&the_case, seed);
		the_case.until = FLIT_NEVER;
		wormhole_run_flits(&the_case, &flits);
		for (unsigned change = 0; change < CHANGES; change++)
			if (must_show(change, &flits)) {
				due[change]++;
				shown[change] += shows(change, &the_case, &flits);
			}
	}
	for (unsigned change = 0; change < CHANGES; change++) {
		assert_true(due[change] >= 3);
		/* A busy host still detects in time. */
		assert_true(shown[change] * 3 >= due[change] * 2);
	}
}

static int one_case(const char *seed)
{
	OWNED(wormhole_case) the_case;
	char text[512];
	bool bad;

	wormhole_case_draw(&the_case, strtoull(seed, NULL, 10));
	bad = disagree(&the_case, text, sizeof(text), NULL);
	printf("%s\n%s\n", the_case.name, bad ? text : "no difference");
	if (bad)
		tell(&the_case);
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "seed") == 0)
		return one_case(argv[2]);
	if (getenv("WEFT_WORMHOLE_CASES") != NULL)
		wanted.cases = strtoull(getenv("WEFT_WORMHOLE_CASES"), NULL, 10);
	if (argc > 1)
		wanted.cases = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		wanted.first = strtoull(argv[2], NULL, 10);
	return unit_run(NULL, NULL);
}
