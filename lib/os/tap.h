/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A Linux TAP interface: the side of an emulated host that real programs see. One file descriptor,
 * one Ethernet frame per read() and write() behind a struct virtio_net_hdr, non-blocking. The
 * kernel leaves checksums and TCP segmentation to the reader. The interface is not persistent: it
 * disappears with its last descriptor, however the process ends. A process that inherits the
 * descriptor of an interface (open across exec) opens the same interface.
 *
 * Needs CAP_NET_ADMIN, and CAP_SYS_ADMIN for a namespace. The interface is created inside its
 * namespace, in a thread that enters it: it is never moved, and no partial state is visible. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"

struct tap_options {
	const char *name;  /* interface name, up to 15 characters */
	const char *netns; /* namespace as in 'ip netns'; NULL: the process's own */
	uint8_t mac[6];    /* all zero: the kernel chooses */
	uint32_t mtu;      /* MTU for IP; 0: 1500 */
	const char *ipv4;  /* "10.0.0.1/24"; NULL: no address */
	/* False: IPv6 is off, so that the kernel does not send anything of its own. */
	bool ipv6;
};

/* Creates the interface and brings it up. Returns the descriptor, or -errno with error set: EINVAL
 * (names, address), ENODEV (no /dev/net/tun), EPERM, EBUSY (name in use), ENOENT (namespace). */
int tap_open(const struct tap_options *options, struct error *error);

void tap_close(int fd);

/* Losses on the programs' side, as the kernel counts them. The files keep showing the namespace in
 * which they were opened. Returns -1 if unknown. */
struct tap_losses {
	int interfaces, sockets; /* descriptors */
	uint64_t sockets_before;
};

/* For an open TAP; pass the options with which it was opened. 'sockets': also count losses of
 * sockets in the namespace, which must have no other host's TAP. If memory or the namespace is
 * missing, the losses are unknown. */
void tap_losses_open(struct tap_losses *losses, const struct tap_options *options, bool sockets);
void tap_losses_close(struct tap_losses *losses);

/* Frames from programs that did not fit in the interface's queue. Returns 0 if the interface is
 * gone. */
uint64_t tap_losses_queue(const struct tap_losses *losses, const char *name);

/* UDP packets dropped because the receiving socket had no room, since tap_losses_open(). */
uint64_t tap_losses_sockets(const struct tap_losses *losses);
