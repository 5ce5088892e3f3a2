/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The cost of keys: two hosts send each other messages of one frame through a switch, all in one
 * loop on a test clock, over in-memory links with and without seals, and with tags of data.
 *
 * usage: weft-bench-keys none|link|data FRAME_BYTES MESSAGES [WINDOW]
 *
 * Prints data frames through the switch, control frames that it received and sent, and frames per
 * second of the whole loop. tests/bench/keys counts instructions of two lengths. */

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "poll/poll_nic.h"
#include "poll/poll_switch.h"
#include "port/eal.h"

#define HOSTS         2u
#define VCS           2u
#define BUFFER_BLOCKS 2048u
#define SLOTS         2048u
#define STEP_PS       (10 * PS_PER_US)
#define POOL_MBUFS    16383u
#define WINDOW_FRAMES 256u

struct bench {
	struct rte_mempool *pool;
	struct port host_port[HOSTS], switch_port[HOSTS];
	struct nic_routes *routes[HOSTS];
	struct poll_nic *host[HOSTS];
	struct weft_switch *sw;
	struct poll_switch *ps;
	uint8_t table[HOSTS];
	struct link_key link_key;
	struct data_tag_key data_key;
	bool sealed, tagged;
	uint32_t payload_bytes, window_frames;
	weft_time now;
};

static _Noreturn void die(const char *text)
{
	fprintf(stderr, "weft-bench-keys: %s\n", text);
	exit(3);
}

static void make_switch(struct bench *bench)
{
	struct switch_config config = {.device = 1,
		.session = 1,
		.ports = HOSTS,
		.vcs = VCS,
		.voq = true,
		.buffer_blocks = BUFFER_BLOCKS,
		.hello_ps = 10 * PS_PER_MS,
		.credit_refresh_ps = PS_PER_MS,
		.watchdog_ps = 50 * PS_PER_MS,
		.control_reserve = 64,
		.table_port = bench->table,
		.table_hosts = HOSTS};

	for (unsigned i = 0; i < HOSTS; i++)
		bench->table[i] = (uint8_t)i;
	bench->sw = switch_create(&config, bench->now);
	bench->ps = bench->sw != NULL ? poll_switch_create(bench->sw, bench->pool) : NULL;
	if (bench->ps == NULL)
		die("out of memory");
}

static void make_host(struct bench *bench, uint16_t i)
{
	struct poll_nic_config config = {.port = &bench->host_port[i], .pool = bench->pool};
	char ours[16], its[16];
	struct error error;

	snprintf(ours, sizeof(ours), "h%u:0", i);
	snprintf(its, sizeof(its), "s0:%u", i);
	if (port_open_memory_link(config.port, ours, &bench->switch_port[i], its, SLOTS, &error) <
		0)
		die(error.text);
	bench->routes[i] = nic_routes_create(HOSTS);
	nic_routes_by_table(bench->routes[i], (uint16_t)(1 - i));
	nic_config_default(&config.nic, i, HOSTS);
	config.nic.mtu_bytes = 1500;
	config.nic.window_frames = bench->window_frames;
	config.nic.routes = bench->routes[i];
	config.nic.link.device = FRAME_HOST_DEVICE + i;
	config.nic.link.session = 100u + i;
	config.nic.link.vcs = VCS;
	config.nic.data_key = bench->tagged ? &bench->data_key : NULL;
	config.key = bench->sealed ? &bench->link_key : NULL;
	bench->host[i] = poll_nic_create(&config, bench->now, &error);
	if (bench->host[i] == NULL)
		die(error.text);
	poll_switch_attach(bench->ps, i, &bench->switch_port[i], NULL, NULL);
	poll_switch_guard(bench->ps, i, 0, bench->sealed ? &bench->link_key : NULL);
	poll_switch_set_host(bench->ps, i, i, false);
}

/* A function with one name, so that callgrind can count it alone. */
static __attribute__((noinline)) void switch_turn(struct bench *bench)
{
	poll_switch_run(bench->ps, bench->now);
}

static void turn(struct bench *bench)
{
	bench->now += STEP_PS;
	for (unsigned i = 0; i < HOSTS; i++)
		poll_nic_run(bench->host[i], bench->now);
	switch_turn(bench);
}

static void send_some(struct bench *bench, uint16_t from, uint64_t *left)
{
	const struct nic_message message = {
		.destination = (uint16_t)(1 - from), .bytes = bench->payload_bytes};

	for (unsigned i = 0; i<PORT_BURST && * left> 0; i++, --*left)
		if (nic_send(bench->host[from]->nic, &message, bench->now) < 0)
			return;
}

static bool is_busy(const struct bench *bench)
{
	return poll_nic_busy(bench->host[0], bench->now) ||
	       poll_nic_busy(bench->host[1], bench->now);
}

static void run(struct bench *bench, uint64_t messages)
{
	uint64_t left[HOSTS] = {messages, messages};

	while (left[0] + left[1] > 0 || is_busy(bench)) {
		for (uint16_t i = 0; i < HOSTS; i++)
			send_some(bench, i, &left[i]);
		turn(bench);
	}
}

static uint64_t count(const struct bench *bench, enum switch_counter counter)
{
	return bench->sw->port[0].count[counter] + bench->sw->port[1].count[counter];
}

static void report(const struct bench *bench, uint64_t messages, double seconds)
{
	uint64_t data = count(bench, SWITCH_DATA_OUT);
	uint64_t credits = 0;

	for (unsigned i = 0; i < HOSTS; i++) {
		const struct link_end *link = &bench->sw->port[i].link;

		credits += link->credit_frames_sent + link->credit_frames_received;
		if (nic_counters(bench->host[i]->nic)[NIC_MESSAGES_DELIVERED] < messages)
			die("messages are missing");
	}
	printf("{\"data\": %" PRIu64 ", \"end_to_end_control\": %" PRIu64
	       ", \"credit_frames\": %" PRIu64 ", \"frames_per_second\": %.0f}\n",
		data, count(bench, SWITCH_CONTROL_OUT), credits, (double)data / seconds);
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void measure(struct bench *bench, uint64_t messages)
{
	double began;

	make_switch(bench);
	for (uint16_t i = 0; i < HOSTS; i++)
		make_host(bench, i);
	for (unsigned i = 0; i < 5000; i++) /* links come up */
		turn(bench);
	run(bench, 1000);
	began = cpu_seconds();
	run(bench, messages);
	report(bench, messages, cpu_seconds() - began);
}

static bool read_arguments(struct bench *bench, int argc, char **argv, uint64_t *messages)
{
	uint32_t bytes;

	if (argc < 4 || argc > 5)
		return false;
	bench->window_frames = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : WINDOW_FRAMES;
	bench->tagged = strcmp(argv[1], "data") == 0;
	bench->sealed = bench->tagged || strcmp(argv[1], "link") == 0;
	bytes = (uint32_t)strtoul(argv[2], NULL, 10);
	*messages = strtoull(argv[3], NULL, 10);
	/* Without the FCS; the prefix of a message has 16 bytes. */
	bench->payload_bytes = bytes > 50 + 16 ? bytes - 50 : 16;
	return bench->sealed || strcmp(argv[1], "none") == 0;
}

int main(int argc, char **argv)
{
	char prefix[EAL_PREFIX_MAX], name[] = "bench-keys", *eal_argv[] = {name, NULL};
	const struct eal_options options = {.prefix = prefix, .memory_mib = 256};
	struct bench bench = {.now = PS_PER_S, .link_key = {{1, 2, 3}}};
	struct error error;
	uint64_t messages;

	if (!read_arguments(&bench, argc, argv, &messages)) {
		fprintf(stderr,
			"usage: weft-bench-keys none|link|data FRAME_BYTES MESSAGES [WINDOW]\n");
		return 2;
	}
	snprintf(prefix, sizeof(prefix), "weft-bench-keys-%d", (int)getpid());
	if (sodium_init() < 0 || eal_start(1, eal_argv, &options, &error) < 0)
		die("no EAL, or no libsodium");
	data_tag_derive(&bench.data_key, &bench.link_key);
	bench.pool = port_pool_create("pool", POOL_MBUFS, 2048, SOCKET_ID_ANY, &error);
	if (bench.pool == NULL)
		die(error.text);
	measure(&bench, messages);
	eal_stop();
	return 0;
}
