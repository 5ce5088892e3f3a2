/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random valid mapper messages of every type, for tests and for fuzzer seeds. */

#include "base/rng.h"
#include "wire/mapper_message.h"

static inline uint32_t sample32(struct rng *rng)
{
	return (uint32_t)rng_next(rng) | 1;
}

static inline void sample_command(struct mapper_command *command, struct rng *rng)
{
	command->priority = (uint16_t)rng_next(rng);
	command->session = sample32(rng);
	command->back_length = (uint8_t)(1 + rng_below(rng, MAPPER_BACK_MAX));
	for (unsigned i = 0; i + 1 < command->back_length; i++)
		command->back[i] = (uint8_t)(ROUTE_PORT_BIT | rng_below(rng, 64));
	command->back[command->back_length - 1] = ROUTE_TYPE_AGENT;
}

static inline void sample_reply(struct mapper_reply *reply, struct rng *rng)
{
	*reply = (struct mapper_reply){
		.probe = sample32(rng),
		.kind = (uint8_t)rng_below(rng, 2),
		.flags = (uint8_t)rng_below(rng, 4),
		.session = sample32(rng),
		.epoch = sample32(rng),
		.followed = rng_next(rng),
		.followed_priority = (uint16_t)rng_next(rng),
		.priority = (uint16_t)rng_next(rng),
		.number = (uint16_t)rng_next(rng),
		.age = (uint8_t)rng_below(rng, MAPPER_AGE_MAX + 1),
		.version = sample32(rng),
		.digest = rng_next(rng),
		.name_length = (uint8_t)rng_below(rng, MAPPER_NAME_MAX + 1),
	};
	reply->ports = reply->kind == 1 ? 1 : (uint8_t)(1 + rng_below(rng, MAPPER_PORTS_MAX));
	reply->entry = (uint8_t)rng_below(rng, reply->ports);
	reply->linked = rng_next(rng) >> (MAPPER_PORTS_MAX - reply->ports);
	for (unsigned i = 0; i < reply->name_length; i++)
		reply->name[i] = (char)('!' + rng_below(rng, 94));
}

static inline void sample_status(struct mapper_status *status, struct rng *rng)
{
	*status = (struct mapper_status){
		.epoch = sample32(rng),
		.staged_bytes = sample32(rng),
		.committed = sample32(rng),
		.stage = (uint8_t)rng_below(rng, MAPPER_STAGE_COUNT),
		.flags = (uint8_t)rng_below(rng, 4),
		.round = (uint16_t)rng_next(rng),
		.session = sample32(rng),
		.followed = rng_next(rng),
		.followed_priority = (uint16_t)rng_next(rng),
	};
}

static inline void sample_body(struct mapper_message *message, struct rng *rng)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};

	switch (message->type) {
	case MAPPER_PROBE:
		message->probe = (struct mapper_probe){sample32(rng), sample32(rng)};
		break;
	case MAPPER_REPLY:
		sample_reply(&message->reply, rng);
		break;
	case MAPPER_TABLE:
		message->table = (struct mapper_table){.epoch = sample32(rng),
			.total = 100,
			.offset = (uint32_t)rng_below(rng, 94),
			.bytes = (uint16_t)(1 + rng_below(rng, sizeof(data))),
			.data = data};
		break;
	case MAPPER_PHASE:
		message->phase = (struct mapper_phase){.epoch = sample32(rng),
			.command = (uint8_t)(1 + rng_below(rng, MAPPER_ABORT)),
			.round = (uint16_t)rng_next(rng)};
		if (message->phase.command == MAPPER_PAUSE)
			message->phase.flags = (uint8_t)rng_below(rng, 2);
		break;
	case MAPPER_STATUS:
		sample_status(&message->status, rng);
		break;
	case MAPPER_HEARTBEAT:
		message->heartbeat =
			(struct mapper_heartbeat){sample32(rng), (uint16_t)rng_next(rng)};
		break;
	case MAPPER_REPORT:
		message->report = (struct mapper_report){.sequence = sample32(rng),
			.session = sample32(rng),
			.port = (uint8_t)rng_below(rng, MAPPER_PORTS_MAX),
			.up = rng_below(rng, 2) != 0};
		break;
	case MAPPER_READ:
		message->read = (struct mapper_read){
			sample32(rng), (uint16_t)(1 + rng_below(rng, MAPPER_PART_MAX))};
		break;
	case MAPPER_IMAGE:
		message->image = (struct mapper_image_part){.epoch = sample32(rng),
			.total = 100,
			.offset = (uint32_t)rng_below(rng, 94),
			.digest = rng_next(rng),
			.bytes = (uint16_t)(1 + rng_below(rng, sizeof(data))),
			.data = data};
		break;
	default:
		message->acknowledge = (struct mapper_acknowledge){sample32(rng)};
	}
}

static inline struct mapper_message sample_message(enum mapper_type type, struct rng *rng)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = (uint8_t)type;
	message.sender = rng_next(rng) | 1;
	message.target = rng_next(rng);
	message.counter = rng_next(rng) | 1;
	message.target_session = (uint32_t)rng_next(rng);
	if (mapper_type_is_command(type))
		sample_command(&message.command, rng);
	sample_body(&message, rng);
	return message;
}
