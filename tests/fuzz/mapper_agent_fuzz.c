/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * The agents of a switch and of a host under messages of somebody who has the key, or has not.
 * With the key they may do what a mapper may, and still nothing gets out of range: images in use
 * are good ones, and what is read from them is in range; nothing is staged beyond its size. Without
 * the key nothing changes at all.
 *
 * Input: records of a command, a length (2 bytes) and that many bytes of payload. Bit 0 of the
 * command says whether the tag is made right.
 */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "mapper_agent.h"
#include "table_image.h"

#define REQUIRE(condition)        \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define PORTS     8
#define IMAGE_MAX 4096
#define SWITCH_ID 77
#define HOST_ID   78

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fabric_key key = {{1, 2, 3}};

/* The frame of this payload, by the agent's element, with right CRCs and maybe a right tag. */
static unsigned build(uint8_t *frame, const uint8_t *payload, unsigned bytes, bool tagged)
{
	static const uint8_t route[] = {ROUTE_TYPE_AGENT};
	uint8_t *at = frame + FRAME_HEADER_BYTES + sizeof(route);
	struct frame_fields fields = {.kind = FRAME_MAPPER,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = (uint16_t)bytes};

	memcpy(at, payload, bytes);
	if (bytes > 0)
		fields.kind = mapper_type_kind(at[0]);
	if (tagged && bytes >= MAPPER_TAG_BYTES)
		fabric_key_tag(&key, at, bytes - MAPPER_TAG_BYTES, at + bytes - MAPPER_TAG_BYTES);
	return frame_build(frame, &fields);
}

static void require_good(const struct mapper_agent *agent)
{
	REQUIRE(agent->staged_bytes <= agent->staged_total || agent->staged == NULL);
	REQUIRE(agent->staged == NULL || agent->staged_total <= IMAGE_MAX);
	REQUIRE(agent->image == NULL || table_image_check(agent->image, agent->image_bytes,
						agent->config.kind, agent->config.ports));
	REQUIRE(agent->sender_count <= MAPPER_AGENT_SENDERS);
	REQUIRE(agent->stage < MAPPER_STAGE_COUNT && agent->way_length <= MAPPER_BACK_MAX);
}

static void require_route(void *context, const struct table_image_route *route)
{
	const struct mapper_agent *agent = context;

	REQUIRE(route->destination < table_image_hosts(agent->image));
	REQUIRE(route->length <= FRAME_ROUTE_MAX);
	if (route->length > 0)
		REQUIRE(route->elements >= agent->image &&
			route->elements + route->length <= agent->image + agent->image_bytes &&
			route->elements[route->length - 1] == ROUTE_TYPE_HOST);
}

/* As a device reads what it is to use. */
static void read_image(struct mapper_agent *agent)
{
	static uint64_t sets[65536];
	struct table_image_switch tables;
	struct queuing *queuing;

	if (agent->config.kind == MAPPER_SWITCH) {
		table_image_read_switch(agent->image, PORTS, &tables, sets);
		REQUIRE(table_image_queues(agent->image) <= FRAME_VCS_MAX);
		return;
	}
	table_image_each_route(agent->image, require_route, agent);
	REQUIRE(table_image_queuing(agent->image, &queuing) == 0);
	for (uint32_t to = 0; to < table_image_hosts(agent->image); to++)
		REQUIRE(queuing_sl(queuing, 0, to) < FRAME_VCS_MAX);
	queuing_destroy(queuing);
}

static void try_payload(
	struct mapper_agent *agent, const uint8_t *payload, unsigned bytes, bool tagged)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	static struct mapper_frame answer;
	struct mapper_agent before = *agent;
	unsigned length = build(frame, payload, bytes, tagged);
	unsigned orders = mapper_agent_receive(
		agent, 1, agent->config.kind == MAPPER_SWITCH ? 3 : 0, frame, length, &answer);

	require_good(agent);
	if (orders & MAPPER_AGENT_COMMIT)
		read_image(agent);
	if (orders & MAPPER_AGENT_ANSWER)
		REQUIRE(frame_check(answer.data, answer.bytes) == FRAME_FAULT_OK);
	if (tagged)
		return;
	REQUIRE(orders == 0);
	memcpy(before.refused, agent->refused, sizeof(before.refused));
	REQUIRE(memcmp(&before, agent, sizeof(before)) == 0);
}

static void init(struct mapper_agent *agent, enum mapper_device_kind kind)
{
	const struct mapper_agent_config config = {
		.id = kind == MAPPER_SWITCH ? SWITCH_ID : HOST_ID,
		.session = 5,
		.kind = (uint8_t)kind,
		.ports = kind == MAPPER_SWITCH ? PORTS : 1,
		.name = "s",
		.key = &key,
		.lease_ps = 10,
		.report_retry_ps = 10,
		.image_bytes_max = IMAGE_MAX};

	mapper_agent_init(agent, &config, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapper_agent agent[2];

	memset(agent, 0, sizeof(agent));
	init(&agent[0], MAPPER_SWITCH);
	init(&agent[1], MAPPER_HOST);
	while (size >= 3) {
		unsigned bytes = (unsigned)(data[1] << 8 | data[2]);

		if (bytes > size - 3)
			bytes = (unsigned)(size - 3);
		if (bytes > FRAME_PAYLOAD_MAX)
			bytes = FRAME_PAYLOAD_MAX;
		for (unsigned i = 0; i < 2; i++)
			try_payload(&agent[i], data + 3, bytes, (data[0] & 1) != 0);
		data += 3 + bytes;
		size -= 3 + bytes;
	}
	mapper_agent_fini(&agent[0]);
	mapper_agent_fini(&agent[1]);
	return 0;
}
