/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_security.h"

#include <string.h>

#include "fabric_key.h"
#include "lab_config_private.h"
#include "run_config_private.h"

_Static_assert(LINK_KEY_BYTES == FABRIC_KEY_BYTES, "derived whole");

static int read_link_key(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct run_config_link_key *key = member;

	key->place = run_place_of(node);
	return run_read_path(node, &key->path, fault);
}

static void write_link_key(const void *member, FILE *out, unsigned indent)
{
	run_write_path(&((const struct run_config_link_key *)member)->path, out, indent);
}

static bool link_key_present(const void *member)
{
	return ((const struct run_config_link_key *)member)->path != NULL;
}

const struct yaml_field lab_security_fields[] = {
	{"link-key", YAML_FIELD_CUSTOM, YAML_MEMBER(struct run_config_security, link_key),
		.read = read_link_key, .write = write_link_key, .present = link_key_present},
	{"data", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, data)},
	{"sandbox", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, sandbox)},
	{NULL},
};

static int load_key(const struct lab *lab, struct fabric_key *key, struct fault *fault)
{
	const struct run_config *run = &lab->config->run;
	const struct run_config_link_key *from = &run->security.link_key;
	struct fault why;
	int result = fabric_key_load(key, from->path, &why);

	if (result == 0)
		return 0;
	return fault_set(fault, -result, "%s:%u:%u: security.link-key: %s%s", run->origin,
		from->place.line, from->place.column, why.text,
		result == -ENOENT ? "; expected a file of 64 hexadecimal digits, mode 600" : "");
}

int lab_security_load(const struct lab *lab, struct lab_security *security, struct fault *fault)
{
	struct fabric_key key;
	int result = 0;

	*security = (struct lab_security){.keyed = lab->config->run.security.link_key.path != NULL};
	if (security->keyed)
		result = load_key(lab, &key, fault);
	if (result < 0)
		return result;
	security->fabric = fabric_number(lab->config->name, security->keyed ? &key : NULL);
	if (security->keyed) {
		fabric_key_derive(&key, "links", security->key.bytes);
		fabric_key_wipe(&key);
	}
	security->data_keyed = security->keyed && lab->config->run.security.data;
	if (security->data_keyed)
		data_tag_derive(&security->data_key, &security->key);
	return 0;
}

void lab_security_wipe(struct lab_security *security)
{
	explicit_bzero(&security->key, sizeof(security->key));
	explicit_bzero(&security->data_key, sizeof(security->data_key));
}
