/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "yaml_tree_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10) /* greater than any single thing in a tree */

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

/* Says what errno says, and keeps it. */
static void refuse_file(const char *path, struct fault *fault)
{
	int code = errno;

	fault_set(fault, code, "%s: %s", path, strerror(code));
	/* A folder, a name that cannot be, a file beyond all measure: the request is wrong. */
	errno = code == EISDIR || code == ENOTDIR || code == ENAMETOOLONG || code == EFBIG ? EINVAL
											   : code;
}

/* All of a stream, which may be a pipe; NULL with errno. The caller frees it. */
static char *read_all(FILE *in, size_t *length)
{
	size_t room = 1 << 16;
	char *text = malloc(room), *grown;

	*length = 0;
	while (text != NULL) {
		*length += fread(text + *length, 1, room - *length, in);
		if (*length < room)
			break;
		if (room > YAML_TREE_BYTES_MAX) {
			free(text);
			errno = EFBIG;
			return NULL;
		}
		room *= 2;
		grown = realloc(text, room);
		if (grown == NULL)
			free(text);
		text = grown;
	}
	if (text != NULL && ferror(in)) {
		free(text);
		text = NULL;
	}
	return text;
}

struct yaml_tree *yaml_tree_load(const char *path, struct fault *fault)
{
	struct yaml_tree *tree;
	size_t length;
	char *text;
	FILE *in = fopen(path, "r");

	if (in == NULL) {
		refuse_file(path, fault);
		return NULL;
	}
	text = read_all(in, &length);
	if (text == NULL)
		refuse_file(path, fault);
	fclose(in);
	if (text == NULL)
		return NULL;
	tree = yaml_tree_parse(text, length, path, fault);
	free(text);
	return tree;
}
