/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What smart-routing is made of, for its tests and for whoever builds on it; everybody else goes
 * through route_algorithm.h.
 */

#include "route_algorithm.h"
#include "turns.h"

/* Forbids turns until those that are left close no cycle, round by round where it costs the balance
 * least. 'turns' comes from turns_init(). -ENOMEM; -EINVAL if a path does not fit into a frame;
 * -EIO if the solver gives up. */
int smart_break_cycles(
	struct turns *turns, const struct route_options *options, struct fault *fault);
