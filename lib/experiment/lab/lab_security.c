/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_security.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "mapper/fabric_key.h"

_Static_assert(LINK_KEY_BYTES == FABRIC_KEY_BYTES, "derived whole");

static int read_link_key(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_link_key *key = member;

	key->place = run_place_of(node);
	return run_read_path(node, &key->path, error);
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
		.read = read_link_key, .write = write_link_key, .present = link_key_present,
		.form = "<path>",
		.doc = "Key file, with which control frames between processes are authenticated."},
	{"data", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, data),
		.doc = "Hosts also authenticate data frames, from end to end. It needs `link-key`."},
	{"sandbox", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, sandbox),
		.doc = "Running processes may only make the system calls that they need."},
	{NULL},
};

static int load_key(const struct lab *lab, struct fabric_key *key, struct error *error)
{
	const struct run_config *run = &lab->config->run;
	const struct run_config_link_key *from = &run->security.link_key;
	struct error why;
	int result = fabric_key_load(key, from->path, &why);

	if (result == 0)
		return 0;
	run_config_refuse(run, &from->place, error, "security.link-key: %s%s", why.text,
		result == -ENOENT ? "; expected a file of 64 hexadecimal digits, mode 600" : "");
	return result;
}

/* A fabric key is also part of the number: with a different key the mapper of the other machine
 * would not be accepted. */
static int sign(const struct lab *lab, const char *identity, uint8_t tag[FABRIC_TAG_BYTES],
	struct error *error)
{
	const struct run_config_mapper *mapper = &lab->config->run.mapper;
	struct fabric_key key;
	int result;

	memset(tag, 0, FABRIC_TAG_BYTES);
	if (mapper->routes != RUN_ROUTES_MAPPER || mapper->key == NULL)
		return 0;
	result = fabric_key_load(&key, mapper->key, error);
	if (result == 0)
		fabric_key_tag(&key, (const uint8_t *)identity, (unsigned)strlen(identity), tag);
	fabric_key_wipe(&key);
	return result;
}

/* 'key' may be NULL. */
static int find_number(
	const struct lab *lab, const struct fabric_key *key, uint16_t *number, struct error *error)
{
	char *identity = lab_identity(lab), *text;
	uint8_t tag[FABRIC_TAG_BYTES];
	int result;

	if (identity == NULL)
		return error_set(error, ENOMEM, "no memory");
	result = sign(lab, identity, tag, error);
	if (result == 0 && asprintf(&text, "%skey %02x%02x%02x%02x\n", identity, tag[0], tag[1],
				   tag[2], tag[3]) < 0)
		result = error_set(error, ENOMEM, "no memory");
	free(identity);
	if (result < 0)
		return result;
	*number = fabric_number(text, key);
	free(text);
	return 0;
}

int lab_security_load(const struct lab *lab, struct lab_security *security, struct error *error)
{
	struct fabric_key key;
	int result = 0;

	*security = (struct lab_security){.keyed = lab->config->run.security.link_key.path != NULL};
	if (security->keyed)
		result = load_key(lab, &key, error);
	if (result < 0)
		return result;
	security->fabric = lab->fabric;
	if (security->fabric == 0)
		result = find_number(lab, security->keyed ? &key : NULL, &security->fabric, error);
	if (security->keyed) {
		fabric_key_derive(&key, "links", security->key.bytes);
		fabric_key_wipe(&key);
	}
	if (result < 0)
		return result;
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
