/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a case needs of the machine. One that cannot run is skipped, never passed: cmocka counts it
 * apart, and tools/check-totals names it with the reason that stands here. */

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
