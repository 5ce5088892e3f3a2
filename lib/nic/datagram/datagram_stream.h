/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The fast path of an interface (datagram.h) that sends a single stream: messages of one source on
 * one VC, in order, without transit, learning selectors or throttling. Messages bypass the FIFO:
 * the source is asked for the next message when the previous one has been sent. Frames, numbers and
 * credits are the same as with datagram_send() and datagram_inject(). An interface with marks may
 * use the fast path until the first ARN arrives (datagram_stream_close()). */

#include "datagram.h"

/* Returns true if the interface can use the fast path. */
bool datagram_stream_suits(const struct datagram *nic);

/* Sets the service level and 'entry' (datagram_message) of all messages. Call before the first
 * message. */
void datagram_stream_open(struct datagram *nic, uint8_t sl, uint8_t entry);

/* Switches to the FIFOs, starting with the rest of the current message. There must be no routes,
 * and the FIFOs must be empty. */
void datagram_stream_close(struct datagram *nic);

static inline bool datagram_stream_is_empty(const struct datagram_stream *stream)
{
	return stream->left_bytes == 0;
}

static inline void datagram_stream_next_frame(struct datagram *nic)
{
	struct datagram_stream *stream = &nic->stream;
	uint32_t payload =
		stream->left_bytes < nic->mtu_bytes ? stream->left_bytes : nic->mtu_bytes;

	stream->payload_bytes = (uint16_t)payload;
	stream->frame.bytes = (uint16_t)(FRAME_HEADER_BYTES + nic->extension_bytes +
					 stream->frame.route_length + payload);
	stream->frame.blocks = (uint16_t)frame_blocks(stream->frame.bytes);
	stream->frame.flags = nic->frame_flags;
	if (payload == stream->left_bytes)
		stream->frame.flags |= FRAME_F_TAIL;
}

/* Chooses the route of a message. Returns false if there is none, which is counted. */
bool datagram_stream_route(
	struct datagram *nic, uint16_t destination, uint32_t bytes, weft_time now);

/* Starts a message of 1 byte or more. Returns false if it has no route; it is then dropped and
 * counted. */
static inline bool datagram_stream_begin(struct datagram *nic, uint16_t destination, uint32_t bytes,
	weft_time generated_ps, weft_time now)
{
	struct datagram_stream *stream = &nic->stream;

	if (nic->has_routes && !datagram_stream_route(nic, destination, bytes, now))
		return false;
	stream->generated_ps = generated_ps;
	stream->left_bytes = nic->stream_bytes = bytes;
	stream->frame.destination = destination;
	datagram_stream_next_frame(nic);
	return true;
}

/* Returns true if the next frame has credits. There must be a message. */
static inline bool datagram_stream_can_go(const struct datagram_stream *stream)
{
	return credit_suffices(stream->tx, stream->frame.blocks);
}

/* Fills the descriptor of the next frame, which must have credits, and takes them. */
static inline void datagram_stream_inject(struct datagram *nic, weft_time now,
	struct weft_packet *packet, struct datagram_origin *origin)
{
	struct datagram_stream *stream = &nic->stream;

	*packet = stream->frame;
	packet->message = (uint32_t)nic->messages_sent;
	packet->injected_ns = (uint32_t)(stream->generated_ps / PS_PER_NS);
	packet->sequence = datagram_take_number(nic, stream->frame.destination);
	*origin = (struct datagram_origin){.injected_ps = now,
		.generated_ps = stream->generated_ps,
		.payload_bytes = stream->payload_bytes,
		.path = stream->path};
	credit_take(stream->tx, stream->frame.blocks);
	nic->frames_sent++;
	stream->left_bytes -= stream->payload_bytes;
	if (stream->left_bytes == 0)
		nic->messages_sent++;
	else
		datagram_stream_next_frame(nic);
}
