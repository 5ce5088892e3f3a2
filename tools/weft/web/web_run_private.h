/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A run for the page, for web_run*.c alone. */

#include <jansson.h>
#include <limits.h>
#include <pthread.h>

#include "run_stream.h"
#include "web_run.h"

struct web_run {
	pthread_mutex_t lock; /* of everything below */
	struct topology *own; /* of a result; NULL: the caller's */
	const struct topology *topology;
	char name[NAME_MAX + 1];
	char id[24]; /* differs from that of other programs that had this address */
	unsigned vcs;
	bool running;
	uint64_t version;
	json_t *about;  /* "run" of /topology, without what changes */
	json_t *mean;   /* of the whole run */
	json_t *series; /* of a result; NULL: those of 'live' */
	struct run_stream stream;
	int fd;
	bool begun;              /* the stream has its head */
	struct run_result *live; /* its samples; NULL: those of the result */
	struct run_link_series links;
	bool *known; /* [ways] */
};

/* NULL without memory. */
struct web_run *web_run_make(void);
/* Frees what a result replaces. */
void web_run_forget(struct web_run *run);
/* A sample of which nothing is known. */
json_t *web_run_empty_sample(const struct web_run *run);
