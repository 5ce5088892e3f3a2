/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <net/if.h>

/*
 * The packet sockets of DPDK's af_packet driver, which has no option for them. The kernel gives a
 * packet socket also what other programs send by its interface: a frame written into one end of a
 * veth pair would be read at both ends. PACKET_IGNORE_OUTGOING has no effect on a socket in a
 * fan-out group, as these are, so a filter drops such frames.
 */

/* Ignores outgoing frames at all packet sockets of this process that are bound to this interface.
 * The number of these sockets, or -errno. */
int packet_socket_ignore_outgoing(unsigned interface);

/* Of an interface of this network namespace, which the driver does not tell: its MTU, and whether
 * it is up and its cable in (1; 0 also if it is gone). -errno. */
int packet_socket_mtu(unsigned interface);
int packet_socket_carrier(unsigned interface);
/* Its name; "" if there is none. */
void packet_socket_name(unsigned interface, char name[IF_NAMESIZE]);
