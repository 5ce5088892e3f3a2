/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arbitration.h"

/* 64 ln(64 / (64 - n)), rounded, where n is the number of bits set. */
static const uint16_t counted[65] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17, 18, 20,
	21, 23, 24, 25, 27, 28, 30, 32, 33, 35, 37, 39, 40, 42, 44, 46, 48, 51, 53, 55, 58, 60, 63,
	65, 68, 71, 74, 78, 81, 85, 89, 93, 97, 102, 107, 113, 119, 126, 133, 142, 151, 163, 177,
	196, 222, 266, 310};

unsigned arbitration_flows(uint64_t seen)
{
	return counted[__builtin_popcountll(seen)];
}
