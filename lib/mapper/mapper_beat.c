/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "mapper_private.h"

static void build_command(struct mapper *mapper, uint32_t at, struct mapper_message *message,
	struct mapper_frame *frame)
{
	message->command.priority = mapper->agent->config.priority;
	message->command.session = mapper->config.session;
	map_command_build(&mapper->map, at, &mapper->speaker, message, frame);
}

bool mapper_poll_acknowledgements(struct mapper *mapper, struct mapper_frame *frame)
{
	while (mapper->acknowledgements > 0) {
		struct mapper_acknowledgement *due =
			&mapper->acknowledgement[--mapper->acknowledgements];
		struct mapper_message message;

		if (!mapper->map.device[due->device].present)
			continue;
		memset(&message, 0, sizeof(message));
		message.type = MAPPER_ACKNOWLEDGE;
		message.acknowledge.sequence = due->sequence;
		build_command(mapper, due->device, &message, frame);
		return true;
	}
	return false;
}

static uint32_t ranked(const struct mapper *mapper)
{
	return mapper->candidates < mapper->config.standbys ? mapper->candidates
							    : mapper->config.standbys;
}

/* Devices without a rank, including switches, must receive the heartbeat twice within their lease.
 * Otherwise they follow the next mapper that sends a command, and report their links to it. */
static uint32_t unranked_per_beat(const struct mapper *mapper)
{
	uint64_t beats = mapper->agent->config.lease_ps / 2 / mapper->config.heartbeat_ps;

	return beats > 1 ? (uint32_t)((mapper->map.devices + beats - 1) / beats)
			 : mapper->map.devices;
}

static bool has_rank(const struct mapper *mapper, uint32_t at)
{
	for (uint32_t i = 0; i < ranked(mapper); i++)
		if (mapper->candidate[i] == at)
			return true;
	return false;
}

/* Returns the device to address next in this interval, or MAP_NONE if it needs no message. */
static uint32_t next_of_beat(struct mapper *mapper, uint16_t *rank)
{
	uint32_t at;

	*rank = (uint16_t)mapper->beat;
	if (mapper->beat++ < ranked(mapper))
		return mapper->candidate[*rank];
	*rank = MAPPER_RANK_OTHER;
	at = mapper->turn++ % mapper->map.devices;
	return at == 0 || has_rank(mapper, at) ? MAP_NONE : at;
}

bool mapper_poll_heartbeats(struct mapper *mapper, weft_time now, struct mapper_frame *frame)
{
	struct mapper_message message;

	if (mapper->beat >= mapper->beats && now >= mapper->beat_at) {
		mapper->beat_at = now + mapper->config.heartbeat_ps;
		mapper->beat = 0;
		mapper->beats = ranked(mapper) + unranked_per_beat(mapper);
	}
	while (mapper->beat < mapper->beats) {
		uint16_t rank;
		uint32_t at = next_of_beat(mapper, &rank);

		if (at == MAP_NONE || !mapper->map.device[at].present)
			continue;
		memset(&message, 0, sizeof(message));
		message.type = MAPPER_HEARTBEAT;
		message.heartbeat = (struct mapper_heartbeat){mapper->epoch, rank};
		build_command(mapper, at, &message, frame);
		mapper->counters.heartbeats++;
		return true;
	}
	return false;
}
