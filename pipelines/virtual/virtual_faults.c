/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_faults.h"

#include <errno.h>

#include "experiment/run/run_events.h"

/* Random number stream of a channel. */
#define RNG_FAULTS 0x6661756c74u

int virtual_faults_open(struct virtual_fabric *fabric)
{
	const struct run_config_faults *faults = &fabric->run->faults;

	if (!run_config_breaks(fabric->run))
		return 0;
	fabric->faults =
		arena_get(&fabric->arena, (virtual_channels(fabric) + 1) * sizeof(*fabric->faults));
	if (fabric->faults == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < virtual_channels(fabric); i++) {
		struct virtual_tx *channel = &fabric->channel[i];

		fabric->faults[i] = (struct virtual_fault){
			.corrupt_ppm = faults->corrupt_ppm,
			.credit_loss_ppm = faults->credit_loss_ppm,
			.touched = faults->corrupt_ppm != 0 || faults->credit_loss_ppm != 0,
			.waits = channel->waits,
			.byte_time = channel->byte_time,
		};
		rng_init(&fabric->faults[i].rng, fabric->run->seed, i, RNG_FAULTS);
		channel->special = true;
	}
	return 0;
}

bool virtual_fault_hits(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct weft_packet *packet, weft_time *at)
{
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);

	if (*at <= fault->arrives)
		*at = fault->arrives +
		      bytes_ps(packet->bytes + FRAME_WIRE_OVERHEAD, channel->byte_time) + 1;
	fault->arrives = *at;
	if (fault->cuts > 0)
		return true;
	if (fault->corrupt_ppm == 0 || !rng_chance_ppm(&fault->rng, fault->corrupt_ppm))
		return false;
	fabric->fault_count.corrupted++;
	return true;
}

bool virtual_fault_hits_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);

	if (fault->cuts == 0 && (fault->credit_loss_ppm == 0 ||
					!rng_chance_ppm(&fault->rng, fault->credit_loss_ppm)))
		return false;
	fabric->fault_count.credits_lost++;
	return true;
}
