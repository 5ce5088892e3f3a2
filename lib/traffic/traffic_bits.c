/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Patterns that permute the bits of the host's number (Duato, Yalamanchili, Ni, Interconnection
 * Networks, 9.1; the thesis, 4.5): each host sends to one other, always the same. They need 2^n
 * hosts. A host that is its own partner sends nothing.
 */

#include <stdlib.h>

#include "traffic_pattern.h"

/* 'host' and the result have 'bits' bits. */
typedef uint16_t traffic_bits_fn(uint16_t host, unsigned bits);

/* Host a(n-1) ... a(0) to host a(0) ... a(n-1). */
static uint16_t reverse(uint16_t host, unsigned bits)
{
	uint16_t reversed = 0;

	for (unsigned i = 0; i < bits; i++)
		reversed |= (uint16_t)((host >> i & 1) << (bits - 1 - i));
	return reversed;
}

/* Host a(n-1) ... a(0) to host a(n/2-1) ... a(0) a(n-1) ... a(n/2): row and column of a square
 * matrix exchanged. */
static uint16_t transpose(uint16_t host, unsigned bits)
{
	unsigned half = bits / 2;

	return (uint16_t)(host >> half | (host & ((1u << half) - 1)) << half);
}

/* Host a(n-1) ... a(0) to host a(n-2) ... a(0) a(n-1): the perfect shuffle. */
static uint16_t shuffle(uint16_t host, unsigned bits)
{
	return (uint16_t)((host << 1 & ((1u << bits) - 1)) | host >> (bits - 1));
}

/* Host a(n-1) ... a(0) to host a(0) a(n-2) ... a(1) a(n-1): the first and the last bit exchanged.
 */
static uint16_t exchange_ends(uint16_t host, unsigned bits)
{
	unsigned ends = (host >> (bits - 1) ^ host) & 1;

	return (uint16_t)(host ^ (ends << (bits - 1) | ends));
}

static unsigned bits_of(uint16_t hosts)
{
	unsigned bits = 0;

	while (hosts > 1u << bits)
		bits++;
	return bits;
}

/* Keeps the partner in '*state'. */
static int init(void **state, const struct traffic_config *config, traffic_bits_fn *partner,
	struct fault *fault)
{
	unsigned bits = bits_of(config->hosts);
	uint16_t *to;

	if (config->hosts < 2 || config->hosts != 1u << bits)
		return fault_set(fault, EINVAL,
			"%s traffic permutes the bits of host numbers: expected a power of two of "
			"hosts, found %u",
			config->pattern->name, config->hosts);
	to = malloc(sizeof(*to));
	if (to == NULL)
		return fault_set(fault, ENOMEM, "no memory for %s traffic", config->pattern->name);
	*to = partner(config->host, bits);
	*state = to;
	return 0;
}

static bool sends(const void *state, const struct traffic_config *config)
{
	return *(const uint16_t *)state != config->host;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return *(uint16_t *)state;
}

static int init_reverse(void **state, const struct traffic_config *config, struct fault *fault)
{
	return init(state, config, reverse, fault);
}

static int init_transpose(void **state, const struct traffic_config *config, struct fault *fault)
{
	if (bits_of(config->hosts) % 2 != 0 && config->hosts == 1u << bits_of(config->hosts))
		return fault_set(fault, EINVAL,
			"%s traffic exchanges the halves of host numbers: expected an even power "
			"of two of hosts (4, 16, 64, ...), found %u",
			config->pattern->name, config->hosts);
	return init(state, config, transpose, fault);
}

static int init_shuffle(void **state, const struct traffic_config *config, struct fault *fault)
{
	return init(state, config, shuffle, fault);
}

static int init_butterfly(void **state, const struct traffic_config *config, struct fault *fault)
{
	return init(state, config, exchange_ends, fault);
}

#define BITS_PATTERN(name_text, init_fn)                                                 \
	{                                                                                \
		.name = name_text, .keys = TRAFFIC_FROM | TRAFFIC_RATE, .init = init_fn, \
		.fini = free, .sends = sends, .destination = destination                 \
	}

const struct traffic_pattern traffic_bit_reversal = BITS_PATTERN("bit-reversal", init_reverse);
const struct traffic_pattern traffic_transpose = BITS_PATTERN("transpose", init_transpose);
const struct traffic_pattern traffic_shuffle = BITS_PATTERN("shuffle", init_shuffle);
const struct traffic_pattern traffic_butterfly = BITS_PATTERN("butterfly", init_butterfly);
