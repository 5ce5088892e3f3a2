/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How fast the links of a lab are: by the file, and where their devices are slower. */

#include <jansson.h>
#include <stdio.h>

#include "lab.h"

/* "links: 4 shared, 1Gbps, 5us; 2 veth, as fast as their devices" and a line end. 'here': whether
 * the link ends in a process of this machine, NULL: all of them. */
void lab_links_print(const struct lab *lab, const bool *here, FILE *out);

/* A warning on stderr for each port in 'links' (of /weft/links) whose NIC is slower than the file
 * says. */
void lab_links_warn(const struct lab *lab, json_t *links);
