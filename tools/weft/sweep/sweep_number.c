/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"

/* One base unit of lib's quantities in the unit of results. */
static const struct {
	enum quantity_kind quantity;
	enum sweep_number_kind kind;
	double per_unit; /* base units */
} units[] = {
	{QUANTITY_RATE, SWEEP_NUMBER_RATE, 1},
	{QUANTITY_TIME, SWEEP_NUMBER_TIME, 1e3},
	{QUANTITY_SIZE, SWEEP_NUMBER_SIZE, 1},
	{QUANTITY_SHARE, SWEEP_NUMBER_SHARE, QUANTITY_WHOLE_PPM},
};

/* Decimal digits, point and exponent alone: strtod() would also take "inf" and "0x10". */
static bool parse_plain(const char *text, double *value)
{
	char *end;

	if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
		return false;
	*value = strtod(text, &end);
	return *end == '\0' && isfinite(*value);
}

bool sweep_number_parse(const char *text, struct sweep_number *number)
{
	uint64_t base;

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (quantity_parse(units[i].quantity, text, &base) == 0) {
			*number = (struct sweep_number){
				units[i].kind, (double)base / units[i].per_unit};
			return true;
		}
	number->kind = SWEEP_NUMBER_NONE;
	return parse_plain(text, &number->value);
}

const char *sweep_number_suffix(enum sweep_number_kind kind)
{
	static const char *const suffixes[] = {
#define X(id, suffix) suffix,
		SWEEP_NUMBER_KINDS(X)
#undef X
	};

	return suffixes[kind];
}
