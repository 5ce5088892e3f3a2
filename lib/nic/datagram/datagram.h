/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An interface without end-to-end delivery: messages become frames, frames leave under credits, and
 * arrival is delivery. No acknowledgements, windows or retransmissions, as in the papers'
 * simulators, whose fabrics are lossless: it adds no control frames to the network, and only
 * credits hold back a host that floods another. nic.h is the reliable kind. Where frames can
 * overtake each other datagram_reorder.h keeps their order; where hosts in transit can discard,
 * datagram_recovery.h resends.
 *
 * The host keeps one FIFO per VC (a reading of the ARN+AFI paper); round robin, frame by frame,
 * among the VCs whose head has credits. With marks (arn_marks.h) the last VC is the adapted-flow
 * channel: a message that is marked at the head moves to the FIFO of that VC, or waits for room
 * there, and leaves with the adapted bit; it never leaves on its own VC. A plain state machine on
 * packet descriptors without payloads. One thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link/link_end.h"
#include "nic/arn_marks.h"
#include "nic/congestion/marked_paths.h"
#include "nic/congestion/source_control.h"
#include "nic/itb.h"
#include "nic/selectors/route_choice.h"
#include "pair_numbers.h"
#include "queuing/queuing.h"
#include "route/route_set.h"
#include "wire/packet.h"

struct datagram_config {
	uint16_t host;
	uint32_t hosts;
	uint64_t seed;
	uint32_t mtu_bytes; /* payload of a frame */
	uint8_t vcs;
	uint8_t sl_to_vc[16];
	uint32_t queue; /* messages in the FIFO of each VC, a power of two */
	/* Source routes, owned by the caller; NULL: switches route by destination. */
	const struct route_set *routes;
	const struct route_choice_ops *choice; /* chooses among several routes; NULL: the first */
	struct route_choice_options selection; /* input of 'choice'; this host's link and routes */
	/* Replaces the messages' own service levels; owned by the caller. May be NULL. */
	const struct queuing *queuing;
	/* Validity of an ARN; 0: no marks. With marks 'vcs' is 2 or more, sl_to_vc excludes the
	 * last VC, and its FIFO has room for 'adapted_queue' messages. */
	weft_time mark_ps;
	uint32_t adapted_queue; /* a power of two */
	/* Frame numbers of each pair of hosts. number_table: [hosts][hosts][2] of one or four
	 * bytes, depending on the kind; zeroed, owned by the caller and shared by all interfaces,
	 * each of which writes only its own numbers. NULL, as with PAIR_NUMBERS_FEW: the
	 * interface's own memory. */
	enum pair_numbers_kind numbers;
	void *number_table;
	const struct itb_config *itb; /* read only at creation; NULL: no in-transit buffer */
	/* Frames held to restore their order (datagram_reorder.h); 0: deliver in order of arrival.
	 * With an in-transit buffer, or links that lose frames, also recovery. */
	uint32_t held_max;
	bool lossy;
	bool go_back; /* holds none: frames after a lost one are also resent, in order */
	/* A lost frame that was the last one to its destination is resent only after this time. */
	weft_time last_wait_ps;
	/* For frames lost on cut cables (datagram_cuts.h); 'lossy' only. */
	weft_time retry_ps, give_up_ps;
	uint32_t window_frames;
	bool reps; /* frames have entropies (marked_paths.h) */
	/* Congestion management, read only at creation; NULL: none. Kinds that spread need source
	 * routes, and choose among them instead of 'choice'. */
	const struct source_control_config *control;
};

struct datagram_message {
	weft_time generated_ps;
	uint32_t bytes; /* 1 or more */
	uint16_t destination;
	uint8_t sl;
	uint8_t entry; /* the caller's, returned in its packets */
};

/* Data that accompany a packet's descriptor. */
struct datagram_origin {
	weft_time injected_ps;
	weft_time generated_ps; /* when its message was generated */
	uint16_t payload_bytes;
	uint8_t path;   /* index of its route; with 'control' only */
	uint8_t losses; /* how often it was lost and resent; for the caller */
} __attribute__((aligned(32)));

/* The route of a message, and the number of alternatives; all 0 without source routes. */
struct datagram_route {
	const uint8_t *route;
	uint8_t length, which, alternatives;
};

struct datagram_fifo {
	struct datagram_message *message; /* [mask + 1] */
	uint32_t head, count, mask;
	/* State of the message at the head: */
	uint32_t sent_bytes;
	struct datagram_route chosen;
	bool started;        /* start_ps is known */
	weft_time start_ps;  /* when its first frame could have left if it had had credits */
	uint32_t wire_bytes; /* in its frames so far, including link overhead */
	uint32_t number;     /* in its frames, if 'numbered': after the first has left */
	bool numbered;
} __attribute__((aligned(64)));

/* State of a stream (datagram_stream.h); an interface has at most one. */
struct datagram_stream {
	struct weft_packet frame; /* the next frame, except its numbers */
	weft_time generated_ps;   /* when the message was generated */
	uint32_t left_bytes;      /* still to be sent; 0: no message */
	uint16_t payload_bytes;   /* in the next frame */
	uint8_t path;             /* index of the message's route */
	struct credit_tx *tx;
};

struct datagram {
	/* Touched by each frame that leaves: two cache lines, and the credits. */
	struct datagram_stream stream;
	uint64_t frames_sent, messages_sent;
	uint16_t mtu_bytes;
	uint8_t frame_flags;      /* for all frames: 0, or FRAME_F_LATENCY */
	uint8_t extension_bytes;  /* likewise */
	uint16_t waiting;         /* set of VCs with a message */
	uint8_t next_vc;          /* round robin */
	bool has_routes;          /* the configuration has routes */
	struct pair_numbers sent; /* numbers of the next frames, by destination */
	/* Touched by each frame that arrives: a cache line, and the credits. */
	uint64_t frames_received, messages_received, bytes_received;
	struct itb *itb;                /* NULL: not an in-transit host */
	struct datagram_reorder *order; /* NULL: deliver in order of arrival */
	struct pair_numbers come;       /* numbers after the latest frames received, by source */
	/* The rest. */
	uint32_t held;                      /* frames, by 'order' */
	uint32_t messages_begun;            /* from FIFOs */
	uint64_t out_of_order;              /* frames delivered after later ones */
	struct datagram_recovery *recovery; /* NULL: discarded frames are lost */
	struct datagram_control *control;   /* NULL: no congestion management */
	struct arn_marks *marks;            /* NULL: no marks */
	uint64_t diverted;                  /* messages moved to the adapted-flow channel */
	uint64_t refused;                   /* last frames without their end mark (itb.h) */
	uint64_t misrouted;                 /* frames for other hosts that are not in transit */
	uint64_t unreachable;               /* messages dropped without a route */
	struct link_end link;
	struct datagram_fifo *fifo; /* [vcs] */
	struct route_choice choice;
	struct reps *reps;     /* NULL: frames have no entropies */
	uint32_t stream_bytes; /* length of the stream's message */
	struct datagram_config config;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct datagram, sent.entry) == 128, "two cache lines");
_Static_assert(offsetof(struct datagram, come.entry) == 192, "a cache line");
_Static_assert(offsetof(struct datagram, link.state) % 64 == 0,
	"what a credit frame changes is in one line");

/* Returns 0, -EINVAL, -ENOMEM. link: as link_end_init(). */
int datagram_init(struct datagram *nic, const struct datagram_config *config,
	const struct link_end_config *link);
void datagram_fini(struct datagram *nic);
/* Moves the numbers of arriving frames to this host's row of the table. Call it before the first
 * frame, for all interfaces of a number_table or for none. Interfaces of different threads then
 * share at most the cache lines at the ends of a row, but two hosts of one thread need two lines
 * for their frames instead of one. No effect without such a table. */
void datagram_separate_numbers(struct datagram *nic);

/* The service level of a message. */
static inline uint8_t datagram_sl(
	const struct datagram *nic, const struct datagram_message *message)
{
	if (nic->config.queuing == NULL)
		return message->sl & 15;
	return queuing_sl(nic->config.queuing, nic->config.host, message->destination);
}

/* Messages in the FIFO that this one would join. */
static inline uint32_t datagram_queued(
	const struct datagram *nic, const struct datagram_message *message)
{
	return nic->fifo[nic->config.sl_to_vc[datagram_sl(nic, message)]].count;
}

/* True if the message can be queued. */
static inline bool datagram_has_room(
	const struct datagram *nic, const struct datagram_message *message)
{
	return datagram_queued(nic, message) < nic->config.queue;
}

/* Chooses a route for all frames of a message. Returns false if there is none. */
bool datagram_choose_route(struct datagram *nic, const struct datagram_message *message,
	struct datagram_route *chosen);

/* Replaces the routes. The caller owns them, and must also keep the previous ones valid. Messages
 * in the FIFOs and resent frames use the new routes; a partly sent message continues on a new
 * route. Every pair that had a route must have one. Not with congestion management. */
void datagram_set_routes(struct datagram *nic, const struct route_set *routes);

/* Queues a message; there is room. A message to a host without a route is counted and dropped. */
void datagram_send(struct datagram *nic, const struct datagram_message *message);

/* A notification arrived from 'destination'. Ignored without congestion management. */
void datagram_on_cn(struct datagram *nic, uint16_t destination, const struct cn *cn, weft_time now);

/* An ARN arrived. Ignored without marks. */
void datagram_on_arn(struct datagram *nic, const struct control_arn *arn, weft_time now);

/* Fills the descriptor of the next frame and takes its credits; Returns false if none can leave
 * now. */
bool datagram_inject(struct datagram *nic, weft_time now, struct weft_packet *packet,
	struct datagram_origin *origin);

/* Returns the number of the next frame to a host, and increments it. */
static inline uint32_t datagram_take_number(struct datagram *nic, uint16_t destination)
{
	return pair_numbers_take(&nic->sent, destination);
}

/* The number of the frame after the latest received from a host. */
static inline uint32_t datagram_expected(const struct datagram *nic, uint16_t source)
{
	return pair_numbers_get(&nic->come, source);
}

static inline void datagram_expect(struct datagram *nic, uint16_t source, uint32_t number)
{
	pair_numbers_set(&nic->come, source, number);
}

/* The memory that these functions read first, for prefetching. */
static inline const void *datagram_sent_place(const struct datagram *nic, uint16_t destination)
{
	return pair_numbers_place(&nic->sent, destination);
}

static inline const void *datagram_come_place(const struct datagram *nic, uint16_t source)
{
	return pair_numbers_place(&nic->come, source);
}

/* True if memory ran out for the number of a pair: numbers are wrong from then on. */
bool datagram_failed(const struct datagram *nic);

/* A packet for this host arrived completely. Its buffer space is free at once. False: refused,
 * because it lost its end mark in transit (itb.h). */
static inline bool datagram_receive(struct datagram *nic, const struct weft_packet *packet,
	const struct datagram_origin *origin)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];

	credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	if (__builtin_expect(nic->itb != NULL, 0) && itb_was_overtaken(packet)) {
		nic->refused++;
		return false;
	}
	if (!pair_numbers_pass(&nic->come, packet->source, packet->sequence))
		nic->out_of_order++;
	nic->frames_received++;
	nic->bytes_received += origin->payload_bytes;
	nic->messages_received += (packet->flags & FRAME_F_TAIL) != 0;
	return true;
}

/* datagram_transit.c: re-injection of packets in transit, if a pool is configured. */

/* A packet for another host arrived completely; its header arrived at 'header_ps'. Its buffer space
 * is free at once. Returns false if the packet cannot be stored, which is counted; the caller keeps
 * it. */
bool datagram_absorb(
	struct datagram *nic, struct weft_packet *packet, weft_time header_ps, weft_time now);

/* The next packet in transit, its credits taken. NULL: none can leave, or it is the turn of an own
 * frame that can. 'own_waiting' counts messages of which no frame has left; without 'may_begin'
 * only own retransmissions may leave; '*blocked' is set if only credits were missing. Requires a
 * pool. */
struct weft_packet *datagram_transit(
	struct datagram *nic, uint32_t own_waiting, bool may_begin, weft_time now, bool *blocked);

/* Queued messages of which no frame has left. */
uint32_t datagram_waiting(const struct datagram *nic);
