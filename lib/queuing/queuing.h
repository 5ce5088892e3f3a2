/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Static queuing schemes choose, before a packet is sent, in which of Q virtual channels it
 * travels. The choice is based on the packet's source and destination and on the network. The
 * sending host writes it into the frame as the service level, and every device stores service level
 * n in VC n, so the choice is made once. Q does not include the adapted-flow channel of AFI.
 *
 * A scheme is one struct queuing_scheme and one entry in QUEUING_SCHEMES. It sees only host and
 * leaf numbers (docs/developer/extending.md). Constant once created, so any thread may read it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/weft_error.h"
#include "topo/topology.h"

struct queuing;

struct queuing_scheme {
	const char *name;
	const char *summary; /* one line */
	bool reference;      /* for comparisons only, on the virtual clock */
	/* Returns 0, or -EINVAL with 'error' set if the network or the number of queues is not
	 * supported. NULL: all are supported. */
	int (*check)(const struct queuing *queuing, struct error *error);
	/* Returns a queue below queuing->queues for two different hosts. */
	uint32_t (*queue)(const struct queuing *queuing, uint32_t source, uint32_t destination);
};

struct queuing {
	const struct queuing_scheme *scheme;
	uint32_t queues; /* Q, 1 to 16 */
	uint32_t hosts;
	/* Switches with hosts, numbered from 0 in the order of their lowest-numbered hosts, so that
	 * consecutive hosts are attached to consecutive leaves. */
	uint32_t leaves;
	uint32_t *leaf; /* [hosts]: the host's leaf */
};

/* Returns NULL with errno and 'error' set: EINVAL if the scheme does not support the network;
 * ENOMEM. */
struct queuing *queuing_create(const struct topology *topology, const struct queuing_scheme *scheme,
	uint32_t queues, struct error *error);
void queuing_destroy(struct queuing *queuing);

/* Returns the service level of messages from 'source' to 'destination'; 0 without a scheme. */
static inline uint8_t queuing_sl(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return queuing == NULL ? 0 : (uint8_t)queuing->scheme->queue(queuing, source, destination);
}

/* All schemes, each as queuing_NAME. The mapper's images contain indices in this list: append new
 * ones. */
#define QUEUING_SCHEMES(X) \
	X(1q)              \
	X(dbbm)            \
	X(vftree)          \
	X(flow2sl)         \
	X(voqnet)

#define X(name) extern const struct queuing_scheme queuing_##name;
QUEUING_SCHEMES(X)
#undef X

extern const struct name_table queuing_schemes;

/* Returns scheme i of the list, or NULL after the last. */
static inline const struct queuing_scheme *queuing_scheme_at(unsigned i)
{
	return name_table_at(&queuing_schemes, i);
}
