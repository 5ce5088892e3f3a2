/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "partition_message.h"
#include "virtual_faults.h"
#include "virtual_pause.h"
#include "virtual_send.h"
#include "virtual_trace.h"

#define NONE             VIRTUAL_CONTROL_NONE
#define RECORD_BYTES_MAX (FRAME_VCS_MAX * sizeof(struct virtual_credit))

_Static_assert(
	sizeof(struct control_arn) <= RECORD_BYTES_MAX, "room for each kind of sorted record");

int virtual_control_init(struct virtual_control *control, size_t record_bytes, uint32_t records)
{
	*control = (struct virtual_control){
		.record = calloc(records, record_bytes),
		.record_bytes = record_bytes,
		.next = calloc(records, sizeof(*control->next)),
		.size = records,
	};
	if (control->record == NULL || control->next == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < records; i++)
		control->next[i] = i + 1;
	return 0;
}

void virtual_control_fini(struct virtual_control *control)
{
	free(control->record);
	free(control->next);
	*control = (struct virtual_control){0};
}

/* Doubles the number of records, which must remain below 'max'. */
static bool grow(struct virtual_control *control, uint64_t max)
{
	uint32_t size = control->size * 2, *next;
	void *record;

	if (size >= max)
		return false;
	record = realloc(control->record, size * control->record_bytes);
	next = realloc(control->next, size * sizeof(*next));
	if (record != NULL)
		control->record = record;
	if (next != NULL)
		control->next = next;
	if (record == NULL || next == NULL)
		return false;
	for (uint32_t i = control->size; i < size; i++)
		next[i] = i + 1;
	control->size = size;
	return true;
}

/* Returns a record, or NONE if the run has failed. */
static inline uint32_t take(struct virtual_fabric *fabric, struct virtual_control *control)
{
	uint32_t record = control->first_free;

	if (record == control->size && !grow(control, fabric->freed)) {
		fabric->failed = true;
		return NONE;
	}
	control->first_free = control->next[record];
	return record;
}

uint32_t virtual_control_take(struct virtual_fabric *fabric, struct virtual_control *control)
{
	return take(fabric, control);
}

static void *record_at(const struct virtual_control *control, uint32_t record)
{
	return (uint8_t *)control->record + record * control->record_bytes;
}

/* Swaps the contents of two records. */
static void exchange(const struct virtual_control *control, uint32_t a, uint32_t b)
{
	uint8_t between[RECORD_BYTES_MAX];

	memcpy(between, record_at(control, a), control->record_bytes);
	memcpy(record_at(control, a), record_at(control, b), control->record_bytes);
	memcpy(record_at(control, b), between, control->record_bytes);
}

/* Inserts 'record', which a channel sent after others that arrive at the same time. Events with
 * equal times are ordered by record numbers, which depend on what was in flight before. The
 * contents are therefore sorted. */
static __attribute__((noinline)) void sort_sent(
	struct virtual_control *control, struct virtual_control_sent *sent, uint32_t record)
{
	uint32_t *link = &sent->item;

	while (*link != NONE && *link > record) {
		exchange(control, record, *link);
		link = &control->next[*link];
	}
	control->next[record] = *link;
	*link = record;
}

/* Queues the event of a record that a channel sent. Without a delay, the record may arrive before
 * the next one is sent, so no order must be preserved. */
static inline void push(struct virtual_fabric *fabric, struct virtual_control *control,
	struct virtual_control_sent *sent, struct sim_event event, uint32_t first)
{
	uint32_t record = event.item - first;

	if (__builtin_expect(sent->at == event.at, 0) && event.at != fabric->now) {
		sort_sent(control, sent, record);
	} else {
		*sent = (struct virtual_control_sent){event.at, record};
		control->next[record] = NONE;
	}
	event_queue_push(fabric->events, event);
}

/* --- credit frames --- */

/* Returns the end that receives the credit frame whose event has this order. */
static const struct link_end *end_of(const struct virtual_fabric *fabric, uint32_t order)
{
	if (!virtual_is_host(fabric, order))
		return &fabric->sw[VIRTUAL_SWITCH(order)]->port[VIRTUAL_PORT(order)].link;
	return &fabric->host[virtual_host_of(fabric, order)].nic.link;
}

void virtual_push_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct virtual_credit *total, weft_time at, uint32_t order)
{
	uint32_t item = take(fabric, &fabric->credits);
	struct virtual_credit *own;

	if (item == NONE)
		return;
	own = virtual_credit_at(fabric, item);
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		own[vc] = total[vc];
	push(fabric, &fabric->credits, &virtual_tx_cold(fabric, channel)->credits,
		(struct sim_event){at, order, item}, 0);
}

/* Returns true if the record crosses to a different partition, or is lost. */
static bool send_special_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_credit *credit, weft_time now)
{
	struct partition_crossing_control *crossing;

	if (fabric->watch != NULL)
		virtual_trace_credit(fabric, channel->credit, credit, now);
	if (fabric->faults != NULL && virtual_fault_hits_credit(fabric, channel))
		return true;
	if (!channel->crosses)
		return false;
	crossing = partition_send_control(fabric, VIRTUAL_CROSSING_CREDIT, channel, channel->credit,
		now + virtual_delay_of(fabric, channel));
	if (crossing != NULL)
		virtual_credit_totals(fabric, credit, crossing->credit);
	return true;
}

/* Sends a pause frame, if due, instead of a credit frame. */
static __attribute__((noinline)) void send_pause(struct virtual_fabric *fabric,
	struct link_end *end, const struct virtual_tx *channel, weft_time now)
{
	struct virtual_credit total[FRAME_VCS_MAX];
	struct partition_crossing_control *crossing;
	weft_time from = virtual_pause_due(fabric, end, channel, total, now);

	if (from == WEFT_TIME_NEVER)
		return;
	if (!channel->crosses) {
		virtual_push_credit(fabric, channel, total,
			from + virtual_tx_cold(fabric, channel)->delay_ps, channel->credit);
		return;
	}
	crossing = partition_send_control(fabric, VIRTUAL_CROSSING_CREDIT, channel, channel->credit,
		from + virtual_delay_of(fabric, channel));
	for (unsigned vc = 0; crossing != NULL && vc < fabric->vcs; vc++)
		crossing->credit[vc] = total[vc];
}

void virtual_send_credit(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, weft_time now)
{
	struct virtual_credit total[FRAME_VCS_MAX];
	const struct link_end *peer;
	struct control_credit credit;

	if (__builtin_expect(fabric->pauses != NULL, 0)) {
		send_pause(fabric, end, channel, now);
		return;
	}
	link_end_fill_credit(end, &credit, now);
	if (__builtin_expect(channel->special, 0) &&
		send_special_credit(fabric, channel, &credit, now))
		return;
	virtual_credit_totals(fabric, &credit, total);
	virtual_push_credit(fabric, channel, total,
		now + virtual_tx_cold(fabric, channel)->delay_ps, channel->credit);
	peer = end_of(fabric, channel->credit);
	virtual_fetch_link(peer);
	__builtin_prefetch(peer->tx, 1);
	__builtin_prefetch(peer->rx, 1);
}

/* If an end sends two credit frames at the same time over a link without delay, the older one may
 * arrive last. Limits that it would withdraw remain granted. */
void virtual_show_credit(const struct virtual_fabric *fabric, uint32_t item,
	const struct link_end *end, struct control_credit *credit)
{
	const struct virtual_credit *total = virtual_credit_at(fabric, item);

	credit->session = end->peer_session;
	credit->peer_session = end->config.session;
	credit->vcs = (uint8_t)fabric->vcs;
	for (unsigned vc = 0; vc < fabric->vcs; vc++) {
		bool newer = (int32_t)(total[vc].limit - end->tx[vc].limit) >= 0;

		credit->limit[vc] = newer ? total[vc].limit : end->tx[vc].limit;
		if (fabric->pauses != NULL)
			credit->limit[vc] = virtual_pause_limit(&end->tx[vc], total[vc].limit != 0);
		credit->sent[vc] = total[vc].sent;
	}
}

/* Virtual links without faults lose nothing, so nothing needs healing. The sender's total also
 * includes frames still in flight, which must not count as lost. */
void virtual_open_credit(struct virtual_fabric *fabric, uint32_t item, const struct link_end *end,
	struct control_credit *credit)
{
	virtual_show_credit(fabric, item, end, credit);
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		credit->sent[vc] = end->rx[vc].received;
	virtual_control_give(&fabric->credits, item);
}

/* --- notifications --- */

void virtual_push_arn(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time at, uint32_t order)
{
	uint32_t item = take(fabric, &fabric->arns);

	if (item == NONE)
		return;
	item += (uint32_t)fabric->items;
	*virtual_arn_at(fabric, item) = *arn;
	push(fabric, &fabric->arns, &virtual_tx_cold(fabric, channel)->arns,
		(struct sim_event){at, order, item}, (uint32_t)fabric->items);
}

static void send_arn(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time now)
{
	struct partition_crossing_control *crossing;

	fabric->arns_sent++;
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_trace_arn(fabric, channel->credit, arn, now);
	if (fabric->faults != NULL && virtual_fault_of(fabric, channel)->cuts > 0)
		return;
	if (channel->crosses) {
		crossing = partition_send_control(fabric, VIRTUAL_CROSSING_ARN, channel,
			channel->credit, now + virtual_delay_of(fabric, channel));
		if (crossing != NULL)
			crossing->arn = *arn;
		return;
	}
	virtual_push_arn(fabric, channel, arn, now + virtual_tx_cold(fabric, channel)->delay_ps,
		channel->credit);
}

void virtual_send_arns(struct virtual_fabric *fabric, uint32_t at, weft_time now)
{
	struct congestion_control_arn out;

	while (congestion_control_take_arn(fabric->sw[at]->congestion, &out))
		send_arn(fabric, virtual_switch_channel(fabric, at, out.port), &out.arn, now);
}

struct control_arn virtual_take_arn(struct virtual_fabric *fabric, uint32_t item)
{
	virtual_control_give(&fabric->arns, item - (uint32_t)fabric->items);
	return *virtual_arn_at(fabric, item);
}
