/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "route_file.h"
#include "switch.h"

#define HOSTS_MAX FRAME_HOST_NONE /* ids go to 65534 */

static int grow(struct forwarding_table *table, uint32_t hosts)
{
	uint8_t *port;

	if (hosts <= table->hosts)
		return 0;
	port = realloc(table->port, hosts);
	if (port == NULL)
		return -ENOMEM;
	memset(port + table->hosts, SWITCH_PORT_NONE, hosts - table->hosts);
	table->port = port;
	table->hosts = hosts;
	return 0;
}

static int load_modulo(
	struct forwarding_table *table, const char *hosts, unsigned ports, struct fault *fault)
{
	char *end;
	unsigned long count = strtoul(hosts, &end, 10);

	if (end == hosts || *end != '\0' || count == 0 || count > HOSTS_MAX)
		return fault_set(fault, EINVAL,
			"--table modulo:%s: expected a number of hosts from 1 to %u", hosts,
			HOSTS_MAX);
	if (grow(table, (uint32_t)count) < 0)
		return fault_set(fault, ENOMEM, "no memory for a table of %lu hosts", count);
	for (uint32_t host = 0; host < table->hosts; host++)
		table->port[host] = (uint8_t)(host % ports);
	return 0;
}

/* Reads a number that ends at white space or '#', and advances *text. */
static bool take_number(const char **text, unsigned long max, unsigned long *value)
{
	char *end;

	*text += strspn(*text, " \t");
	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*value = strtoul(*text, &end, 10);
	if (errno != 0 || *value > max || strchr(" \t\r\n#", *end) == NULL)
		return false;
	*text = end;
	return true;
}

static int load_line(struct forwarding_table *table, const char *file, unsigned number,
	const char *line, unsigned ports, struct fault *fault)
{
	unsigned long host, port;
	const char *at = line;

	if (line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#')
		return 0;
	if (!take_number(&at, HOSTS_MAX - 1, &host))
		return fault_set(fault, EINVAL,
			"%s:%u: no destination, expected 'DESTINATION PORT' with a destination "
			"from 0 to %u",
			file, number, HOSTS_MAX - 1);
	if (!take_number(&at, ports - 1, &port))
		return fault_set(fault, EINVAL,
			"%s:%u: destination %lu has no port, expected one from 0 to %u", file,
			number, host, ports - 1);
	at += strspn(at, " \t\r\n");
	if (*at != '\0' && *at != '#')
		return fault_set(fault, EINVAL,
			"%s:%u: '%.20s' after the port, expected the end of the line", file, number,
			at);
	if (host < table->hosts && table->port[host] != SWITCH_PORT_NONE)
		return fault_set(
			fault, EINVAL, "%s:%u: destination %lu a second time", file, number, host);
	if (grow(table, (uint32_t)host + 1) < 0)
		return fault_set(fault, ENOMEM, "%s:%u: no memory", file, number);
	table->port[host] = (uint8_t)port;
	return 0;
}

static int load_file(
	struct forwarding_table *table, const char *path, unsigned ports, struct fault *fault)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t room = 0;
	int result = 0;

	if (file == NULL)
		return fault_set(
			fault, errno == EISDIR ? EINVAL : ENOENT, "%s: %s", path, strerror(errno));
	errno = 0;
	while (result == 0 && getline(&line, &room, file) >= 0)
		result = load_line(table, path, ++number, line, ports, fault);
	if (result == 0 && ferror(file))
		result = fault_set(fault, EINVAL, "%s: cannot be read: %s", path, strerror(errno));
	free(line);
	fclose(file);
	return result;
}

/* --- a route file: its row of the tables, and the VC classes --- */

static int check_ports(const struct topology *topology, const struct forwarding_request *request,
	const uint8_t *row, struct fault *fault)
{
	for (uint32_t host = 0; host < topology->hosts; host++)
		if (row[host] != ROUTE_TABLE_NONE && row[host] >= request->ports)
			return fault_set(fault, EINVAL,
				"%s: %s sends to %s by port %u, expected one of its %u ports",
				request->from, request->name, topology->host_at[host].name,
				row[host], request->ports);
	return 0;
}

static int check_classes(
	const struct vc_rule *rule, const struct forwarding_request *request, struct fault *fault)
{
	if (rule == NULL || rule->classes <= request->vcs)
		return 0;
	return fault_set(fault, EINVAL, "--vcs %u: %s needs %u VC classes, expected so many VCs",
		request->vcs, request->from, rule->classes);
}

static int take_row(struct forwarding_table *table, const struct topology *topology,
	struct route_table *routes, const struct forwarding_request *request, struct fault *fault)
{
	int32_t at = topology_find_switch(topology, request->name);
	const uint8_t *row;
	int result;

	if (at < 0)
		return fault_set(fault, EINVAL, "--name %s: topology %s has no such switch",
			request->name, topology->name);
	row = route_table_row(routes, (uint32_t)at);
	result = check_ports(topology, request, row, fault);
	if (result == 0)
		result = check_classes(routes->vc_rule, request, fault);
	if (result < 0)
		return result;
	_Static_assert(ROUTE_TABLE_NONE == SWITCH_PORT_NONE, "a row is a switch's table");
	table->port = malloc(topology->hosts + 1u);
	if (table->port == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", request->from);
	memcpy(table->port, row, topology->hosts);
	table->hosts = topology->hosts;
	table->vc_rule = routes->vc_rule;
	table->vc_rule_at = (uint32_t)at;
	routes->vc_rule = NULL;
	return 0;
}

static int load_routes(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault)
{
	struct topology *topology = topology_open(request->topology, fault);
	struct route_file file = {NULL, NULL};
	int result =
		topology == NULL ? -errno : route_file_load(topology, request->from, &file, fault);

	if (result == 0 && file.table == NULL)
		result = fault_set(fault, EINVAL,
			"%s: source routes, which come in frames; expected tables, as of 'weft "
			"route compute --tables'",
			request->from);
	if (result == 0)
		result = take_row(table, topology, file.table, request, fault);
	route_file_close(&file);
	topology_destroy(topology);
	return result;
}

int forwarding_table_load(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault)
{
	const char *from = request->from;
	int result = 0;

	*table = (struct forwarding_table){.hosts = 0};
	if (request->topology != NULL)
		result = load_routes(table, request, fault);
	else if (from != NULL && strncmp(from, "modulo:", 7) == 0)
		result = load_modulo(table, from + 7, request->ports, fault);
	else if (from != NULL)
		result = load_file(table, from, request->ports, fault);
	if (result < 0)
		forwarding_table_free(table);
	return result;
}

void forwarding_table_free(struct forwarding_table *table)
{
	free(table->port);
	vc_rule_destroy(table->vc_rule);
	*table = (struct forwarding_table){.hosts = 0};
}
