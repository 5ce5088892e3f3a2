/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port.h"

#include <errno.h>
#include <rte_errno.h>

#include "wire/frame_check.h"

#define POOL_CACHE 256u

struct rte_mempool *port_pool_create(
	const char *name, unsigned count, unsigned frame_bytes, int socket, struct error *error)
{
	/* An lcore's cache must not hold all of a small pool. */
	unsigned cache = RTE_MIN(POOL_CACHE, count / 4);
	unsigned room = RTE_PKTMBUF_HEADROOM + frame_bytes;
	struct rte_mempool *pool;

	if (room > UINT16_MAX) {
		error_set(error, EINVAL, "%s: frames of %u bytes do not fit in an mbuf", name,
			frame_bytes);
		return NULL;
	}
	pool = rte_pktmbuf_pool_create(
		name, count, cache, sizeof(struct weft_packet), (uint16_t)room, socket);
	if (pool == NULL && socket != SOCKET_ID_ANY)
		pool = rte_pktmbuf_pool_create(name, count, cache, sizeof(struct weft_packet),
			(uint16_t)room, SOCKET_ID_ANY);
	if (pool == NULL)
		error_set(error, rte_errno, "%s: no memory for %u buffers of %u bytes (%u MiB): %s",
			name, count, room, (unsigned)(((uint64_t)count * (room + 256)) >> 20),
			rte_strerror(rte_errno));
	return pool;
}

int port_check_room(
	const struct port *port, unsigned vcs, unsigned frame_bytes, struct error *error)
{
	uint32_t needed = frame_blocks(frame_bytes) * vcs;

	if (port->slots == 0 || port->slots >= needed)
		return 0;
	return error_set(error, EINVAL,
		"%s: its receive ring of %u slots can promise %u blocks, expected %u for %u VCs and "
		"frames of %u B",
		port->name, port->slots, port->slots, needed, vcs, frame_bytes);
}

void port_lose(struct port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		if (frame_check(frame, rte_pktmbuf_data_len(mbufs[i])) != FRAME_FAULT_OK)
			continue;
		port->cut_lost += frame_header_const(frame)->kind == FRAME_DATA;
		port->cut_credits_lost += frame_header_const(frame)->kind == FRAME_CREDIT;
	}
	rte_pktmbuf_free_bulk(mbufs, count);
}

void port_note_lateness(
	struct port *port, struct rte_mbuf *const *mbufs, unsigned count, weft_time now)
{
	uint64_t ns[PORT_BURST];
	unsigned noted = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		if (frame_link_local(frame_header_const(frame)->kind))
			continue;
		ns[noted++] = (now - mbuf_packet(mbufs[i])->arrived_ps) / PS_PER_NS;
		if (noted == PORT_BURST) {
			lateness_note(port->late, ns, noted);
			noted = 0;
		}
	}
	lateness_note(port->late, ns, noted);
}

void port_set_address(struct port *port, const uint8_t from[6])
{
	struct port_ether *ether = &port->ether;
	const uint8_t whole[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

	memcpy(ether->out.from, from, sizeof(ether->out.from));
	memcpy(&ether->own, from, sizeof(ether->out.from));
	memcpy(&ether->mask, whole, sizeof(whole));
	ether->used = true;
	if (ether->rx == NULL)
		return;
	port->rx = ether->rx;
	port->tx = ether->tx;
}

void port_close(struct port *port)
{
	if (port->close != NULL)
		port->close(port);
	port->close = NULL;
	port->ctx = NULL;
}
