/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topology_hosts.h"

void topology_import_note(struct topology_import *import, const struct error *note)
{
	import->notes++;
	if (import->note != NULL)
		import->note(import->context, note->text);
}

int topology_import_odd(struct topology_import *import, const struct error *odd, const char *became,
	struct error *error)
{
	struct error note;

	if (import->strict) {
		if (error != NULL)
			*error = *odd;
		return -EINVAL;
	}
	error_set(&note, 0, "%s; %s", odd->text, became);
	topology_import_note(import, &note);
	return 0;
}

int topology_check_parallel(
	const struct topology *topology, const char *program, struct error *error)
{
	uint32_t *mark = calloc((size_t)topology->switches + 1, sizeof(*mark));
	struct topology_port peer;
	int result = 0;

	if (mark == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", topology->name);
	for (uint32_t s = 0; s < topology->switches && result == 0; s++) {
		struct topology_port port = {DEVICE_SWITCH, s, 0};

		for (; port.port < topology->switch_at[s].ports && result == 0; port.port++) {
			if (!topology_peer(topology, port, &peer) || peer.kind != DEVICE_SWITCH)
				continue;
			if (mark[peer.device] == s + 1)
				result = error_set(error, EINVAL,
					"%s: switches %s and %s have more than one link; %s "
					"supports one between two switches",
					topology->name, topology->switch_at[s].name,
					topology->switch_at[peer.device].name, program);
			mark[peer.device] = s + 1;
		}
	}
	free(mark);
	return result;
}

int topology_check_single_ports(
	const struct topology *topology, const char *program, struct error *error)
{
	if (!topology_has_rails(topology))
		return 0;
	return error_set(error, EINVAL,
		"%s: hosts have several ports; %s supports one port per host", topology->name,
		program);
}

static const struct topology_format *const formats[] = {
#define X(name) &format_##name,
	TOPOLOGY_FORMATS(X)
#undef X
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct topology_format *topology_format_at(unsigned i)
{
	return i < FORMAT_COUNT ? formats[i] : NULL;
}

const struct topology_format *topology_format_find(const char *name)
{
	for (unsigned i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* --- format dot --- */

/* For graphviz: switches are boxes, hosts ellipses, and port numbers label the ends of links. */

static unsigned port_number(const struct topology *topology, struct topology_port port)
{
	return port.kind == DEVICE_HOST ? topology->host_at[port.device].rail : port.port;
}

static int write_dot(const struct topology *topology, FILE *out, struct error *error)
{
	fprintf(out, "graph \"%s\" {\n\tgraph [overlap=false];\n\tnode [shape=box];\n",
		topology->name);
	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_at[h].owner == h)
			fprintf(out, "\t\"%.*s\" [shape=ellipse];\n",
				topology_node_name(
					topology, (struct topology_port){DEVICE_HOST, h, 0}),
				topology->host_at[h].name);
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		fprintf(out, "\t\"%.*s\" -- \"%.*s\" [taillabel=\"%u\", headlabel=\"%u\"];\n",
			topology_node_name(topology, link->a),
			topology_device_name(topology, link->a),
			topology_node_name(topology, link->b),
			topology_device_name(topology, link->b), port_number(topology, link->a),
			port_number(topology, link->b));
	}
	fputs("}\n", out);
	return 0;
}

const struct topology_format format_dot = {
	.name = "dot",
	.help = "graphviz",
	.write = write_dot,
};
