/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'nic.iba-cc.opensm', and the keys that it fills in. */

#include "opensm_cc.h"
#include "run_config_fields.h"

struct request {
	const struct yaml_tree_node *root, *file;
	const struct yaml_tree_node *nic; /* iba-cc of it */
};

static const struct yaml_tree_node *get(const struct yaml_tree_node *map, const char *key)
{
	return map == NULL || map->kind != YAML_TREE_MAP ? NULL : yaml_tree_get(map, key);
}

/* Whether a key of the section keeps its value: keys from the command line always do, keys from the
 * run file only if it also names OpenSM's file. */
static bool keeps(
	const struct request *request, const struct yaml_tree_node *section, const char *key)
{
	const struct yaml_tree_node *node = get(section, key);

	return node != NULL && (node->line == 0 || request->file->line != 0);
}

static void take_switch(
	const struct request *request, const struct opensm_cc *from, struct run_config_switch *to)
{
	const struct yaml_tree_node *section = get(request->root, "switch");

	if (from->has_threshold && !keeps(request, section, "fecn"))
		to->fecn = from->threshold;
	if (from->has_marking_rate && !keeps(request, section, "marking-rate"))
		to->marking_rate = from->marking_rate;
	if (from->has_packet_size && !keeps(request, section, "packet-size"))
		to->mark_bytes = from->packet_bytes;
	if (from->has_victims && !keeps(request, section, "victim-mask"))
		to->victim_mask = from->victims;
}

static void take_source(
	const struct request *request, const struct opensm_cc *from, struct run_config_iba_cc *to)
{
	const struct yaml_tree_node *section = request->nic;

	if (from->has_timer && !keeps(request, section, "timer"))
		to->timer_ps = from->timer_ps;
	if (from->has_increase && !keeps(request, section, "increase"))
		to->increase = from->increase;
	if (from->has_min && !keeps(request, section, "min"))
		to->min = from->min;
	if (from->has_per_host && !keeps(request, section, "per"))
		to->per = from->per_host ? RUN_CC_PER_HOST : RUN_CC_PER_DESTINATION;
	if (!from->has_table)
		return;
	if (!keeps(request, section, "limit"))
		to->limit = from->table.count - 1u;
	if (keeps(request, section, "table"))
		return;
	to->table_kind = CC_TABLE_LIST;
	to->table = from->table;
}

int run_config_take_opensm(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	struct request request = {.root = root, .nic = get(get(root, "nic"), "iba-cc")};
	struct opensm_cc settings;
	struct error why;

	request.file = get(request.nic, "opensm");
	if (request.file == NULL || config->nic.iba_cc.opensm == NULL)
		return 0;
	if (opensm_cc_load(config->nic.iba_cc.opensm, &settings, &why) < 0)
		return yaml_tree_refuse(request.file, error, "nic.iba-cc.opensm: %s", why.text);
	take_switch(&request, &settings, &config->sw);
	take_source(&request, &settings, &config->nic.iba_cc);
	return 0;
}
