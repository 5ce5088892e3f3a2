/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Describes the keys of a table (yaml_fields.h) to people and to other programs: as a list, as a
 * table of a page, and as a JSON Schema. */

#include <jansson.h>
#include <stdio.h>

#include "yaml_fields.h"

/* A line per key: "FILE KEY [WORD]...", such as "run traffic[].pattern uniform hotspot". Without
 * the keys of a map that a text may replace. */
void yaml_docs_list(const struct yaml_field *fields, const char *file, FILE *out);

/* A Markdown table of key, value, default and description, or, if 'section' is a key whose values
 * are words of a list, such as "nic.selector", of the words and their summaries. 'section' names a
 * key of the table whose own keys are printed, down to the last one; "" prints the table's keys and
 * none below them. 'object' has the defaults; NULL: the column stays empty. A key that 'elsewhere'
 * has is left out; NULL leaves none out. False if there is no such section. */
bool yaml_docs_table(const struct yaml_field *fields, const char *section, const void *object,
	const struct yaml_field *elsewhere, FILE *out);

/* The JSON Schema (draft 2020-12) of a file "weft: NAME/1" with these keys. The caller owns it.
 * NULL: no memory. */
json_t *yaml_docs_schema(const struct yaml_field *fields, const char *name);
