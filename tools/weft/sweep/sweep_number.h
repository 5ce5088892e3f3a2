/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The number that the text of a varied key means, in the units of results: "10%" is 0.1, "4KiB" is
 * 4096 bytes, "1.5us" is 1500 ns, "100Gbps" is 1e11 bit/s. */

#include <stdbool.h>

/* suffix of a column with such numbers; NONE: numbers without a unit, which need no column */
#define SWEEP_NUMBER_KINDS(X) \
	X(NONE, "")           \
	X(RATE, "_bps")       \
	X(TIME, "_ns")        \
	X(SIZE, "_bytes")     \
	X(SHARE, "_share")

enum sweep_number_kind {
#define X(id, suffix) SWEEP_NUMBER_##id,
	SWEEP_NUMBER_KINDS(X)
#undef X
};

struct sweep_number {
	enum sweep_number_kind kind;
	double value;
};

/* False: the text is no number, or has no unit of a run file. */
bool sweep_number_parse(const char *text, struct sweep_number *number);

/* "_bps" and so on. */
const char *sweep_number_suffix(enum sweep_number_kind kind);
