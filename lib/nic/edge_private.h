/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Inside the edge. Messages of one frame, the usual case, pass without a copy; longer ones are put
 * together in one of a few buffers, which a source has only while a message of it is incomplete. */

#include "edge.h"

enum edge_state { EDGE_IDLE, EDGE_COLLECTING, EDGE_SKIPPING };

struct edge_progress {
	uint32_t bytes; /* collected */
	uint16_t buffer;
	uint8_t state; /* enum edge_state */
};

struct edge {
	struct edge_config config;
	struct edge_progress *progress; /* [hosts] */
	uint8_t *buffer;                /* [reassemblies][mtu_bytes] */
	uint16_t *free;
	uint16_t free_count;
	uint64_t count[EDGE_COUNTER_COUNT];
};

/* True if the frame completes a message; packet->packet and bytes are set. */
bool edge_reassemble(
	struct edge *edge, const struct nic_delivery *delivery, struct edge_packet *packet);
