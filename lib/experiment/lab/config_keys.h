/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Describes the keys of run, lab and topology files, using the tables with which Weft parses these
 * files. 'file' is "run", "lab" or "topology". */

#include <jansson.h>
#include <stdio.h>

#include "base/weft_error.h"

/* Prints one line per key, "FILE KEY [WORD]...", such as "run traffic[].pattern uniform hotspot".
 * The words are all accepted values; a key without words accepts a quantity, a name or a path. */
void config_keys_print(FILE *out);

/* Prints a Markdown table of the keys of a section, such as "switch", or of the top-level keys ("";
 * for a lab file, only those that a run file lacks). Returns 0, -EINVAL if there is no such file or
 * section, or -ENOMEM. */
int config_keys_table(const char *file, const char *section, FILE *out, struct error *error);

/* Returns the JSON Schema of a file, which the caller owns; NULL: no such file, or out of memory.
 */
json_t *config_keys_schema(const char *file);
