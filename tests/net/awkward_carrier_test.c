/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Two switches joined by a cable that loses its carrier. Hellos are a second of the test's clock
 * apart, so an earlier reaction must come from the carrier. */

#include "awkward_ports.h"

#include "poll/poll_switch.h"

#define HELLO_PS PS_PER_S
#define MTU      1024u
#define TURNS    1000u /* in a hello interval */

struct side {
	struct weft_switch *sw;
	struct poll_switch *poll;
};

static struct rte_mempool *unused;
static struct side side[2];
static weft_time now;

/* --- help --- */

static void start_side(struct side *at, struct port *port, uint64_t device)
{
	static const uint8_t table[1] = {0};
	const struct switch_config config = {.device = device,
		.session = (uint32_t)device,
		.ports = 1,
		.vcs = 1,
		.voq = true,
		.buffer_blocks = 256,
		.hello_ps = HELLO_PS,
		.credit_refresh_ps = HELLO_PS / 10,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 64,
		.table_port = table,
		.table_hosts = 1};

	at->sw = switch_create(&config, now);
	assert_non_null(at->sw);
	at->poll = poll_switch_create(at->sw, pair.pool);
	assert_non_null(at->poll);
	poll_switch_attach(at->poll, 0, port, NULL, NULL);
}

static void turn(weft_time step)
{
	now += step;
	for (unsigned i = 0; i < 2; i++)
		poll_switch_run(side[i].poll, now);
}

static bool all_are(enum link_end_state state)
{
	return side[0].sw->port[0].link.state == state && side[1].sw->port[0].link.state == state;
}

/* The carrier is checked in real time. If a link must go down, the test's clock stops after
 * 'interval', because hellos must not cause this. If links must come up, hellos continue. The links
 * get some minutes of real time. */
static void expect_soon(enum link_end_state state, weft_time interval)
{
	const weft_time step = interval / TURNS;
	struct clock clock;

	for (unsigned i = 0; i < TURNS && !all_are(state); i++)
		turn(step);
	clock_start(&clock, 1);
	for (weft_time end = clock_now(&clock) + 240 * PS_PER_S;
		!all_are(state) && clock_now(&clock) < end;)
		turn(state == LINK_UP ? step : 0);
	if (!all_are(state))
		fail_msg("links are %d and %d, not %d", side[0].sw->port[0].link.state,
			side[1].sw->port[0].link.state, state);
}

static void start(const char *arguments)
{
	now = PS_PER_S;
	awkward_open(arguments, MTU);
	start_side(&side[0], &pair.a, 1);
	start_side(&side[1], &pair.b, 2);
	expect_soon(LINK_UP, 3 * HELLO_PS);
}

static void stop_sides(void)
{
	for (unsigned i = 0; i < 2; i++) {
		if (side[i].poll != NULL)
			poll_switch_destroy(side[i].poll);
		if (side[i].sw != NULL)
			switch_destroy(side[i].sw);
		side[i] = (struct side){.sw = NULL};
	}
}

static int clear(void **state)
{
	stop_sides();
	return awkward_clear(state);
}

static void stop(void)
{
	stop_sides();
	awkward_close();
}

static void cut_and_join(const char *arguments)
{
	start(arguments);
	assert_int_equal(fake_nic_carrier(AWKWARD_A, false), 0);
	expect_soon(LINK_DOWN, HELLO_PS);
	assert_int_equal(fake_nic_carrier(AWKWARD_A, true), 0);
	expect_soon(LINK_UP, 3 * HELLO_PS);
	stop();
}

/* --- claims --- */

UNIT_WITH(a_link_is_up_while_there_is_carrier, NULL, clear)
{
	start("");
	for (unsigned i = 0; i < 10 * TURNS; i++) {
		turn(HELLO_PS / TURNS);
		assert_true(all_are(LINK_UP));
	}
	stop();
}

/* As before there was a carrier to check. */
UNIT_WITH(a_link_without_carrier_is_down_after_three_hellos_at_the_latest, NULL, clear)
{
	start("");
	fake_nic_carrier(AWKWARD_B, false);
	expect_soon(LINK_DOWN, 4 * HELLO_PS);
	fake_nic_carrier(AWKWARD_B, true);
	expect_soon(LINK_UP, 3 * HELLO_PS);
	stop();
}

UNIT_WITH(carrier_loss_is_seen_before_the_next_hello_by_asking, NULL, clear)
{
	cut_and_join("");
}

UNIT_WITH(carrier_loss_is_seen_before_the_next_hello_by_interrupt, NULL, clear)
{
	cut_and_join("lsc=1");
}

/* A driver may send such frames late, when the carrier is back. They belong to a former session. */
UNIT_WITH(frames_that_come_late_do_no_harm, NULL, clear)
{
	start("down=hold,keep=512");
	fake_nic_carrier(AWKWARD_A, false);
	expect_soon(LINK_DOWN, 4 * HELLO_PS);
	for (unsigned i = 0; i < 20 * TURNS; i++)
		turn(HELLO_PS / TURNS);
	fake_nic_carrier(AWKWARD_A, true);
	expect_soon(LINK_UP, 3 * HELLO_PS);
	for (unsigned i = 0; i < 10 * TURNS; i++)
		turn(HELLO_PS / TURNS);
	assert_true(all_are(LINK_UP));
	stop();
}

UNIT_WITH(a_port_without_carrier_opens_and_its_link_comes_up_later, NULL, clear)
{
	awkward_open("", MTU);
	fake_nic_carrier(AWKWARD_A, false);
	now = PS_PER_S;
	start_side(&side[0], &pair.a, 1);
	start_side(&side[1], &pair.b, 2);
	for (unsigned i = 0; i < TURNS; i++) {
		turn(HELLO_PS / TURNS);
		assert_false(all_are(LINK_UP));
	}
	fake_nic_carrier(AWKWARD_A, true);
	expect_soon(LINK_UP, 3 * HELLO_PS);
	stop();
}

int main(void)
{
	char name[] = "awkward_carrier";

	return run_with_eal(name, 63, &unused);
}
