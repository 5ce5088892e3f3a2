/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_form.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "yaml/yaml_tree.h"

/* With two loops to a CPU each still runs every few milliseconds. */
#define LOOPS_A_CPU 2

bool lab_form_may_be_one(const struct lab_config *config, const struct topology *topology)
{
	return config->groups.count == 0 && config->machines.count <= 1 && config->lcores < 2 &&
	       config->links == LAB_CONFIG_LINKS_SHARED && topology->bindings == 0;
}

bool lab_form_is_crowded(unsigned processes, unsigned cpus)
{
	return processes > LOOPS_A_CPU * cpus;
}

uint32_t lab_form_dilation(const char *run_dir, bool *dilated)
{
	char path[PATH_MAX], line[PATH_MAX];
	unsigned dilation = 0;
	bool other = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, run_dir);
	file = fopen(path, "re");
	while (file != NULL && dilation == 0 && fgets(line, sizeof(line), file) != NULL) {
		other = other || strncmp(line, LAB_FORM_DILATED, strlen(LAB_FORM_DILATED)) == 0;
		if (sscanf(line, "dilation: %u", &dilation) == 1 && dilation > RUN_DILATION_MAX)
			dilation = 0;
	}
	if (file != NULL)
		fclose(file);
	if (dilated != NULL)
		*dilated = other && dilation > 0;
	return dilation;
}

enum lab_config_processes lab_form_kept(const char *run_dir)
{
	enum lab_config_processes form = LAB_CONFIG_PROCESSES_AUTO;
	const struct yaml_tree_node *node;
	struct yaml_tree *tree;
	struct error ignored;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, run_dir);
	tree = yaml_tree_load(path, &ignored);
	if (tree == NULL)
		return form;
	node = yaml_tree_get(yaml_tree_root(tree), "processes");
	if (node != NULL && node->kind == YAML_TREE_SCALAR && strcmp(node->text, "one") == 0)
		form = LAB_CONFIG_PROCESSES_ONE;
	else if (node != NULL && node->kind == YAML_TREE_SCALAR && strcmp(node->text, "each") == 0)
		form = LAB_CONFIG_PROCESSES_EACH;
	yaml_tree_destroy(tree);
	return form;
}
