/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_stream.h"

#include "datagram_control.h"

bool datagram_stream_suits(const struct datagram *nic)
{
	return nic->itb == NULL && nic->recovery == NULL && nic->reps == NULL &&
	       nic->config.queuing == NULL && (nic->marks == NULL || !nic->has_routes) &&
	       !route_choice_learns(&nic->choice) && nic->waiting == 0 &&
	       (nic->control == NULL || nic->control->lane == NULL);
}

void datagram_stream_open(struct datagram *nic, uint8_t sl, uint8_t entry)
{
	uint8_t vc = nic->config.sl_to_vc[sl & 15];

	nic->stream = (struct datagram_stream){
		.frame = {.vc = vc,
			.vc_next = vc,
			.header_vc = vc,
			.vc_original = vc,
			.sl = sl & 15,
			.kind = FRAME_DATA,
			.entry = entry,
			.source = nic->config.host},
		.tx = &nic->link.tx[vc],
	};
}

void datagram_stream_close(struct datagram *nic)
{
	struct datagram_stream *stream = &nic->stream;
	const struct datagram_message rest = {.generated_ps = stream->generated_ps,
		.bytes = stream->left_bytes,
		.destination = stream->frame.destination,
		.sl = stream->frame.sl,
		.entry = stream->frame.entry};

	if (nic->frames_sent > 0)
		nic->next_vc = (uint8_t)((stream->frame.vc + 1) & (FRAME_VCS_MAX - 1));
	nic->messages_begun = (uint32_t)nic->messages_sent;
	if (!datagram_stream_is_empty(stream)) {
		struct datagram_fifo *fifo = &nic->fifo[stream->frame.vc];

		datagram_send(nic, &rest);
		/* The rest of a message keeps its number. */
		if (stream->left_bytes < nic->stream_bytes && fifo->count == 1) {
			fifo->number = nic->messages_begun++;
			fifo->numbered = true;
		}
	}
	stream->left_bytes = 0;
}

static bool choose(struct datagram *nic, uint16_t destination, uint32_t bytes, weft_time now,
	struct datagram_route *chosen)
{
	const struct datagram_message message = {.destination = destination, .bytes = bytes};

	if (__builtin_expect(nic->control != NULL, 0))
		return datagram_control_route(nic, destination, now, chosen);
	return datagram_choose_route(nic, &message, chosen);
}

bool datagram_stream_route(
	struct datagram *nic, uint16_t destination, uint32_t bytes, weft_time now)
{
	struct datagram_route chosen;

	if (!choose(nic, destination, bytes, now, &chosen)) {
		nic->unreachable++;
		return false;
	}
	nic->stream.frame.route = chosen.route;
	nic->stream.frame.route_length = chosen.length;
	nic->stream.path = chosen.which;
	return true;
}
