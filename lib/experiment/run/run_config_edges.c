/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The edges of a run file: hosts with an interface for programs. */

#include "run_config_fields.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool address_is_valid(const char *text)
{
	char address[RUN_ADDRESS_MAX];
	const char *slash = strchr(text, '/');
	struct in_addr parsed;
	char *end;

	if (slash == NULL || slash[1] < '0' || slash[1] > '9' ||
		(size_t)(slash - text) >= sizeof(address) || strlen(slash) > 3)
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	return inet_pton(AF_INET, address, &parsed) == 1 && strtoul(slash + 1, &end, 10) <= 32 &&
	       *end == '\0';
}

static int read_address(const struct yaml_tree_node *node, void *member, struct error *error)
{
	int result = yaml_read_text(node, member, RUN_ADDRESS_MAX, error);

	if (result == 0 && !address_is_valid(member))
		return yaml_tree_refuse(node, error,
			"'address: %s': expected an IPv4 address with its prefix, such as "
			"10.87.0.1/24",
			node->text);
	return result;
}

static void write_text(const void *member, FILE *out, unsigned indent)
{
	fprintf(out, " %s", (const char *)member);
}

static int read_host(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return run_read_host(node, member, TOPOLOGY_NAME_MAX, error);
}

#define S struct run_config_edge
const struct yaml_field run_edge_fields[] = {
	{"host", YAML_FIELD_CUSTOM, true, YAML_MEMBER(S, host), .read = read_host,
		.write = write_text, .optional = true, .form = "<host>",
		.doc = "The host of the edge, or one of its ports, such as `h0:1`, if it has several."},
	{"tap", YAML_FIELD_NAME, true, YAML_MEMBER(S, tap), .doc = "Name of the TAP interface."},
	{"namespace", YAML_FIELD_NAME, YAML_MEMBER(S, netns),
		.doc = "Network namespace of the interface. Without it, the edge is in the current one."},
	{"address", YAML_FIELD_CUSTOM, YAML_MEMBER(S, address), .read = read_address,
		.write = write_text, .optional = true,
		.form = "^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$",
		.doc = "IPv4 address of the interface, with its prefix."},
	{NULL},
};
#undef S

static int check_edge(const struct run_config_edge_list *list, const struct yaml_tree_node *row,
	struct error *error)
{
	const struct run_config_edge *edge = &list->at[list->count - 1];
	char where[RUN_OPTION_MAX];

	for (uint32_t i = 0; i + 1 < list->count; i++) {
		const struct run_config_edge *other = &list->at[i];

		if (strcmp(other->host, edge->host) == 0)
			return yaml_tree_refuse(row, error,
				"duplicate edge of host %s; the first one is in %s", edge->host,
				run_place_text(&other->place, where));
		if (strcmp(other->tap, edge->tap) == 0 && strcmp(other->netns, edge->netns) == 0)
			return yaml_tree_refuse(row, error,
				"duplicate interface %s in the same namespace; the first one is in %s",
				edge->tap, run_place_text(&other->place, where));
		if (edge->address[0] != '\0' &&
			strcspn(edge->address, "/") == strcspn(other->address, "/") &&
			strncmp(edge->address, other->address, strcspn(edge->address, "/")) == 0)
			return yaml_tree_refuse(row, error, "the edge in %s already has address %s",
				run_place_text(&other->place, where), edge->address);
	}
	return 0;
}

/* --- {hosts: [h0, h8], network: 10.99.0.0/24} --- */

/* Splits a valid address. Returns its prefix length, or -1 if there is no address. */
static int parse_address(const char *text, uint32_t *address)
{
	char base[RUN_ADDRESS_MAX];
	struct in_addr parsed;

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(text, "/"), text);
	if (inet_pton(AF_INET, base, &parsed) != 1)
		return -1;
	*address = ntohl(parsed.s_addr);
	return atoi(strchr(text, '/') + 1);
}

/* Parses a network "a.b.c.d/BITS": its address in host byte order, and its number of addresses. */
static bool parse_network(const char *text, uint32_t *network, uint32_t *size)
{
	int bits = address_is_valid(text) ? parse_address(text, network) : -1;

	if (bits < 8 || bits > 24)
		return false;
	*size = 1u << (32 - bits);
	return true;
}

/* The address of host i is network + 1 + i, so the host bits of the network must be 0. */
static bool network_is_valid(const char *text)
{
	uint32_t network, size;

	return parse_network(text, &network, &size) && (network & (size - 1)) == 0;
}

static int read_network(const struct yaml_tree_node *node, void *member, struct error *error)
{
	int result = yaml_read_text(node, member, RUN_ADDRESS_MAX, error);

	if (result == 0 && !network_is_valid(member))
		return yaml_tree_refuse(node, error,
			"'network: %s': expected an IPv4 network with a prefix from 8 to 24 followed by zeros, such as 10.99.0.0/24",
			node->text);
	return result;
}

/* Reads a list of hosts, or 'all'. */
static int read_hosts(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_edge_list *list = member;
	void *rows;
	int result;

	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "all") == 0) {
		list->all = true;
		return 0;
	}
	result = run_read_rows(node, RUN_EDGES_MAX, sizeof(*list->at), &rows, error);
	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *host = node->first; host != NULL && result == 0;
		host = host->next) {
		struct run_config_edge *edge = &list->at[list->count++];

		edge->place = run_place_of(host);
		result = run_read_host(host, edge->host, sizeof(edge->host), error);
		for (uint32_t i = 0; i + 1 < list->count && result == 0; i++)
			if (strcmp(list->at[i].host, edge->host) == 0)
				result = yaml_tree_refuse(
					host, error, "%s is listed twice", edge->host);
	}
	return result;
}

#define S struct run_config_edge_list
const struct yaml_field run_edge_network_fields[] = {
	{"hosts", YAML_FIELD_CUSTOM, true, .offset = 0, .size = sizeof(S), .read = read_hosts,
		.form = "all|<names>",
		.doc = "The hosts with an edge. Their interfaces are called `eth0`."},
	{"network", YAML_FIELD_CUSTOM, true, YAML_MEMBER(S, network), .read = read_network,
		.form = "^([0-9]{1,3}\\.){3}0/([89]|1[0-9]|2[0-4])$",
		.doc = "IPv4 network with a prefix from 8 to 24. Host number i has address network + 1 + i."},
	{NULL},
};
#undef S

int run_read_edges(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_edge_list *list = member;
	void *rows;
	int result;

	list->place = run_place_of(node);
	if (node->kind == YAML_TREE_MAP)
		return yaml_fields_read(run_edge_network_fields, node, list, error);
	result = run_read_rows(node, RUN_EDGES_MAX, sizeof(*list->at), &rows, error);
	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		list->at[list->count].place = run_place_of(row);
		result = yaml_fields_read(run_edge_fields, row, &list->at[list->count++], error);
		if (result == 0)
			result = check_edge(list, row, error);
	}
	return result;
}

void run_write_edges(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_edge_list *list = member;

	if (list->network[0] != '\0') {
		fprintf(out, " {hosts: %s", list->all ? "all" : "[");
		for (uint32_t i = 0; i < list->count; i++)
			fprintf(out, "%s%s", i > 0 ? ", " : "", list->at[i].host);
		fprintf(out, "%s, network: %s}", list->all ? "" : "]", list->network);
		return;
	}
	run_write_rows(run_edge_fields, list->at, sizeof(*list->at), list->count, out, indent);
}

static int take_all_hosts(struct run_config_edge_list *list, const struct topology *topology)
{
	list->at = calloc(topology->hosts + 1u, sizeof(*list->at));
	if (list->at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->hosts; i++) {
		struct run_config_edge *edge = &list->at[list->count];

		if (topology->host_at[i].absent)
			continue;
		edge->place = list->place;
		snprintf(edge->host, sizeof(edge->host), "%s", topology->host_at[i].name);
		list->count++;
	}
	return 0;
}

/* Assigns an address, but neither the network's own nor the broadcast address. */
static bool give_address(struct run_config_edge *edge, const char *network, uint32_t number)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr address;
	uint32_t base, size;

	if (!parse_network(network, &base, &size) || number + 2 >= size)
		return false;
	address.s_addr = htonl(base + 1 + number);
	inet_ntop(AF_INET, &address, text, sizeof(text));
	snprintf(edge->address, sizeof(edge->address), "%s%s", text, strchr(network, '/'));
	return true;
}

static int name_edge(const struct run_config *config, struct run_config_edge *edge,
	const struct topology *topology, const char *lab, struct error *error)
{
	const char *network = config->edges.network;
	int32_t number = topology_find_host(topology, edge->host);
	int length = snprintf(edge->netns, sizeof(edge->netns), "weft-%s%s%s",
		lab != NULL ? lab : "", lab != NULL ? "-" : "", edge->host);

	snprintf(edge->tap, sizeof(edge->tap), "eth0");
	if (strchr(edge->netns, ':') != NULL)
		*strchr(edge->netns, ':') = '.';
	if (number < 0)
		return run_config_refuse(
			config, &edge->place, error, "no host is named '%s'", edge->host);
	if (length >= (int)sizeof(edge->netns))
		return run_config_refuse(config, &edge->place, error,
			"the name of its namespace, weft-%s%s%s, is too long for %s",
			lab != NULL ? lab : "", lab != NULL ? "-" : "", edge->host, edge->host);
	if (!give_address(edge, network, (uint32_t)number))
		return run_config_refuse(config, &edge->place, error,
			"network %s has no address for %s, which is host number %d", network,
			edge->host, number);
	return 0;
}

bool run_config_networks_overlap(const char *one, const char *other)
{
	uint32_t a = 0, b = 0;
	int bits = parse_address(one, &a), other_bits = parse_address(other, &b);

	if (other_bits < bits)
		bits = other_bits;
	return bits == 0 || (bits > 0 && (a ^ b) >> (32 - bits) == 0);
}

int run_config_check_edges(const struct run_config *config, const struct run_config_edge *edge,
	const struct run_config_edge *before, struct error *error)
{
	char where[RUN_OPTION_MAX];

	if (strcmp(edge->netns, before->netns) != 0 ||
		!run_config_networks_overlap(edge->address, before->address))
		return 0;
	return run_config_refuse(config, &edge->place, error,
		"address %s of host %s: the edge in %s has %s, in the same network and "
		"namespace, so packets between the two would bypass the fabric; use another "
		"'namespace'",
		edge->address, edge->host, run_place_text(&before->place, where), before->address);
}

int run_config_name_edges(struct run_config *config, const struct topology *topology,
	const char *lab, struct error *error)
{
	struct run_config_edge_list *list = &config->edges;
	int result = 0;

	for (uint32_t i = 0; lab == NULL && i < list->count; i++)
		for (uint32_t k = 0; k < i && result == 0; k++)
			result = run_config_check_edges(config, &list->at[i], &list->at[k], error);
	if (list->network[0] == '\0')
		return result;
	if (list->all && topology->hosts > RUN_EDGES_MAX)
		return run_config_refuse(config, &list->place, error,
			"edges on all %u hosts are too many; at most %d are allowed",
			topology->hosts, RUN_EDGES_MAX);
	if (list->all && take_all_hosts(list, topology) < 0)
		return error_set(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < list->count && result == 0; i++)
		result = name_edge(config, &list->at[i], topology, lab, error);
	if (result == 0) {
		list->network[0] = '\0';
		list->all = false;
	}
	return result;
}
