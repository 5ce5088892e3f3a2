/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_kept.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KEYS_MAX 160

struct difference {
	char path[KEYS_MAX]; /* of keys: "traffic.0.load" */
	char *text;
	size_t size;
};

static const char *value_of(const struct yaml_tree_node *node)
{
	if (node == NULL)
		return "nothing";
	if (node->kind == YAML_TREE_SCALAR)
		return node->text;
	return node->kind == YAML_TREE_MAP ? "a map" : "a list";
}

static bool differs(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	snprintf(at->text, at->size, "%s: %s in the file, %s in the lab", at->path, value_of(file),
		value_of(lab));
	return true;
}

static bool compare(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab);

static bool compare_below(struct difference *at, const char *key, const struct yaml_tree_node *file,
	const struct yaml_tree_node *lab)
{
	size_t length = strlen(at->path);
	bool found;

	snprintf(at->path + length, KEYS_MAX - length, "%s%s", length > 0 ? "." : "", key);
	found = file == NULL || lab == NULL ? differs(at, file, lab) : compare(at, file, lab);
	at->path[length] = '\0';
	return found;
}

static bool compare_maps(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	for (const struct yaml_tree_node *node = file->first; node != NULL; node = node->next)
		if (compare_below(at, node->key, node, yaml_tree_get(lab, node->key)))
			return true;
	for (const struct yaml_tree_node *node = lab->first; node != NULL; node = node->next)
		if (yaml_tree_get(file, node->key) == NULL &&
			compare_below(at, node->key, NULL, node))
			return true;
	return false;
}

static bool compare_lists(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	const struct yaml_tree_node *one = file->first, *other = lab->first;
	char key[16];

	for (unsigned i = 0; one != NULL || other != NULL; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (compare_below(at, key, one, other))
			return true;
		one = one->next;
		other = other->next;
	}
	return false;
}

static bool compare(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	if (file->kind != lab->kind)
		return differs(at, file, lab);
	switch (file->kind) {
	case YAML_TREE_MAP:
		return compare_maps(at, file, lab);
	case YAML_TREE_SEQUENCE:
		return compare_lists(at, file, lab);
	default:
		return strcmp(file->text, lab->text) != 0 && differs(at, file, lab);
	}
}

void lab_difference_find(const struct yaml_tree_node *file, const struct yaml_tree_node *lab,
	char *text, size_t size)
{
	struct difference at = {.path = "", .text = text, .size = size};

	text[0] = '\0';
	compare(&at, file, lab);
}
