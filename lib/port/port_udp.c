/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port_udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/quantity.h"
#include "port_ethdev.h"
#include "wire/big_endian.h"

#define HEADER_BYTES    8  /* sender's session, number of the datagram */
#define IP_HEADER_BYTES 28 /* IPv4 and UDP headers */
#define BUFFER_BYTES    (4 << 20)

/* Written by the port's thread. Other threads may read the counters. */
struct udp_ctx {
	int fd;
	struct rte_mempool *pool;
	struct rte_mbuf *spare[PORT_BURST]; /* mbufs for the next datagrams */
	unsigned spares;
	uint32_t life, sent; /* own session, number of the last datagram sent */
	struct udp_peer peer;
	uint64_t missed, errors, no_mbuf, refused;
};

static void count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

static bool is_in_order(struct udp_ctx *ctx, const uint8_t *header)
{
	uint32_t missing;

	switch (udp_peer_take(&ctx->peer, get32(header), get32(header + 4), &missing)) {
	case UDP_TAKEN:
		count(&ctx->missed, missing);
		return true;
	case UDP_FOREIGN:
		count(&ctx->errors, 1);
		return false;
	default:
		return false;
	}
}

/* The datagrams of one system call, each with a header and a frame. */
struct batch {
	struct mmsghdr message[PORT_BURST];
	struct iovec part[PORT_BURST][2];
	uint8_t header[PORT_BURST][HEADER_BYTES];
};

static void set_datagram(struct batch *batch, unsigned i, struct rte_mbuf *mbuf, size_t bytes)
{
	batch->part[i][0] = (struct iovec){batch->header[i], HEADER_BYTES};
	batch->part[i][1] = (struct iovec){rte_pktmbuf_mtod(mbuf, void *), bytes};
	batch->message[i].msg_hdr = (struct msghdr){.msg_iov = batch->part[i], .msg_iovlen = 2};
}

static bool fill_spares(struct udp_ctx *ctx)
{
	unsigned wanted = PORT_BURST - ctx->spares;

	if (wanted > 0 && rte_pktmbuf_alloc_bulk(ctx->pool, ctx->spare + ctx->spares, wanted) == 0)
		ctx->spares = PORT_BURST;
	if (ctx->spares == 0)
		count(&ctx->no_mbuf, 1);
	return ctx->spares > 0;
}

static uint16_t udp_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count_max, weft_time now)
{
	struct udp_ctx *ctx = port->ctx;
	struct batch batch;
	uint16_t kept = 0;
	unsigned left = 0;
	int found;

	if (!fill_spares(ctx))
		return 0;
	count_max = (uint16_t)RTE_MIN(count_max, ctx->spares);
	for (unsigned i = 0; i < count_max; i++)
		set_datagram(&batch, i, ctx->spare[i], rte_pktmbuf_tailroom(ctx->spare[i]));
	found = recvmmsg(ctx->fd, batch.message, count_max, MSG_DONTWAIT, NULL);
	for (int i = 0; i < found; i++) {
		struct rte_mbuf *mbuf = ctx->spare[i];
		unsigned bytes = batch.message[i].msg_len;

		if (bytes <= HEADER_BYTES || (batch.message[i].msg_hdr.msg_flags & MSG_TRUNC) != 0)
			count(&ctx->errors, 1);
		else if (is_in_order(ctx, batch.header[i])) {
			mbuf->data_len = (uint16_t)(bytes - HEADER_BYTES);
			mbuf->pkt_len = mbuf->data_len;
			mbufs[kept++] = mbuf;
			continue;
		}
		ctx->spare[left++] = mbuf;
	}
	if (found > 0) {
		memmove(ctx->spare + left, ctx->spare + found,
			(ctx->spares - (unsigned)found) * sizeof(ctx->spare[0]));
		ctx->spares -= kept;
	}
	return kept;
}

/* Returns the number of frames to drop when the kernel refuses the first one. If the far end has no
 * port, the error refers to an earlier frame. */
static unsigned skip_refused(struct udp_ctx *ctx)
{
	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		return 0;
	count(&ctx->refused, 1);
	return errno != ECONNREFUSED;
}

static uint16_t udp_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count_all, weft_time now)
{
	struct udp_ctx *ctx = port->ctx;
	struct batch batch;
	int sent;

	count_all = RTE_MIN(count_all, PORT_BURST);
	for (unsigned i = 0; i < count_all; i++) {
		if (port->ether.used)
			port_write_addresses(port, rte_pktmbuf_mtod(mbufs[i], uint8_t *));
		put32(put32(batch.header[i], ctx->life), ctx->sent + 1 + i);
		set_datagram(&batch, i, mbufs[i], rte_pktmbuf_data_len(mbufs[i]));
	}
	sent = sendmmsg(ctx->fd, batch.message, count_all, MSG_DONTWAIT);
	if (sent < 0)
		sent = (int)skip_refused(ctx);
	ctx->sent += (uint32_t)sent;
	rte_pktmbuf_free_bulk(mbufs, (unsigned)sent);
	return (uint16_t)sent;
}

static void udp_losses(const struct port *port, struct port_losses *losses)
{
	const struct udp_ctx *ctx = port->ctx;

	*losses = (struct port_losses){
		.rx_missed = __atomic_load_n(&ctx->missed, __ATOMIC_RELAXED),
		.rx_no_buffer = __atomic_load_n(&ctx->no_mbuf, __ATOMIC_RELAXED),
		.rx_errors = __atomic_load_n(&ctx->errors, __ATOMIC_RELAXED),
		.tx_errors = __atomic_load_n(&ctx->refused, __ATOMIC_RELAXED),
	};
}

static bool udp_sleep(struct port *port, int inotify, int *fd)
{
	const struct udp_ctx *ctx = port->ctx;

	*fd = ctx->fd;
	return true;
}

static void udp_close(struct port *port)
{
	struct udp_ctx *ctx = port->ctx;

	close(ctx->fd);
	rte_pktmbuf_free_bulk(ctx->spare, ctx->spares);
	free(ctx);
}

bool port_is_udp(const char *device)
{
	return strncmp(device, PORT_UDP_SCHEME, strlen(PORT_UDP_SCHEME)) == 0;
}

/* Parses an address such as "192.0.2.1:4000", which ends at 'end' or with the text. */
static bool parse_address(const char *text, char end, struct sockaddr_in *out)
{
	char copy[32], *colon;
	size_t length = strcspn(text, (const char[]){end, '\0'});
	uint64_t port;

	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	colon = strchr(copy, ':');
	if (length >= sizeof(copy) || colon == NULL ||
		!quantity_number(colon + 1, 1, UINT16_MAX, &port))
		return false;
	*colon = '\0';
	*out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return inet_pton(AF_INET, copy, &out->sin_addr) == 1;
}

/* Creates a bound and connected socket that never fragments: a lost fragment would lose the
 * datagram. */
static int open_socket(const struct sockaddr_in *local, const struct sockaddr_in *remote)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int whole = IP_PMTUDISC_DO, buffer = BUFFER_BYTES;
	int result;

	if (fd < 0)
		return -errno;
	/* The system may allow less. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof(whole)) == 0 &&
		bind(fd, (const struct sockaddr *)local, sizeof(*local)) == 0 &&
		connect(fd, (const struct sockaddr *)remote, sizeof(*remote)) == 0)
		return fd;
	result = -errno;
	close(fd);
	return result;
}

static int check_route(
	int fd, const char *name, const char *device, uint32_t frame_bytes, struct error *error)
{
	uint32_t min = frame_bytes + HEADER_BYTES + IP_HEADER_BYTES;
	socklen_t size = sizeof(int);
	int mtu = 0;

	if (getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &size) < 0 || (uint32_t)mtu >= min)
		return 0;
	return error_set(error, EMSGSIZE,
		"%s: %s: the path MTU is %d bytes, but %u are needed; reduce nic.mtu by %u "
		"bytes",
		name, device, mtu, min, min - (uint32_t)mtu);
}

/* Returns a nonzero number that is different in each run of the process. */
static uint32_t choose_life(void)
{
	uint32_t life = 0;

	while (life == 0)
		if (getrandom(&life, sizeof(life), 0) != sizeof(life))
			life = (uint32_t)getpid();
	return life;
}

int port_open_udp(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error)
{
	const char *text = device + strlen(PORT_UDP_SCHEME), *arrow = strchr(device, '>');
	struct sockaddr_in local, remote;
	struct udp_ctx *ctx;
	int fd, result;

	*port = (struct port){.ethdev = RTE_MAX_ETHPORTS};
	if (!port_is_udp(device) || arrow == NULL || !parse_address(text, '>', &local) ||
		!parse_address(arrow + 1, '\0', &remote))
		return error_set(error, EINVAL,
			"%s: %s: expected two addresses such as "
			"192.0.2.1:4000",
			name, device);
	fd = open_socket(&local, &remote);
	if (fd < 0)
		return error_set(error, -fd, "%s: %s: %s", name, device, strerror(-fd));
	result = check_route(fd, name, device, frame_bytes, error);
	ctx = result == 0 ? calloc(1, sizeof(*ctx)) : NULL;
	if (ctx == NULL) {
		close(fd);
		return result < 0 ? result : error_set(error, ENOMEM, "%s: out of memory", name);
	}
	*ctx = (struct udp_ctx){.fd = fd, .pool = pool, .life = choose_life()};
	*port = (struct port){.rx = udp_rx,
		.tx = udp_tx,
		.close = udp_close,
		.sleep = udp_sleep,
		.losses = udp_losses,
		.ctx = ctx,
		.ethdev = RTE_MAX_ETHPORTS};
	snprintf(port->name, sizeof(port->name), "%s", name);
	return 0;
}
