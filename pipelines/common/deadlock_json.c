/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Heads for another process, which searches those of a whole lab. Hosts are left out: nothing waits
 * for them. */

#include "deadlock.h"

#include <errno.h>

json_t *deadlock_heads_json(const struct deadlock_heads *heads)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < heads->count; i++) {
		const struct deadlock_head *head = &heads->head[i];

		if (!deadlock_is_host(head))
			json_array_append_new(
				list, json_pack("[I,I,I,I,I,I,I]", (json_int_t)head->buffer,
					      (json_int_t)head->awaits, (json_int_t)head->room,
					      (json_int_t)head->queued, (json_int_t)head->needs,
					      (json_int_t)head->output, (json_int_t)head->since));
	}
	return list;
}

/* A buffer of a port of the topology with a cable, behind which there is a switch or a host. */
static bool is_buffer(const struct topology *topology, json_int_t buffer)
{
	struct topology_port at = deadlock_input((uint32_t)buffer), peer;

	return buffer >= 0 && buffer < UINT32_MAX && at.kind == DEVICE_SWITCH &&
	       at.device < topology->switches && at.port < topology->switch_at[at.device].ports &&
	       topology_peer(topology, at, &peer);
}

static bool is_count(json_int_t value)
{
	return value >= 0 && value <= INT32_MAX;
}

int deadlock_heads_read(
	struct deadlock_heads *heads, const json_t *list, const struct topology *topology)
{
	if (!json_is_array(list))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_int_t buffer, awaits, room, queued, needs, output, since;

		if (json_unpack(json_array_get(list, i), "[I,I,I,I,I,I,I!]", &buffer, &awaits,
			    &room, &queued, &needs, &output, &since) != 0 ||
			!is_buffer(topology, buffer) || !is_buffer(topology, awaits) ||
			!is_count(room) || !is_count(queued) || !is_count(needs) || output < 0 ||
			output >= SWITCH_PORTS_MAX || since < 0)
			return -EINVAL;
		if (deadlock_heads_reserve(heads, heads->count + 1) < 0)
			return -ENOMEM;
		heads->head[heads->count++] = (struct deadlock_head){.buffer = (uint32_t)buffer,
			.awaits = (uint32_t)awaits,
			.room = (uint32_t)room,
			.queued = (uint32_t)queued,
			.needs = (uint32_t)needs,
			.output = (uint8_t)output,
			.since = (weft_time)since};
	}
	return 0;
}
