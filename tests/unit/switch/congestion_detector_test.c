/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/congestion_detector.h"

#include "base/rng.h"
#include "paper_detector.h"
#include "unit.h"

#define PORTS  4
#define VCS    2
#define BLOCKS 1000 /* per VC: HCDTh 810, LCDTh 630 */
#define NEXT   500  /* VC in the next device: FCTh 390 */

/* The detector, and the information that its switch would have. */
struct bench {
	struct congestion_detector *detector;
	uint32_t voq[PORTS][PORTS][VCS]; /* [output][input][vc] */
	uint32_t free[PORTS];            /* credits that remain for the heads */
	weft_time now;
	unsigned grown; /* CONGESTION_ROOT_GROWS */
};

static struct congestion_detector_config config(void)
{
	struct congestion_detector_config config = paper_detector();

	config.ports = PORTS;
	config.vcs = VCS;
	for (unsigned port = 0; port < PORTS; port++)
		config.vc_blocks[port] = BLOCKS;
	return config;
}

static void start_with(struct bench *bench, const struct congestion_detector_config *from)
{
	memset(bench, 0, sizeof(*bench));
	bench->detector = congestion_detector_create(from);
	assert_non_null(bench->detector);
	for (unsigned port = 0; port < PORTS; port++)
		bench->free[port] = NEXT;
	bench->now = PS_PER_MS;
}

static void start(struct bench *bench)
{
	const struct congestion_detector_config from = config();

	start_with(bench, &from);
}

static void stop(struct bench *bench)
{
	assert_null(congestion_detector_check(bench->detector));
	congestion_detector_destroy(bench->detector);
}
#define bench_out_of_scope stop

static void arrive(
	struct bench *bench, unsigned input, unsigned vc, unsigned output, uint32_t blocks)
{
	uint32_t *voq = &bench->voq[output][input][vc];
	uint32_t counted;

	*voq += blocks;
	counted = congestion_detector_grown(bench->detector, input, vc, output, *voq, blocks);
	if (congestion_detector_is_above(bench->detector, input, vc, counted))
		bench->grown +=
			congestion_detector_above(bench->detector, input, vc, output,
				bench->free[output], NEXT, bench->now) == CONGESTION_ROOT_GROWS;
}

static void depart(
	struct bench *bench, unsigned input, unsigned vc, unsigned output, uint32_t blocks)
{
	uint32_t *voq = &bench->voq[output][input][vc];

	*voq -= blocks;
	congestion_detector_depart(bench->detector, input, vc, output, *voq, blocks);
}

/* The VOQ (input, 0) of output 3 reaches this length. */
static void set(struct bench *bench, unsigned input, uint32_t blocks)
{
	uint32_t voq = bench->voq[3][input][0];

	if (blocks > voq)
		arrive(bench, input, 0, 3, blocks - voq);
	else
		depart(bench, input, 0, 3, voq - blocks);
}

static enum congestion_detector_state state_of(const struct bench *bench)
{
	assert_null(congestion_detector_check(bench->detector));
	return bench->detector->output[3].state;
}

/* Advances time. Returns how many refreshes were due. */
static unsigned pass(struct bench *bench, weft_time time)
{
	enum congestion_detector_state what;
	unsigned refreshes = 0;
	int output;

	bench->now += time;
	while ((output = congestion_detector_poll(bench->detector, bench->now, &what)) >= 0) {
		if (what == CONGESTION_SUSPECT)
			congestion_detector_confirm(bench->detector, (unsigned)output,
				bench->free[output], NEXT, bench->now);
		else
			refreshes++;
	}
	return refreshes;
}

static void make_root(struct bench *bench)
{
	set(bench, 0, 811);
	pass(bench, CRT);
	assert_int_equal(state_of(bench), CONGESTION_ROOT);
}

/* Figure 3: VOQs 3 of ports 0 and 1 contend for output 3. */
UNIT_TEST(figure_3_of_the_arn_paper)
{
	OWNED(bench) bench;

	start(&bench);
	set(&bench, 1, 500);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	/* The VOQ of port 0 exceeds HCDTh, and the credits of port 3 exceed FCTh, so CRT starts. */
	set(&bench, 0, 811);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	assert_int_equal(bench.detector->output[3].input, 0);
	assert_int_equal(congestion_detector_next_due(bench.detector), bench.now + CRT);
	pass(&bench, CRT - 1);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	/* It expires while both conditions still hold. */
	pass(&bench, 1);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
	assert_int_equal(congestion_detector_notifiers(bench.detector, 3), BIT64(0));
	assert_int_equal(congestion_detector_speaking_vcs(bench.detector, 3, 0), 1);
	/* The VOQ of port 1 also exceeds HCDTh. */
	set(&bench, 1, 900);
	/* The root ends when both are below LCDTh. */
	set(&bench, 0, 629);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
	set(&bench, 1, 630);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
	set(&bench, 1, 629);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	assert_int_equal(bench.detector->roots, 1);
}

UNIT_TEST(at_hcdth_nothing_is_suspected_above_it_is)
{
	OWNED(bench) bench;

	start(&bench);
	set(&bench, 0, 810);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	set(&bench, 0, 811);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
}

UNIT_TEST(without_credits_in_the_next_device_it_is_a_branch)
{
	OWNED(bench) bench;

	start(&bench);
	bench.free[3] = 390;
	set(&bench, 0, 900);
	assert_int_equal(state_of(&bench), CONGESTION_BRANCH);
	pass(&bench, 10 * CRT);
	assert_int_equal(state_of(&bench), CONGESTION_BRANCH);
	set(&bench, 0, 629);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	bench.free[3] = 391;
	set(&bench, 0, 900);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
}

UNIT_TEST(a_suspicion_is_dropped_below_lcdth)
{
	OWNED(bench) bench;

	start(&bench);
	set(&bench, 0, 900);
	set(&bench, 0, 630);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	set(&bench, 0, 629);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	pass(&bench, CRT);
	assert_int_equal(bench.detector->roots, 0);
	/* CRT starts again. */
	set(&bench, 0, 900);
	pass(&bench, CRT - 1);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	pass(&bench, 1);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
}

UNIT_TEST(it_is_the_suspects_own_voq_that_drops_the_suspicion)
{
	OWNED(bench) bench;

	start(&bench);
	set(&bench, 0, 900);
	set(&bench, 1, 900);
	set(&bench, 1, 0);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	set(&bench, 1, 900);
	set(&bench, 0, 0);
	assert_int_equal(state_of(&bench), CONGESTION_BRANCH);
	set(&bench, 1, 901);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	assert_int_equal(bench.detector->output[3].input, 1);
}

UNIT_TEST(both_conditions_are_tested_when_crt_expires)
{
	OWNED(bench) bench;

	start(&bench);
	set(&bench, 0, 900);
	bench.free[3] = 390;
	pass(&bench, CRT);
	assert_int_equal(state_of(&bench), CONGESTION_BRANCH);
	set(&bench, 0, 0);
	bench.free[3] = NEXT;
	set(&bench, 0, 900);
	set(&bench, 0, 810); /* not above HCDTh, not below LCDTh */
	pass(&bench, CRT);
	assert_int_equal(state_of(&bench), CONGESTION_BRANCH);
	assert_int_equal(bench.detector->roots, 0);
}

/* The retest, in its three interpretations: a branch whose tree dissolves, a suspicion with a
 * gap. */
UNIT_TEST(fcth_is_asked_again_at_arrivals_as_the_reading_says)
{
	static const struct {
		enum congestion_detector_retest retest;
		enum congestion_detector_state branch, gap;
	} cases[] = {
		{CONGESTION_RETEST_NEVER, CONGESTION_BRANCH, CONGESTION_SUSPECT},
		{CONGESTION_RETEST_STARTS, CONGESTION_SUSPECT, CONGESTION_SUSPECT},
		{CONGESTION_RETEST_HOLDS, CONGESTION_SUSPECT, CONGESTION_BRANCH},
	};

	for (unsigned i = 0; i < 3; i++) {
		struct congestion_detector_config from = config();
		OWNED(bench) bench;

		from.retest = cases[i].retest;
		start_with(&bench, &from);
		bench.free[3] = 0;
		set(&bench, 0, 850);
		bench.free[3] = NEXT;
		set(&bench, 0, 860);
		assert_int_equal(state_of(&bench), cases[i].branch);
		set(&bench, 0, 0);
		set(&bench, 0, 850);
		assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
		bench.free[3] = 0;
		set(&bench, 0, 860);
		assert_int_equal(state_of(&bench), cases[i].gap);
	}
}

/* The credits belong to another head. */
UNIT_TEST(a_suspicion_that_has_to_hold_is_not_ended_by_another_voq)
{
	struct congestion_detector_config from = config();
	OWNED(bench) bench;

	from.retest = CONGESTION_RETEST_HOLDS;
	start_with(&bench, &from);
	set(&bench, 0, 850);
	bench.free[3] = 0;
	set(&bench, 1, 850);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
}

UNIT_TEST(a_root_that_stands_is_refreshed)
{
	OWNED(bench) bench;

	start(&bench);
	make_root(&bench);
	assert_int_equal(pass(&bench, REFRESH - 1), 0);
	assert_int_equal(pass(&bench, 1), 1);
	assert_int_equal(pass(&bench, REFRESH), 1);
	/* Credits do not matter here: a root ends only because of its VOQs. */
	bench.free[3] = 0;
	assert_int_equal(pass(&bench, REFRESH), 1);
	set(&bench, 0, 629);
	assert_int_equal(pass(&bench, REFRESH), 0);
	assert_true(congestion_detector_next_due(bench.detector) > bench.now + PS_PER_S);
}

UNIT_TEST(a_voq_that_joins_a_root_says_so_once)
{
	OWNED(bench) bench;

	start(&bench);
	make_root(&bench);
	set(&bench, 0, 900);
	assert_int_equal(bench.grown, 0);
	set(&bench, 1, 850);
	assert_int_equal(bench.grown, 1);
	set(&bench, 1, 700);
	set(&bench, 1, 850); /* has not been below LCDTh */
	assert_int_equal(bench.grown, 1);
	set(&bench, 1, 0);
	set(&bench, 1, 850);
	assert_int_equal(bench.grown, 2);
}

UNIT_TEST(all_voqs_above_hcdth_speak_for_a_root_or_the_first_alone)
{
	for (unsigned all = 0; all < 2; all++) {
		struct congestion_detector_config from = config();
		OWNED(bench) bench;

		from.all_voqs = all;
		start_with(&bench, &from);
		make_root(&bench);
		set(&bench, 1, 950);
		set(&bench, 1, 900); /* still above it */
		arrive(&bench, 1, 1, 3, 900);
		set(&bench, 2, 810);
		set(&bench, 0, 810); /* no longer above it */
		assert_int_equal(congestion_detector_notifiers(bench.detector, 3),
			all ? BIT64(1) : BIT64(0));
		assert_int_equal(
			congestion_detector_speaking_vcs(bench.detector, 3, all), all ? 3 : 1);
		assert_int_equal(bench.grown, all ? 2 : 0);
	}
}

UNIT_TEST(the_afc_is_watched_or_not)
{
	for (unsigned afc = 0; afc < 2; afc++) {
		struct congestion_detector_config from = config();
		OWNED(bench) bench;

		from.afc = afc;
		start_with(&bench, &from);
		arrive(&bench, 0, VCS - 1, 3, 900);
		assert_int_equal(state_of(&bench), afc ? CONGESTION_SUSPECT : CONGESTION_NONE);
	}
}

UNIT_TEST(voqs_count_against_their_vc_or_all_vcs_against_the_buffer)
{
	struct congestion_detector_config from = config();
	OWNED(bench) bench;

	from.by_vc = false; /* HCDTh 1620, LCDTh 1260 of 2000 */
	start_with(&bench, &from);
	arrive(&bench, 0, 0, 3, 900);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	arrive(&bench, 0, 1, 3, 720);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	arrive(&bench, 0, 1, 3, 1);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
	pass(&bench, CRT);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
	assert_int_equal(congestion_detector_speaking_vcs(bench.detector, 3, 0), 2);
	depart(&bench, 0, 0, 3, 361);
	assert_int_equal(state_of(&bench), CONGESTION_ROOT);
	depart(&bench, 0, 0, 3, 1);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
}

UNIT_TEST(inputs_with_smaller_buffers_have_their_own_thresholds)
{
	struct congestion_detector_config from = config();
	OWNED(bench) bench;

	from.vc_blocks[1] = 100;
	start_with(&bench, &from);
	set(&bench, 1, 81);
	assert_int_equal(state_of(&bench), CONGESTION_NONE);
	set(&bench, 1, 82);
	assert_int_equal(state_of(&bench), CONGESTION_SUSPECT);
}

UNIT_TEST(each_root_has_its_own_name)
{
	OWNED(bench) bench;
	uint32_t first;

	start(&bench);
	make_root(&bench);
	first = congestion_detector_root_id(bench.detector, 0x1234, 3);
	assert_int_equal(first >> 8, 0x123403);
	set(&bench, 0, 0);
	make_root(&bench);
	assert_int_not_equal(congestion_detector_root_id(bench.detector, 0x1234, 3), first);
}

UNIT_TEST(what_makes_no_sense_is_refused)
{
	struct congestion_detector_config from = config();

	from.lcdth_ppm = from.hcdth_ppm;
	assert_null(congestion_detector_create(&from));
	from = config();
	from.vc_blocks[2] = 0;
	assert_null(congestion_detector_create(&from));
	from = config();
	from.ports = 65;
	assert_null(congestion_detector_create(&from));
	from = config();
	from.refresh_ps = 0;
	assert_null(congestion_detector_create(&from));
}

/* The result of the detector, computed again from the whole history of one output, without its sets
 * and counters. */
struct model {
	bool passed[PORTS][VCS];
	unsigned count;
};

static void model_note(struct model *model, const struct bench *bench, unsigned input, unsigned vc)
{
	uint32_t blocks = bench->voq[3][input][vc];

	if (blocks > 810)
		model->passed[input][vc] = true;
	else if (blocks < 630)
		model->passed[input][vc] = false;
	model->count = 0;
	for (unsigned i = 0; i < PORTS * VCS; i++)
		model->count += model->passed[i / VCS][i % VCS];
}

UNIT_TEST(counters_and_sets_agree_with_the_rules_under_random_events)
{
	struct model model = {.count = 0};
	enum congestion_detector_state before = CONGESTION_NONE;
	OWNED(bench) bench;
	struct rng rng;

	start(&bench);
	rng_init(&rng, 5, 6, 7);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned input = (unsigned)rng_below(&rng, PORTS),
			 vc = (unsigned)rng_below(&rng, VCS);
		uint32_t voq = bench.voq[3][input][vc];
		uint32_t blocks = (uint32_t)rng_below(&rng, 400);

		bench.free[3] = rng_below(&rng, 10) == 0 ? 0 : NEXT;
		if (rng_below(&rng, 2) == 0 && voq + blocks <= BLOCKS)
			arrive(&bench, input, vc, 3, blocks);
		else
			depart(&bench, input, vc, 3, blocks < voq ? blocks : voq);
		model_note(&model, &bench, input, vc);
		assert_int_equal(bench.detector->output[3].passed, model.count);
		/* Only CRT creates a root, and only the last VOQ ends it. */
		if (before == CONGESTION_ROOT)
			assert_int_equal(state_of(&bench) == CONGESTION_ROOT, model.count > 0);
		else
			assert_int_not_equal(state_of(&bench), CONGESTION_ROOT);
		pass(&bench, rng_below(&rng, CRT / 2));
		before = state_of(&bench);
	}
	assert_true(bench.detector->roots > 100);
}
