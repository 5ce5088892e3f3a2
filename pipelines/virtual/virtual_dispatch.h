/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Carries out the events of a virtual run. */

#include "nic/datagram/datagram_cuts.h"
#include "virtual_private.h"

/* Handles up to '*max' events before fabric->limit. Returns false, with '*max' the remainder, if
 * there are no more. */
bool virtual_dispatch(struct virtual_fabric *fabric, uint32_t *max);

/* Events at the switches of a virtual fabric. */

void virtual_switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned input,
	struct weft_packet *packet, weft_time now);
void virtual_switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
void virtual_switch_credit(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now);
/* Sends through this output if it can. */
void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
/* True if the switch withholds credits that a sender may lack for its next frame. Sends them to
 * those that got none for device_credit_refresh(). */
bool virtual_switch_refresh(struct virtual_fabric *fabric, uint32_t at, weft_time now, bool send);
/* Sends a credit frame for all that an input has free. */
void virtual_switch_grant_all(
	struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now);
/* Frees the packets that a switch discarded. 'stored': they had been stored first. */
void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at, bool stored);
/* Discards all that a switch stores. */
void virtual_purge(struct virtual_fabric *fabric, uint32_t at);

/* Events at the hosts of a virtual fabric. */

void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
void virtual_host_done(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_wake(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_credit(
	struct virtual_fabric *fabric, uint32_t host, uint32_t item, weft_time now);
/* Sends if the host can. */
void virtual_host_try(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Calls virtual_host_try() at that time at the latest. */
void virtual_host_wake_by(struct virtual_fabric *fabric, uint32_t host, weft_time at);
/* The frame was discarded in transit and is not sent again. Its destination stops waiting for it as
 * soon as it can know: after the delay of its link, during which partitions do not interact
 * (virtual_partitions.h). */
void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now);
/* The destination, which is in this partition, learns of it at 'due': a WAKE event with item 1. */
void virtual_host_lose_at(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
/* Handles that event for the first of the frames that are due. */
void virtual_host_lose(struct virtual_fabric *fabric, uint32_t host, weft_time now);

/* Before a run: lets hosts that can do so send without using their FIFOs. */
void virtual_hosts_open(struct virtual_fabric *fabric);
/* True if a host ran out of memory for the number of a pair. */
bool virtual_hosts_failed(const struct virtual_fabric *fabric);
/* Nothing is in flight any more: the time at which blocked hosts stop counting messages that fall
 * due, because they have no room for any. */
weft_time virtual_hosts_full_at(const struct virtual_fabric *fabric);
/* Counts those messages. */
void virtual_hosts_fill(struct virtual_fabric *fabric);

/* Fabrics whose hosts discard packets in transit (datagram_recovery.h). */

/* A host discarded the frame, which goes back to its source. */
void virtual_recovery_report(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
/* The report of it arrives at the source, a host of this partition, at 'due'. */
void virtual_recovery_take(
	struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
/* A lost frame would have arrived at the port of 'order' now. */
void virtual_recovery_take_lost(
	struct virtual_fabric *fabric, uint32_t order, struct weft_packet *packet, weft_time now);
/* The frame was lost at 'device': a switch, or a host plus the number of switches. 'cut': the cut
 * cable, where later frames are lost as well; DATAGRAM_CAUSE_ANY: an unknown cable; VIRTUAL_NO_CUT:
 * none. The source resends the frame, or gives it up after 'nic.give-up'. Only if links lose
 * frames. */
#define VIRTUAL_NO_CUT (DATAGRAM_CAUSE_ANY - 1)
void virtual_recovery_lose(struct virtual_fabric *fabric, uint32_t device,
	struct weft_packet *packet, uint32_t cut, weft_time now);
/* Before a host sends: its timers (datagram_recovery_settle()). */
void virtual_recovery_settle(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Between rounds: frames pass again where frames with this cause were lost (datagram_cuts.h). */
void virtual_recovery_release(struct virtual_fabric *fabric, uint32_t cause, weft_time now);
uint64_t virtual_recovery_held(const struct virtual_fabric *fabric); /* frames, now */
const char *virtual_recovery_check(const struct virtual_fabric *fabric);
void virtual_recovery_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Packets in transit at hosts with in-transit buffers. */

/* The packet in transit that the host sends next. NULL if none can leave, or the host's own packets
 * come first. */
struct weft_packet *virtual_transit_next(
	struct virtual_fabric *fabric, uint32_t host, weft_time now);
uint64_t virtual_transit_held(const struct virtual_fabric *fabric);     /* frames, now */
uint64_t virtual_transit_absorbed(const struct virtual_fabric *fabric); /* frames, total */
const char *virtual_transit_check(const struct virtual_fabric *fabric); /* NULL, or what is wrong */
void virtual_transit_result(const struct virtual_fabric *fabric, struct run_result *result);
/* In the middle of the measured time, and at its end: names the hosts whose buffers fill up
 * (starvation.h). Returns 0 or -ENOMEM. */
void virtual_transit_middle(struct virtual_fabric *fabric);
int virtual_transit_judge(const struct virtual_fabric *fabric, struct run_result *result);

/* A schedule that the hosts of a virtual fabric replay. Partitions learn only after a round
 * (virtual_threads.h) that it has ended, and by then may have continued for almost the longest
 * delay of a link. So every run with a schedule continues for that delay after its last message,
 * and measuring ends then. */

/* Reads the run's schedule, if it has one; virtual_goal_close() in any case. */
int virtual_goal_open(struct virtual_fabric *fabric, struct error *error);
void virtual_goal_close(struct virtual_fabric *fabric);
/* The time at which the run ends because of its schedule; WEFT_TIME_NEVER if not known yet. */
static inline weft_time virtual_goal_end(const struct virtual_fabric *fabric)
{
	return fabric->goal_ended == WEFT_TIME_NEVER ? WEFT_TIME_NEVER
						     : fabric->goal_ended + fabric->goal_rest_ps;
}

/* Adds the state of other partitions. */
void virtual_goal_add(struct virtual_goal_state *all, const struct virtual_goal_state *of);
/* Computed from the state of all partitions together. */
bool virtual_goal_is_over(
	const struct virtual_fabric *fabric, const struct virtual_goal_state *state);
/* Call the other functions only in a fabric with a schedule. */
/* Sends due messages. Returns the time of the next call if nothing arrives. */
weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* A message was accepted in another process. */
void virtual_goal_note(struct virtual_fabric *fabric, uint32_t op);
/* A frame arrived, and may have completed a message. */
void virtual_goal_take(struct virtual_fabric *fabric, uint32_t host,
	const struct weft_packet *packet, weft_time now);

/* Hints that bring the memory of coming events into the cache. They change no result. */

/* When the events of a bucket of the calendar start. */
void virtual_prefetch(struct virtual_fabric *fabric);
/* When a packet arrives at a switch, or at a host. */
void virtual_prefetch_switch(struct virtual_fabric *fabric);
void virtual_prefetch_host(struct virtual_fabric *fabric);
/* When a switch has finished a transmission. */
void virtual_prefetch_end(struct virtual_fabric *fabric);
