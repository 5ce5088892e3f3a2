/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One --vary of 'weft sweep': a key of the run file and its values, as text for --set.
 * "KEY=A,B,C" lists them; an element LO:HI:STEP counts from LO up to at most HI. The numbers of
 * a range have the same kind of unit or none ("10%:100%:10%", "1:8:1"). */

#include <stdint.h>

#include "fault.h"

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
