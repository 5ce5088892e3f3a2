/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "forwarding_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
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

int forwarding_table_load(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault)
{
	const char *from = request->from;
	int result = 0;

	*table = (struct forwarding_table){.hosts = 0};
	if (request->topology != NULL)
		result = forwarding_routes_load(table, request, fault);
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
