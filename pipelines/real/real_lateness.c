/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

static void measure(const struct real_worker *worker, struct histogram *total)
{
	const struct real_fabric *fabric = worker->fabric;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		lateness_measure(fabric->hosts[i].poll->port->late, total);
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		const struct poll_switch *poll = fabric->polled[i].poll;

		for (unsigned at = 0; at < poll->ports; at++)
			if (poll->port[at].port != NULL)
				lateness_measure(poll->port[at].port->late, total);
	}
}

void real_lateness_start(struct real_worker *worker)
{
	histogram_reset(&worker->late_ns);
	measure(worker, &worker->late_ns);
}

void real_lateness_stop(struct real_worker *worker)
{
	measure(worker, NULL);
}

struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at)
{
	const struct real_end *end = real_end_at(fabric, at);

	return lateness_summary(end != NULL ? end->port.late : NULL);
}
