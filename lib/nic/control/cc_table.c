/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cc_table.h"

#define SHIFT 3

/* floor(i^2 * 7 / 106^2 / 0.408) in whole numbers. */
static unsigned llnl(unsigned i)
{
	return i * i * 7000u / (106u * 106u * 408u);
}

void cc_table_fill(struct cc_table *table, enum cc_table_kind kind)
{
	table->count = 0;
	for (unsigned i = 0; i < CC_TABLE_ENTRIES; i++)
		cc_table_add(table, SHIFT, kind == CC_TABLE_LLNL ? llnl(i) : i);
}

bool cc_table_add(struct cc_table *table, unsigned shift, unsigned multiplier)
{
	if (shift > CC_TABLE_SHIFT_MAX || multiplier > CC_TABLE_MULTIPLIER_MAX ||
		table->count == CC_TABLE_ENTRIES)
		return false;
	table->entry[table->count++] = (uint16_t)(shift << 14 | multiplier);
	return true;
}
