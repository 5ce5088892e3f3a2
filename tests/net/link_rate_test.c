/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Links of every kind with a rate and a delay, on a simulated clock: memory, shared memory, an
 * ethdev (net_ring, as for a NIC) and net_af_packet on a veth pair. Rates, delays, frames and the
 * times at which the loop polls are drawn. A transmitter always has a frame. */

#include "needs.h"
#include "open_port.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/rng.h"
#include "poll/tx_queue.h"
#include "port/eal.h"
#include "port/port.h"
#include "port/tsc_clock.h"
#include "real/real_private.h"
#include "wire/frame.h"

#define POOL_MBUFS 16383u
#define CASES      25u
#define LONGEST    1500u
#define IN_FLIGHT  1500u /* number of shortest frames that a drawn delay holds */

static struct rte_mempool *pool;
static struct clock real; /* limits waits for the kernel; no result depends on their length */
static char dir[] = "/tmp/weft-rate-XXXXXX";

struct way {
	struct port *out, *in;
	bool timed; /* the port itself holds frames until they are due */
};

struct drawn {
	uint64_t rate_bps;
	weft_time delay_ps, step_ps, stall_ps;
	uint32_t bytes; /* maximum size of a frame */
	weft_time jitter_ps;
	uint32_t loss_ppm, reorder_ppm;
};

static struct drawn draw(struct rng *rng)
{
	struct drawn drawn = {.rate_bps = UINT64_C(100000) << rng_below(rng, 14),
		.bytes = 64 + (uint32_t)rng_below(rng, LONGEST - 64),
		.step_ps = 4 * PS_PER_US << rng_below(rng, 8),
		.stall_ps = rng_below(rng, 19 * PS_PER_MS)};
	weft_time max = bytes_ps(IN_FLIGHT * 64, byte_time_of(drawn.rate_bps));

	drawn.delay_ps = rng_below(rng, RTE_MIN(max, 100 * PS_PER_MS));
	return drawn;
}

struct flow {
	struct way way;
	struct tx_queue tx;
	struct drawn drawn;
	struct rng *rng;
	struct impairment impairment;
	uint64_t next, overtaken; /* frames that arrived after a higher number */
	bool stepped_back;        /* the last frame was one of them */
	weft_time added;          /* maximum time to the due arrival of a frame */
	weft_time now;
	uint16_t rest;  /* as wire_takes() computes it */
	weft_time *end; /* end of each frame's transmission if the wire had never been idle */
	uint64_t sent, received, wire_bytes;
};

#define FRAMES_MOST 3000000u

static struct rte_mbuf *make_frame(struct flow *flow)
{
	uint32_t bytes = 64 + (uint32_t)rng_below(flow->rng, flow->drawn.bytes - 63);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 1,
		.destination = 2,
		.sequence = (uint32_t)flow->sent,
		.payload_bytes = (uint16_t)(bytes - FRAME_HEADER_BYTES)};
	weft_time takes = wire_takes(
		bytes + FRAME_WIRE_OVERHEAD, byte_time_of(flow->drawn.rate_bps), &flow->rest);

	assert_non_null(mbuf);
	frame_build((uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)bytes), &fields);
	assert_true(flow->sent < FRAMES_MOST);
	flow->end[flow->sent] = (flow->sent > 0 ? flow->end[flow->sent - 1] : 0) + takes;
	flow->sent++;
	return mbuf;
}

static bool send_one(struct flow *flow)
{
	struct rte_mbuf *mbuf;

	tx_queue_flush(&flow->tx, flow->now);
	if (!tx_queue_ready(&flow->tx, flow->now))
		return false;
	mbuf = make_frame(flow);
	tx_queue_stamp(&flow->tx, mbuf, tx_queue_begin(&flow->tx, 0, flow->now));
	tx_queue_send(&flow->tx, &mbuf, 1, flow->now);
	tx_queue_flush(&flow->tx, flow->now);
	return true;
}

/* Neither lost nor held back to be overtaken. */
static uint64_t leaving(const struct flow *flow)
{
	return flow->sent - flow->impairment.frames_lost - (flow->impairment.held != NULL);
}

static uint64_t handed_over(const struct flow *flow)
{
	return leaving(flow) - flow->tx.waiting -
	       (flow->tx.line != NULL ? flow->tx.line->count : 0);
}

/* A held frame is overtaken by one other frame, and no frame arrives twice. */
static void note_order(struct flow *flow, uint32_t number)
{
	const struct drawn *drawn = &flow->drawn;
	bool back = number < flow->next;

	if (drawn->loss_ppm == 0 && drawn->reorder_ppm == 0)
		assert_int_equal(number, flow->received);
	assert_false(back && (flow->stepped_back || number + 1 == flow->next));
	flow->stepped_back = back;
	flow->overtaken += back;
	flow->next = RTE_MAX(flow->next, number + UINT64_C(1));
}

static void receive(struct flow *flow)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	uint16_t count = port_rx(flow->way.in, mbufs, PORT_BURST, flow->now);

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
		uint32_t number = ntohl(frame_header_const(frame)->sequence_be);

		note_order(flow, number);
		if (flow->way.in->stamped)
			flow->added = RTE_MAX(flow->added, mbuf_packet(mbufs[i])->arrived_ps -
								   flow->end[number] -
								   flow->drawn.delay_ps);
		/* Never early. */
		assert_true(flow->now >= flow->end[number] + flow->drawn.delay_ps);
		flow->wire_bytes += rte_pktmbuf_data_len(mbufs[i]) + FRAME_WIRE_OVERHEAD;
		flow->received++;
		rte_pktmbuf_free(mbufs[i]);
	}
}

/* Devices deliver everything that they accepted. The kernel may take its time, which the clock does
 * not count. */
static void receive_all(struct flow *flow)
{
	weft_time until;

	receive(flow);
	if (flow->way.timed)
		return;
	until = clock_now(&real) + 240 * PS_PER_S;
	while (flow->received < handed_over(flow)) {
		receive(flow);
		assert_true(clock_now(&real) < until);
	}
}

static void turn(struct flow *flow)
{
	do
		receive_all(flow);
	while (send_one(flow));
	receive_all(flow);
	flow->now += 1 + rng_below(flow->rng, 2 * flow->drawn.step_ps);
	if (rng_below(flow->rng, 1000) == 0)
		flow->now += rng_below(flow->rng, flow->drawn.stall_ps + 1);
}

static void start_pacing(struct flow *flow)
{
	const struct drawn *drawn = &flow->drawn;
	const struct tx_timing timing = {.rate_bps = drawn->rate_bps,
		.delay_ps = drawn->delay_ps,
		.catch_up_ps = REAL_CATCH_UP_PS};

	rng_init(&flow->impairment.rng, rng_next(flow->rng), 0, 0);
	flow->impairment.jitter_ps = drawn->jitter_ps;
	flow->impairment.loss_ppm = drawn->loss_ppm;
	flow->impairment.reorder_ppm = drawn->reorder_ppm;
	tx_queue_init(&flow->tx, flow->way.out, flow->way.timed ? &timing : NULL,
		(drawn->jitter_ps | drawn->loss_ppm | drawn->reorder_ppm) != 0 ? &flow->impairment
									       : NULL);
	if (flow->way.timed)
		return;
	flow->tx.pacer.catch_up_ps = timing.catch_up_ps;
	assert_int_equal(tx_queue_pace(&flow->tx, drawn->rate_bps, drawn->delay_ps, false,
				 delay_line_frames(drawn->rate_bps, drawn->delay_ps)),
		0);
}

static void draw_impairment(struct drawn *drawn, struct rng *rng)
{
	static const uint32_t shares[] = {0, 1000, 30000, 1000000};

	/* The jitter uses up part of the space for frames in flight, so the delay is reduced. */
	drawn->jitter_ps = rng_below(rng, drawn->delay_ps + 1);
	drawn->delay_ps -= drawn->jitter_ps;
	drawn->loss_ppm = shares[rng_below(rng, 3)];
	drawn->reorder_ppm = shares[rng_below(rng, 4)];
}

/* Lost frames also take their time on the wire. */
static void check_impairment(const struct flow *flow)
{
	const struct drawn *drawn = &flow->drawn;

	assert_int_equal(flow->overtaken, flow->impairment.frames_swapped);
	if (flow->sent > 10000)
		assert_true((drawn->loss_ppm != 0) == (flow->impairment.frames_lost != 0) &&
			    (drawn->reorder_ppm != 0) == (flow->overtaken != 0));
	if (flow->sent > 10000 && flow->way.timed && drawn->loss_ppm == 0)
		assert_in_range(flow->added, drawn->jitter_ps / 2,
			drawn->jitter_ps +
				(drawn->reorder_ppm != 0) * bytes_ps(LONGEST + FRAME_WIRE_OVERHEAD,
								    byte_time_of(drawn->rate_bps)));
}

/* A second of the link's time. */
static void send_for_a_second(struct way way, struct rng *rng, bool impaired)
{
	struct flow flow = {.way = way, .drawn = draw(rng), .rng = rng, .rest = WIRE_REST};
	const weft_time from = 0, until = flow.drawn.delay_ps + PS_PER_S;
	double share;

	if (impaired)
		draw_impairment(&flow.drawn, rng);

	flow.end = malloc(FRAMES_MOST * sizeof(*flow.end));
	assert_non_null(flow.end);
	start_pacing(&flow);
	flow.now = from;
	while (flow.now < until)
		turn(&flow);
	share = (double)flow.wire_bytes * 8 * 1e12 /
		((double)flow.drawn.rate_bps * (double)(flow.now - flow.drawn.delay_ps));
	/* On the slowest link, a frame takes more than two hundredths of a second. */
	share += (double)(LONGEST + FRAME_WIRE_OVERHEAD) * 8 / (double)flow.drawn.rate_bps;
	if (!impaired && share < 0.98)
		fail_msg("%" PRIu64 " bps, delay %" PRIu64 " ps, step %" PRIu64 " ps: %.3f",
			flow.drawn.rate_bps, flow.drawn.delay_ps, flow.drawn.step_ps, share);
	for (unsigned i = 0; i < FRAMES_MOST && flow.received < leaving(&flow); i++) {
		flow.now += PS_PER_S;
		tx_queue_flush(&flow.tx, flow.now);
		receive_all(&flow);
	}
	assert_int_equal(flow.received, leaving(&flow));
	if (impaired)
		check_impairment(&flow);
	tx_queue_fini(&flow.tx);
	free(flow.end);
}

static void every_drawn_link_keeps_its_rate(struct way way, uint64_t seed)
{
	struct rng rng;

	for (unsigned i = 0; i < 2 * CASES; i++) {
		rng_init(&rng, seed, i, 0);
		send_for_a_second(way, &rng, i >= CASES);
		assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS);
	}
}

/* --- claims --- */

UNIT_TEST(memory_is_as_fast_as_the_file_says_and_never_early)
{
	struct port a, b;

	assert_int_equal(port_open_memory_link(&a, "s0:0", &b, "s1:0", 4096, NULL), 0);
	every_drawn_link_keeps_its_rate((struct way){&a, &b, true}, 1);
	port_close(&a);
	port_close(&b);
}

UNIT_TEST(shared_memory_is_as_fast_as_the_file_says_and_never_early)
{
	struct port port[2];
	char device[64];
	struct error error;

	for (unsigned end = 0; end < 2; end++) {
		snprintf(device, sizeof(device), "shared:%s/l0.ring:%u", dir, end);
		assert_int_equal(port_open_shared(&port[end], end == 0 ? "s0:0" : "s1:0", device,
					 2048, pool, &error),
			0);
	}
	every_drawn_link_keeps_its_rate((struct way){&port[0], &port[1], false}, 2);
	port_close(&port[0]);
	port_close(&port[1]);
	snprintf(device, sizeof(device), "%s/l0.ring", dir);
	assert_int_equal(unlink(device), 0);
}

static void open_device(struct port *port, const char *name, const char *dpdk)
{
	struct error error;

	if (open_port_ethdev(port, name, dpdk, 512, pool, &error) < 0)
		fail_msg("%s", error.text);
}

UNIT_TEST(device_is_as_fast_as_the_file_says_and_never_early)
{
	struct port port;

	open_device(&port, "s0:0", "net_ring0");
	every_drawn_link_keeps_its_rate((struct way){&port, &port, false}, 3);
	port_close(&port);
}

UNIT_TEST(veth_is_as_fast_as_the_file_says_and_never_early)
{
	struct port a, b;

	need_root();
	/* A killed run has left its pair. */
	if (system("ip link del weftra 2>/dev/null; "
		   "ip link add weftra mtu 2048 type veth peer name weftrb mtu 2048 2>/dev/null && "
		   "sysctl -qw net.ipv6.conf.weftra.disable_ipv6=1 "
		   "net.ipv6.conf.weftrb.disable_ipv6=1 && "
		   "ip link set weftra up && ip link set weftrb up") != 0)
		skip_because("no veth pair can be made here");
	open_device(
		&a, "s0:0", "net_af_packet0,iface=weftra,blocksz=4096,framesz=2048,framecnt=512");
	open_device(
		&b, "s1:0", "net_af_packet1,iface=weftrb,blocksz=4096,framesz=2048,framecnt=512");
	every_drawn_link_keeps_its_rate((struct way){&a, &b, false}, 4);
	port_close(&a);
	port_close(&b);
	assert_int_equal(system("ip link del weftra"), 0);
}

int main(void)
{
	char *argv[] = {(char *)"link_rate_test", NULL};
	char prefix[64];
	const struct eal_options options = {.prefix = prefix, .memory_mib = 96};
	struct error error;
	int failed;

	snprintf(prefix, sizeof(prefix), "weft-rate-test-%d", (int)getpid());
	if (mkdtemp(dir) == NULL || eal_start(1, argv, &options, &error) < 0)
		return 1;
	pool = port_pool_create("pool", POOL_MBUFS, 2048, SOCKET_ID_ANY, &error);
	if (pool == NULL)
		return 1;
	clock_start(&real, 1);
	failed = unit_run(NULL, NULL);
	rte_mempool_free(pool);
	eal_stop();
	rmdir(dir);
	return failed;
}
