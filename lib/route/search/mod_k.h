/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The ports of D-mod-K in a fat tree (dmodk.c has the paper and the choices). */

#include "fat_tree.h"

/* The port of 'set', all ups of switch 'at', that D-mod-K takes for a host, or the one 'shift'
 * places after it. The set is not empty. */
unsigned mod_k_up(
	const struct fat_tree *tree, uint32_t at, uint64_t set, uint32_t host, uint32_t shift);

/* The port of 'set', all downs: among parallel links the one by which the host's own side would go
 * up to it. */
unsigned mod_k_down(const struct fat_tree *tree, uint32_t at, uint64_t set, uint32_t host);
