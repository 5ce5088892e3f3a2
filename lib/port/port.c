/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_ring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wire/frame_check.h"

#define POOL_CACHE 256u

static void unmap(struct rte_mempool_memhdr *memory, void *bytes)
{
	munmap(memory->addr, (size_t)bytes);
}

static size_t stride(uint16_t room)
{
	return RTE_ALIGN_CEIL((size_t)room, RTE_CACHE_LINE_SIZE);
}

static void place_room(struct rte_mempool *pool, void *rooms, void *object, unsigned index)
{
	struct rte_mbuf *mbuf = object;

	rte_pktmbuf_init(pool, NULL, mbuf, index);
	mbuf->buf_addr = (uint8_t *)rooms + index * stride(mbuf->buf_len);
	rte_mbuf_iova_set(mbuf, (rte_iova_t)(uintptr_t)mbuf->buf_addr);
}

/* Without hugepages, the first access to each 4 KiB is a page fault, and a pool whose mbufs precede
 * their data costs one per mbuf when the process starts. Here all mbufs come first and all data
 * follow, so that data take memory only once a packet uses them. */
static struct rte_mempool *create_lazy(
	const char *name, unsigned count, unsigned cache, uint16_t room)
{
	struct rte_pktmbuf_pool_private own = {.mbuf_priv_size = sizeof(struct weft_packet)};
	struct rte_mempool *pool = rte_mempool_create_empty(name, count,
		sizeof(struct rte_mbuf) + sizeof(struct weft_packet), cache, sizeof(own),
		SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	size_t mbufs, bytes;
	uint8_t *memory;
	int result;

	if (pool == NULL)
		return NULL;
	mbufs = (size_t)count * (pool->header_size + pool->elt_size + pool->trailer_size);
	bytes = mbufs + count * stride(room);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	result = memory == MAP_FAILED
			 ? -ENOMEM
			 : rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	rte_pktmbuf_pool_init(pool, &own);
	if (result == 0)
		result = rte_mempool_populate_iova(pool, (char *)memory,
			(rte_iova_t)(uintptr_t)memory, mbufs, unmap, (void *)bytes);
	if (result < (int)count) {
		if (result <= 0 && memory != MAP_FAILED) /* the pool does not own it */
			munmap(memory, bytes);
		rte_mempool_free(pool);
		rte_errno = result < 0 ? -result : ENOMEM;
		return NULL;
	}
	((struct rte_pktmbuf_pool_private *)rte_mempool_get_priv(pool))->mbuf_data_room_size = room;
	rte_mempool_obj_iter(pool, place_room, memory + mbufs);
	return pool;
}

struct rte_mempool *port_pool_create(
	const char *name, unsigned count, unsigned frame_bytes, int socket, struct error *error)
{
	/* An lcore's cache must not hold all mbufs of a small pool. */
	unsigned cache = RTE_MIN(POOL_CACHE, count / 4);
	unsigned room = RTE_PKTMBUF_HEADROOM + frame_bytes;
	struct rte_mempool *pool;

	if (room > UINT16_MAX) {
		error_set(error, EINVAL, "%s: frames of %u bytes do not fit in an mbuf", name,
			frame_bytes);
		return NULL;
	}
	if (socket == PORT_POOL_LAZY && !rte_eal_has_hugepages())
		pool = create_lazy(name, count, cache, (uint16_t)room);
	else
		pool = rte_pktmbuf_pool_create(name, count, cache, sizeof(struct weft_packet),
			(uint16_t)room, RTE_MAX(socket, SOCKET_ID_ANY));
	if (pool == NULL && socket >= 0)
		pool = rte_pktmbuf_pool_create(name, count, cache, sizeof(struct weft_packet),
			(uint16_t)room, SOCKET_ID_ANY);
	if (pool == NULL)
		error_set(error, rte_errno,
			"%s: not enough memory for %u buffers of %u bytes (%u MiB): %s", name,
			count, room, (unsigned)(((uint64_t)count * (room + 256)) >> 20),
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
		"%s: its receive ring of %u slots allows %u blocks, but %u are needed for %u VCs "
		"and frames of %u B",
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

/* In-memory links: one ring per direction, timed by the sender. The transmitter sets a packet's
 * arrived_ps to the end of its transmission plus the link's delay, and the receiver does not see
 * the packet earlier. */

/* Creates a DPDK ring in ordinary memory, with one producer and one consumer, that holds exactly
 * 'slots' pointers. It needs neither EAL nor a memzone (EAL has 2,560, a fabric needs more). Free
 * it with free(). Returns NULL if out of memory, or if 'slots' is 0 or above 2^30. */
static struct rte_ring *spsc_ring_create(unsigned slots)
{
	/* The size of a DPDK ring is a power of two, and one slot always stays empty. */
	ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(slots + 1));
	struct rte_ring *ring =
		bytes < 0 ? NULL : aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)bytes);

	if (ring != NULL && rte_ring_init(ring, "spsc", slots,
				    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0) {
		free(ring);
		return NULL;
	}
	return ring;
}

/* One end, owned by the thread that serves the port. The SPSC rings 'rx' and 'tx' are shared. */
struct memory_end {
	struct rte_ring *rx, *tx;
	struct memory_link *link;
	/* Packets taken from the ring that are not due yet. Saves reading the shared indices. */
	uint16_t first, waiting;
	struct rte_mbuf *ahead[PORT_BURST];
} __rte_cache_aligned;

struct memory_link {
	struct memory_end end[2];
	atomic_uint open; /* number of open ends */
};

static bool refill(struct memory_end *end)
{
	end->first = 0;
	end->waiting =
		(uint16_t)rte_ring_sc_dequeue_burst(end->rx, (void **)end->ahead, PORT_BURST, NULL);
	return end->waiting > 0;
}

static uint16_t memory_rx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct memory_end *end = port->ctx;
	uint16_t n = 0;

	while (n < count && (end->waiting > 0 || refill(end))) {
		struct rte_mbuf *mbuf = end->ahead[end->first];

		if (mbuf_packet(mbuf)->arrived_ps > now)
			break;
		mbufs[n++] = mbuf;
		end->first++;
		end->waiting--;
	}
	if (port->late != NULL && n > 0)
		port_note_lateness(port, mbufs, n, now);
	return n;
}

static uint16_t memory_tx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct memory_end *end = port->ctx;

	return (uint16_t)rte_ring_sp_enqueue_burst(end->tx, (void **)mbufs, count, NULL);
}

/* Frames come from the same thread, or from a thread that wakes this one. */
static bool memory_sleep(struct port *port, int inotify, int *fd)
{
	const struct memory_end *end = port->ctx;

	return end->waiting == 0 && rte_ring_empty(end->rx);
}

static void memory_close(struct port *port)
{
	struct memory_end *end = port->ctx;
	struct memory_link *link = end->link;

	/* Only the last end to close frees the link. */
	if (atomic_fetch_sub(&link->open, 1) != 1)
		return;
	for (unsigned i = 0; i < 2; i++) {
		while (link->end[i].waiting > 0 || refill(&link->end[i])) {
			rte_pktmbuf_free(link->end[i].ahead[link->end[i].first++]);
			link->end[i].waiting--;
		}
		free(link->end[i].rx);
	}
	free(link);
}

static void port_fill(struct port *port, const char *name, struct memory_end *end, unsigned slots)
{
	*port = (struct port){
		.rx = memory_rx,
		.tx = memory_tx,
		.close = memory_close,
		.sleep = memory_sleep,
		.ctx = end,
		.stamped = true,
		.ethdev = RTE_MAX_ETHPORTS,
		.slots = slots,
	};
	snprintf(port->name, sizeof(port->name), "%s", name);
}

static struct memory_link *link_create(unsigned slots)
{
	struct memory_link *link = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*link));

	if (link == NULL)
		return NULL;
	memset(link, 0, sizeof(*link));
	link->end[0].rx = spsc_ring_create(slots);
	link->end[1].rx = spsc_ring_create(slots);
	if (link->end[0].rx == NULL || link->end[1].rx == NULL) {
		free(link->end[0].rx);
		free(link->end[1].rx);
		free(link);
		return NULL;
	}
	for (unsigned i = 0; i < 2; i++) {
		link->end[i].link = link;
		link->end[i].tx = link->end[1 - i].rx;
	}
	atomic_init(&link->open, 2);
	return link;
}

int port_open_memory_link(struct port *a, const char *name_a, struct port *b, const char *name_b,
	unsigned slots, struct error *error)
{
	struct memory_link *link;

	if (slots == 0 || (slots & (slots - 1)) != 0)
		return error_set(error, EINVAL,
			"%s: the link has %u slots, but their number "
			"must be a power of two",
			name_a, slots);
	link = link_create(slots);
	if (link == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for a link of %u slots",
			name_a, slots);
	port_fill(a, name_a, &link->end[0], slots);
	port_fill(b, name_b, &link->end[1], slots);
	return 0;
}
