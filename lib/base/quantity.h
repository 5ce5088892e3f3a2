/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Quantities with their unit as people write them ("10Gbps", "1.5us", "128KiB", "75%") and as the
 * program keeps them: whole numbers of bits per second, picoseconds, bytes, or millionths. The unit
 * is required. Nothing is rounded: a value that is not a whole number of base units is refused. */

#include <stdbool.h>
#include <stdint.h>

/* kind, and its description for messages */
#define QUANTITY_KINDS(X)                                                       \
	X(RATE, "a rate with its unit, such as 10Gbps (bps, kbps, Mbps, Gbps)") \
	X(TIME, "a time with its unit, such as 30ns (ps, ns, us, ms, s)")       \
	X(SIZE, "a size with its unit, such as 128KiB (B, KiB, MiB)")           \
	X(SHARE, "a percentage, such as 75% (at most four digits after the point)")

enum quantity_kind {
#define X(name, expected) QUANTITY_##name,
	QUANTITY_KINDS(X)
#undef X
		QUANTITY_KIND_COUNT
};

#define QUANTITY_TEXT 32 /* more than the longest text of quantity_format() */

/* 100 % in millionths. */
#define QUANTITY_WHOLE_PPM 1000000u

/* Returns 0, or -EINVAL: not a number followed directly by a unit of this kind; -EDOM: finer than
 * the base unit; -ERANGE: 2^64 - 1 or more. On error '*value' is unchanged. */
int quantity_parse(enum quantity_kind kind, const char *text, uint64_t *value);

/* The shortest text that parses back to the same value. The unit is one in which the value is at
 * least 1 (400ms, not 0.4s) unless it is the smallest. If two texts are equally short, the larger
 * unit is used. */
void quantity_format(enum quantity_kind kind, uint64_t value, char out[QUANTITY_TEXT]);

/* "1.25 ms": in a suitable unit, rounded to 'digits' digits, or two more for times of 1 s and
 * above. */
const char *quantity_time_text(uint64_t ns, unsigned digits, char text[QUANTITY_TEXT]);

/* "a rate with its unit, such as …", for messages. */
const char *quantity_expected(enum quantity_kind kind);

/* Whether 'text' is a decimal number from 'min' to 'max', and nothing else. */
bool quantity_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/* The ending of a noun after a count: "" after 1, else 'end'. */
static inline const char *plural(uint64_t count, const char *end)
{
	return count == 1 ? "" : end;
}
