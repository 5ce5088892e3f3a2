/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The speed of a lab's links: set by the file or 'weft lab set', or limited by their devices. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "experiment/lab/lab.h"
#include "lab_state.h"
#include "setup/credit_cover.h"
#include "setup/link_knobs.h"

/* Prints, for example, "links: 4 shared, 1Gbps, 5us; 2 veth, as fast as their devices" and a
 * newline. 'here': links that end in a process of this machine; NULL: all links. */
void lab_links_print(const struct lab *lab, const bool *here, FILE *out);

/* Warns if a link's delay in 'now' [link] is so long that hellos arrive too late. */
void lab_links_warn_delay(
	const struct lab *lab, const struct topology_link *now, credit_cover_fn *tell, void *ctx);

/* Prints a warning on stderr for each port in 'links' (from /weft/links) whose NIC is slower than
 * the file requires. */
void lab_links_warn(const struct lab *lab, json_t *links);

/* Sets the knobs to the values of the lab file for both directions of a link. */
void lab_links_planned(const struct lab *lab, uint32_t link, uint64_t value[LINK_KNOB_COUNT]);

/* Returns the gauge of a knob in an object of /weft/links, or in a list with the same names. */
const char *lab_links_gauge(enum link_knob knob);
uint64_t lab_links_knob(const json_t *link, enum link_knob knob);

/* Prints the values that are not 0, such as " rate=1Gbps delay=5us loss=1%"; " as fast as its
 * device" if all are 0. */
void lab_links_print_knobs(const json_t *link, FILE *out);

/* The cable between two ports of a running lab, which is cut or rejoined at its ends on this
 * machine. */

#define LAB_PORT_MAX (TOPOLOGY_NAME_MAX + 8)

struct lab_cable {
	struct topology_port end[2];
	char name[2][LAB_PORT_MAX]; /* "s0:1" */
	bool cut;                   /* wanted */
};

/* Fills in the ends of the cable at a port such as "s0:1". Returns 0, or -EINVAL with error set. */
int lab_cable_find(
	const struct lab *lab, const char *name, struct lab_cable *cable, struct error *error);

/* Cuts or rejoins the cable, and waits until the loops have done so. A single end is enough to cut
 * it; ends in processes that have ended are skipped. Returns 0, or -errno with error set: -ENODEV
 * if neither end is here. */
int lab_cable_order(const struct lab *lab, const struct lab_state *state,
	const struct lab_cable *cable, struct error *error);
