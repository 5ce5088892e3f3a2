/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_partitions.h"

#include "experiment/run/run_events.h"
#include "topo/topology.h"
#include "traffic/traffic_pattern.h"
#include "virtual_measure.h"

/* Returns the payload of the last frame of messages with lengths from 'bytes' to 'max' (0: all have
 * 'bytes'), or 'min' if that is smaller. */
static uint64_t shorter(
	const struct virtual_fabric *fabric, uint64_t bytes, uint64_t max, uint64_t min)
{
	uint64_t mtu = fabric->run->nic.mtu_bytes, last = (bytes - 1) % mtu + 1;

	/* Some length in this range exceeds full frames by one byte. */
	if (max != 0 && (max - 1) / mtu > (bytes - 1) / mtu)
		last = 1;
	return last < min ? last : min;
}

uint64_t virtual_min_payload(const struct virtual_fabric *fabric)
{
	uint64_t min = UINT16_MAX;

	for (uint32_t i = 0; i < fabric->run->traffic.count; i++) {
		const struct run_config_traffic *traffic = &fabric->run->traffic.at[i];

		min = shorter(fabric, traffic->value.message_bytes,
			traffic->value.message_max_bytes, min);
		if (traffic->value.other_share_ppm != 0)
			min = shorter(fabric, traffic->value.other_message_bytes,
				traffic->value.other_message_max_bytes, min);
		if (traffic->pattern->schedule || traffic->pattern->packets)
			min = RUN_MESSAGE_MIN; /* any length is possible */
	}
	return min;
}

/* Returns true if hosts interact with hosts of other partitions without a link, by notifications of
 * congestion or of discarded packets. Each takes at least the delay of a host's link. */
static bool hosts_are_notified(const struct virtual_fabric *fabric)
{
	return fabric->answers || virtual_order_reserve(fabric) > 0;
}

static weft_time min_delay(const struct virtual_fabric *fabric, const uint16_t *of_device)
{
	const struct topology *topology = fabric->topology;
	weft_time min = weft_time_min(
		topology_cut_delay(topology, of_device), run_events_min_delay(fabric->run));

	for (uint32_t i = 0; hosts_are_notified(fabric) && i < fabric->hosts; i++)
		if (topology->host_link[i] >= 0)
			min = weft_time_min(
				min, topology->link_at[topology->host_link[i]].delay_ps);
	return weft_time_min(min, PS_PER_S);
}

static weft_time shortest_transmission(const struct virtual_fabric *fabric)
{
	uint64_t bytes = virtual_min_payload(fabric) + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	const struct topology *topology = fabric->topology;
	weft_time min = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < topology->links; i++)
		min = weft_time_min(
			min, bytes_ps(bytes, byte_time_of(topology->link_at[i].rate_bps)));
	return min;
}

/* Returns the minimum time from a transmission's start to its arrival event: virtual_start(). */
static weft_time min_arrival(const struct virtual_fabric *fabric, weft_time frame_ps)
{
	const struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];
	weft_time min = PS_PER_S;

	for (const struct virtual_tx *channel = fabric->channel; channel < end; channel++)
		if (channel->crosses)
			min = weft_time_min(
				min, channel->arrive_ps + (channel->waits ? frame_ps : 0));
	return min;
}

/* Returns true if only credit frames cross sooner than packets, and switches send them only when a
 * tail has left. There are four exceptions. Pause frames can follow an arrival. Hosts may interact
 * without a link, for example under congestion control. With routes from a file, a switch without a
 * route for a packet discards it on arrival, and its space is free immediately; computed routes are
 * complete. With a schedule, partitions detect its end after a round, which may not exceed the
 * longest link delay (virtual_dispatch.h). */
static bool ends_notify(const struct virtual_fabric *fabric)
{
	return fabric->pauses == NULL && !hosts_are_notified(fabric) &&
	       fabric->run->routing.file == NULL && fabric->goal == NULL;
}

void virtual_lookahead_open(struct virtual_lookahead *lookahead,
	const struct virtual_fabric *fabric, const uint16_t *of_device)
{
	weft_time min = min_delay(fabric, of_device);

	lookahead->min_ps = lookahead->packet_ps = min;
	lookahead->frame_ps = shortest_transmission(fabric);
	if (ends_notify(fabric))
		lookahead->packet_ps = min_arrival(fabric, lookahead->frame_ps);
}

/* A packet that starts to leave in this round is not listed yet. Its tail leaves no earlier than
 * after the shortest transmission. */
weft_time virtual_lookahead_end(
	const struct virtual_lookahead *lookahead, weft_time start, weft_time listed)
{
	weft_time end = weft_time_min(listed > start ? listed : start, start + lookahead->frame_ps);

	return weft_time_min(start + lookahead->packet_ps, end + lookahead->min_ps);
}

weft_time virtual_ends_next(struct virtual_ends *ends, weft_time from)
{
	weft_time next = WEFT_TIME_NEVER;
	unsigned kept = 0;

	for (unsigned i = 0; i < ends->count; i++) {
		if (ends->at[i] < from)
			continue;
		next = weft_time_min(next, ends->at[i]);
		ends->at[kept++] = ends->at[i];
	}
	ends->count = kept;
	return ends->unlisted_before > from ? from : next;
}
