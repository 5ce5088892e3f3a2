/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

/* The deterministic way: D-mod-K in fat trees. */

static unsigned choose(struct adaptive *adaptive, unsigned primary, uint64_t others, unsigned vc)
{
	return primary;
}

const struct adaptive_mode adaptive_none = {.name = "none", .choose = choose};

const struct adaptive_mode adaptive_arn = {.name = "arn", .notified = true, .choose = choose};
