/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The machines of a lab: 'machines' of its file against its topology. Every device is on one
 * machine, the 'ports' devices are added to the topology, and a process has devices of one
 * machine only. A file without 'machines' has none, and nothing here changes it. */

#include "lab_config.h"

/* Checks that each device is on exactly one machine, and adds the machines' ports to the topology.
 * A device listed twice on one machine is accepted, so that a written configuration reads back. 0,
 * or -EINVAL, -ENOMEM and error. */
int lab_machines_apply(
	const struct lab_config *config, struct topology *topology, struct error *error);

/* The number of the machine that has the device; -1: none. */
int lab_machine_of(const struct lab_config *config, const char *device);

/* The number of the machine of that name; -1: none. */
int lab_machine_find(const struct lab_config *config, const char *name);

/* As lab_config_groups(), with a further group for the hosts of each machine that are in no group.
 * Refuses a group whose devices are on several machines. NULL, fault and errno; 'count' is the
 * number for lab_config_groups_free(). */
struct lab_plan_group *lab_machines_groups(const struct lab_config *config,
	const struct topology *topology, uint32_t *count, struct error *error);

/* Refuses a link between machines without devices at both ends. 0, or -EINVAL and error. */
int lab_machines_check_links(
	const struct lab_config *config, const struct lab_plan *plan, struct error *error);
