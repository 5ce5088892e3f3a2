/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A file for pattern permutation, in which each host sends to the one that is 'by' places on. A
 * test program has one. */

#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static char virtual_shift[] = "/tmp/weft-shift-XXXXXX";

static inline int virtual_shift_write(unsigned hosts, unsigned by)
{
	int file = mkstemp(virtual_shift);
	FILE *out;

	assert_true(file >= 0);
	out = fdopen(file, "w");
	assert_non_null(out);
	for (unsigned host = 0; host < hosts; host++)
		fprintf(out, "h%u h%u\n", host, (host + by) % hosts);
	return fclose(out);
}

static inline int virtual_shift_remove(void **state)
{
	(void)state;
	return unlink(virtual_shift);
}
