/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A permutation file: pairs of hosts, "SOURCE DESTINATION". Each host is a source at
 * most once and a destination at most once. */

#include <stdint.h>

#include "base/weft_error.h"
#include "topo/topology.h"

/* The caller frees '*from' and '*to', even after a failure (they may be NULL). Returns 0, or a
 * negative code with error set. */
int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct error *error);

/* Draws a single cycle over all hosts from the seed: each host sends, but not to itself. Returns
 * -EINVAL with fewer than two hosts; -ENOMEM. */
int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct error *error);

/* Reads a file with two words per line. '#' starts a comment; empty lines are skipped. */

/* Returns 0, or a negative code with error set. */
typedef int (*pair_file_take_fn)(void *ctx, char *first, char *second);

struct pair_file {
	const char *path;
	const char *words; /* the two columns, for messages: "RANK HOST" */
	pair_file_take_fn take;
	void *ctx;
	struct error *error;
	unsigned line; /* number of the present one */
};

/* Returns 0, or a negative code with error set. */
int pair_file_read(struct pair_file *file);
