/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cable between two ports of a lab that is up: cut or joined at its ends on this machine. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "experiment/lab/lab.h"
#include "lab_state.h"

#define LAB_PORT_MAX (TOPOLOGY_NAME_MAX + 8)

struct lab_cable {
	struct topology_port end[2];
	char name[2][LAB_PORT_MAX]; /* "s0:1" */
	bool cut;                   /* wanted */
};

/* Fills the ends of the cable at a port such as "s0:1". 0, or -EINVAL and error. */
int lab_cable_find(
	const struct lab *lab, const char *name, struct lab_cable *cable, struct error *error);

/* Cuts the cable or joins it, and waits until the loops have done so. One end is enough to cut it;
 * an ended process has no end. 0, or -errno and error: -ENODEV if neither end is here. */
int lab_cable_order(const struct lab *lab, const struct lab_state *state,
	const struct lab_cable *cable, struct error *error);
