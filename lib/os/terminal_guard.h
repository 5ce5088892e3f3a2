/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Standard output and standard error of a program, where they are a terminal: control characters in
 * names and messages are printed as "\xNN" (text_escape.h). Of a carriage return, and of "erase the
 * line" directly behind one, which our own progress lines have, this holds on standard output only.
 */

/* Call it first in main(). Pipes and files get all bytes as they are. */
void terminal_guard(void);
