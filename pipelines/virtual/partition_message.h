/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages between partitions of a virtual fabric (virtual_partitions.h): packets, credit frames,
 * notifications and reports of discarded packets. They are passed by value because each partition
 * has its own packets and records. A partition writes into one mailbox per other partition, which
 * reads it in the next round. Each mailbox has two sides: one is filled while the other is read. */

#include "virtual_private.h"

/* Kinds of crossings. A report returns a packet to its source; a loss tells the destination not to
 * wait for a packet (virtual_dispatch.h). A lost packet is on a link that loses it. */
enum partition_crossing {
	VIRTUAL_CROSSING_DATA,
	VIRTUAL_CROSSING_REPORT,
	VIRTUAL_CROSSING_LOSS,
	VIRTUAL_CROSSING_LOST
};

struct partition_crossing_packet {
	struct weft_packet packet;
	struct datagram_origin origin;
	weft_time at;   /* time of the event at the far end */
	uint32_t order; /* order of the event; for reports, any of the device */
	enum partition_crossing kind;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct partition_crossing_packet) == 128, "two cache lines");

enum partition_crossing_control_kind {
	VIRTUAL_CROSSING_CREDIT,
	VIRTUAL_CROSSING_ARN,
	VIRTUAL_CROSSING_ANSWER,
	/* A schedule message was accepted for a host in a different process, which has its own
	   replay. That process is told before any frame of the message can arrive. Not an event. */
	VIRTUAL_CROSSING_ACCEPT
};

struct partition_crossing_control {
	weft_time at;
	uint32_t order;
	enum partition_crossing_control_kind kind;
	/* Sender; used only for its address. NULL: the frame crosses no link. */
	const struct virtual_tx *channel;
	union {
		struct virtual_credit credit[FRAME_VCS_MAX];
		struct control_arn arn;
		struct virtual_answer answer;
		uint32_t op; /* operation of the schedule */
	};
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct partition_crossing_control, credit[4]) <= 64,
	"the totals of four VCs are in the first cache line");

/* Arrays grow as needed. The origins of packets are not in the cache, so they are prefetched during
 * the round and copied at its end. */
struct partition_mailbox {
	struct partition_crossing_packet *packet;
	struct weft_packet *
		*left; /* the sender's copy of each packet, until the end of the round */
	struct latency_extension *extension; /* one per packet, if packets have extensions */
	struct partition_crossing_control *control;
	uint32_t packets, packet_room, left_room, extension_room, controls, control_room;
	uint32_t complete; /* number of packets whose origin has been copied */
	weft_time first;   /* earliest time of all elements; WEFT_TIME_NEVER: empty */
} __attribute__((aligned(64)));

/* Number of mailbox elements prefetched at a time. */
#define VIRTUAL_BOX_FETCHED 16u

/* Part of a mailbox that its reader needs. */
struct partition_mailbox_contents {
	const struct partition_crossing_packet *packet;
	const struct latency_extension *extension; /* NULL: none */
	const struct partition_crossing_control *control;
	uint32_t packets, controls;
};

static inline struct partition_mailbox_contents partition_mailbox_look(
	const struct partition_mailbox *box)
{
	return (struct partition_mailbox_contents){
		box->packet, box->extension, box->control, box->packets, box->controls};
}

void partition_mailbox_free(struct partition_mailbox *box);

/* Completes virtual_start() for a special channel. virtual_start() counted whole picoseconds per
 * byte. The packet reaches the far end at 'at', or is traced. A packet that crosses to a different
 * partition belongs to this one until the end of the round, but to no event. */
void virtual_start_special(struct virtual_fabric *fabric, struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now);

/* Sends a packet to the partition of the device of 'order', where the packet arrives at 'at'. */
void partition_send_packet(struct virtual_fabric *fabric, struct weft_packet *packet,
	enum partition_crossing kind, weft_time at, uint32_t order);
/* Like partition_send_packet(), for a control frame; the caller fills in the union's member for its
 * kind. 'channel' NULL: the frame crosses no link. Returns NULL if out of memory; the run fails. */
struct partition_crossing_control *partition_send_control(struct virtual_fabric *fabric,
	enum partition_crossing_control_kind kind, const struct virtual_tx *channel, uint32_t order,
	weft_time at);

/* Completes the packets in the mailboxes that the partition filled, at the end of a round. */
void partition_message_complete(struct virtual_fabric *fabric);

/* Returns the memory of a packet that left the partition in this round, or NULL if there is none.
 * Used when the pool is empty. */
struct weft_packet *partition_message_reclaim(struct virtual_fabric *fabric);

/* Turns a mailbox's contents into events of this partition. The sender clears it before reuse. */
void partition_message_take(
	struct virtual_fabric *fabric, const struct partition_mailbox_contents *contents);
/* Like partition_message_take(), for a single message from a different process. Packets become
 * events only with partition_message_end_packets(); call it after the last packet of a sender. */
void partition_message_take_packet(struct virtual_fabric *fabric,
	const struct partition_crossing_packet *crossing,
	const struct latency_extension *extension);
void partition_message_end_packets(struct virtual_fabric *fabric);
void partition_message_take_control(
	struct virtual_fabric *fabric, const struct partition_crossing_control *crossing);

/* Empties a mailbox so that this side can be refilled. Prefetches as many elements as it held: a
 * different core read them, and stores would wait for their cache lines. */
static inline void partition_mailbox_clear(struct partition_mailbox *box)
{
	for (uint32_t i = 0; i < box->packets && i < VIRTUAL_BOX_FETCHED; i++) {
		__builtin_prefetch(&box->packet[i].packet, 1);
		__builtin_prefetch(&box->packet[i].origin, 1);
	}
	for (uint32_t i = 0; i < box->controls && i < VIRTUAL_BOX_FETCHED; i++)
		__builtin_prefetch(&box->control[i], 1);
	box->packets = box->complete = box->controls = 0;
	box->first = WEFT_TIME_NEVER;
}
