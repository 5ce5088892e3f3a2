/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Quantities with units, as users write them ("10Gbps", "1.5us", "128KiB", "75%") and as the
 * program stores them: integers in bits per second, picoseconds, bytes or millionths. The unit is
 * required. Nothing is rounded: a value that is not a whole number of base units is refused. */

#include <stdbool.h>
#include <stdint.h>

/* Kind, and its description for messages. */
#define QUANTITY_KINDS(X)                                                       \
	X(RATE, "a rate with its unit, such as 10Gbps (bps, kbps, Mbps, Gbps)") \
	X(TIME, "a time with its unit, such as 30ns (ps, ns, us, ms, s)")       \
	X(SIZE, "a size with its unit, such as 128KiB (B, KiB, MiB, GiB, TiB)") \
	X(SHARE, "a percentage, such as 75% (at most four digits after the point)")

enum quantity_kind {
#define X(name, expected) QUANTITY_##name,
	QUANTITY_KINDS(X)
#undef X
		QUANTITY_KIND_COUNT
};

#define QUANTITY_TEXT 32 /* larger than any text of quantity_format() */

/* 100 % in millionths. */
#define QUANTITY_WHOLE_PPM 1000000u

/* Returns 0, or an error that leaves '*value' unchanged: -EINVAL if 'text' is not a number directly
 * followed by a unit of this kind, -EDOM if finer than the base unit, -ERANGE if >= 2^64 - 1. */
int quantity_parse(enum quantity_kind kind, const char *text, uint64_t *value);

/* Writes the shortest text that parses back to the same value. The number is at least 1 (400ms, not
 * 0.4s), unless the unit is the smallest one. Ties go to the larger unit. */
void quantity_format(enum quantity_kind kind, uint64_t value, char out[QUANTITY_TEXT]);

/* Formats a time in a suitable unit ("1.25 ms"), rounded to 'digits' significant digits, or two
 * more from 1 s. Returns 'text'. */
const char *quantity_time_text(uint64_t ns, unsigned digits, char text[QUANTITY_TEXT]);

/* Returns the kind's description for messages. */
const char *quantity_expected(enum quantity_kind kind);

/* Parses a decimal number from 'min' to 'max'. Returns false if 'text' is anything else. */
bool quantity_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/* Returns the plural ending of a noun after a count: "" after 1, else 'end'. */
static inline const char *plural(uint64_t count, const char *end)
{
	return count == 1 ? "" : end;
}
