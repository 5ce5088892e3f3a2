/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The emulated network interface with reliable delivery: a state machine that is passed packets and
 * the time. It owns no port, reads no clock and allocates nothing after nic_create().
 * datagram/datagram.h is the interface without end-to-end delivery.
 *
 * Entry points, in the order of a driver's iteration:
 *     nic_receive()   each arrived frame that passed frame_check(); returns packets to free
 *     nic_poll()      timers and the link
 *     nic_inject(), nic_frame_build()   until there is no frame to send, or no room for it
 *
 * The host above calls nic_send(). Its callbacks (struct nic_host) receive messages and outcomes.
 *
 * Frames are sent in this order of priority:
 *     the link's own frames, notifications (cns_sent), acknowledgements (acks_sent), time stamps
 *         (clock_asks_sent, clock_answers_sent), control frames in transit (itb_control);
 *     data in transit (itb_reinjected) and own data, shared by itb_pool.h; own retransmissions
 *         (frames_retransmitted) precede new frames (frames_injected)
 * Discarded frames are counted in discard_* and itb_discarded, failed messages in messages_failed.
 *
 * Delivery is reliable per (source, destination), modelled on GM: sequence numbers, cumulative
 * acknowledgements, go-back-N on a timer or on the receiver's request. Frames that overtook others
 * on a different path wait in a resequencing window. Whatever the fabric discards, duplicates or
 * reorders, the receiving host gets each message once and in order, or the sender is notified of
 * its failure.
 *
 * The host has one FIFO per VC (an interpretation of the ARN+AFI paper). A message waits for the
 * earlier ones in its VC, as in the papers, with two exceptions:
 *     A message to a peer whose window is closed leaves the FIFO, so that a slow or dead host does
 *         not block the others. When the window opens again, the message precedes the FIFO,
 *         because it is older. Such peers are served round robin, frame by frame. The message stays
 *         in the message store. Each peer may hold less than it leaves free for its VC, so N
 *         stalled peers leave at least 1 / (N + 1) of the VC's room. Beyond that limit, nic_send()
 *         refuses messages to this peer only. A host that sends its messages in order then waits
 *         for a slow peer, but need not wait for a silent one.
 *     A message marked by an ARN moves to the adapted-flow channel (arn_marks.h).
 *
 * One thread per interface. A host's callbacks may call nic_send(), but no other function. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "itb.h"
#include "link/arn_policer.h"
#include "link/link_end.h"
#include "link/link_seal.h"
#include "nic/clock/clock_offset.h"
#include "nic/congestion/cn_generator.h"
#include "nic/congestion/source_control.h"
#include "nic/selectors/route_choice.h"
#include "nic_counters.h"
#include "nic_routes.h"
#include "queuing/queuing.h"
#include "wire/packet.h"

struct nic;

/* The part of a message in one frame. Parts are delivered in order. 'payload' is valid during the
 * call. */
struct nic_delivery {
	uint16_t source;
	uint8_t sl, flags;
	bool new_flow;     /* first frame since the source (re)started: discard partial messages */
	bool first, tail;  /* position in its message */
	uint32_t message;  /* flow (upper 16 bits) and number within the flow */
	uint32_t sequence; /* number of this frame in its flow, from 0 on */
	uint32_t offset;   /* offset of this payload in its message */
	const uint8_t *payload;
	uint32_t bytes;
	uint32_t injected_ns; /* sender's clock when this frame was sent, modulo 2^32 ns */
	weft_time arrived, arrived_due; /* observed and due arrival, without reordering delay */
	weft_time now;
	weft_time due_ps; /* due arrival of this frame, or of the frame that it waited for */
};

struct nic_outcome {
	uint16_t destination;
	int error; /* 0: acknowledged. -ETIMEDOUT: given up; may or may not have arrived */
	uint32_t bytes;
	uint64_t cookie;
};

/* Callbacks to the host above. Each may be NULL. */
struct nic_host {
	void *ctx;
	void (*deliver)(void *ctx, const struct nic_delivery *delivery);
	void (*done)(void *ctx, const struct nic_outcome *outcome);
};

#define NIC_SECRET_BYTES 16

struct nic_config {
	uint16_t host, hosts;
	uint16_t fabric; /* fabric number in its frames (frame.h) */
	uint64_t seed;
	uint32_t mtu_bytes; /* maximum payload of a frame, 64..FRAME_PAYLOAD_MAX */
	uint8_t sl_to_vc[16];
	const struct nic_routes
		*routes; /* owned by the caller, constant; NULL: none yet, no own frame is sent */
	const struct route_choice_ops *choice;
	struct route_choice_options selection; /* input of the route choice */
	/* Overrides the service levels of messages; owned by the caller. May be NULL. */
	const struct queuing *queuing;
	/* nic_private.h divides both of these among the VCs. */
	uint32_t messages;        /* maximum number of messages held: waiting or not acknowledged */
	uint32_t payloads;        /* maximum number of these with their own payload; may be 0 */
	uint32_t payload_bytes;   /* maximum payload of a message */
	uint32_t window_frames;   /* maximum frames in flight per peer; a power of two up to 4096 */
	uint16_t reorder_windows; /* maximum number of peers with frames out of order */
	uint32_t reorder_frames;  /* maximum number of frames held until earlier ones arrive */
	uint32_t ack_frames;      /* acknowledge after this many frames */
	weft_time ack_delay_ps;   /* or after this time */
	weft_time gap_ps;   /* request missing frames again after this time; longer if the delays of
			       paths differ more */
	weft_time retry_ps; /* go back after this time without an acknowledgement; longer if answers
			       take longer, and after each timeout */
	weft_time give_up_ps; /* fail a message after this time without progress of its peer */
	/* link.session: nonzero, and different for each run of the interface. link.vc_blocks:
	 * maximum blocks in flight to this interface, which empties its buffer immediately. */
	struct link_end_config link;
	/* Random, different for each run, and secret: the starts of flows are derived from it
	 * (flow.h). */
	uint8_t secret[NIC_SECRET_BYTES];
	/* Key of the end-to-end tags of data (link_seal.h); owned by the caller. NULL: no tags. */
	const struct data_tag_key *data_key;
	struct itb_config itb; /* pool_bytes 0: a frame in transit is a routing error */
	/* Lifetime of a mark set by an ARN (arn_marks.h); 0: ARNs are ignored. With marks, the last
	 * VC is the adapted-flow channel, and sl_to_vc excludes it. */
	weft_time mark_ps;
	struct arn_policer_config arn_policer; /* accepted ARNs; zeroed: all from switches */
	/* Congestion management (nic_control.h); kind SOURCE_CONTROL_NONE: none. Kinds that spread
	 * select the routes of messages in place of 'choice'. */
	struct source_control_config control;
	struct cn_generator_config answers;
	struct nic_host above;
};

/* Sets the defaults of all fields except routes, link.device, link.session and secret. */
void nic_config_default(struct nic_config *config, uint16_t host, uint16_t hosts);

/* Returns NULL with errno EINVAL (a value is out of range) or ENOMEM. */
struct nic *nic_create(const struct nic_config *config, weft_time now);
/* The driver must free held packets first, with nic_drain(). */
void nic_destroy(struct nic *nic);

struct nic_message {
	uint16_t destination;
	uint8_t sl;
	uint8_t entry; /* synthetic: index in the run's traffic, which the sink reads from the
			  prefix */
	const void
		*payload; /* copied; NULL: synthetic, generated when sent and checked by the sink */
	uint32_t bytes;   /* synthetic: at least SYNTHETIC_PREFIX_BYTES */
	weft_time generated_ps;
	uint64_t cookie; /* returned in nic_outcome */
};

/* Queues a message. Returns 0; -EAGAIN if there is no room now; -EHOSTDOWN if there is no room now
 * because the destination has used up its share and acknowledged nothing through two timeouts;
 * -ENETUNREACH if there is no route; -EINVAL for an invalid SL, this host as destination, or a
 * synthetic message that is too short; or -EMSGSIZE if the payload exceeds payload_bytes. */
int nic_send(struct nic *nic, const struct nic_message *message, weft_time now);

/* Handles timers and the link protocol. Call once per loop, before nic_inject(). Returns true if
 * the link has just gone down, so that frames still held by the driver must not be passed in. */
bool nic_poll(struct nic *nic, weft_time now);

/* Returns the next frame to send and takes its credits, or NULL if no frame can be sent now. The
 * result is either 'packet' (may be NULL: no memory for one), which describes a frame to build, or
 * a packet in transit that nic_receive() kept. The latter belongs to the caller again; its frame is
 * sent unchanged except for the described mutable bytes (frame_update_mutable()). Frames must be
 * sent in this order.
 *
 * packet->arrived_ps is when an ideal interface could have sent the frame, apart from credits. For
 * a packet in transit: when it was ready to continue. For data: the generation of its message, or
 * the due arrival of the frame that its flow waited for. For an answer: the due arrival of the
 * answered frame. Otherwise 'now'. */
struct weft_packet *nic_inject(struct nic *nic, weft_time now, struct weft_packet *packet);

/* Writes the frame that nic_inject() has just described in 'packet', packet->bytes in total. 'now'
 * is the departure time in a FRAME_CLOCK and must not be later than the actual departure. 'frame'
 * must have room for mtu_bytes + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX, plus FRAME_LATENCY_BYTES if
 * congestion control measures latencies. */
void nic_frame_build(
	struct nic *nic, const struct weft_packet *packet, uint8_t *frame, weft_time now);

/* Fills the descriptor of an arrived frame that passed frame_check(). 'due_ps': its due arrival. */
void nic_describe(
	struct weft_packet *packet, const uint8_t *frame, uint32_t bytes, weft_time due_ps);

/* Handles an arrived frame that passed frame_check(), and its descriptor. Mapper frames for an
 * agent must not be passed in. 'now' must not be earlier than the arrival of a FRAME_CLOCK. The
 * interface owns frame and packet until it returns the packet. Returns a chain (linked by 'next')
 * of packets that belong to the driver again, or NULL. */
struct weft_packet *nic_receive(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now);

/* Replaces the routes. The new ones remain the caller's, and the old ones are no longer referenced.
 * Frames already built keep their routes; all later ones, including the rest of a message and
 * retransmissions, use the new routes. The receiver restores the order. Messages to a host without
 * a route wait until it has one again, or fail after give_up_ps; new messages to it are refused.
 * The selector discards its estimates of changed routes; the routes' sets replace selection.sets.
 * Returns 0, or -EINVAL if there are fewer hosts, or more alternatives than selection.routes. */
int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now);

/* Sets the queuing scheme for messages queued afterwards; NULL: they keep their service levels.
 * Returns 0, or -EINVAL for fewer hosts or if sl_to_vc does not map its queues one to one. */
int nic_set_queuing(struct nic *nic, const struct queuing *queuing);

/* While paused, the interface sends only the link's own frames and frames in transit: no new
 * frames, retransmissions or acknowledgements. Arrivals are accepted. Timers do not advance. */
void nic_pause(struct nic *nic, weft_time now);
void nic_resume(struct nic *nic, weft_time now);

/* Discards the packets in transit and returns them as a chain, as nic_receive() does. Their sources
 * retransmit them. */
struct weft_packet *nic_purge(struct nic *nic);

/* Returns all held packets, including those in transit. For the end of a run. */
struct weft_packet *nic_drain(struct nic *nic);

/* Returns true if nic_send() has room for a message without its own payload. Otherwise, messages
 * generated before 'now' count as waiting for room. */
bool nic_has_room(struct nic *nic, uint16_t destination, uint8_t sl, weft_time now);
/* Returns true if the peer acknowledged nothing through two consecutive timeouts; frames may
 * nevertheless arrive there. If it has no room left, nic_send() returns -EHOSTDOWN. */
bool nic_is_silent(const struct nic *nic, uint16_t destination);
/* Returns true while a message is waiting or not acknowledged, or a frame is in transit. */
bool nic_busy(const struct nic *nic);
/* Returns true if the link is up. */
bool nic_link_up(const struct nic *nic);
/* Returns the set of VCs that have had something to send but no credits since '*since' or longer; 0
 * while the link is down. */
uint32_t nic_stalled(const struct nic *nic, weft_time *since);

/* Returns true if the interface is paused and no frame is in transit. */
bool nic_is_idle(const struct nic *nic);
bool nic_is_paused(const struct nic *nic);
/* Returns true if the interface has ever been given routes. */
bool nic_has_routes(const struct nic *nic);

const uint64_t *nic_counters(const struct nic *nic); /* [NIC_COUNTER_COUNT] */
/* Returns the bytes on the wire of arrived frames that wait for earlier ones. */
uint64_t nic_held_wire_bytes(const struct nic *nic);
/* Stores the congestion management counters, [SOURCE_CONTROL_COUNTER_COUNT]; zeros if it is off. */
void nic_control_counters(const struct nic *nic, uint64_t *count);
const struct nic_config *nic_config(const struct nic *nic);
struct link_end *nic_link(struct nic *nic);

/* Enables clock estimation (peer_clocks.h) for all hosts except those in 'same' [hosts], which
 * share this machine's clock. 'clock' is the number of this clock, not 0. Call once, before the
 * first frame. Returns 0 or -ENOMEM. */
int nic_set_clocks(struct nic *nic, const bool *same, uint32_t clock);
/* Returns the estimate of the host's clock; NULL if the host has this machine's clock. */
const struct clock_offset *nic_clock_of(const struct nic *nic, uint16_t host);

/* Checks invariants, for tests and debug builds; visits all peers. Returns NULL, or a description
 * of the violation. */
const char *nic_check(const struct nic *nic);

/* Messages whose payload stays with the host until a frame is sent. The interface requests a
 * frame's bytes when it sends or resends the frame, so a message can be long and is copied only
 * once. nic_message.payload is nic_pulled; nic_message.bytes may exceed payload_bytes. */

extern const uint8_t nic_pulled[1];

struct nic_programs {
	void *ctx;
	/* Writes 'bytes' bytes of the message, starting at 'offset'. */
	void (*pull)(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes);
	/* Called at the end of a message in place of nic_host.done(); must not call nic_send(). */
	void (*done)(void *ctx, const struct nic_outcome *outcome);
};

/* Call before sending the first such message. 'programs' is copied. */
void nic_set_programs(struct nic *nic, const struct nic_programs *programs);
