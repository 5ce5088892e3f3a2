/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Standard output and standard error of a program, where they are a terminal: control characters in
 * names and messages are printed as "\xNN" (text_escape.h). On standard error a carriage return
 * passes, and "erase the line" directly after one, because our own progress lines use them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct guarded_stream {
	int fd;
	bool returns;         /* a carriage return passes, and "erase the line" after it */
	unsigned char before; /* the last byte of the piece before */
};

struct tty_escape {
	struct guarded_stream out, err;
};

/* Call it first in main(), with memory that lasts as long as the program: exit() writes the rest.
 * Pipes and files get all bytes as they are. */
void tty_escape(struct tty_escape *guard);

/* Output that a signal can end even if its reader does not read. A write() that a signal interrupts
 * in the middle returns what it wrote, and stdio then writes the rest and waits for ever; and a
 * signal just before a write() interrupts nothing. So this stream first waits until there is room,
 * with signals enabled only there, and then writes no more than fits. */

/* A stream into a descriptor, which stays open when the stream is closed. Once '*stop', which a
 * signal handler sets, it fails with EINTR. NULL: no memory. */
FILE *stoppable_output_open(int fd, const atomic_bool *stop);
