/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Ports of every kind that a single machine supports: net_ring, net_memif (with a second process),
 * net_af_packet and net_tap (need root), net_pcap, in-memory links with real mbufs, and shared
 * memory. Also checks the messages about missing devices. */

#include "needs.h"
#include "open_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "capture/pcapng.h"
#include "port/eal.h"
#include "port/port.h"
#include "port/port_ethdev.h"
#include "port/port_udp.h"
#include "port/tsc_clock.h"
#include "wire/frame.h"

#define HANG_SECONDS 240 /* nothing takes as long */
#define POOL_MBUFS   8191u
#define FRAMES       1000u
#define FRAME_SIZE   100u

static struct rte_mempool *pool;
static char dir[] = "/tmp/weft-port-XXXXXX";
static pid_t echo_pid;

/* --- help --- */

/* The real clock limits every wait. No result depends on its length. */
struct patience {
	struct clock clock;
	weft_time until;
};

static struct patience patience_begin(void)
{
	struct patience patience;

	clock_start(&patience.clock, 1);
	patience.until = clock_now(&patience.clock) + HANG_SECONDS * PS_PER_S;
	return patience;
}

static bool patience_left(const struct patience *patience)
{
	return clock_now(&patience->clock) < patience->until;
}

static struct rte_mbuf *make_frame(uint32_t sequence)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 1,
		.destination = 2,
		.sequence = sequence,
		.payload_bytes = FRAME_SIZE - FRAME_HEADER_BYTES};
	uint8_t *frame;

	assert_non_null(mbuf);
	frame = (uint8_t *)rte_pktmbuf_append(mbuf, FRAME_SIZE);
	memset(frame + FRAME_HEADER_BYTES, (int)sequence, fields.payload_bytes);
	assert_int_equal(frame_build(frame, &fields), FRAME_SIZE);
	mbuf_packet(mbuf)->arrived_ps = 0;
	return mbuf;
}

static uint32_t frame_sequence(struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	assert_int_equal(mbuf->nb_segs, 1);
	assert_int_equal(frame_check(frame, mbuf->pkt_len), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(frame));
	return rte_be_to_cpu_32(frame_header_const(frame)->sequence_be);
}

static bool is_weft(struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	return frame[12] == FRAME_ETHERTYPE >> 8 && frame[13] == (FRAME_ETHERTYPE & 0xFF);
}

/* Sends FRAMES frames into 'out' while reading them from 'in'. Each arrives once and in order.
 * Frames of other senders (a kernel) are ignored. */
static void frames_pass(struct port *out, struct port *in, unsigned window)
{
	struct patience patience = patience_begin();
	struct rte_mbuf *mbufs[PORT_BURST], *waiting = NULL;
	unsigned sent = 0, received = 0;

	while (received < FRAMES && patience_left(&patience)) {
		uint16_t n;

		if (waiting == NULL && sent < FRAMES && sent - received < window)
			waiting = make_frame(sent);
		if (waiting != NULL && port_tx(out, &waiting, 1, 0) == 1) {
			waiting = NULL;
			sent++;
		}
		n = port_rx(in, mbufs, PORT_BURST, 0);
		for (unsigned i = 0; i < n; i++) {
			if (is_weft(mbufs[i]))
				assert_int_equal(frame_sequence(mbufs[i]), received++);
			rte_pktmbuf_free(mbufs[i]);
		}
	}
	assert_int_equal(received, FRAMES);
}

/* Sends 'count' frames while no frames are read, then reads them. All of them arrive. */
static void frames_wait(struct port *out, struct port *in, unsigned count)
{
	struct patience patience = patience_begin();
	struct rte_mbuf *mbuf;
	unsigned received = 0;

	for (unsigned sent = 0; sent < count; sent++) {
		mbuf = make_frame(sent);
		while (port_tx(out, &mbuf, 1, 0) == 0)
			assert_true(patience_left(&patience));
	}
	while (received < count && patience_left(&patience)) {
		if (port_rx(in, &mbuf, 1, 0) == 0)
			continue;
		if (is_weft(mbuf))
			assert_int_equal(frame_sequence(mbuf), received++);
		rte_pktmbuf_free(mbuf);
	}
	assert_int_equal(received, count);
}

static void open_port(struct port *port, const char *dpdk)
{
	struct patience patience = patience_begin();
	struct error error = {""};

	/* A memif client connects only once, and the other process may not be listening yet. */
	while (open_port_ethdev(port, "s0:0", dpdk, 512, pool, &error) < 0)
		if (strstr(dpdk, "role=client") == NULL || !patience_left(&patience))
			fail_msg("%s", error.text);
}

static void pool_is_whole(void)
{
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS);
}

/* Waits until the kernel reports the interface as running, or not. The kernel does this in the
 * background. */
static void wait_running(const char *name, bool expected)
{
	int asker = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request;
	bool running;

	do {
		memset(&request, 0, sizeof(request));
		strcpy(request.ifr_name, name);
		running = ioctl(asker, SIOCGIFFLAGS, &request) == 0 &&
			  (request.ifr_flags & IFF_RUNNING) != 0;
	} while (running != expected && sched_yield() == 0);
	close(asker);
}

static void make_veth(void)
{
	need_root();
	/* A killed run has left its pair. */
	if (system("ip link del wefta 2>/dev/null; "
		   "ip link add wefta mtu 2048 type veth peer name weftb mtu 2048 2>/dev/null && "
		   "sysctl -qw net.ipv6.conf.wefta.disable_ipv6=1 net.ipv6.conf.weftb.disable_ipv6=1 && "
		   "ip link set wefta up && ip link set weftb up") != 0)
		skip_because("no veth pair can be made here");
	wait_running("wefta", true);
	wait_running("weftb", true);
}

static void remove_veth(void)
{
	assert_int_equal(system("ip link del wefta"), 0);
}

/* --- claims --- */

UNIT_TEST(pool_has_room_for_descriptor_and_frame)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_int_equal(rte_pktmbuf_priv_size(pool), sizeof(struct weft_packet));
	assert_ptr_equal(packet_mbuf(mbuf_packet(mbuf)), mbuf);
	assert_int_equal((uintptr_t)mbuf_packet(mbuf) % RTE_CACHE_LINE_SIZE, 0);
	assert_true(rte_pktmbuf_tailroom(mbuf) >= 2048);
	rte_pktmbuf_free(mbuf);
}

UNIT_TEST(ring_passes_frames_in_order)
{
	struct port port;

	open_port(&port, "net_ring0");
	frames_pass(&port, &port, 64);
	port_close(&port);
	pool_is_whole();
}

/* The basis of flow control for a neighbour: exactly as many frames as 'slots' says, and not one
 * less. */
UNIT_TEST(ring_holds_as_many_frames_as_it_says)
{
	struct rte_mbuf *mbuf;
	unsigned accepted = 0;
	struct port port;

	open_port(&port, "net_ring0");
	for (;; accepted++) {
		mbuf = make_frame(accepted);
		if (port_tx(&port, &mbuf, 1, 0) == 0)
			break;
	}
	rte_pktmbuf_free(mbuf);
	assert_int_equal(accepted, port.slots);
	for (; accepted > 0; accepted--) {
		assert_int_equal(port_rx(&port, &mbuf, 1, 0), 1);
		rte_pktmbuf_free(mbuf);
	}
	port_close(&port);
}

UNIT_TEST(device_can_be_opened_again_after_it_was_closed)
{
	struct port port;

	for (unsigned i = 0; i < 3; i++) {
		open_port(&port, "net_null0,size=64");
		port_close(&port);
	}
}

UNIT_TEST(memory_link_gives_back_what_is_in_it_when_it_is_closed)
{
	struct rte_mbuf *mbuf;
	struct port a, b;

	assert_int_equal(port_open_memory_link(&a, "s0:0", &b, "s1:0", 64, NULL), 0);
	frames_pass(&a, &b, 32);
	for (unsigned i = 0; i < 50; i++) {
		mbuf = make_frame(i);
		assert_int_equal(port_tx(&a, &mbuf, 1, 0), 1);
	}
	assert_int_equal(port_rx(&b, &mbuf, 1, 0), 1);
	rte_pktmbuf_free(mbuf);
	port_close(&a);
	port_close(&b);
	pool_is_whole();
}

/* --- shared memory: both ends in this process --- */

static void open_shared(struct port *port, unsigned end)
{
	char device[64];
	struct error error;

	snprintf(device, sizeof(device), "shared:%s/l0.ring:%u", dir, end);
	if (port_open_shared(port, end == 0 ? "s0:0" : "s1:0", device, 1024, pool, &error) < 0)
		fail_msg("%s", error.text);
}

static void plug_shared(struct port *port, unsigned end)
{
	char device[64];
	struct error error;

	snprintf(device, sizeof(device), "shared:%s/l0.ring:%u", dir, end);
	if (port_plug_shared(port, device, 1024, pool, &error) < 0)
		fail_msg("%s", error.text);
}

static void remove_shared(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/l0.ring", dir);
	assert_int_equal(unlink(path), 0);
	pool_is_whole();
}

UNIT_TEST(shared_memory_passes_frames_both_ways)
{
	struct port a, b;

	open_shared(&a, 0);
	open_shared(&b, 1);
	frames_pass(&a, &b, 100);
	frames_pass(&b, &a, 100);
	/* The basis of flow control. */
	frames_wait(&a, &b, a.slots);
	port_close(&a);
	port_close(&b);
	remove_shared();
}

UNIT_TEST(end_of_shared_memory_that_comes_back_goes_on)
{
	struct rte_mbuf *mbuf;
	struct port a, b;

	open_shared(&a, 0);
	open_shared(&b, 1);
	frames_pass(&a, &b, 100);
	port_close(&b);
	/* Frames for a reader that has ended fill the ring. Then the writer keeps them. */
	for (mbuf = make_frame(0); port_tx(&a, &mbuf, 1, 0) == 1; mbuf = make_frame(0))
		;
	rte_pktmbuf_free(mbuf);
	open_shared(&b, 1);
	assert_int_equal(port_rx(&b, &mbuf, 1, 0), 0);
	frames_pass(&a, &b, 100);
	port_close(&a);
	open_shared(&a, 0);
	frames_pass(&a, &b, 100);
	port_close(&a);
	port_close(&b);
	remove_shared();
}

/* Each end restarts separately. Frames in flight are lost, but their buffers are not. */
UNIT_TEST(in_memory_link_becomes_one_of_shared_memory)
{
	struct rte_mbuf *mbuf;
	struct port a, b;
	struct error error;

	assert_int_equal(port_open_memory_link(&a, "s0:0", &b, "s1:0", 64, &error), 0);
	frames_pass(&a, &b, 32);
	for (unsigned i = 0; i < 3; i++) {
		mbuf = make_frame(i);
		assert_int_equal(port_tx(i == 0 ? &b : &a, &mbuf, 1, 0), 1);
	}
	plug_shared(&a, 0);
	assert_int_equal(port_rx(&a, &mbuf, 1, 0), 0);
	plug_shared(&b, 1);
	frames_pass(&a, &b, 32);
	frames_pass(&b, &a, 32);
	/* The same file is used again. */
	plug_shared(&a, 0);
	frames_pass(&a, &b, 32);
	port_close(&a);
	port_close(&b);
	remove_shared();
}

UNIT_TEST(frames_in_shared_memory_wait_for_mbufs)
{
	static struct rte_mbuf *taken[POOL_MBUFS + 1];
	struct port_losses losses;
	struct rte_mbuf *mbuf;
	unsigned count = 0;
	struct port a, b;

	open_shared(&a, 0);
	open_shared(&b, 1);
	for (unsigned i = 0; i < 3; i++) {
		mbuf = make_frame(i);
		assert_int_equal(port_tx(&a, &mbuf, 1, 0), 1);
	}
	while ((taken[count] = rte_pktmbuf_alloc(pool)) != NULL)
		count++;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(port_rx(&b, &mbuf, 1, 0), 0);
	port_losses_read(&b, &losses);
	assert_int_equal(losses.rx_no_buffer, 1);
	rte_pktmbuf_free_bulk(taken, count);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(port_rx(&b, &mbuf, 1, 0), 1);
		assert_int_equal(frame_sequence(mbuf), i);
		rte_pktmbuf_free(mbuf);
	}
	port_close(&a);
	port_close(&b);
	remove_shared();
}

/* One of them may be the credit frame that allows others to be freed. */
UNIT_TEST(frames_in_shared_memory_are_taken_as_far_as_there_are_mbufs)
{
	static struct rte_mbuf *taken[POOL_MBUFS + 1];
	struct rte_mbuf *mbuf[3];
	unsigned count = 0;
	struct port a, b;

	open_shared(&a, 0);
	open_shared(&b, 1);
	for (unsigned i = 0; i < 3; i++) {
		mbuf[0] = make_frame(i);
		assert_int_equal(port_tx(&a, mbuf, 1, 0), 1);
	}
	while ((taken[count] = rte_pktmbuf_alloc(pool)) != NULL)
		count++;
	rte_pktmbuf_free(taken[--count]);
	assert_int_equal(port_rx(&b, mbuf, 3, 0), 1);
	assert_int_equal(frame_sequence(mbuf[0]), 0);
	rte_pktmbuf_free(mbuf[0]);
	rte_pktmbuf_free_bulk(taken, count);
	port_close(&a);
	port_close(&b);
	remove_shared();
}

static bool send_due(struct port *port, weft_time due)
{
	struct rte_mbuf *mbuf = make_frame(0);

	mbuf_packet(mbuf)->arrived_ps = due;
	return port_tx(port, &mbuf, 1, 0) == 1;
}

/* Returns the due time of the frame that arrives at 'now'; 0: none arrives. */
static weft_time receive_due(struct port *port, weft_time now)
{
	struct rte_mbuf *mbuf;
	weft_time due;

	if (port_rx(port, &mbuf, 1, now) == 0)
		return 0;
	due = port_due(port, mbuf, now);
	rte_pktmbuf_free(mbuf);
	return due;
}

/* No frame arrives before it is due. A frame without a due time, or with an absurd one, is not
 * late. */
UNIT_TEST(frames_in_shared_memory_keep_their_due_times)
{
	struct lateness late = {.arrivals = 0};
	struct port a, b;

	open_shared(&a, 0);
	open_shared(&b, 1);
	b.late = &late;
	assert_true(send_due(&a, 5 * PS_PER_US));
	assert_int_equal(receive_due(&b, 7 * PS_PER_US), 7 * PS_PER_US);
	assert_int_equal(late.arrivals, 0);
	a.timed = true;
	assert_true(send_due(&a, 5 * PS_PER_US));
	assert_true(send_due(&a, 6 * PS_PER_US));
	assert_true(send_due(&a, WEFT_TIME_NEVER));
	assert_int_equal(receive_due(&b, 5 * PS_PER_US - 1), 0);
	assert_int_equal(receive_due(&b, 5 * PS_PER_US), 5 * PS_PER_US);
	assert_int_equal(receive_due(&b, 9 * PS_PER_US), 6 * PS_PER_US);
	assert_int_equal(receive_due(&b, 9 * PS_PER_US), 9 * PS_PER_US);
	assert_int_equal(late.arrivals, 2);
	assert_int_equal(late.sum_ns, 3000);
	port_close(&a);
	port_close(&b);
	remove_shared();
}

UNIT_TEST(shared_memory_that_cannot_be_opened_is_named)
{
	struct error error;
	struct port port;

	assert_int_equal(
		port_open_shared(&port, "s0:0", "shared:/nonexist/l0.ring:0", 1024, pool, &error),
		-ENOENT);
	assert_string_equal(error.text, "s0:0: /nonexist/l0.ring: No such file or directory");
	assert_int_equal(
		port_open_shared(&port, "s0:0", "shared:/tmp/l0.ring:2", 1024, pool, &error),
		-EINVAL);
	assert_non_null(strstr(error.text, "expected shared:PATH:0 or shared:PATH:1"));
}

/* --- ethdevs --- */

UNIT_TEST(memif_passes_frames_through_another_process)
{
	char dpdk[160];
	struct port port;

	snprintf(dpdk, sizeof(dpdk),
		"net_memif0,role=client,id=1,rsize=7,socket-abstract=no,socket=%s/memif", dir);
	open_port(&port, dpdk);
	assert_int_equal(port.slots, 128);
	frames_pass(&port, &port, 100);
	/* A ring in each direction. */
	frames_wait(&port, &port, 2 * port.slots);
	port_close(&port);
	pool_is_whole();
}

UNIT_TEST(veth_carries_frames_between_af_packet_ports)
{
	struct port a, b;

	make_veth();
	open_port(&a, "net_af_packet0,iface=wefta");
	open_port(&b, "net_af_packet1,iface=weftb,framecnt=256");
	assert_int_equal(b.slots, 256);
	frames_pass(&a, &b, 100);
	frames_wait(&a, &b, b.slots);
	port_close(&a);
	port_close(&b);
	remove_veth();
	pool_is_whole();
}

/* Only the port at the other end accepts a frame, and only with its own VLAN. */
UNIT_TEST(a_kernel_interface_passes_frames_for_its_address_and_its_vlan)
{
	static const uint16_t vlan[] = {0, 1, 120, 4094};
	static const uint8_t own[6] = {2, 0, 0, 0, 0, 1}, other[6] = {2, 0, 0, 0, 0, 2},
			     group[6] = {3};
	const uint8_t *const to[] = {own, other, group};
	struct port port[2][RTE_DIM(vlan)];
	unsigned passed = 0;

	make_veth();
	for (unsigned i = 0; i < RTE_DIM(vlan); i++)
		for (unsigned end = 0; end < 2; end++) {
			struct error error = {""};

			if (port_open_packet(&port[end][i], "s0:0",
				    end == 0 ? "net_af_packet0,iface=wefta"
					     : "net_af_packet1,iface=weftb",
				    2048, vlan[i], pool, &error) < 0)
				fail_msg("%s", error.text);
			port_set_address(&port[end][i], end == 0 ? other : own);
		}
	for (unsigned i = 0; i < RTE_DIM(vlan) * RTE_DIM(to); i++) {
		struct port *out = &port[0][i / RTE_DIM(to)];
		struct rte_mbuf *mbuf = make_frame(i);

		port_set_peer(out, to[i % RTE_DIM(to)], false);
		assert_int_equal(port_tx(out, &mbuf, 1, 0), 1);
		for (unsigned k = 0; k < RTE_DIM(vlan); k++) {
			bool expected = k == i / RTE_DIM(to) && to[i % RTE_DIM(to)] != other;

			assert_int_equal(port_rx(&port[1][k], &mbuf, 1, 0), expected);
			if (!expected)
				continue;
			assert_int_equal(frame_sequence(mbuf), i);
			assert_int_equal(mbuf->pkt_len, FRAME_SIZE);
			rte_pktmbuf_free(mbuf);
			passed++;
		}
	}
	assert_int_equal(passed, 8);
	for (unsigned i = 0; i < RTE_DIM(vlan); i++) {
		port_close(&port[0][i]);
		port_close(&port[1][i]);
	}
	remove_veth();
	pool_is_whole();
}

static struct rte_mbuf *make_bytes(unsigned bytes)
{
	struct rte_mbuf *mbuf = make_frame(0);

	memset(rte_pktmbuf_append(mbuf, (uint16_t)(bytes - FRAME_SIZE)), 0x5a, bytes - FRAME_SIZE);
	return mbuf;
}

UNIT_TEST(a_kernel_interface_passes_the_longest_frame_with_a_tag_and_counts_a_longer_one)
{
	struct error error = {""};
	struct port_losses losses;
	struct rte_mbuf *mbuf;
	struct port port[2];

	make_veth();
	assert_int_equal(system("ip link set weftb mtu 1986"), 0);
	assert_int_equal(port_open_packet(&port[0], "s0:0", "net_af_packet0,iface=wefta", 2000, 7,
				 pool, &error),
		0);
	assert_int_equal(port_open_packet(&port[1], "s1:0", "net_af_packet0,iface=weftb", 2000, 7,
				 pool, &error),
		0);
	mbuf = make_bytes(2000);
	assert_int_equal(port_tx(&port[0], &mbuf, 1, 0), 1);
	assert_int_equal(port_rx(&port[1], &mbuf, 1, 0), 1);
	assert_int_equal(mbuf->pkt_len, 2000);
	assert_int_equal(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 1999), 0x5a);
	rte_pktmbuf_free(mbuf);
	/* Longer than the sender's MTU and the receiver's slots. */
	mbuf = make_bytes(2001);
	assert_int_equal(port_tx(&port[1], &mbuf, 1, 0), 1);
	port_losses_read(&port[1], &losses);
	assert_int_equal(losses.tx_errors, 1);
	assert_int_equal(system("ip link set weftb mtu 2048"), 0);
	mbuf = make_bytes(2001);
	assert_int_equal(port_tx(&port[1], &mbuf, 1, 0), 1);
	assert_int_equal(port_rx(&port[0], &mbuf, 1, 0), 0);
	port_losses_read(&port[0], &losses);
	assert_int_equal(losses.rx_errors, 1);
	port_close(&port[0]);
	port_close(&port[1]);
	remove_veth();
	pool_is_whole();
}

UNIT_TEST(frames_that_a_full_ring_loses_are_counted_and_other_traffic_takes_no_slots)
{
	static const uint8_t other[64] = {[12] = 8};
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	int talker = socket(AF_PACKET, SOCK_RAW, 0);
	struct port_losses losses;
	struct port a, b;

	make_veth();
	open_port(&a, "net_af_packet0,iface=wefta");
	open_port(&b, "net_af_packet1,iface=weftb,blocksz=4096,framesz=2048,framecnt=200");
	assert_int_equal(b.slots, 256);
	at.sll_ifindex = (int)if_nametoindex("wefta");
	assert_int_equal(bind(talker, (struct sockaddr *)&at, sizeof(at)), 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(send(talker, other, sizeof(other), 0), sizeof(other));
	frames_wait(&a, &b, 256);
	port_losses_read(&b, &losses);
	assert_int_equal(losses.rx_missed, 0);
	for (unsigned i = 0; i < 300; i++) {
		struct rte_mbuf *mbuf = make_frame(i);

		assert_int_equal(port_tx(&a, &mbuf, 1, 0), 1);
	}
	for (unsigned i = 0; i < 2; i++) {
		port_losses_read(&b, &losses);
		assert_int_equal(losses.rx_missed, 300 - 256);
	}
	for (unsigned i = 0; i < 256; i++) {
		struct rte_mbuf *mbuf;

		assert_int_equal(port_rx(&b, &mbuf, 1, 0), 1);
		assert_int_equal(frame_sequence(mbuf), i);
		rte_pktmbuf_free(mbuf);
	}
	close(talker);
	port_close(&a);
	port_close(&b);
	remove_veth();
	pool_is_whole();
}

static void interface_is(struct port *port, bool expected, weft_time now)
{
	struct port_ethdev_link link;
	struct rte_mbuf *mbuf;

	assert_int_equal(port_rx(port, &mbuf, 1, now), 0);
	assert_int_equal(port_is_cut_by(port, PORT_CUT_CARRIER), !expected);
	assert_true(port_ethdev_link(port, &link));
	assert_int_equal(link.up, expected);
	assert_int_equal(link.is_dark, !expected);
	assert_int_equal(link.rx_descriptors, port->slots);
}

static void drain(struct port *port, weft_time now)
{
	struct rte_mbuf *mbuf;

	while (port_rx(port, &mbuf, 1, now) == 1)
		rte_pktmbuf_free(mbuf);
}

UNIT_TEST(an_interface_that_is_down_or_gone_is_without_carrier_and_used_again_when_it_is_back)
{
	static const char *const fall[] = {
		"ip link set weftb down", "ip link set wefta down", "ip link del wefta"};
	weft_time now = 0;
	struct port a, b;

	make_veth();
	open_port(&a, "net_af_packet0,iface=wefta");
	open_port(&b, "net_af_packet1,iface=weftb");
	for (unsigned i = 0; i < RTE_DIM(fall); i++) {
		struct rte_mbuf *mbuf = make_frame(0);

		interface_is(&a, true, now += PS_PER_S);
		drain(&b, now); /* the frame of the former iteration, if it waited */
		interface_is(&b, true, now);
		frames_pass(&a, &b, 100);
		assert_int_equal(system(fall[i]), 0);
		wait_running("wefta", false);
		/* The failure may still be unnoticed. A frame that waits leaves later, which is not
		 * an error. */
		if (port_tx(&a, &mbuf, 1, now) == 0)
			rte_pktmbuf_free(mbuf);
		interface_is(&a, false, now += PS_PER_S);
		make_veth();
	}
	interface_is(&a, true, now += PS_PER_S);
	drain(&b, now);
	interface_is(&b, true, now);
	frames_pass(&b, &a, 100);
	port_close(&a);
	port_close(&b);
	remove_veth();
	pool_is_whole();
}

struct talker {
	int socket;
	atomic_bool over;
};

static void *talk(void *ctx)
{
	static const uint8_t frame[64] = {[12] = FRAME_ETHERTYPE >> 8, FRAME_ETHERTYPE & 0xff};
	struct talker *talker = ctx;

	while (!atomic_load(&talker->over))
		(void)!send(talker->socket, frame, sizeof(frame), 0);
	return NULL;
}

/* A packet socket receives from all interfaces before it is bound to one. */
UNIT_TEST(af_packet_port_hears_nothing_of_other_interfaces)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	struct talker talker = {.socket = -1};
	struct rte_mbuf *mbuf;
	pthread_t thread;
	struct port port;

	make_veth();
	assert_int_equal(system("ip link add weftc mtu 2048 type veth peer name weftd mtu 2048 && "
				"ip link set weftc up && ip link set weftd up"),
		0);
	talker.socket = socket(AF_PACKET, SOCK_RAW, 0);
	at.sll_ifindex = (int)if_nametoindex("wefta");
	assert_int_equal(bind(talker.socket, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(pthread_create(&thread, NULL, talk, &talker), 0);
	for (unsigned i = 0; i < 20; i++) {
		open_port(&port, "net_af_packet0,iface=weftc");
		while (port_rx(&port, &mbuf, 1, 0) == 1) {
			assert_false(is_weft(mbuf));
			rte_pktmbuf_free(mbuf);
		}
		port_close(&port);
	}
	atomic_store(&talker.over, true);
	pthread_join(thread, NULL);
	close(talker.socket);
	remove_veth();
	assert_int_equal(system("ip link del weftc"), 0);
	pool_is_whole();
}

/* As tcpdump sees it there. The port at the other end is the destination. */
UNIT_TEST(frame_that_a_program_writes_into_a_veth_end_arrives_at_the_other_end_only)
{
	static const uint8_t frame[64] = {[12] = FRAME_ETHERTYPE >> 8, FRAME_ETHERTYPE & 0xff};
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	int talker = socket(AF_PACKET, SOCK_RAW, 0);
	unsigned heard[2] = {0, 0};
	struct port port[2];
	struct rte_mbuf *mbuf;

	make_veth();
	open_port(&port[0], "net_af_packet0,iface=wefta");
	open_port(&port[1], "net_af_packet1,iface=weftb");
	at.sll_ifindex = (int)if_nametoindex("wefta");
	assert_int_equal(bind(talker, (struct sockaddr *)&at, sizeof(at)), 0);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(send(talker, frame, sizeof(frame), 0), sizeof(frame));
	/* A frame is at the ports when send() has returned. */
	for (unsigned i = 0; i < 2; i++)
		while (port_rx(&port[i], &mbuf, 1, 0) == 1) {
			heard[i] += is_weft(mbuf);
			rte_pktmbuf_free(mbuf);
		}
	assert_int_equal(heard[0], 0);
	assert_int_equal(heard[1], 10);
	close(talker);
	port_close(&port[0]);
	port_close(&port[1]);
	remove_veth();
	pool_is_whole();
}

UNIT_TEST(tap_device_carries_frames_to_the_kernel)
{
	struct port tap, socket;

	need_root();
	open_port(&tap, "net_tap0,iface=wefttap");
	if (system("sysctl -qw net.ipv6.conf.wefttap.disable_ipv6=1; ip link set wefttap mtu 2048 up") !=
		0)
		skip_because("the interface of net_tap cannot be set up here");
	open_port(&socket, "net_af_packet0,iface=wefttap");
	frames_pass(&tap, &socket, 32);
	frames_pass(&socket, &tap, 32);
	frames_wait(&socket, &tap, tap.slots);
	port_close(&socket);
	port_close(&tap);
	assert_int_not_equal(access("/sys/class/net/wefttap", F_OK), 0);
	pool_is_whole();
}

/* Bridges and NICs may send frames without a VLAN with a tag for their priority. */
UNIT_TEST(a_priority_tag_is_removed_from_any_frame_of_a_burst)
{
	static const uint8_t from[6] = {2, 0, 0, 0, 0, 1}, tag[4] = {0x81, 0, 0x60, 0};
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	int talker = socket(AF_PACKET, SOCK_RAW, 0);
	struct patience patience = patience_begin();
	struct rte_mbuf *mbuf = make_frame(7);
	uint8_t frame[FRAME_SIZE + sizeof(tag)];
	unsigned heard = 0;
	struct port port;

	need_root();
	open_port(&port, "net_tap0,iface=wefttap");
	if (system("sysctl -qw net.ipv6.conf.wefttap.disable_ipv6=1; ip link set wefttap mtu 2048 up") !=
		0)
		skip_because("the interface of net_tap cannot be set up here");
	port_set_address(&port, from);
	at.sll_ifindex = (int)if_nametoindex("wefttap");
	assert_int_equal(bind(talker, (struct sockaddr *)&at, sizeof(at)), 0);
	memcpy(frame, rte_pktmbuf_mtod(mbuf, uint8_t *), 12);
	memcpy(frame, from, sizeof(from));
	memcpy(frame + 12, tag, sizeof(tag));
	memcpy(frame + 16, rte_pktmbuf_mtod(mbuf, uint8_t *) + 12, FRAME_SIZE - 12);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(send(talker, frame, sizeof(frame), 0), sizeof(frame));
	while (heard == 0 && patience_left(&patience))
		if (port_rx(&port, &mbuf, 1, 0) == 1) {
			if (is_weft(mbuf)) {
				assert_int_equal(frame_sequence(mbuf), 7);
				assert_int_equal(mbuf->pkt_len, FRAME_SIZE);
				heard++;
			}
			rte_pktmbuf_free(mbuf);
		}
	assert_int_equal(heard, 1);
	close(talker);
	port_close(&port);
	pool_is_whole();
}

UNIT_TEST(pcap_file_is_a_source)
{
	struct patience patience = patience_begin();
	char path[64], dpdk[96];
	struct rte_mbuf *mbuf;
	struct pcapng pcapng;
	unsigned received = 0;
	struct port port;
	FILE *file;

	snprintf(path, sizeof(path), "%s/source.pcapng", dir);
	file = fopen(path, "w");
	pcapng_begin(&pcapng, pcapng_write_stdio, file, "test");
	pcapng_add_interface(&pcapng, "x", 2048, 0);
	for (unsigned i = 0; i < 10; i++) {
		mbuf = make_frame(i);
		pcapng_write_packet(
			&pcapng, &(struct pcapng_packet){.bytes = rte_pktmbuf_mtod(mbuf, void *),
					 .captured_bytes = FRAME_SIZE,
					 .frame_bytes = FRAME_SIZE});
		rte_pktmbuf_free(mbuf);
	}
	fclose(file);
	snprintf(dpdk, sizeof(dpdk), "net_pcap0,rx_pcap=%s", path);
	open_port(&port, dpdk);
	while (received < 10 && patience_left(&patience))
		if (port_rx(&port, &mbuf, 1, 0) == 1) {
			assert_int_equal(frame_sequence(mbuf), received++);
			rte_pktmbuf_free(mbuf);
		}
	assert_int_equal(received, 10);
	port_close(&port);
	unlink(path);
}

static void refused(const char *dpdk, int code, const char *part)
{
	struct error error = {""};
	struct port port;

	assert_int_equal(open_port_ethdev(&port, "s0:3", dpdk, 512, pool, &error), -code);
	assert_ptr_equal(strstr(error.text, "s0:3: "), error.text);
	if (strstr(error.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, part);
	assert_null(strchr(error.text, '\n'));
	port_close(&port); /* a port that was not opened: nothing happens */
}

UNIT_TEST(absent_pci_device_is_named)
{
	refused("0000:fe:1f.7", ENODEV, "no PCI device 0000:fe:1f.7 in this machine");
	refused("fe:1f.7", ENODEV, "no PCI device 0000:fe:1f.7 in this machine");
}

UNIT_TEST(unknown_driver_is_named)
{
	refused("net_nosuch0,x=1", ENODEV, "no driver with this name");
}

UNIT_TEST(absent_interface_is_named)
{
	need_root();
	refused("net_af_packet7,iface=nosuch", ENODEV, "no such interface");
}

UNIT_TEST(an_interface_whose_mtu_is_too_small_is_refused_with_what_fits)
{
	make_veth();
	assert_int_equal(system("ip link set weftb mtu 2000"), 0);
	refused("net_af_packet0,iface=weftb", EMSGSIZE,
		"accepts frames of at most 2014 bytes, but 2048 are needed; reduce nic.mtu by 34 bytes, or run 'ip link set weftb mtu 2034'");
	remove_veth();
}

UNIT_TEST(a_kernel_interface_that_is_not_described_well_is_refused)
{
	static const char *const text[] = {"net_af_packet0",
		"net_af_packet0,iface=", "net_af_packet0,framecnt=512",
		"net_af_packet0,iface=lo,framecnt=0", "net_af_packet0,iface=lo,framecnt=x",
		"net_af_packet0,iface=lo,framecnt=65537", "net_af_packet0,iface=lo,framecnt=-1",
		"net_af_packet0,iface=a-name-too-long-for-it",
		"net_af_packet0,iface=lo,framecnt=99999999999999999999999999"};

	for (unsigned i = 0; i < RTE_DIM(text); i++)
		refused(text[i], EINVAL, "expected net_af_packetN,iface=INTERFACE");
}

static struct port_ethdev_needs needs_of(const char *dpdk)
{
	const struct port_ethdev_config config = {.frame_bytes = 4174, .rx_descriptors = 512};
	struct port_ethdev_needs needs;

	port_ethdev_needs_max(dpdk, &config, &needs);
	return needs;
}

/* A NIC's receive ring is full of buffers from the start, and its transmit ring contains sent
 * frames. */
UNIT_TEST(rings_of_a_nic_hold_buffers)
{
	assert_true(needs_of("0000:03:00.1").received_mbufs >= 512);
	assert_int_equal(needs_of("0000:03:00.1").sent_mbufs, 1024);
}

UNIT_TEST(rings_of_virtual_devices_hold_none)
{
	assert_int_equal(needs_of("net_memif0,role=server,id=1").received_mbufs, 0);
	assert_int_equal(needs_of("net_memif0,role=server,id=1").sent_mbufs, 0);
}

UNIT_TEST(frames_in_a_ring_are_mbufs_of_their_sender)
{
	assert_true(needs_of("net_ring0").sent_mbufs >= 1023);
}

UNIT_TEST(losses_of_a_port_that_is_no_device_are_none)
{
	struct port_losses losses = {.rx_missed = 1};
	struct port a, b;

	port_open_memory_link(&a, "s0:0", &b, "s1:0", 64, NULL);
	port_losses_read(&a, &losses);
	assert_int_equal(losses.rx_missed, 0);
	port_close(&a);
	port_close(&b);
}

UNIT_TEST(nothing_passes_a_cut_cable_and_nothing_is_kept)
{
	unsigned before = rte_mempool_avail_count(pool);
	struct rte_mbuf *mbuf = make_frame(0);
	struct port a, b;

	port_open_memory_link(&a, "s0:0", &b, "s1:0", 64, NULL);
	port_cut(&a, true);
	assert_int_equal(port_tx(&a, &mbuf, 1, 0), 1);
	port_cut(&a, false);
	assert_int_equal(port_rx(&b, &mbuf, 1, 0), 0);
	mbuf = make_frame(1);
	assert_int_equal(port_tx(&b, &mbuf, 1, 0), 1);
	port_cut(&a, true);
	assert_int_equal(port_rx(&a, &mbuf, 1, 0), 0);
	assert_int_equal(rte_mempool_avail_count(pool), before);
	port_cut(&a, false);
	mbuf = make_frame(2);
	assert_int_equal(port_tx(&a, &mbuf, 1, 0), 1);
	assert_int_equal(port_rx(&b, &mbuf, 1, 0), 1);
	assert_int_equal(frame_sequence(mbuf), 2);
	rte_pktmbuf_free(mbuf);
	port_close(&a);
	port_close(&b);
}

/* No machine of these tests has socket 7. */
UNIT_TEST(a_pool_is_on_its_socket_or_elsewhere)
{
	static const int sockets[] = {0, 7, SOCKET_ID_ANY};

	for (unsigned i = 0; i < RTE_DIM(sockets); i++) {
		struct rte_mempool *made = port_pool_create("made", 255, 128, sockets[i], NULL);
		struct rte_mbuf *mbuf;

		assert_non_null(made);
		mbuf = rte_pktmbuf_alloc(made);
		assert_non_null(mbuf);
		rte_pktmbuf_free(mbuf);
		rte_mempool_free(made);
	}
}

/* EAL has no hugepages here. */
UNIT_TEST(data_of_a_lazy_pool_takes_no_memory_before_it_is_written)
{
	struct rte_mbuf *mbufs[512];
	struct rte_mempool *lazy;
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	lazy = port_pool_create("lazy", RTE_DIM(mbufs), 4096, PORT_POOL_LAZY, NULL);
	getrusage(RUSAGE_SELF, &after);
	assert_non_null(lazy);
	assert_in_range(after.ru_minflt - before.ru_minflt, 1, 256);
	assert_int_equal(rte_pktmbuf_alloc_bulk(lazy, mbufs, RTE_DIM(mbufs)), 0);
	for (unsigned i = 0; i < RTE_DIM(mbufs); i++)
		memset(rte_pktmbuf_append(mbufs[i], 4096), (int)i, 4096);
	for (unsigned i = 0; i < RTE_DIM(mbufs); i++) {
		const uint8_t *data = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		assert_int_equal(data[0], i & 0xFF);
		assert_int_equal(data[4095], i & 0xFF);
	}
	rte_pktmbuf_free_bulk(mbufs, RTE_DIM(mbufs));
	rte_mempool_free(lazy);
}

static unsigned long mapped_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages;
}

/* EAL's memory is too small for the pool's ring, which is detected only after the buffers are
 * mapped. */
UNIT_TEST(a_lazy_pool_that_cannot_be_made_keeps_no_memory)
{
	unsigned long before = mapped_pages();

	assert_null(port_pool_create("huge", 1u << 21, 1024, PORT_POOL_LAZY, NULL));
	assert_in_range(mapped_pages(), before - 4096, before + 4096);
}

UNIT_TEST(what_prevents_a_lazy_pool_is_named)
{
	struct error error = {0};

	assert_int_equal(rte_mbuf_set_user_mempool_ops("none"), 0);
	assert_null(port_pool_create("none", 512, 1024, PORT_POOL_LAZY, &error));
	assert_non_null(strstr(error.text, "Invalid argument"));
	assert_int_equal(rte_mbuf_set_user_mempool_ops("ring_mp_mc"), 0);
}

/* memif cuts what is longer than its buffers (2,048 bytes) and chains mbufs that are too small. */
UNIT_TEST(chained_frame_is_made_one_segment_or_counted)
{
	struct rte_mempool *small = port_pool_create("small", 255, 128, SOCKET_ID_ANY, NULL);
	struct patience patience = patience_begin();
	struct port_losses losses = {0};
	struct rte_mbuf *mbuf;
	struct port port;
	char dpdk[160];

	snprintf(dpdk, sizeof(dpdk),
		"net_memif0,role=client,id=1,socket-abstract=no,socket=%s/memif", dir);
	assert_int_equal(open_port_ethdev(&port, "s0:0", dpdk, 512, small, NULL), 0);
	mbuf = rte_pktmbuf_alloc(pool);
	memset(rte_pktmbuf_append(mbuf, 600), 0, 600);
	while (port_tx(&port, &mbuf, 1, 0) == 0 && patience_left(&patience))
		;
	while (losses.rx_segmented == 0 && patience_left(&patience)) {
		assert_int_equal(port_rx(&port, &mbuf, 1, 0), 0);
		port_losses_read(&port, &losses);
	}
	assert_int_equal(losses.rx_segmented, 1);
	port_close(&port);
	assert_int_equal(rte_mempool_avail_count(small), 255);
	rte_mempool_free(small);
}

/* A socket that acts as the far end of a UDP port, on free ports of this machine. */
static int udp_far_end(struct sockaddr_in *own, const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(*own);

	*own = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)own, sizeof(*own)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)own, &size), 0);
	if (to != NULL)
		assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(*to)), 0);
	return fd;
}

static void send_datagram(int fd, uint32_t life, uint32_t number)
{
	struct rte_mbuf *mbuf = make_frame(number);
	uint8_t bytes[8 + FRAME_SIZE];
	const uint32_t header[2] = {rte_cpu_to_be_32(life), rte_cpu_to_be_32(number)};

	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), rte_pktmbuf_mtod(mbuf, void *), FRAME_SIZE);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
}

UNIT_TEST(a_udp_port_keeps_the_order_and_counts_what_is_missing)
{
	static const struct {
		uint32_t life, number;
		bool taken;
	} sent[] = {{7, 5, true}, {7, 6, true}, {7, 9, true}, {7, 8, false}, {7, 9, false},
		{7, 10, true}, {9, 1, true}, {7, 10, false}, {9, 2, true}, {0, 3, false},
		/* With a forged address, the sender of life 9 continues. */
		{4, 77, true}, {9, 2, false}, {9, 4, true}, {4, 78, true}, {9, 5, true}};
	struct sockaddr_in near, far;
	struct rte_mbuf *mbufs[PORT_BURST];
	struct port_losses losses;
	struct error error = {""};
	char device[80];
	int reserved = udp_far_end(&near, NULL), fd = udp_far_end(&far, &near);
	unsigned taken = 0, expected = 0, found;
	struct port port;

	/* The port replaces the socket that found a free one. */
	close(reserved);
	snprintf(device, sizeof(device), "udp:127.0.0.1:%u>127.0.0.1:%u", ntohs(near.sin_port),
		ntohs(far.sin_port));
	assert_int_equal(port_open_udp(&port, "s0:1", device, FRAME_SIZE, pool, &error), 0);
	for (unsigned i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
		send_datagram(fd, sent[i].life, sent[i].number);
	found = port_rx(&port, mbufs, PORT_BURST, 0);
	for (unsigned i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		if (!sent[i].taken)
			continue;
		expected++;
		assert_true(taken < found);
		assert_int_equal(frame_sequence(mbufs[taken++]), sent[i].number);
	}
	assert_int_equal(found, expected);
	rte_pktmbuf_free_bulk(mbufs, found);
	port_losses_read(&port, &losses);
	assert_int_equal(losses.rx_missed, 3);
	assert_int_equal(losses.rx_errors, 3);
	port_close(&port);
	close(fd);
}

/* The kernel reports the loss of an earlier frame. The loss is counted, and the next frame is not
 * dropped. */
static void takes_none(struct port *port)
{
	struct rte_mbuf *mbuf = make_frame(0);
	struct port_losses losses;

	errno = EMSGSIZE; /* left over from an earlier call */
	assert_int_equal(port_tx(port, &mbuf, 0, 0), 0);
	assert_int_equal(rte_mbuf_refcnt_read(mbuf), 1);
	port_losses_read(port, &losses);
	assert_int_equal(losses.tx_errors, 0);
	rte_pktmbuf_free(mbuf);
	port_close(port);
	pool_is_whole();
}

/* Faults can drop a whole burst. */
UNIT_TEST(a_burst_of_no_frames_takes_none)
{
	struct error error = {""};
	struct sockaddr_in near;
	char device[80];
	struct port port;

	make_veth();
	open_port(&port, "net_af_packet0,iface=wefta");
	takes_none(&port);
	remove_veth();
	close(udp_far_end(&near, NULL));
	snprintf(device, sizeof(device), "udp:127.0.0.1:%u>127.0.0.1:9", ntohs(near.sin_port));
	assert_int_equal(port_open_udp(&port, "s0:1", device, FRAME_SIZE, pool, &error), 0);
	takes_none(&port);
}

UNIT_TEST(a_udp_port_keeps_the_frame_with_which_it_learns_that_nobody_listened)
{
	struct sockaddr_in near, far;
	struct error error = {""};
	char device[80], bytes[2 * FRAME_SIZE];
	int reserved = udp_far_end(&near, NULL), fd = udp_far_end(&far, &near);
	struct rte_mbuf *mbuf = make_frame(1);
	struct port_losses losses;
	struct port port;

	close(reserved);
	close(fd);
	snprintf(device, sizeof(device), "udp:127.0.0.1:%u>127.0.0.1:%u", ntohs(near.sin_port),
		ntohs(far.sin_port));
	assert_int_equal(port_open_udp(&port, "s0:1", device, FRAME_SIZE, pool, &error), 0);
	assert_int_equal(port_tx(&port, &mbuf, 1, 0), 1);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&far, sizeof(far)), 0);
	mbuf = make_frame(2);
	assert_int_equal(port_tx(&port, &mbuf, 1, 0), 0);
	assert_int_equal(port_tx(&port, &mbuf, 1, 0), 1);
	assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 8 + FRAME_SIZE);
	assert_int_equal(bytes[7], 2);
	port_losses_read(&port, &losses);
	assert_int_equal(losses.tx_errors, 1);
	port_close(&port);
	close(fd);
}

UNIT_TEST(a_udp_port_sends_a_frame_in_each_datagram)
{
	struct sockaddr_in near, far;
	struct error error = {""};
	char device[80];
	int reserved = udp_far_end(&near, NULL), fd = udp_far_end(&far, &near);
	struct port port;

	close(reserved);
	snprintf(device, sizeof(device), "udp:127.0.0.1:%u>127.0.0.1:%u", ntohs(near.sin_port),
		ntohs(far.sin_port));
	assert_int_equal(port_open_udp(&port, "s0:1", device, FRAME_SIZE, pool, &error), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct rte_mbuf *mbuf = make_frame(i);
		uint8_t bytes[2 * FRAME_SIZE];

		assert_int_equal(port_tx(&port, &mbuf, 1, 0), 1);
		assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 8 + FRAME_SIZE);
		assert_int_equal(bytes[7], i + 1);
		assert_int_equal(frame_check(bytes + 8, FRAME_SIZE), FRAME_FAULT_OK);
	}
	port_close(&port);
	close(fd);
}

/* --- the processes --- */

static int start(const char *role)
{
	char *argv[] = {(char *)"port_test", NULL};
	char prefix[64];
	const struct eal_options options = {.prefix = prefix, .memory_mib = 64};
	struct error error;

	snprintf(prefix, sizeof(prefix), "weft-port-test-%s-%d", role, (int)getpid());
	if (eal_start(1, argv, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	pool = port_pool_create("pool", POOL_MBUFS, 2048, SOCKET_ID_ANY, &error);
	return pool == NULL ? -1 : 0;
}

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
	(void)number;
	asked_to_stop = 1;
}

/* Returns incoming frames until it is stopped or its parent has ended. */
static int echo_main(void)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	struct error error;
	struct port port;
	char dpdk[160];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGTERM, on_signal);
	if (start("echo") < 0)
		return 1;
	snprintf(dpdk, sizeof(dpdk),
		"net_memif0,role=server,id=1,socket-abstract=no,socket=%s/memif", dir);
	if (open_port_ethdev(&port, "echo", dpdk, 512, pool, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	while (!asked_to_stop) {
		uint16_t n = port_rx(&port, mbufs, PORT_BURST, 0), done = 0;

		while (done < n && !asked_to_stop)
			done += port_tx(&port, mbufs + done, (uint16_t)(n - done), 0);
		if (n == 0)
			sched_yield();
	}
	port_close(&port);
	eal_stop();
	return 0;
}

int main(void)
{
	int failed, status = 0;

	if (mkdtemp(dir) == NULL)
		return 1;
	echo_pid = fork();
	if (echo_pid < 0)
		return 1;
	if (echo_pid == 0)
		_exit(echo_main());
	if (start("main") < 0)
		return 1;
	failed = unit_run(NULL, NULL);
	rte_mempool_free(pool);
	eal_stop();
	kill(echo_pid, SIGTERM);
	waitpid(echo_pid, &status, 0);
	rmdir(dir);
	return failed != 0 || status != 0;
}
