/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Standard output and standard error of a program, where they are a terminal: control characters in
 * names and messages are printed as "\xNN" (text_escape.h). Of a carriage return, and of "erase the
 * line" directly behind one, which our own progress lines have, this holds on standard output only.
 */

#include <stdbool.h>

struct guarded_stream {
	int fd;
	bool returns;         /* a carriage return passes, and "erase the line" after it */
	unsigned char before; /* the last byte of the piece before */
};

struct tty_escape {
	struct guarded_stream out, err;
};

/* Call it first in main(), with memory that lasts as long as the program: exit() writes what is
 * left. Pipes and files get all bytes as they are. */
void tty_escape(struct tty_escape *guard);
