/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A traffic pattern: where the messages of a host go. A pattern is one struct traffic_pattern and
 * one word in TRAFFIC_PATTERNS, which run files use; its 'keys' define what an entry of 'traffic'
 * with this pattern may contain (docs/developer/extending.md). */

#include <stddef.h>

#include "base/name_table.h"
#include "traffic.h"

/* Keys of an entry beyond 'pattern', 'start' and 'stop'. */
enum traffic_keys {
	TRAFFIC_FROM = 1,
	TRAFFIC_TO = 2,
	TRAFFIC_SHARE = 4, /* share of messages for 'to', which it requires */
	TRAFFIC_SWITCHES = 8,
	TRAFFIC_FILE = 16,
	TRAFFIC_RANKS = 32,
	TRAFFIC_RATE = 64,     /* load, lengths and arrivals */
	TRAFFIC_SIZES = 128,   /* load, size distribution and matrix, instead of a file */
	TRAFFIC_PACKETS = 256, /* a capture, the hosts of its addresses, and its speed or load */
	TRAFFIC_PEERS = TRAFFIC_FROM | TRAFFIC_TO | TRAFFIC_RATE,
};

struct traffic_pattern {
	const char *name;
	const char *summary;      /* the destination of each message, for the documentation */
	unsigned keys;            /* enum traffic_keys */
	bool all_without_targets; /* a source without targets sends to all hosts */
	bool anywhere;            /* messages also go to hosts that 'to' does not name */
	bool pairs;               /* a file or the seed gives the pairs: no 'from', no 'to' */
	bool bursty;              /* its arrivals are always bursty */
	bool packets;             /* messages are packets of a capture, which give size and time */
	bool schedule;            /* messages come from a schedule: the pattern has no sources */
	/* Checks the configuration and keeps what it needs in '*state', which 'fini' frees; both
	 * may leave it NULL. 0 or -errno with error. */
	int (*init)(void **state, const struct traffic_config *config, struct error *error);
	void (*fini)(void *state);
	/* Returns false if this host sends nothing; 'destination' is then never called. NULL: all
	 * send. */
	bool (*sends)(const void *state, const struct traffic_config *config);
	uint16_t (*destination)(void *state, const struct traffic_config *config, struct rng *rng);
};

static inline bool traffic_pattern_sends(const struct traffic_pattern *pattern, const void *state,
	const struct traffic_config *config)
{
	return pattern->sends == NULL || pattern->sends(state, config);
}

/* All patterns, traffic_NAME each. */
#define TRAFFIC_PATTERNS(X) \
	X(uniform)          \
	X(hotspot)          \
	X(permutation)      \
	X(local)            \
	X(bit_reversal)     \
	X(transpose)        \
	X(shuffle)          \
	X(butterfly)        \
	X(combined)         \
	X(all_to_all)       \
	X(bursty)           \
	X(goal)             \
	X(flows)            \
	X(pcap)

#define X(name) extern const struct traffic_pattern traffic_##name;
TRAFFIC_PATTERNS(X)
#undef X

/* The list of patterns. */
extern const struct name_table traffic_patterns;

/* Host number 'drawn' among all hosts except 'host'. */
static inline uint16_t traffic_other(uint16_t host, uint64_t drawn)
{
	return (uint16_t)(drawn + (drawn >= host));
}

/* Any host but the sender. */
static inline uint16_t traffic_draw_other(const struct traffic_config *config, struct rng *rng)
{
	return traffic_other(config->host, rng_below(rng, config->hosts - 1u));
}
