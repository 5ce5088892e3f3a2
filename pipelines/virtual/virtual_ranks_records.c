/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_ranks.h"

#include <string.h>

/* A packet, without pointers. Its latency extension follows, where packets have them. */
struct sent_packet {
	struct weft_packet packet;
	weft_time at, injected_ps, generated_ps;
	uint32_t order;
	uint16_t payload_bytes;
	uint8_t path;
	uint8_t route; /* which of the pair's */
	uint8_t kind;  /* enum virtual_crossing */
};

/* A credit frame, a notification, or a schedule's message that was accepted. Of a credit frame the
 * limits of its VCs follow: what the sender has sent the receiver knows, for nothing is lost
 * (virtual_open_credit()). Only a capture shows that too, and it follows then. Of a notification of
 * congestion its struct virtual_answer follows. */
struct sent_control {
	weft_time at;
	uint32_t order;
	uint32_t channel; /* that sent it */
	uint8_t kind;     /* enum virtual_crossing_control_kind */
	uint8_t reserved[7];
	union {
		struct control_arn arn;
		uint32_t op;
	};
};

static uint8_t which_route(const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	const struct route_set *routes = fabric->routes.set;
	unsigned length, which = 0;

	if (packet->route == NULL)
		return 0;
	while (which < ROUTE_ALTERNATIVES_MAX - 1 &&
		route_set_get(routes, packet->source, packet->destination, which, &length) !=
			packet->route)
		which++;
	return (uint8_t)which;
}

static size_t extension_bytes(const struct virtual_fabric *fabric)
{
	return fabric->extension != NULL ? sizeof(*fabric->extension) : 0;
}

uint8_t *virtual_record_put_packet(const struct virtual_fabric *fabric, uint8_t *out,
	const struct virtual_crossing_packet *crossing, const struct latency_extension *extension)
{
	struct sent_packet sent = {.packet = crossing->packet,
		.at = crossing->at,
		.injected_ps = crossing->origin.injected_ps,
		.generated_ps = crossing->origin.generated_ps,
		.order = crossing->order,
		.payload_bytes = crossing->origin.payload_bytes,
		.path = crossing->origin.path,
		.route = which_route(fabric, &crossing->packet),
		.kind = (uint8_t)crossing->kind};

	memcpy(out, &sent, sizeof(sent));
	if (extension != NULL)
		memcpy(out + sizeof(sent), extension, sizeof(*extension));
	return out + sizeof(sent) + extension_bytes(fabric);
}

static uint8_t *put_bytes(uint8_t *out, const void *from, size_t bytes)
{
	memcpy(out, from, bytes);
	return out + bytes;
}

static bool is_captured(const struct virtual_fabric *fabric)
{
	return fabric->parts->each_round != NULL || fabric->parts->append != NULL;
}

/* The most that is behind a struct sent_control. */
#define REST_MAX (sizeof(struct virtual_answer) + FRAME_VCS_MAX * sizeof(struct virtual_credit))

size_t virtual_record_room(const struct virtual_fabric *fabric, size_t packets, size_t controls)
{
	return packets * (sizeof(struct sent_packet) + extension_bytes(fabric)) +
	       controls * (sizeof(struct sent_control) + REST_MAX);
}

static uint8_t *put_rest(const struct virtual_fabric *fabric, uint8_t *out,
	const struct virtual_crossing_control *crossing)
{
	const struct virtual_credit *credit = crossing->credit;

	if (crossing->kind == VIRTUAL_CROSSING_ANSWER)
		return put_bytes(out, &crossing->answer, sizeof(crossing->answer));
	if (crossing->kind != VIRTUAL_CROSSING_CREDIT)
		return out;
	if (is_captured(fabric))
		return put_bytes(out, credit, fabric->vcs * sizeof(*credit));
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		out = put_bytes(out, &credit[vc].limit, sizeof(credit[vc].limit));
	return out;
}

uint8_t *virtual_record_put_control(const struct virtual_fabric *fabric, uint8_t *out,
	const struct virtual_crossing_control *crossing)
{
	struct sent_control sent = {
		.at = crossing->at, .order = crossing->order, .kind = (uint8_t)crossing->kind};

	if (crossing->channel != NULL)
		sent.channel = (uint32_t)(crossing->channel - fabric->channel);
	if (crossing->kind == VIRTUAL_CROSSING_ARN)
		sent.arn = crossing->arn;
	if (crossing->kind == VIRTUAL_CROSSING_ACCEPT)
		sent.op = crossing->op;
	return put_rest(fabric, put_bytes(out, &sent, sizeof(sent)), crossing);
}

bool virtual_record_take_packet(struct virtual_fabric *fabric, struct ranks_reader *reader)
{
	const uint8_t *bytes =
		ranks_take(reader, sizeof(struct sent_packet) + extension_bytes(fabric));
	struct virtual_crossing_packet crossing;
	struct latency_extension extension;
	struct sent_packet sent;
	unsigned length;

	if (bytes == NULL)
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	memcpy(&extension, bytes + sizeof(sent), extension_bytes(fabric));
	crossing = (struct virtual_crossing_packet){.packet = sent.packet,
		.origin = {.injected_ps = sent.injected_ps,
			.generated_ps = sent.generated_ps,
			.payload_bytes = sent.payload_bytes,
			.path = sent.path},
		.at = sent.at,
		.order = sent.order,
		.kind = (enum virtual_crossing)sent.kind};
	if (sent.packet.route != NULL)
		crossing.packet.route = route_set_get(fabric->routes.set, sent.packet.source,
			sent.packet.destination, sent.route, &length);
	virtual_cross_take_packet(fabric, &crossing, fabric->extension != NULL ? &extension : NULL);
	return true;
}

static bool get_bytes(struct ranks_reader *reader, void *to, size_t bytes)
{
	const void *from = ranks_take(reader, bytes);

	if (from != NULL)
		memcpy(to, from, bytes);
	return from != NULL;
}

static bool take_credit(const struct virtual_fabric *fabric, struct virtual_credit *credit,
	struct ranks_reader *reader)
{
	bool whole = true;

	if (is_captured(fabric))
		return get_bytes(reader, credit, fabric->vcs * sizeof(*credit));
	for (unsigned vc = 0; vc < fabric->vcs && whole; vc++)
		whole = get_bytes(reader, &credit[vc].limit, sizeof(credit[vc].limit));
	return whole;
}

static bool take_rest(const struct virtual_fabric *fabric,
	struct virtual_crossing_control *crossing, const struct sent_control *sent,
	struct ranks_reader *reader)
{
	switch (crossing->kind) {
	case VIRTUAL_CROSSING_CREDIT:
		return take_credit(fabric, crossing->credit, reader);
	case VIRTUAL_CROSSING_ARN:
		crossing->arn = sent->arn;
		return true;
	case VIRTUAL_CROSSING_ANSWER:
		return get_bytes(reader, &crossing->answer, sizeof(crossing->answer));
	case VIRTUAL_CROSSING_ACCEPT:
		crossing->op = sent->op;
		return true;
	}
	return false;
}

bool virtual_record_take_control(struct virtual_fabric *fabric, struct ranks_reader *reader)
{
	const void *bytes = ranks_take(reader, sizeof(struct sent_control));
	struct virtual_crossing_control crossing = {0};
	struct sent_control sent;

	if (bytes == NULL)
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	crossing.at = sent.at;
	crossing.order = sent.order;
	crossing.channel = &fabric->channel[sent.channel];
	crossing.kind = (enum virtual_crossing_control_kind)sent.kind;
	if (!take_rest(fabric, &crossing, &sent, reader))
		return false;
	virtual_cross_take_control(fabric, &crossing);
	return true;
}
