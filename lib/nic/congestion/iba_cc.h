/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The channel adapter's part of InfiniBand congestion control (annex A10), the baseline of the DRB
 * paper. A flow is a destination (interpretation 'QP') or the whole host (interpretation 'SL').
 * Each notification with BECN raises the flow's table index (CCTI) by 'increase', up to 'limit'.
 * Each expiry of the host's timer lowers all indices by one, down to 'min'. After each packet, the
 * flow pauses for the time in the table below.
 *
 * A state machine: times are arguments in ns. The timer runs continuously from time 0. Its effect
 * on a flow is computed when the flow is next accessed, so it needs no event. No allocation after
 * iba_cc_init(). Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

/* The congestion control table of a channel adapter (InfiniBand annex A10). Entry i is the delay
 * that a flow with index i inserts after each packet, as a multiple of the packet's own time:
 * multiplier / 2^shift. A shift has 2 bits, a multiplier 14. The papers do not specify a table. */

#define CC_TABLE_ENTRIES        128
#define CC_TABLE_SHIFT_MAX      3
#define CC_TABLE_MULTIPLIER_MAX 0x3FFF

enum cc_table_kind {
	CC_TABLE_LINEAR, /* i / 8 packet times */
	CC_TABLE_LLNL,   /* i^2 * 7 / 106^2 / 0.408 / 8: the Simula and LLNL setting for OpenSM */
	CC_TABLE_LIST,   /* supplied by the caller */
};

struct cc_table {
	uint16_t entry[CC_TABLE_ENTRIES]; /* shift in the two highest bits */
	uint16_t count;                   /* number of entries in use, 1 or more */
};

/* Fills a linear or LLNL table. */
void cc_table_fill(struct cc_table *table, enum cc_table_kind kind);

/* Appends an entry to an initially zeroed table. Returns false if out of range or full. */
bool cc_table_add(struct cc_table *table, unsigned shift, unsigned multiplier);

/* Returns the delay after a packet of 'packet_ns'; beyond the table, uses the last entry. */
static inline uint64_t cc_table_delay(
	const struct cc_table *table, unsigned index, uint64_t packet_ns)
{
	uint16_t entry = table->entry[index < table->count ? index : table->count - 1u];

	return (packet_ns * (entry & CC_TABLE_MULTIPLIER_MAX)) >> (entry >> 14);
}

struct iba_cc_config {
	uint64_t timer_ns;             /* 1 or more */
	uint16_t increase, limit, min; /* min <= limit, limit below CC_TABLE_ENTRIES */
	bool per_host;
	struct cc_table table;
};

struct iba_cc_flow {
	uint64_t ready_ns; /* earliest departure of the next packet */
	uint32_t expiries; /* timer expiries already applied to 'ccti' */
	uint16_t ccti;     /* index minus 'min' */
};

struct iba_cc {
	struct iba_cc_config config;
	struct iba_cc_flow *flow; /* [hosts], or a single entry if per_host */
};

/* Sets timer 150 us, increase 1, limit 127, min 0, linear table, per destination. */
void iba_cc_config_default(struct iba_cc_config *config);

/* Returns 0, -EINVAL (a value is out of range) or -ENOMEM. */
int iba_cc_init(struct iba_cc *cc, const struct iba_cc_config *config, uint32_t hosts);
void iba_cc_fini(struct iba_cc *cc);

/* Handles a notification with BECN from the destination. */
void iba_cc_mark(struct iba_cc *cc, uint16_t destination, uint64_t now_ns);

/* Raises the flow's index to the first whose delay is at least 'packets' packet times, or to the
 * limit. Never lowers it. */
void iba_cc_raise(struct iba_cc *cc, uint16_t destination, unsigned packets, uint64_t now_ns);

/* Returns the flow's table index. */
unsigned iba_cc_index(struct iba_cc *cc, uint16_t destination, uint64_t now_ns);

/* Call when a packet to the destination starts to be sent. 'packet_ns' is its transmission time. */
void iba_cc_sent(struct iba_cc *cc, uint16_t destination, uint64_t packet_ns, uint64_t now_ns);

/* Returns the earliest departure time of the next packet to the destination. */
static inline uint64_t iba_cc_ready_ns(const struct iba_cc *cc, uint16_t destination)
{
	return cc->flow[cc->config.per_host ? 0 : destination].ready_ns;
}
