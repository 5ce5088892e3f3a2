/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Which devices of a lab run on other machines: those that no process which was started here holds,
 * whether it still runs or not. A list of names, switches first. */

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "lab_plan.h"
#include "lab_state.h"

/* The caller's reference; NULL without memory. */
json_t *lab_elsewhere(const struct lab_plan *plan, const struct lab_state *state);

/* 'device' is in the list. */
bool lab_elsewhere_has(const json_t *elsewhere, const char *device);

/* "spine, h2, h3", of long lists the first eight and "and 12 more". */
void lab_elsewhere_print(const json_t *elsewhere, FILE *out);
