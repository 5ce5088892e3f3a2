/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Links of a virtual fabric that lose frames: a share of them ('faults'), or all while the cable is
 * cut. A fabric without faults and events has no such state; the data path tests for it only on
 * 'special' channels.
 *
 * A lost frame is queued as a WAKE event of the port at which it would have arrived, with the
 * packet's item + VIRTUAL_LOST_ITEM. This event counts the frame and notifies its source
 * (virtual_recovery_lose()). As on the real clock, the frame's blocks remain occupied until the
 * link's ends exchange totals again, with each credit refresh.
 *
 * The sender's partition writes all fields except 'lost', which the receiver's partition writes.
 * Channels change between rounds, in all processes. */

#include "base/rng.h"
#include "virtual_private.h"

#define VIRTUAL_LOST_ITEM 2u

struct virtual_fault {
	struct rng rng;
	uint32_t corrupt_ppm, credit_loss_ppm;
	uint32_t cuts; /* number of events that currently cut the cable */
	bool touched;  /* the channel has lost frames, or may lose some */
	bool waits;    /* planned values of the channel: */
	uint64_t byte_time;
	weft_time arrives; /* when the last frame arrives at the far end */
	weft_time until;   /* when the mapper and agent frames sent so far have left */
	/* Blocks of frames that the receiver lost. */
	uint32_t lost[FRAME_VCS_MAX] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

static inline struct virtual_fault *virtual_fault_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->faults[channel - fabric->channel];
}

/* Call after opening the links. Does nothing without faults and events. Returns 0 or -ENOMEM. */
int virtual_faults_open(struct virtual_fabric *fabric);
void virtual_faults_close(struct virtual_fabric *fabric);

/* Call when the channel starts to send a packet that would arrive at '*at'. Raises '*at' if frames
 * would overtake each other after a delay was reduced. Returns true if the packet will be lost. */
bool virtual_fault_hits(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct weft_packet *packet, weft_time *at);
/* Call when the channel sends a credit frame. Returns true if that frame is lost. */
bool virtual_fault_hits_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel);

/* Accounting of lost frames: link ends renew their totals between rounds, and losses are summed. */

/* Renews the totals at both ends of each link that loses frames, except cut ones. */
void virtual_losses_refresh(struct virtual_fabric *fabric, weft_time now);

/* Returns sums over all partitions of this process. */
struct virtual_fault_count virtual_losses_sum(const struct virtual_fabric *fabric);
void virtual_losses_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Lets switches query the queues of other switches, which requires a single thread. */
void virtual_oracle_open(const struct virtual_fabric *fabric);

/* Executes the events of a run (experiment/run/run_events.h) on the virtual clock. The run stops at
 * the time of each event, as it does for samples, and all threads and processes apply the event
 * identically, so the result is byte-identical for any number of them.
 *
 * A cut loses everything on the cable: data frames that have not reached the far end, credit
 * frames, notifications. The ends detect the cut after three missing hellos; hellos are sent at
 * multiples of 'hello'. Switches then discard the packets that wait for the cable and use
 * alternatives. A rejoined cable is used again immediately if its ends had not detected the cut,
 * and otherwise from the next hello on. */

struct virtual_events;

/* Does nothing unless the run has events. Returns 0, or -EINVAL or -ENOMEM with error set. */
int virtual_events_open(struct virtual_fabric *fabric, struct error *error);
void virtual_events_close(struct virtual_fabric *fabric);

/* Returns when the next event is due, or WEFT_TIME_NEVER. */
weft_time virtual_events_due(const struct virtual_fabric *fabric);
/* Executes the events that are due. Call between rounds. */
void virtual_events_apply(struct virtual_fabric *fabric, weft_time now);
/* Triggers events that wait for a counter. Call after a sample. */
void virtual_events_watch(struct virtual_fabric *fabric, weft_time now);

/* Sums the lost frames. Call at the end of the run, in all processes. */
void virtual_events_end(struct virtual_fabric *fabric);
/* Returns 0 or -ENOMEM. */
int virtual_events_result(const struct virtual_fabric *fabric, struct run_result *result);
