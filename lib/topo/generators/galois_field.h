/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arithmetic in the finite field of q elements, where q is a power of a prime p: the algebra of
 * Slim Fly and PolarFly. Elements are the numbers 0 .. q-1. Their digits in base p are the
 * coefficients of a polynomial. Any thread; no memory to free. */

#include <stdbool.h>
#include <stdint.h>

#define GALOIS_FIELD_MAX 256

struct galois_field {
	uint32_t q, p;
	uint16_t power[GALOIS_FIELD_MAX]; /* powers of a primitive element, by exponent 0 .. q-2 */
	uint16_t logarithm[GALOIS_FIELD_MAX]; /* by element except 0 */
};

/* Returns false if q is not a power of a prime or exceeds GALOIS_FIELD_MAX. */
bool galois_field_make(struct galois_field *field, uint32_t q);

/* Returns a + factor * b, where the factor is below p. */
uint32_t galois_field_add(
	const struct galois_field *field, uint32_t a, uint32_t b, uint32_t factor);

static inline uint32_t galois_field_subtract(
	const struct galois_field *field, uint32_t a, uint32_t b)
{
	return galois_field_add(field, a, b, field->p - 1);
}

static inline uint32_t galois_field_multiply(
	const struct galois_field *field, uint32_t a, uint32_t b)
{
	if (a == 0 || b == 0)
		return 0;
	return field->power[(field->logarithm[a] + field->logarithm[b]) % (field->q - 1)];
}
