/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Writes text to a descriptor that may block for long, such as the pipe to a pager: each call
 * writes as much as is possible without waiting. For one thread. */

#include <stdbool.h>
#include <stddef.h>

struct text_output {
	int fd;
	char *text; /* the text being written; NULL: none */
	size_t bytes, written;
};

/* Takes ownership of the text, from malloc(). Call only if nothing is being written. */
void text_output_begin(struct text_output *output, int fd, char *text);
/* True when nothing is left. On a permanent error the rest is dropped. */
bool text_output_write(struct text_output *output);
/* Drops the rest. */
void text_output_end(struct text_output *output);
