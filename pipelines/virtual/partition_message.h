/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages between partitions of a virtual fabric (virtual_partitions.h): packets, credit frames,
 * notifications and reports of discarded packets. They are passed by value because each partition
 * has its own packets and records. A partition writes into a mailbox for each other partition,
 * which reads it in the next round. Each mailbox has two sides: one is filled while the other is
 * read. */

#include "virtual_private.h"

/* Kinds of crossing. A report concerns a packet that goes back to its source (virtual_dispatch.h);
 * a loss concerns a packet for which its destination must not wait (virtual_dispatch.h). A lost
 * packet is on a link that loses it (virtual_faults.h). */
enum partition_crossing {
	VIRTUAL_CROSSING_DATA,
	VIRTUAL_CROSSING_REPORT,
	VIRTUAL_CROSSING_LOSS,
	VIRTUAL_CROSSING_LOST
};

struct partition_crossing_packet {
	struct weft_packet packet;
	struct datagram_origin origin;
	weft_time at;   /* the event at the far end */
	uint32_t order; /* order of a device there, for reports */
	enum partition_crossing kind;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct partition_crossing_packet) == 128, "two cache lines");

enum partition_crossing_control_kind {
	VIRTUAL_CROSSING_CREDIT,
	VIRTUAL_CROSSING_ARN,
	VIRTUAL_CROSSING_ANSWER,
	/* A message of a schedule was accepted for a host in another process, which has its own
	 * replay: that process is told before any of the message's frames can arrive. Not an
	 * event. */
	VIRTUAL_CROSSING_ACCEPT
};

struct partition_crossing_control {
	weft_time at;
	uint32_t order;
	enum partition_crossing_control_kind kind;
	/* The sender; only its address counts. NULL: it crosses no link. */
	const struct virtual_tx *channel;
	union {
		struct virtual_credit credit[FRAME_VCS_MAX];
		struct control_arn arn;
		struct virtual_answer answer;
		uint32_t op; /* operation in the schedule */
	};
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct partition_crossing_control, credit[4]) <= 64,
	"the totals of four VCs are in the first cache line");

/* Grows while a run finds out how much it needs. The origins of packets, which are not in the
 * cache, are prefetched during the round and copied at its end. */
struct partition_mailbox {
	struct partition_crossing_packet *packet;
	struct weft_packet *
		*left; /* each packet in its previous partition, until the end of the round */
	struct latency_extension *extension; /* one per packet, where packets have them */
	struct partition_crossing_control *control;
	uint32_t packets, packet_room, left_room, extension_room, controls, control_room;
	uint32_t complete; /* packets with an origin */
	weft_time first;   /* the earliest of them; WEFT_TIME_NEVER: the mailbox is empty */
} __attribute__((aligned(64)));

/* Elements of a mailbox that are prefetched at a time. */
#define VIRTUAL_BOX_FETCHED 16u

/* The part of a mailbox that its reader needs. */
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

/* The rest of virtual_start() for a special channel, which counted whole picoseconds: the packet
 * reaches the far end at 'at', or is traced. A packet that crosses belongs to this partition until
 * the end of the round, and to no event. */
void virtual_start_special(struct virtual_fabric *fabric, struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now);

/* A packet for the partition of the device of 'order', where it arrives at 'at'. */
void partition_send_packet(struct virtual_fabric *fabric, struct weft_packet *packet,
	enum partition_crossing kind, weft_time at, uint32_t order);
/* Likewise for a control frame; the caller fills in the member of the union for its kind.
 * 'channel': NULL if it crosses no link. Returns NULL if memory ran out: the run has failed. */
struct partition_crossing_control *partition_send_control(struct virtual_fabric *fabric,
	enum partition_crossing_control_kind kind, const struct virtual_tx *channel, uint32_t order,
	weft_time at);

/* Ends a round: completes the packets in the mailboxes that the partition filled. */
void partition_message_complete(struct virtual_fabric *fabric);

/* Returns a packet that left the partition in this round, and whose memory is now free; NULL if
 * there is none. Used when the pool is empty. */
struct weft_packet *partition_message_reclaim(struct virtual_fabric *fabric);

/* Turns everything in a mailbox into events of this partition. Its sender clears it before it fills
 * it again. */
void partition_message_take(
	struct virtual_fabric *fabric, const struct partition_mailbox_contents *contents);
/* The same for one message that arrived in another way. Packets become events only with
 * partition_message_end_packets(), which is called after the last message of a sender. */
void partition_message_take_packet(struct virtual_fabric *fabric,
	const struct partition_crossing_packet *crossing,
	const struct latency_extension *extension);
void partition_message_end_packets(struct virtual_fabric *fabric);
void partition_message_take_control(
	struct virtual_fabric *fabric, const struct partition_crossing_control *crossing);

/* Empties a mailbox so that its side can be filled again. Prefetches as many elements as it had:
 * another core read them, and a store would wait for their lines. */
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
