/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "base/quantity.h"
#include "topology_file.h"
#include "yaml/yaml_tree.h"

static void write_link(const struct topology *topology, const struct topology_link *link, FILE *out)
{
	char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8], text[QUANTITY_TEXT];

	topology_port_name(topology, link->a, a, sizeof(a));
	topology_port_name(topology, link->b, b, sizeof(b));
	fprintf(out, "{a: %s, b: %s", a, b);
	if (link->rate_bps != topology->default_rate_bps ||
		(link->given && !topology->default_given)) {
		quantity_format(QUANTITY_RATE, link->rate_bps, text);
		fprintf(out, ", rate: %s", text);
	}
	if (link->delay_ps != topology->default_delay_ps) {
		quantity_format(QUANTITY_TIME, link->delay_ps, text);
		fprintf(out, ", delay: %s", text);
	}
	fputs("}\n", out);
}

static void write_switches(const struct topology *topology, FILE *out, int indent)
{
	fprintf(out, "%*sswitches:%s\n", indent, "", topology->switches == 0 ? " []" : "");
	for (uint32_t s = 0; s < topology->switches; s++) {
		const struct topology_device *device = &topology->switch_at[s];

		if (device->absent)
			continue;
		fprintf(out, "%*s  - {name: %s, ports: %u", indent, "", device->name,
			device->ports);
		if (device->stage != TOPOLOGY_NO_STAGE)
			fprintf(out, ", stage: %u", device->stage);
		fputs("}\n", out);
	}
}

static void write_host(const struct topology *topology, uint32_t number, FILE *out, int indent)
{
	const struct topology_device *host = &topology->host_at[number];

	if (host->absent || host->owner != number)
		return;
	fprintf(out, "%*s  - {name: %.*s", indent, "", (int)strcspn(host->name, ":"), host->name);
	/* A mapper's map may contain only the first of a host's ports. */
	if (strchr(host->name, ':') != NULL)
		fprintf(out, ", ports: %u", host->ports > 1 ? host->ports : 2);
	fputs("}\n", out);
}

static void write_bindings(const struct topology *topology, FILE *out, int indent)
{
	char name[TOPOLOGY_NAME_MAX + 8];

	if (topology->bindings != 0)
		fprintf(out, "%*sports:\n", indent, "");
	for (uint32_t i = 0; i < topology->bindings; i++) {
		topology_port_name(topology, topology->binding_at[i].port, name, sizeof(name));
		fprintf(out, "%*s  - {port: %s, ", indent, "", name);
		if (topology_is_udp(topology->binding_at[i].dpdk)) {
			fputs("udp:", out);
			topology_write_udp(topology->binding_at[i].dpdk, out, 0);
		} else {
			fputs("dpdk: ", out);
			yaml_tree_write_text(topology->binding_at[i].dpdk, out);
		}
		if (topology->binding_at[i].vlan != 0)
			fprintf(out, ", vlan: %u", topology->binding_at[i].vlan);
		fputs("}\n", out);
	}
}

void topology_write_keys(const struct topology *topology, FILE *out, unsigned indent_blanks)
{
	char rate[QUANTITY_TEXT], delay[QUANTITY_TEXT];
	int indent = (int)indent_blanks;

	quantity_format(QUANTITY_RATE, topology->default_rate_bps, rate);
	quantity_format(QUANTITY_TIME, topology->default_delay_ps, delay);
	fprintf(out, "%*sname: %s\n", indent, "", topology->name);
	if (topology->default_given || indent == 0)
		fprintf(out, "%*slink: {rate: %s, delay: %s}\n", indent, "", rate, delay);
	write_switches(topology, out, indent);
	fprintf(out, "%*shosts:%s\n", indent, "", topology->hosts == 0 ? " []" : "");
	for (uint32_t h = 0; h < topology->hosts; h++)
		write_host(topology, h, out, indent);
	fprintf(out, "%*slinks:%s\n", indent, "", topology->links == 0 ? " []" : "");
	for (uint32_t i = 0; i < topology->links; i++) {
		fprintf(out, "%*s  - ", indent, "");
		write_link(topology, &topology->link_at[i], out);
	}
	write_bindings(topology, out, indent);
}

int topology_write(const struct topology *topology, FILE *out)
{
	fputs("weft: topology/1\n", out);
	topology_write_keys(topology, out, 0);
	return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
