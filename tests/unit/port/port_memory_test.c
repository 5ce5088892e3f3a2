/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "base/rng.h"
#include "port/port.h"

#define SLOTS 64u
#define MBUFS 4096u

/* mbufs that belong to no pool, so they must not be freed. */
struct parcel {
	struct rte_mbuf mbuf;
	struct weft_packet packet;
};

struct bench {
	struct port a, b;
	struct parcel *parcel;
	struct rte_mbuf *in[MBUFS], *out[MBUFS];
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	bench->parcel = aligned_alloc(RTE_CACHE_LINE_SIZE, MBUFS * sizeof(struct parcel));
	memset(bench->parcel, 0, MBUFS * sizeof(struct parcel));
	for (unsigned i = 0; i < MBUFS; i++) {
		bench->in[i] = &bench->parcel[i].mbuf;
		bench->in[i]->priv_size = sizeof(struct weft_packet);
		mbuf_packet(bench->in[i])->sequence = i;
	}
	*state = bench;
	return port_open_memory_link(&bench->a, "s0:0", &bench->b, "s1:0", SLOTS, NULL);
}

/* Empties both directions first, because the mbufs must not be freed. */
static int teardown(void **state)
{
	struct bench *bench = *state;

	while (port_rx(&bench->a, bench->out, PORT_BURST, WEFT_TIME_NEVER) > 0 ||
		port_rx(&bench->b, bench->out, PORT_BURST, WEFT_TIME_NEVER) > 0)
		;
	port_close(&bench->a);
	port_close(&bench->b);
	free(bench->parcel);
	free(bench);
	return 0;
}

#define TEST(name) UNIT_BED(name, setup, teardown, struct bench *bench)

TEST(packet_arrives_at_its_time_and_not_before)
{
	mbuf_packet(bench->in[0])->arrived_ps = 1000;
	assert_int_equal(port_tx(&bench->a, bench->in, 1, 500), 1);
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, 999), 0);
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, 1000), 1);
	assert_ptr_equal(bench->out[0], bench->in[0]);
}

TEST(early_packet_waits_behind_a_late_one)
{
	mbuf_packet(bench->in[0])->arrived_ps = 1000;
	mbuf_packet(bench->in[1])->arrived_ps = 10;
	port_tx(&bench->a, bench->in, 2, 0);
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, 999), 0);
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, 1000), 2);
	assert_ptr_equal(bench->out[1], bench->in[1]);
}

TEST(what_does_not_fit_stays_with_the_sender)
{
	assert_int_equal(bench->a.slots, SLOTS);
	assert_int_equal(port_tx(&bench->a, bench->in, SLOTS + 10, 0), SLOTS);
	assert_int_equal(port_tx(&bench->a, bench->in + SLOTS, 10, 0), 0);
	assert_int_equal(port_rx(&bench->b, bench->out, 5, 0), 5);
	assert_true(port_tx(&bench->a, bench->in + SLOTS, 10, 0) >= 5);
}

TEST(directions_do_not_meet)
{
	port_tx(&bench->a, bench->in, 1, 0);
	port_tx(&bench->b, bench->in + 1, 1, 0);
	assert_int_equal(port_rx(&bench->a, bench->out, PORT_BURST, 0), 1);
	assert_ptr_equal(bench->out[0], bench->in[1]);
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, 0), 1);
	assert_ptr_equal(bench->out[0], bench->in[0]);
}

/* Random bursts at random times: each packet is received once, in order, and at its time. */
TEST(nothing_is_lost_doubled_or_reordered)
{
	unsigned sent = 0, received = 0;
	weft_time now = 0;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < MBUFS; i++)
		mbuf_packet(bench->in[i])->arrived_ps = i * 100 + rng_below(&rng, 1000);
	while (received < MBUFS) {
		uint16_t count = (uint16_t)RTE_MIN(rng_below(&rng, 40), (uint64_t)(MBUFS - sent));
		uint16_t n;

		now += rng_below(&rng, 2000);
		sent += port_tx(&bench->a, bench->in + sent, count, now);
		n = port_rx(&bench->b, bench->out, (uint16_t)rng_below(&rng, PORT_BURST), now);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(mbuf_packet(bench->out[i])->sequence, received + i);
			assert_true(mbuf_packet(bench->out[i])->arrived_ps <= now);
		}
		received += n;
	}
	assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, WEFT_TIME_NEVER), 0);
}

/* A receiver that polls at drawn times. Each frame is late by the time since it was due, to the
 * nanosecond, and the link's own frames do not count. */
TEST(a_frame_is_late_by_the_time_since_it_was_due)
{
	static uint8_t data[FRAME_HEADER_BYTES], credit[FRAME_HEADER_BYTES];
	static struct histogram total, wanted;
	struct lateness late = {.total = &total};
	weft_time now = 0;
	struct rng rng;

	rng_init(&rng, 46, 0, 0);
	frame_header(data)->kind = FRAME_DATA;
	frame_header(credit)->kind = FRAME_CREDIT;
	bench->b.late = &late;
	for (unsigned i = 0; i < MBUFS; i++) {
		bool counts = rng_below(&rng, 4) > 0;
		struct rte_mbuf *mbuf = bench->in[i];

		mbuf->buf_addr = counts ? data : credit;
		mbuf_packet(mbuf)->arrived_ps = now;
		assert_int_equal(port_tx(&bench->a, &mbuf, 1, now), 1);
		now += rng_next(&rng) >> (20 + rng_below(&rng, 40));
		assert_int_equal(port_rx(&bench->b, bench->out, PORT_BURST, now), 1);
		if (counts)
			histogram_record(
				&wanted, (now - mbuf_packet(mbuf)->arrived_ps) / PS_PER_NS);
	}
	assert_memory_equal(&total, &wanted, sizeof(total));
	assert_int_equal(late.arrivals, wanted.count);
	assert_int_equal(late.sum_ns, wanted.sum);
	assert_int_equal(late.max_ns, wanted.max);
	bench->b.late = NULL;
}

TEST(slots_are_a_power_of_two)
{
	struct port a, b;
	struct error error;

	assert_int_equal(port_open_memory_link(&a, "s0:0", &b, "s1:0", 100, &error), -EINVAL);
	assert_non_null(strstr(error.text, "power of two"));
}
