/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * The agent of a switch under messages of somebody who has the key, or has not. With the key it may
 * do what a mapper may, and still nothing gets out of range: images in use are good ones, nothing
 * is staged beyond its size. Without the key nothing changes at all.
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
	REQUIRE(agent->image == NULL ||
		table_image_check(agent->image, agent->image_bytes, MAPPER_SWITCH, PORTS));
	REQUIRE(agent->sender_count <= MAPPER_AGENT_SENDERS);
	REQUIRE(agent->stage < MAPPER_STAGE_COUNT && agent->way_length <= MAPPER_BACK_MAX);
}

static void try_payload(
	struct mapper_agent *agent, const uint8_t *payload, unsigned bytes, bool tagged)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	static struct mapper_frame answer;
	struct mapper_agent before = *agent;
	unsigned length = build(frame, payload, bytes, tagged);
	unsigned orders = mapper_agent_receive(agent, 1, 3, frame, length, &answer);

	require_good(agent);
	if (orders & MAPPER_AGENT_ANSWER)
		REQUIRE(frame_check(answer.data, answer.bytes) == FRAME_FAULT_OK);
	if (tagged)
		return;
	REQUIRE(orders == 0);
	memcpy(before.refused, agent->refused, sizeof(before.refused));
	REQUIRE(memcmp(&before, agent, sizeof(before)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mapper_agent_config config = {.id = 77,
		.session = 5,
		.kind = MAPPER_SWITCH,
		.ports = PORTS,
		.name = "s",
		.key = &key,
		.lease_ps = 10,
		.report_retry_ps = 10,
		.image_bytes_max = IMAGE_MAX};
	struct mapper_agent agent;

	memset(&agent, 0, sizeof(agent));
	mapper_agent_init(&agent, &config, 0);
	while (size >= 3) {
		unsigned bytes = (unsigned)(data[1] << 8 | data[2]);

		if (bytes > size - 3)
			bytes = (unsigned)(size - 3);
		if (bytes > FRAME_PAYLOAD_MAX)
			bytes = FRAME_PAYLOAD_MAX;
		try_payload(&agent, data + 3, bytes, (data[0] & 1) != 0);
		data += 3 + bytes;
		size -= 3 + bytes;
	}
	mapper_agent_fini(&agent);
	return 0;
}
