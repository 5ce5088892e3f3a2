/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Guards a program's standard output and standard error where they are a terminal: control
 * characters in names and messages are printed as "\xNN" (text_escape.h). On standard error a
 * carriage return, and "erase the line" directly after one, pass unchanged, because Weft's progress
 * lines use them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct guarded_stream {
	int fd;
	bool returns;         /* a carriage return passes, and "erase the line" after it */
	unsigned char before; /* the last byte of the previous write */
};

struct tty_escape {
	struct guarded_stream out, err;
};

/* Call it first in main(), with memory that lasts as long as the program: exit() flushes the rest.
 * Pipes and files get all bytes as they are. */
void tty_escape(struct tty_escape *guard);

/* Output that a signal can end even if its reader does not read. A write() that is interrupted
 * half-way returns the bytes written so far; stdio then writes the rest and waits forever. A signal
 * just before write() interrupts nothing. So this stream first waits for room, with signals enabled
 * only during the wait, and then writes no more than fits. */

/* A stream that writes to a descriptor, which stays open when the stream is closed. It fails with
 * EINTR once '*stop', which a signal handler sets, is true. Returns NULL if out of memory. */
FILE *stoppable_output_open(int fd, const atomic_bool *stop);
