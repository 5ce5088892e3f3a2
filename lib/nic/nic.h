/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The emulated network interface with reliable delivery: a plain state machine that is
 * passed packets and the time, owns no port, reads no clock and allocates nothing after
 * nic_create(). datagram/datagram.h is the interface without end-to-end delivery.
 *
 * Entry points, in the order of a driver's iteration:
 *     nic_receive()   each arrived frame that passed frame_check(); returns packets to free
 *     nic_poll()      timers and the link
 *     nic_inject(), nic_frame_build()   until there is nothing to send, or no room for it
 *
 * The host above calls nic_send(); its callbacks (struct nic_host) deliver and report.
 *
 * Leaves, in this order of priority:
 *     the link's own frames, notifications (cns_sent), acknowledgements (acks_sent), time stamps
 *         (clock_asks_sent, clock_answers_sent), control frames in transit (itb_control);
 *     data in transit (itb_reinjected) and own data, shared by itb_pool.h; own retransmissions
 *         (frames_retransmitted) precede new frames (frames_injected)
 * Discarded frames are counted by discard_* and itb_discarded, failed messages by messages_failed.
 *
 * Delivery is reliable per (source, destination), in the manner of GM: sequence numbers, cumulative
 * acknowledgements, go-back-N on a timer or on the receiver's request. Frames that overtook others
 * on another path wait in a resequencing window. Whatever the fabric discards, duplicates or
 * reorders, the host receives each message once and in order, or the sender is told that it failed.
 *
 * The host keeps one FIFO per VC (a reading of the ARN+AFI paper): a message waits for the earlier
 * ones in its VC, as in the papers, with two exceptions:
 *     A message to a peer whose window is closed leaves the FIFO, so that a slow or dead host does
 *         not block the others. When the window opens again, it precedes the FIFO, because it is
 *         older; such peers are served round robin, frame by frame. It stays in the store of
 *         messages. The store bounds each peer to less than it leaves to the others of its VC, so
 *         that N stalled peers leave one part in N + 1 of the VC's room. Beyond that nic_send()
 *         refuses messages to that peer only. A host that hands over its messages in order waits
 *         there for a slow peer; it need not wait for a silent one.
 *     A message that an ARN marks moves to the adapted-flow channel (arn_marks.h).
 *
 * Callers: one thread per interface. A host's callbacks may call nic_send(), nothing else. */

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

/* The part of a message in one frame; parts are delivered in order. The payload is valid during the
 * call. */
struct nic_delivery {
	uint16_t source;
	uint8_t sl, flags;
	bool new_flow;     /* first frame since the source (re)started: drop incomplete messages */
	bool first, tail;  /* position in its message */
	uint32_t message;  /* flow (16 bits) and number within it */
	uint32_t sequence; /* this frame's number in its flow, from 0 on */
	uint32_t offset;   /* where this payload starts in its message */
	const uint8_t *payload;
	uint32_t bytes;
	uint32_t injected_ns;           /* sender's clock when this frame left, modulo 2^32 ns */
	weft_time arrived, arrived_due; /* before the others if it waited for earlier frames */
	weft_time now;
	weft_time due_ps; /* due arrival, of it or of the frame that it waited for */
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

#define NIC_SECRET_BYTES 16

struct nic_config {
	uint16_t host, hosts;
	uint16_t fabric; /* number in its frames (frame.h) */
	uint64_t seed;
	uint32_t mtu_bytes; /* payload of a frame, 64..FRAME_PAYLOAD_MAX */
	uint8_t sl_to_vc[16];
	const struct nic_routes
		*routes; /* the caller's, constant; NULL: none yet, nothing leaves */
	const struct route_choice_ops *choice;
	struct route_choice_options selection; /* input of the route choice */
	/* Replaces the messages' own service levels; owned by the caller. May be NULL. */
	const struct queuing *queuing;
	/* Both are divided among the VCs by nic_private.h. */
	uint32_t messages;        /* held in total, waiting or not acknowledged */
	uint32_t payloads;        /* how many of those may have a payload of their own; may be 0 */
	uint32_t payload_bytes;   /* largest payload of a message */
	uint32_t window_frames;   /* in flight per peer, a power of two up to 4096 */
	uint16_t reorder_windows; /* peers that may have frames out of order at a time */
	uint32_t reorder_frames;  /* held in total until earlier frames arrive */
	uint32_t ack_frames;      /* acknowledge after this many frames, */
	weft_time ack_delay_ps;   /* or after this time */
	weft_time gap_ps;   /* request missing frames again after this time; longer if paths differ
			       more */
	weft_time retry_ps; /* go back after this time without an acknowledgement; longer if answers
			       take longer, and after each timeout */
	weft_time give_up_ps; /* fail a message after this time without progress of its peer */
	/* link.session: nonzero, and different in each run of the interface. link.vc_blocks: blocks
	 * that may be in flight to this interface; frames do not stay in it. */
	struct link_end_config link;
	/* Random, different in each run, secret: the starts of flows are derived from it
	 * (flow.h). */
	uint8_t secret[NIC_SECRET_BYTES];
	/* For end-to-end tags of data frames (link_seal.h); owned by the caller. NULL: no tags. */
	const struct data_tag_key *data_key;
	struct itb_config itb; /* pool_bytes 0: frames in transit are routing errors */
	/* Validity of an ARN (arn_marks.h); 0: ARNs are ignored. With them the last VC is the
	 * adapted-flow channel and sl_to_vc excludes it. */
	weft_time mark_ps;
	struct arn_policer_config arn_policer; /* ARNs to accept; zeros: all from a switch */
	/* Congestion management (nic_control.h); kind SOURCE_CONTROL_NONE: none. Kinds that spread
	 * choose the routes of messages instead of 'choice'. */
	struct source_control_config control;
	struct cn_generator_config answers;
	struct nic_host above;
};

/* Sets defaults for everything except routes, link.device, link.session and secret. */
void nic_config_default(struct nic_config *config, uint16_t host, uint16_t hosts);

/* Returns NULL with errno EINVAL (a number out of range) or ENOMEM. */
struct nic *nic_create(const struct nic_config *config, weft_time now);
/* The driver frees held packets first: nic_drain(). */
void nic_destroy(struct nic *nic);

struct nic_message {
	uint16_t destination;
	uint8_t sl;
	uint8_t entry; /* synthetic: index in the run's traffic; the sink reads it from the prefix
			*/
	const void
		*payload; /* copied; NULL: synthetic, generated when sent and checked by the sink */
	uint32_t bytes;   /* synthetic: SYNTHETIC_PREFIX_BYTES or more */
	weft_time generated_ps;
	uint64_t cookie; /* returned in nic_outcome */
};

/* Queues a message. Returns 0, or -EAGAIN: no room now; -EHOSTDOWN: no room now, because the
 * destination used up its share and acknowledged nothing through two timeouts; -ENETUNREACH: no
 * route; -EINVAL: invalid SL, or a synthetic message that is too short; -EMSGSIZE: payload longer
 * than payload_bytes. */
int nic_send(struct nic *nic, const struct nic_message *message, weft_time now);

/* Timers and the link protocol; once per loop, before nic_inject(). Returns true if the link went
 * down just now, so frames that the driver still has cannot be received. */
bool nic_poll(struct nic *nic, weft_time now);

/* Returns the next frame to send and takes its credits, or NULL if nothing can be sent now. The
 * result is either 'packet' (NULL: the caller has no memory for one) with the description of a
 * frame to build, or a packet in transit that nic_receive() kept: it belongs to the caller again,
 * and its frame is sent as is except for the described mutable bytes (frame_update_mutable()).
 * Frames must be sent in this order.
 *
 * packet->arrived_ps is when an ideal interface could have sent the frame, as far as its credits
 * allowed it. For a packet in transit: when it was ready to continue. For data: the generation of
 * its message, or the due arrival of what its flow waited for. For an answer: the due arrival of
 * what it answers. Otherwise 'now'. */
struct weft_packet *nic_inject(struct nic *nic, weft_time now, struct weft_packet *packet);

/* Writes the frame that nic_inject() has just described in 'packet', packet->bytes in total; a
 * FRAME_CLOCK gives 'now' as its departure time, which must not be later than the departure.
 * 'frame' has room for mtu_bytes + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX, plus FRAME_LATENCY_BYTES
 * if its congestion control measures latencies. */
void nic_frame_build(
	struct nic *nic, const struct weft_packet *packet, uint8_t *frame, weft_time now);

/* Fills the descriptor of an arrived frame that passed frame_check(). 'due_ps': its due arrival. */
void nic_describe(
	struct weft_packet *packet, const uint8_t *frame, uint32_t bytes, weft_time due_ps);

/* Takes an arrived frame that passed frame_check(), and its descriptor; 'now' is not earlier than
 * the arrival of a FRAME_CLOCK; mapper frames for an agent
 * do not belong here. Both are the interface's until the packet is returned: the result is a chain
 * of packets (by 'next') that are the driver's again, NULL if none. */
struct weft_packet *nic_receive(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now);

/* Replaces the routes; the caller keeps them, and the old ones are no longer referenced. Built
 * frames keep theirs; everything that leaves from now on, including the rest of a message and
 * retransmissions, uses the new ones. The receiver restores the order. Messages to a host without a
 * route wait until it has one again or they fail after give_up_ps; new ones are refused. The choice
 * forgets what it learnt of changed routes; the routes' sets replace selection.sets. Fails with
 * -EINVAL: for fewer hosts, or more alternatives than selection.routes. */
int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now);

/* Messages queued from now on get their service level from another scheme, or keep their own
 * (NULL). Fails with -EINVAL: for fewer hosts, or sl_to_vc does not map its queues one to one. */
int nic_set_queuing(struct nic *nic, const struct queuing *queuing);

/* While paused only the link's own frames and frames in transit leave: no new frame, retransmission
 * or acknowledgement. Arrivals are accepted. Timers stand still. */
void nic_pause(struct nic *nic, weft_time now);
void nic_resume(struct nic *nic, weft_time now);

/* Discards the packets in transit: returns them as a chain, like nic_receive(). Their sources
 * retransmit them. */
struct weft_packet *nic_purge(struct nic *nic);

/* Returns all held packets, including those in transit, at the end of a run. */
struct weft_packet *nic_drain(struct nic *nic);

/* True if nic_send() has room for a message without a payload of its own. If not, messages older
 * than 'now' count as unable to leave before there is room. */
bool nic_has_room(struct nic *nic, uint16_t destination, uint8_t sl, weft_time now);
/* True if the peer acknowledged nothing through two timeouts in a row; it may nevertheless receive.
 * If it has no room left, nic_send() returns -EHOSTDOWN. */
bool nic_is_silent(const struct nic *nic, uint16_t destination);
/* True while a message is waiting or not acknowledged, or a frame is in transit. */
bool nic_busy(const struct nic *nic);
/* True if the link is up. */
bool nic_link_up(const struct nic *nic);
/* The set of VCs that have had something to send and no credits since '*since' or longer; 0 while
 * the link is down. */
uint32_t nic_stalled(const struct nic *nic, weft_time *since);

/* True if the interface is paused and nothing is in transit. */
bool nic_is_idle(const struct nic *nic);
bool nic_is_paused(const struct nic *nic);
/* True if the interface was created with routes or got some later. */
bool nic_has_routes(const struct nic *nic);

const uint64_t *nic_counters(const struct nic *nic); /* [NIC_COUNTER_COUNT] */
/* Bytes on the wire of frames that arrived and wait for earlier ones. */
uint64_t nic_held_wire_bytes(const struct nic *nic);
/* Counters of congestion management: [SOURCE_CONTROL_COUNTER_COUNT], zeros without it. */
void nic_control_counters(const struct nic *nic, uint64_t *count);
const struct nic_config *nic_config(const struct nic *nic);
struct link_end *nic_link(struct nic *nic);

/* All hosts except 'same' [hosts] are on other machines, whose clocks differ. The interface
 * measures their offsets (peer_clocks.h). 'clock' is the number of this machine's clock, not 0.
 * Call this once, before the first frame. May return -ENOMEM. */
int nic_set_clocks(struct nic *nic, const bool *same, uint32_t clock);
/* The interface's estimate of the host's clock; NULL: the host has this machine's clock. */
const struct clock_offset *nic_clock_of(const struct nic *nic, uint16_t host);

/* Checks invariants, for tests and debug builds; visits all peers. Returns NULL, or what is
 * violated. */
const char *nic_check(const struct nic *nic);

/* Messages whose payload stays with the host until a frame leaves. The interface requests each
 * frame's bytes when it sends or resends the frame, so a message may be long and is copied only
 * once. nic_message.payload is nic_pulled; nic_message.bytes may exceed payload_bytes. */

extern const uint8_t nic_pulled[1];

struct nic_programs {
	void *ctx;
	/* Writes 'bytes' bytes of the message from 'offset' on. */
	void (*pull)(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes);
	/* Called at the end of a message in place of nic_host.done(). Must not call nic_send(). */
	void (*done)(void *ctx, const struct nic_outcome *outcome);
};

/* Call this before the first such message. 'programs' is copied. */
void nic_set_programs(struct nic *nic, const struct nic_programs *programs);
