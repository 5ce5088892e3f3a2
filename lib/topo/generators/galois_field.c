/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "galois_field.h"

uint32_t galois_field_add(const struct galois_field *field, uint32_t a, uint32_t b, uint32_t factor)
{
	uint32_t sum = 0;

	for (uint32_t place = 1; place < field->q; place *= field->p)
		sum += (a / place + factor * (b / place)) % field->p * place;
	return sum;
}

/* Lists the powers of x, given that x^m equals 'polynomial', of lower degree. Returns false if they
 * do not include all elements except 0. */
static bool try_powers(struct galois_field *field, uint32_t polynomial)
{
	uint32_t top = field->q / field->p, element = 1; /* the value of the first digit */

	for (uint32_t exponent = 0; exponent < field->q - 1; exponent++) {
		if (element == 0 || (element == 1 && exponent > 0))
			return false;
		field->power[exponent] = (uint16_t)element;
		field->logarithm[element] = (uint16_t)exponent;
		element = galois_field_add(
			field, element % top * field->p, polynomial, element / top);
	}
	return element == 1;
}

bool galois_field_make(struct galois_field *field, uint32_t q)
{
	uint32_t p = 2, rest = q;

	if (q < 2 || q > GALOIS_FIELD_MAX)
		return false;
	while (q % p != 0)
		p++;
	while (rest % p == 0)
		rest /= p;
	*field = (struct galois_field){.q = q, .p = p};
	for (uint32_t polynomial = 1; rest == 1 && polynomial < q; polynomial++)
		if (try_powers(field, polynomial))
			return true;
	return false;
}
