/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Text in lines of limited width. */

#include <stdio.h>

#define FOLD_COLUMNS 80

/* Prints the text; lines above 'columns' go on in the next line, at a space if there is one, four
 * columns further in than they began. UTF-8 counts by characters. */
void fold_print(const char *text, unsigned columns, FILE *out);
