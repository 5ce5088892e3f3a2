/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads and writes the lists of a lab file: groups of devices, and EAL arguments. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "topo/topology_hosts.h"

static int read_group(
	const struct yaml_tree_node *node, struct lab_config_group *group, struct error *error)
{
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, error);

	if (result < 0)
		return result;
	if (node->count == 0 || node->count > TOPOLOGY_HOSTS_MAX)
		return yaml_tree_refuse(
			node, error, "a group must contain 1 to %u devices", TOPOLOGY_HOSTS_MAX);
	result = run_read_names(node, &group->device, &group->count, error);
	if (result == 0 && node->key != NULL && strlen(node->key) >= sizeof(group->name))
		result = yaml_tree_refuse_key(node, error,
			"the group's name is longer than %zu characters", sizeof(group->name) - 1);
	if (result == 0)
		snprintf(group->name, sizeof(group->name), "%s",
			node->key != NULL ? node->key : group->device[0]);
	return result;
}

static int check_name(const struct lab_config_group_list *groups, const struct yaml_tree_node *node,
	struct error *error)
{
	const struct lab_config_group *group = &groups->at[groups->count - 1];
	char where[RUN_OPTION_MAX];

	for (uint32_t i = 0; i + 1 < groups->count; i++)
		if (strcmp(groups->at[i].name, group->name) == 0)
			return yaml_tree_refuse(node, error,
				"duplicate group '%s'; the first one is in %s", group->name,
				run_place_text(&groups->at[i].place, where));
	return 0;
}

/* Reads {name: [s0, s1], …} or [[s0, s1], …]. */
int lab_read_groups(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct lab_config_group_list *groups = member;
	int result = 0;

	if (node->kind == YAML_TREE_SCALAR)
		return yaml_tree_refuse(node, error,
			"'groups' must contain groups of devices, such as {edge: [s0, s1]} or "
			"[[s0, s1]]");
	if (node->count > LAB_GROUPS_MAX)
		return yaml_tree_refuse(node, error,
			"'groups' contains %u groups; at most %u "
			"are allowed",
			node->count, LAB_GROUPS_MAX);
	groups->at = calloc((size_t)node->count + 1, sizeof(*groups->at));
	if (groups->at == NULL)
		return run_refuse_memory(node, error);
	for (const struct yaml_tree_node *group = node->first; group != NULL && result == 0;
		group = group->next) {
		groups->at[groups->count].place = run_place_of(group);
		result = read_group(group, &groups->at[groups->count++], error);
		if (result == 0)
			result = check_name(groups, group, error);
	}
	return result;
}

void lab_write_groups(const void *member, FILE *out, unsigned indent)
{
	const struct lab_config_group_list *groups = member;

	for (uint32_t i = 0; i < groups->count; i++) {
		fprintf(out, "\n%*s", (int)indent, "");
		yaml_tree_write_text(groups->at[i].name, out);
		fputs(": ", out);
		run_write_names(groups->at[i].device, groups->at[i].count, out);
	}
}

bool lab_groups_present(const void *member)
{
	return ((const struct lab_config_group_list *)member)->count > 0;
}

void lab_groups_fini(struct lab_config_group_list *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		free(groups->at[i].device);
	free(groups->at);
}

int lab_read_words(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct lab_config_words *words = member;
	char text[YAML_TREE_SCALAR_MAX + 1];
	void *rows;
	int result = run_read_rows(node, LAB_EAL_MAX, sizeof(*words->at), &rows, error);

	if (result < 0)
		return result;
	words->at = rows;
	words->place = run_place_of(node);
	for (const struct yaml_tree_node *word = node->first; word != NULL && result == 0;
		word = word->next) {
		result = yaml_read_text(word, text, sizeof(text), error);
		if (result < 0)
			break;
		words->at[words->count] = strdup(text);
		if (words->at[words->count++] == NULL)
			result = run_refuse_memory(node, error);
	}
	return result;
}

void lab_write_words(const void *member, FILE *out, unsigned indent)
{
	const struct lab_config_words *words = member;

	fputs(" [", out);
	for (uint32_t i = 0; i < words->count; i++) {
		fputs(i == 0 ? "" : ", ", out);
		yaml_tree_write_text(words->at[i], out);
	}
	fputc(']', out);
}

void lab_words_fini(struct lab_config_words *words)
{
	for (uint32_t i = 0; i < words->count; i++)
		free(words->at[i]);
	free(words->at);
}

int lab_config_refuse_device(const struct lab_config *config, const struct run_config_place *place,
	const char *owner, const char *name, const char *device, const struct topology *topology,
	struct error *error)
{
	char hint[DID_YOU_MEAN_HINT];

	return run_config_refuse(&config->run, place, error,
		"%s '%s': topology %s has no device '%s'%s", owner, name, topology->name, device,
		topology_nearest_device(topology, device, hint));
}

static int resolve_group(const struct lab_config *config, const struct lab_config_group *from,
	const struct topology *topology, struct lab_plan_group *to, struct error *error)
{
	uint32_t *switches = malloc(((size_t)from->count + 1) * sizeof(*switches));
	uint32_t *hosts =
		malloc(((size_t)from->count + 1) * TOPOLOGY_HOST_PORTS_MAX * sizeof(*hosts));
	int32_t found;

	*to = (struct lab_plan_group){.name = from->name, .switches = switches, .hosts = hosts};
	if (switches == NULL || hosts == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", config->run.origin);
	for (uint32_t i = 0; i < from->count; i++) {
		found = topology_find_switch(topology, from->device[i]);
		if (found >= 0) {
			switches[to->switch_count++] = (uint32_t)found;
			continue;
		}
		found = topology_find_host(topology, from->device[i]);
		if (found < 0)
			return lab_config_refuse_device(config, &from->place, "group", from->name,
				from->device[i], topology, error);
		to->host_count += topology_named_ports(
			topology, (uint32_t)found, from->device[i], hosts + to->host_count);
	}
	return 0;
}

struct lab_plan_group *lab_config_groups(
	const struct lab_config *config, const struct topology *topology, struct error *error)
{
	uint32_t count = config->groups.count;
	struct lab_plan_group *groups = calloc((size_t)count + 1, sizeof(*groups));
	int result = 0;

	if (groups == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", config->run.origin);
	for (uint32_t i = 0; i < count && result == 0; i++)
		result = resolve_group(config, &config->groups.at[i], topology, &groups[i], error);
	if (result == 0)
		return groups;
	lab_config_groups_free(groups, count);
	errno = -result;
	return NULL;
}

void lab_config_groups_free(struct lab_plan_group *groups, unsigned count)
{
	for (unsigned i = 0; i < count && groups != NULL; i++) {
		free((void *)(uintptr_t)groups[i].switches);
		free((void *)(uintptr_t)groups[i].hosts);
	}
	free(groups);
}
