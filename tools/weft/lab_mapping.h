/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What the processes of a lab say about the mapper (docs/mapper.md), put together: an object with
 * 'mappers', all candidates, and 'agents', all devices. */

#include "lab_control.h"

json_t *lab_mapping_create(void);
/* Asks a process and adds what it says. 0, or -errno and fault. */
int lab_mapping_add(json_t *mapping, struct lab_connection *connection,
	const struct lab_record *record, const char *dir, struct fault *fault);

/* This candidate leads, with or without routes. */
bool lab_mapping_leads(const json_t *mapper);
/* The mapper that leads, of several the one with most switches; NULL: none (here). */
json_t *lab_mapping_leader(const json_t *mapping);
/* How many lead. */
unsigned lab_mapping_leaders(const json_t *mapping);

/* Whether all is done: one leads, has routes for what it has found and nothing to do, every device
 * here follows it and uses its tables. 'alone': all of the lab is here, so must be the mapper.
 * 'why' says what is missing. */
bool lab_mapping_done(const json_t *mapping, bool alone, struct fault *why);
