/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credit frames and adaptive-routing notifications (ARNs) in flight in a virtual fabric. They take
 * no transmission time, only the delay of the link. */

#include "virtual_private.h"

#define VIRTUAL_CONTROL_NONE UINT32_MAX

int virtual_control_init(struct virtual_control *control, size_t record_bytes, uint32_t records);
void virtual_control_fini(struct virtual_control *control);
/* Returns a record, or VIRTUAL_CONTROL_NONE if the run has failed. */
uint32_t virtual_control_take(struct virtual_fabric *fabric, struct virtual_control *control);
static inline void virtual_control_give(struct virtual_control *control, uint32_t record)
{
	control->next[record] = control->first_free;
	control->first_free = record;
}

/* Sends a credit frame from this end over the link of 'channel'. */
void virtual_send_credit(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, weft_time now);
/* Fills in the credit frame that arrives at this end, and frees its record. */
void virtual_open_credit(struct virtual_fabric *fabric, uint32_t item, const struct link_end *end,
	struct control_credit *credit);
/* Fills in the credit frame that arrives next, with its sender's total. Never lowers the end's
 * current limits. */
void virtual_show_credit(const struct virtual_fabric *fabric, uint32_t item,
	const struct link_end *end, struct control_credit *credit);

/* Schedules a frame sent by 'channel' to arrive at 'at', as the event with this order. Frames with
 * equal times arrive in the order of the calls. */
void virtual_push_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct virtual_credit *total, weft_time at, uint32_t order);
void virtual_push_arn(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time at, uint32_t order);

/* Sends the pending ARNs of a switch with congestion control. */
void virtual_send_arns(struct virtual_fabric *fabric, uint32_t at, weft_time now);
/* Returns the arriving ARN and frees its record. */
struct control_arn virtual_take_arn(struct virtual_fabric *fabric, uint32_t item);

static inline void virtual_credit_totals(const struct virtual_fabric *fabric,
	const struct control_credit *credit, struct virtual_credit *total)
{
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		total[vc] = (struct virtual_credit){credit->limit[vc], credit->sent[vc]};
}

/* Returns the record's values, one per VC of the run. */
static inline struct virtual_credit *virtual_credit_at(
	const struct virtual_fabric *fabric, uint32_t item)
{
	return (struct virtual_credit *)fabric->credits.record + (size_t)item * fabric->vcs;
}

static inline struct control_arn *virtual_arn_at(const struct virtual_fabric *fabric, uint32_t item)
{
	return (struct control_arn *)fabric->arns.record + (item - fabric->items);
}

/* Congestion notifications (cn.h) in a virtual fabric. A host answers arriving packets, and the
 * answer reaches the source after the delays of the return path. It takes neither credits nor time
 * on links; both papers call its cost negligible. */

/* Returns 0 or -ENOMEM. */
int virtual_cn_open(struct virtual_fabric *fabric);
/* Allocates the memory of one partition. Returns 0 or -ENOMEM. */
int virtual_cn_open_own(struct virtual_fabric *fabric);
void virtual_cn_close_own(struct virtual_fabric *fabric);
/* Makes the switch use the partition's packets. */
void virtual_cn_move_switch(struct virtual_fabric *partition, uint32_t at);
int virtual_cn_open_host(struct virtual_fabric *fabric, uint32_t number);
void virtual_cn_close(struct virtual_fabric *fabric);

/* Makes switches measure waiting times. Call after the links' ends are set. May return -ENOMEM. */
int virtual_cn_open_switches(struct virtual_fabric *fabric);

/* Answers a packet that arrived for this host. Call only with fabric->answers. */
void virtual_cn_answer(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now);

/* Schedules a notification to arrive at the host, as a CREDIT event with the corresponding item. */
void virtual_cn_push(struct virtual_fabric *fabric, uint32_t number,
	const struct virtual_answer *answer, weft_time at);
/* Handles that event: the host processes the first notification due now. */
void virtual_cn_arrive(struct virtual_fabric *fabric, uint32_t number, weft_time now);

/* Sums the hosts' counters since time 0. */
void virtual_cn_sums(const struct virtual_fabric *fabric, struct source_control_sums *sum);
/* virtual_cn_mark() starts measuring; virtual_cn_switches() adds the switches' measurements since,
 * and returns 0 or -ENOMEM. */
void virtual_cn_mark(struct virtual_fabric *fabric);
int virtual_cn_switches(const struct virtual_fabric *fabric, struct run_result *result);
void virtual_cn_result(const struct virtual_fabric *fabric, struct run_result *result);
const char *virtual_cn_check(const struct virtual_fabric *fabric);
