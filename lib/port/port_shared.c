/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port_ethdev.h"
#include "shared_ring.h"
#include "wire/frame.h"
#include "wire/frame_check.h"

/* Small enough for a process's rings to stay in the cache. PORT_SHARED_SLOTS short frames take 160
 * KiB. */
#define RING_BYTES  (256u << 10)
#define BLOCK_BYTES (FRAME_BLOCK_BYTES + SHARED_RING_HEAD + SHARED_RING_ALIGN)
_Static_assert(RING_BYTES / 4 * 3 >= PORT_SHARED_SLOTS * BLOCK_BYTES,
	"a quarter of the ring is for control frames");
/* Frames that a ring must hold, even if they are so long that a full burst would not fit. */
#define LONGEST_IN_RING 16u

static const char scheme[] = "shared:";

struct shared_ctx {
	struct shared_ring_tx tx; /* used by the port's thread, as is 'rx' */
	struct shared_ring_rx rx;
	struct rte_mempool *pool;
	uint64_t no_mbuf; /* number of times that frames began to wait for mbufs; atomic */
	bool starved;
	struct shared_file file;
};

static __attribute__((noinline, cold)) void note_starved(struct shared_ctx *ctx)
{
	if (!ctx->starved)
		__atomic_store_n(&ctx->no_mbuf, ctx->no_mbuf + 1, __ATOMIC_RELAXED);
	ctx->starved = true;
}

/* Ignore times further from now than loops can differ: a faulty neighbour may write any value. */
#define AHEAD_MAX_PS  PS_PER_S
#define BEHIND_MAX_PS (10 * PS_PER_S)

static bool has_due(const struct shared_ring_record *record, weft_time now)
{
	return record->due != 0 && record->due <= now + AHEAD_MAX_PS &&
	       record->due + BEHIND_MAX_PS >= now;
}

/* Returns the number of leading records that are due by 'now'. */
static uint16_t count_due(const struct shared_ring_record *record, uint16_t found, weft_time now)
{
	uint16_t due = 0;

	while (due < found && (record[due].due <= now || !has_due(&record[due], now)))
		due++;
	return due;
}

/* Untimed frames are due now. Their lateness is unknown. */
static void stamp(struct port *port, struct rte_mbuf **mbufs,
	const struct shared_ring_record *record, uint16_t count, weft_time now)
{
	struct rte_mbuf *timed[PORT_BURST];
	unsigned timed_count = 0;

	for (uint16_t i = 0; i < count; i++) {
		bool due = has_due(&record[i], now);

		mbuf_packet(mbufs[i])->arrived_ps = due ? record[i].due : now;
		if (due)
			timed[timed_count++] = mbufs[i];
	}
	if (timed_count > 0 && port->late != NULL)
		port_note_lateness(port, timed, timed_count, now);
}

static uint16_t shared_rx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct shared_ctx *ctx = port->ctx;
	struct shared_ring_record record[PORT_BURST];
	uint16_t found = shared_ring_peek(&ctx->rx, record, RTE_MIN(count, PORT_BURST));

	found = count_due(record, found, now);
	if (found == 0)
		return 0;
	/* Even one frame helps: it may be a credit frame, which allows mbufs to be freed. */
	while (unlikely(rte_pktmbuf_alloc_bulk(ctx->pool, mbufs, found) != 0)) {
		if (found == 1) {
			note_starved(ctx);
			return 0;
		}
		found /= 2;
	}
	ctx->starved = false;
	for (uint16_t i = 0; i < found; i++) {
		memcpy(rte_pktmbuf_mtod(mbufs[i], void *), record[i].frame, record[i].length);
		mbufs[i]->data_len = (uint16_t)record[i].length;
		mbufs[i]->pkt_len = record[i].length;
	}
	shared_ring_release(&ctx->rx, record[found - 1].next);
	stamp(port, mbufs, record, found, now);
	return found;
}

/* Notifies the reader unless there are only credits and hellos, which can wait: a reader without
 * data takes them when it sends its own hellos. */
static __attribute__((noinline, cold)) void notify(
	const struct shared_ctx *ctx, struct rte_mbuf *const *mbufs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		if (!frame_link_local(frame_header_const(frame)->kind)) {
			shared_file_notify(&ctx->file);
			return;
		}
	}
}

static uint16_t shared_tx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct shared_ctx *ctx = port->ctx;
	bool timed = __atomic_load_n(&port->timed, __ATOMIC_RELAXED);
	uint16_t sent = 0;

	for (; sent < count; sent++) {
		uint32_t length = rte_pktmbuf_data_len(mbufs[sent]);
		weft_time due = timed ? mbuf_packet(mbufs[sent])->arrived_ps : 0;
		uint8_t *room = shared_ring_reserve(&ctx->tx, length, due);

		if (room == NULL)
			break;
		memcpy(room, rte_pktmbuf_mtod(mbufs[sent], void *), length);
	}
	if (sent == 0)
		return 0;
	shared_ring_flush(&ctx->tx);
	if (unlikely(shared_ring_reader_sleeps(&ctx->tx)))
		notify(ctx, mbufs, sent);
	rte_pktmbuf_free_bulk(mbufs, sent);
	return sent;
}

static bool shared_sleep(struct port *port, int inotify, int *fd)
{
	struct shared_ctx *ctx = port->ctx;

	if (port->rx != shared_rx)
		return true;
	if (inotify >= 0)
		return shared_file_watch(&ctx->file, inotify) == 0 && shared_ring_sleep(&ctx->rx);
	shared_ring_wake(&ctx->rx);
	return true;
}

/* No cable is plugged in: nothing arrives, and everything sent is lost. */
static uint16_t unplugged_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	return 0;
}

static uint16_t unplugged_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

static void shared_losses(const struct port *port, struct port_losses *losses)
{
	const struct shared_ctx *ctx = port->ctx;

	*losses = (struct port_losses){
		.rx_no_buffer = __atomic_load_n(&ctx->no_mbuf, __ATOMIC_RELAXED),
		.rx_errors = __atomic_load_n(&ctx->rx.damaged, __ATOMIC_RELAXED),
	};
}

static void unplug(struct port *port)
{
	struct shared_ctx *ctx = port->ctx;

	if (port->rx == shared_rx)
		shared_file_close(&ctx->file);
	port->rx = unplugged_rx;
	port->tx = unplugged_tx;
}

static void shared_close(struct port *port)
{
	unplug(port);
	free(port->ctx);
}

bool port_is_shared(const char *device)
{
	return strncmp(device, scheme, strlen(scheme)) == 0;
}

/* Splits "shared:PATH:END" into its parts. */
static int parse(const char *name, const char *device, char path[PATH_MAX], unsigned *end,
	struct error *error)
{
	const char *at = device + strlen(scheme), *last = strrchr(at, ':');

	if (!port_is_shared(device) || last == NULL || last == at || last - at >= PATH_MAX ||
		(strcmp(last, ":0") != 0 && strcmp(last, ":1") != 0))
		return error_set(error, EINVAL, "%s: %s: expected %sPATH:0 or %sPATH:1", name,
			device, scheme, scheme);
	snprintf(path, PATH_MAX, "%.*s", (int)(last - at), at);
	*end = (unsigned)(last[1] - '0');
	return 0;
}

static int check_pool(
	const char *name, struct rte_mempool *pool, uint32_t frame_bytes, struct error *error)
{
	unsigned room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;

	if (room >= frame_bytes)
		return 0;
	return error_set(error, EINVAL, "%s: pool %s holds %u bytes, but %u are needed", name,
		pool->name, room, frame_bytes);
}

static uint64_t ring_bytes_of(uint32_t frame_bytes)
{
	return rte_align64pow2(
		RTE_MAX((uint64_t)RING_BYTES, LONGEST_IN_RING * (uint64_t)frame_bytes));
}

/* The port's context remains until the port is closed, because any thread may read its losses. */
static int become_shared(struct port *port, struct rte_mempool *pool, struct error *error)
{
	struct shared_ctx *ctx = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*ctx), RTE_CACHE_LINE_SIZE));

	if (ctx == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", port->name);
	*ctx = (struct shared_ctx){.pool = pool};
	port_close(port);
	port->rx = unplugged_rx;
	port->tx = unplugged_tx;
	port->close = shared_close;
	port->sleep = shared_sleep;
	port->ctx = ctx;
	port->stamped = true;
	__atomic_store_n(&port->losses, shared_losses, __ATOMIC_RELEASE);
	return 0;
}

int port_plug_shared(struct port *port, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error)
{
	struct shared_ctx *ctx;
	struct error cause = {""};
	char path[PATH_MAX];
	unsigned end = 0;
	int result = parse(port->name, device, path, &end, error);

	if (result == 0 && port->close != shared_close)
		result = become_shared(port, pool, error);
	if (result < 0)
		return result;
	ctx = port->ctx;
	unplug(port);
	result = shared_file_open(&ctx->file, path, end, ring_bytes_of(frame_bytes), &cause);
	if (result < 0)
		return error_set(error, -result, "%s: %s", port->name, cause.text);
	shared_ring_tx_init(&ctx->tx, &ctx->file.tx);
	shared_ring_rx_init(&ctx->rx, &ctx->file.rx, frame_bytes);
	port->rx = shared_rx;
	port->tx = shared_tx;
	return 0;
}

int port_open_shared(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error)
{
	int result = check_pool(name, pool, frame_bytes, error);

	*port = (struct port){.ethdev = RTE_MAX_ETHPORTS, .slots = PORT_SHARED_SLOTS};
	snprintf(port->name, sizeof(port->name), "%s", name);
	if (result == 0)
		result = become_shared(port, pool, error);
	if (result == 0 && device != NULL)
		result = port_plug_shared(port, device, frame_bytes, pool, error);
	if (result < 0)
		port_close(port);
	return result;
}
