/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "yaml_tree_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"

#define BLOCK_BYTES ((size_t)64 << 10) /* larger than any single object of a tree */

struct yaml_tree_block {
	struct yaml_tree_block *next;
	max_align_t bytes[BLOCK_BYTES / sizeof(max_align_t)];
};

void *yaml_tree_alloc(struct yaml_tree *tree, size_t bytes)
{
	struct yaml_tree_block *block;

	bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	if (bytes > BLOCK_BYTES)
		return NULL;
	if (bytes > tree->room) {
		block = calloc(1, sizeof(*block));
		if (block == NULL)
			return NULL;
		block->next = tree->blocks;
		tree->blocks = block;
		tree->room = BLOCK_BYTES;
	}
	tree->room -= bytes;
	return (char *)tree->blocks->bytes + tree->room;
}

char *yaml_tree_copy_text(struct yaml_tree *tree, const char *text, size_t length)
{
	char *copy = yaml_tree_alloc(tree, length + 1);

	if (copy != NULL)
		memcpy(copy, text, length);
	return copy;
}

struct yaml_tree *yaml_tree_create(const char *origin)
{
	struct yaml_tree *tree = calloc(1, sizeof(*tree));

	if (tree == NULL)
		return NULL;
	tree->origin = yaml_tree_copy_text(tree, origin, strnlen(origin, BLOCK_BYTES / 2));
	if (tree->origin == NULL) {
		free(tree);
		return NULL;
	}
	return tree;
}

void yaml_tree_destroy(struct yaml_tree *tree)
{
	struct yaml_tree_block *block;

	if (tree == NULL)
		return;
	while ((block = tree->blocks) != NULL) {
		tree->blocks = block->next;
		free(block);
	}
	free(tree);
}

void yaml_tree_append(struct yaml_tree_node *parent, struct yaml_tree_node *child)
{
	if (parent->last != NULL)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->count++;
}

struct yaml_tree *yaml_tree_load(const char *path, struct error *error)
{
	struct yaml_tree *tree;
	size_t length;
	char *text = file_text_read(path, YAML_TREE_BYTES_MAX, &length, error);

	if (text == NULL)
		return NULL;
	tree = yaml_tree_parse(text, length, path, error);
	free(text);
	return tree;
}
