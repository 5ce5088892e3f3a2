/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The speed of a lab's links: from the file, from 'weft lab set', and where their devices are
 * slower. */

#include <jansson.h>
#include <stdio.h>

#include "experiment/lab/lab.h"
#include "setup/link_knobs.h"

/* "links: 4 shared, 1Gbps, 5us; 2 veth, as fast as their devices" and a line end. 'here': whether
 * the link ends in a process of this machine, NULL: all of them. */
void lab_links_print(const struct lab *lab, const bool *here, FILE *out);

/* A warning on stderr for each port in 'links' (from /weft/links) whose NIC is slower than the file
 * demands. */
void lab_links_warn(const struct lab *lab, json_t *links);

/* The knobs that the lab file sets for both directions of a link. */
void lab_links_planned(const struct lab *lab, uint32_t link, uint64_t value[LINK_KNOB_COUNT]);

/* The gauge of a knob in an object of /weft/links, or of a list that has its names. */
const char *lab_links_gauge(enum link_knob knob);
uint64_t lab_links_knob(const json_t *link, enum link_knob knob);

/* " rate=1Gbps delay=5us loss=1%": what is not 0; " as fast as its device" if nothing is. */
void lab_links_print_knobs(const json_t *link, FILE *out);
