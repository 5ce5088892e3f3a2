/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Where a result comes from. */

#include <jansson.h>

/* Adds to an object: "version" of Weft, "command" (the words by which this process was started;
 * empty if that cannot be known), "host" (the machine's name), and "written" (the time now, UTC,
 * ISO 8601). All of them can differ between two runs with one result. */
void provenance_add(json_t *object);
