/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topology file as part of run and lab files, which may contain one as a map. */

#include "topology.h"
#include "yaml_fields.h"
#include "yaml_tree.h"

/* The keys of a topology file. */
extern const struct yaml_field topology_file_fields[];

/* Reads a node in the form of a topology file; the 'weft' key may be missing. 'defaults' may be
 * NULL. 0, -EINVAL, -ENOMEM. */
int topology_read(const struct yaml_tree_node *node, const struct topology_defaults *defaults,
	struct topology **topology, struct fault *fault);

/* Writes the keys of a topology file except 'weft', each line indented by 'indent' blanks. Inside
 * of another file (indent > 0) without 'link', if both values are defaults of Weft: a lab tells the
 * difference (docs/files.md). */
void topology_write_keys(const struct topology *topology, FILE *out, unsigned indent);

/* Refuses a device or port text that is not in the topology: fills 'fault' with 'line:column' and
 * the closest name; -EINVAL. */
int topology_refuse_port(const struct topology *topology, const struct yaml_tree_node *node,
	const char *text, struct fault *fault);
