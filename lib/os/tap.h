/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A Linux TAP interface: the side of an emulated host that real programs see. Each read() and
 * write() on its non-blocking descriptor transfers one Ethernet frame behind a struct
 * virtio_net_hdr. The kernel leaves checksums and TCP segmentation to the reader. The interface is
 * not persistent: it disappears with its last descriptor, however the process ends. A process that
 * inherits the descriptor of an interface (open across exec) opens the same interface.
 *
 * Requires CAP_NET_ADMIN, and CAP_SYS_ADMIN for a namespace. A thread that enters the namespace
 * creates the interface there: it is never moved, and no partial state is visible. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"

struct tap_options {
	const char *name;  /* interface name, up to 15 characters */
	const char *netns; /* as in 'ip netns'; NULL: the process's own */
	uint8_t mac[6];    /* all zero: the kernel chooses */
	uint32_t mtu;      /* for IP; 0: 1500 */
	const char *ipv4;  /* "10.0.0.1/24"; NULL: no address */
	/* False: IPv6 is disabled, so that the kernel does not send anything of its own. */
	bool ipv6;
};

/* Creates the interface and brings it up. Returns the descriptor, or -errno with error set: EINVAL
 * (names, address), ENODEV (no /dev/net/tun), EPERM, EBUSY (name in use), ENOENT (namespace). */
int tap_open(const struct tap_options *options, struct error *error);

void tap_close(int fd);

/* Losses on the programs' side, as counted by the kernel. The files keep referring to the namespace
 * in which they were opened. */
struct tap_losses {
	int interfaces, sockets; /* descriptors; -1: losses unknown */
	uint64_t sockets_before;
};

/* Call for an open TAP, with the options it was opened with. 'sockets': also count losses of
 * sockets in the namespace, which must not contain the TAP of a different host. If out of memory or
 * without the namespace, the losses are unknown. */
void tap_losses_open(struct tap_losses *losses, const struct tap_options *options, bool sockets);
void tap_losses_close(struct tap_losses *losses);

/* Returns the number of frames from programs that did not fit in the interface's queue; 0 if the
 * interface is gone. */
uint64_t tap_losses_queue(const struct tap_losses *losses, const char *name);

/* Returns the number of UDP packets dropped since tap_losses_open() because a socket was full. */
uint64_t tap_losses_sockets(const struct tap_losses *losses);
