/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Two interfaces at the ends of an in-memory link, with real mbufs and in virtual time. */

#include <rte_mempool.h>

#include "eal_tests.h"
#include "poll/poll_nic.h"
#include "traffic/traffic_pattern.h"

#define POOL_MBUFS 8191u
#define MTU        1024u
#define RATE_BPS   10000000000u
#define STEP_PS    (2 * PS_PER_US)
#define IP_MTU     3000u

static struct rte_mempool *pool;
static const struct tx_timing side_timing = {
	.rate_bps = RATE_BPS, .delay_ps = 100 * PS_PER_NS, .catch_up_ps = 2 * STEP_PS};

struct side {
	struct port port;
	struct nic_routes *routes;
	struct impairment impairment;
	struct poll_nic *pn;
	int tap[2]; /* ours, the interface's */
};

struct bench {
	struct side side[2];
	weft_time now;
};

/* To the other one, by the first route or, if 'way' is 1, by an equally good one. */
static inline struct nic_routes *side_routes(uint16_t host, unsigned way)
{
	static const uint8_t route[] = {ROUTE_TYPE_HOST};
	struct nic_routes *routes = nic_routes_create(2);
	uint16_t to = (uint16_t)(1 - host);

	assert_non_null(routes);
	if (way == 0)
		assert_int_equal(nic_routes_by_table(routes, to), 0);
	else
		assert_int_equal(nic_routes_add(routes, to, route, sizeof(route)), 0);
	return routes;
}

static inline struct poll_nic_config side_config(struct side *side, uint16_t host)
{
	struct poll_nic_config config = {.port = &side->port,
		.pool = pool,
		.timing = &side_timing,
		.impairment = &side->impairment};

	nic_config_default(&config.nic, host, 2);
	config.nic.mtu_bytes = MTU;
	config.nic.routes = side->routes;
	config.nic.payloads = 128; /* one peer alone gets half */
	config.nic.payload_bytes = SEGMENT_BYTES + IP_MTU;
	config.nic.link.session = 1000u + host;
	config.nic.link.hello_ps = PS_PER_MS;
	config.nic.link.refresh_ps = 50 * PS_PER_US;
	config.nic.gap_ps = 100 * PS_PER_US;
	config.nic.itb.pool_bytes = 1; /* holds no frame */
	return config;
}

/* 'routed': routes exist from the beginning. 'slots': size of the link. */
static inline void start_with(struct bench *bench, bool routed, unsigned slots)
{
	struct error error = {""};

	memset(bench, 0, sizeof(*bench));
	bench->now = PS_PER_S;
	assert_int_equal(port_open_memory_link(&bench->side[0].port, "h0:0", &bench->side[1].port,
				 "h1:0", slots, &error),
		0);
	for (uint16_t i = 0; i < 2; i++) {
		struct side *side = &bench->side[i];
		struct poll_nic_config config;

		side->routes = routed ? side_routes(i, 0) : NULL;
		rng_init(&side->impairment.rng, 3, i, 0);
		config = side_config(side, i);
		side->pn = poll_nic_create(&config, bench->now, &error);
		if (side->pn == NULL)
			fail_msg("%s", error.text);
	}
}

static inline void start(struct bench *bench)
{
	start_with(bench, true, 1024);
}

static inline unsigned step(struct bench *bench)
{
	bench->now += STEP_PS;
	return poll_nic_run(bench->side[0].pn, bench->now) +
	       poll_nic_run(bench->side[1].pn, bench->now);
}

static inline void run_for(struct bench *bench, weft_time ps)
{
	for (weft_time end = bench->now + ps; bench->now < end;)
		step(bench);
}

/* Runs until all messages are acknowledged, at most a second. */
static inline void settle(struct bench *bench)
{
	weft_time end = bench->now + PS_PER_S;

	while (poll_nic_busy(bench->side[0].pn, bench->now) ||
		poll_nic_busy(bench->side[1].pn, bench->now)) {
		assert_true(bench->now < end);
		step(bench);
	}
}

static inline void stop(struct bench *bench)
{
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &bench->side[i];

		assert_null(nic_check(side->pn->nic));
		poll_nic_destroy(side->pn);
		nic_routes_destroy(side->routes);
	}
	port_close(&bench->side[0].port);
	port_close(&bench->side[1].port);
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS); /* no buffer is lost */
}
#define bench_out_of_scope stop

static inline void add_traffic(
	struct side *side, uint32_t load_ppm, weft_time start, weft_time stop_ps)
{
	struct traffic_config config = {.pattern = &traffic_uniform,
		.rate_bps = RATE_BPS,
		.value.load_ppm = load_ppm,
		.value.message_bytes = 900,
		.value.other_message_bytes = 3000,
		.value.other_share_ppm = 200000,
		.value.arrivals = ARRIVALS_POISSON,
		.start_ps = start,
		.stop_ps = stop_ps,
		.seed = 5};
	struct error error = {""};

	if (poll_nic_add_traffic(side->pn, &config, &error) < 0)
		fail_msg("%s", error.text);
}

static inline const uint64_t *count_of(const struct side *side)
{
	return nic_counters(side->pn->nic);
}

static inline void check_traffic(const struct bench *bench)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct measure_sink *sink = bench->side[1 - i].pn->sink;
		struct traffic_counters sent = poll_nic_traffic(bench->side[i].pn);

		assert_true(sent.accepted_messages > 100);
		assert_int_equal(sent.generated_messages, sent.accepted_messages);
		assert_int_equal(sink->messages, sent.accepted_messages);
		assert_int_equal(sink->bytes, sent.accepted_bytes);
		assert_int_equal(sink->lost + sink->duplicated + sink->out_of_order, 0);
		assert_int_equal(sink->altered, 0);
		assert_int_equal(count_of(&bench->side[i])[NIC_DISCARD_CREDIT_VIOLATION], 0);
	}
}
