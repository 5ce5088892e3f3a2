/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Links of a virtual fabric that lose frames: a share of them ('faults'), or all while the cable is
 * cut (virtual_faults.h). A fabric without faults and events has no such state; the data path tests
 * for it only where a channel is 'special'.
 *
 * A lost frame is queued as a WAKE event of the port at which it would have arrived, with the
 * packet's item + VIRTUAL_LOST_ITEM. There it is counted, and its source is notified
 * (virtual_recovery_lose()). As on the real clock, its blocks stay taken until the link's ends
 * exchange totals again, with each credit refresh (virtual_faults.h).
 *
 * The sender's partition writes everything but 'lost', which the receiver's partition writes.
 * Channels change between rounds, in all processes. */

#include "base/rng.h"
#include "virtual_private.h"

#define VIRTUAL_LOST_ITEM 2u

struct virtual_fault {
	struct rng rng;
	uint32_t corrupt_ppm, credit_loss_ppm;
	uint32_t cuts; /* events that currently cut the cable */
	bool touched;  /* the channel has lost frames, or may lose some */
	bool waits;    /* as planned, of the channel, as its rate: */
	uint64_t byte_time;
	weft_time arrives; /* when the last frame is at the far end */
	weft_time until;   /* frames of mappers and agents leave up to then */
	/* Frames that the receiver lost. */
	uint32_t lost[FRAME_VCS_MAX] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

static inline struct virtual_fault *virtual_fault_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->faults[channel - fabric->channel];
}

/* Call this after opening the links. Does nothing unless the run has faults or events. Returns 0 or
 * -ENOMEM. */
int virtual_faults_open(struct virtual_fabric *fabric);
void virtual_faults_close(struct virtual_fabric *fabric);

/* The channel starts to send a packet that would arrive at '*at', which is raised if frames would
 * overtake each other after a delay was reduced. Returns true if the packet will be lost. */
bool virtual_fault_hits(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct weft_packet *packet, weft_time *at);
/* The channel sends a credit frame. Returns true if it is lost. */
bool virtual_fault_hits_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel);

/* Accounts for frames that links of a virtual fabric lose (virtual_faults.h). Between rounds the
 * ends of links renew their totals, and losses are summed up. */

/* Both ends of each link that loses frames renew their totals, unless its cable is cut. */
void virtual_losses_refresh(struct virtual_fabric *fabric, weft_time now);

/* Sum over all partitions of this process. */
struct virtual_fault_count virtual_losses_sum(const struct virtual_fabric *fabric);
void virtual_losses_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Lets the switches query the queues of others, which is only possible with a single thread. */
void virtual_oracle_open(const struct virtual_fabric *fabric);

/* Carries out the events of a run (experiment/run/run_events.h) on the virtual clock. The run stops
 * at the time of each, as it does for samples, and all threads and processes apply it alike, so the
 * result is byte-identical for any number of them.
 *
 * When a cable is cut, everything on it is lost: data frames that have not reached the far end,
 * credit frames, notifications. The ends notice it after three missing hellos; hellos leave at
 * multiples of 'hello'. Then switches discard what waits for the cable and use alternatives. A
 * rejoined cable is used again at once if its ends had not noticed the cut, and otherwise from the
 * next hello on. */

struct virtual_events;

/* Does nothing unless the run has events. Returns 0, -EINVAL or -ENOMEM. */
int virtual_events_open(struct virtual_fabric *fabric, struct error *error);
void virtual_events_close(struct virtual_fabric *fabric);

/* When the next event is due, or WEFT_TIME_NEVER. */
weft_time virtual_events_due(const struct virtual_fabric *fabric);
/* Between rounds: carries out the events that are due. */
void virtual_events_apply(struct virtual_fabric *fabric, weft_time now);
/* After a sample: triggers events that wait for a counter. */
void virtual_events_watch(struct virtual_fabric *fabric, weft_time now);

/* At the end of the run, in all processes: sums up lost frames. */
void virtual_events_end(struct virtual_fabric *fabric);
/* Returns 0 or -ENOMEM. */
int virtual_events_result(const struct virtual_fabric *fabric, struct run_result *result);
