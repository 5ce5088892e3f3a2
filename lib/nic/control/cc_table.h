/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The congestion control table of a channel adapter (InfiniBand annex A10): entry i is the delay
 * that a flow with index i inserts after each packet, as a multiple of the packet's own time:
 * multiplier / 2^shift. A shift has 2 bits, a multiplier 14. The papers print no table. */

#include <stdbool.h>
#include <stdint.h>

#define CC_TABLE_ENTRIES        128
#define CC_TABLE_SHIFT_MAX      3
#define CC_TABLE_MULTIPLIER_MAX 0x3FFF

enum cc_table_kind {
	CC_TABLE_LINEAR, /* i / 8 of a packet time */
	CC_TABLE_LLNL,   /* i^2 * 7 / 106^2 / 0.408 / 8: the Simula and LLNL setting for OpenSM */
	CC_TABLE_LIST,   /* the caller's */
};

struct cc_table {
	uint16_t entry[CC_TABLE_ENTRIES]; /* shift in the two highest bits */
	uint16_t count;                   /* entries in use, 1 or more */
};

/* One of the computed tables. */
void cc_table_fill(struct cc_table *table, enum cc_table_kind kind);

/* Appends an entry to a table, which begins zeroed. False: out of range, or the table is full. */
bool cc_table_add(struct cc_table *table, unsigned shift, unsigned multiplier);

/* The delay after a packet of 'packet_ns'; an index beyond the table counts as its last. */
static inline uint64_t cc_table_delay(
	const struct cc_table *table, unsigned index, uint64_t packet_ns)
{
	uint16_t entry = table->entry[index < table->count ? index : table->count - 1u];

	return (packet_ns * (entry & CC_TABLE_MULTIPLIER_MAX)) >> (entry >> 14);
}
