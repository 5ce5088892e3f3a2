/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "galois_field.h"
#include "topo/generator.h"

/* Slim Fly (Besta, Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC 2014):
 * the graphs of McKay, Miller and Siran, with 2 q^2 switches of (3q - d) / 2 links each, any two at
 * most two links apart. q = 4w + d is a power of a prime, and d is -1, 0 or 1. Generator sets X, X'
 * are from Hafner, "Geometric realisation of the graphs of McKay-Miller-Siran" (2004).
 *
 * Switch number = half * q^2 + x * q + y. In the first half (x, y) and (x, y') are linked if y - y'
 * is in X, and in the second half (m, c) and (m, c') if c - c' is in X'. Between the halves (x, y)
 * and (m, c) are linked if y = m x + c. Ports lead to the neighbours in the order of their numbers;
 * host ports follow, by default half as many as links, rounded up. */

uint32_t galois_field_add(const struct galois_field *field, uint32_t a, uint32_t b, uint32_t factor)
{
	uint32_t sum = 0;

	for (uint32_t place = 1; place < field->q; place *= field->p)
		sum += (a / place + factor * (b / place)) % field->p * place;
	return sum;
}

/* Lists the powers of x, where x^m equals 'polynomial', which has a lower degree. Returns false if
 * they do not include all elements except 0. */
static bool try_powers(struct galois_field *field, uint32_t polynomial)
{
	uint32_t top = field->q / field->p, element = 1; /* place value of the first digit */

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

enum { Q, HOSTS };

struct slimfly {
	struct galois_field field;
	bool in[2][GALOIS_FIELD_MAX]; /* X and X' */
};

/* Even powers of the primitive element are in X, odd ones in X'. With d = -1 the parities change in
 * the middle, so that each set contains the negatives of its elements. */
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

/* PolarFly (Lakhotia, Besta, Monroe, Isham, Iff, Hoefler, Petrini, "PolarFly: A Cost-Effective and
 * Flexible Low-Diameter Topology", SC 2022): the graphs of Erdos and Renyi, q^2 + q + 1 switches,
 * any two at most two links apart. A switch has q + 1 links, except that q + 1 of the switches have
 * one less.
 *
 * A switch is a point of the projective plane over the field of q elements, a vector whose first
 * nonzero element is 1: number y q + z is (1, y, z), q^2 + z is (0, 1, z), and the last one is (0,
 * 0, 1). Two are linked if their vectors are orthogonal. Ports lead to the neighbours in ascending
 * order. Hosts, by default (q + 1) / 2, start at port q + 1. */

static void vector_of(uint32_t q, uint32_t at, uint32_t vector[3])
{
	bool finite = at < q * q, last = at == q * q + q;

	vector[0] = finite;
	vector[1] = finite ? at / q : !last;
	vector[2] = last ? 1 : at % q;
}

static bool orthogonal(const void *ctx, uint32_t a, uint32_t b)
{
	const struct galois_field *field = ctx;
	uint32_t one[3], other[3], sum = 0;

	vector_of(field->q, a, one);
	vector_of(field->q, b, other);
	for (unsigned i = 0; i < 3; i++)
		sum = galois_field_add(
			field, sum, galois_field_multiply(field, one[i], other[i]), 1);
	return sum == 0;
}

static int build_polarfly(const struct generator_request *request, struct topology **topology)
{
	uint32_t q = (uint32_t)request->values[Q].number, switches = q * q + q + 1;
	uint64_t hosts = request->values[HOSTS].number;
	struct galois_field field;
	int result;

	if (!galois_field_make(&field, q))
		return error_set(request->error, EINVAL,
			"%s: q=%u: expected a power of a prime, such as 2, 3, 4, 5, 7, 8",
			request->spec, q);
	hosts = hosts == 0 ? (q + 1) / 2 : hosts;
	result = generator_create(request, switches, switches * hosts, q + 1 + hosts, topology);
	if (result == 0)
		result = generator_link_hosts(request, *topology, (uint32_t)hosts, q + 1);
	return result < 0 ? result
			  : generator_link_adjacent(request, *topology, orthogonal, &field);
}

const struct generator generator_polarfly = {
	.name = "polarfly",
	.help = "q^2 + q + 1 switches, any two at most two links apart",
	.options = {{"q", GENERATOR_NUMBER, true, 2, 251, 0, "a power of a prime"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,
			"hosts per switch; half the links by default"}},
	.build = build_polarfly,
};
