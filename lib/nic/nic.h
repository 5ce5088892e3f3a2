/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The emulated network interface: takes messages from its host, cuts them into frames,
 * chooses a route, injects under credits; receives, checks, acknowledges and delivers in order. A
 * plain state machine: it is handed packets and the time, owns no port, reads no clock and
 * allocates nothing after nic_create().
 *
 * Delivery is reliable per (source, destination), in the manner of GM: sequence numbers, cumulative
 * acknowledgements, go-back-N on a timer or when the receiver asks. Frames that overtook others on
 * another path wait in a resequencing window. Whatever the fabric discards, doubles or reorders,
 * the host sees each message once and in order, or the sender is told that it failed.
 *
 * A step of a driver:
 *     nic_receive()   each frame that arrived, after frame_check(); gives back packets to free
 *     nic_poll()      timers and the link
 *     nic_inject(), nic_frame_build()   until there is nothing to send, or no room
 *
 * Order of sending: the link's own frames, acknowledgements, control frames in transit; then data
 * in transit and own data in turns (itb_share.h), of which retransmissions go before new frames.
 * The host keeps one FIFO per VC (a reading of the ARN+AFI paper): a message waits for the ones
 * before it in its VC, as in the papers. Two exceptions: a message to a peer whose window is closed
 * steps aside, so a slow or dead host does not block the others; when the window opens again, it
 * goes before the FIFO, because it is older, and such peers take turns frame by frame. It keeps its
 * place in the store of messages meanwhile; how much of that one peer may have is bounded: less
 * than it leaves to the others of its VC, so that N peers that stand still leave one part in N + 1
 * of what the VC could have. Beyond that messages to it are refused, as nic_send() says, and to
 * nobody else. A host that hands over its messages in order waits there for a peer that is slow, at
 * that peer's pace; for one that is silent it need not. And a message that an adaptive-routing
 * notification speaks of goes on to the adapted-flow channel (nic_afi.h).
 *
 * One thread per interface. A host's callbacks may call nic_send(), nothing else.
 */

#include <stdbool.h>
#include <stdint.h>

#include "itb.h"
#include "link_end.h"
#include "nic_counters.h"
#include "nic_routes.h"
#include "packet.h"
#include "queuing.h"
#include "route_choice.h"
#include "weft_time.h"

struct nic;

/* One frame's worth of a message, in order. The payload is valid during the call. */
struct nic_delivery {
	uint16_t source;
	uint8_t sl, flags;
	bool new_flow; /* first frame since the source (re)started: what was incomplete never ends
			*/
	bool first, tail; /* of its message */
	uint32_t message; /* flow (16 bits) and number within it */
	uint32_t sequence;
	uint32_t offset; /* of this payload in its message */
	const uint8_t *payload;
	uint32_t bytes;
	uint32_t injected_ns; /* sender's clock when this frame left, modulo 2^32 ns */
	weft_time now;
};

struct nic_outcome {
	uint16_t destination;
	int error; /* 0: acknowledged. -ETIMEDOUT: given up; it may or may not have arrived */
	uint32_t bytes;
	uint64_t cookie;
};

/* The host above. Any function may be NULL. */
struct nic_host {
	void *ctx;
	void (*deliver)(void *ctx, const struct nic_delivery *delivery);
	void (*done)(void *ctx, const struct nic_outcome *outcome);
};

struct nic_config {
	uint16_t host, hosts;
	uint64_t seed;
	uint32_t mtu_bytes; /* payload of a frame, 64..FRAME_PAYLOAD_MAX */
	uint8_t sl_to_vc[16];
	const struct nic_routes
		*routes; /* the caller's, constant; NULL: none yet, nothing leaves */
	const struct route_choice_ops *choice;
	struct route_choice_options selection; /* what it is told */
	/* Gives messages their service level instead of their own, the caller's; or NULL. */
	const struct queuing *queuing;
	/* Both are divided among the VCs as vc_share.h says. */
	uint32_t messages;        /* held in all, waiting or not acknowledged */
	uint32_t payloads;        /* of those, with a payload of their own; may be 0 */
	uint32_t payload_bytes;   /* greatest payload of a message */
	uint32_t window_frames;   /* in flight per peer, a power of two up to 4096 */
	uint16_t reorder_windows; /* peers whose frames can be out of order at a time */
	uint32_t reorder_frames;  /* held in all until what came before them arrives */
	uint32_t ack_frames;      /* acknowledge after so many frames, */
	weft_time ack_delay_ps;   /* or after so long */
	weft_time gap_ps; /* ask again for what is missing for so long; more where paths differ more
			   */
	weft_time retry_ps; /* go back when nothing was acknowledged for so long; more where answers
			     * take longer, and after each time in vain */
	weft_time give_up_ps; /* a message fails when its peer made no progress for so long */
	/* link.session: nonzero, and different in each life of the interface. A new life begins at
	 * the earliest when no frame of the former one is under way any more, and none to it that
	 * it had acknowledged (the switches' watchdog). link.vc_blocks: what may be under way to
	 * this interface; frames do not stay in it. */
	struct link_end_config link;
	struct itb_config itb; /* pool_bytes 0: frames in transit are routing errors */
	/* How long an adaptive-routing notification holds (arn_marks.h); 0: they are ignored. With
	 * them the last VC is the adapted-flow channel, sl_to_vc leaves it out. */
	weft_time mark_ps;
	struct nic_host above;
};

/* Everything but routes, link.device and link.session has a usable value. */
void nic_config_default(struct nic_config *config, uint16_t host, uint16_t hosts);

/* NULL with errno EINVAL (a number out of range) or ENOMEM. */
struct nic *nic_create(const struct nic_config *config, weft_time now);
/* Packets that it still holds are the driver's to free first: nic_drain(). */
void nic_destroy(struct nic *nic);

struct nic_message {
	uint16_t destination;
	uint8_t sl;
	const void
		*payload; /* copied; NULL: synthetic, made as it is sent and checked by the sink */
	uint32_t bytes;   /* synthetic: SYNTHETIC_PREFIX_BYTES or more */
	weft_time generated_ps;
	uint64_t cookie; /* comes back in nic_outcome */
};

/* Queues a message. -EAGAIN: no room now. -EHOSTDOWN: no room now, and the destination, which has
 * its share of it, has acknowledged nothing through two timeouts. -ENETUNREACH: no route. -EINVAL:
 * SL, or a synthetic message that is too short. -EMSGSIZE: payload longer than payload_bytes. */
int nic_send(struct nic *nic, const struct nic_message *message, weft_time now);

/* Timers and the link protocol; once per loop, before nic_inject(). True: the link went down just
 * now, so nobody will take frames that the driver still has. */
bool nic_poll(struct nic *nic, weft_time now);

/* The next frame to be sent, its credits taken; NULL: nothing can be sent now. It is 'packet'
 * (NULL: the caller has no memory for one), filled with the description of a frame that must then
 * be built; or else a packet in transit that nic_receive() kept: the caller's again, its frame to
 * be sent as it is, but with the mutable bytes as described (frame_update_mutable()). To be sent in
 * this order. */
struct weft_packet *nic_inject(struct nic *nic, weft_time now, struct weft_packet *packet);

/* Writes the frame that nic_inject() has just described in 'packet', packet->bytes in all; 'frame'
 * has room for mtu_bytes + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX. */
void nic_frame_build(
	struct nic *nic, const struct weft_packet *packet, uint8_t *frame, weft_time now);

/* Fills the descriptor of an arrived frame that frame_check() has found good. */
void nic_describe(struct weft_packet *packet, const uint8_t *frame, uint32_t bytes, weft_time now);

/* Takes an arrived frame that frame_check() has found good, and its descriptor; frames of the
 * mapper that are for an agent are not for the interface. Both are the interface's until the packet
 * is given back: the return value is a chain of packets (by 'next') that are the driver's again,
 * NULL if none. */
struct weft_packet *nic_receive(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now);

/* Takes other routes, the caller's as those before were, to which nothing points any more then.
 * Frames that were built keep theirs; whatever leaves from now on, be it new, the rest of a message
 * or a repetition, goes by the new ones. What overtakes is put in order where it arrives. Messages
 * to a host without a route wait, until it has one again or they fail after give_up_ps; new ones
 * are refused. What the choice has learnt of routes that are others now is forgotten; the routes'
 * sets take the place of selection.sets. -EINVAL: not for so many hosts, or more alternatives than
 * selection.routes. */
int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now);

/* Messages that are queued from now on get their service level from another scheme, or have their
 * own (NULL). -EINVAL: for fewer hosts, or sl_to_vc does not map its queues one to one. */
int nic_set_queuing(struct nic *nic, const struct queuing *queuing);

/* Between the two nothing of its own leaves but the link's frames: no new frame, repetition or
 * acknowledgement. What is in transit goes on, what arrives is taken. The time does not count for
 * any timer. */
void nic_pause(struct nic *nic, weft_time now);
void nic_resume(struct nic *nic, weft_time now);

/* Forgets what is in transit: a chain of packets, as nic_receive(). Who waits for it has it sent
 * again. */
struct weft_packet *nic_purge(struct nic *nic);

/* All packets held, also in transit, for the end of a run. */
struct weft_packet *nic_drain(struct nic *nic);

/* True if nic_send() has room for a message without a payload of its own. */
bool nic_has_room(const struct nic *nic, uint16_t destination, uint8_t sl);
/* Nothing has been acknowledged by it through two timeouts in a row, nor since; it may hear all the
 * same. Where there is no room for it, nic_send() says -EHOSTDOWN. */
bool nic_is_silent(const struct nic *nic, uint16_t destination);
/* True while a message is waiting or not acknowledged, or a frame is in transit. */
bool nic_busy(const struct nic *nic);
/* True if the link is up. */
bool nic_link_up(const struct nic *nic);

/* It was paused and nothing is in transit. */
bool nic_is_idle(const struct nic *nic);
bool nic_is_paused(const struct nic *nic);
/* It was made with routes or has been given some. */
bool nic_has_routes(const struct nic *nic);

const uint64_t *nic_counters(const struct nic *nic); /* [NIC_COUNTER_COUNT] */
const struct nic_config *nic_config(const struct nic *nic);
struct link_end *nic_link(struct nic *nic);

/* Invariants, for tests and debug builds; walks all peers. NULL, or what is wrong. */
const char *nic_check(const struct nic *nic);
