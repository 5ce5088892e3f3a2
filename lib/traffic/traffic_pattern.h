/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A traffic pattern: the destinations of a host's messages. A pattern consists of a struct
 * traffic_pattern and an entry in TRAFFIC_PATTERNS, whose name is used in run files. 'keys' defines
 * the keys allowed in a 'traffic' entry with this pattern (docs/developer/extending.md). */

#include <stddef.h>

#include "base/name_table.h"
#include "traffic.h"

/* Keys of an entry, apart from 'pattern', 'start' and 'stop'. */
enum traffic_keys {
	TRAFFIC_FROM = 1,
	TRAFFIC_TO = 2,
	TRAFFIC_SHARE = 4, /* share of messages for 'to'; requires 'to' */
	TRAFFIC_SWITCHES = 8,
	TRAFFIC_FILE = 16,
	TRAFFIC_RANKS = 32,
	TRAFFIC_RATE = 64,     /* load, lengths and arrivals */
	TRAFFIC_SIZES = 128,   /* load, size distribution and matrix, in place of a file */
	TRAFFIC_PACKETS = 256, /* capture, hosts of its addresses, and speed or load */
	TRAFFIC_PEERS = TRAFFIC_FROM | TRAFFIC_TO | TRAFFIC_RATE,
};

struct traffic_pattern {
	const char *name;
	const char *summary;      /* destination of a message, for the documentation */
	unsigned keys;            /* enum traffic_keys */
	bool all_without_targets; /* a source without targets sends to all hosts */
	bool anywhere;            /* messages may also go to hosts not in 'to' */
	bool pairs;               /* a file or the seed defines the pairs; no 'from' or 'to' */
	bool near;                /* uses the hosts within 'switches' (traffic_config.near) */
	bool spots;               /* 'to' lists hot spots; required */
	bool to_suffices;         /* every host sends if 'to' contains another host */
	bool bursty;              /* arrivals are always bursty */
	bool packets;  /* messages are packets of a capture, which defines sizes and times */
	bool schedule; /* messages come from a schedule; there are no sources */
	/* Checks the configuration and stores what it needs in '*state', which 'fini' releases.
	 * Returns 0, or -errno with error. NULL: there is nothing to check, store or release. */
	int (*init)(void **state, const struct traffic_config *config, struct error *error);
	void (*fini)(void *state);
	/* Returns false if this host sends nothing; 'destination' is then never called. NULL: all
	 * hosts send. With 'to_suffices', hosts are not asked before the run. */
	bool (*sends)(const void *state, const struct traffic_config *config);
	uint16_t (*destination)(void *state, const struct traffic_config *config, struct rng *rng);
};

static inline int traffic_pattern_init(const struct traffic_pattern *pattern, void **state,
	const struct traffic_config *config, struct error *error)
{
	return pattern->init == NULL ? 0 : pattern->init(state, config, error);
}

static inline void traffic_pattern_fini(const struct traffic_pattern *pattern, void *state)
{
	if (pattern->fini != NULL)
		pattern->fini(state);
}

static inline bool traffic_pattern_sends(const struct traffic_pattern *pattern, const void *state,
	const struct traffic_config *config)
{
	return pattern->sends == NULL || pattern->sends(state, config);
}

/* All patterns; each is named traffic_NAME. */
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

extern const struct name_table traffic_patterns;

/* Returns host number 'drawn' among all hosts except 'host'. */
static inline uint16_t traffic_other(uint16_t host, uint64_t drawn)
{
	return (uint16_t)(drawn + (drawn >= host));
}

/* Draws any host except the sender. */
static inline uint16_t traffic_draw_other(const struct traffic_config *config, struct rng *rng)
{
	return traffic_other(config->host, rng_below(rng, config->hosts - 1u));
}
