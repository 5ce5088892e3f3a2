/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The agents of a switch and of a host under messages of somebody who has the key, or has not.
 * With the key they may do what a mapper may, and still nothing gets out of range: images in use
 * are good ones, and what is read from them is in range; nothing is staged beyond its size. Without
 * the key nothing changes at all.
 *
 * Input: records (fuzz_record.h) whose bytes are a payload. Bit 0 of the command says whether the
 * tag is made right. */

#include <string.h>

#include "fuzz.h"
#include "fuzz_record.h"
#include "mapper/mapper_agent.h"
#include "mapper/table_image.h"
#include "mapper_forgery.h"

#define PORTS     8
#define IMAGE_MAX 4096
#define SWITCH_ID 77
#define HOST_ID   78

static const struct fabric_key key = {{1, 2, 3}};

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

/* Reads it like a device that will use it. */
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

static void try_payload(struct mapper_agent *agent, const struct fuzz_record *record)
{
	bool tagged = (record->command & 1) != 0;
	static uint8_t frame[FRAME_BYTES_MAX];
	static struct mapper_frame answer;
	struct mapper_agent before = *agent;
	unsigned length =
		mapper_forgery(frame, record->payload, record->bytes, tagged ? &key : NULL);
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
	struct fuzz_record record;

	memset(agent, 0, sizeof(agent));
	init(&agent[0], MAPPER_SWITCH);
	init(&agent[1], MAPPER_HOST);
	while (fuzz_record_next(&data, &size, FRAME_PAYLOAD_MAX, &record))
		for (unsigned i = 0; i < 2; i++)
			try_payload(&agent[i], &record);
	mapper_agent_fini(&agent[0]);
	mapper_agent_fini(&agent[1]);
	return 0;
}
