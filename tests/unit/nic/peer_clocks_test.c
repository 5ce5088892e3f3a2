/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Host 0 asks host 1 for its time over paths whose length the test chooses. World times are true.
 * The clock of host 1 is ahead, and may run too fast. */
#include "nic/clock/peer_clocks.h"

#include "unit.h"

#define STEP   PS_PER_MS
#define FLYING 512
#define AHEAD  (5 * PS_PER_S)

struct flight {
	struct control_clock clock;
	weft_time arrives;
	uint16_t to;
};

struct world {
	struct peer_clocks *clocks[2];
	weft_time now, way[2]; /* from each host */
	weft_time ahead;       /* host 1, since 'turned' */
	weft_time turned;
	int64_t ppm;
	bool astray; /* the clock violates the assumed bounds */
	struct flight flight[FLYING];
	unsigned flying;
	unsigned lose; /* number of open questions */
	unsigned asked, taken, stepped, refused;
};

static const uint8_t secret[16] = {1};
static const bool same[2][2] = {{true, false}, {false, true}};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	for (uint16_t host = 0; host < 2; host++) {
		const struct peer_clocks_config config = {.host = host,
			.hosts = 2,
			.clock = 10u + host,
			.secret = secret,
			.same = same[host]};

		world->clocks[host] = peer_clocks_create(&config);
		assert_non_null(world->clocks[host]);
	}
	world->now = PS_PER_S;
	world->ahead = AHEAD;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	peer_clocks_destroy(world->clocks[0]);
	peer_clocks_destroy(world->clocks[1]);
	free(world);
	return 0;
}

#define WORLD_TEST(test) UNIT_BED(test, set_up, tear_down, struct world *world)

static weft_time ahead(const struct world *world)
{
	int64_t since_us = (int64_t)((world->now - world->turned) / PS_PER_US);

	return world->ahead + (weft_time)(since_us * world->ppm);
}

static weft_time shown(const struct world *world, uint16_t host)
{
	return world->now + (host == 1 ? ahead(world) : 0);
}

/* From now on, host 1 runs this much faster. */
static void turn(struct world *world, int64_t ppm)
{
	world->ahead = ahead(world);
	world->turned = world->now;
	world->ppm = ppm;
}

static void leave(struct world *world, uint16_t from, struct control_clock clock)
{
	uint8_t bytes[CONTROL_CLOCK_BYTES];

	control_clock_encode(&clock, bytes);
	assert_true(control_clock_decode(&clock, bytes, sizeof(bytes)));
	assert_true(world->flying < FLYING);
	world->flight[world->flying++] = (struct flight){
		.clock = clock, .arrives = world->now + world->way[from], .to = 1 - from};
}

static void arrive(struct world *world, const struct flight *flight)
{
	uint16_t from = 1 - flight->to;
	weft_time at = shown(world, flight->to);

	switch (peer_clocks_receive(world->clocks[flight->to], from, &flight->clock, at)) {
	case PEER_CLOCKS_DUE:
		leave(world, flight->to, peer_clocks_answer(world->clocks[1], 0, at));
		break;
	case PEER_CLOCKS_TAKEN:
		world->taken++;
		break;
	case PEER_CLOCKS_STEPPED:
		world->stepped++;
		break;
	case PEER_CLOCKS_REFUSED:
		world->refused++;
	}
}

static void arrive_all(struct world *world)
{
	for (unsigned i = 0; i < world->flying;) {
		const struct flight flight = world->flight[i];

		if (flight.arrives > world->now) {
			i++;
			continue;
		}
		world->flight[i] = world->flight[--world->flying];
		arrive(world, &flight);
	}
}

static void ask(struct world *world)
{
	if (!peer_clocks_wants(world->clocks[0], 1, world->now))
		return;
	peer_clocks_ask(world->clocks[0], 1, world->now);
	world->asked++;
	if (world->lose > 0)
		world->lose--;
	else
		leave(world, 0, peer_clocks_question(world->clocks[0], 1, world->now));
}

static bool is_known(const struct world *world)
{
	int64_t now_ns = (int64_t)(world->now / PS_PER_NS), offset_ns, error_ns;
	uint64_t bound_ns;

	if (!clock_line_at(&world->clocks[0]->peer[1].offset.line, now_ns, &offset_ns, &bound_ns))
		return false;
	error_ns = offset_ns - (int64_t)(ahead(world) / PS_PER_NS);
	if (!world->astray)
		assert_in_range(llabs(error_ns), 0, bound_ns);
	return true;
}

/* Data arrives at host 0 for this long. Returns how long the clock of host 1 was known while it
 * arrived. */
static weft_time run(struct world *world, weft_time ps)
{
	weft_time until = world->now + ps, known = 0;

	for (; world->now < until; world->now += STEP) {
		arrive_all(world);
		known += is_known(world) ? STEP : 0;
		ask(world);
	}
	return known;
}

/* The quick start replaces its own first questions before answers that take longer than a second
 * arrive. The later questions remain open. */
#define SLACK (200 * PS_PER_MS)

UNIT_WITH(a_clock_is_known_after_a_round_trip_and_from_then_on, set_up, tear_down)
{
	static const weft_time ways_ms[] = {0, 4, 40, 60, 200, 500, 750};

	for (unsigned i = 0; i < sizeof(ways_ms) / sizeof(ways_ms[0]); i++) {
		struct world *world;

		if (i > 0) {
			tear_down(state);
			set_up(state);
		}
		world = *state;
		world->way[0] = world->way[1] = ways_ms[i] * PS_PER_MS;
		turn(world, 150);
		assert_true(run(world, 10 * PS_PER_S) >= 10 * PS_PER_S - 2 * world->way[0] - SLACK);
		assert_int_equal(world->stepped, 0);
	}
}

WORLD_TEST(a_clock_is_known_though_the_first_questions_are_lost)
{
	world->way[0] = world->way[1] = 300 * PS_PER_MS;
	world->lose = 20;
	run(world, 3 * PS_PER_S);
	assert_true(world->lose == 0);
	assert_true(is_known(world));
}

WORLD_TEST(an_answer_that_takes_longer_than_questions_are_open_is_refused)
{
	world->way[0] = PS_PER_MS;
	world->way[1] = PEER_CLOCKS_OPEN_PS;
	assert_int_equal(run(world, 10 * PS_PER_S), 0);
	assert_int_equal(world->taken, 0);
	assert_true(world->refused > 20);
}

/* An attacker kept it. The host has asked for nothing since. */
WORLD_TEST(an_answer_that_comes_much_later_is_refused)
{
	world->way[0] = world->way[1] = STEP;
	ask(world);
	world->now += STEP;
	arrive_all(world);
	world->now += PEER_CLOCKS_OPEN_PS;
	arrive_all(world);
	assert_int_equal(world->flying, 0);
	assert_int_equal(world->refused, 1);
	assert_int_equal(world->taken, 0);
}

/* Its delay and the stay there took no time that a clock shows. */
WORLD_TEST(an_answer_in_the_nanosecond_of_its_question_is_taken)
{
	world->now += PS_PER_NS / 2;
	ask(world);
	arrive_all(world);
	assert_int_equal(world->taken, 1);
	assert_true(is_known(world));
}

WORLD_TEST(no_two_open_questions_have_the_same_number)
{
	uint64_t number[PEER_CLOCKS_OPEN];

	for (unsigned i = 0; i < PEER_CLOCKS_OPEN; i++) {
		number[i] = peer_clocks_question(world->clocks[0], 1, world->now).number;
		for (unsigned j = 0; j < i; j++)
			assert_true(number[i] != number[j]);
	}
}

/* Exchanges times for a second, after which the clock is known. */
static void get_to_know(struct world *world)
{
	world->way[0] = world->way[1] = 2 * STEP;
	run(world, PS_PER_S);
	while (world->flying > 0) {
		world->now += STEP;
		arrive_all(world);
	}
	assert_true(is_known(world));
}

/* Asks host 1, whatever the time is, and leaves the question in flight. */
static void ask_now(struct world *world)
{
	leave(world, 0, peer_clocks_question(world->clocks[0], 1, world->now));
}

static void take_answer(struct world *world)
{
	for (unsigned i = 0; i < 4; i++) {
		world->now += STEP;
		arrive_all(world);
	}
	assert_int_equal(world->flying, 0);
}

WORLD_TEST(an_answer_to_a_question_behind_the_offer_vouches_for_the_flow)
{
	get_to_know(world);
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	ask_now(world);
	take_answer(world);
	peer_clocks_begin(world->clocks[0], 1, true);
	assert_true(is_known(world));
}

/* Its former life may have answered. */
WORLD_TEST(an_answer_to_a_question_before_the_offer_does_not)
{
	get_to_know(world);
	ask_now(world);
	world->now += STEP;
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	take_answer(world);
	peer_clocks_begin(world->clocks[0], 1, true);
	assert_false(is_known(world));
	assert_true(peer_clocks_wants(world->clocks[0], 1, world->now));
}

/* Offers before the last are not remembered, so another life may have received that one. */
WORLD_TEST(an_answer_does_not_vouch_for_the_flow_of_an_earlier_offer)
{
	get_to_know(world);
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	peer_clocks_offer(world->clocks[0], 1, 78, world->now);
	ask_now(world);
	take_answer(world);
	peer_clocks_begin(world->clocks[0], 1, false);
	assert_false(is_known(world));
}

WORLD_TEST(the_offer_that_is_repeated_is_the_first_of_its_kind)
{
	get_to_know(world);
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	ask_now(world);
	world->now += STEP;
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	take_answer(world);
	peer_clocks_begin(world->clocks[0], 1, true);
	assert_true(is_known(world));
	/* And only one flow is confirmed. */
	peer_clocks_begin(world->clocks[0], 1, true);
	assert_false(is_known(world));
}

/* It is late, and from the former clock. */
WORLD_TEST(a_question_before_the_offer_is_closed_when_the_flow_begins)
{
	struct control_clock early;

	get_to_know(world);
	early = peer_clocks_question(world->clocks[0], 1, world->now);
	world->now += STEP;
	peer_clocks_offer(world->clocks[0], 1, 77, world->now);
	ask_now(world);
	take_answer(world);
	peer_clocks_begin(world->clocks[0], 1, true);
	leave(world, 0, early);
	take_answer(world);
	assert_int_equal(world->refused, 1);
	assert_true(is_known(world));
}

static unsigned asked_in(struct world *world, weft_time ps)
{
	unsigned before = world->asked;

	run(world, ps);
	return world->asked - before;
}

WORLD_TEST(a_clock_that_was_set_is_soon_known_again)
{
	get_to_know(world);
	world->ahead += PS_PER_S;
	world->astray = true;
	run(world, 200 * PS_PER_MS);
	world->astray = false;
	assert_int_equal(world->stepped, 1);
	assert_true(is_known(world));
	/* And it is not asked less often than before. */
	assert_in_range(asked_in(world, PS_PER_S), 9, 11);
}

#define TOO_FAST (3 * CLOCK_RATE_MAX_PPM)

WORLD_TEST(a_clock_that_runs_too_far_apart_is_asked_rarely)
{
	world->astray = true;
	turn(world, TOO_FAST);
	asked_in(world, 3 * PS_PER_S);
	assert_in_range(asked_in(world, 10 * PS_PER_S), 12, 14);
	assert_true(world->stepped > 12);
}

WORLD_TEST(a_clock_that_runs_well_again_is_known_again_and_asked_as_before)
{
	world->astray = true;
	turn(world, TOO_FAST);
	run(world, 10 * PS_PER_S);
	turn(world, 0);
	/* The exchange that contradicts, and three that agree. */
	run(world, 4 * (PEER_CLOCKS_LATER_PS << (PEER_CLOCKS_STEPS - 1)));
	world->astray = false;
	assert_true(is_known(world));
	run(world, 30 * PS_PER_S);
	assert_in_range(asked_in(world, PS_PER_S), 9, 11);
}
