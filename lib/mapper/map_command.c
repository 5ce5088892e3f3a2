/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "map_command.h"

void map_command_build(const struct fabric_map *map, uint32_t to, struct mapper_speaker *speaker,
	struct mapper_message *message, struct mapper_frame *frame)
{
	const struct map_device *device = &map->device[to];
	uint8_t route[FRAME_ROUTE_MAX];
	unsigned length = device->depth;

	message->target = device->id;
	message->target_session = device->facts.session;
	message->command.back_length =
		(uint8_t)fabric_map_back(map, to == 0 ? 0 : device->parent, message->command.back);
	fabric_map_way(map, to, route);
	route[length++] = ROUTE_TYPE_AGENT;
	mapper_frame_build(speaker, message, route, length, frame);
	frame->port = to == 0 ? MAPPER_PORT_LOCAL : 0;
}
