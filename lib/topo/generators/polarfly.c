/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* PolarFly (Lakhotia, Besta, Monroe, Isham, Iff, Hoefler, Petrini, "PolarFly: A Cost-Effective and
 * Flexible Low-Diameter Topology", SC 2022): the graphs of Erdos and Renyi, q^2 + q + 1 switches
 * with q + 1 links each, except that q + 1 of the switches have one less, and any two switches at
 * most two links apart.
 *
 * A switch is a point of the projective plane over the field of q elements, a vector whose first
 * element that is not 0 is 1: number y q + z is (1, y, z), q^2 + z is (0, 1, z), the last one (0,
 * 0, 1). Two are linked if their vectors are orthogonal. Ports lead to the neighbours in the order
 * of their numbers; hosts from port q + 1 on, by default (q + 1) / 2. */

#include "galois_field.h"
#include "topo/generator.h"

enum { Q, HOSTS };

static void vector_of(uint32_t q, uint32_t at, uint32_t vector[3])
{
	bool finite = at < q * q, last = at == q * q + q;

	vector[0] = finite;
	vector[1] = finite ? at / q : !last;
	vector[2] = last ? 1 : at % q;
}

static bool adjacent(const void *ctx, uint32_t a, uint32_t b)
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

static int build(const struct generator_request *request, struct topology **topology)
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
	return result < 0 ? result : generator_link_adjacent(request, *topology, adjacent, &field);
}

const struct generator generator_polarfly = {
	.name = "polarfly",
	.help = "q^2 + q + 1 switches, any two at most two links apart",
	.options = {{"q", GENERATOR_NUMBER, true, 2, 251, 0, "a power of a prime"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,
			"hosts per switch; half the links by default"}},
	.build = build,
};
