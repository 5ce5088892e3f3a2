/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A port on a kernel interface (a veth end, a TAP, a NIC that keeps its kernel driver): an
 * AF_PACKET socket with a receive ring. Devices have the name of DPDK's driver for such sockets,
 * which is not used: it receives from all interfaces until it is bound, joins fan-out groups that
 * collide between processes, and hides its sockets and the interface's carrier.
 *
 * The kernel delivers frames with Weft's EtherType that arrive at the interface, so other traffic
 * takes no slots. port_losses: rx_missed, frames that arrived while the ring was full; rx_errors,
 * frames longer than a slot; rx_no_buffer, attempts to take a frame without a free mbuf; tx_errors,
 * frames that the kernel refused, such as those longer than the MTU.
 *
 * An interface without carrier, or one that is gone, is noticed within 10 ms of the port's clock.
 * One that appears again under the same name is used again. */

#include <stdbool.h>

#include "port.h"

#define PORT_PACKET_DRIVER "net_af_packet"

bool port_is_packet(const char *device);

/* 'device': "net_af_packetN,iface=NAME[,framecnt=SLOTS]"; other arguments of DPDK's driver have no
 * effect. Frames go to mbufs of 'pool', which have room for 'frame_bytes', the longest frame of
 * both ends. 'vlan': the tag of all frames; 0: none. Returns 0, or -errno and an error that names
 * the port and the device; -EMSGSIZE: the interface's MTU is too small for such frames. Needs
 * CAP_NET_RAW. */
int port_open_packet(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	uint16_t vlan, struct rte_mempool *pool, struct error *error);
