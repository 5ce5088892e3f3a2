/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A line of lab_rates() as text of 80 columns. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct top_print {
	FILE *out;
	bool colour;
	unsigned rows;           /* of the screen; 0: any number */
	const char *end_of_line; /* "\n", or with a sequence that clears the rest of the line */
};

/* Errors first, then links, hosts and processes; the tables are cut to fit into the rows. */
void top_print(const struct top_print *to, const json_t *line);

/* "12.3 Mbps" in at most 9 characters. */
void top_rate(double bps, char out[16]);
