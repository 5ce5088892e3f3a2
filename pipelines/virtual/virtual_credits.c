/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Credit frames of a virtual fabric that are under way. */

#include <errno.h>
#include <stdlib.h>

#include "virtual_send.h"

int virtual_credits_init(struct virtual_credits *credits, uint32_t records)
{
	*credits = (struct virtual_credits){
		.record = calloc(records, sizeof(*credits->record)),
		.next_free = calloc(records, sizeof(*credits->next_free)),
		.size = records,
	};
	if (credits->record == NULL || credits->next_free == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < records; i++)
		credits->next_free[i] = i + 1;
	return 0;
}

void virtual_credits_fini(struct virtual_credits *credits)
{
	free(credits->record);
	free(credits->next_free);
	*credits = (struct virtual_credits){0};
}

/* Room for as many records again; never 'most' of them. */
static bool grow_credits(struct virtual_credits *credits, uint64_t most)
{
	uint32_t size = credits->size * 2, *next;
	struct control_credit *record;

	if (size >= most)
		return false;
	record = realloc(credits->record, size * sizeof(*record));
	next = realloc(credits->next_free, size * sizeof(*next));
	if (record != NULL)
		credits->record = record;
	if (next != NULL)
		credits->next_free = next;
	if (record == NULL || next == NULL)
		return false;
	for (uint32_t i = credits->size; i < size; i++)
		next[i] = i + 1;
	credits->size = size;
	return true;
}

/* Who gets the credit frame of that order. */
static const struct link_end *end_of(const struct virtual_fabric *fabric, uint32_t order)
{
	uint32_t device = VIRTUAL_DEVICE(order);

	if (device < fabric->switches)
		return &fabric->sw[device]->port[VIRTUAL_PORT(order)].link;
	return &fabric->host[device - fabric->switches].nic.link;
}

void virtual_send_credit(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, weft_time now)
{
	struct virtual_credits *credits = &fabric->credits;
	const struct link_end *peer_buffers;
	uint32_t item = credits->first_free;

	if (item == credits->size && !grow_credits(credits, fabric->items)) {
		fabric->failed = true;
		return;
	}
	credits->first_free = credits->next_free[item];
	link_end_fill_credit(end, &credits->record[item], now);
	event_queue_push(
		fabric->events, (struct sim_event){now + virtual_tx_cold(fabric, channel)->delay_ps,
					channel->credit, item});
	peer_buffers = end_of(fabric, channel->credit);
	virtual_fetch_link(peer_buffers);
	__builtin_prefetch(peer_buffers->tx, 1);
	__builtin_prefetch(peer_buffers->rx, 1);
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_trace_credit(fabric, channel->credit, &credits->record[item], now);
}

void virtual_renew_credit(struct control_credit *credit, const struct link_end *end)
{
	for (unsigned vc = 0; vc < credit->vcs; vc++)
		if ((int32_t)(credit->limit[vc] - end->tx[vc].limit) < 0)
			credit->limit[vc] = end->tx[vc].limit;
}

/* Nothing is lost on a virtual link, so there is nothing to heal; the sender's total speaks of what
 * is still under way, too, and must not count as lost. */
struct control_credit *virtual_open_credit(
	struct virtual_fabric *fabric, uint32_t item, const struct link_end *end)
{
	struct control_credit *credit = &fabric->credits.record[item];

	virtual_renew_credit(credit, end);
	for (unsigned vc = 0; vc < credit->vcs; vc++)
		credit->sent[vc] = end->rx[vc].received;
	fabric->credits.next_free[item] = fabric->credits.first_free;
	fabric->credits.first_free = item;
	return credit;
}
