/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Frames that came too early and wait at hosts of a virtual fabric for those before them
 * (datagram_order.h). The network is free of them, so they never hold anything back in it; what
 * they take is memory, of which there is so much that it ends only where something is wrong. Then
 * hosts send nothing new until some have gone.
 */

#include "virtual_order.h"

#include "congestion_setup.h"
#include "control_setup.h"

/* Frames of which there is room beside those that the network and pools hold, for each host and for
 * all together. Address space, touched as needed. */
#define RESERVE_FRAMES     4096
#define RESERVE_FRAMES_ALL (1u << 18)

uint64_t virtual_order_reserve(const struct virtual_fabric *fabric)
{
	if (congestion_setup_is_needed(fabric->run) || control_setup_reorders(fabric->run))
		return (uint64_t)fabric->hosts * RESERVE_FRAMES + RESERVE_FRAMES_ALL;
	return fabric->routes.itbs ? (uint64_t)fabric->hosts * RESERVE_FRAMES : 0;
}

uint64_t virtual_order_held(const struct virtual_fabric *fabric)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		held += fabric->host[i].nic.held;
	return held;
}

const char *virtual_order_check(const struct virtual_fabric *fabric)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->hosts && wrong == NULL; i++)
		if (fabric->host[i].nic.order != NULL)
			wrong = datagram_order_check(&fabric->host[i].nic);
	return wrong;
}

void virtual_order_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t held_ps = 0, most = 0;

	if (!congestion_setup_is_needed(fabric->run) && !control_setup_reorders(fabric->run))
		return;
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram_order *order = fabric->host[i].nic.order;

		run_result_count(result, "host_frames_overtaken", order->overtaken);
		run_result_count(result, "host_frames_reordered", order->reordered);
		held_ps += order->held_ps;
		most = order->most > most ? order->most : most;
	}
	run_result_count(result, "host_frames_held_ns", ps_to_ns(held_ps));
	run_result_count(result, "host_frames_held_peak", most);
}
