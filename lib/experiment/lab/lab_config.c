/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config_private.h"
#include "route/route_algorithm.h"
#include "topo/topology_file.h"
#include "traffic/traffic_pattern.h"

#define ENDPOINTS_DEFAULT 4
#define FORMAT            "lab/1"
#define FORMAT_TOPOLOGY   "topology/1"

#define S struct lab_config_uplink
static const struct yaml_field uplink_fields[] = {
	{"edge", YAML_FIELD_NAME, true, YAML_MEMBER(S, edge),
		.doc = "The host whose edge has the uplink. The edge needs a namespace and an address."},
	{"nat", YAML_FIELD_NAME, true, YAML_MEMBER(S, nat),
		.doc = "The interface of the machine that runs this host. Addresses are translated there (NAT)."},
	{NULL},
};
#undef S

static int read_uplink(const struct yaml_tree_node *node, void *member, struct error *error)
{
	((struct lab_config_uplink *)member)->place = run_place_of(node);
	return yaml_fields_read(uplink_fields, node, member, error);
}

static void write_uplink(const void *member, FILE *out, unsigned indent)
{
	fputc(' ', out);
	yaml_fields_write_row(uplink_fields, member, out);
}

const struct yaml_field lab_file_fields[] = {
	{"weft", YAML_FIELD_CUSTOM, .read = run_read_later, .present = run_present_never,
		.form = FORMAT, .doc = "The format of the file."},
	{"name", YAML_FIELD_NAME, YAML_MEMBER(struct lab_config, name),
		.doc = "Name of the lab, at most 23 characters. The default is the file's name."},
	{"topology", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct lab_config, run.topology),
		.read = run_read_later, .write = run_write_topology, .form = "<text>",
		.map = topology_file_fields,
		.doc = "The network: a generator with its options, a topology file, or a topology in place."},
	{"links", YAML_FIELD_CHOICE, YAML_MEMBER(struct lab_config, links),
		.choices = YAML_CHOICES(LAB_CONFIG_LINKS),
		.doc = "The kind of links between processes. tcpdump can listen on `veth`."},
	{"processes", YAML_FIELD_CHOICE, YAML_MEMBER(struct lab_config, processes),
		.choices = YAML_CHOICES(LAB_CONFIG_PROCESSES),
		.doc = "One process with all devices, or several. `auto` depends on the number of CPUs."},
	{"groups", YAML_FIELD_CUSTOM, YAML_MEMBER(struct lab_config, groups),
		.read = lab_read_groups, .write = lab_write_groups, .present = lab_groups_present,
		.form = "<named lists>|<lists>",
		.doc = "Devices that share a process: `{NAME: [s0, s1]}` or `[[s0, s1]]`."},
	{"machines", YAML_FIELD_CUSTOM, YAML_MEMBER(struct lab_config, machines),
		.fields = lab_machine_fields, .read = lab_read_machines,
		.write = lab_write_machines, .present = lab_machines_present,
		.doc = "The servers that run the lab. One console starts and queries them over ssh."},
	{"uplink", YAML_FIELD_CUSTOM, YAML_MEMBER(struct lab_config, uplink), .map = uplink_fields,
		.read = read_uplink, .write = write_uplink, .optional = true,
		.doc = "A route out of the fabric, for hosts with edges."},
	{"eal", YAML_FIELD_CUSTOM, YAML_MEMBER(struct lab_config, eal), .read = lab_read_words,
		.write = lab_write_words, .form = "<texts>",
		.doc = "Additional EAL arguments of every process."},
	{"security", YAML_FIELD_SECTION, YAML_MEMBER(struct lab_config, run.security),
		.fields = lab_security_fields,
		.doc = "Keys and restrictions of the lab's processes."},
	{"cores", YAML_FIELD_NUMBER, YAML_MEMBER(struct lab_config, cores), .max = 1024,
		.doc = "Restricts the processes to this many of their CPUs. 0 means all."},
	{"lcores", YAML_FIELD_NUMBER, YAML_MEMBER(struct lab_config, lcores), .max = LAB_LCORES_MAX,
		.doc = "Poll loops per process. They share its devices and divide its switches. 0 means one."},
	{"endpoints", YAML_FIELD_NUMBER, YAML_MEMBER(struct lab_config, endpoints),
		.max = LAB_ENDPOINTS_MAX,
		.doc = "Programs that may attach to each host through libweft. 0 means none."},
	RUN_SHARED_FIELDS(struct lab_config, run.),
	{NULL},
};

void lab_config_destroy(struct lab_config *config)
{
	if (config == NULL)
		return;
	run_config_fini(&config->run);
	lab_groups_fini(&config->groups);
	lab_machines_fini(&config->machines);
	lab_words_fini(&config->eal);
	free(config);
}

/* Derives a lab's default name from its file: "labs/two-leaves.yaml" is two-leaves. */
static void default_name(struct lab_config *config)
{
	const char *origin = config->run.origin, *slash = strrchr(origin, '/');
	size_t used = 0;

	if (slash != NULL)
		origin = slash + 1;
	for (; *origin != '\0' && *origin != '.' && used + 1 < sizeof(config->name); origin++)
		if (isalnum((unsigned char)*origin) || *origin == '_')
			config->name[used++] = *origin;
		else if (used > 0 && config->name[used - 1] != '-')
			config->name[used++] = '-';
	while (used > 0 && config->name[used - 1] == '-')
		used--;
	config->name[used] = '\0';
	if (used == 0)
		strcpy(config->name, "lab");
}

static int read_root(
	struct lab_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct yaml_tree_node *link;
	int result = yaml_tree_expect_format(root, FORMAT, error);

	run_config_default_by_file(&config->run, root);
	if (result == 0)
		result = yaml_fields_read(lab_file_fields, root, config, error);
	link = result == 0 ? yaml_tree_get(root, "link") : NULL;
	config->run.link.unset = link == NULL || link->count == 0;
	if (result == 0)
		result = run_config_read_topology(
			&config->run, yaml_tree_get(root, "topology"), error);
	if (result == 0)
		result = run_config_choose_routes(&config->run, root, error);
	if (result == 0)
		result = run_config_take_opensm(&config->run, root, error);
	if (result < 0)
		return result;
	run_config_complete(&config->run);
	return run_config_check(&config->run, root, error);
}

/* Creates a lab file with only a topology; 'origin' is for messages. Returns NULL with errno set.
 */
static struct yaml_tree *tree_around(const char *topology, const char *origin, struct error *error)
{
	struct yaml_tree *tree = NULL;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL) {
		error_set(error, errno, "%s: %s", origin, strerror(errno));
		return NULL;
	}
	fputs("weft: " FORMAT "\ntopology: ", out);
	yaml_tree_write_text(topology, out);
	fputc('\n', out);
	if (fclose(out) == 0)
		tree = yaml_tree_parse(text, length, origin, error);
	free(text);
	return tree;
}

/* Converts a topology file to a lab file. Paths are relative to the file's directory. */
static struct yaml_tree *wrap_topology(struct yaml_tree *tree, struct error *error)
{
	const struct yaml_tree_node *root = yaml_tree_root(tree);
	const struct yaml_tree_node *format = yaml_tree_get(root, "weft");
	struct yaml_tree *lab;
	const char *name;

	if (format == NULL || format->kind != YAML_TREE_SCALAR ||
		strcmp(format->text, FORMAT_TOPOLOGY) != 0)
		return tree;
	name = strrchr(yaml_tree_origin(tree), '/');
	name = name != NULL ? name + 1 : yaml_tree_origin(tree);
	lab = tree_around(name, yaml_tree_origin(tree), error);
	yaml_tree_destroy(tree);
	return lab;
}

/* Takes ownership of the tree, which may be NULL with errno set. */
static struct lab_config *read_tree(
	struct yaml_tree *tree, const char *const *set, unsigned sets, struct error *error)
{
	struct lab_config *config;
	int result = 0;

	if (tree != NULL)
		tree = wrap_topology(tree, error);
	if (tree == NULL)
		return NULL;
	config = calloc(1, sizeof(*config));
	if (config != NULL) {
		run_config_default(&config->run);
		config->run.mapper.routes = RUN_ROUTES_MAPPER;
		config->run.security.sandbox = true;
		config->endpoints = ENDPOINTS_DEFAULT;
	}
	if (config == NULL || (config->run.origin = strdup(yaml_tree_origin(tree))) == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", yaml_tree_origin(tree));
	for (unsigned i = 0; i < sets && result == 0; i++)
		result = yaml_tree_set(tree, "--set", set[i], error);
	if (result == 0)
		result = read_root(config, yaml_tree_root(tree), error);
	yaml_tree_destroy(tree);
	if (result < 0) {
		lab_config_destroy(config);
		errno = -result;
		return NULL;
	}
	if (config->name[0] == '\0')
		default_name(config);
	return config;
}

struct lab_config *lab_config_load(
	const char *spec, const char *const *set, unsigned sets, struct error *error)
{
	struct yaml_tree *tree = topology_is_generated(spec) ? tree_around(spec, spec, error)
							     : yaml_tree_load(spec, error);

	return read_tree(tree, set, sets, error);
}

struct lab_config *lab_config_parse(const char *text, size_t length, const char *origin,
	const char *const *set, unsigned sets, struct error *error)
{
	return read_tree(yaml_tree_parse(text, length, origin, error), set, sets, error);
}

static int check_traffic(const struct lab_config *config, struct error *error)
{
	for (uint32_t i = 0; i < config->run.traffic.count; i++)
		if (config->run.traffic.at[i].pattern->schedule)
			return run_config_refuse(&config->run, &config->run.traffic.at[i].place,
				error,
				"pattern %s requires a fabric in one process; use 'weft "
				"run'",
				config->run.traffic.at[i].pattern->name);
	return 0;
}

static int check_algorithm(const struct lab_config *config, const struct route_algorithm *algorithm,
	struct error *error)
{
	if (algorithm->deadlock_free)
		return 0;
	return error_set(error, EINVAL,
		"%s: routing.algorithm %s may deadlock, which is not allowed in a lab; use a "
		"deadlock-free one, such as ud",
		config->run.origin, algorithm->name);
}

/* Routes in a file must be verified, which routing.may-deadlock disables. */
static int check_route_file(const struct lab_config *config, struct error *error)
{
	if (config->run.routing.file == NULL || !config->run.routing.may_deadlock)
		return 0;
	return error_set(error, EINVAL,
		"%s: routing.may-deadlock: must be false with routing.file, because a lab's "
		"routes must not deadlock",
		config->run.origin);
}

static int check_data_key(const struct lab_config *config, struct error *error)
{
	const struct run_config_security *security = &config->run.security;

	if (!security->data || security->link_key.path != NULL)
		return 0;
	return error_set(
		error, EINVAL, "%s: security.data requires security.link-key", config->run.origin);
}

/* With one process, all links are in memory. */
static int check_processes(const struct lab_config *config, struct error *error)
{
	if (config->processes != LAB_CONFIG_PROCESSES_ONE)
		return 0;
	if (config->machines.count > 1)
		return run_config_refuse(&config->run, &config->machines.at[0].place, error,
			"machines: 'processes: one' runs all devices in one process; use one "
			"machine or 'processes: each'");
	if (config->groups.count > 0)
		return run_config_refuse(&config->run, &config->groups.at[0].place, error,
			"groups: 'processes: one' runs all devices in one process; remove "
			"'groups'");
	if (config->links != LAB_CONFIG_LINKS_SHARED)
		return error_set(error, EINVAL,
			"%s: links: 'processes: one' has no links between processes; memif, veth pairs and real cables require 'processes: each'",
			config->run.origin);
	return 0;
}

/* The loops of one process divide its switches among them, but do not divide a switch. */
static int check_lcores(const struct lab_config *config, struct error *error)
{
	const char *key = run_config_needs_one_lcore(&config->run);

	if (config->lcores < 2)
		return 0;
	if (config->processes == LAB_CONFIG_PROCESSES_ONE)
		return error_set(error, EINVAL,
			"%s: lcores: 'processes: one' has a loop per CPU and does not divide switches; use 'cores' to restrict the CPUs",
			config->run.origin);
	if (key == NULL)
		return 0;
	return error_set(error, EINVAL, "%s: %s: requires one lcore; remove 'lcores: %u'",
		config->run.origin, key, config->lcores);
}

int lab_config_supported(const struct lab_config *config, struct error *error)
{
	int result = run_config_supported(&config->run, error);

	if (result == 0)
		result = check_processes(config, error);
	if (result == 0)
		result = check_lcores(config, error);
	if (result == 0)
		result = check_route_file(config, error);
	if (result == 0)
		result = check_data_key(config, error);
	if (result == 0)
		result = check_algorithm(config, config->run.routing.algorithm, error);
	for (uint32_t i = 0; i < config->run.routing.others && result == 0; i++)
		result = check_algorithm(config, config->run.routing.other[i], error);
	if (result == 0)
		result = check_traffic(config, error);
	return result;
}

const struct run_config_edge *lab_config_uplink_edge(const struct lab_config *config)
{
	for (uint32_t i = 0; i < config->run.edges.count; i++)
		if (strcmp(config->run.edges.at[i].host, config->uplink.edge) == 0)
			return &config->run.edges.at[i];
	return NULL;
}

int lab_config_check_uplink(const struct lab_config *config, struct error *error)
{
	const struct run_config_edge *edge = lab_config_uplink_edge(config);

	if (config->uplink.edge[0] == '\0' ||
		(edge != NULL && edge->netns[0] != '\0' && edge->address[0] != '\0'))
		return 0;
	return run_config_refuse(&config->run, &config->uplink.place, error,
		"uplink: host %s has no edge with a namespace and an address; add one to 'edges'",
		config->uplink.edge);
}

int lab_config_explain(const struct lab_config *config, FILE *out)
{
	fputs("weft: " FORMAT "\n", out);
	for (const struct yaml_field *field = lab_file_fields; field->key != NULL; field++) {
		const struct yaml_field one[] = {*field, {NULL}};

		/* A written 'link' would count as set, and slow down the links between processes.
		 */
		if (!config->run.link.unset || strcmp(field->key, "link") != 0)
			yaml_fields_write(one, config, out, 0);
	}
	return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
