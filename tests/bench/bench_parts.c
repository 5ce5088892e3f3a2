/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-bench-parts PARTS ITERATIONS: a switch of 16 ports in so many parts, which take turns in
 * this one thread. In each iteration a burst comes in at each port, for outputs in turn, and leaves
 * at once. For callgrind, and it counts the cache lines that would have changed cores: lines that
 * one part has written and another one reads. Without frames: those of a driver come on top. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/switch_shard.h"

#define PORTS   16u
#define VCS     2u
#define BURST   32u
#define HOSTS   256u
#define LINE    64u
#define ENTRIES (LINE / sizeof(struct shard_entry))

struct bench {
	uint8_t table[HOSTS];
	unsigned shards;
	struct switch_division *division;
	struct weft_switch *whole; /* with one shard */
	struct weft_packet packet[PORTS][BURST];
	uint32_t next; /* destination */
	uint64_t packets, handed;
	uint64_t entry_lines, position_lines, release_lines;
};

static void fill(struct bench *bench, struct switch_config *config)
{
	*config = (struct switch_config){.device = 1,
		.session = 1,
		.ports = PORTS,
		.vcs = VCS,
		.voq = true,
		.buffer_blocks = 2048,
		.open_ports = UINT64_MAX,
		.hello_ps = PS_PER_S,
		.credit_refresh_ps = PS_PER_S,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 64,
		.table_port = bench->table,
		.table_hosts = HOSTS};
	for (unsigned sl = 0; sl < 16; sl++)
		config->sl_to_vc[sl] = (uint8_t)(sl % VCS);
	for (unsigned host = 0; host < HOSTS; host++)
		bench->table[host] = (uint8_t)(host % PORTS);
}

static bool create(struct bench *bench)
{
	struct switch_config config;
	uint8_t owner[PORTS];

	fill(bench, &config);
	if (bench->shards == 1) {
		bench->whole = switch_create(&config, 0);
		return bench->whole != NULL;
	}
	for (unsigned port = 0; port < PORTS; port++)
		owner[port] = (uint8_t)(port % bench->shards);
	bench->division = switch_division_create(&config, owner, bench->shards);
	for (unsigned shard = 0; bench->division != NULL && shard < bench->shards; shard++)
		if (switch_shard_create(bench->division, shard, 0) < 0)
			return false;
	if (bench->division != NULL)
		switch_division_connect(bench->division);
	return bench->division != NULL;
}

/* The descriptor as the driver has it before it fills one. */
static struct weft_packet next_packet(struct bench *bench, unsigned input)
{
	uint32_t i = bench->next++;

	bench->packets++;
	return (struct weft_packet){.bytes = 60,
		.blocks = 1,
		.in_port = (uint8_t)input,
		.vc = i % VCS,
		.sl = i % VCS,
		.destination = (uint16_t)((i * 7 + i / 16) % HOSTS)};
}

static __attribute__((noinline)) void whole_turn(struct bench *bench)
{
	struct weft_switch *sw = bench->whole;

	for (unsigned input = 0; input < PORTS; input++) {
		switch_count_in(&sw->port[input], BURST, BURST * 60);
		for (unsigned i = 0; i < BURST; i++) {
			struct weft_packet packet = next_packet(bench, input);
			unsigned output = switch_receive_direct(
				sw, &sw->port[input], &packet, UINT64_MAX, true);

			if (output == SWITCH_PORT_NONE)
				abort();
			switch_count_passed(sw, input, packet.vc, output, 1, 60);
		}
		switch_poll_link(sw, input, 0);
	}
}

static void receive(struct bench *bench, struct switch_shard *shard, unsigned input)
{
	struct weft_switch *sw = shard->sw;

	switch_count_in(&sw->port[input], BURST, BURST * 60);
	for (unsigned i = 0; i < BURST; i++) {
		struct weft_packet packet = next_packet(bench, input);
		unsigned output =
			switch_receive_sharded(shard, &sw->port[input], &packet, UINT64_MAX);

		if (output == SWITCH_PORT_NONE)
			abort();
		if (!switch_shard_is_foreign(shard, output)) {
			switch_count_passed(sw, input, packet.vc, output, 1, 60);
			continue;
		}
		switch_shard_hand(shard, &bench->packet[input][i], &packet, output);
		bench->handed++;
	}
}

static void accept(struct switch_shard *shard, unsigned from)
{
	struct shard_ring *ring = &shard->in[from];
	uint32_t waiting = shard_ring_waiting(ring);

	for (uint32_t i = 0; i < waiting; i++) {
		const struct shard_entry *entry = shard_ring_at(ring, i);

		if (!switch_shard_pass(shard, entry, UINT64_MAX))
			abort();
		switch_count_passed(
			shard->sw, entry->input, entry->vc, entry->output, 1, entry->bytes);
	}
	shard_ring_take(ring, waiting);
}

static __attribute__((noinline)) void part_turn(struct bench *bench, struct switch_shard *shard)
{
	switch_shard_pull(shard);
	for (unsigned from = 0; from < bench->shards; from++)
		if (from != shard->number)
			accept(shard, from);
	for (unsigned input = shard->number; input < PORTS; input += bench->shards) {
		receive(bench, shard, input);
		switch_shard_flush(shard);
	}
	for (unsigned input = shard->number; input < PORTS; input += bench->shards)
		switch_poll_link(shard->sw, input, 0);
	switch_shard_push(shard);
}

/* Lines that this iteration has written, and that no other shard has read before it ends. */
static void count_lines(struct bench *bench, const struct switch_shard *shard, const uint32_t *put,
	const struct shard_board *board)
{
	for (unsigned to = 0; to < bench->shards; to++) {
		uint32_t end = to == shard->number ? put[to] : shard->other[to].out->put;

		if (end == put[to])
			continue;
		bench->entry_lines += (end - 1) / ENTRIES - put[to] / ENTRIES + 1;
		bench->position_lines++;
	}
	for (unsigned port = 0; port < PORTS; port++)
		bench->release_lines +=
			memcmp(shard->board.released[port], board->released[port], LINE) != 0;
}

static void counted_turn(struct bench *bench, struct switch_shard *shard)
{
	uint32_t put[SWITCH_SHARDS_MAX] = {0};
	struct shard_board board = shard->board;

	for (unsigned to = 0; to < bench->shards; to++)
		put[to] = to == shard->number ? 0 : shard->other[to].out->put;
	part_turn(bench, shard);
	count_lines(bench, shard, put, &board);
}

static double each(uint64_t lines, const struct bench *bench)
{
	return (double)lines / (double)bench->packets;
}

int main(int argc, char **argv)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	unsigned long iterations = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (bench != NULL && argc == 3)
		bench->shards = (unsigned)strtoul(argv[1], NULL, 10);
	if (bench == NULL || iterations == 0 || bench->shards == 0 || bench->shards > PORTS) {
		fprintf(stderr, "usage: weft-bench-parts PARTS ITERATIONS\n");
		return 2;
	}
	if (!create(bench))
		return 3;
	for (unsigned long i = 0; i < iterations; i++) {
		if (bench->shards == 1)
			whole_turn(bench);
		for (unsigned shard = 0; bench->shards > 1 && shard < bench->shards; shard++)
			counted_turn(bench, bench->division->shard[shard]);
	}
	printf("%llu packets, handed %.4f, lines a packet: entries %.4f, positions %.4f, releases "
	       "%.4f\n",
		(unsigned long long)bench->packets, each(bench->handed, bench),
		each(bench->entry_lines, bench), each(bench->position_lines, bench),
		each(bench->release_lines, bench));
	switch_destroy(bench->whole);
	switch_division_destroy(bench->division);
	free(bench);
	return 0;
}
