/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Private to the files that implement yaml_tree.h. Nodes and texts are allocated from blocks that
 * are freed with the tree. */

#include "yaml_tree.h"

struct yaml_tree_block;

struct yaml_tree {
	const char *origin; /* in a block, like all texts */
	struct yaml_tree_node *root;
	struct yaml_tree_block *blocks;
	size_t room; /* bytes left in the first block */
	uint32_t nodes;
};

/* Returns NULL if out of memory. */
struct yaml_tree *yaml_tree_create(const char *origin);
/* Returns zeroed memory of the tree, or NULL if out of memory. */
void *yaml_tree_alloc(struct yaml_tree *tree, size_t bytes);
char *yaml_tree_copy_text(struct yaml_tree *tree, const char *text, size_t length);

void yaml_tree_append(struct yaml_tree_node *parent, struct yaml_tree_node *child);
struct yaml_tree_node *yaml_tree_find(struct yaml_tree_node *map, const char *key);

/* Parses one document into '*root', a node of the tree. With 'from_file', messages and nodes have
 * line numbers; otherwise, they have only 'origin'. */
int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length, const char *origin,
	int from_file, struct yaml_tree_node **root, struct error *error);
