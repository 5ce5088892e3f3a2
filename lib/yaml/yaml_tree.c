/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "yaml_tree.h"
#include "yaml_tree_private.h"

const struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree)
{
	return tree->root;
}

const char *yaml_tree_origin(const struct yaml_tree *tree)
{
	return tree->origin;
}

struct yaml_tree_node *yaml_tree_find(struct yaml_tree_node *map, const char *key)
{
	if (map->kind != YAML_TREE_MAP)
		return NULL;
	for (struct yaml_tree_node *node = map->first; node != NULL; node = node->next)
		if (strcmp(node->key, key) == 0)
			return node;
	return NULL;
}

const struct yaml_tree_node *yaml_tree_get(const struct yaml_tree_node *map, const char *key)
{
	return yaml_tree_find((struct yaml_tree_node *)map, key);
}

int yaml_tree_refuse(
	const struct yaml_tree_node *node, struct error *error, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = error_at_va(error, node->origin, node->line, node->column, format, args);
	va_end(args);
	return result;
}

int yaml_tree_refuse_key(
	const struct yaml_tree_node *node, struct error *error, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = error_at_va(error, node->origin, node->key_line, node->key_column, format, args);
	va_end(args);
	return result;
}

int yaml_tree_expect(
	const struct yaml_tree_node *node, enum yaml_tree_kind kind, struct error *error)
{
	static const char *const names[] = {"a value", "a list [...]", "a map {key: value}"};

	if (node->kind == kind)
		return 0;
	/* The root and the elements of a list have no key. */
	if (node->key == NULL)
		return yaml_tree_refuse(
			node, error, "expected %s, found %s", names[kind], names[node->kind]);
	return yaml_tree_refuse(node, error, "'%s': expected %s, found %s", node->key, names[kind],
		names[node->kind]);
}

/* Returns the end of a message: the command that reads this kind of file. */
static const char *command_for(const char *format)
{
	static const char *const commands[][2] = {
		{"run/1", "; 'weft run' takes this file"},
		{"lab/1", "; 'weft lab up' takes this file"},
		{"topology/1", "; 'weft topo show' takes this file, and 'topology' in a run file"},
		{"cases/1", "; 'weft sweep --cases' takes this file"},
	};

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i][0], format) == 0)
			return commands[i][1];
	return "";
}

int yaml_tree_expect_format(
	const struct yaml_tree_node *root, const char *format, struct error *error)
{
	const struct yaml_tree_node *node;
	int result = yaml_tree_expect(root, YAML_TREE_MAP, error);

	if (result < 0)
		return result;
	node = yaml_tree_get(root, "weft");
	if (node == NULL)
		return yaml_tree_refuse(
			root, error, "'weft: %s' is missing; it names the kind of file", format);
	if (node->kind != YAML_TREE_SCALAR)
		return yaml_tree_refuse(node, error, "expected 'weft: %s', found '…'", format);
	if (strcmp(node->text, format) != 0)
		return yaml_tree_refuse(node, error, "expected 'weft: %s', found '%s'%s", format,
			node->text, command_for(node->text));
	return 0;
}

void yaml_tree_write_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

#define BLOCK_BYTES ((size_t)64 << 10) /* larger than any single object in a tree */

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

/* '--set KEY=VALUE' and similar options: a path of keys and indices, and the YAML value to store
 * there. */

#define KEY_MAX 64

struct setter {
	struct yaml_tree *tree;
	const char *origin; /* "--set KEY", for messages */
	struct error *error;
};

static int refuse(const struct setter *setter, const char *what)
{
	return error_set(setter->error, EINVAL, "%s: %s", setter->origin, what);
}

static struct yaml_tree_node *add_node(
	const struct setter *setter, struct yaml_tree_node *parent, const char *key)
{
	struct yaml_tree_node *node = yaml_tree_alloc(setter->tree, sizeof(*node));

	if (node == NULL)
		return NULL;
	*node = (struct yaml_tree_node){.kind = YAML_TREE_MAP, .origin = setter->origin};
	if (key != NULL)
		node->key = yaml_tree_copy_text(setter->tree, key, strlen(key));
	if (key != NULL && node->key == NULL)
		return NULL;
	yaml_tree_append(parent, node);
	return node;
}

/* Follows the key at '*path' (up to '.', '[' or the end), and creates it if it is missing. */
static int step_key(const struct setter *setter, const char **path, struct yaml_tree_node **at)
{
	size_t length = strcspn(*path, ".[");
	struct yaml_tree_node *found;
	char key[KEY_MAX];

	if (length == 0 || length >= sizeof(key))
		return refuse(setter, "the path must begin with a key, such as switch.buffer or "
				      "traffic[0].load");
	memcpy(key, *path, length);
	key[length] = '\0';
	*path += length;
	if ((*at)->kind != YAML_TREE_MAP)
		return refuse(setter, "the path goes through a value that is not a map");
	found = yaml_tree_find(*at, key);
	if (found == NULL)
		found = add_node(setter, *at, key);
	*at = found;
	return found == NULL ? error_set(setter->error, ENOMEM, "%s: out of memory", setter->origin)
			     : 0;
}

/* Moves to element 'index' of the list at '*at'; the index after the last element appends. A node
 * that was just created for this path becomes a list. */
static int step_into(const struct setter *setter, unsigned long index, struct yaml_tree_node **at)
{
	struct yaml_tree_node *list = *at;

	if (list->kind == YAML_TREE_MAP && list->count == 0 && list->origin == setter->origin)
		list->kind = YAML_TREE_SEQUENCE;
	if (list->kind != YAML_TREE_SEQUENCE)
		return refuse(setter, "the path has an index, but this is not a list");
	if (index > list->count)
		return refuse(setter, "the list has no such element");
	if (index == list->count)
		*at = add_node(setter, list, NULL);
	else
		for (*at = list->first; index > 0; index--)
			*at = (*at)->next;
	return *at == NULL ? error_set(setter->error, ENOMEM, "%s: out of memory", setter->origin)
			   : 0;
}

static int step_index(const struct setter *setter, const char **path, struct yaml_tree_node **at)
{
	unsigned long index;
	char *end;

	if ((*path)[1] < '0' || (*path)[1] > '9')
		return refuse(setter, "'[' must be followed by an index, such as [0]");
	index = strtoul(*path + 1, &end, 10);
	if (*end != ']')
		return refuse(setter, "the index must be followed by ']'");
	*path = end + 1;
	return step_into(setter, index, at);
}

/* Follows the part after a dot: a key, or an index such as "3", which means "[3]" but is safe from
 * expansion in a shell. No key starts with a digit. */
static int step_point(const struct setter *setter, const char **path, struct yaml_tree_node **at)
{
	unsigned long index;
	char *end;

	if (**path < '0' || **path > '9')
		return step_key(setter, path, at);
	index = strtoul(*path, &end, 10);
	if (*end != '.' && *end != '[' && *end != '\0')
		return step_key(setter, path, at);
	*path = end;
	return step_into(setter, index, at);
}

static int follow(const struct setter *setter, const char *path, struct yaml_tree_node **at)
{
	int result = step_key(setter, &path, at);

	while (result == 0 && *path != '\0') {
		if (*path == '[') {
			result = step_index(setter, &path, at);
		} else if (*path == '.') {
			path++;
			result = step_point(setter, &path, at);
		} else {
			result = refuse(setter, "']' must be followed by '.' or '['");
		}
	}
	return result;
}

/* Replaces 'node' with 'value', but keeps the key and the siblings of 'node'. */
static void replace(struct yaml_tree_node *node, const struct yaml_tree_node *value)
{
	struct yaml_tree_node old = *node;

	*node = *value;
	node->key = old.key;
	node->next = old.next;
}

int yaml_tree_set(
	struct yaml_tree *tree, const char *option, const char *assignment, struct error *error)
{
	struct setter setter = {.tree = tree, .error = error};
	const char *equals = strchr(assignment, '=');
	struct yaml_tree_node *at = tree->root, *value;
	char origin[2 * YAML_TREE_SCALAR_MAX], *path;
	int result;

	snprintf(origin, sizeof(origin), "%s %.*s", option, (int)strcspn(assignment, "="),
		assignment);
	setter.origin = yaml_tree_copy_text(tree, origin, strlen(origin));
	if (setter.origin == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", tree->origin);
	if (equals == NULL)
		return refuse(&setter, "expected KEY=VALUE");
	path = yaml_tree_copy_text(tree, assignment, (size_t)(equals - assignment));
	if (path == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", tree->origin);
	result = yaml_tree_read(
		tree, equals + 1, strlen(equals + 1), setter.origin, 0, &value, error);
	if (result == 0)
		result = follow(&setter, path, &at);
	if (result == 0)
		replace(at, value);
	return result;
}
