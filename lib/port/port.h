/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A port of an emulated device: an ethdev (PCI NIC, net_memif, net_ring, net_tap, net_pcap), an
 * in-memory link to a device of this process, memory shared with another process, a kernel
 * interface, or UDP (port_udp.h). Debian's DPDK allows 32 ethdevs per process; the other kinds are
 * not ethdevs.
 *
 * Frames are single-segment rte_mbufs with a struct weft_packet in the private area. Frames that a
 * driver delivers in several segments are linearised. An mbuf accepted by port_tx() belongs to the
 * port. An mbuf that is not accepted remains the caller's, to be sent again later: the port drops
 * nothing. One thread uses one end of a port. */

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "stats/lateness.h"
#include "wire/frame.h"
#include "wire/packet.h"

#define PORT_BURST 32

struct port;
struct port_losses; /* port_ethdev.h */
struct port_ethdev_link;
struct capture;

/* Fills up to 'count' mbufs that have arrived by 'now', and returns their number. If the port is
 * 'stamped', each packet descriptor's arrived_ps is the due arrival, not later than 'now'. */
typedef uint16_t port_rx_fn(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now);
/* Sends in order, and returns the number accepted. For in-memory links, each packet descriptor's
 * arrived_ps is the arrival time at the far end (end of transmission plus link delay). */
typedef uint16_t port_tx_fn(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now);
/* Housekeeping in an idle iteration. */
typedef void port_idle_fn(struct port *port, weft_time now);
typedef void port_close_fn(struct port *port);
/* For port_sleep(). */
typedef bool port_sleep_fn(struct port *port, int inotify, int *fd);
/* For port_losses_read() and port_losses_seen(); any thread. */
typedef void port_losses_fn(const struct port *port, struct port_losses *losses);
/* For port_ethdev_link(); any thread. */
typedef void port_link_fn(const struct port *port, struct port_ethdev_link *link);

/* Set of reasons why a port passes no frames. */
enum port_cut_reason {
	PORT_CUT_ORDER = 1,   /* port_cut() */
	PORT_CUT_CARRIER = 2, /* the device lost its carrier */
	PORT_CUT_EVENT = 4,   /* an event of the run */
	PORT_CUT_ORDERED = PORT_CUT_ORDER | PORT_CUT_EVENT,
};

/* The Ethernet addresses of a port, used only by its thread (port_set_address()). In-memory links
 * ignore them; captures show them. */
struct port_ether {
	struct {
		uint8_t to[6], from[6];
	} out;           /* as in a sent frame */
	bool used;       /* the addresses were set */
	bool greets_all; /* hellos go to the group address instead of 'to' */
	uint16_t vlan;   /* tag of frames on the wire; 0: none */
	uint64_t own,
		/* First eight bytes of a frame for this port, and a mask of the relevant ones. */
		mask;
	/* For a port that other stations may share: functions that write and check addresses and
	 * tags, used once addresses are set. NULL: the link has only two ends. */
	port_rx_fn *rx;
	port_tx_fn *tx;
};

struct port {
	port_rx_fn *rx;
	port_tx_fn *tx;
	port_idle_fn *idle; /* NULL: nothing to do */
	port_close_fn *close;
	port_sleep_fn *sleep;    /* NULL: arrivals are not signalled */
	port_losses_fn *losses;  /* NULL: an ethdev, or a link that loses nothing */
	port_link_fn *link;      /* NULL: an ethdev, or a link without a cable */
	void *ctx;               /* state of this kind of port */
	struct capture *capture; /* NULL: not captured. Set by capture.c (atomic) */
	/* Lateness of received frames that have due times. Remains the owner's, and must outlive
	 * the port. NULL: not measured. */
	struct lateness *late;
	uint8_t cut;     /* set of port_cut_reason (atomic) */
	bool stamped;    /* received frames carry their due arrival (port_rx_fn) */
	bool timed;      /* frames to be sent carry their due arrival (atomic) */
	uint16_t ethdev; /* RTE_MAX_ETHPORTS: not an ethdev */
	uint32_t slots;  /* frames that its receive ring holds while the core is busy elsewhere */
	char name[72];   /* "s0:1" */
	uint64_t cut_lost, cut_credits_lost; /* data and credit frames lost because of a cut */
	struct port_ether ether;
};

static inline struct weft_packet *mbuf_packet(struct rte_mbuf *mbuf)
{
	return (struct weft_packet *)rte_mbuf_to_priv(mbuf);
}

/* Returns the due arrival of a received frame. */
static inline weft_time port_due(const struct port *port, struct rte_mbuf *mbuf, weft_time now)
{
	return port->stamped ? mbuf_packet(mbuf)->arrived_ps : now;
}

static inline struct rte_mbuf *packet_mbuf(struct weft_packet *packet)
{
	return (struct rte_mbuf *)((char *)packet - sizeof(struct rte_mbuf));
}

/* Frees a list of packets linked by 'next'; NULL is an empty list. */
static inline void packet_free_list(struct weft_packet *packet)
{
	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		rte_pktmbuf_free(packet_mbuf(packet));
		packet = next;
	}
}

/* Records the lateness of received frames, whose arrived_ps is their due arrival, at most 'now'.
 * Link-local frames are not counted: if a late credit frame matters, it makes data late. */
void port_note_lateness(
	struct port *port, struct rte_mbuf *const *mbufs, unsigned count, weft_time now);

#define PORT_POOL_LAZY (-2)

/* Creates a pool of mbufs with room for a weft_packet and 'frame_bytes', on this socket if it has
 * enough memory, otherwise (and for -1) on any socket. PORT_POOL_LAZY: in hugepages, or else in
 * memory that takes no space before its first use, and that no ethdev can access. Returns NULL with
 * 'error' set. */
struct rte_mempool *port_pool_create(
	const char *name, unsigned count, unsigned frame_bytes, int socket, struct error *error);

/* Opens both ends of an in-memory link. Frames sent into one end are received at the other, not
 * before their arrived_ps. 'slots': frames per direction, a power of two. */
int port_open_memory_link(struct port *a, const char *name_a, struct port *b, const char *name_b,
	unsigned slots, struct error *error);

/* Checks that the receive ring holds a frame of 'frame_bytes' in each of 'vcs'. A neighbour is
 * granted no more than the ring holds, so long frames could otherwise wait for credits forever.
 * Returns 0, or -EINVAL with 'error' set. */
int port_check_room(
	const struct port *port, unsigned vcs, unsigned frame_bytes, struct error *error);

/* Sets the source address of sent frames. Frames to other stations are no longer received.
 * port_set_peer() sets the destination. The port must be started. */
void port_set_address(struct port *port, const uint8_t from[6]);

/* Sets the destination of sent frames. 'greets_all': hellos go to the group address instead. */
static inline void port_set_peer(struct port *port, const uint8_t to[6], bool greets_all)
{
	memcpy(port->ether.out.to, to, sizeof(port->ether.out.to));
	port->ether.greets_all = greets_all;
}

/* Writes both addresses into a valid frame that is about to be sent. */
static inline void port_write_addresses(const struct port *port, uint8_t *frame)
{
	memcpy(frame, &port->ether.out, sizeof(port->ether.out));
	if (unlikely(port->ether.greets_all) && frame_header_const(frame)->kind == FRAME_HELLO)
		frame_group_address(frame_fabric(frame), frame);
}

void port_close(struct port *port);

/* Sets or clears a reason to pass no frames. While one is set, received and sent frames are
 * discarded. Any thread may call; the port's own thread sees the change in its next burst. */
static inline void port_set_cut(struct port *port, enum port_cut_reason reason, bool cut)
{
	if (cut)
		__atomic_fetch_or(&port->cut, (uint8_t)reason, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&port->cut, (uint8_t)~reason, __ATOMIC_RELAXED);
}

static inline bool port_is_cut_by(const struct port *port, enum port_cut_reason reason)
{
	return (__atomic_load_n(&port->cut, __ATOMIC_RELAXED) & reason) != 0;
}

/* Cuts or restores the cable. */
static inline void port_cut(struct port *port, bool cut)
{
	port_set_cut(port, PORT_CUT_ORDER, cut);
}

static inline bool port_is_cut(const struct port *port)
{
	return __atomic_load_n(&port->cut, __ATOMIC_RELAXED) != 0;
}

/* Frees and counts frames that are lost because of a cut. */
void port_lose(struct port *port, struct rte_mbuf **mbufs, uint16_t count);

/* Call before the port's thread sleeps until 'inotify' or '*fd', if not -1, is readable. Returns
 * true if data and mapper frames that arrive from now on make one of them readable; false if frames
 * are waiting or arrivals are not signalled. After the sleep, call it again with 'inotify' -1. */
static inline bool port_sleep(struct port *port, int inotify, int *fd)
{
	*fd = -1;
	return port->sleep != NULL && port->sleep(port, inotify, fd);
}

static inline uint16_t port_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	uint16_t received = port->rx(port, mbufs, count, now);

	if (likely(!port_is_cut(port)))
		return received;
	port_lose(port, mbufs, received);
	return 0;
}

static inline uint16_t port_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	if (likely(!port_is_cut(port)))
		return port->tx(port, mbufs, count, now);
	port_lose(port, mbufs, count);
	return count;
}

/* Return the arrivals counted by port_note_lateness(), and their total lateness. Any thread. */
static inline uint64_t port_arrivals(const struct port *port)
{
	return port->late != NULL ? __atomic_load_n(&port->late->arrivals, __ATOMIC_RELAXED) : 0;
}

static inline uint64_t port_late_ns(const struct port *port)
{
	return port->late != NULL ? __atomic_load_n(&port->late->sum_ns, __ATOMIC_RELAXED) : 0;
}

static inline void port_idle(struct port *port, weft_time now)
{
	if (port->idle != NULL)
		port->idle(port, now);
}

/* A port on a kernel interface (a veth end, a TAP, a NIC that keeps its kernel driver): an
 * AF_PACKET socket with a receive ring. Devices are named after DPDK's driver for such sockets,
 * which is not used: it receives from all interfaces until it is bound, joins fan-out groups that
 * collide between processes, and hides its sockets and the interface's carrier.
 *
 * The kernel delivers only frames with Weft's EtherType that arrive at the interface, so other
 * traffic takes no slots. port_losses: rx_missed, frames that arrived while the ring was full;
 * rx_errors, frames longer than a slot; rx_no_buffer, attempts to receive a frame without a free
 * mbuf; tx_errors, frames that the kernel refused, such as those longer than the MTU.
 *
 * The loss of an interface or its carrier is detected within 10 ms of the port's clock. If an
 * interface appears again under the same name, it is used again. */

#define PORT_PACKET_DRIVER "net_af_packet"

bool port_is_packet(const char *device);

/* 'device': "net_af_packetN,iface=NAME[,framecnt=SLOTS]"; other arguments of DPDK's driver have no
 * effect. Frames are received into mbufs of 'pool', which have room for 'frame_bytes', the longest
 * frame of both ends. 'vlan': tag of all frames; 0: none. Returns 0, or -errno with 'error' set.
 * -EMSGSIZE: the interface's MTU is too small for such frames. Requires CAP_NET_RAW. */
int port_open_packet(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	uint16_t vlan, struct rte_mempool *pool, struct error *error);

/* A port to another process of this machine, through memory that both share (shared_ring.h). It is
 * not an ethdev, so DPDK's limit of 32 does not apply. If the other process dies, this one
 * continues: its ring fills up and accepts no more frames, and the link detects missing hellos. A
 * restarted process opens the same end and continues. Frames that its predecessor did not read are
 * lost, as in a cut cable. */

/* Number of one-block frames, of any VC, that the ring holds in addition to control frames. */
#define PORT_SHARED_SLOTS 2048u

/* Returns whether the text has the form "shared:PATH:END": an end (0 or 1) of a link's file. */
bool port_is_shared(const char *device);

/* Opens the port. Frames are copied to mbufs of 'pool', which have room for 'frame_bytes', the
 * longest frame of both ends. Without a free mbuf, frames wait. 'device' NULL: no cable is plugged
 * in yet. Returns 0, or -errno like shared_file_open(), with 'error' set. */
int port_open_shared(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);

/* Moves an open port of this kind to another file, or to the same one again, in the thread that
 * uses the port. A port of an in-memory link becomes a port of this kind. Captures, counters and
 * addresses are kept. Returns like port_open_shared(); on failure, no cable is plugged in. */
int port_plug_shared(struct port *port, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);
