/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credit frames and adaptive-routing notifications (ARNs) of a virtual fabric that are in flight.
 * They take no time on a link except its delay. */

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
/* Fills in the credit frame that arrives at this end; it is no longer in flight. */
void virtual_open_credit(struct virtual_fabric *fabric, uint32_t item, const struct link_end *end,
	struct control_credit *credit);
/* Fills in the credit frame that arrives next, with its sender's total. It never withdraws limits
 * that the end already has. */
void virtual_show_credit(const struct virtual_fabric *fabric, uint32_t item,
	const struct link_end *end, struct control_credit *credit);

/* A frame that a channel sent arrives at 'at', as the event of that order. Frames with equal times
 * arrive in the order of the calls. */
void virtual_push_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct virtual_credit *total, weft_time at, uint32_t order);
void virtual_push_arn(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time at, uint32_t order);

/* Sends the pending ARNs of a switch with congestion control. */
void virtual_send_arns(struct virtual_fabric *fabric, uint32_t at, weft_time now);
/* Returns the ARN that arrives; it is then no longer in flight. */
struct control_arn virtual_take_arn(struct virtual_fabric *fabric, uint32_t item);

static inline void virtual_credit_totals(const struct virtual_fabric *fabric,
	const struct control_credit *credit, struct virtual_credit *total)
{
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		total[vc] = (struct virtual_credit){credit->limit[vc], credit->sent[vc]};
}

/* [VCs of the run] */
static inline struct virtual_credit *virtual_credit_at(
	const struct virtual_fabric *fabric, uint32_t item)
{
	return (struct virtual_credit *)fabric->credits.record + (size_t)item * fabric->vcs;
}

static inline struct control_arn *virtual_arn_at(const struct virtual_fabric *fabric, uint32_t item)
{
	return (struct control_arn *)fabric->arns.record + (item - fabric->items);
}

/* Notifications of congestion (cn.h) in a virtual fabric: a host answers what arrives, and the
 * answer reaches the source after the delays of the path back. It takes neither credits nor time on
 * links; both papers call it negligible. */

/* Returns 0 or -ENOMEM. */
int virtual_cn_open(struct virtual_fabric *fabric);
/* Allocates the memory that each partition has for itself. Returns 0 or -ENOMEM. */
int virtual_cn_open_own(struct virtual_fabric *fabric);
void virtual_cn_close_own(struct virtual_fabric *fabric);
/* The switch's packets are the partition's. */
void virtual_cn_move_switch(struct virtual_fabric *partition, uint32_t at);
int virtual_cn_open_host(struct virtual_fabric *fabric, uint32_t number);
void virtual_cn_close(struct virtual_fabric *fabric);

/* Makes switches measure waiting times, once links know the devices at their ends. Returns 0 or
 * -ENOMEM. */
int virtual_cn_open_switches(struct virtual_fabric *fabric);

/* A packet for this host arrived; fabric->answers. */
void virtual_cn_answer(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now);

/* A notification will arrive at the host, as a CREDIT event with such an item. */
void virtual_cn_push(struct virtual_fabric *fabric, uint32_t number,
	const struct virtual_answer *answer, weft_time at);
/* Handles that event: the host processes the first of the notifications that arrive now. */
void virtual_cn_arrive(struct virtual_fabric *fabric, uint32_t number, weft_time now);

/* Counters of all hosts, and sums since time 0. */
void virtual_cn_sums(const struct virtual_fabric *fabric, struct source_control_sums *sum);
/* Measuring starts; adds what switches measured since. Returns 0 or -ENOMEM. */
void virtual_cn_mark(struct virtual_fabric *fabric);
int virtual_cn_switches(const struct virtual_fabric *fabric, struct run_result *result);
void virtual_cn_result(const struct virtual_fabric *fabric, struct run_result *result);
const char *virtual_cn_check(const struct virtual_fabric *fabric);
