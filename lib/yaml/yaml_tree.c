/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "yaml_tree.h"

#include <string.h>

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

/* The command for another kind of file, as the end of a message. */
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
