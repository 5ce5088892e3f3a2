/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* An attacker knows the format and has seen all frames, but lacks the key. A million of his frames
 * change neither a working mapper nor the table of any device. mapper_agent_test sends a million
 * frames to the agent alone. */

#include <arpa/inet.h>

#include "mapper_fabric.h"
#include "networks.h"

#define A_WHILE     (150 * PS_PER_MS)
#define ROUNDS      50
#define ATTACKS     20000 /* in each round */
#define WRITES      2000  /* at each device */
#define RECORDS_MAX 4096
#define RECORD_MAX  600
#define AT_COUNTER  16 /* in the payload */

static const struct fabric_key stranger = {{99}};

struct record {
	uint8_t data[RECORD_MAX];
	unsigned bytes;
};

/* All frames sent to the mapper at host 0, in both of its lives. */
struct eavesdropper {
	struct mapper_fabric fabric;
	struct record record[RECORDS_MAX];
	unsigned records;
	unsigned first_of_this_life;
};

static void overhear(
	void *context, uint32_t host, weft_time now, const uint8_t *data, unsigned bytes)
{
	struct eavesdropper *ear = context;

	if (host == 0 && ear->records < RECORDS_MAX && bytes <= RECORD_MAX) {
		memcpy(ear->record[ear->records].data, data, bytes);
		ear->record[ear->records++].bytes = bytes;
	}
	mapper_receive(&ear->fabric.mapper[host], now, data, bytes);
}

static bool poll(void *context, uint32_t host, weft_time now, struct mapper_frame *frame)
{
	return mapper_poll(&((struct eavesdropper *)context)->fabric.mapper[host], now, frame);
}

static weft_time due(void *context, uint32_t host, weft_time now)
{
	return mapper_due(&((struct eavesdropper *)context)->fabric.mapper[host], now);
}

static void run(struct mapper_fabric *fabric, weft_time time)
{
	net_run(&fabric->net, fabric->net.now + time);
}

/* Host 0 is the only leader, in its second life. */
static struct eavesdropper *start(void)
{
	struct eavesdropper *ear = calloc(1, sizeof(*ear));
	struct mapper_fabric *fabric = &ear->fabric;
	struct mapper_config config = mapper_usual("ud", true);

	fabric_start(fabric, network_torus(3, 1), &config, 1);
	fabric->net.hooks =
		(struct net_hooks){.context = ear, .receive = overhear, .poll = poll, .due = due};
	for (uint32_t i = 1; i < fabric->net.topology->hosts; i++)
		fabric->mapper[i].config.listen_ps = 10000 * PS_PER_S;
	run(fabric, A_WHILE);
	net_cut_link(&fabric->net, 4, true);
	run(fabric, A_WHILE);
	mapper_fini(&fabric->mapper[0]);
	mapper_agent_stand_by(&fabric->net.host_agent[0]);
	fabric_start_mapper(fabric, 0, 1);
	ear->first_of_this_life = ear->records;
	run(fabric, A_WHILE);
	assert_true(mapper_leads(&fabric->mapper[0]));
	assert_true(ear->first_of_this_life > 50);
	return ear;
}

static void end(struct eavesdropper *ear)
{
	OWNED(topology) *topology = (struct topology *)(uintptr_t)ear->fabric.net.topology;

	fabric_end(&ear->fabric);
	free(ear);
}

/* Corrects the CRCs after a change. */
static void mend(struct record *record)
{
	struct frame_header *header = frame_header(record->data);
	unsigned at = frame_payload_offset(header), length = ntohs(header->payload_bytes_be);

	header->payload_crc_be = htonl(crc32c(record->data + at, length));
	header->crc_be = htons(frame_header_crc(record->data));
}

static void sign(struct record *record, const struct fabric_key *key)
{
	struct frame_header *header = frame_header(record->data);
	uint8_t *payload = record->data + frame_payload_offset(header);
	unsigned covered = ntohs(header->payload_bytes_be) - MAPPER_TAG_BYTES;

	payload[1] = key != NULL;
	memset(payload + covered, 0, MAPPER_TAG_BYTES);
	if (key != NULL)
		fabric_key_tag(key, payload, covered, payload + covered);
}

/* Frames are replayed, stale (of its former life), truncated, with a flipped bit, with changed
 * contents, with a higher counter, signed with another key, or unsigned. */
static struct record hostile(const struct eavesdropper *ear, struct rng *rng)
{
	unsigned kind = (unsigned)rng_below(rng, 7);
	unsigned which = kind == 1 ? (unsigned)rng_below(rng, ear->first_of_this_life)
				   : (unsigned)rng_below(rng, ear->records);
	struct record record = ear->record[which];
	struct frame_header *header = frame_header(record.data);
	uint8_t *payload = record.data + frame_payload_offset(header);
	unsigned length = ntohs(header->payload_bytes_be);

	if (kind == 2) {
		record.bytes = (unsigned)rng_below(rng, record.bytes);
	} else if (kind == 3) {
		record.data[rng_below(rng, record.bytes)] ^= (uint8_t)(1u << rng_below(rng, 8));
	} else if (kind >= 4) {
		payload[AT_COUNTER + rng_below(rng, 8)] += 1;
		payload[kind == 4 ? AT_COUNTER : rng_below(rng, length)] ^=
			(uint8_t)(1u << rng_below(rng, 8));
		if (kind >= 5)
			sign(&record, kind == 5 ? &stranger : NULL);
		mend(&record);
	}
	return record;
}

/* State that no frame may change: the mapper without its counts of refusals, and its map. */
struct snapshot {
	struct mapper mapper;
	struct map_device *device;
	struct map_port *port;
	size_t ports;
};

static struct snapshot look(const struct mapper *mapper)
{
	const struct fabric_map *map = &mapper->map;
	struct snapshot snapshot = {.ports = 0};

	memcpy(&snapshot.mapper, mapper, sizeof(*mapper)); /* including padding between fields */
	memset(snapshot.mapper.counters.refused, 0, sizeof(snapshot.mapper.counters.refused));
	snapshot.mapper.discovery.unasked = 0;
	snapshot.device = malloc(map->devices * sizeof(*snapshot.device));
	memcpy(snapshot.device, map->device, map->devices * sizeof(*snapshot.device));
	snapshot.port = calloc((size_t)map->devices * MAPPER_PORTS_MAX, sizeof(*snapshot.port));
	for (uint32_t i = 0; i < map->devices; i++) {
		unsigned ports = map->device[i].facts.ports;

		memcpy(snapshot.port + snapshot.ports, map->device[i].port,
			ports * sizeof(*snapshot.port));
		snapshot.ports += ports;
	}
	return snapshot;
}

static void assert_same(struct snapshot *before, struct snapshot *after)
{
	assert_memory_equal(&before->mapper, &after->mapper, sizeof(before->mapper));
	assert_memory_equal(before->device, after->device,
		before->mapper.map.devices * sizeof(*before->device));
	assert_int_equal(before->ports, after->ports);
	assert_memory_equal(before->port, after->port, before->ports * sizeof(*before->port));
	free(before->device);
	free(before->port);
	free(after->device);
	free(after->port);
}

/* Attacked while it probes, reads, distributes or is idle. */
UNIT_TEST(a_million_hostile_frames_change_nothing_at_a_mapper)
{
	struct eavesdropper *ear = start();
	struct mapper *mapper = &ear->fabric.mapper[0];
	unsigned asking = 0, distributing = 0;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct net *net = &ear->fabric.net;
		uint32_t link = 2 + round % 7;
		struct snapshot before, after;

		run(&ear->fabric, 20 * PS_PER_MS);
		net_cut_link(net, link, !net->link_cut[link]);
		run(&ear->fabric, round * 5 * PS_PER_US);
		asking += !discovery_done(&mapper->discovery);
		distributing += !distribution_done(&mapper->distribution);
		before = look(mapper);
		for (unsigned i = 0; i < ATTACKS; i++) {
			struct record record = hostile(ear, &rng);

			mapper_receive(mapper, net->now, record.data, record.bytes);
		}
		after = look(mapper);
		assert_same(&before, &after);
	}
	assert_true(asking > 0 && distributing > 0);
	assert_true(mapper->counters.refused[MAPPER_REFUSED_FRAME] > ROUNDS * ATTACKS / 10);
	assert_true(mapper->counters.refused[MAPPER_REFUSED_FORGED] > ROUNDS * ATTACKS / 10);
	assert_true(mapper->counters.refused[MAPPER_REFUSED_REPLAYED] > ROUNDS * ATTACKS / 50);
	assert_true(mapper->counters.refused[MAPPER_REFUSED_STALE] > ROUNDS * ATTACKS / 10);
	assert_true(mapper->counters.refused[MAPPER_REFUSED_UNKEYED] > ROUNDS * ATTACKS / 20);
	end(ear);
}

/* As the mapper would send it, with its identity or a higher priority: a whole image, commit,
 * pause, heartbeat. */
static struct mapper_message dangerous(
	const struct mapper_agent *agent, const struct table_image *image, struct rng *rng)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.target = agent->config.id;
	message.target_session = agent->config.session;
	message.command = (struct mapper_command){.priority = (uint16_t)rng_next(rng),
		.session = agent->followed_session,
		.back_length = 1,
		.back = {ROUTE_TYPE_AGENT}};
	switch (rng_below(rng, 4)) {
	case 0:
		message.type = MAPPER_TABLE;
		message.table = (struct mapper_table){
			agent->epoch + 1, image->length, 0, (uint16_t)image->length, image->bytes};
		break;
	case 1:
		message.type = MAPPER_HEARTBEAT;
		message.heartbeat = (struct mapper_heartbeat){agent->epoch, 0};
		break;
	default:
		message.type = MAPPER_PHASE;
		message.phase = (struct mapper_phase){
			agent->epoch + 1, (uint8_t)(1 + rng_below(rng, MAPPER_ABORT)), 0, 0};
	}
	return message;
}

static void write_without_key(struct mapper_agent *agent, uint64_t mapper, struct rng *rng)
{
	struct table_image image = {agent->image, agent->image_bytes};
	static struct mapper_frame frame, answer;
	struct mapper_agent before;

	memcpy(&before, agent, sizeof(before));
	for (unsigned i = 0; i < WRITES; i++) {
		struct mapper_message message = dangerous(agent, &image, rng);
		struct mapper_speaker liar = {.key = i % 2 == 0 ? &stranger : NULL,
			.id = i % 3 == 0 ? mapper : NET_HOST_ID + 100,
			.counter = UINT32_MAX + (uint64_t)i};

		mapper_frame_build(&liar, &message, (const uint8_t[]){ROUTE_TYPE_AGENT}, 1, &frame);
		assert_int_equal(
			mapper_agent_receive(agent, 1, 0, frame.data, frame.bytes, &answer), 0);
	}
	assert_int_equal(
		agent->refused[MAPPER_REFUSED_FORGED] - before.refused[MAPPER_REFUSED_FORGED],
		WRITES / 2);
	assert_int_equal(
		agent->refused[MAPPER_REFUSED_UNKEYED] - before.refused[MAPPER_REFUSED_UNKEYED],
		WRITES / 2);
	memcpy(before.refused, agent->refused, sizeof(before.refused));
	assert_memory_equal(&before, agent, sizeof(before));
}

UNIT_TEST(nobody_without_the_key_writes_a_table)
{
	struct eavesdropper *ear = start();
	struct mapper_fabric *fabric = &ear->fabric;
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	for (uint32_t i = 0; i < fabric->net.topology->switches; i++)
		write_without_key(&fabric->net.switch_agent[i], NET_HOST_ID, &rng);
	for (uint32_t i = 1; i < fabric->net.topology->hosts; i++)
		write_without_key(&fabric->net.host_agent[i], NET_HOST_ID, &rng);
	fabric_assert_works(fabric);
	end(ear);
}
