/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topology file as a part of another: run and lab files may hold one as a map. */

#include "topology.h"
#include "yaml_tree.h"

/* From a node of the form of a topology file; its 'weft' key may be missing. 'defaults' may be
 * NULL. 0, -EINVAL, -ENOMEM. */
int topology_read(const struct yaml_tree_node *node, const struct topology_defaults *defaults,
	struct topology **topology, struct fault *fault);

/* Writes the keys of a topology file but 'weft', each line after 'indent' blanks. */
void topology_write_keys(const struct topology *topology, FILE *out, unsigned indent);

/* 'line:column' of a device or port text that the topology does not have: fills 'fault' with the
 * nearest name; -EINVAL. */
int topology_refuse_port(const struct topology *topology, const struct yaml_tree_node *node,
	const char *text, struct fault *fault);
