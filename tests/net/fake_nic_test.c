/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The tests' own NIC does what its arguments request. Uses nothing of Weft except EAL's start and
 * the pool. */

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "eal_tests.h"
#include "fake_nic.h"
#include "fake_nic_cable.h"

#define POOL_MBUFS 8191u
#define ROOM       2048u
#define RING       256u

static struct rte_mempool *pool;

/* --- help --- */

/* A device and the settings requested from it; the rest is 0. */
struct nic {
	const char *name, *arguments;
	uint64_t rx_offloads, tx_offloads;
	uint16_t mtu, descriptors;
	bool lsc, hears_only_itself;
	struct rte_mempool *pool;
	uint16_t port;
};

/* A pool with exactly this headroom, whatever Weft's own pools have. Frees one that an earlier case
 * left. */
static struct rte_mempool *make_pool(unsigned count, unsigned room)
{
	struct rte_mempool *made;

	rte_mempool_free(rte_mempool_lookup("small"));
	made = rte_pktmbuf_pool_create(
		"small", count, 0, 0, (uint16_t)(RTE_PKTMBUF_HEADROOM + room), SOCKET_ID_ANY);
	assert_non_null(made);
	return made;
}

static struct rte_eth_dev_info get_info(uint16_t port)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	return info;
}

static void plug(struct nic *nic)
{
	assert_int_equal(rte_vdev_init(nic->name, nic->arguments), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(nic->name, &nic->port), 0);
}

static int configure(struct nic *nic)
{
	const struct rte_eth_conf conf = {
		.rxmode = {.mtu = nic->mtu, .offloads = nic->rx_offloads},
		.txmode = {.offloads = nic->tx_offloads},
		.intr_conf = {.lsc = nic->lsc},
	};

	return rte_eth_dev_configure(nic->port, 1, 1, &conf);
}

/* Returns the step that was refused, from 1 to 4, or 0 if none was. */
static int try_start(struct nic *nic)
{
	uint16_t descriptors = nic->descriptors == 0 ? RING : nic->descriptors;

	if (configure(nic) < 0)
		return 1;
	if (rte_eth_rx_queue_setup(nic->port, 0, descriptors, SOCKET_ID_ANY, NULL,
		    nic->pool == NULL ? pool : nic->pool) < 0)
		return 2;
	if (rte_eth_tx_queue_setup(nic->port, 0, descriptors, SOCKET_ID_ANY, NULL) < 0)
		return 3;
	return rte_eth_dev_start(nic->port) < 0 ? 4 : 0;
}

static void start(struct nic *nic)
{
	plug(nic);
	assert_int_equal(try_start(nic), 0);
	if (!nic->hears_only_itself)
		(void)rte_eth_promiscuous_enable(nic->port);
}

static void unplug(struct nic *nic)
{
	(void)rte_eth_dev_stop(nic->port);
	assert_int_equal(rte_vdev_uninit(nic->name), 0);
}

/* Removes the remains of a failed case. */
static int clear(void **state)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
		(void)rte_eth_dev_stop(port);
	(void)rte_vdev_uninit("net_fake0");
	(void)rte_vdev_uninit("net_fake1");
	return 0;
}

/* Two ports at one cable. Their arguments follow cable and end. */
struct pair {
	struct nic a, b;
	char arguments[2][128];
};

static void prepare(struct pair *pair, const char *for_a, const char *for_b)
{
	*pair = (struct pair){.a = {.name = "net_fake0"}, .b = {.name = "net_fake1"}};
	snprintf(pair->arguments[0], sizeof(pair->arguments[0]), "cable=c,end=a,%s", for_a);
	snprintf(pair->arguments[1], sizeof(pair->arguments[1]), "cable=c,end=b,%s", for_b);
	pair->a.arguments = pair->arguments[0];
	pair->b.arguments = pair->arguments[1];
}

static void start_pair(struct pair *pair)
{
	start(&pair->a);
	start(&pair->b);
}

static void end_pair(struct pair *pair)
{
	unplug(&pair->a);
	unplug(&pair->b);
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS); /* no buffer is lost */
}
#define pair_out_of_scope end_pair

static struct rte_mbuf *make(unsigned bytes)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t *frame;

	assert_non_null(mbuf);
	frame = (uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)bytes);
	assert_non_null(frame);
	for (unsigned i = 0; i < bytes; i++)
		frame[i] = (uint8_t)(i * 7);
	return mbuf;
}

/* Frees what the NIC does not accept. */
static unsigned send_frames(const struct nic *nic, unsigned count, unsigned bytes)
{
	unsigned sent = 0;

	for (; sent < count; sent++) {
		struct rte_mbuf *mbuf = make(bytes);

		if (rte_eth_tx_burst(nic->port, 0, &mbuf, 1) == 1)
			continue;
		rte_pktmbuf_free(mbuf);
		break;
	}
	return sent;
}

static struct rte_mbuf *receive(const struct nic *nic)
{
	struct rte_mbuf *mbuf;

	return rte_eth_rx_burst(nic->port, 0, &mbuf, 1) == 1 ? mbuf : NULL;
}

static unsigned receive_all(const struct nic *nic)
{
	struct rte_mbuf *mbuf;
	unsigned count = 0;

	for (; (mbuf = receive(nic)) != NULL; count++)
		rte_pktmbuf_free(mbuf);
	return count;
}

/* The next frame is the one from make(), in this number of segments. */
static void expect(const struct nic *nic, unsigned bytes, unsigned segments)
{
	uint8_t copy[16384], *at;
	struct rte_mbuf *mbuf = receive(nic);

	assert_non_null(mbuf);
	assert_int_equal(mbuf->pkt_len, bytes);
	assert_int_equal(mbuf->nb_segs, segments);
	rte_mbuf_sanity_check(mbuf, 1);
	at = (uint8_t *)(uintptr_t)rte_pktmbuf_read(mbuf, 0, bytes, copy);
	for (unsigned i = 0; i < bytes; i++)
		assert_int_equal(at[i], (uint8_t)(i * 7));
	rte_pktmbuf_free(mbuf);
}

static struct fake_nic_look look(const struct nic *nic)
{
	struct fake_nic_look seen;

	assert_int_equal(fake_nic_look(nic->name, &seen), 0);
	return seen;
}

static struct rte_eth_stats stats(const struct nic *nic)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(nic->port, &stats), 0);
	return stats;
}

static bool is_up(const struct nic *nic)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(nic->port, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

/* --- claims --- */

UNIT_WITH(it_says_what_it_is, NULL, clear)
{
	OWNED(pair) pair;
	struct rte_eth_dev_info info;

	prepare(&pair, "max_mtu=1500,min_mtu=256,descriptors=64:512:16", "no_scatter=1,no_multi=1");
	start_pair(&pair);
	info = get_info(pair.a.port);
	assert_string_equal(info.driver_name, "net_fake");
	assert_int_equal(info.max_mtu, 1500);
	assert_int_equal(info.min_mtu, 256);
	assert_int_equal(info.max_rx_pktlen, 1518);
	assert_int_equal(info.rx_desc_lim.nb_min, 64);
	assert_int_equal(info.rx_desc_lim.nb_max, 512);
	assert_int_equal(info.tx_desc_lim.nb_align, 16);
	assert_int_equal(info.rx_offload_capa, RTE_ETH_RX_OFFLOAD_SCATTER);
	assert_int_equal(info.tx_offload_capa, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	info = get_info(pair.b.port);
	assert_int_equal(info.rx_offload_capa | info.tx_offload_capa, 0);
}

UNIT_WITH(frames_pass_both_ways_in_order_and_short_ones_are_filled_up, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "");
	start_pair(&pair);
	for (unsigned bytes = 60; bytes <= 1514; bytes++) {
		assert_int_equal(send_frames(&pair.a, 1, bytes), 1);
		assert_int_equal(send_frames(&pair.b, 1, 1574 - bytes), 1);
		expect(&pair.b, bytes, 1);
		expect(&pair.a, 1574 - bytes, 1);
	}
	assert_int_equal(send_frames(&pair.a, 1, 20), 1);
	receive_all(&pair.b);
	assert_int_equal(stats(&pair.b).ipackets, 1456);
	assert_int_equal(stats(&pair.b).ibytes - stats(&pair.a).ibytes, 60);
	assert_int_equal(stats(&pair.a).opackets, 1456);
	assert_int_equal(look(&pair.a).kept_max, 1);
}

UNIT_WITH(the_receive_ring_is_full_of_mbufs_beforehand, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "");
	pair.b.descriptors = 1024;
	start_pair(&pair);
	assert_int_equal(look(&pair.b).filled, 1024);
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS - 1024 - RING);
}

UNIT_WITH(a_pool_too_small_for_the_receive_ring_is_refused, NULL, clear)
{
	struct pair pair;

	prepare(&pair, "", "");
	pair.a.pool = make_pool(63, ROOM);
	plug(&pair.a);
	assert_int_equal(try_start(&pair.a), 4);
	assert_int_equal(rte_mempool_avail_count(pair.a.pool), 63);
	unplug(&pair.a);
	rte_mempool_free(pair.a.pool);
}

/* They are counted at each query. When the ring is also full, frames are lost. */
UNIT_WITH(a_dry_pool_is_counted_and_frames_are_missed, NULL, clear)
{
	struct rte_mbuf *all[64];
	struct pair pair;

	prepare(&pair, "", "");
	pair.b.pool = make_pool(95, ROOM);
	pair.b.descriptors = 64;
	start_pair(&pair);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pair.b.pool, all, 31), 0);
	assert_int_equal(send_frames(&pair.a, 70, 100), 70);
	assert_int_equal(receive_all(&pair.b), 0);
	assert_int_equal(stats(&pair.b).rx_nombuf, 1);
	assert_int_equal(stats(&pair.b).imissed, 6);
	rte_pktmbuf_free_bulk(all, 31);
	assert_int_equal(receive_all(&pair.b), 64);
	unplug(&pair.b);
	assert_int_equal(rte_mempool_avail_count(pair.b.pool), 95);
	rte_mempool_free(pair.b.pool);
	unplug(&pair.a);
}

UNIT_WITH(sent_mbufs_are_kept_until_few_descriptors_are_left, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "keep=128,done_cleanup=1", "");
	start_pair(&pair);
	assert_int_equal(send_frames(&pair.a, 96, 100), 96);
	assert_int_equal(look(&pair.a).kept, 96);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(send_frames(&pair.a, 10, 100), 10);
	assert_int_equal(receive_all(&pair.b), 196);
	assert_in_range(look(&pair.a).kept, 65, 128);
	assert_in_range(look(&pair.a).kept_max, 96, 128);
	assert_int_equal(rte_eth_tx_done_cleanup(pair.a.port, 0, 5), 5);
	assert_true(rte_eth_tx_done_cleanup(pair.a.port, 0, 0) > 0);
	assert_int_equal(look(&pair.a).kept, 0);
	send_frames(&pair.a, 10, 100); /* kept until the end */
	assert_int_equal(rte_eth_tx_done_cleanup(pair.b.port, 0, 0), -ENOTSUP);
}

UNIT_WITH(it_keeps_no_more_than_its_ring_holds, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "keep=2048", "");
	start_pair(&pair);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(send_frames(&pair.a, 1, 100), 1);
		assert_int_equal(receive_all(&pair.b), 1);
	}
	assert_in_range(look(&pair.a).kept_max, RING - 32, RING);
}

static void rounded(const char *round, unsigned room, unsigned expected)
{
	struct pair pair;

	prepare(&pair, round, "");
	pair.a.pool = make_pool(511, room);
	start_pair(&pair);
	assert_int_equal(look(&pair.a).buffer_bytes, expected);
	end_pair(&pair);
	rte_mempool_free(pair.a.pool);
}

UNIT_WITH(buffers_are_rounded_down, NULL, clear)
{
	rounded("round=pow2,scatter=always", 4238, 4096);
	rounded("round=pow2", 2048, 2048);
	rounded("round=1024,scatter=always", 4238, 4096);
	rounded("round=128,scatter=always", 4238, 4224);
	rounded("room=0", 4238, 4238);
}

UNIT_WITH(longer_frames_come_in_segments_where_that_was_asked_for, NULL, clear)
{
	struct pair pair;

	prepare(&pair, "", "round=pow2");
	pair.a.mtu = pair.b.mtu = 1500;
	pair.b.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	pair.b.pool = make_pool(2047, 600);
	start_pair(&pair);
	send_frames(&pair.a, 1, 512);
	send_frames(&pair.a, 1, 513);
	send_frames(&pair.a, 1, 1400);
	expect(&pair.b, 512, 1);
	expect(&pair.b, 513, 2);
	expect(&pair.b, 1400, 3);
	assert_int_equal(look(&pair.b).segmented, 2);
	end_pair(&pair);
	rte_mempool_free(pair.b.pool);
}

UNIT_WITH(and_are_errors_where_it_was_not, NULL, clear)
{
	struct pair pair;

	prepare(&pair, "", "round=pow2");
	pair.b.pool = make_pool(2047, 600);
	start_pair(&pair);
	send_frames(&pair.a, 3, 513);
	send_frames(&pair.a, 1, 512);
	expect(&pair.b, 512, 1);
	assert_int_equal(stats(&pair.b).ierrors, 3);
	end_pair(&pair);
	rte_mempool_free(pair.b.pool);
}

UNIT_WITH(some_scatter_by_themselves, NULL, clear)
{
	struct pair pair;

	prepare(&pair, "", "round=pow2,scatter=always");
	pair.b.pool = make_pool(2047, 600);
	start_pair(&pair);
	send_frames(&pair.a, 1, 1400);
	expect(&pair.b, 1400, 3);
	end_pair(&pair);
	rte_mempool_free(pair.b.pool);
}

UNIT_WITH(every_frame_is_split_on_demand, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "split=3");
	start_pair(&pair);
	for (unsigned bytes = 60; bytes <= 1500; bytes += 7) {
		send_frames(&pair.a, 1, bytes);
		expect(&pair.b, bytes, 3);
	}
}

UNIT_WITH(frames_beyond_the_mtu_are_errors, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "");
	pair.b.mtu = 1000;
	start_pair(&pair);
	send_frames(&pair.a, 1, 1015);
	send_frames(&pair.a, 1, 1014);
	expect(&pair.b, 1014, 1);
	assert_int_equal(stats(&pair.b).ierrors, 1);
}

UNIT_WITH(an_mtu_beyond_its_limits_is_refused, NULL, clear)
{
	struct nic nic = {.name = "net_fake0", .arguments = "cable=c,max_mtu=1500,min_mtu=500"};

	plug(&nic);
	nic.mtu = 1501;
	assert_int_equal(configure(&nic), -EINVAL);
	nic.mtu = 499;
	assert_int_equal(configure(&nic), -EINVAL);
	nic.mtu = 1500;
	assert_int_equal(configure(&nic), 0);
	assert_int_equal(rte_eth_dev_set_mtu(nic.port, 1501), -EINVAL);
	assert_int_equal(rte_eth_dev_set_mtu(nic.port, 700), 0);
	unplug(&nic);
}

static void room(unsigned bytes, uint64_t offloads, int step)
{
	struct nic nic = {
		.name = "net_fake0", .arguments = "cable=c,room=16", .rx_offloads = offloads};

	nic.pool = make_pool(511, bytes);
	plug(&nic);
	assert_int_equal(try_start(&nic), step);
	unplug(&nic);
	rte_mempool_free(nic.pool);
}

UNIT_WITH(mbufs_without_room_for_more_than_a_frame_are_refused, NULL, clear)
{
	room(1529, 0, 2);
	room(1530, 0, 0);
	room(1024, RTE_ETH_RX_OFFLOAD_SCATTER, 0);
}

static struct rte_mbuf *make_chain(void)
{
	struct rte_mbuf *first = make(100), *second = make(100);

	assert_int_equal(rte_pktmbuf_chain(first, second), 0);
	return first;
}

UNIT_WITH(chains_are_sent_only_where_that_was_asked_for, NULL, clear)
{
	struct rte_mbuf *chain, *received;
	OWNED(pair) pair;

	prepare(&pair, "keep=64", "no_multi=1");
	pair.a.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	start_pair(&pair);
	chain = make_chain();
	assert_int_equal(rte_eth_tx_burst(pair.a.port, 0, &chain, 1), 1);
	assert_int_equal(look(&pair.a).kept, 2);
	received = receive(&pair.b);
	assert_non_null(received);
	assert_int_equal(received->pkt_len, 200);
	rte_pktmbuf_free(received);
	chain = make_chain();
	assert_int_equal(rte_eth_tx_burst(pair.b.port, 0, &chain, 1), 1);
	assert_null(receive(&pair.a));
	assert_int_equal(stats(&pair.b).oerrors, 1);
}

UNIT_WITH(offloads_that_it_lacks_are_refused, NULL, clear)
{
	struct nic nic = {.name = "net_fake0",
		.arguments = "cable=c,no_scatter=1,no_multi=1",
		.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER};

	plug(&nic);
	assert_int_equal(configure(&nic), -EINVAL);
	nic.rx_offloads = 0;
	nic.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	assert_int_equal(configure(&nic), -EINVAL);
	unplug(&nic);
}

UNIT_WITH(nothing_passes_without_carrier, NULL, clear)
{
	struct rte_eth_link link;
	OWNED(pair) pair;

	prepare(&pair, "speed=25000", "");
	start_pair(&pair);
	assert_true(is_up(&pair.a));
	assert_int_equal(rte_eth_link_get(pair.a.port, &link), 0);
	assert_int_equal(link.link_speed, 25000);
	assert_int_equal(fake_nic_carrier("net_fake0", false), 0);
	assert_false(is_up(&pair.a));
	assert_false(is_up(&pair.b));
	assert_int_equal(send_frames(&pair.a, 2 * RING, 100), 2 * RING);
	assert_int_equal(fake_nic_carrier("net_fake1", true), 0);
	assert_true(is_up(&pair.b));
	assert_null(receive(&pair.b));
	assert_int_equal(send_frames(&pair.a, 1, 100), 1);
	expect(&pair.b, 100, 1);
	assert_int_equal(stats(&pair.a).opackets, 1);
}

UNIT_WITH(some_send_late_what_they_got_without_carrier, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "down=hold", "");
	start_pair(&pair);
	fake_nic_carrier("net_fake0", false);
	assert_int_equal(send_frames(&pair.a, 2 * RING, 100), RING);
	assert_null(receive(&pair.b));
	fake_nic_carrier("net_fake0", true);
	assert_null(receive(&pair.a)); /* time passes */
	assert_int_equal(receive_all(&pair.b), RING);
}

UNIT_WITH(carrier_of_some_is_that_the_far_end_is_started, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "carrier=peer", "");
	start(&pair.a);
	assert_false(is_up(&pair.a));
	start(&pair.b);
	assert_true(is_up(&pair.a));
	assert_int_equal(rte_eth_dev_stop(pair.b.port), 0);
	assert_false(is_up(&pair.a));
}

static int on_change(uint16_t port, enum rte_eth_event_type event, void *ctx, void *more)
{
	(void)port, (void)event, (void)more;
	__atomic_fetch_add((unsigned *)ctx, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void wait_for(const unsigned *changes, unsigned count)
{
	uint64_t until = rte_get_tsc_cycles() + 20 * rte_get_tsc_hz();

	while (__atomic_load_n(changes, __ATOMIC_SEQ_CST) < count && rte_get_tsc_cycles() < until)
		rte_pause();
	assert_int_equal(__atomic_load_n(changes, __ATOMIC_SEQ_CST), count);
}

UNIT_WITH(changes_of_the_carrier_are_reported_where_that_was_asked_for, NULL, clear)
{
	unsigned changes = 0;
	struct pair pair;

	prepare(&pair, "lsc=1", "");
	pair.a.lsc = true;
	plug(&pair.a);
	rte_eth_dev_callback_register(pair.a.port, RTE_ETH_EVENT_INTR_LSC, on_change, &changes);
	assert_int_equal(try_start(&pair.a), 0);
	wait_for(&changes, 1);
	assert_true(is_up(&pair.a));
	fake_nic_carrier("net_fake0", false);
	wait_for(&changes, 2);
	assert_false(is_up(&pair.a));
	rte_eth_dev_stop(pair.a.port);
	rte_eth_dev_callback_unregister(pair.a.port, RTE_ETH_EVENT_INTR_LSC, on_change, &changes);
	unplug(&pair.a);
}

UNIT_WITH(only_a_promiscuous_nic_takes_frames_for_others, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "");
	pair.b.hears_only_itself = true;
	start_pair(&pair);
	send_frames(&pair.a, 1, 100);
	assert_null(receive(&pair.b));
	assert_int_equal(rte_eth_promiscuous_enable(pair.b.port), 0);
	send_frames(&pair.a, 1, 100);
	expect(&pair.b, 100, 1);
}

UNIT_WITH(some_are_always_promiscuous_and_cannot_be_told_to, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "promisc=unsupported");
	start_pair(&pair);
	assert_int_equal(rte_eth_promiscuous_enable(pair.b.port), -ENOTSUP);
	send_frames(&pair.a, 1, 100);
	expect(&pair.b, 100, 1);
}

UNIT_WITH(each_step_fails_on_demand, NULL, clear)
{
	static const char *const steps[] = {"configure", "rxq", "txq", "start"};

	for (int i = 0; i < 4; i++) {
		struct pair pair;
		char argument[32];

		snprintf(argument, sizeof(argument), "fail=%s,error=%d", steps[i], EPERM);
		prepare(&pair, argument, "");
		plug(&pair.a);
		assert_int_equal(try_start(&pair.a), i + 1);
		unplug(&pair.a);
	}
}

UNIT_WITH(wrong_arguments_are_refused, NULL, clear)
{
	static const char *const wrong[] = {"", "cable=c,end=x", "cable=c,keep=x", "cable=c,kep=1",
		"cable=c,descriptors=1:2", "cable=c,max_mtu=9000,max_frame=9000"};

	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_true(rte_vdev_init("net_fake0", wrong[i]) < 0);
}

UNIT_WITH(an_end_is_one_port_s, NULL, clear)
{
	struct nic nic = {.name = "net_fake0", .arguments = "cable=c,end=b"};

	plug(&nic);
	assert_true(rte_vdev_init("net_fake1", "cable=c,end=b") < 0);
	unplug(&nic);
}

UNIT_WITH(what_was_sent_before_a_port_started_does_not_come, NULL, clear)
{
	OWNED(pair) pair;

	prepare(&pair, "", "");
	start_pair(&pair);
	send_frames(&pair.a, 10, 100);
	assert_int_equal(rte_eth_dev_stop(pair.b.port), 0);
	send_frames(&pair.a, 10, 100);
	assert_int_equal(rte_eth_dev_start(pair.b.port), 0);
	send_frames(&pair.a, 1, 300);
	expect(&pair.b, 300, 1);
	assert_null(receive(&pair.b));
}

/* Another process takes the end of a cable, sends, and is terminated. */
static void send_and_die(const char *path)
{
	struct fake_cable cable;
	struct rte_mbuf *mbuf = make(200);

	if (fake_cable_open(&cable, path, 1) != 0)
		_exit(1);
	fake_cable_listen(&cable, 64, 2048, 0);
	fake_cable_send(&cable, mbuf);
	_exit(fake_cable_open(&cable, path, 0) == -EBUSY ? 0 : 1);
}

UNIT_WITH(a_cable_of_a_path_leads_to_another_process_which_may_die, NULL, clear)
{
	char path[] = "/dev/shm/weft-fake-XXXXXX", arguments[64];
	struct nic nic = {.name = "net_fake0", .arguments = arguments};
	int status = 1, file = mkstemp(path);
	pid_t child;

	close(file);
	snprintf(arguments, sizeof(arguments), "cable=%s,carrier=peer", path);
	start(&nic);
	for (unsigned life = 0; life < 2; life++) {
		child = fork();
		if (child == 0)
			send_and_die(path);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		expect(&nic, 200, 1);
		assert_false(is_up(&nic));
	}
	unplug(&nic);
	unlink(path);
}

int main(void)
{
	char name[] = "fake_nic";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
