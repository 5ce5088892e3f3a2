/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks hosts. They must number their frames without gaps, forward frames that they absorb, and
 * acknowledge frames that arrived. */

#include "audit_private.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "wire/control.h"

#define PORT_TEXT (TOPOLOGY_NAME_MAX + 8)

static bool has_route(const struct route_set *set, const struct audit_frame *frame)
{
	uint16_t source = ntohs(frame->header.source_be);
	uint16_t destination = ntohs(frame->header.destination_be);

	for (unsigned i = 0, length = 0;; i++) {
		const uint8_t *route = route_set_get(set, source, destination, i, &length);

		if (route == NULL)
			return false;
		if (length == frame->header.route_length &&
			memcmp(route, frame->route, length) == 0)
			return true;
	}
}

#define OFFERED (1u << 16) /* set in audit_pair.offered if a flow was offered */

/* The first captured frames of a flow that started before the capture may be retransmissions of
 * earlier frames, at most a window of them. */
static bool is_new(const struct audit *audit, const struct audit_pair *pair, uint32_t sequence)
{
	return (int32_t)(sequence - pair->first) >= (int32_t)audit->rules.window;
}

/* Sequence numbers have no gaps, and a message ends before the next one starts. Messages in
 * different VCs may interleave. */
static void check_number(struct audit *audit, const struct audit_seen *seen,
	struct audit_pair *pair, uint32_t sequence, uint32_t message)
{
	const struct audit_rules *rules = &audit->rules;
	bool next = sequence == pair->sent + 1;
	char text[PORT_TEXT], frame[AUDIT_TEXT];

	if (next && seen->frame.header.vc == pair->vc)
		next = (int16_t)(message - pair->message) >= pair->ended &&
		       (!rules->whole || pair->ended || message == pair->message);
	if (!is_new(audit, pair, pair->sent + 1))
		return;
	pair->numbered = true;
	if (!next)
		audit_report(audit, AUDIT_MESSAGE, &seen->frame.seen,
			"%s: %s follows message %" PRIu32 ", sequence %" PRIu32,
			audit_port_name(audit, seen->at->way, text),
			audit_describe(&seen->frame, frame), pair->message, pair->sent);
}

/* Judges data that a host sends for the first time or resends. The upper half of a message number
 * is the flow; the lower half wraps. Resent frames have older sequence numbers. */
static void begin(struct audit *audit, struct audit_seen *seen)
{
	const struct frame_header *header = &seen->frame.header;
	uint16_t source = ntohs(header->source_be), destination = ntohs(header->destination_be);
	uint32_t sequence = ntohl(header->sequence_be), message = ntohl(header->message_be);
	struct audit_pair *pair = audit_pair_of(audit, source, destination);
	char text[PORT_TEXT], frame[AUDIT_TEXT];

	audit->offset[source] = (uint32_t)seen->at->time_ns - ntohl(header->injected_ns_be);
	audit->offset_known[source] = true;
	if (audit->rules.set != NULL && !has_route(audit->rules.set, &seen->frame))
		audit_report(audit, AUDIT_ROUTE, &seen->frame.seen,
			"%s: %s has a source route that is not in the route set",
			audit_port_name(audit, seen->at->way, text),
			audit_describe(&seen->frame, frame));
	if (pair == NULL)
		return;
	if (!pair->began || pair->message >> 16 != message >> 16) {
		pair->numbered |= audit->rules.exact || pair->began ||
				  pair->offered == (OFFERED | message >> 16);
		pair->first = sequence - (pair->numbered ? audit->rules.window : 0);
	} else if ((int32_t)(sequence - pair->sent) > 0) {
		check_number(audit, seen, pair, sequence, message);
	} else {
		return;
	}
	pair->began = true;
	pair->sent = sequence;
	pair->message = message;
	pair->ended = (header->flags & FRAME_F_TAIL) != 0;
	pair->vc = header->vc;
}

static void check_first_vc(struct audit *audit, const struct audit_seen *seen)
{
	const struct audit_rules *rules = &audit->rules;
	const struct frame_header *header = &seen->frame.header;
	bool adapted = rules->afi && (header->flags & FRAME_F_ADAPTED) != 0;
	uint8_t sl = header->sl & 15;
	char text[PORT_TEXT];

	if (!rules->vcs_known)
		return;
	if (rules->queuing != NULL)
		sl = queuing_sl(
			rules->queuing, ntohs(header->source_be), ntohs(header->destination_be));
	if (sl != header->sl || header->vc != (adapted ? rules->vcs - 1 : rules->sl_to_vc[sl]))
		audit_report(audit, AUDIT_VC, &seen->frame.seen,
			"%s: the service level is %u and the VC is %u, but they should be %u and "
			"%u",
			audit_port_name(audit, seen->at->way, text), header->sl, header->vc, sl,
			adapted ? rules->vcs - 1u : rules->sl_to_vc[sl]);
}

/* Checks a frame that an in-transit host absorbed and now forwards. */
static void reinject(struct audit *audit, struct audit_seen *seen)
{
	uint32_t found = audit_find(audit, seen->frame.identity, seen->port->device);
	char text[PORT_TEXT];

	if (found == AUDIT_NONE || audit->frame[found].waits) {
		audit_wait(audit, &seen->frame, seen->port->device);
		return;
	}
	audit_port_name(audit, seen->at->way, text);
	seen->frame.birth = audit->frame[found].birth;
	if (audit->frame[found].fixed != seen->frame.fixed)
		audit_report(audit, AUDIT_CHANGED, &seen->frame.seen,
			"%s: bytes that no host on the path may change differ from frame %" PRIu64,
			text, audit->frame[found].seen.number);
	if (seen->frame.header.cursor != audit->frame[found].header.cursor + 1)
		audit_report(audit, AUDIT_CURSOR, &seen->frame.seen,
			"%s: the cursor is %u, but should be %u", text, seen->frame.header.cursor,
			audit->frame[found].header.cursor + 1);
	audit_take(audit, found);
}

/* An acknowledgement contains the sequence number of the first frame that has not arrived. */
static void check_ack(struct audit *audit, const struct audit_seen *seen)
{
	struct control_ack ack;
	const struct audit_pair *pair;
	char text[PORT_TEXT];

	if (seen->payload_at + seen->payload_bytes > seen->at->captured_bytes ||
		!control_ack_decode(&ack, seen->bytes + seen->payload_at, seen->payload_bytes))
		return;
	pair = audit_pair_of(
		audit, ntohs(seen->frame.header.destination_be), (uint16_t)seen->port->at.device);
	if (pair == NULL || !pair->received || (int32_t)(ack.expected - pair->arrived) <= 1)
		return;
	audit_report(audit, AUDIT_ACKNOWLEDGED, &seen->frame.seen,
		"%s: acknowledges sequence %" PRIu32
		" of host %u, but the last one to arrive is %" PRIu32,
		audit_port_name(audit, seen->at->way, text), ack.expected - 1,
		ntohs(seen->frame.header.destination_be), pair->arrived);
}

void audit_host_out(struct audit *audit, struct audit_seen *seen)
{
	bool own = ntohs(seen->frame.header.source_be) == seen->port->at.device;

	seen->frame.birth = ++audit->births;
	if (seen->frame.class == AUDIT_DATA) {
		if (own)
			begin(audit, seen);
		else
			reinject(audit, seen);
		check_first_vc(audit, seen);
	} else if (seen->frame.header.kind == FRAME_ACK && own) {
		check_ack(audit, seen);
	}
}

static void deliver(struct audit *audit, struct audit_seen *seen)
{
	const struct frame_header *header = &seen->frame.header;
	uint32_t sequence = ntohl(header->sequence_be);
	struct audit_pair *pair;
	uint64_t *birth;
	char text[PORT_TEXT], frame[AUDIT_TEXT];

	audit->counts.delivered++;
	if (ntohs(header->destination_be) != seen->port->at.device)
		audit_report(audit, AUDIT_OUTPUT, &seen->frame.seen,
			"%s: %s arrives at the wrong host",
			audit_port_name(audit, seen->at->way, text),
			audit_describe(&seen->frame, frame));
	pair = audit_pair_of(audit, ntohs(header->source_be), ntohs(header->destination_be));
	if (pair == NULL)
		return;
	if (!pair->received || (int32_t)(sequence - pair->arrived) > 0)
		pair->arrived = sequence;
	pair->received |= pair->began && is_new(audit, pair, sequence);
	birth = &pair->birth[(header->flags & FRAME_F_ADAPTED) != 0];
	if (audit->rules.ordered && seen->frame.birth != 0) {
		if (seen->frame.birth < *birth)
			audit_report(audit, AUDIT_OVERTAKEN, &seen->frame.seen,
				"%s: %s arrives after a frame that was sent later",
				audit_port_name(audit, seen->at->way, text),
				audit_describe(&seen->frame, frame));
		*birth = seen->frame.birth;
	}
}

/* Records an offered flow: the pair's next flow starts within the capture. */
static void take_offer(struct audit *audit, const struct audit_seen *seen)
{
	struct audit_pair *pair = audit_pair_of(
		audit, (uint16_t)seen->port->at.device, ntohs(seen->frame.header.source_be));
	struct control_flow flow;

	if (pair != NULL && seen->payload_at + seen->payload_bytes <= seen->at->captured_bytes &&
		control_flow_decode(&flow, seen->bytes + seen->payload_at, seen->payload_bytes) &&
		flow.step == CONTROL_FLOW_OFFER)
		pair->offered = OFFERED | flow.offered;
}

void audit_host_in(struct audit *audit, struct audit_seen *seen)
{
	const struct audit_frame *frame = &seen->frame;
	bool transit = frame->header.cursor < frame->header.route_length &&
		       frame->route[frame->header.cursor] == ROUTE_TYPE_ITB;

	if (frame->class == AUDIT_DATA && !transit)
		deliver(audit, seen);
	if (frame->class == AUDIT_DATA)
		audit_release(audit, frame);
	if (transit)
		audit_keep(audit, frame, seen->port->device, NULL);
	else if (frame->header.kind == FRAME_FLOW)
		take_offer(audit, seen);
}
