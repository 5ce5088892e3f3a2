/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The machines of a lab: checks 'machines' of its file against its topology. Every device is on
 * exactly one machine, the devices in 'ports' are added to the topology, and all devices of a
 * process are on the same machine. A file without 'machines' has none, and nothing here changes
 * it. */

#include "lab_config.h"

/* Checks that each device is on exactly one machine, and adds the machines' ports to the topology.
 * A device listed twice on one machine is accepted, so that a configuration written by Weft can be
 * read again. Returns 0, or -EINVAL, -ENOMEM and error. */
int lab_machines_apply(
	const struct lab_config *config, struct topology *topology, struct error *error);

/* The number of the machine that runs the device, or -1. */
int lab_machine_of(const struct lab_config *config, const char *device);

/* The number of the machine with that name, or -1. */
int lab_machine_find(const struct lab_config *config, const char *name);

/* As lab_config_groups(), with one more group per machine, for its hosts that are in no group.
 * Refuses a group whose devices are on several machines. Returns NULL with fault and errno set on
 * failure; 'count' is the number for lab_config_groups_free(). */
struct lab_plan_group *lab_machines_groups(const struct lab_config *config,
	const struct topology *topology, uint32_t *count, struct error *error);

/* Refuses a link between machines without devices at both ends. Returns 0, or -EINVAL with error
 * set. */
int lab_machines_check_links(
	const struct lab_config *config, const struct lab_plan *plan, struct error *error);
