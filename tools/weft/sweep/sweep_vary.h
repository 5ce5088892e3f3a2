/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What one --vary of 'weft sweep' says: a key of the run file and the values it takes in turn, as
 * text that --set understands. "KEY=A,B,C" lists them, an element LO:HI:STEP counts from LO up to
 * at most HI; numbers of a range have one unit kind or none ("10%:100%:10%", "1:8:1").
 */

#include <stdint.h>

#include "fault.h"

#define SWEEP_VALUES_MAX 10000u /* of one key */

struct sweep_vary {
	char *key; /* list elements as "traffic.0.load" */
	char **value;
	unsigned count;
};

/* Fills 'vary', which sweep_vary_fini() frees in any case. -EINVAL: no key, an empty value, a value
 * twice, a range that is none. -ENOMEM. */
int sweep_vary_parse(struct sweep_vary *vary, const char *text, struct fault *fault);
void sweep_vary_fini(struct sweep_vary *vary);

/* "LO:HI", or one number. -EINVAL. */
int sweep_seeds_parse(const char *text, uint64_t *first, unsigned *count, struct fault *fault);
