/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* '--set KEY=VALUE' and similar options: a path of keys and indexes, then a YAML value that
 * replaces the present one. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "yaml_tree_private.h"

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

/* Follows "key" at '*path' (up to '.', '[' or the end), creating it if missing. */
static int step_key(const struct setter *setter, const char **path, struct yaml_tree_node **at)
{
	size_t length = strcspn(*path, ".[");
	struct yaml_tree_node *found;
	char key[KEY_MAX];

	if (length == 0 || length >= sizeof(key))
		return refuse(setter, "expected a key, such as switch.buffer or traffic[0].load");
	memcpy(key, *path, length);
	key[length] = '\0';
	*path += length;
	if ((*at)->kind != YAML_TREE_MAP)
		return refuse(setter, "the path goes through a value that is not a map");
	found = yaml_tree_find(*at, key);
	if (found == NULL)
		found = add_node(setter, *at, key);
	*at = found;
	return found == NULL ? error_set(setter->error, ENOMEM, "%s: no memory", setter->origin)
			     : 0;
}

/* Moves to element 'index' of the list at '*at'; the index just past the last appends. A node that
 * the path has just created becomes a list. */
static int step_into(const struct setter *setter, unsigned long index, struct yaml_tree_node **at)
{
	struct yaml_tree_node *list = *at;

	if (list->kind == YAML_TREE_MAP && list->count == 0 && list->origin == setter->origin)
		list->kind = YAML_TREE_SEQUENCE;
	if (list->kind != YAML_TREE_SEQUENCE)
		return refuse(setter, "the index is for a list, but this is not one");
	if (index > list->count)
		return refuse(setter, "the list has no such element");
	if (index == list->count)
		*at = add_node(setter, list, NULL);
	else
		for (*at = list->first; index > 0; index--)
			*at = (*at)->next;
	return *at == NULL ? error_set(setter->error, ENOMEM, "%s: no memory", setter->origin) : 0;
}

static int step_index(const struct setter *setter, const char **path, struct yaml_tree_node **at)
{
	unsigned long index;
	char *end;

	if ((*path)[1] < '0' || (*path)[1] > '9')
		return refuse(setter, "expected an index, such as [0]");
	index = strtoul(*path + 1, &end, 10);
	if (*end != ']')
		return refuse(setter, "expected ']' after the index");
	*path = end + 1;
	return step_into(setter, index, at);
}

/* Follows the part after a dot: "key", or "3", an alternative to "[3]" that a shell does not
 * expand. No key starts with a digit. */
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
			result = refuse(setter, "expected '.' or '[' after ']'");
		}
	}
	return result;
}

/* Replaces 'node' by 'value'; the key and the siblings of 'node' stay. */
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
		return error_set(error, ENOMEM, "%s: no memory", tree->origin);
	if (equals == NULL)
		return refuse(&setter, "expected KEY=VALUE");
	path = yaml_tree_copy_text(tree, assignment, (size_t)(equals - assignment));
	if (path == NULL)
		return error_set(error, ENOMEM, "%s: no memory", tree->origin);
	result = yaml_tree_read(
		tree, equals + 1, strlen(equals + 1), setter.origin, 0, &value, error);
	if (result == 0)
		result = follow(&setter, path, &at);
	if (result == 0)
		replace(at, value);
	return result;
}
