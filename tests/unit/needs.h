/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Requirements of a case on the machine. A case that cannot run is skipped, not passed: cmocka
 * counts it separately, and tools/check-totals names it with the given reason. */

#include <unistd.h>

#include "unit.h"

static inline void skip_because(const char *why)
{
	print_message("skipped: %s\n", why);
	skip();
}

static inline void need_root(void)
{
	if (geteuid() != 0)
		skip_because("needs root");
}
