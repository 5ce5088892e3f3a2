/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Frames per second from one process to another, over DPDK's memif and over shared memory
 * (port.h), in turns, with frames of 64 and 1,500 bytes. The devices are those of a lab with
 * 'links: memif' and 'links: shared'. The receiver checks that the frames come in order.
 *
 * usage: weft-bench-links [MILLION_FRAMES [ROUNDS]]
 *
 * Prints for each kind and size the median of the rounds and the fastest one, and the ratio of the
 * medians, shared memory to memif.
 */

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "port/eal.h"
#include "port/port.h"
#include "port/port_ethdev.h"
#include "wire/frame.h"

#define MTU        4096u
#define POOL_MBUFS 16383u
#define ROUNDS_MAX 99u
#define KINDS      2u

static const char *const kind_name[KINDS] = {"memif", "shared"};
static const uint32_t frame_bytes[] = {64, 1500};
#define SIZES (sizeof(frame_bytes) / sizeof(frame_bytes[0]))

struct side {
	struct rte_mempool *pool;
	struct port port[KINDS];
};

/* Sent to the sender: the number of frames, their size and the link. */
struct order {
	uint64_t frames;
	uint32_t bytes, kind;
};

static _Noreturn void die(const char *text)
{
	fprintf(stderr, "weft-bench-links: %s\n", text);
	exit(3);
}

static void open_memif(struct side *side, const char *dir, bool server)
{
	const struct port_ethdev_config config = {.frame_bytes = frame_longest(MTU)};
	char device[256];
	struct error error;
	int result = -1;

	snprintf(device, sizeof(device),
		"net_memif0,id=0,role=%s,socket=%s/memif,socket-abstract=no,rsize=11,bsize=%u",
		server ? "server" : "client", dir, frame_room(MTU));
	/* The server may not be listening yet. */
	for (unsigned i = 0; i < 5000 && result < 0; i++) {
		result = port_attach_ethdev(&side->port[0], "memif", device, &error);
		if (result == 0)
			result = port_start_ethdev(&side->port[0], &config, side->pool, &error);
		if (result < 0)
			usleep(1000);
	}
	if (result < 0)
		die(error.text);
}

static void open_side(struct side *side, const char *dir, bool sender)
{
	char *arguments[] = {(char *)"weft-bench-links", NULL};
	const struct eal_options eal = {.memory_mib = 512, .files = 32};
	char device[256];
	struct error error;

	if (eal_start(1, arguments, &eal, &error) < 0)
		die(error.text);
	side->pool = port_pool_create("frames", POOL_MBUFS, frame_room(MTU), SOCKET_ID_ANY, &error);
	if (side->pool == NULL)
		die(error.text);
	open_memif(side, dir, sender);
	snprintf(device, sizeof(device), "shared:%s/l0.ring:%u", dir, sender);
	if (port_open_shared(
		    &side->port[1], "shared", device, frame_longest(MTU), side->pool, &error) < 0)
		die(error.text);
}

/* --- the sender --- */

static void send_burst(struct side *side, const struct order *order, uint64_t first, uint16_t count)
{
	struct port *port = &side->port[order->kind];
	struct rte_mbuf *mbufs[PORT_BURST];
	uint16_t done = 0;

	while (rte_pktmbuf_alloc_bulk(side->pool, mbufs, count) != 0)
		;
	for (uint16_t i = 0; i < count; i++) {
		uint64_t sequence = first + i;

		memcpy(rte_pktmbuf_append(mbufs[i], (uint16_t)order->bytes), &sequence,
			sizeof(sequence));
	}
	while (done < count) {
		uint16_t sent = port_tx(port, mbufs + done, (uint16_t)(count - done), 0);

		if (sent == 0)
			sched_yield();
		done = (uint16_t)(done + sent);
	}
}

static int send_all(const char *dir, int orders)
{
	struct side side;
	struct order order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_side(&side, dir, true);
	while (read(orders, &order, sizeof(order)) == sizeof(order))
		for (uint64_t at = 0; at < order.frames; at += PORT_BURST)
			send_burst(&side, &order, at, PORT_BURST);
	for (unsigned kind = 0; kind < KINDS; kind++)
		port_close(&side.port[kind]);
	eal_stop();
	return 0;
}

/* --- the receiver --- */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t take(struct port *port, uint64_t next, uint32_t bytes)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	uint16_t count = port_rx(port, mbufs, PORT_BURST, 0);

	if (count == 0)
		sched_yield();
	for (uint16_t i = 0; i < count; i++) {
		uint64_t sequence;

		memcpy(&sequence, rte_pktmbuf_mtod(mbufs[i], void *), sizeof(sequence));
		if (sequence != next + i || mbufs[i]->pkt_len != bytes)
			die("a frame is not the next one");
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return next + count;
}

/* Million frames per second. */
static double measure(struct side *side, int orders, const struct order *order)
{
	struct port *port = &side->port[order->kind];
	uint64_t first, next = 0;
	double began;

	if (write(orders, order, sizeof(*order)) != sizeof(*order))
		die("the sender is gone");
	while (next == 0)
		next = take(port, next, order->bytes);
	began = now_s();
	first = next;
	while (next < order->frames)
		next = take(port, next, order->bytes);
	return (double)(next - first) / (now_s() - began) / 1e6;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void measure_size(
	struct side *side, int orders, uint32_t bytes, uint64_t frames, unsigned rounds)
{
	double rate[KINDS][ROUNDS_MAX];

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned kind = 0; kind < KINDS; kind++) {
			const struct order order = {.frames = frames, .bytes = bytes, .kind = kind};

			rate[kind][round] = measure(side, orders, &order);
		}
	printf("%5u bytes:", bytes);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		qsort(rate[kind], rounds, sizeof(double), compare);
		printf(" %s %.2f M/s (fastest %.2f),", kind_name[kind], rate[kind][rounds / 2],
			rate[kind][rounds - 1]);
	}
	printf(" ratio %.2f\n", rate[1][rounds / 2] / rate[0][rounds / 2]);
	fflush(stdout);
}

static void remove_files(const char *dir)
{
	static const char *const name[] = {"l0.ring", "memif"};
	char path[256];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	uint64_t frames = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) * 1000000 / PORT_BURST;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 25;
	char dir[] = "/dev/shm/weft-links-XXXXXX";
	struct side side;
	int orders[2];
	pid_t sender;

	if (frames == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: weft-bench-links [MILLION_FRAMES [ROUNDS]]\n");
		return 2;
	}
	if (mkdtemp(dir) == NULL || pipe(orders) != 0)
		die("no folder in /dev/shm, or no pipe");
	sender = fork();
	if (sender == 0) {
		close(orders[1]);
		_exit(send_all(dir, orders[0]));
	}
	open_side(&side, dir, false);
	for (unsigned size = 0; size < SIZES; size++)
		measure_size(&side, orders[1], frame_bytes[size], frames * PORT_BURST, rounds);
	close(orders[1]);
	waitpid(sender, NULL, 0);
	for (unsigned kind = 0; kind < KINDS; kind++)
		port_close(&side.port[kind]);
	eal_stop();
	remove_files(dir);
	return 0;
}
