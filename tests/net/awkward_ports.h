/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Two Weft ports at the ends of a cable between fake NICs, opened as in a fabric: for the tests of
 * lib/port and of poll loops with awkward NICs. One pair per program at a time. */

#include <rte_mempool.h>

#include "eal_tests.h"
#include "fake_nic.h"
#include "port/port_ethdev.h"
#include "port/tsc_clock.h"
#include "wire/frame.h"

#define AWKWARD_MBUFS 4095u
#define AWKWARD_RING  512u
#define AWKWARD_A     "net_fake0"
#define AWKWARD_B     "net_fake1"

struct awkward {
	struct port a, b;
	struct rte_mempool *pool;
	struct error error; /* why the port was refused */
	unsigned mtu;
};

static struct awkward pair;
static bool awkward_unstamped; /* ports are not asked for stamps of arrival */

#define AWKWARD_TEST(name) UNIT_WITH(name, NULL, awkward_clear)

/* The longest frame of a fabric with payloads up to this length. */
static inline unsigned awkward_frame(void)
{
	return FRAME_HEADER_BYTES + FRAME_ROUTE_USUAL + pair.mtu;
}

static inline struct port_ethdev_config awkward_config(void)
{
	return (struct port_ethdev_config){.frame_bytes = awkward_frame(),
		.rx_descriptors = AWKWARD_RING,
		.tx_descriptors = AWKWARD_RING,
		.stamps = !awkward_unstamped};
}

/* Finds the device; 'room' becomes the driver's requirement for an mbuf, if that is more. */
static inline int awkward_attach(struct port *port, const char *name, const char *device,
	const char *end, const char *arguments, uint32_t *room)
{
	const struct port_ethdev_config config = awkward_config();
	struct port_ethdev_needs needs;
	char dpdk[256];
	int result;

	snprintf(dpdk, sizeof(dpdk), "%s,cable=awkward,end=%s,%s", device, end, arguments);
	result = port_attach_ethdev(port, name, dpdk, &pair.error);
	if (result < 0)
		return result;
	port_ethdev_needs(port, &config, &needs);
	*room = RTE_MAX(*room, needs.room_bytes);
	return frame_fit_check(port, &needs, pair.mtu, 0, &pair.error);
}

static inline int awkward_attach_both(const char *arguments, uint32_t *room)
{
	int result = awkward_attach(&pair.a, "s0:0", AWKWARD_A, "a", arguments, room);

	if (result == 0)
		result = awkward_attach(&pair.b, "s1:0", AWKWARD_B, "b", arguments, room);
	return result;
}

static inline int awkward_start_both(void)
{
	const struct port_ethdev_config config = awkward_config();
	int result = port_start_ethdev(&pair.a, &config, pair.pool, &pair.error);

	if (result == 0)
		result = port_start_ethdev(&pair.b, &config, pair.pool, &pair.error);
	if (result == 0) {
		port_watch_ethdev(&pair.a);
		port_watch_ethdev(&pair.b);
	}
	return result;
}

static inline int awkward_clear(void **state)
{
	port_close(&pair.a);
	port_close(&pair.b);
	rte_mempool_free(pair.pool);
	pair.pool = NULL;
	return 0;
}

static inline void awkward_close(void)
{
	port_close(&pair.a);
	port_close(&pair.b);
	assert_int_equal(rte_mempool_avail_count(pair.pool), AWKWARD_MBUFS); /* none is lost */
	awkward_clear(NULL);
}

/* Both ends are NICs with these arguments. If one is refused nothing remains open, and the fault
 * says why. */
static inline int awkward_try(const char *arguments, unsigned mtu)
{
	uint32_t room = frame_room(mtu);
	int result;

	pair = (struct awkward){.mtu = mtu};
	result = awkward_attach_both(arguments, &room);
	pair.pool = port_pool_create("frames", AWKWARD_MBUFS, room, SOCKET_ID_ANY, NULL);
	assert_non_null(pair.pool);
	if (result == 0)
		result = awkward_start_both();
	if (result < 0)
		awkward_close();
	return result;
}

static inline void awkward_open(const char *arguments, unsigned mtu)
{
	if (awkward_try(arguments, mtu) < 0)
		fail_msg("%s", pair.error.text);
}

/* --- frames --- */

static inline struct rte_mbuf *awkward_make(unsigned bytes, uint8_t seed)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pair.pool);
	uint8_t *frame;

	assert_non_null(mbuf);
	frame = (uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)bytes);
	assert_non_null(frame);
	for (unsigned i = 0; i < bytes; i++)
		frame[i] = (uint8_t)(seed + i * 13 + i / 256);
	return mbuf;
}

static inline void awkward_send(struct port *from, unsigned bytes, uint8_t seed)
{
	struct rte_mbuf *mbuf = awkward_make(bytes, seed);

	assert_int_equal(port_tx(from, &mbuf, 1, 0), 1);
}

/* Expects that frame next, in one segment, like all of Weft. */
static inline void awkward_expect(struct port *at, unsigned bytes, uint8_t seed)
{
	const uint8_t *frame;
	struct rte_mbuf *mbuf;

	if (port_rx(at, &mbuf, 1, 0) != 1)
		fail_msg("a frame of %u bytes did not come", bytes);
	assert_int_equal(mbuf->nb_segs, 1);
	assert_int_equal(mbuf->pkt_len, bytes);
	assert_int_equal(mbuf->data_len, bytes);
	assert_null(mbuf->next);
	frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	for (unsigned i = 0; i < bytes; i++)
		assert_int_equal(frame[i], (uint8_t)(seed + i * 13 + i / 256));
	rte_pktmbuf_free(mbuf);
}

/* Frames of all lengths pass both ways. */
static inline void awkward_pass(void)
{
	unsigned longest = awkward_frame();

	awkward_send(&pair.a, longest, 0);
	awkward_expect(&pair.b, longest, 0);
	for (unsigned bytes = FRAME_BYTES_MIN; bytes <= longest; bytes += 61) {
		awkward_send(&pair.a, bytes, (uint8_t)bytes);
		awkward_send(&pair.b, longest + 60 - bytes, (uint8_t)bytes);
		awkward_expect(&pair.b, bytes, (uint8_t)bytes);
		awkward_expect(&pair.a, longest + 60 - bytes, (uint8_t)bytes);
	}
}
