/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The form of a lab whose file leaves it open ('processes: auto'): one process, or several. Each
 * process polls in a loop of its own, and many loops on few CPUs starve each other, so that links
 * go down. One process has a loop for each CPU. */

#include <stdbool.h>

#include "lab_config.h"
#include "topo/topology.h"

/* The file uses nothing that requires several processes: groups, several machines, links other than
 * shared memory, ports of real cables. */
bool lab_form_may_be_one(const struct lab_config *config, const struct topology *topology);

/* Several processes, each with a loop, are too many for this number of CPUs. */
bool lab_form_is_crowded(unsigned processes, unsigned cpus);

/* The form of the lab that is up in the run directory, or was; AUTO: unknown. */
enum lab_config_processes lab_form_kept(const char *run_dir);

/* In the file of the run directory, before a dilation that its lab file does not have. */
#define LAB_FORM_DILATED "# dilated by "

/* The dilation of the lab that is, or was, up in the run directory; 0: unknown. 'dilated', if not
 * NULL: it differs from the file that the lab was started from. */
uint32_t lab_form_dilation(const char *run_dir, bool *dilated);
