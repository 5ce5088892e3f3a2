/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Keeps DPDK's log during an operation for the text of a fault, instead of the terminal. Main
 * thread, one at a time: DPDK's log stream is one per process.
 */

#include <stdio.h>

struct log_capture {
	char *text; /* after log_capture_end(); may be NULL */
	size_t size;
	FILE *stream;
};

void log_capture_begin(struct log_capture *log);
void log_capture_end(struct log_capture *log);
/* Frees the text. */
void log_capture_free(struct log_capture *log);
