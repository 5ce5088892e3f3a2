/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_pause.h"

#include <errno.h>

#include "base/quantity.h"
#include "switch/switch_congestion.h"
#include "virtual/parallel/arena.h"
#include "virtual_links.h"
#include "virtual_send.h"

static bool sends_pauses(const struct virtual_fabric *fabric)
{
	return fabric->run->sw.flow_control == RUN_FLOW_CONTROL_PFC;
}

/* --- thresholds --- */

static uint64_t headroom_bytes(
	const struct virtual_fabric *fabric, const struct topology_link *link)
{
	uint64_t each = byte_time_of(link->rate_bps);
	uint64_t flying = bytes_within(2 * link->delay_ps, each);
	uint64_t frame =
		run_config_frame_blocks(fabric->run) * FRAME_BLOCK_BYTES + FRAME_WIRE_OVERHEAD;

	return 2 * frame + VIRTUAL_PAUSE_BYTES + flying +
	       (bytes_ps(flying, each) < 2 * link->delay_ps);
}

static uint32_t blocks_of(uint64_t bytes)
{
	return (uint32_t)((bytes + FRAME_BLOCK_BYTES - 1) / FRAME_BLOCK_BYTES);
}

static int refuse(const struct virtual_fabric *fabric, const struct topology_link *link,
	uint32_t headroom, uint32_t xoff, struct error *error)
{
	const uint32_t frame = run_config_frame_blocks(fabric->run);
	const uint64_t blocks = (uint64_t)(headroom + (xoff > 2 * frame ? xoff : 2 * frame)) *
				run_config_vcs(fabric->run);
	char has[QUANTITY_TEXT], needs[QUANTITY_TEXT];

	quantity_format(QUANTITY_SIZE, (uint64_t)headroom * FRAME_BLOCK_BYTES, has);
	quantity_format(QUANTITY_SIZE, blocks * FRAME_BLOCK_BYTES, needs);
	return error_set(error, EINVAL,
		"%s: switch.buffer: pfc on the link from %s to %s needs %s of headroom per VC; "
		"use a buffer of at least %s, or a different switch.pfc.xoff",
		fabric->run->origin, topology_device_name(fabric->topology, link->a),
		topology_device_name(fabric->topology, link->b), has, needs);
}

/* Sets the thresholds of the end 'at' if it belongs to a switch. */
static int set_thresholds(struct virtual_fabric *fabric, const struct topology_link *link,
	struct topology_port at, struct error *error)
{
	struct virtual_pause *pause = virtual_pause_of(fabric, virtual_channel_at(fabric, at));
	const struct run_config_pfc *pfc = &fabric->run->sw.pfc;
	const uint32_t frame = run_config_frame_blocks(fabric->run);
	const uint32_t vc = run_config_vc_blocks(fabric->run);
	const uint32_t headroom = blocks_of(headroom_bytes(fabric, link));
	uint32_t xoff = pfc->xoff_bytes / FRAME_BLOCK_BYTES;

	if (at.kind != DEVICE_SWITCH || !sends_pauses(fabric))
		return 0;
	if (headroom + (xoff != 0 ? xoff : 2 * frame) > vc)
		return refuse(fabric, link, headroom, xoff, error);
	xoff = xoff != 0 ? xoff : vc - headroom;
	pause->xoff_blocks = xoff;
	pause->xon_blocks = xoff > 2 * frame ? xoff - 2 * frame : 0;
	if (pfc->xon_bytes != 0)
		pause->xon_blocks = pfc->xon_bytes / FRAME_BLOCK_BYTES;
	if (pause->xon_blocks >= xoff)
		return error_set(error, EINVAL,
			"%s: switch.pfc.xon must be less than xoff (%u bytes)", fabric->run->origin,
			xoff * FRAME_BLOCK_BYTES);
	return 0;
}

int virtual_pause_open(struct virtual_fabric *fabric, struct error *error)
{
	const struct topology *topology = fabric->topology;
	int result = 0;

	if (!run_config_is_ethernet(fabric->run))
		return 0;
	fabric->pauses =
		arena_get(&fabric->arena, (virtual_channels(fabric) + 1) * sizeof(*fabric->pauses));
	if (fabric->pauses == NULL)
		return error_set(error, ENOMEM, "not enough memory for a virtual fabric");
	for (uint32_t i = 0; i < virtual_channels(fabric); i++) {
		fabric->pauses[i].xoff_blocks = fabric->pauses[i].xon_blocks = UINT32_MAX;
		fabric->channel[i].special = true;
	}
	for (uint32_t i = 0; i < topology->links && result == 0; i++) {
		const struct topology_link *link = &topology->link_at[i];

		result = set_thresholds(fabric, link, link->a, error);
		if (result == 0)
			result = set_thresholds(fabric, link, link->b, error);
	}
	for (uint32_t at = 0; at < fabric->switches; at++)
		switch_set_pauses(fabric->sw[at], sends_pauses(fabric));
	for (uint32_t i = 0; i < 2 * topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i / 2];
		struct link_end *end = virtual_end_at(fabric, i % 2 == 0 ? link->a : link->b);

		for (unsigned vc = 0; vc < fabric->vcs; vc++)
			end->tx[vc].limit = virtual_pause_limit(&end->tx[vc], false);
	}
	return result;
}

/* --- pause frames --- */

/* Queues a pause frame behind the current transmission. Returns when it will have left. */
static weft_time occupy(struct virtual_fabric *fabric, struct virtual_tx *channel, weft_time now)
{
	struct virtual_pause *pause = virtual_pause_of(fabric, channel);
	weft_time takes = wire_takes(VIRTUAL_PAUSE_BYTES, channel->byte_time, &channel->rest);

	if (pause->until < now)
		pause->until = now;
	if (virtual_is_sending(fabric, channel, now) && pause->until < channel->free_at)
		pause->until = channel->free_at;
	pause->until += takes;
	pause->frames++;
	channel->busy_ps += takes;
	return pause->until;
}

weft_time virtual_pause_due(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, struct virtual_credit total[], weft_time now)
{
	struct virtual_tx *own = &fabric->channel[channel - fabric->channel];
	struct virtual_pause *pause = virtual_pause_of(fabric, own);
	uint16_t vcs = 0;

	for (unsigned vc = 0; vc < fabric->vcs; vc++) {
		struct credit_rx *rx = &end->rx[vc];
		bool paused = (pause->vcs >> vc & 1) != 0;

		rx->granted = credit_limit(rx);
		paused = credit_stored(rx) > (paused ? pause->xon_blocks : pause->xoff_blocks);
		vcs |= (uint16_t)(paused << vc);
		total[vc] = (struct virtual_credit){.limit = paused};
	}
	if (vcs == pause->vcs)
		return WEFT_TIME_NEVER;
	pause->vcs = vcs;
	return occupy(fabric, own, now);
}

static void renew(const struct virtual_fabric *fabric, struct link_end *end)
{
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		if (end->tx[vc].limit != end->tx[vc].sent)
			end->tx[vc].limit = virtual_pause_limit(&end->tx[vc], false);
}

void virtual_pause_renew(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; fabric->pauses != NULL && i < fabric->topology->links; i++) {
		renew(fabric, virtual_end_at(fabric, fabric->topology->link_at[i].a));
		renew(fabric, virtual_end_at(fabric, fabric->topology->link_at[i].b));
	}
}

void virtual_pause_heads(const struct virtual_fabric *fabric, struct deadlock_heads *heads)
{
	for (size_t i = 0; fabric->pauses != NULL && i < heads->count; i++) {
		struct deadlock_head *head = &heads->head[i];
		struct topology_port at = deadlock_input(head->buffer);

		head->needs = 1;
		if (at.kind == DEVICE_SWITCH)
			head->room = 1 + virtual_pause_of(fabric, virtual_channel_at(fabric, at))
						 ->xon_blocks;
	}
}

void virtual_pause_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t headroom = 0, xoff = UINT32_MAX, xon = 0, frames = 0;

	if (fabric->pauses == NULL || !sends_pauses(fabric))
		return;
	for (uint32_t i = 0; i < virtual_channels(fabric); i++) {
		const struct virtual_pause *pause = &fabric->pauses[i];

		frames += pause->frames;
		if (pause->xoff_blocks >= xoff)
			continue;
		xoff = pause->xoff_blocks;
		xon = pause->xon_blocks;
		headroom = run_config_vc_blocks(fabric->run) - xoff;
	}
	run_result_count(result, "pause_frames", frames);
	run_result_count(result, "pfc_headroom_bytes", headroom * FRAME_BLOCK_BYTES);
	run_result_count(result, "pfc_xoff_bytes", xoff * FRAME_BLOCK_BYTES);
	run_result_count(result, "pfc_xon_bytes", xon * FRAME_BLOCK_BYTES);
}
