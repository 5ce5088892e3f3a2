/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Patterns in which each host always sends to the same partner, defined by a list of all hosts or
 * by permuting the bits of the host number (Duato, Yalamanchili, Ni, Interconnection Networks, 9.1;
 * the thesis, 4.5), which requires 2^n hosts. A host that is its own partner sends nothing. */

#include <stdlib.h>

#include "traffic_pattern.h"

/* Stores the partner in '*state'. */
static int keep(
	void **state, const struct traffic_config *config, uint16_t partner, struct error *error)
{
	uint16_t *to = malloc(sizeof(*to));

	if (to == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for %s traffic", config->pattern->name);
	*to = partner;
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

#define PARTNER_PATTERN(name_text, text, key_set, init_fn, in_pairs)                      \
	{                                                                                 \
		.name = name_text, .summary = text, .keys = (key_set), .pairs = in_pairs, \
		.init = init_fn, .fini = free, .sends = sends, .destination = destination \
	}

static int init_permutation(void **state, const struct traffic_config *config, struct error *error)
{
	uint16_t to;

	if (config->permutation == NULL)
		return error_set(error, EINVAL, "permutation traffic needs a list of pairs");
	to = config->permutation[config->host];
	if (to >= config->hosts)
		return error_set(error, EINVAL,
			"permutation target %u does not exist; there are %u hosts", to,
			config->hosts);
	return keep(state, config, to, error);
}

const struct traffic_pattern traffic_permutation = PARTNER_PATTERN("permutation",
	"always the same host: from `file` (lines of `SOURCE DESTINATION`, `#` comments), or drawn with the seed in one cycle through all. Does not accept `from` or `to`",
	TRAFFIC_FILE | TRAFFIC_RATE, init_permutation, true);

/* 'host' and the result have 'bits' bits. */
typedef uint16_t traffic_bits_fn(uint16_t host, unsigned bits);

/* Bit reversal: host a(n-1) ... a(0) sends to host a(0) ... a(n-1). */
static uint16_t reverse(uint16_t host, unsigned bits)
{
	uint16_t reversed = 0;

	for (unsigned i = 0; i < bits; i++)
		reversed |= (uint16_t)((host >> i & 1) << (bits - 1 - i));
	return reversed;
}

/* Transpose: host a(n-1) ... a(0) sends to host a(n/2-1) ... a(0) a(n-1) ... a(n/2), which
 * exchanges row and column of a square matrix. */
static uint16_t transpose(uint16_t host, unsigned bits)
{
	unsigned half = bits / 2;

	return (uint16_t)(host >> half | (host & ((1u << half) - 1)) << half);
}

/* Perfect shuffle: host a(n-1) ... a(0) sends to host a(n-2) ... a(0) a(n-1). */
static uint16_t shuffle(uint16_t host, unsigned bits)
{
	return (uint16_t)((host << 1 & ((1u << bits) - 1)) | host >> (bits - 1));
}

/* Butterfly: host a(n-1) ... a(0) sends to host a(0) a(n-2) ... a(1) a(n-1), which exchanges the
 * first and last bits. */
static uint16_t exchange_ends(uint16_t host, unsigned bits)
{
	unsigned ends = (host >> (bits - 1) ^ host) & 1;

	return (uint16_t)(host ^ (ends << (bits - 1) | ends));
}

static unsigned bits_of(uint32_t hosts)
{
	unsigned bits = 0;

	while (hosts > 1u << bits)
		bits++;
	return bits;
}

static int init(void **state, const struct traffic_config *config, traffic_bits_fn *partner,
	struct error *error)
{
	unsigned bits = bits_of(config->hosts);

	if (config->hosts < 2 || config->hosts != 1u << bits)
		return error_set(error, EINVAL,
			"%s traffic permutes the bits of host numbers, so the number of hosts "
			"must be a power of two, not %u",
			config->pattern->name, config->hosts);
	return keep(state, config, partner(config->host, bits), error);
}

static int init_reverse(void **state, const struct traffic_config *config, struct error *error)
{
	return init(state, config, reverse, error);
}

static int init_transpose(void **state, const struct traffic_config *config, struct error *error)
{
	if (bits_of(config->hosts) % 2 != 0 && config->hosts == 1u << bits_of(config->hosts))
		return error_set(error, EINVAL,
			"%s traffic exchanges the halves of host numbers, so the number of hosts "
			"must be an even power of two (4, 16, 64, ...), not %u",
			config->pattern->name, config->hosts);
	return init(state, config, transpose, error);
}

static int init_shuffle(void **state, const struct traffic_config *config, struct error *error)
{
	return init(state, config, shuffle, error);
}

static int init_butterfly(void **state, const struct traffic_config *config, struct error *error)
{
	return init(state, config, exchange_ends, error);
}

#define BITS_PATTERN(name_text, text, init_fn) \
	PARTNER_PATTERN(name_text, text, TRAFFIC_FROM | TRAFFIC_RATE, init_fn, false)

const struct traffic_pattern traffic_bit_reversal = BITS_PATTERN("bit-reversal",
	"from aₙ₋₁…a₀ to a₀…aₙ₋₁, the bits of the host's number. Does not accept `to`",
	init_reverse);
const struct traffic_pattern traffic_transpose = BITS_PATTERN("transpose",
	"from aₙ₋₁…a₀ to aₙ⸝₂₋₁…a₀aₙ₋₁…aₙ⸝₂: the halves exchanged. Does not accept `to`",
	init_transpose);
const struct traffic_pattern traffic_shuffle =
	BITS_PATTERN("shuffle", "from aₙ₋₁…a₀ to aₙ₋₂…a₀aₙ₋₁. Does not accept `to`", init_shuffle);
const struct traffic_pattern traffic_butterfly = BITS_PATTERN("butterfly",
	"from aₙ₋₁…a₀ to a₀aₙ₋₂…a₁aₙ₋₁: first and last bit exchanged. Does not accept `to`",
	init_butterfly);
