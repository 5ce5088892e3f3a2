/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <stdio.h>

/* Prints the keys of run, lab and topology files, from the tables by which the programs read them:
 * a line for each, "FILE KEY [WORD]...", such as "run traffic[].pattern uniform hotspot". The words
 * are all values that the key takes; a key without words takes a quantity, a name or a file. */
void config_keys_print(FILE *out);
