/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of 'weft twin' (cmd_twin.c, twin_cables.c, twin_output.c) only. */

#include <jansson.h>
#include <stdio.h>

#include "cmd_topo.h"
#include "topo/formats/ib_counters.h"
#include "topo/topology.h"

/* 'weft twin --counters': compares measured loads of links with predicted ones. */

/* Loads that routes predict for uniform traffic. */
struct twin_prediction {
	const char *routes; /* their name */
	double *load;       /* route_report.uniform.load; NULL: none */
};

/* Reads one file of counters, or the difference of two (path[1] NULL: one), and compares the data
 * of links between switches with the prediction. Returns NULL with '*result' set after printing an
 * error. */
json_t *twin_counters_compare(const struct topology *topology, const struct ib_addresses *addresses,
	const char *const path[2], const struct twin_prediction *prediction, int *result);
/* The same as text. */
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
	/* Copy with all cables at the usual rate; NULL: they already are. */
	struct topology *mended;
	char oddity[TWIN_ODDITIES_MAX][256];
	uint32_t oddities; /* more than TWIN_ODDITIES_MAX are counted only */
	uint32_t slow;     /* cables */
	json_t *routes;    /* what was verified */
	struct ib_addresses addresses;
	struct twin_prediction prediction; /* with the routes in use, otherwise the best ones */
	bool predicted;                    /* these are known */
	json_t *measured;                  /* NULL: no counters */
	json_t *trial;                     /* NULL: none */
	bool bad;
};

/* twin_cables.c: notes switches with fewer or more links up than their level, and slow cables, and
 * makes the copy of the topology without slow cables. Returns 0 or -ENOMEM. */
int twin_examine_cables(struct twin *twin);

/* twin_output.c: the answer as text, as a JSON document on standard output, and as the page, which
 * returns EXIT_DONE or the code of the error that it printed. */
void twin_print_text(const struct twin *twin, FILE *out);
void twin_print_json(const struct twin *twin);
int twin_write_page(const struct twin *twin);

/* 'weft twin': trial runs of a tree with a hot spot, with D-mod-K alone and with ARN and AFI. They
 * last as long as it takes ARN and AFI to isolate a hot spot (their paper's H10), 12 ms at 100
 * Gbps, on the virtual clock. */

/* The accepted share of the other hosts' uniform traffic in both runs. Returns NULL if no run is
 * made: no tree, too few or too many hosts, or a failure, which is reported on standard error. */
json_t *twin_trial_run(const struct topology *topology);
/* The same as text. */
void twin_trial_print(const json_t *trial, FILE *out);
