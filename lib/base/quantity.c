/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name_table.h"

#define UNITS_MAX 6

struct unit {
	const char *name; /* NULL ends the list */
	uint64_t factor;
};

static const struct unit unit_list[QUANTITY_KIND_COUNT][UNITS_MAX] = {
	[QUANTITY_RATE] = {{"Gbps", 1000000000}, {"Mbps", 1000000}, {"kbps", 1000}, {"bps", 1}},
	[QUANTITY_TIME] = {{"s", 1000000000000}, {"ms", 1000000000}, {"us", 1000000}, {"ns", 1000},
		{"ps", 1}},
	[QUANTITY_SIZE] = {{"TiB", UINT64_C(1) << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20},
		{"KiB", 1024}, {"B", 1}},
	[QUANTITY_SHARE] = {{"%", QUANTITY_WHOLE_PPM / 100}},
};

struct decimal {
	uint64_t digits; /* the number without its decimal point */
	uint64_t scale;  /* divisor: 10 ^ number of decimal places */
};

/* Returns false if 'c' is not a digit or the number overflows. */
static bool decimal_digit(struct decimal *decimal, char c)
{
	uint64_t digits;

	if (c < '0' || c > '9' || __builtin_mul_overflow(decimal->digits, 10, &digits) ||
		__builtin_add_overflow(digits, (uint64_t)(c - '0'), &digits))
		return false;
	decimal->digits = digits;
	return true;
}

/* Reads "12" or "12.5". Returns the unread rest, or NULL if there is no number. */
static const char *decimal_parse(const char *text, struct decimal *decimal)
{
	const char *start = text, *point;

	*decimal = (struct decimal){.scale = 1};
	while (decimal_digit(decimal, *text))
		text++;
	if (text == start || *text != '.')
		return text == start ? NULL : text;
	point = ++text;
	while (decimal->scale <= UINT64_MAX / 10 && decimal_digit(decimal, *text)) {
		decimal->scale *= 10;
		text++;
	}
	return text == point ? NULL : text;
}

static const struct unit *unit_find(enum quantity_kind kind, const char *name)
{
	for (const struct unit *unit = unit_list[kind]; unit->name != NULL; unit++)
		if (strcmp(unit->name, name) == 0)
			return unit;
	return NULL;
}

int quantity_parse(enum quantity_kind kind, const char *text, uint64_t *value)
{
	const struct unit *unit;
	struct decimal decimal;
	unsigned __int128 product;
	const char *rest = decimal_parse(text, &decimal);

	if (rest == NULL)
		return -EINVAL;
	if (*rest >= '0' && *rest <= '9')
		return -ERANGE; /* more digits than 64 bits hold */
	unit = unit_find(kind, rest);
	if (unit == NULL)
		return -EINVAL;
	product = (unsigned __int128)decimal.digits * unit->factor;
	if (product % decimal.scale != 0)
		return -EDOM;
	product /= decimal.scale;
	if (product >= UINT64_MAX)
		return -ERANGE;
	*value = (uint64_t)product;
	return 0;
}

/* Writes value / factor exactly. Returns false if the text does not fit. */
static bool unit_format(const struct unit *unit, uint64_t value, char out[QUANTITY_TEXT])
{
	uint64_t rest = value % unit->factor;
	size_t length = (size_t)snprintf(
		out, QUANTITY_TEXT, "%" PRIu64 "%s", value / unit->factor, rest != 0 ? "." : "");

	for (; rest != 0 && length < QUANTITY_TEXT; rest %= unit->factor) {
		rest *= 10; /* no overflow: factors are at most 2^40 */
		out[length++] = (char)('0' + rest / unit->factor);
	}
	if (rest != 0 || length + strlen(unit->name) >= QUANTITY_TEXT)
		return false;
	strcpy(out + length, unit->name);
	return true;
}

/* Prefers 400ms to 0.4s, and otherwise the shorter text. */
static bool reads_better(const char *text, const char *than)
{
	bool fraction = text[0] == '0' && text[1] == '.';
	bool than_fraction = than[0] == '0' && than[1] == '.';

	return fraction != than_fraction ? than_fraction : strlen(text) < strlen(than);
}

void quantity_format(enum quantity_kind kind, uint64_t value, char out[QUANTITY_TEXT])
{
	char text[QUANTITY_TEXT];

	out[0] = '\0';
	for (const struct unit *unit = unit_list[kind]; unit->name != NULL; unit++)
		if (unit_format(unit, value, text) && (out[0] == '\0' || reads_better(text, out)))
			strcpy(out, text);
}

const char *quantity_time_text(uint64_t ns, unsigned digits, char text[QUANTITY_TEXT])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns, whole = 1, step = 1;
	unsigned unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	digits += unit == 3 ? 2 : 0;
	for (unsigned i = 0; i < digits; i++)
		whole *= 10;
	/* With two digits, %g would write 410 ms as 4.1e+02. */
	while (value / step + 0.5 >= whole)
		step *= 10;
	if (step > 1)
		snprintf(text, QUANTITY_TEXT, "%.0f %s",
			(double)(uint64_t)(value / step + 0.5) * step, units[unit]);
	else
		snprintf(text, QUANTITY_TEXT, "%.*g %s", (int)digits, value, units[unit]);
	return text;
}

const char *quantity_expected(enum quantity_kind kind)
{
	static const char *const expected[] = {QUANTITY_KINDS(WORD_TEXT)};

	return expected[kind];
}

bool quantity_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number >= min &&
	       *number <= max;
}
