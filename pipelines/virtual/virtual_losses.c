/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_faults.h"

#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_links.h"
#include "virtual_partitions.h"

/* Counts frames lost by 'channel' as received, and makes the end 'to' send its totals. */
static void renew(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	struct topology_port to, weft_time now)
{
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);
	struct link_end *end = virtual_end_at(fabric, to);
	struct virtual_fabric *partition = virtual_partition_of(
		fabric, to.kind == DEVICE_HOST ? fabric->switches + to.device : to.device);

	for (unsigned vc = 0; vc < fabric->vcs; vc++) {
		end->rx[vc].received += fault->lost[vc];
		end->rx[vc].released += fault->lost[vc];
		end->blocks_healed += fault->lost[vc];
		fault->lost[vc] = 0;
	}
	if (to.kind == DEVICE_SWITCH)
		virtual_switch_grant_all(partition, to.device, to.port, now);
	else
		virtual_send_credit(
			partition, end, virtual_host_channel(partition, to.device), now);
}

void virtual_losses_refresh(struct virtual_fabric *fabric, weft_time now)
{
	const struct topology *topology = fabric->topology;

	for (uint32_t i = 0; fabric->faults != NULL && i < 2 * topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i / 2];
		struct topology_port from = i % 2 == 0 ? link->a : link->b;
		struct topology_port to = i % 2 == 0 ? link->b : link->a;
		const struct virtual_tx *channel = virtual_channel_at(fabric, from);
		const struct virtual_fault *fault = virtual_fault_of(fabric, channel);

		if (fault->touched && fault->cuts == 0 && virtual_is_our_port(fabric, to))
			renew(fabric, channel, to, now);
	}
}

struct virtual_fault_count virtual_losses_sum(const struct virtual_fabric *fabric)
{
	struct virtual_fault_count sum = fabric->fault_count;

	for (unsigned i = 1; i < virtual_partitions_count(fabric); i++) {
		const struct virtual_fault_count *partition =
			&fabric->partitions->worker[i].fabric->fault_count;

		sum.lost += partition->lost;
		sum.abandoned += partition->abandoned;
		sum.unsent += partition->unsent;
		sum.corrupted += partition->corrupted;
		sum.credits_lost += partition->credits_lost;
	}
	return sum;
}

void virtual_losses_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	if (fabric->faults == NULL)
		return;
	run_result_count(result, "link_frames_lost", fabric->fault_total.lost);
	run_result_count(result, "host_frames_abandoned", fabric->fault_total.abandoned);
	run_result_count(result, "host_frames_unsent_given_up", fabric->fault_total.unsent);
	run_result_count(result, "link_frames_corrupted", fabric->fault_total.corrupted);
	run_result_count(result, "link_credits_lost", fabric->fault_total.credits_lost);
}
