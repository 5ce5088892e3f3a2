/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "lab_security.h"
#include "mapper/mapper_frame.h"
#include "os/atomic_file.h"
#include "os/private_dir.h"

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

const struct yaml_field lab_security_fields[] = {
	{"link-key", YAML_FIELD_CUSTOM, YAML_MEMBER(struct run_config_security, link_key),
		.read = read_link_key, .write = write_link_key, .optional = true, .form = "<path>",
		.doc = "Key file that authenticates control frames between processes."},
	{"data", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, data),
		.doc = "Hosts also authenticate data frames end to end. Requires `link-key`."},
	{"sandbox", YAML_FIELD_BOOL, YAML_MEMBER(struct run_config_security, sandbox),
		.doc = "Restricts running processes to the system calls that they need."},
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
		result == -ENOENT ? "; create a file with 64 hexadecimal digits and mode 600" : "");
	return result;
}

/* Computes a tag with the fabric key. The fabric number depends on it, because machines with
 * different keys do not accept each other's mapper. */
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
		return error_set(error, ENOMEM, "out of memory");
	result = sign(lab, identity, tag, error);
	if (result == 0 && asprintf(&text, "%skey %02x%02x%02x%02x\n", identity, tag[0], tag[1],
				   tag[2], tag[3]) < 0)
		result = error_set(error, ENOMEM, "out of memory");
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

static bool is_named(const struct lab_trust *trust, const char *path)
{
	for (unsigned i = 0; i < trust->count; i++)
		if (same_file(trust->file[i], path))
			return true;
	return false;
}

/* Returns the topology file, which may be the lab file; NULL if the topology is generated. */
static const char *topology_file(const struct lab *lab)
{
	const char *spec = lab->config->run.topology.spec;

	if (spec == NULL)
		return lab->config->run.origin;
	return topology_is_generated(spec) ? NULL : spec;
}

/* Fails if the file 'path' is not trusted. 'place' is the position of 'what' in it, or NULL. */
static int check_file(const struct lab_trust *trust, const char *path,
	const struct run_config_place *place, const char *what, struct error *error)
{
	struct error why;

	if (is_named(trust, path) || private_file_check(path, &why) == 0)
		return 0;
	return error_at(error, place != NULL && place->line == 0 ? place->option : path,
		place != NULL ? place->line : 0, place != NULL ? place->column : 0,
		"%s can make DPDK run code and write files, but %s; make sure that only you or "
		"root can change the file, or use '--trust %s' if you trust it",
		what, why.text, path);
}

static int check_eal(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const struct lab_config_words *eal = &lab->config->eal;

	if (eal->count == 0)
		return 0;
	return check_file(trust, lab->config->run.origin, &eal->place, "'eal'", error);
}

/* Checks the lab file, which contains the ports of machines. */
static int check_machines(
	const struct lab *lab, const struct lab_trust *trust, uint32_t *ports, struct error *error)
{
	const struct lab_config_machine_list *machines = &lab->config->machines;

	*ports = 0;
	for (uint32_t i = 0; i < machines->count; i++)
		*ports += machines->at[i].ports;
	if (*ports == 0)
		return 0;
	return check_file(trust, lab->config->run.origin, &machines->at[0].place,
		"'ports' of 'machines'", error);
}

/* Checks the topology file, unless the lab file contains all of its ports. */
static int check_ports(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const struct topology *topology = lab->topology;
	const char *path = topology_file(lab);
	char port[TOPOLOGY_NAME_MAX + 8], what[TOPOLOGY_NAME_MAX + 32];
	uint32_t of_machines;
	int result = check_machines(lab, trust, &of_machines, error);

	if (result < 0 || topology->bindings <= of_machines || path == NULL)
		return result;
	topology_port_name(topology, topology->binding_at[0].port, port, sizeof(port));
	snprintf(what, sizeof(what), "'ports' (%s and others)", port);
	if (topology->bindings == 1)
		snprintf(what, sizeof(what), "'ports' (%s)", port);
	return check_file(trust, path, NULL, what, error);
}

int lab_trust_check(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const char *path = topology_file(lab);
	int result;

	for (unsigned i = 0; i < trust->count; i++)
		if (!same_file(trust->file[i], lab->path) &&
			(path == NULL || !same_file(trust->file[i], path)))
			return error_set(error, EINVAL,
				"--trust %s: only the lab file %s and its topology file are "
				"accepted",
				trust->file[i], lab->path);
	result = check_eal(lab, trust, error);
	return result == 0 ? check_ports(lab, trust, error) : result;
}
