/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reports of a lab's hosts about the clocks of other machines (/weft/clocks), in two members of the
 * document of 'weft lab status --json':
 *
 *     "clocks_total"  {"pairs", "known", "steps", "bound_ns", "at", "of", "cut"}: one request to
 *                     each process
 *     "clocks"        the pairs, if there is such a list: hundreds of thousands if all hosts of two
 *                     machines talk with each other, so there is room for LAB_CLOCKS_MOST of each
 *                     machine; "cut" says that there are more */

#include "lab_query.h"

#define LAB_CLOCKS_MOST 4000

/* An empty total. */
json_t *lab_clocks_create(void);

/* Adds the clocks of a process. Returns 0, or -EPROTO with error set. */
int lab_clocks_add(json_t *all, struct lab_connection *connection, struct error *error);

/* Adds the document of another machine. */
void lab_clocks_merge(json_t *all, const json_t *part);
