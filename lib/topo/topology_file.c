/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "topology_hosts.h"
#include "topology_levels.h"

#define FORMAT       "topology/1"
#define BINDINGS_MAX 4096 /* far more than the NIC ports of a machine */

struct file {
	char weft[16];
	char name[TOPOLOGY_NAME_MAX];
	struct topology_defaults link;
	const struct yaml_tree_node *switches, *hosts, *links, *ports;
};

struct link_row {
	const struct yaml_tree_node *a, *b;
	uint64_t rate_bps;
	weft_time delay_ps;
};

struct port_row {
	const struct yaml_tree_node *port;
	char dpdk[TOPOLOGY_DEVICE_MAX];
	uint16_t vlan;
};

static int read_list(const struct yaml_tree_node *node, void *member, struct error *error)
{
	*(const struct yaml_tree_node **)member = node;
	return yaml_tree_expect(node, YAML_TREE_SEQUENCE, error);
}

/* Reads a port such as s0:3, which is resolved when the devices are known. */
static int read_end(const struct yaml_tree_node *node, void *member, struct error *error)
{
	*(const struct yaml_tree_node **)member = node;
	return yaml_tree_expect(node, YAML_TREE_SCALAR, error);
}

#define LINK_FIELDS(type, rate_member, delay_member)                                            \
	{"rate", YAML_FIELD_RATE, YAML_MEMBER(type, rate_member), .min = TOPOLOGY_RATE_MIN_BPS, \
		.max = TOPOLOGY_RATE_MAX_BPS, .doc = "Rate of each direction."},                \
	{                                                                                       \
		"delay", YAML_FIELD_TIME, YAML_MEMBER(type, delay_member),                      \
			.max = TOPOLOGY_DELAY_MAX_PS, .doc = "Propagation delay."               \
	}

static const struct yaml_field link_defaults_fields[] = {
	LINK_FIELDS(struct topology_defaults, rate_bps, delay_ps),
	{NULL},
};

static const struct yaml_field switch_fields[] = {
	{"name", YAML_FIELD_NAME, true, YAML_MEMBER(struct topology_device, name),
		.doc = "Name of the switch."},
	{"ports", YAML_FIELD_NUMBER, true, YAML_MEMBER(struct topology_device, ports), .min = 1,
		.max = TOPOLOGY_PORTS_MAX, .doc = "Number of ports."},
	{"stage", YAML_FIELD_NUMBER, YAML_MEMBER(struct topology_device, stage), .min = 1,
		.max = UINT8_MAX,
		.doc = "Stage of the switch, starting at 1 next to the hosts. Omitted in networks without stages."},
	{NULL},
};

static const struct yaml_field host_fields[] = {
	{"name", YAML_FIELD_NAME, true, YAML_MEMBER(struct topology_device, name),
		.doc = "Name of the host."},
	{"ports", YAML_FIELD_NUMBER, YAML_MEMBER(struct topology_device, ports), .min = 1,
		.max = TOPOLOGY_HOST_PORTS_MAX,
		.doc = "Number of ports. A run file's `rail` selects the port of a message."},
	{NULL},
};

static const struct yaml_field link_fields[] = {
	{"a", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct link_row, a), .read = read_end,
		.form = TOPOLOGY_PORT_FORM,
		.doc = "A port, such as `s0:1`. A host's only port needs no number."},
	{"b", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct link_row, b), .read = read_end,
		.form = TOPOLOGY_PORT_FORM, .doc = "The port at the other end."},
	LINK_FIELDS(struct link_row, rate_bps, delay_ps),
	{NULL},
};

static const struct yaml_field port_fields[] = {
	{"port", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct port_row, port), .read = read_end,
		.form = TOPOLOGY_PORT_FORM,
		.doc = "The port, such as `s0:1`. A host's only port needs no number."},
	{"dpdk", YAML_FIELD_TEXT, YAML_MEMBER(struct port_row, dpdk), .instead = "udp",
		.doc = "The DPDK device of the port: a PCI address, or a vdev with its arguments."},
	TOPOLOGY_UDP_FIELD(YAML_MEMBER(struct port_row, dpdk)),
	{"vlan", YAML_FIELD_NUMBER, YAML_MEMBER(struct port_row, vlan), .min = 1,
		.max = TOPOLOGY_VLAN_MAX, .doc = "VLAN tag of the port's frames on the cable."},
	{NULL},
};

struct udp_row {
	char local[32], remote[32];
};

const struct yaml_field topology_udp_fields[] = {
	{"local", YAML_FIELD_TEXT, true, YAML_MEMBER(struct udp_row, local),
		.form = "^[0-9]{1,3}(\\.[0-9]{1,3}){3}:[0-9]{1,5}$",
		.doc = "IPv4 address and UDP port on this machine."},
	{"remote", YAML_FIELD_TEXT, true, YAML_MEMBER(struct udp_row, remote),
		.form = "^[0-9]{1,3}(\\.[0-9]{1,3}){3}:[0-9]{1,5}$",
		.doc = "IPv4 address and UDP port of the other end."},
	{NULL},
};

static bool is_address(const char *text)
{
	unsigned byte[4], port;
	int end = 0;

	return sscanf(text, "%3u.%3u.%3u.%3u:%5u%n", &byte[0], &byte[1], &byte[2], &byte[3], &port,
		       &end) == 5 &&
	       text[end] == '\0' && (byte[0] | byte[1] | byte[2] | byte[3]) <= 255 && port >= 1 &&
	       port <= UINT16_MAX;
}

int topology_read_udp(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct udp_row row = {"", ""};
	int result = yaml_fields_read(topology_udp_fields, node, &row, error);

	if (result == 0 && (!is_address(row.local) || !is_address(row.remote)))
		return yaml_tree_refuse(node, error,
			"'udp': expected IPv4 addresses with ports, such as {local: "
			"\"192.0.2.1:4000\", remote: \"192.0.2.2:4000\"}");
	if (result == 0)
		snprintf(member, TOPOLOGY_DEVICE_MAX, "udp:%s>%s", row.local, row.remote);
	return result;
}

void topology_write_udp(const void *member, FILE *out, unsigned indent)
{
	const char *local = (const char *)member + strlen("udp:"), *arrow = strchr(local, '>');

	fprintf(out, " {local: \"%.*s\", remote: \"%s\"}", (int)(arrow - local), local, arrow + 1);
}

bool topology_is_udp(const void *member)
{
	return strncmp(member, "udp:", strlen("udp:")) == 0;
}

bool topology_is_dpdk(const void *member)
{
	return *(const char *)member != '\0' && !topology_is_udp(member);
}

int topology_check_device(
	const struct yaml_tree_node *row, const char *device, uint16_t vlan, struct error *error)
{
	bool dpdk = yaml_tree_get(row, "dpdk") != NULL, udp = yaml_tree_get(row, "udp") != NULL;

	if (dpdk == udp || (dpdk && topology_is_udp(device)))
		return yaml_tree_refuse(row, error, "a port must have either 'dpdk' or 'udp'");
	if (udp && vlan != 0)
		return yaml_tree_refuse(row, error, "'vlan' requires 'dpdk'");
	return 0;
}

const struct yaml_field topology_file_fields[] = {
	{"weft", YAML_FIELD_TEXT, YAML_MEMBER(struct file, weft), .form = FORMAT,
		.doc = "The format of the file."},
	{"name", YAML_FIELD_NAME, YAML_MEMBER(struct file, name), .doc = "Name of the topology."},
	{"link", YAML_FIELD_SECTION, YAML_MEMBER(struct file, link), .fields = link_defaults_fields,
		.doc = "Rate and delay of links that set none."},
	{"switches", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct file, switches), .read = read_list,
		.fields = switch_fields, .doc = "The switches."},
	{"hosts", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct file, hosts), .read = read_list,
		.fields = host_fields, .doc = "The hosts."},
	{"links", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct file, links), .read = read_list,
		.fields = link_fields, .doc = "The cables."},
	{"ports", YAML_FIELD_CUSTOM, YAML_MEMBER(struct file, ports), .read = read_list,
		.fields = port_fields,
		.doc = "For labs: the device behind a port on this machine."},
	{NULL},
};

static int topology_refuse_port(const struct topology *topology, const struct yaml_tree_node *node,
	const char *text, struct error *error)
{
	char name[TOPOLOGY_NAME_MAX], hint[DID_YOU_MEAN_HINT];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	if (topology_find_switch(topology, name) >= 0 || topology_find_host(topology, name) >= 0)
		return yaml_tree_refuse(node, error,
			"'%.80s' is not a port; use a device and a number, such as %s:0", text,
			name);
	return yaml_tree_refuse(node, error, "there is no device '%s'%s", name,
		topology_nearest_device(topology, text, hint));
}

static int find_end(const struct topology *topology, const struct yaml_tree_node *node,
	struct topology_port *port, struct error *error)
{
	if (topology_find_port(topology, node->text, port) == 0)
		return 0;
	return topology_refuse_port(topology, node, node->text, error);
}

static int read_devices(const struct yaml_field *fields, const struct yaml_tree_node *list,
	struct topology_device *devices, struct error *error)
{
	int result = 0;

	for (const struct yaml_tree_node *node = list->first; node != NULL && result == 0;
		node = node->next, devices++) {
		devices->line = node->line;
		result = yaml_fields_read(fields, node, devices, error);
	}
	return result;
}

static int read_link(
	struct topology *topology, const struct yaml_tree_node *node, struct error *error)
{
	struct link_row row = {.delay_ps = WEFT_TIME_NEVER};
	struct topology_port a, b;
	int result = yaml_fields_read(link_fields, node, &row, error);

	if (result == 0)
		result = find_end(topology, row.a, &a, error);
	if (result == 0)
		result = find_end(topology, row.b, &b, error);
	if (result < 0)
		return result;
	result = topology_add_link(topology, a, b, row.rate_bps, row.delay_ps, node->line);
	return result < 0
		       ? error_set(error, -result, "%s: not enough memory for links", node->origin)
		       : 0;
}

static int read_binding(
	struct topology *topology, const struct yaml_tree_node *node, struct error *error)
{
	struct topology_binding *binding = &topology->binding_at[topology->bindings];
	struct port_row row = {0};
	int result = yaml_fields_read(port_fields, node, &row, error);

	if (result == 0)
		result = topology_check_device(node, row.dpdk, row.vlan, error);
	if (result == 0)
		result = find_end(topology, row.port, &binding->port, error);
	if (result < 0)
		return result;
	if (topology_link_at(topology, binding->port) == NULL)
		return yaml_tree_refuse(
			row.port, error, "port %s has no link in 'links'", row.port->text);
	for (uint32_t i = 0; i < topology->bindings; i++)
		if (topology_port_is(topology->binding_at[i].port, binding->port))
			return yaml_tree_refuse(
				row.port, error, "port %s is listed twice", row.port->text);
	snprintf(binding->dpdk, sizeof(binding->dpdk), "%s", row.dpdk);
	binding->vlan = row.vlan;
	topology->bindings++;
	return 0;
}

static int read_bindings(
	struct topology *topology, const struct yaml_tree_node *list, struct error *error)
{
	int result = 0;

	topology->binding_at = calloc((size_t)list->count + 1, sizeof(*topology->binding_at));
	if (topology->binding_at == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for ports", list->origin);
	for (const struct yaml_tree_node *node = list->first; node != NULL && result == 0;
		node = node->next)
		result = read_binding(topology, node, error);
	return result;
}

static int check_count(
	const struct yaml_tree_node *list, const char *what, uint32_t max, struct error *error)
{
	if (list->count <= max)
		return 0;
	return yaml_tree_refuse(
		list, error, "%u %s; at most %u are allowed", list->count, what, max);
}

/* Adds stages to a tree without stages. Any other topology remains without stages. */
static int add_levels(struct topology *topology, struct error *error)
{
	struct error why;
	int result = topology_has_levels(topology) ? 0 : topology_levels_find(topology, &why);

	if (result == -ENOMEM)
		*error = why;
	return result == -EINVAL ? 0 : result;
}

/* Reads the devices first, then everything that refers to them. */
static int fill(struct topology *topology, const struct file *file,
	const struct yaml_tree_node *node, struct error *error)
{
	int result = read_devices(switch_fields, file->switches, topology->switch_at, error);

	if (result == 0)
		result = read_devices(host_fields, file->hosts, topology->host_at, error);
	if (result == 0)
		result = topology_split_hosts(topology, node->origin, error);
	if (result == 0)
		result = topology_index_names(topology, node->origin, error);
	for (const struct yaml_tree_node *link = file->links->first; link != NULL && result == 0;
		link = link->next)
		result = read_link(topology, link, error);
	if (result == 0)
		result = topology_finish(topology, node->origin, error);
	if (result == 0)
		result = add_levels(topology, error);
	if (result == 0 && file->ports != NULL)
		result = read_bindings(topology, file->ports, error);
	return result;
}

static int read_keys(const struct yaml_tree_node *node, struct file *file, struct error *error)
{
	int result = yaml_fields_read(topology_file_fields, node, file, error);

	if (result == 0 && file->weft[0] != '\0')
		result = yaml_tree_expect_format(node, FORMAT, error);
	if (result == 0)
		result = check_count(file->switches, "switches", TOPOLOGY_SWITCHES_MAX, error);
	if (result == 0)
		result = check_count(file->hosts, "hosts", TOPOLOGY_HOSTS_MAX, error);
	if (result == 0 && file->ports != NULL)
		result = check_count(file->ports, "ports", BINDINGS_MAX, error);
	return result;
}

int topology_read(const struct yaml_tree_node *node, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error)
{
	struct file file = {
		.name = "topology", .link = {.delay_ps = WEFT_TIME_NEVER, .unset = true}};
	const struct yaml_tree_node *link;
	struct topology *made;
	int result;

	if (defaults != NULL)
		file.link = *defaults;
	result = read_keys(node, &file, error);
	if (result < 0)
		return result;
	made = topology_create(file.name, file.switches->count, file.hosts->count);
	if (made == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", node->origin);
	if (file.link.rate_bps != 0)
		made->default_rate_bps = file.link.rate_bps;
	if (file.link.delay_ps != WEFT_TIME_NEVER)
		made->default_delay_ps = file.link.delay_ps;
	link = yaml_tree_get(node, "link");
	made->default_given = !file.link.unset || (link != NULL && link->count > 0);
	result = fill(made, &file, node, error);
	if (result < 0)
		topology_destroy(made);
	else
		*topology = made;
	return result;
}

static int read_tree(struct yaml_tree *tree, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error)
{
	const struct yaml_tree_node *root = yaml_tree_root(tree);
	int result = yaml_tree_expect_format(root, FORMAT, error);

	if (result == 0)
		result = topology_read(root, defaults, topology, error);
	yaml_tree_destroy(tree);
	return result;
}

static struct topology *or_errno(struct topology *topology, int code)
{
	if (code == 0)
		return topology;
	errno = -code;
	return NULL;
}

/* Takes ownership of the tree. Returns NULL if 'tree' is NULL. */
static struct topology *of_tree(
	struct yaml_tree *tree, const struct topology_defaults *defaults, struct error *error)
{
	struct topology *topology = NULL;
	int code;

	if (tree == NULL)
		return NULL;
	code = read_tree(tree, defaults, &topology, error);
	return or_errno(topology, code);
}

struct topology *topology_parse(
	const char *text, size_t length, const char *origin, struct error *error)
{
	return of_tree(yaml_tree_parse(text, length, origin, error), NULL, error);
}

static struct topology *generate(
	const char *spec, const struct topology_defaults *defaults, struct error *error)
{
	struct topology *topology = NULL;
	int code = generator_run(spec, defaults, &topology, error);

	return or_errno(topology, code);
}

struct topology *topology_load(const char *path, struct error *error)
{
	return of_tree(yaml_tree_load(path, error), NULL, error);
}

struct topology *topology_generate(const char *spec, struct error *error)
{
	return generate(spec, NULL, error);
}

bool topology_is_generated(const char *spec)
{
	const char *colon = strchr(spec, ':');

	if (colon == NULL)
		return generator_find(spec) != NULL;
	/* A text such as 'tours:dims=8x8' is a misspelt generator. */
	return generator_find(spec) != NULL ||
	       (strchr(spec, '/') == NULL && strchr(colon, '=') != NULL);
}

struct topology *topology_open_with(
	const char *spec, const struct topology_defaults *defaults, struct error *error)
{
	return topology_is_generated(spec) ? generate(spec, defaults, error)
					   : of_tree(yaml_tree_load(spec, error), defaults, error);
}

struct topology *topology_open(const char *spec, struct error *error)
{
	return topology_open_with(spec, NULL, error);
}
