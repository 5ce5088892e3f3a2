/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Circles of waiting among the switches of a real-clock fabric (deadlock.h). */

#include <errno.h>
#include <stdlib.h>

#include "real_private.h"

/* Without a watchdog heads count that have waited for half of what it takes by default. */
#define PATIENCE_PS (50 * PS_PER_MS)

int real_deadlock_create(struct real_fabric *fabric, struct fault *fault)
{
	weft_time watchdog = fabric->options.run->watchdog_ps;

	fabric->deadlock_age = (watchdog < PATIENCE_PS ? watchdog : PATIENCE_PS) / 2;
	fabric->sw = calloc(fabric->options.topology->switches + 1u, sizeof(struct weft_switch *));
	if (fabric->sw == NULL)
		return fault_set(fault, ENOMEM, "no memory for %u switches", fabric->switch_count);
	for (unsigned i = 0; i < fabric->switch_count; i++)
		fabric->sw[fabric->switches[i].number] = fabric->switches[i].sw;
	return 0;
}

void real_deadlock_check(struct real_fabric *fabric, weft_time now)
{
	const struct deadlock_view view = {fabric->options.topology, fabric->sw, now};

	fabric->deadlock_due = now + fabric->deadlock_age / 4;
	if (fabric->circle.channels == 0 && deadlock_is_possible(&view, fabric->deadlock_age))
		fabric->circle.channels = deadlock_find(
			&view, fabric->deadlock_age, fabric->circle.port, DEADLOCK_CIRCLE_MAX);
}
