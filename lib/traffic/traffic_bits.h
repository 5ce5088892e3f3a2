/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Patterns that permute the bits of the host's number (Duato, Yalamanchili, Ni, Interconnection
 * Networks, 9.1; the thesis, 4.5): each host sends to one other, always the same. They want 2^n
 * hosts. A host that is its own partner sends nothing.
 */

#include "traffic_pattern.h"

/* 'host' and the result have 'bits' bits. */
typedef uint16_t traffic_bits_fn(uint16_t host, unsigned bits);

/* Keeps the partner in '*state'. -EINVAL: the number of hosts is no power of two, or, if 'even',
 * not one with an even exponent. */
int traffic_bits_init(void **state, const struct traffic_config *config, traffic_bits_fn *partner,
	bool even, struct fault *fault);
/* Ops of all of them; 'fini' is free(). */
bool traffic_bits_sends(const void *state, const struct traffic_config *config);
uint16_t traffic_bits_destination(
	void *state, const struct traffic_config *config, struct rng *rng);
