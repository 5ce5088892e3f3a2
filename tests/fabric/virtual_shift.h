/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A file for pattern permutation, in which each host sends to the host 'by' places further. One per
 * test program. */

#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "virtual_lab.h"

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

/* Returns accepted traffic in thousandths of the hosts' rate, with two further settings and, if the
 * run 'shifts', this file. */
static inline unsigned virtual_shift_accepted(
	const char *run, bool shifts, const char *setting, const char *load)
{
	char file[64];
	const char *set[] = {setting, load, file};
	OWNED(virtual_lab) lab = {0};

	snprintf(file, sizeof(file), "traffic[0].file=%s", virtual_shift);
	lab = virtual_lab_ran(run, set, shifts ? 3 : 2);
	virtual_lab_expect_whole(&lab);
	return (unsigned)(lab.result.accepted * 1000 + 0.5);
}
