/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topology format inside run and lab files, which may contain a topology as a map. */

#include "topology.h"
#include "yaml/yaml_fields.h"
#include "yaml/yaml_tree.h"

/* The keys of a topology file. */
extern const struct yaml_field topology_file_fields[];

/* Reads a node in the form of a topology file; the 'weft' key is optional. 'defaults' may be NULL.
 * Returns 0, -EINVAL or -ENOMEM. */
int topology_read(const struct yaml_tree_node *node, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error);

/* Writes the keys of a topology file except 'weft', each line indented by 'indent' spaces. Inside
 * another file (indent > 0) 'link' is omitted if both values are Weft's defaults, because a lab
 * distinguishes default from explicit values (docs/reference/topology-file.md). */
void topology_write_keys(const struct topology *topology, FILE *out, unsigned indent);

/* Rows of 'ports' define the device of a port: 'dpdk', or 'udp' with 'local' and 'remote', which is
 * stored as "udp:LOCAL>REMOTE" (port_udp.h). Members are arrays of TOPOLOGY_DEVICE_MAX. */
#define TOPOLOGY_DEVICE_MAX sizeof(((struct topology_binding *)NULL)->dpdk)
#define TOPOLOGY_UDP_FIELD(member)                                                               \
	{                                                                                        \
		"udp", YAML_FIELD_CUSTOM, member,                                                \
			.read = topology_read_udp, .map = topology_udp_fields,                   \
			.write = topology_write_udp, .present = topology_is_udp,                 \
			.doc = "The link of the port runs over IP, with one frame per datagram." \
	}
/* The form of a port such as "s0:1" (yaml_fields.h). */
#define TOPOLOGY_PORT_FORM "^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[0-9]+)?$"
extern const struct yaml_field topology_udp_fields[];
int topology_read_udp(const struct yaml_tree_node *node, void *member, struct error *error);
void topology_write_udp(const void *member, FILE *out, unsigned indent);
bool topology_is_udp(const void *member);
/* Returns true if a row has 'dpdk'. */
bool topology_is_dpdk(const void *member);
/* Fails unless a row has exactly one of 'dpdk' and 'udp'. 'vlan' is only for Ethernet ports. */
int topology_check_device(
	const struct yaml_tree_node *row, const char *device, uint16_t vlan, struct error *error);
