/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <stdlib.h>

/* Returns how many of 'many' random cases to try: all with WEFT_LONG, else a quarter. */
static inline unsigned unit_draws(unsigned many)
{
	return getenv("WEFT_LONG") != NULL ? many : (many + 3) / 4;
}
