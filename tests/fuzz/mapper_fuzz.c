/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A mapper that leads a small fabric, and gets bytes that claim to come from its devices. Who has
 * the key may tell it what devices may, and still the map stays one: cables have two ends, ways
 * lead to the mapper, numbers are given once, what it sends are good frames, and it always comes to
 * an end. Without the key nothing changes at all.
 *
 * Input: records (fuzz_record.h) whose bytes are a payload. Bits of the command: 0, the tag is made
 * right; 1, receiver, counter and what is asked for are mended first; 2, the fabric answers
 * meanwhile; 4 to 7, time passes. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_record.h"
#include "mapper/mapper.h"
#include "mapper_fabric_small.h"
#include "mapper_forgery.h"

#define TAGGED         0x01
#define MENDED         0x02
#define ANSWERED       0x04
#define FRAMES_A_POLL  20000
#define NUMBERS_MASK   0x3F
#define AT_KEYED       1 /* in the envelope, and after it (docs/reference/wire-format.md) */
#define AT_SESSION     4
#define AT_COUNTER     16
#define AT_TARGET      24
#define AT_PROBE       32
#define AT_NUMBER      64
#define AT_STATUS      32
#define AT_ROUND       60
#define REPLY_PAYLOAD  (MAPPER_ENVELOPE_BYTES + MAPPER_REPLY_BYTES + MAPPER_TAG_BYTES)
#define STATUS_PAYLOAD (MAPPER_ENVELOPE_BYTES + 32 + MAPPER_TAG_BYTES)

static const struct fabric_key key = {{1, 2, 3}};

struct bench {
	struct mapper mapper;
	struct mapper_agent agent[SMALL_DEVICES];
	weft_time now;
	bool answering;
	uint64_t counter; /* counter in messages that are made valid */
};

static struct mapper_config config_of_mapper(void)
{
	return (struct mapper_config){
		.session = SMALL_MAPPER_SESSION,
		.algorithm = route_algorithm_find("ud"),
		.tables = true,
		.heartbeat_ps = 10 * PS_PER_MS,
		.takeover_ps = 60 * PS_PER_MS,
		.standbys = 2,
		.gather_ps = 200 * PS_PER_US,
		.linger_ps = 20 * PS_PER_MS,
		.sweep_ps = 20 * PS_PER_MS,
		.discovery = {.outstanding = 4, .retry_ps = PS_PER_MS, .tries = 3},
		.distribution = {.outstanding = 4,
			.retry_ps = PS_PER_MS,
			.tries = 3,
			.part_bytes = 8,
			.drain_ps = 5 * PS_PER_MS,
			.settle_ps = 10 * PS_PER_US},
	};
}

static void start(struct bench *bench)
{
	const struct mapper_config config = config_of_mapper();

	memset(bench, 0, sizeof(*bench));
	bench->answering = true;
	bench->counter = (uint64_t)1 << 32;
	for (unsigned i = 0; i < SMALL_DEVICES; i++) {
		const struct mapper_agent_config agent = {.id = small_id(i),
			.session = small_session(i),
			.kind = small_is_host(i),
			.ports = small_is_host(i) ? 1 : SMALL_PORTS,
			.number = MAPPER_NUMBER_NONE,
			.name = "",
			.key = &key,
			.candidate = small_is_host(i),
			.lease_ps = 50 * PS_PER_MS,
			.report_retry_ps = PS_PER_MS,
			.image_bytes_max = 4096};

		mapper_agent_init(&bench->agent[i], &agent, 0);
		for (uint8_t p = 0; p < (small_is_host(i) ? 1 : SMALL_PORTS - 1); p++)
			mapper_agent_set_link(&bench->agent[i], p, true);
	}
	REQUIRE(mapper_init(&bench->mapper, &config, &bench->agent[SMALL_SELF], 0, 0) == 0);
}

/* Finds where a frame that leaves a device arrives. Returns false if nowhere. */
static bool travel(const struct mapper_frame *frame, struct small_end from, struct small_end *at)
{
	const struct frame_header *header = frame_header_const(frame->data);
	const uint8_t *route = frame->data + FRAME_HEADER_BYTES;

	REQUIRE(frame_check(frame->data, frame->bytes) == FRAME_FAULT_OK);
	for (unsigned i = 0;; i++) {
		if (!small_peer(from, at))
			return false;
		REQUIRE(i < header->route_length);
		if (route[i] == ROUTE_TYPE_AGENT)
			return i + 1u == header->route_length;
		if (small_is_host(at->device))
			return false;
		from = (struct small_end){at->device, route[i] & ROUTE_PORT_MASK};
	}
}

/* Delivers it to its agent, and the answer back. */
static void deliver(struct bench *bench, const struct mapper_frame *frame)
{
	static struct mapper_frame answer;
	struct small_end at = {SMALL_SELF, MAPPER_PORT_LOCAL}, back;
	bool local = frame->port == MAPPER_PORT_LOCAL;
	unsigned orders;

	if (!local && (!bench->answering ||
			      !travel(frame, (struct small_end){SMALL_SELF, frame->port}, &at)))
		return;
	orders = mapper_agent_receive(
		&bench->agent[at.device], bench->now, at.port, frame->data, frame->bytes, &answer);
	if ((orders & MAPPER_AGENT_ANSWER) == 0)
		return;
	if (local || (travel(&answer, (struct small_end){at.device, answer.port}, &back) &&
			     back.device == SMALL_SELF))
		mapper_receive(&bench->mapper, bench->now, answer.data, answer.bytes);
}

static void poll(struct bench *bench)
{
	static struct mapper_frame frame;
	unsigned frames = 0;

	for (; mapper_poll(&bench->mapper, bench->now, &frame); frames++) {
		REQUIRE(frames < FRAMES_A_POLL);
		deliver(bench, &frame);
	}
	/* When nothing is left to send, the next due time is in the future. */
	REQUIRE(!mapper_leads(&bench->mapper) ||
		mapper_due(&bench->mapper, bench->now) > bench->now ||
		bench->mapper.map.changes != bench->mapper.computed || bench->mapper.stale);
}

static void pass_time(struct bench *bench, weft_time time)
{
	weft_time until = bench->now + time;

	do {
		weft_time due;

		poll(bench);
		due = mapper_due(&bench->mapper, bench->now);
		bench->now = due > until ? until : due > bench->now ? due : bench->now + PS_PER_US;
	} while (bench->now < until);
}

static void require_cables(const struct fabric_map *map, uint32_t at)
{
	const struct map_device *device = &map->device[at];

	for (unsigned p = 0; p < device->facts.ports; p++) {
		const struct map_port *port = &device->port[p], *peer;

		if (port->state != MAP_LINKED)
			continue;
		REQUIRE(device->present && port->peer < map->devices);
		REQUIRE(port->peer_port < map->device[port->peer].facts.ports);
		peer = &map->device[port->peer].port[port->peer_port];
		REQUIRE(peer->state == MAP_LINKED && peer->peer == at && peer->peer_port == p);
	}
}

static void require_way(const struct fabric_map *map, uint32_t at)
{
	uint32_t steps = 0;

	for (; at != 0; at = map->device[at].parent) {
		REQUIRE(map->device[at].present && map->device[at].parent < map->devices);
		REQUIRE(map->device[at].depth < FRAME_ROUTE_MAX && ++steps < map->devices);
	}
}

static void require_good(const struct bench *bench)
{
	const struct mapper *mapper = &bench->mapper;
	const struct fabric_map *map = &mapper->map;
	unsigned used = 0;

	for (uint32_t i = 0; i < map->devices; i++) {
		REQUIRE(map->device[i].id != 0 && fabric_map_find(map, map->device[i].id) == i);
		require_cables(map, i);
		if (map->device[i].present)
			require_way(map, i);
		for (uint32_t k = 0; k < i; k++)
			REQUIRE(map->device[i].number == MAPPER_NUMBER_NONE ||
				map->device[i].number != map->device[k].number ||
				map->device[i].facts.kind != map->device[k].facts.kind);
	}
	for (unsigned i = 0; i < DISCOVERY_OUTSTANDING_MAX; i++)
		used += mapper->discovery.probe[i].used;
	REQUIRE(used == mapper->discovery.outstanding);
	REQUIRE(mapper->discovery.head <= mapper->discovery.tail);
	REQUIRE(mapper->discovery.findings <= DISCOVERY_FINDINGS_MAX);
	REQUIRE(mapper->generations <= LIVE_GENERATIONS_MAX);
	REQUIRE(mapper->reading.open <= mapper->reading.reads);
	REQUIRE(mapper->distribution.open <= mapper->distribution.targets);
}

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

/* Returns an open probe, starting with the last one. */
static uint32_t awaited_probe(const struct discovery *discovery)
{
	for (unsigned i = DISCOVERY_OUTSTANDING_MAX; i-- > 0;)
		if (discovery->probe[i].used)
			return discovery->probe[i].number;
	return 0;
}

/* As the device would send it: for this life of the mapper, with a new counter, and as an answer to
 * a request. */
static void mend(struct bench *bench, uint8_t *payload, unsigned bytes)
{
	const struct distribution *distribution = &bench->mapper.distribution;

	if (bytes < MAPPER_ENVELOPE_BYTES)
		return;
	payload[AT_KEYED] = 1;
	put(payload + AT_SESSION, SMALL_MAPPER_SESSION, 4);
	put(payload + AT_COUNTER, bench->counter++, 8);
	put(payload + AT_TARGET, small_id(SMALL_SELF), 8);
	if (payload[0] == MAPPER_REPLY && bytes == REPLY_PAYLOAD)
		put(payload + AT_PROBE, awaited_probe(&bench->mapper.discovery), 4);
	if (payload[0] == MAPPER_STATUS && bytes == STATUS_PAYLOAD) {
		put(payload + AT_STATUS, distribution->epoch, 4);
		put(payload + AT_ROUND, distribution->round, 2);
	}
}

/* High numbers only take memory. */
static void lower_number(uint8_t *payload, unsigned bytes)
{
	if (bytes == REPLY_PAYLOAD && payload[0] == MAPPER_REPLY)
		put(payload + AT_NUMBER, payload[AT_NUMBER + 1] & NUMBERS_MASK, 2);
}

static void require_unchanged(
	struct mapper *before, const struct map_device *devices, const struct mapper *after)
{
	memcpy(before->counters.refused, after->counters.refused, sizeof(before->counters.refused));
	REQUIRE(memcmp(before, after, sizeof(*before)) == 0);
	REQUIRE(memcmp(devices, after->map.device, after->map.devices * sizeof(*devices)) == 0);
}

static void attack(struct bench *bench, const struct fuzz_record *record)
{
	static uint8_t frame[FRAME_BYTES_MAX], mended[FRAME_PAYLOAD_MAX];
	static struct mapper before;
	const struct map_device *at = bench->mapper.map.device;
	size_t room = bench->mapper.map.devices * sizeof(*at);
	struct map_device *devices = malloc(room);
	bool tagged = (record->command & TAGGED) != 0;

	REQUIRE(devices != NULL);
	memcpy(mended, record->payload, record->bytes);
	if (record->command & MENDED)
		mend(bench, mended, record->bytes);
	lower_number(mended, record->bytes);
	before = bench->mapper;
	memcpy(devices, at, room);
	mapper_receive(&bench->mapper, bench->now, frame,
		mapper_forgery(frame, mended, record->bytes, tagged ? &key : NULL));
	if (!tagged)
		require_unchanged(&before, devices, &bench->mapper);
	free(devices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench bench;
	struct fuzz_record record;

	start(&bench);
	pass_time(&bench, PS_PER_MS);
	while (fuzz_record_next(&data, &size, FRAME_PAYLOAD_MAX, &record)) {
		attack(&bench, &record);
		require_good(&bench);
		bench.answering = (record.command & ANSWERED) != 0;
		pass_time(&bench, PS_PER_US << (record.command >> 4));
		require_good(&bench);
	}
	bench.answering = true;
	pass_time(&bench, 100 * PS_PER_MS);
	require_good(&bench);
	mapper_fini(&bench.mapper);
	for (unsigned i = 0; i < SMALL_DEVICES; i++)
		mapper_agent_fini(&bench.agent[i]);
	return 0;
}
