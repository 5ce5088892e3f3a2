/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The points of a sweep: every combination of the values of all --vary, each with every seed.
 * Seeds change fastest, then the last --vary, so the points of one combination are consecutive. */

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "sweep_number.h"

/* One --vary of 'weft sweep': a key of the run file and its values, as text for --set.
 * "KEY=A,B,C" lists them; an element LO:HI:STEP counts from LO up to at most HI. The numbers of
 * a range have the same kind of unit or none ("10%:100%:10%", "1:8:1"). */

#define SWEEP_VALUES_MAX 10000u /* of one key */

struct sweep_vary {
	char *key; /* list elements as "traffic.0.load" */
	char **value;
	unsigned count;
};

/* Fills 'vary', which sweep_vary_fini() frees in any case. -EINVAL: no key, an empty value, a
 * duplicate value, a bad range. -ENOMEM. */
int sweep_vary_parse(struct sweep_vary *vary, const char *text, struct fault *fault);
void sweep_vary_fini(struct sweep_vary *vary);

/* "LO:HI", or one number. -EINVAL. */
int sweep_seeds_parse(const char *text, uint64_t *first, unsigned *count, struct fault *fault);

#define SWEEP_KEYS_MAX   8u
#define SWEEP_POINTS_MAX 100000u
#define SWEEP_NAME_MAX   160 /* of a point's file, with its end */
#define SWEEP_LABEL_MAX  256

struct sweep_plan {
	struct sweep_vary vary[SWEEP_KEYS_MAX];
	unsigned varies;
	uint64_t first_seed;
	unsigned seeds; /* 0: the one of the run file */
	unsigned points;
};

/* Adds one --vary. -EINVAL also for a duplicate key and for too many. */
int sweep_plan_add(struct sweep_plan *plan, const char *text, struct fault *fault);
/* Adds a key with the values that 'name' gives, one by one from 0, until it gives NULL. -ENOMEM,
 * -EINVAL: too many keys, or the key is there. */
typedef const char *sweep_plan_name_fn(const void *ctx, unsigned index);
int sweep_plan_add_names(struct sweep_plan *plan, const char *key, sweep_plan_name_fn *name,
	const void *ctx, struct fault *fault);
/* Counts the points, once everything has been added. -EINVAL: too many, or the seed among the
 * varied keys. */
int sweep_plan_finish(struct sweep_plan *plan, struct fault *fault);
void sweep_plan_fini(struct sweep_plan *plan);

/* Value of vary[key] at a point. */
const char *sweep_plan_value(const struct sweep_plan *plan, unsigned point, unsigned key);
/* Only where plan->seeds > 0. */
uint64_t sweep_plan_seed(const struct sweep_plan *plan, unsigned point);
/* The number of consecutive points that differ only in their seed. */
unsigned sweep_plan_repeats(const struct sweep_plan *plan);

/* Whether all values of vary[key] are numbers with one kind of unit: then their name as a column,
 * "traffic.0.load_share". Numbers without a unit are numbers in their texts already. */
bool sweep_plan_number_name(const struct sweep_plan *plan, unsigned key, char *out, size_t size);

/* The last part of a key, or all of it if another key ends in the same. */
const char *sweep_plan_short_key(const struct sweep_plan *plan, unsigned key);
/* For people: "load=10%, seed=1". */
void sweep_plan_label(const struct sweep_plan *plan, unsigned point, char out[SWEEP_LABEL_MAX]);
/* Name of a point's file without its end: "07_load=10%_seed=1"; plain characters only. */
void sweep_plan_name(const struct sweep_plan *plan, unsigned point, char out[SWEEP_NAME_MAX]);
