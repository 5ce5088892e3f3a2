/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Slim Fly (Besta, Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC 2014):
 * the graphs of McKay, Miller and Siran, 2 q^2 switches with (3q - d) / 2 links each, any two at
 * most two links apart; q = 4w + d is a power of a prime, d one of -1, 0, 1. Generator sets X, X'
 * after Hafner, "Geometric realisation of the graphs of McKay-Miller-Siran" (2004).
 *
 * Switch number = half * q^2 + x * q + y. In the first half (x, y) and (x, y') are linked if y - y'
 * is in X, in the second half (m, c) and (m, c') if c - c' is in X'; across, (x, y) and (m, c) if y
 * = m x + c. Ports lead to the neighbours in the order of their numbers, hosts after; by default
 * half as many hosts as links, rounded up. */

#include "galois_field.h"
#include "topo/generator.h"

enum { Q, HOSTS };

struct slimfly {
	struct galois_field field;
	bool in[2][GALOIS_FIELD_MAX]; /* X and X' */
};

/* Even powers of the primitive element for X, odd ones for X'; with d = -1 the parities change in
 * the middle, so that each set has the negatives of its elements. */
static void find_sets(struct slimfly *fly)
{
	uint32_t q = fly->field.q, size = q % 4 == 3 ? (q + 1) / 2 : q / 2;

	for (uint32_t i = 0; i < size; i++) {
		uint32_t exponent = 2 * i - (q % 4 == 3 && i >= (q + 1) / 4);

		fly->in[0][fly->field.power[exponent % (q - 1)]] = true;
		fly->in[1][fly->field.power[(exponent + 1) % (q - 1)]] = true;
	}
}

static bool adjacent(const void *ctx, uint32_t a, uint32_t b)
{
	const struct slimfly *fly = ctx;
	const struct galois_field *field = &fly->field;
	uint32_t q = field->q, half = a / (q * q);
	uint32_t x = a / q % q, y = a % q, m = b / q % q, c = b % q;

	if (half == b / (q * q))
		return x == m && fly->in[half][galois_field_subtract(field, y, c)];
	return y == galois_field_add(field, galois_field_multiply(field, m, x), c, 1);
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint32_t q = (uint32_t)request->values[Q].number;
	uint64_t hosts = request->values[HOSTS].number, degree = q + (q % 4 == 3 ? q + 1 : q) / 2;
	struct slimfly fly = {.in = {{false}}};
	int result;

	if (q == 2 || !galois_field_make(&fly.field, q))
		return error_set(request->error, EINVAL,
			"%s: q=%u: expected a power of a prime, such as 3, 4, 5, 7, 8, 9",
			request->spec, q);
	find_sets(&fly);
	hosts = hosts == 0 ? (degree + 1) / 2 : hosts;
	result = generator_create(
		request, (uint64_t)2 * q * q, 2 * q * q * hosts, degree + hosts, topology);
	if (result == 0)
		result =
			generator_link_hosts(request, *topology, (uint32_t)hosts, (unsigned)degree);
	return result < 0 ? result : generator_link_adjacent(request, *topology, adjacent, &fly);
}

const struct generator generator_slimfly = {
	.name = "slimfly",
	.help = "2 q^2 switches, any two at most two links apart",
	.options = {{"q", GENERATOR_NUMBER, true, 3, 181, 0, "a power of a prime"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,
			"hosts per switch; half the links by default"}},
	.build = build,
};
