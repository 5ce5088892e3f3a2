/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Adaptive-routing notifications of a virtual fabric that are under way. Like credit frames they
 * take no time on the link beside its delay. */

#include <errno.h>
#include <stdlib.h>

#include "switch_congestion.h"
#include "virtual_private.h"

int virtual_notes_init(struct virtual_notes *notes, uint32_t records)
{
	*notes = (struct virtual_notes){
		.record = calloc(records, sizeof(*notes->record)),
		.next_free = calloc(records, sizeof(*notes->next_free)),
		.size = records,
	};
	if (notes->record == NULL || notes->next_free == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < records; i++)
		notes->next_free[i] = i + 1;
	return 0;
}

void virtual_notes_fini(struct virtual_notes *notes)
{
	free(notes->record);
	free(notes->next_free);
	*notes = (struct virtual_notes){0};
}

/* Room for as many records again, as far as their numbers reach. */
static bool grow(struct virtual_notes *notes, uint64_t most)
{
	uint32_t size = notes->size * 2, *next;
	struct control_arn *record;

	if (size >= most)
		return false;
	record = realloc(notes->record, size * sizeof(*record));
	next = realloc(notes->next_free, size * sizeof(*next));
	if (record != NULL)
		notes->record = record;
	if (next != NULL)
		notes->next_free = next;
	if (record == NULL || next == NULL)
		return false;
	for (uint32_t i = notes->size; i < size; i++)
		next[i] = i + 1;
	notes->size = size;
	return true;
}

static void send(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time now)
{
	struct virtual_notes *notes = &fabric->notes;
	uint32_t item = notes->first_free;

	if (item == notes->size && !grow(notes, fabric->items)) {
		fabric->failed = true;
		return;
	}
	notes->first_free = notes->next_free[item];
	notes->record[item] = *arn;
	notes->sent++;
	event_queue_push(
		fabric->events, (struct sim_event){now + virtual_tx_cold(fabric, channel)->delay_ps,
					channel->credit, (uint32_t)fabric->items + item});
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_trace_note(fabric, channel->credit, arn, now);
}

void virtual_send_notes(struct virtual_fabric *fabric, uint32_t at, weft_time now)
{
	struct congestion_control_arn out;

	while (congestion_control_take_arn(fabric->sw[at]->congestion, &out))
		send(fabric, virtual_switch_channel(fabric, at, out.port), &out.arn, now);
}

struct control_arn virtual_take_note(struct virtual_fabric *fabric, uint32_t item)
{
	struct virtual_notes *notes = &fabric->notes;

	item -= (uint32_t)fabric->items;
	notes->next_free[item] = notes->first_free;
	notes->first_free = item;
	return notes->record[item];
}
