/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <rte_ether.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port_ethdev.h"

#define LOOK_PS       (10 * PS_PER_MS)
#define SLOTS_DEFAULT 1024u
#define SLOTS_MAX     (64u << 10)
/* Bytes of a slot before the frame (tpacket_rcv() in the kernel). */
#define SLOT_HEAD_BYTES TPACKET_ALIGN(TPACKET2_HDRLEN + 16)
/* With this number, a block of the ring is whole pages: 256 times a multiple of 16 bytes. */
#define SLOTS_IN_BLOCK 256u
#define ADDRESS_BYTES  (2 * RTE_ETHER_ADDR_LEN)

/* Written by the port's thread. Other threads may read the counters. */
struct packet_ctx {
	int fd, index; /* socket and index of the interface; index 0: it is gone */
	struct rte_mempool *pool;
	uint8_t *ring;
	uint32_t slots, slot_bytes, next, room_bytes;
	rte_be32_t tag;
	weft_time look_due;
	uint64_t missed, no_mbuf, too_long, refused;
	char interface[IFNAMSIZ];
};

static void count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* --- the interface --- */

static int ask(const struct packet_ctx *ctx, unsigned long question, struct ifreq *request)
{
	memcpy(request->ifr_name, ctx->interface, sizeof(request->ifr_name));
	return ioctl(ctx->fd, question, request) == 0 ? 0 : -errno;
}

static int interface_index(const struct packet_ctx *ctx)
{
	struct ifreq request = {.ifr_ifindex = 0};

	return ask(ctx, SIOCGIFINDEX, &request) == 0 ? request.ifr_ifindex : 0;
}

static bool has_carrier(const struct packet_ctx *ctx)
{
	struct ifreq request = {.ifr_flags = 0};
	const short wanted = IFF_UP | IFF_RUNNING;

	return ask(ctx, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & wanted) == wanted;
}

/* Makes the ring receive all frames that arrive at this interface, whatever their address. */
static int bind_to(const struct packet_ctx *ctx, int index)
{
	const struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = RTE_BE16(ETH_P_ALL), .sll_ifindex = index};
	const struct packet_mreq all = {.mr_ifindex = index, .mr_type = PACKET_MR_PROMISC};

	if (bind(ctx->fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
		setsockopt(ctx->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) < 0)
		return -errno;
	return 0;
}

static __attribute__((noinline)) void look(struct port *port, weft_time now)
{
	struct packet_ctx *ctx = port->ctx;
	int index = interface_index(ctx);

	ctx->look_due = now + LOOK_PS;
	if (index != ctx->index)
		ctx->index = index != 0 && bind_to(ctx, index) == 0 ? index : 0;
	port_set_cut(port, PORT_CUT_CARRIER, ctx->index == 0 || !has_carrier(ctx));
}

static unsigned speed_mbps(const struct packet_ctx *ctx)
{
	struct ethtool_cmd link = {.cmd = ETHTOOL_GSET};
	struct ifreq request = {.ifr_data = (char *)&link};
	uint32_t speed = ask(ctx, SIOCETHTOOL, &request) == 0 ? ethtool_cmd_speed(&link) : 0;

	return speed == (uint32_t)SPEED_UNKNOWN ? 0 : speed;
}

static void packet_link(const struct port *port, struct port_ethdev_link *link)
{
	const struct packet_ctx *ctx = port->ctx;
	bool up = has_carrier(ctx);

	*link = (struct port_ethdev_link){.up = up,
		.is_dark = !up,
		.speed_mbps = speed_mbps(ctx),
		.driver = PORT_PACKET_DRIVER,
		.rx_descriptors = ctx->slots};
}

/* --- frames --- */

/* Returns whether the frame is for this port and has its VLAN. The kernel has removed the tag. A
 * priority tag is not a VLAN. */
static bool is_ours(const struct port *port, const struct tpacket2_hdr *slot, const uint8_t *frame)
{
	bool tagged = (slot->tp_status & TP_STATUS_VLAN_VALID) != 0;
	uint64_t word;

	memcpy(&word, frame, sizeof(word));
	return (tagged ? slot->tp_vlan_tci & 0xFFF : 0) == port->ether.vlan &&
	       (((word ^ port->ether.own) & port->ether.mask) == 0 || (frame[0] & 1) != 0);
}

/* Returns false if there is no mbuf for the frame, which then stays in the ring. */
static bool take(struct port *port, const struct tpacket2_hdr *slot, struct rte_mbuf **out)
{
	struct packet_ctx *ctx = port->ctx;
	const uint8_t *frame = (const uint8_t *)slot + slot->tp_mac;

	*out = NULL;
	if (unlikely(slot->tp_len > ctx->room_bytes)) {
		count(&ctx->too_long);
		return true;
	}
	if (port->ether.used && !is_ours(port, slot, frame))
		return true;
	*out = rte_pktmbuf_alloc(ctx->pool);
	if (unlikely(*out == NULL)) {
		count(&ctx->no_mbuf);
		return false;
	}
	memcpy(rte_pktmbuf_append(*out, (uint16_t)slot->tp_len), frame, slot->tp_len);
	return true;
}

static uint16_t packet_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count_max, weft_time now)
{
	struct packet_ctx *ctx = port->ctx;
	uint16_t kept = 0;

	if (unlikely(now >= ctx->look_due))
		look(port, now);
	while (kept < count_max) {
		struct tpacket2_hdr *slot =
			(struct tpacket2_hdr *)(ctx->ring + (size_t)ctx->next * ctx->slot_bytes);

		if ((__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0 ||
			!take(port, slot, &mbufs[kept]))
			break;
		kept += mbufs[kept] != NULL;
		__atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		ctx->next = ctx->next + 1 == ctx->slots ? 0 : ctx->next + 1;
	}
	return kept;
}

/* Returns the number of frames to drop when the kernel refuses the first one. If the interface is
 * down or its queue is full, the frame waits: without carrier, the port is cut soon. */
static unsigned skip_refused(struct packet_ctx *ctx)
{
	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ENETDOWN ||
		errno == ENXIO)
		return 0;
	count(&ctx->refused);
	return 1;
}

/* Inserts the port's tag after the addresses. Returns the number of parts. */
static size_t set_parts(const struct port *port, struct rte_mbuf *mbuf, struct iovec part[3])
{
	struct packet_ctx *ctx = port->ctx;
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	size_t bytes = rte_pktmbuf_data_len(mbuf);

	if (port->ether.used)
		port_write_addresses(port, frame);
	part[0] = (struct iovec){frame, bytes};
	if (likely(port->ether.vlan == 0) || bytes < ADDRESS_BYTES)
		return 1;
	part[0].iov_len = ADDRESS_BYTES;
	part[1] = (struct iovec){&ctx->tag, sizeof(ctx->tag)};
	part[2] = (struct iovec){frame + ADDRESS_BYTES, bytes - ADDRESS_BYTES};
	return 3;
}

static uint16_t packet_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count_all, weft_time now)
{
	struct packet_ctx *ctx = port->ctx;
	struct mmsghdr message[PORT_BURST];
	struct iovec part[PORT_BURST][3];
	int sent;

	count_all = RTE_MIN(count_all, PORT_BURST);
	for (unsigned i = 0; i < count_all; i++)
		message[i].msg_hdr = (struct msghdr){
			.msg_iov = part[i], .msg_iovlen = set_parts(port, mbufs[i], part[i])};
	sent = sendmmsg(ctx->fd, message, count_all, MSG_DONTWAIT);
	if (sent < 0)
		sent = (int)skip_refused(ctx);
	rte_pktmbuf_free_bulk(mbufs, (unsigned)sent);
	return (uint16_t)sent;
}

/* Adds up the kernel's count, which is reset when it is read. */
static void packet_losses(const struct port *port, struct port_losses *losses)
{
	struct packet_ctx *ctx = port->ctx;
	struct tpacket_stats since = {.tp_drops = 0};
	socklen_t size = sizeof(since);

	(void)!getsockopt(ctx->fd, SOL_PACKET, PACKET_STATISTICS, &since, &size);
	*losses = (struct port_losses){
		.rx_missed = __atomic_add_fetch(&ctx->missed, since.tp_drops, __ATOMIC_RELAXED),
		.rx_no_buffer = __atomic_load_n(&ctx->no_mbuf, __ATOMIC_RELAXED),
		.rx_errors = __atomic_load_n(&ctx->too_long, __ATOMIC_RELAXED),
		.tx_errors = __atomic_load_n(&ctx->refused, __ATOMIC_RELAXED),
	};
}

static bool packet_sleep(struct port *port, int inotify, int *fd)
{
	const struct packet_ctx *ctx = port->ctx;

	*fd = ctx->fd;
	return true;
}

static void packet_close(struct port *port)
{
	struct packet_ctx *ctx = port->ctx;

	if (ctx->ring != NULL)
		munmap(ctx->ring, (size_t)ctx->slots * ctx->slot_bytes);
	if (ctx->fd >= 0)
		close(ctx->fd);
	free(ctx);
}

/* --- opening --- */

bool port_is_packet(const char *device)
{
	return strncmp(device, PORT_PACKET_DRIVER, strlen(PORT_PACKET_DRIVER)) == 0;
}

static int parse(const struct port *port, const char *device, struct error *error)
{
	const char *interface = strstr(device, ",iface="), *slots = strstr(device, ",framecnt=");
	struct packet_ctx *ctx = port->ctx;
	unsigned given = SLOTS_DEFAULT;
	int end = 0;

	/* strchr() also finds the end of the text. */
	if (interface == NULL || sscanf(interface, ",iface=%15[^,]%n", ctx->interface, &end) != 1 ||
		strchr(",", interface[end]) == NULL ||
		(slots != NULL && (sscanf(slots, ",framecnt=%u%n", &given, &end) != 1 ||
					  strchr(",", slots[end]) == NULL)) ||
		given < 1 || given > SLOTS_MAX)
		return error_set(error, EINVAL,
			"%s: %s: expected " PORT_PACKET_DRIVER
			"N,iface=INTERFACE[,framecnt=SLOTS], and up to %u slots",
			port->name, device, SLOTS_MAX);
	ctx->slots = RTE_ALIGN_MUL_CEIL(given, SLOTS_IN_BLOCK);
	return 0;
}

/* Call before the socket is bound, so that it never receives from another interface. */
static int make_ring(struct packet_ctx *ctx)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ADDRESS_BYTES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FRAME_ETHERTYPE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = {.len = RTE_DIM(code), .filter = code};
	const struct tpacket_req ring = {.tp_block_size = ctx->slot_bytes * SLOTS_IN_BLOCK,
		.tp_block_nr = ctx->slots / SLOTS_IN_BLOCK,
		.tp_frame_size = ctx->slot_bytes,
		.tp_frame_nr = ctx->slots};
	const int version = TPACKET_V2, yes = 1;
	void *memory = MAP_FAILED;

	if (setsockopt(ctx->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) == 0 &&
		setsockopt(ctx->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) == 0 &&
		setsockopt(ctx->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) == 0 &&
		setsockopt(ctx->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes)) == 0 &&
		setsockopt(ctx->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0)
		memory = mmap(NULL, (size_t)ctx->slots * ctx->slot_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED, ctx->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ctx->ring = memory;
	return 0;
}

/* The kernel drops longer frames on arrival without counting them. */
static int check_mtu(const struct port *port, const char *device, struct error *error)
{
	const struct packet_ctx *ctx = port->ctx;
	const uint32_t wanted = ctx->room_bytes - RTE_ETHER_HDR_LEN;
	struct ifreq request = {.ifr_mtu = 0};
	uint32_t mtu;

	if (ask(ctx, SIOCGIFMTU, &request) < 0 || (uint32_t)request.ifr_mtu >= wanted)
		return 0;
	mtu = (uint32_t)request.ifr_mtu;
	return error_set(error, EMSGSIZE,
		"%s: %.*s accepts frames of at most %u bytes, but %u are needed; reduce nic.mtu "
		"by %u bytes, or run 'ip link set %s mtu %u'",
		port->name, (int)strcspn(device, ","), device, mtu + RTE_ETHER_HDR_LEN,
		ctx->room_bytes, wanted - mtu, ctx->interface, wanted);
}

static int open_socket(const struct port *port, const char *device, struct error *error)
{
	struct packet_ctx *ctx = port->ctx;
	int result = parse(port, device, error);

	if (result < 0)
		return result;
	ctx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (ctx->fd < 0)
		return error_set(error, errno, "%s: %s: %s%s", port->name, device, strerror(errno),
			errno == EPERM ? "; run as root" : "");
	ctx->index = interface_index(ctx);
	if (ctx->index == 0)
		return error_set(error, ENODEV,
			"%s: %s: no such interface in this network namespace ('ip link' lists "
			"them)",
			port->name, device);
	result = check_mtu(port, device, error);
	if (result < 0)
		return result;
	result = make_ring(ctx);
	if (result == 0)
		result = bind_to(ctx, ctx->index);
	return result == 0
		       ? 0
		       : error_set(error, -result, "%s: %s: cannot create a ring of %u frames: %s",
				 port->name, device, ctx->slots, strerror(-result));
}

int port_open_packet(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	uint16_t vlan, struct rte_mempool *pool, struct error *error)
{
	struct packet_ctx *ctx = malloc(sizeof(*ctx));
	int result;

	*port = (struct port){.ethdev = RTE_MAX_ETHPORTS};
	if (ctx == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", name);
	*ctx = (struct packet_ctx){.fd = -1,
		.pool = pool,
		.room_bytes = frame_bytes,
		.slot_bytes = TPACKET_ALIGN(SLOT_HEAD_BYTES + frame_bytes),
		.tag = rte_cpu_to_be_32((uint32_t)RTE_ETHER_TYPE_VLAN << 16 | vlan)};
	*port = (struct port){.rx = packet_rx,
		.tx = packet_tx,
		.close = packet_close,
		.sleep = packet_sleep,
		.losses = packet_losses,
		.link = packet_link,
		.ctx = ctx,
		.ethdev = RTE_MAX_ETHPORTS,
		.ether = {.vlan = vlan, .rx = packet_rx, .tx = packet_tx}};
	snprintf(port->name, sizeof(port->name), "%s", name);
	result = open_socket(port, device, error);
	port->slots = ctx->slots;
	if (result < 0)
		port_close(port);
	return result;
}
