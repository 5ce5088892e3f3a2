/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The document of lab_collect() as text, for 'weft lab status'. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints on standard output in 80 columns, errors first. */
void status_print(json_t *all);
/* Prints all links and all non-zero counters on standard output, in lines of any length. */
void status_print_wide(json_t *all);

/* Parts of both. */

/* Prints the mapper; prints nothing if 'mapping' is NULL. */
void status_print_mapping(json_t *mapping, FILE *out);
/* Prints ports whose other end is in another fabric, or is not the port in the topology. */
void status_print_strangers(json_t *links, FILE *out);
/* Prints how precisely the clocks of other machines are known, if any host needs them. */
void status_print_clocks(const json_t *total, FILE *out);
/* Prints devices on other machines, if there are any. */
void status_print_elsewhere(const json_t *elsewhere, FILE *out);

/* Prints a line of lab_rates() as text in 80 columns. */

struct top_print {
	FILE *out;
	bool colour;
	unsigned rows;           /* height of the screen; 0: unlimited */
	const char *end_of_line; /* "\n", or with a sequence that clears the rest of the line */
};

/* Errors first, then links, hosts and processes; the tables are shortened to fit into the rows. */
void top_print(const struct top_print *to, const json_t *line);
