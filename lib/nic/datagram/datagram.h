/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An interface without end-to-end delivery: messages become frames, frames are sent when they have
 * credits, and a frame that arrives is delivered. There are no acknowledgements, windows or
 * retransmissions, as in the papers' simulators, whose fabrics are lossless. The interface adds no
 * control frames to the network, and only credits hold back a host that floods another. nic.h is
 * the reliable interface. datagram_reorder.h restores the order where frames can overtake each
 * other; datagram_recovery.h retransmits frames that hosts in transit discard.
 *
 * The host has one FIFO per VC (an interpretation of the ARN+AFI paper). VCs whose head has credits
 * are served round robin, frame by frame. With marks (arn_marks.h), the last VC is the adapted-flow
 * channel: a message that is marked at the head moves to that VC's FIFO, or waits for room there,
 * and is sent with the adapted bit. It is never sent on its own VC. A state machine on packet
 * descriptors without payloads. Single-threaded. */

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
	uint32_t queue; /* messages in the FIFO of each VC; a power of two */
	/* Source routes, owned by the caller; NULL: switches route by destination. */
	const struct route_set *routes;
	const struct route_choice_ops *choice; /* selects one of several routes; NULL: the first */
	struct route_choice_options selection; /* input of 'choice': this host's link and routes */
	/* Overrides the service levels of messages; owned by the caller. May be NULL. */
	const struct queuing *queuing;
	/* Lifetime of a mark; 0: no marks. With marks, 'vcs' is 2 or more, sl_to_vc excludes the
	 * last VC, and the last VC's FIFO has room for 'adapted_queue' messages. */
	weft_time mark_ps;
	uint32_t adapted_queue; /* a power of two */
	/* Frame numbers of each pair of hosts. number_table: [hosts][hosts][2] of one or four
	 * bytes, depending on the kind; zeroed, owned by the caller and shared by all interfaces,
	 * each of which writes only its own numbers. NULL, and with PAIR_NUMBERS_FEW: allocated by
	 * the interface. */
	enum pair_numbers_kind numbers;
	void *number_table;
	const struct itb_config *itb; /* read only at creation; NULL: no in-transit buffer */
	/* Maximum number of frames held to restore their order (datagram_reorder.h); 0: frames are
	 * delivered as they arrive. An in-transit buffer or lossy links also enable recovery. */
	uint32_t held_max;
	bool lossy;
	bool go_back; /* hold no frames: resend all frames after a lost one, in order */
	/* Time after which a lost frame is resent if it was the last one to its destination. */
	weft_time last_wait_ps;
	/* For frames lost on cut cables (datagram_cuts.h); used only if 'lossy'. */
	weft_time retry_ps, give_up_ps;
	uint32_t window_frames;
	bool reps; /* frames carry entropies (marked_paths.h) */
	/* Congestion management, read only at creation; NULL: none. Kinds that spread need source
	 * routes, which they select in place of 'choice'. */
	const struct source_control_config *control;
};

struct datagram_message {
	weft_time generated_ps;
	uint32_t bytes; /* 1 or more */
	uint16_t destination;
	uint8_t sl;
	uint8_t entry; /* chosen by the caller and returned in its packets */
};

/* Data that accompanies a packet's descriptor. */
struct datagram_origin {
	weft_time injected_ps;
	weft_time generated_ps; /* when the message was generated */
	uint16_t payload_bytes;
	uint8_t path;   /* index of the route; with 'reps', the entropy */
	uint8_t losses; /* number of losses and retransmissions; for the caller */
} __attribute__((aligned(32)));

/* The route of a message; all 0 without source routes. */
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
	bool started;        /* start_ps is valid */
	weft_time start_ps;  /* when its first frame could have been sent, apart from credits */
	uint32_t wire_bytes; /* size of its frames so far, including link overhead */
	uint32_t number;     /* message number in its frames; valid if 'numbered' */
	bool numbered;
} __attribute__((aligned(64)));

/* State of a stream (datagram_stream.h). An interface has at most one. */
struct datagram_stream {
	struct weft_packet frame; /* the next frame, except for its numbers */
	weft_time generated_ps;   /* when the message was generated */
	uint32_t left_bytes;      /* not sent yet; 0: no message */
	uint16_t payload_bytes;   /* payload of the next frame */
	uint8_t path;             /* route index of the message */
	struct credit_tx *tx;
};

struct datagram {
	/* Accessed for each departing frame: two cache lines, and the credits. */
	struct datagram_stream stream;
	uint64_t frames_sent, messages_sent;
	uint16_t mtu_bytes;
	uint8_t frame_flags;      /* flags of all frames: 0, or FRAME_F_LATENCY */
	uint8_t extension_bytes;  /* extension size of all frames */
	uint16_t waiting;         /* bit set of VCs with a message */
	uint8_t next_vc;          /* next VC in round robin */
	bool has_routes;          /* the configuration has routes */
	struct pair_numbers sent; /* [destination] number of the next frame */
	/* Accessed for each arriving frame: a cache line, and the credits. */
	uint64_t frames_received, messages_received, bytes_received;
	struct itb *itb;                /* NULL: not an in-transit host */
	struct datagram_reorder *order; /* NULL: frames are delivered as they arrive */
	struct pair_numbers come; /* [source] number of the frame after the latest one received */
	/* Accessed less often. */
	uint32_t held;                      /* number of frames held by 'order' */
	uint32_t messages_begun;            /* messages from FIFOs that have started */
	uint64_t out_of_order;              /* frames delivered after later ones */
	struct datagram_recovery *recovery; /* NULL: discarded frames are lost */
	struct datagram_control *control;   /* NULL: no congestion management */
	struct arn_marks *marks;            /* NULL: no marks */
	uint64_t diverted;                  /* messages moved to the adapted-flow channel */
	uint64_t refused;     /* last frames refused because their end mark was missing (itb.h) */
	uint64_t misrouted;   /* frames for other hosts that are not in transit here */
	uint64_t unreachable; /* messages dropped because there was no route */
	struct link_end link;
	struct datagram_fifo *fifo; /* [vcs] */
	struct route_choice choice;
	struct reps *reps;     /* NULL: frames have no entropies */
	uint32_t stream_bytes; /* size of the stream's message */
	struct datagram_config config;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct datagram, sent.entry) == 128, "two cache lines");
_Static_assert(offsetof(struct datagram, come.entry) == 192, "a cache line");
_Static_assert(offsetof(struct datagram, link.state) % 64 == 0,
	"what a credit frame changes is in one line");

/* Returns 0, -EINVAL or -ENOMEM. 'link' as in link_end_init(). */
int datagram_init(struct datagram *nic, const struct datagram_config *config,
	const struct link_end_config *link);
void datagram_fini(struct datagram *nic);
/* Moves the numbers of arriving frames to this host's row of number_table. Call before the first
 * frame, for all interfaces of a table or for none. Interfaces of different threads then share at
 * most the cache lines at the ends of a row, but two hosts of one thread need two lines for their
 * frames instead of one. No effect without a table. */
void datagram_separate_numbers(struct datagram *nic);

/* Returns the service level of a message. */
static inline uint8_t datagram_sl(
	const struct datagram *nic, const struct datagram_message *message)
{
	if (nic->config.queuing == NULL)
		return message->sl & 15;
	return queuing_sl(nic->config.queuing, nic->config.host, message->destination);
}

/* Returns the number of messages in the FIFO that this message would join. */
static inline uint32_t datagram_queued(
	const struct datagram *nic, const struct datagram_message *message)
{
	return nic->fifo[nic->config.sl_to_vc[datagram_sl(nic, message)]].count;
}

/* Returns true if the message can be queued. */
static inline bool datagram_has_room(
	const struct datagram *nic, const struct datagram_message *message)
{
	return datagram_queued(nic, message) < nic->config.queue;
}

/* Chooses a route for all frames of a message. Returns false if there is none. */
bool datagram_choose_route(struct datagram *nic, const struct datagram_message *message,
	struct datagram_route *chosen);

/* Replaces the routes. They remain the caller's, as do the previous ones, which must stay valid.
 * Queued messages and retransmissions use the new routes; a partly sent message continues on a new
 * route. Every pair that had a route must have one. Not for use with congestion management. */
void datagram_set_routes(struct datagram *nic, const struct route_set *routes);

/* Queues a message; there must be room. A message without a route is counted and dropped. */
void datagram_send(struct datagram *nic, const struct datagram_message *message);

/* Handles a notification from 'destination'. */
void datagram_on_cn(struct datagram *nic, uint16_t destination, const struct cn *cn, weft_time now);

/* Handles an ARN. Ignored without marks. */
void datagram_on_arn(struct datagram *nic, const struct control_arn *arn, weft_time now);

/* Fills the descriptor of the next frame and takes its credits. Returns false if no frame can be
 * sent now. */
bool datagram_inject(struct datagram *nic, weft_time now, struct weft_packet *packet,
	struct datagram_origin *origin);

/* Returns the number of the next frame to a host, and increments it. */
static inline uint32_t datagram_take_number(struct datagram *nic, uint16_t destination)
{
	return pair_numbers_take(&nic->sent, destination);
}

/* Returns the number of the frame after the latest one received from a host. */
static inline uint32_t datagram_expected(const struct datagram *nic, uint16_t source)
{
	return pair_numbers_get(&nic->come, source);
}

static inline void datagram_expect(struct datagram *nic, uint16_t source, uint32_t number)
{
	pair_numbers_set(&nic->come, source, number);
}

/* Return the address that these functions read first, for prefetching. */
static inline const void *datagram_sent_place(const struct datagram *nic, uint16_t destination)
{
	return pair_numbers_place(&nic->sent, destination);
}

static inline const void *datagram_come_place(const struct datagram *nic, uint16_t source)
{
	return pair_numbers_place(&nic->come, source);
}

/* Returns true if memory ran out for a pair's number; numbers are wrong afterwards. */
bool datagram_failed(const struct datagram *nic);

/* Handles a complete packet for this host. Its buffer space is free immediately. Returns false if
 * the packet is refused, because an in-transit host withheld its end mark (itb.h). */
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

/* --- re-injection of packets in transit, if a pool is configured --- */

/* Absorbs a complete packet for another host, whose header arrived at 'header_ps'. Its buffer space
 * is free immediately. Returns false if the packet cannot be stored, which is counted; it remains
 * the caller's. */
bool datagram_absorb(
	struct datagram *nic, struct weft_packet *packet, weft_time header_ps, weft_time now);

/* Returns the next packet in transit and takes its credits; NULL if none can be sent, or if an own
 * frame that can be sent is next. 'own_waiting' counts own messages of which no frame has been
 * sent. Without 'may_begin', the only own frames are retransmissions. '*blocked' is set if only
 * credits are missing. Requires a pool. */
struct weft_packet *datagram_transit(
	struct datagram *nic, uint32_t own_waiting, bool may_begin, weft_time now, bool *blocked);

/* Returns the number of queued messages of which no frame has been sent. */
uint32_t datagram_waiting(const struct datagram *nic);
