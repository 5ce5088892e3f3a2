/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Permutations as text: one line a host, 'SOURCE DESTINATION', as names h0, h1, … or as numbers;
 * '#' begins a comment. Hosts that are not named do not send; nobody sends or receives twice.
 */

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* Fills to[hosts] (TRAFFIC_NOWHERE where nothing is said) from the 'bytes' of 'text'; 'origin' is
 * its file name for messages. 0 or -EINVAL and fault with FILE:LINE. */
int permutation_parse(uint16_t *to, uint16_t hosts, const char *text, size_t bytes,
	const char *origin, struct fault *fault);
