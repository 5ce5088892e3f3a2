/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Circles of waiting in the live buffers of a virtual fabric (deadlock.h). */

#include "virtual_private.h"

void virtual_deadlock_note(struct virtual_fabric *fabric, weft_time age_ps)
{
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};

	fabric->circle.channels =
		deadlock_find(&view, age_ps, fabric->circle.port, DEADLOCK_CIRCLE_MAX);
}

int virtual_deadlock_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	result->deadlock = fabric->deadlock;
	return deadlock_result(&fabric->circle, fabric->topology, result);
}
