/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cases of a sweep: settings with a name, each of several keys of the run file, from a file
 * (files.md, 'Cases'). In the plan they are the values of the key "case". */

#include <jansson.h>

#include <stdbool.h>

#include "fault.h"

#define SWEEP_CASES_KEY     "case"
#define SWEEP_CASES_MAX     1000u
#define SWEEP_CASE_SETS_MAX 16u

struct sweep_case {
	char *name;
	char *set[SWEEP_CASE_SETS_MAX]; /* "KEY=VALUE" */
	unsigned sets;
};

struct sweep_cases {
	struct sweep_case *at;
	unsigned count;
};

/* Adds the cases of a file. -EINVAL with the place of what is wrong, -ENOENT, -ENOMEM.
 * sweep_cases_fini() in any case. */
int sweep_cases_load(struct sweep_cases *cases, const char *path, struct fault *fault);
void sweep_cases_fini(struct sweep_cases *cases);

/* NULL: there is none of this name. */
const struct sweep_case *sweep_cases_find(const struct sweep_cases *cases, const char *name);
/* Most settings of a case. */
unsigned sweep_cases_max(const struct sweep_cases *cases);
/* -EINVAL: a case sets this key, which --vary varies. */
int sweep_cases_check_key(const struct sweep_cases *cases, const char *key, struct fault *fault);
/* A list of {name, set}; a new reference. */
json_t *sweep_cases_json(const struct sweep_cases *cases);
