/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Executes the events of a virtual run. */

#include "nic/datagram/datagram_cuts.h"
#include "virtual_private.h"

/* Handles up to '*max' events before fabric->limit. Returns false and the remainder in '*max' if no
 * more are left. */
bool virtual_dispatch(struct virtual_fabric *fabric, uint32_t *max);

/* Events at the switches of a virtual fabric. */

void virtual_switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned input,
	struct weft_packet *packet, weft_time now);
void virtual_switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
void virtual_switch_credit(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now);
/* Sends a packet through this output if possible. */
void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
/* Returns true if the switch withholds credits that a sender may need for its next frame. 'send':
 * sends them to senders without a credit frame for device_credit_refresh(). */
bool virtual_switch_refresh(struct virtual_fabric *fabric, uint32_t at, weft_time now, bool send);
/* Sends a credit frame for all free space of an input. */
void virtual_switch_grant_all(
	struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now);
/* Frees the packets that a switch discarded. 'stored': they had been stored. */
void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at, bool stored);
/* Discards all packets stored in a switch. */
void virtual_purge(struct virtual_fabric *fabric, uint32_t at);

/* Events at the hosts of a virtual fabric. */

void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
void virtual_host_done(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_wake(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_credit(
	struct virtual_fabric *fabric, uint32_t host, uint32_t item, weft_time now);
/* Sends a packet if possible. */
void virtual_host_try(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Calls virtual_host_try() at 'at' or earlier. */
void virtual_host_wake_by(struct virtual_fabric *fabric, uint32_t host, weft_time at);
/* Gives up a frame that was discarded in transit and is not resent. Its destination stops waiting
 * for the frame as soon as it can be notified: after the delay of its link, during which partitions
 * do not interact (virtual_partitions.h). */
void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now);
/* Notifies the destination, which is in this partition, at 'due': a WAKE event with item 1. */
void virtual_host_lose_at(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
/* Handles that event for the first frame that is due. */
void virtual_host_lose(struct virtual_fabric *fabric, uint32_t host, weft_time now);

/* Lets hosts send without their FIFOs where possible. Call before a run. */
void virtual_hosts_open(struct virtual_fabric *fabric);
/* Returns true if a host ran out of memory for frame numbers. */
bool virtual_hosts_failed(const struct virtual_fabric *fabric);
/* Returns the time at which blocked hosts stop counting due messages, because they have no space
 * for them. Call when nothing is in flight any more. */
weft_time virtual_hosts_full_at(const struct virtual_fabric *fabric);
/* Counts those messages. */
void virtual_hosts_fill(struct virtual_fabric *fabric);

/* Fabrics whose hosts discard packets in transit (datagram_recovery.h). */

/* Reports a frame that a host discarded to its source. */
void virtual_recovery_report(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
/* Schedules the report's arrival at the source, a host of this partition, at 'due'. */
void virtual_recovery_take(
	struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
/* Handles a lost frame at the time of its arrival at the port of 'order'. */
void virtual_recovery_take_lost(
	struct virtual_fabric *fabric, uint32_t order, struct weft_packet *packet, weft_time now);
/* Handles a frame lost at 'device', a switch or a host plus the number of switches. 'cut': the cut
 * cable, where later frames are lost as well; DATAGRAM_CAUSE_ANY: an unknown cable; VIRTUAL_NO_CUT:
 * none. The source resends the frame, or gives up after 'nic.give-up'. */
#define VIRTUAL_NO_CUT (DATAGRAM_CAUSE_ANY - 1)
void virtual_recovery_lose(struct virtual_fabric *fabric, uint32_t device,
	struct weft_packet *packet, uint32_t cut, weft_time now);
/* Processes a host's timers (datagram_recovery_settle()). Call before the host sends. */
void virtual_recovery_settle(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Resends frames lost for this cause, which can pass now (datagram_cuts.h). Call between rounds. */
void virtual_recovery_release(struct virtual_fabric *fabric, uint32_t cause, weft_time now);
uint64_t virtual_recovery_held(const struct virtual_fabric *fabric); /* frames held now */
const char *virtual_recovery_check(const struct virtual_fabric *fabric);
void virtual_recovery_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Packets in transit at hosts with in-transit buffers. */

/* Returns the packet in transit that the host sends next; NULL if none can be sent, or the host's
 * own packets have priority. */
struct weft_packet *virtual_transit_next(
	struct virtual_fabric *fabric, uint32_t host, weft_time now);
uint64_t virtual_transit_held(const struct virtual_fabric *fabric);     /* frames held now */
uint64_t virtual_transit_absorbed(const struct virtual_fabric *fabric); /* frames so far */
const char *virtual_transit_check(const struct virtual_fabric *fabric); /* NULL, or an error */
void virtual_transit_result(const struct virtual_fabric *fabric, struct run_result *result);
/* Call virtual_transit_middle() halfway through the measurement and virtual_transit_judge() at its
 * end, to add the hosts whose buffers are filling up (starvation.h). Returns 0 or -ENOMEM. */
void virtual_transit_middle(struct virtual_fabric *fabric);
int virtual_transit_judge(const struct virtual_fabric *fabric, struct run_result *result);

/* A schedule replayed by the hosts of a virtual fabric. Partitions detect its end only after a
 * round (virtual_threads.h), and may have advanced by almost the longest link delay. Every run with
 * a schedule thus continues, and measures, for that delay after its last message. */

/* Reads the run's schedule, if any; call virtual_goal_close() in any case. Returns 0 or -errno. */
int virtual_goal_open(struct virtual_fabric *fabric, struct error *error);
void virtual_goal_close(struct virtual_fabric *fabric);
/* Returns when the schedule ends the run; WEFT_TIME_NEVER: not known yet. */
static inline weft_time virtual_goal_end(const struct virtual_fabric *fabric)
{
	return fabric->goal_ended == WEFT_TIME_NEVER ? WEFT_TIME_NEVER
						     : fabric->goal_ended + fabric->goal_rest_ps;
}

/* Adds the state of a different partition. */
void virtual_goal_add(struct virtual_goal_state *all, const struct virtual_goal_state *of);
/* Returns true if the state of all partitions combined is the end of the schedule. */
bool virtual_goal_is_over(
	const struct virtual_fabric *fabric, const struct virtual_goal_state *state);
/* Call the functions below only in a fabric with a schedule. */
/* Sends due messages. Returns when to call again if nothing arrives. */
weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Records a message that was accepted in a different process. */
void virtual_goal_note(struct virtual_fabric *fabric, uint32_t op);
/* Records an arriving frame, which may complete a message. */
void virtual_goal_take(struct virtual_fabric *fabric, uint32_t host,
	const struct weft_packet *packet, weft_time now);

/* Hints that load the memory of future events into the cache. They do not change results. */

/* Call when the events of a calendar bucket start. */
void virtual_prefetch(struct virtual_fabric *fabric);
/* Call when a packet arrives at a switch or a host, respectively. */
void virtual_prefetch_switch(struct virtual_fabric *fabric);
void virtual_prefetch_host(struct virtual_fabric *fabric);
/* Call when a switch has finished a transmission. */
void virtual_prefetch_end(struct virtual_fabric *fabric);
