/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_config_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "yaml/yaml_tree.h"

static json_t *scalar_json(const char *text)
{
	char *end;
	long long value;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(text[0] == 't');
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*text != '\0' && *end == '\0' && errno == 0)
		return json_integer(value);
	return json_string(text);
}

static json_t *node_json(const struct yaml_tree_node *node)
{
	json_t *json;

	if (node->kind == YAML_TREE_SCALAR)
		return scalar_json(node->text);
	json = node->kind == YAML_TREE_MAP ? json_object() : json_array();
	for (const struct yaml_tree_node *child = node->first; child != NULL; child = child->next) {
		if (node->kind == YAML_TREE_MAP)
			json_object_set_new(json, child->key, node_json(child));
		else
			json_array_append_new(json, node_json(child));
	}
	return json;
}

json_t *run_config_json(const struct run_config *config)
{
	struct yaml_tree *tree = NULL;
	json_t *json = NULL;
	size_t length = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	run_config_explain(config, out);
	if (fclose(out) == 0)
		tree = yaml_tree_parse(text, length, "the configuration", NULL);
	if (tree != NULL)
		json = node_json(yaml_tree_root(tree));
	yaml_tree_destroy(tree);
	free(text);
	return json;
}
