/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Layers of VCs that make paths free of deadlock without changing them: the paths within a layer
 * have dependencies without a cycle, and a packet stays in its layer. */

#include <stdint.h>

#include "base/weft_error.h"
#include "shortest_trees.h"

struct vc_layers {
	uint8_t *layer; /* [tree * switches + source switch] */
	unsigned count; /* 1 or more */
};

/* DFSSSP (Domke, Hoefler, Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS
 * 2011): all paths start in the first layer; while a layer has a cycle, the paths over the cycle's
 * dependency with the fewest host pairs move to the next layer. Fails with -EINVAL where
 * VC_RULE_CLASSES_MAX layers are too few; -ENOMEM. */
int vc_layers_break(
	const struct shortest_trees *trees, struct vc_layers *layers, struct error *error);

/* LASH (Skeie, Lysne, Theiss, "Layered Shortest Path (LASH) Routing in Irregular System Area
 * Networks", IPDPS 2002): one pair of switches after the other, the paths of both directions join
 * the first layer in which they close no cycle. For trees per switch. Errors as above. */
int vc_layers_fill(
	const struct shortest_trees *trees, struct vc_layers *layers, struct error *error);

/* Halves the layer with the most host pairs until there are 'wanted' layers. A part of a layer has
 * no cycle either. */
void vc_layers_balance(
	const struct shortest_trees *trees, struct vc_layers *layers, unsigned wanted);
