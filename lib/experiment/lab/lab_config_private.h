/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Custom readers and writers for the keys of a lab file (yaml_fields.h), used by lab_config.c. */

#include "lab.h"
#include "lab_config.h"
#include "yaml/yaml_fields.h"

extern const struct yaml_field lab_security_fields[];

int lab_read_groups(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_groups(const void *member, FILE *out, unsigned indent);
bool lab_groups_present(const void *member);
void lab_groups_fini(struct lab_config_group_list *groups);

/* Sets an error: the "group" or "machine" names a device that does not exist. Returns -EINVAL. */
int lab_config_refuse_device(const struct lab_config *config, const struct run_config_place *place,
	const char *owner, const char *name, const char *device, const struct topology *topology,
	struct error *error);

/* Keys of an entry of 'machines'. */
extern const struct yaml_field lab_machine_fields[];
int lab_read_machines(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_machines(const void *member, FILE *out, unsigned indent);
bool lab_machines_present(const void *member);
void lab_machines_fini(struct lab_config_machine_list *machines);

int lab_read_words(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_words(const void *member, FILE *out, unsigned indent);
void lab_words_fini(struct lab_config_words *words);

/* The identity of a lab is a text on which all its machines must agree: the lab's name, the devices
 * and cables of the topology, and the sections of the lab file that must match at both ends of a
 * cable. These sections are included completely, although some of their keys concern only one end.
 * If another machine's lab file differs in any of these, its fabric number differs
 * (lab_security.h), and the cables between the two machines do not come up. The text excludes
 * everything that each machine may choose: eligible mapper hosts, DPDK devices, processes, file
 * paths, traffic and measurements. */

/* Returns the text, which the caller frees; NULL if out of memory. */
char *lab_identity(const struct lab *lab);
