/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yaml_tree.h"

#define FORMAT "cases/1"

static int refuse_memory(struct fault *fault)
{
	return fault_set(fault, ENOMEM, "--cases: no memory");
}

static int read_name(
	struct sweep_cases *cases, const struct yaml_tree_node *node, struct fault *fault)
{
	int result = yaml_tree_expect(node, YAML_TREE_SCALAR, fault);

	if (result < 0)
		return result;
	if (node->text[0] == '\0')
		return yaml_tree_refuse(node, fault, "expected a name that is not empty");
	if (sweep_cases_find(cases, node->text) != NULL)
		return yaml_tree_refuse(
			node, fault, "'%.100s' is the name of two cases", node->text);
	cases->at[cases->count - 1].name = strdup(node->text);
	return cases->at[cases->count - 1].name == NULL ? refuse_memory(fault) : 0;
}

static int read_set(struct sweep_case *one, const struct yaml_tree_node *node, struct fault *fault)
{
	int result = yaml_tree_expect(node, YAML_TREE_SCALAR, fault);

	if (result < 0)
		return result;
	if (one->sets == SWEEP_CASE_SETS_MAX)
		return yaml_tree_refuse_key(
			node, fault, "expected at most %u keys of a case", SWEEP_CASE_SETS_MAX);
	if (strcmp(node->key, "seed") == 0)
		return yaml_tree_refuse_key(node, fault, "expected --seeds LO:HI for seeds");
	if (asprintf(&one->set[one->sets], "%s=%s", node->key, node->text) < 0) {
		one->set[one->sets] = NULL;
		return refuse_memory(fault);
	}
	one->sets++;
	return 0;
}

static int read_case(
	struct sweep_cases *cases, const struct yaml_tree_node *node, struct fault *fault)
{
	const struct yaml_tree_node *name, *set;
	int result = yaml_tree_expect(node, YAML_TREE_MAP, fault);

	if (result < 0)
		return result;
	name = yaml_tree_get(node, "name");
	set = yaml_tree_get(node, "set");
	for (const struct yaml_tree_node *at = node->first; at != NULL; at = at->next)
		if (at != name && at != set)
			return yaml_tree_refuse_key(
				at, fault, "unknown key '%.60s', expected name or set", at->key);
	if (name == NULL || set == NULL)
		return yaml_tree_refuse(node, fault, "'%s' is missing: expected {name: …, set: …}",
			name == NULL ? "name" : "set");
	cases->count++;
	result = read_name(cases, name, fault);
	if (result == 0)
		result = yaml_tree_expect(set, YAML_TREE_MAP, fault);
	for (const struct yaml_tree_node *at = set->first; at != NULL && result == 0; at = at->next)
		result = read_set(&cases->at[cases->count - 1], at, fault);
	return result;
}

static int read_root(
	struct sweep_cases *cases, const struct yaml_tree_node *root, struct fault *fault)
{
	const struct yaml_tree_node *list;
	int result = yaml_tree_expect_format(root, FORMAT, fault);

	if (result < 0)
		return result;
	list = yaml_tree_get(root, "cases");
	for (const struct yaml_tree_node *at = root->first; at != NULL; at = at->next)
		if (at != list && strcmp(at->key, "weft") != 0)
			return yaml_tree_refuse_key(
				at, fault, "unknown key '%.60s', expected cases", at->key);
	if (list == NULL)
		return yaml_tree_refuse(root, fault, "'cases' is missing: expected a list");
	result = yaml_tree_expect(list, YAML_TREE_SEQUENCE, fault);
	if (result == 0 && (list->count == 0 || list->count > SWEEP_CASES_MAX))
		result = yaml_tree_refuse(list, fault, "expected 1 to %u cases", SWEEP_CASES_MAX);
	if (result < 0)
		return result;
	cases->at = calloc(list->count, sizeof(*cases->at));
	if (cases->at == NULL)
		return refuse_memory(fault);
	for (const struct yaml_tree_node *at = list->first; at != NULL && result == 0;
		at = at->next)
		result = read_case(cases, at, fault);
	return result;
}

int sweep_cases_load(struct sweep_cases *cases, const char *path, struct fault *fault)
{
	struct yaml_tree *tree;
	int result;

	if (cases->at != NULL)
		return fault_set(fault, EINVAL, "--cases: expected one file, not also '%s'", path);
	tree = yaml_tree_load(path, fault);
	if (tree == NULL)
		return -errno;
	result = read_root(cases, yaml_tree_root(tree), fault);
	yaml_tree_destroy(tree);
	return result;
}

void sweep_cases_fini(struct sweep_cases *cases)
{
	for (unsigned i = 0; i < cases->count; i++) {
		for (unsigned j = 0; j < cases->at[i].sets; j++)
			free(cases->at[i].set[j]);
		free(cases->at[i].name);
	}
	free(cases->at);
	*cases = (struct sweep_cases){.at = NULL};
}

const struct sweep_case *sweep_cases_find(const struct sweep_cases *cases, const char *name)
{
	for (unsigned i = 0; i < cases->count; i++)
		if (cases->at[i].name != NULL && strcmp(cases->at[i].name, name) == 0)
			return &cases->at[i];
	return NULL;
}

unsigned sweep_cases_max(const struct sweep_cases *cases)
{
	unsigned max = 0;

	for (unsigned i = 0; i < cases->count; i++)
		max = cases->at[i].sets > max ? cases->at[i].sets : max;
	return max;
}

/* "traffic[0].load" and "traffic.0.load" are one key. */
static bool is_key(const char *set, const char *key)
{
	for (; *set != '=' && *set != '\0'; set++) {
		if (*set == ']')
			continue;
		if (*key++ != (*set == '[' ? '.' : *set))
			return false;
	}
	return *key == '\0';
}

int sweep_cases_check_key(const struct sweep_cases *cases, const char *key, struct fault *fault)
{
	for (unsigned i = 0; i < cases->count; i++)
		for (unsigned j = 0; j < cases->at[i].sets; j++)
			if (is_key(cases->at[i].set[j], key))
				return fault_set(fault, EINVAL,
					"--vary %s: the case '%s' sets that key, too", key,
					cases->at[i].name);
	return 0;
}

json_t *sweep_cases_json(const struct sweep_cases *cases)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < cases->count; i++) {
		json_t *sets = json_array();

		for (unsigned j = 0; j < cases->at[i].sets; j++)
			json_array_append_new(sets, json_string(cases->at[i].set[j]));
		json_array_append_new(
			list, json_pack("{s:s,s:o}", "name", cases->at[i].name, "set", sets));
	}
	return list;
}
