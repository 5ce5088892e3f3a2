/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Arrival times from the clock of a NIC. The NIC of these tests is a fake one. It stamps a frame
 * when the far end sends it, with a clock whose frequency differs from the loop's. */

#include "nic_neighbours.h"

#include "awkward_ports.h"
#include "poll/arrival_stamps.h"
#include "port/ethdev_private.h"
#include "port/port_ethdev.h"

#define ROUNDS   200u
#define WAIT_PS  PS_PER_MS /* time that a frame waits for its loop */
#define LOAD_PPM 20000u

static struct clock ours;
static struct arrival_stamps stamps;

/* --- help --- */

/* Both NICs have these arguments, and their clocks are 'ppm' faster. */
static void open_stamped(unsigned ppm, const char *more)
{
	char arguments[80];

	snprintf(arguments, sizeof(arguments), "stamps=%u%s", ppm, more);
	clock_start(&ours, 1);
	awkward_open(arguments, MTU);
	arrival_stamps_begin(&stamps, &pair.b, &ours);
}

static void wait_for(weft_time ps)
{
	for (weft_time end = clock_now(&ours) + ps; clock_now(&ours) < end;)
		;
}

/* A frame that waits for its loop: the times at which it was sent, arrived and was read. */
struct passage {
	weft_time sent, arrived, read;
};

static struct passage pass_one(void)
{
	struct passage passage = {.sent = clock_now(&ours)};
	struct rte_mbuf *mbuf;

	awkward_send(&pair.a, 100, 0);
	wait_for(WAIT_PS);
	passage.read = clock_now(&ours);
	assert_int_equal(port_rx(&pair.b, &mbuf, 1, 0), 1);
	passage.arrived = arrival_stamps_time(&stamps, mbuf);
	rte_pktmbuf_free(mbuf);
	return passage;
}

/* Passes frames. Checks that none arrives before it was sent or before an earlier one. Returns how
 * many have an arrival time before they were read. */
static unsigned count_early(void)
{
	weft_time last = 0;
	unsigned early = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct passage passage = pass_one();

		assert_true(passage.arrived >= passage.sent);
		assert_true(passage.arrived >= last);
		early += passage.arrived < passage.read - WAIT_PS / 2;
		last = passage.arrived;
	}
	return early;
}

/* The processor's counter when the frame was stamped, or slightly earlier. */
static uint64_t stamped_tsc(const struct rte_mbuf *mbuf, unsigned ppm, unsigned shift)
{
	uint64_t ticks;

	assert_true(port_stamp_of(&pair.b, mbuf, &ticks));
	return (uint64_t)(((unsigned __int128)ticks << shift) * 2000000 / (1000000 + ppm));
}

/* No frame arrives before it is stamped, to the nanosecond of the NIC's clock. */
static void passes_no_earlier_than_stamped(unsigned ppm, unsigned shift)
{
	char more[32];

	snprintf(more, sizeof(more), ",stamps_shift=%u", shift);
	open_stamped(ppm, more);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct rte_mbuf *mbuf;
		weft_time arrived;

		awkward_send(&pair.a, 100, 0);
		wait_for(WAIT_PS / 10);
		assert_int_equal(port_rx(&pair.b, &mbuf, 1, 0), 1);
		arrived = arrival_stamps_time(&stamps, mbuf);
		assert_true(arrived >= clock_time_at(&ours, stamped_tsc(mbuf, ppm, shift)));
		rte_pktmbuf_free(mbuf);
	}
	assert_int_equal(stamps.used, ROUNDS);
	awkward_close();
}

static void refuses_all(const char *more)
{
	open_stamped(1, more);
	assert_int_equal(count_early(), 0);
	assert_int_equal(stamps.used, 0);
	assert_int_equal(stamps.refused, ROUNDS);
	awkward_close();
}

/* --- claims --- */

AWKWARD_TEST(a_frame_arrives_when_it_is_stamped_not_when_it_is_read)
{
	open_stamped(1, "");
	assert_true(count_early() > ROUNDS / 2);
	assert_int_equal(stamps.used, ROUNDS);
	assert_int_equal(stamps.refused, 0);
	awkward_close();
}

/* Like the thread that checks carriers, every 10 ms. */
AWKWARD_TEST(a_stamp_counts_while_another_thread_asks_the_nic)
{
	struct ethdev_ctx *ctx;
	struct passage passage;

	open_stamped(1, "");
	ctx = pair.b.ctx;
	pthread_mutex_lock(&ctx->asking);
	passage = pass_one();
	pthread_mutex_unlock(&ctx->asking);
	assert_int_equal(stamps.used, 1);
	assert_true(passage.arrived >= passage.sent);
	assert_true(passage.arrived < passage.read);
	awkward_close();
}

AWKWARD_TEST(a_clock_of_any_frequency_is_converted)
{
	static const unsigned ppm[] = {150, 300000, 1900000};

	for (unsigned i = 0; i < RTE_DIM(ppm); i++) {
		open_stamped(ppm[i], "");
		assert_true(count_early() > ROUNDS / 2);
		assert_int_equal(stamps.refused, 0);
		awkward_close();
	}
}

AWKWARD_TEST(a_clock_of_ieee_1588_is_read)
{
	open_stamped(150, ",timesync=1");
	assert_true(port_has_stamps(&pair.b));
	assert_true(count_early() > ROUNDS / 2);
	assert_int_equal(stamps.used, ROUNDS);
	awkward_close();
}

AWKWARD_TEST(no_frame_arrives_before_its_stamp)
{
	passes_no_earlier_than_stamped(150, 0);
	passes_no_earlier_than_stamped(1900000, 0);
}

AWKWARD_TEST(no_frame_arrives_before_its_stamp_by_a_clock_of_long_ticks)
{
	passes_no_earlier_than_stamped(1, 9);
}

AWKWARD_TEST(stamps_from_the_future_are_refused)
{
	refuses_all(",stamps_ahead=100");
}

AWKWARD_TEST(stamps_of_long_ago_are_refused)
{
	refuses_all(",stamps_ahead=-1500");
}

AWKWARD_TEST(times_do_not_decrease_where_some_frames_have_no_stamp)
{
	open_stamped(1, ",stamps_every=2");
	count_early();
	assert_int_equal(stamps.used, ROUNDS / 2);
	awkward_close();
}

AWKWARD_TEST(a_clock_that_was_set_is_used_when_it_is_known_again)
{
	open_stamped(1, "");
	count_early();
	assert_int_equal(fake_nic_set_clock(AWKWARD_B, (int64_t)rte_get_tsc_hz()), 0);
	assert_true(count_early() > ROUNDS / 2);
	assert_true(stamps.refused > 0);
	assert_int_equal(stamps.nic.line.steps, 1);
	awkward_close();
}

AWKWARD_TEST(a_nic_without_stamps_gives_the_time_of_reading)
{
	open_stamped(0, "");
	assert_false(port_has_stamps(&pair.b));
	assert_int_equal(count_early(), 0);
	assert_int_equal(stamps.used + stamps.refused, 0);
	awkward_close();
}

AWKWARD_TEST(a_port_that_is_not_asked_for_stamps_has_none)
{
	awkward_unstamped = true;
	open_stamped(1, "");
	awkward_unstamped = false;
	assert_false(port_has_stamps(&pair.b));
	awkward_close();
}

AWKWARD_TEST(a_nic_that_does_not_start_with_stamps_starts_without)
{
	open_stamped(1, ",fail=stamps");
	assert_false(port_has_stamps(&pair.b));
	awkward_pass();
	awkward_close();
}

AWKWARD_TEST(a_nic_whose_clock_cannot_be_read_starts_without_stamps)
{
	static const char *const clocks[] = {",fail=clock", ",fail=clock,timesync=1"};

	for (unsigned i = 0; i < RTE_DIM(clocks); i++) {
		open_stamped(1, clocks[i]);
		assert_false(port_has_stamps(&pair.b));
		awkward_pass();
		awkward_close();
	}
}

/* --- two interfaces --- */

static void open_side(struct side *side, struct port *port, uint16_t host)
{
	const bool same[2] = {host == 0, host == 1};
	struct poll_nic_config config;
	struct error error = {""};

	side->routes = side_routes(host, 0);
	config = side_config(side, host);
	config.port = port;
	config.pool = pair.pool;
	config.timing = NULL;
	config.clock = &ours;
	config.nic.link.device = FRAME_HOST_DEVICE + host;
	side->pn = poll_nic_create(&config, clock_now(&ours), &error);
	assert_non_null(side->pn);
	assert_int_equal(poll_nic_set_clocks(side->pn, same, 1u + host), 0);
}

static void close_side(struct side *side)
{
	poll_nic_destroy(side->pn);
	nic_routes_destroy(side->routes);
}

/* Both clocks are the same, so the true offset is 0. */
static uint64_t bound_of_the_other(const struct side *side)
{
	struct clock_line line;
	int64_t offset_ns;
	uint64_t bound_ns;

	clock_offset_read(nic_clock_of(side->pn->nic, 0), &line);
	if (!clock_line_at(&line, (int64_t)(clock_now(&ours) / PS_PER_NS), &offset_ns, &bound_ns))
		return UINT64_MAX;
	assert_true((uint64_t)llabs(offset_ns) <= bound_ns);
	return bound_ns;
}

/* Each loop is stalled while frames arrive. By its own clock, a question takes as long as its
 * answer. */
AWKWARD_TEST(interfaces_compare_clocks_by_stamps)
{
	struct side side[2] = {{.routes = NULL}};
	uint64_t best = UINT64_MAX;

	open_stamped(150, "");
	for (uint16_t i = 0; i < 2; i++)
		open_side(&side[i], i == 0 ? &pair.a : &pair.b, i);
	add_traffic(&side[0], LOAD_PPM, clock_now(&ours), WEFT_TIME_NEVER);
	for (weft_time end = clock_now(&ours) + 240 * PS_PER_S;
		best > WAIT_PS / PS_PER_NS / 4 && clock_now(&ours) < end;) {
		for (unsigned i = 0; i < 2; i++) {
			wait_for(WAIT_PS);
			poll_nic_run(side[i].pn, clock_now(&ours));
		}
		best = RTE_MIN(best, bound_of_the_other(&side[1]));
	}
	assert_true(best <= WAIT_PS / PS_PER_NS / 4);
	assert_true(side[0].pn->stamps.used > 0 && side[1].pn->stamps.used > 0);
	close_side(&side[0]);
	close_side(&side[1]);
	awkward_close();
}

int main(void)
{
	char name[] = "arrival_stamps";

	return run_with_eal(name, 63, &pool);
}
