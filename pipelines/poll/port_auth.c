/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port_auth.h"

#include <arpa/inet.h>

#include "wire/control.h"

void port_auth_init(struct port_auth *guard, struct port *port, uint16_t fabric,
	const struct link_key *key, struct link_end *end)
{
	uint8_t own[6];

	*guard = (struct port_auth){
		.port = port, .identity = frame_identity_of(fabric), .fabric = fabric};
	if (key != NULL)
		link_seal_init(&guard->seal, key, end);
	frame_port_address(end->config.device, end->config.port, fabric, own);
	if (!end->config.open)
		port_set_address(port, own);
	port_auth_follow(guard, end);
}

void port_auth_expect(
	struct port_auth *guard, const struct port_auth_plan *plan, const struct link_end *end)
{
	guard->plan = *plan;
	port_auth_follow(guard, end);
}

static bool is_at(uint64_t device, uint8_t port, const struct control_hello *hello)
{
	return hello->device == device && hello->port == port;
}

static bool admits_hello(
	struct port_auth *guard, const struct link_end *end, const struct control_hello *hello)
{
	bool planned =
		guard->plan.device != 0 && is_at(guard->plan.device, guard->plan.port, hello);
	bool bound = guard->plan.device != 0 && guard->plan.binding;

	if (bound)
		guard->misplaced = planned ? 0 : hello->device << 8 | hello->port;
	if (is_at(end->config.device, end->config.port, hello))
		return false;
	if (planned || bound)
		return planned;
	return end->state != LINK_UP || is_at(end->peer_device, end->peer_port, hello);
}

bool port_auth_admits(struct port_auth *guard, const struct link_end *end, const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);
	struct control_hello hello;

	/* A point-to-point link has no other stations. */
	if (guard->port->ether.rx == NULL || end->config.open)
		return true;
	if (header->kind != FRAME_HELLO)
		return memcmp(frame + 6, guard->port->ether.out.to, 6) == 0;
	/* Accepted here, because the link's end refuses payloads that are not hellos. */
	return !control_hello_decode(&hello, frame + frame_payload_offset(header),
		       ntohs(header->payload_bytes_be)) ||
	       admits_hello(guard, end, &hello);
}

/* The address is derived from the hello's payload, which a seal covers, not from the frame's source
 * address. */
void port_auth_follow(struct port_auth *guard, const struct link_end *end)
{
	bool planned = guard->plan.device == 0 || (end->peer_device == guard->plan.device &&
							  end->peer_port == guard->plan.port);
	uint8_t to[6];

	/* On a point-to-point link the address is used only in captures. */
	if (guard->port->ether.rx == NULL && guard->plan.device != 0)
		frame_port_address(guard->plan.device, guard->plan.port, guard->fabric, to);
	else if (end->state == LINK_UP && !end->config.open)
		frame_port_address(end->peer_device, end->peer_port, guard->fabric, to);
	else
		frame_group_address(guard->fabric, to);
	port_set_peer(guard->port, to, !planned);
}

enum frame_fault port_auth_find_fault(struct port_auth *guard, const uint8_t *frame, uint32_t bytes)
{
	enum frame_fault fault = frame_find_fault_in(frame, bytes, guard->fabric);

	if (fault == FRAME_FAULT_FABRIC && frame_header_const(frame)->kind == FRAME_HELLO)
		guard->foreign_fabric = PORT_AUTH_FOREIGN | frame_fabric(frame);
	else if (fault == FRAME_FAULT_OK && frame_header_const(frame)->kind == FRAME_HELLO) {
		guard->foreign_fabric = 0;
		if (bytes >= PORT_AUTH_PADDED) {
			guard->full_received++;
			if (frame[bytes - 1] == PORT_AUTH_FULL_ASK)
				guard->full_due = PORT_AUTH_FULL_REPLY;
		}
	}
	return fault;
}

struct rte_mbuf *port_auth_pad(struct port_auth *guard, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	unsigned bytes = rte_pktmbuf_data_len(mbuf), all = guard->plan.full_bytes;
	struct rte_mbuf *full;
	uint8_t *longer;

	if (frame_header_const(frame)->kind != FRAME_HELLO || guard->plan.full_pool == NULL)
		return mbuf;
	if (guard->full_rest > 0) {
		guard->full_rest--;
		return mbuf;
	}
	full = rte_pktmbuf_alloc(guard->plan.full_pool);
	if (full == NULL)
		return mbuf;
	longer = (uint8_t *)rte_pktmbuf_append(full, (uint16_t)all);
	if (longer == NULL) {
		rte_pktmbuf_free(full);
		return mbuf;
	}
	memcpy(longer, frame, bytes);
	memset(longer + bytes, 0, all - bytes);
	longer[all - 1] = guard->full_due;
	*mbuf_packet(full) = *mbuf_packet(mbuf);
	rte_pktmbuf_free(mbuf);
	guard->full_sent++;
	guard->full_due = PORT_AUTH_FULL_NONE;
	guard->full_rest = LINK_HELLOS_MISSED - 1;
	return full;
}

static void set_length(struct rte_mbuf *mbuf, unsigned bytes)
{
	rte_pktmbuf_data_len(mbuf) = rte_pktmbuf_pkt_len(mbuf) = (uint16_t)bytes;
}

bool port_auth_open(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	unsigned bytes;

	if (guard->seal.key == NULL || !link_seal_covers(frame_header_const(frame)->kind))
		return true;
	bytes = link_seal_open(&guard->seal, end, frame, rte_pktmbuf_data_len(mbuf));
	if (bytes == 0)
		return false;
	set_length(mbuf, bytes);
	return true;
}

bool port_auth_seal(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	unsigned room = rte_pktmbuf_data_len(mbuf) + rte_pktmbuf_tailroom(mbuf);
	unsigned bytes;

	if (!link_seal_covers(frame_header_const(frame)->kind))
		return true;
	bytes = link_seal_close(&guard->seal, end, frame, room);
	if (bytes == 0)
		return false;
	set_length(mbuf, bytes);
	return true;
}
