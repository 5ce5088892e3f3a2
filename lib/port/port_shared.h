/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A port that leads to another process of this machine, through memory that both share
 * (shared_ring.h). It is not an ethdev, so DPDK's limit of 32 does not count it. If the other
 * process dies, this one continues: its ring fills up and accepts no more frames, and the link
 * detects this by missing hellos. A process that comes back opens the same end and goes on; frames
 * that its predecessor did not take are lost, as in a cut cable. */

#include <stdbool.h>

#include "port.h"

/* Number of one-block frames, of any VC, for which there is room in addition to control frames. */
#define PORT_SHARED_SLOTS 2048u

/* Whether the text has the form "shared:PATH:END", which names an end (0 or 1) of a link's file. */
bool port_is_shared(const char *device);

/* Opens the port. Frames are copied to mbufs of 'pool', which have room for 'frame_bytes', the
 * longest frame of both ends. If there is no mbuf the frames wait. 'device' NULL: no cable is
 * plugged in yet. Returns 0, or -errno and an error that names the port and the file, as
 * shared_file_open(). */
int port_open_shared(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);

/* Moves an open port of this kind to another file, or to the same one again, in the thread that
 * uses the port; one of an in-memory link becomes a port of this kind. Captures, counters and
 * addresses stay. On failure, as port_open_shared(), nothing is plugged in. */
int port_plug_shared(struct port *port, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);
