/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Text for a descriptor that may take nothing for long, as the pipe to a pager does: each turn
 * writes what can be written without waiting. One thread.
 */

#include <stdbool.h>
#include <stddef.h>

struct text_output {
	int fd;
	char *text; /* what is being written; NULL: nothing */
	size_t bytes, written;
};

/* The text, from malloc(), is the output's. Only when nothing is being written. */
void text_output_begin(struct text_output *output, int fd, char *text);
/* True when nothing is left. What the descriptor refuses for good is forgotten. */
bool text_output_turn(struct text_output *output);
/* Forgets what is left. */
void text_output_end(struct text_output *output);
