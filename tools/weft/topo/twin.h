/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Private to 'weft twin' (cmd_twin.c, twin_cables.c, twin_output.c). */

#include <jansson.h>
#include <stdio.h>

#include "cmd_topo.h"
#include "topo/formats/ib_counters.h"
#include "topo/topology.h"

/* 'weft twin --counters': compares measured loads of links with predicted ones. */

/* Loads that routes predict for uniform traffic. */
struct twin_prediction {
	const char *routes; /* name of these routes */
	double *load;       /* route_report.uniform.load; NULL: none */
};

/* Reads one counter file, or the difference of two (path[1] NULL: one file), and compares the
 * traffic between switches with the prediction. Returns NULL with '*result' set after printing an
 * error. */
json_t *twin_counters_compare(const struct topology *topology, const struct ib_addresses *addresses,
	const char *const path[2], const struct twin_prediction *prediction, int *result);
/* Prints the comparison as text. */
void twin_counters_print(const json_t *measured, FILE *out);

#define TWIN_ODDITIES_MAX 50
#define TWIN_PORT_TEXT    (TOPOLOGY_NAME_MAX + 8)

struct twin_request {
	struct opensm_files files;
	const char *listing, *html, *counters[2];
	bool json;
};

struct twin {
	const struct twin_request *request;
	struct topology *topology;
	/* A copy in which all cables have the usual rate; NULL: no cable is slow. */
	struct topology *mended;
	char oddity[TWIN_ODDITIES_MAX][256];
	uint32_t oddities; /* number found; only the first TWIN_ODDITIES_MAX are stored */
	uint32_t slow;     /* number of slow cables */
	json_t *routes;    /* verified routes and their reports */
	struct ib_addresses addresses;
	struct twin_prediction prediction; /* for the routes in use, or else the best routes */
	bool predicted;                    /* 'prediction' is set */
	json_t *measured;                  /* NULL: no counters */
	json_t *trial;                     /* NULL: none */
	bool bad;
};

/* twin_cables.c: finds switches whose number of uplinks differs from the rest of their level, and
 * slow cables; creates the copy without slow cables. Returns 0 or -ENOMEM. */
int twin_examine_cables(struct twin *twin);

/* twin_output.c: writes the answer as text, as a JSON document on standard output, or as a page.
 * twin_write_page() returns EXIT_DONE, or the exit code after printing an error. */
void twin_print_text(const struct twin *twin, FILE *out);
void twin_print_json(const struct twin *twin);
int twin_write_page(const struct twin *twin);

/* 'weft twin': trial runs of a tree with a hot spot, with D-mod-K alone and with ARN and AFI. They
 * last as long as it takes ARN and AFI to isolate a hot spot (their paper's H10), 12 ms at 100
 * Gbps, on the virtual clock. */

/* Runs both trials. Returns the accepted share of the other hosts' uniform traffic in each. NULL:
 * no tree, too few or too many hosts, or an error, which is printed. */
json_t *twin_trial_run(const struct topology *topology);
/* Prints both results as text. */
void twin_trial_print(const json_t *trial, FILE *out);
