/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Custom readers and writers of a lab file (yaml_fields.h), for lab_config.c. */

#include "lab.h"
#include "lab_config.h"
#include "yaml/yaml_fields.h"

extern const struct yaml_field lab_security_fields[];

int lab_read_groups(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_groups(const void *member, FILE *out, unsigned indent);
bool lab_groups_present(const void *member);
void lab_groups_fini(struct lab_config_group_list *groups);

/* The keys of a row of 'machines'. */
extern const struct yaml_field lab_machine_fields[];
int lab_read_machines(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_machines(const void *member, FILE *out, unsigned indent);
bool lab_machines_present(const void *member);
void lab_machines_fini(struct lab_config_machine_list *machines);

int lab_read_words(const struct yaml_tree_node *node, void *member, struct error *error);
void lab_write_words(const void *member, FILE *out, unsigned indent);
void lab_words_fini(struct lab_config_words *words);

/* The identity of a lab, a text on which all its machines must agree: the lab's name, the devices
 * and cables of the topology, and the sections of the lab file that both ends of a cable must
 * follow. These sections are included as a whole, although some of their keys concern only one end.
 * If another machine's lab file differs there, it yields a different fabric number
 * (lab_security.h), and the cables between the two do not come up. The text excludes everything
 * that each machine may decide for itself: which hosts may be the mapper, DPDK devices, processes,
 * paths of files, traffic, measurements. */

/* The caller frees the text. Returns NULL if out of memory. */
char *lab_identity(const struct lab *lab);
