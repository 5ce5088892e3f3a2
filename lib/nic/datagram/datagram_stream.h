/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The short way out of an interface (datagram.h) that sends a single stream: messages of one source
 * and one VC, in their order, without transit and selectors that learn. The FIFO would do nothing
 * for them, so they go past it: the source is asked for the next message when the one before has
 * left. Frames, numbers and credits are those of datagram_send() and datagram_inject(). An
 * interface with marks can do so until the first notification comes (datagram_stream_close()).
 */

#include "datagram.h"

/* True if the interface has nothing that stands against it. */
bool datagram_stream_suits(const struct datagram *nic);

/* Before the first message: all will have this service level. */
void datagram_stream_open(struct datagram *nic, uint8_t sl);

/* From now on messages go through FIFOs, what is left of this one first. There are no routes, and
 * the FIFOs are empty. */
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

	stream->payload_bytes = payload;
	stream->frame.bytes = (uint16_t)(FRAME_HEADER_BYTES + stream->frame.route_length + payload);
	stream->frame.blocks = (uint16_t)frame_blocks(stream->frame.bytes);
	stream->frame.flags = payload == stream->left_bytes ? FRAME_F_TAIL : 0;
}

/* Which way a message takes. False: there is none, counted. */
bool datagram_stream_route(struct datagram *nic, uint16_t destination, uint32_t bytes);

/* This message, of 1 byte or more, is the one that leaves. False: it has no route and is forgotten,
 * counted. */
static inline bool datagram_stream_begin(
	struct datagram *nic, uint16_t destination, uint32_t bytes, weft_time generated_ps)
{
	struct datagram_stream *stream = &nic->stream;

	if (nic->has_routes && !datagram_stream_route(nic, destination, bytes))
		return false;
	stream->generated_ps = generated_ps;
	stream->left_bytes = bytes;
	stream->number = &nic->sent[destination];
	stream->frame.destination = destination;
	datagram_stream_next_frame(nic);
	return true;
}

/* There is a message: are there credits for its next frame? */
static inline bool datagram_stream_can_go(const struct datagram_stream *stream)
{
	return credit_suffices(stream->tx, stream->frame.blocks);
}

/* Fills the descriptor of the frame, which can go, and takes its credits. */
static inline void datagram_stream_inject(struct datagram *nic, weft_time now,
	struct weft_packet *packet, struct datagram_origin *origin)
{
	struct datagram_stream *stream = &nic->stream;

	*packet = stream->frame;
	packet->message = (uint32_t)nic->messages_sent;
	packet->sequence = stream->number->sent++;
	*origin = (struct datagram_origin){.injected_ps = now,
		.generated_ps = stream->generated_ps,
		.payload_bytes = stream->payload_bytes};
	credit_take(stream->tx, stream->frame.blocks);
	nic->frames_sent++;
	stream->left_bytes -= stream->payload_bytes;
	if (stream->left_bytes == 0)
		nic->messages_sent++;
	else
		datagram_stream_next_frame(nic);
}
