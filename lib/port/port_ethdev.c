/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port_ethdev.h"

#include <stdlib.h>
#include <string.h>

#include "ethdev_private.h"
#include "wire/frame.h"

/* Interval at which sent mbufs are reclaimed, if the driver supports it. */
#define IDLE_PS (1 * PS_PER_MS)

/* Merges the segments of a frame into one, or drops the frame. */
static bool linearise(struct port *port, struct rte_mbuf *mbuf)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (rte_pktmbuf_linearize(mbuf) == 0)
		return true;
	__atomic_store_n(&ctx->rx_segmented, ctx->rx_segmented + 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(mbuf);
	return false;
}

static __attribute__((noinline)) uint16_t keep_linear(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++)
		if (likely(mbufs[i]->nb_segs == 1) || linearise(port, mbufs[i]))
			mbufs[kept++] = mbufs[i];
	return kept;
}

/* Any driver may chain mbufs, even if scattering was not requested. */
static uint16_t ethdev_rx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	uint16_t received = rte_eth_rx_burst(port->ethdev, 0, mbufs, count);
	unsigned segments = 1;

	for (uint16_t i = 0; i < received; i++)
		segments |= mbufs[i]->nb_segs;
	return likely(segments == 1) ? received : keep_linear(port, mbufs, received);
}

/* For a ring, whose mbufs come from another port of Weft. */
static uint16_t ethdev_rx_linear(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	return rte_eth_rx_burst(port->ethdev, 0, mbufs, count);
}

static uint16_t ethdev_tx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	return rte_eth_tx_burst(port->ethdev, 0, mbufs, count);
}

/* --- ports with other stations: addresses and tags --- */

#define TAG_BYTES     4
#define VLAN_ID(tci)  ((tci)&0xFFF)
#define ADDRESS_BYTES (2 * RTE_ETHER_ADDR_LEN)

/* Inserts the port's tag after the addresses, in the headroom left by Weft's pools and drivers. */
static void tag(const struct port *port, struct rte_mbuf *mbuf)
{
	const rte_be32_t bytes =
		rte_cpu_to_be_32((uint32_t)RTE_ETHER_TYPE_VLAN << 16 | port->ether.vlan);
	char *frame;

	mbuf->data_off -= TAG_BYTES;
	mbuf->data_len += TAG_BYTES;
	mbuf->pkt_len += TAG_BYTES;
	frame = rte_pktmbuf_mtod(mbuf, char *);
	memmove(frame, frame + TAG_BYTES, ADDRESS_BYTES);
	memcpy(frame + ADDRESS_BYTES, &bytes, sizeof(bytes));
}

static void remove_tag(struct rte_mbuf *mbuf)
{
	char *frame = rte_pktmbuf_mtod(mbuf, char *);

	memmove(frame + TAG_BYTES, frame, ADDRESS_BYTES);
	rte_pktmbuf_adj(mbuf, TAG_BYTES);
}

/* Returns whether the frame has the port's VLAN; removes its tag. A priority tag is not a VLAN. */
static bool take_tag(const struct port *port, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	unsigned tci = 0;

	if (mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) {
		tci = mbuf->vlan_tci;
	} else if (rte_pktmbuf_data_len(mbuf) > ADDRESS_BYTES + TAG_BYTES &&
		   (frame[12] << 8 | frame[13]) == RTE_ETHER_TYPE_VLAN) {
		tci = (unsigned)frame[14] << 8 | frame[15];
		remove_tag(mbuf);
	}
	return VLAN_ID(tci) == port->ether.vlan;
}

static uint64_t other_address(const struct port *port, struct rte_mbuf *mbuf)
{
	uint64_t word;

	memcpy(&word, rte_pktmbuf_mtod(mbuf, const uint8_t *), sizeof(word));
	return (word ^ port->ether.own) & port->ether.mask;
}

/* Returns nonzero for a VLAN tag, or for a frame that is not from Weft. */
static unsigned other_type(struct rte_mbuf *mbuf)
{
	rte_be16_t type;

	memcpy(&type, rte_pktmbuf_mtod(mbuf, const uint8_t *) + ADDRESS_BYTES, sizeof(type));
	return type ^ RTE_BE16(FRAME_ETHERTYPE);
}

static bool is_ours(struct port *port, struct rte_mbuf *mbuf)
{
	if (other_address(port, mbuf) == 0 || (*rte_pktmbuf_mtod(mbuf, const uint8_t *) & 1) != 0)
		return take_tag(port, mbuf);
	return false;
}

static __attribute__((noinline)) uint16_t keep_ours(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (mbufs[i]->nb_segs > 1 && !linearise(port, mbufs[i]))
			continue;
		if (is_ours(port, mbufs[i]))
			mbufs[kept++] = mbufs[i];
		else
			rte_pktmbuf_free(mbufs[i]);
	}
	return kept;
}

/* Filters addresses, because a bridge floods frames for stations that it does not know. */
static uint16_t ethernet_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	uint16_t received = rte_eth_rx_burst(port->ethdev, 0, mbufs, count);
	uint64_t odd = port->ether.vlan;

	for (uint16_t i = 0; i < received; i++)
		odd |= other_address(port, mbufs[i]) | other_type(mbufs[i]) |
		       (mbufs[i]->nb_segs ^ 1u);
	return likely(odd == 0) ? received : keep_ours(port, mbufs, received);
}

static uint16_t send_tagged(struct port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t sent;

	for (uint16_t i = 0; i < count; i++)
		tag(port, mbufs[i]);
	sent = rte_eth_tx_burst(port->ethdev, 0, mbufs, count);
	for (uint16_t i = sent; i < count; i++)
		remove_tag(mbufs[i]);
	return sent;
}

static uint16_t ethernet_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	for (uint16_t i = 0; i < count; i++)
		port_write_addresses(port, rte_pktmbuf_mtod(mbufs[i], uint8_t *));
	if (unlikely(port->ether.vlan != 0))
		return send_tagged(port, mbufs, count);
	return rte_eth_tx_burst(port->ethdev, 0, mbufs, count);
}

static void ethdev_idle(struct port *port, weft_time now)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (now < ctx->idle_due)
		return;
	ctx->idle_due = now + IDLE_PS;
	rte_eth_tx_done_cleanup(port->ethdev, 0, 0);
}

static void ethdev_close(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;
	struct log_capture log;

	log_capture_begin(&log);
	ethdev_forget(port);
	if (ctx->running)
		rte_eth_dev_stop(port->ethdev);
	rte_eth_dev_close(port->ethdev);
	if (ctx->ours && ctx->device != NULL)
		rte_dev_remove(ctx->device);
	log_capture_end(&log);
	log_capture_free(&log);
	pthread_mutex_destroy(&ctx->asking);
	free(ctx);
}

static int ask(struct port *port, struct error *error)
{
	struct ethdev_ctx *ctx = port->ctx;
	int result = rte_eth_dev_info_get(port->ethdev, &ctx->info);

	if (result < 0)
		return error_set(error, -result, "%s: %s: cannot identify the device: %s",
			port->name, ctx->dpdk, rte_strerror(-result));
	ctx->device = ctx->info.device;
	ctx->driver = ethdev_driver_find(ctx->info.driver_name);
	return 0;
}

int port_attach_ethdev(struct port *port, const char *name, const char *dpdk, struct error *error)
{
	struct ethdev_ctx *ctx = calloc(1, sizeof(*ctx));
	int result;

	*port = (struct port){.ethdev = RTE_MAX_ETHPORTS};
	if (ctx == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", name);
	ctx->port = port;
	pthread_mutex_init(&ctx->asking, NULL);
	snprintf(ctx->dpdk, sizeof(ctx->dpdk), "%.*s", (int)strcspn(dpdk, ","), dpdk);
	port->ctx = ctx;
	snprintf(port->name, sizeof(port->name), "%s", name);
	result = ethdev_find(port, dpdk, error);
	if (result < 0) {
		free(ctx);
		port->ctx = NULL;
		port->ethdev = RTE_MAX_ETHPORTS;
		return result;
	}
	port->close = ethdev_close;
	result = ask(port, error);
	if (result < 0)
		port_close(port);
	return result;
}

int port_start_ethdev(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error)
{
	struct ethdev_ctx *ctx = port->ctx;
	int result = ethdev_set_up(port, config, pool, error);

	if (result < 0) {
		port_close(port);
		return result;
	}
	port->rx = ctx->driver->keeps_sent ? ethdev_rx_linear : ethdev_rx;
	port->tx = ethdev_tx;
	port->ether.vlan = config->vlan;
	if (!ctx->driver->is_virtual || ctx->driver->is_ethernet) {
		port->ether.rx = ethernet_rx;
		port->ether.tx = ethernet_tx;
	}
	if (!ctx->driver->is_virtual && !ctx->driver->unsafe_cleanup &&
		rte_eth_tx_done_cleanup(port->ethdev, 0, 0) >= 0)
		port->idle = ethdev_idle;
	return 0;
}

/* A NIC's rings are filled before the first frame arrives. Some drivers have two per queue. */
static void count_rings(const struct ethdev_driver *driver, unsigned rx, unsigned tx,
	struct port_ethdev_needs *needs)
{
	needs->received_mbufs = driver->is_virtual ? 0 : 2 * rx;
	needs->sent_mbufs = driver->keeps_sent ? driver->ring_slots : driver->is_virtual ? 0 : tx;
}

bool port_ethdev_is_nic(const char *dpdk)
{
	return !ethdev_driver_find(dpdk)->is_virtual;
}

void port_ethdev_needs(const struct port *port, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs)
{
	struct ethdev_ctx *ctx = port->ctx;

	ethdev_choose_rings(ctx, config);
	count_rings(ctx->driver, ctx->rx_descriptors, ctx->tx_descriptors, needs);
	needs->room_bytes = ethdev_driver_room(
		ctx->driver, config->frame_bytes, ctx->info.min_mtu, ctx->info.min_rx_bufsize);
	needs->frame_bytes_max = ethdev_mtu_max(ctx) + RTE_ETHER_HDR_LEN;
	needs->device = ctx->dpdk;
	needs->socket =
		ctx->driver->is_virtual ? SOCKET_ID_ANY : rte_eth_dev_socket_id(port->ethdev);
}

void port_ethdev_needs_max(
	const char *dpdk, const struct port_ethdev_config *config, struct port_ethdev_needs *needs)
{
	const struct ethdev_driver *driver = ethdev_driver_guess("", dpdk);
	unsigned rx = config->rx_descriptors != 0 ? config->rx_descriptors : PORT_RX_DESCRIPTORS;
	unsigned tx = config->tx_descriptors != 0 ? config->tx_descriptors : ETHDEV_TX_MOST;

	count_rings(driver, rx, tx, needs);
	needs->room_bytes = ethdev_driver_room(driver, config->frame_bytes, 0, 0);
	needs->frame_bytes_max = UINT32_MAX;
	needs->device = dpdk;
	needs->socket = SOCKET_ID_ANY;
}

static bool is_started(const struct port *port)
{
	const struct ethdev_ctx *ctx = port->ctx;

	return port->ethdev < RTE_MAX_ETHPORTS && ctx != NULL && ctx->running;
}

/* Returns 0 (unknown) for virtual devices, most of which report a constant. */
static uint32_t speed_mbps(const struct ethdev_ctx *ctx, const struct rte_eth_link *link)
{
	if (ctx->driver->is_virtual || link->link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return link->link_speed;
}

bool port_ethdev_link(const struct port *port, struct port_ethdev_link *link)
{
	struct ethdev_ctx *ctx = port->ctx;
	struct rte_eth_link now;
	int result;

	if (port->link != NULL) {
		port->link(port, link);
		return true;
	}
	if (!is_started(port))
		return false;
	pthread_mutex_lock(&ctx->asking);
	result = rte_eth_link_get_nowait(port->ethdev, &now);
	pthread_mutex_unlock(&ctx->asking);
	if (result != 0)
		return false;
	*link = (struct port_ethdev_link){
		.up = now.link_status == RTE_ETH_LINK_UP,
		.is_dark = now.link_status != RTE_ETH_LINK_UP && !ctx->driver->is_virtual,
		.speed_mbps = speed_mbps(ctx, &now),
		.driver = ctx->info.driver_name,
		.rx_descriptors = ctx->rx_descriptors,
		.tx_descriptors = ctx->tx_descriptors,
	};
	return true;
}

void ethdev_read_losses(const struct ethdev_ctx *ctx, struct port_losses *losses)
{
	struct rte_eth_stats stats;

	*losses = (struct port_losses){.rx_missed = 0};
	if (rte_eth_stats_get(ctx->port->ethdev, &stats) != 0)
		return;
	*losses = (struct port_losses){
		.rx_missed = stats.imissed,
		.rx_no_buffer = stats.rx_nombuf,
		.rx_errors = stats.ierrors,
		.rx_segmented = __atomic_load_n(&ctx->rx_segmented, __ATOMIC_RELAXED),
		.tx_errors = stats.oerrors,
	};
}

void port_losses_read(const struct port *port, struct port_losses *losses)
{
	struct ethdev_ctx *ctx = port->ctx;

	*losses = (struct port_losses){.rx_missed = 0};
	if (port->losses != NULL)
		port->losses(port, losses);
	if (!is_started(port))
		return;
	pthread_mutex_lock(&ctx->asking);
	ethdev_read_losses(ctx, losses);
	pthread_mutex_unlock(&ctx->asking);
}

void port_losses_seen(const struct port *port, struct port_losses *losses)
{
	const struct ethdev_ctx *ctx = port->ctx;

	*losses = (struct port_losses){.rx_missed = 0};
	if (port->losses != NULL)
		port->losses(port, losses);
	if (!is_started(port))
		return;
#define X(name, text) losses->name = __atomic_load_n(&ctx->seen.name, __ATOMIC_RELAXED);
	PORT_LOSSES(X)
#undef X
}

int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, uint32_t extra_bytes, struct error *error)
{
	uint32_t min = frame_longest(extra_bytes), max = needs->frame_bytes_max;
	uint32_t frame_bytes = min + mtu_bytes;

	if (max >= frame_bytes)
		return 0;
	if (max <= min)
		return error_set(error, EINVAL,
			"%s: %s accepts frames of at most %u bytes, too few for any fabric",
			port->name, needs->device, max);
	return error_set(error, EINVAL,
		"%s: %s accepts frames of at most %u bytes, but a payload of %u B takes %u; a "
		"nic.mtu of %uB fits",
		port->name, needs->device, max, mtu_bytes, frame_bytes, max - min);
}
