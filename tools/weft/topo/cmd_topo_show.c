/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft topo show and check. */

#include "cmd_topo.h"

#include <jansson.h>
#include <stdio.h>

#include "base/quantity.h"
#include "topo/topology_hosts.h"
#include "topo/topology_levels.h"

#define PORT_TEXT (TOPOLOGY_NAME_MAX + 8)

/* "s0:3" */
static const char *port_text(
	const struct topology *topology, struct topology_port port, char out[PORT_TEXT])
{
	topology_port_name(topology, port, out, PORT_TEXT);
	return out;
}

static json_t *switches_json(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t s = 0; s < topology->switches; s++) {
		const struct topology_device *device = &topology->switch_at[s];
		json_t *entry =
			json_pack("{s:s, s:i}", "name", device->name, "ports", device->ports);

		if (device->stage != TOPOLOGY_NO_STAGE)
			json_object_set_new(entry, "stage", json_integer(device->stage));
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *links_json(const struct topology *topology)
{
	json_t *list = json_array();
	char a[PORT_TEXT], b[PORT_TEXT];

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:I, s:I}", "a", port_text(topology, link->a, a), "b",
				port_text(topology, link->b, b), "rate_bps",
				(json_int_t)link->rate_bps, "delay_ps",
				(json_int_t)link->delay_ps));
	}
	return list;
}

static json_t *shape_json(const struct topology_shape *shape)
{
	json_t *json = json_pack("{s:{s:i, s:i}, s:{s:i, s:i}}", "switch_links", "min",
		shape->degree_min, "max", shape->degree_max, "switch_hosts", "min",
		shape->hosts_min, "max", shape->hosts_max);

	if (shape->distances_known) {
		json_object_set_new(json, "diameter", json_integer(shape->diameter));
		json_object_set_new(json, "mean_distance", json_real(shape->mean_distance));
	}
	return json;
}

static json_t *host_json(const struct topology *topology, uint32_t host)
{
	char name[TOPOLOGY_NAME_MAX];
	json_t *json;

	topology_host_name(topology, host, name);
	json = json_pack("{s:s}", "name", name);
	if (topology->host_at[host].ports > 1)
		json_object_set_new(json, "ports", json_integer(topology->host_at[host].ports));
	return json;
}

static json_t *topology_json(const struct topology *topology, const struct topology_shape *shape)
{
	json_t *hosts = json_array(), *ports = json_array();
	char port[PORT_TEXT];

	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_at[h].owner == h)
			json_array_append_new(hosts, host_json(topology, h));
	for (uint32_t i = 0; i < topology->bindings; i++) {
		const struct topology_binding *binding = &topology->binding_at[i];
		json_t *vlan = binding->vlan != 0 ? json_integer(binding->vlan) : NULL;

		json_array_append_new(ports, json_pack("{s:s, s:s, s:o*}", "port",
						     port_text(topology, binding->port, port),
						     "dpdk", binding->dpdk, "vlan", vlan));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", topology->name, "shape",
		shape_json(shape), "switches", switches_json(topology), "hosts", hosts, "links",
		links_json(topology), "ports", ports);
}

json_t *cmd_topo_json(const struct topology *topology)
{
	struct topology_shape shape;

	return topology_shape(topology, &shape) == 0 ? topology_json(topology, &shape) : NULL;
}

static int print_json(json_t *document)
{
	return command_print_json(document, 0) == 0 ? EXIT_DONE : EXIT_NOT_ABLE;
}

static void print_summary(const struct topology *topology)
{
	char rate[QUANTITY_TEXT], delay[QUANTITY_TEXT];

	quantity_format(QUANTITY_RATE, topology->default_rate_bps, rate);
	quantity_format(QUANTITY_TIME, topology->default_delay_ps, delay);
	printf("%s: %u switch%s, %u host%s", topology->name, topology->switches,
		plural(topology->switches, "es"), topology->nodes, plural(topology->nodes, "s"));
	if (topology_has_rails(topology))
		printf(" with %u ports", topology->hosts);
	printf(", %u link%s (%s, %s by default)\n", topology->links, plural(topology->links, "s"),
		rate, delay);
}

/* "1 link", "2 to 4 links" */
static void print_range(unsigned min, unsigned max, const char *what)
{
	printf("%u", min);
	if (max != min)
		printf(" to %u", max);
	printf("%s%s", what, max == 1 ? "" : "s");
}

/* "each switch has 4 links to other switches and 0 to 8 hosts; diameter 8, mean distance 4.063" */
static void print_shape(const struct topology_shape *shape)
{
	fputs("each switch has ", stdout);
	print_range(shape->degree_min, shape->degree_max, " link");
	fputs(" to other switches and ", stdout);
	print_range(shape->hosts_min, shape->hosts_max, " host");
	if (shape->distances_known)
		printf("; diameter %u, mean distance %.3f", shape->diameter, shape->mean_distance);
	putchar('\n');
}

/* "s0 (stage 1, 4 ports): 0 h0:0  1 h1:0  2 s4:0  3 -" */
static void print_switch(const struct topology *topology, uint32_t number)
{
	const struct topology_device *device = &topology->switch_at[number];
	struct topology_port port = {DEVICE_SWITCH, number, 0}, peer;
	char text[PORT_TEXT];

	printf("%s (", device->name);
	if (device->stage != TOPOLOGY_NO_STAGE)
		printf("stage %u, ", device->stage);
	printf("%u ports):", device->ports);
	for (; port.port < device->ports; port.port++)
		printf("  %u %s", port.port,
			topology_peer(topology, port, &peer) ? port_text(topology, peer, text)
							     : "-");
	putchar('\n');
}

static int open_topology(int argc, char **argv, bool *json, const char **spec,
	struct topology **topology, struct error *error)
{
	int result = cmd_topo_arguments(argc, argv, spec, json);

	if (result != EXIT_DONE)
		return result;
	*topology = topology_open(*spec, error);
	return *topology != NULL ? EXIT_DONE : error_exit_code(-errno);
}

static int show(const struct topology *topology, bool json)
{
	struct topology_shape shape;

	if (topology_shape(topology, &shape) < 0)
		return command_fail("topo show", EXIT_NOT_ABLE, "out of memory");
	if (json)
		return print_json(topology_json(topology, &shape));
	print_summary(topology);
	print_shape(&shape);
	for (uint32_t s = 0; s < topology->switches; s++)
		print_switch(topology, s);
	return EXIT_DONE;
}

int cmd_topo_show(int argc, char **argv)
{
	struct topology *topology = NULL;
	struct error error = {""};
	const char *spec;
	bool json = false;
	int result = open_topology(argc, argv, &json, &spec, &topology, &error);

	if (topology == NULL)
		return error.text[0] == '\0' ? result
					     : (int)command_fail("topo show",
						       (enum weft_exit)result, "%s", error.text);
	result = show(topology, json);
	topology_destroy(topology);
	return result;
}

/* Writes a warning if hosts cannot reach some switches, otherwise "". */
static int find_warning(const struct topology *topology, const char *spec, char *text, size_t size)
{
	const struct topology_device *device;
	uint32_t first, count;
	char line[16] = "";

	text[0] = '\0';
	if (topology_unused_switches(topology, &first, &count) < 0)
		return -ENOMEM;
	if (count == 0 || topology->hosts == 0)
		return 0;
	device = &topology->switch_at[first];
	if (device->line != 0)
		snprintf(line, sizeof(line), ":%u", device->line);
	if (count == 1)
		snprintf(text, size, "%s%s: no host reaches switch %s", spec, line, device->name);
	else
		snprintf(text, size, "%s%s: no host reaches switch %s or %u other%s", spec, line,
			device->name, count - 1, count == 2 ? "" : "s");
	return 0;
}

static void print_good(const struct topology *topology, const char *warning, bool json)
{
	if (!json) {
		print_summary(topology);
		if (warning[0] != '\0')
			fprintf(stderr, "weft topo check: warning: %s\n", warning);
		return;
	}
	print_json(json_pack("{s:b, s:s, s:i, s:i, s:i, s:i, s:o}", "ok", 1, "name", topology->name,
		"switches", topology->switches, "hosts", topology->nodes, "host_ports",
		topology->hosts, "links", topology->links, "warnings",
		warning[0] == '\0' ? json_array() : json_pack("[s]", warning)));
}

int cmd_topo_check(int argc, char **argv)
{
	struct topology *topology = NULL;
	struct error error = {""};
	char warning[ERROR_TEXT] = "";
	const char *spec;
	bool json = false;
	int result = open_topology(argc, argv, &json, &spec, &topology, &error);

	if (topology == NULL && error.text[0] == '\0')
		return result;
	if (topology != NULL)
		result = error_exit_code(topology_check_connected(topology, spec, &error));
	if (result == EXIT_DONE && find_warning(topology, spec, warning, sizeof(warning)) < 0) {
		result = EXIT_NOT_ABLE;
		error_set(&error, ENOMEM, "%s: out of memory", spec);
	}
	if (result == EXIT_DONE)
		print_good(topology, warning, json);
	else if (json)
		print_json(json_pack("{s:b, s:s}", "ok", 0, "error", error.text));
	else
		command_fail("topo check", (enum weft_exit)result, "%s", error.text);
	topology_destroy(topology);
	return result;
}
