/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "credit_cover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/quantity.h"
#include "device_config.h"
#include "link/credit.h"
#include "traffic/traffic_pattern.h"
#include "wire/control.h"

/* Links that reach this utilisation are not reported: the difference is rounding. */
#define ENOUGH_PPM 990000u

static uint64_t largest_message(const struct run_config *run)
{
	uint64_t max = 0;

	if (run->edges.count > 0 || run->traffic.count == 0)
		return UINT64_MAX;
	for (uint32_t i = 0; i < run->traffic.count; i++) {
		const struct run_config_traffic *entry = &run->traffic.at[i];
		uint64_t each[] = {entry->value.message_bytes, entry->value.message_max_bytes,
			entry->value.other_message_bytes, entry->value.other_message_max_bytes};

		if (entry->pattern->schedule || entry->pattern->packets)
			return UINT64_MAX;
		for (unsigned k = 0; k < sizeof(each) / sizeof(each[0]); k++)
			max = each[k] > max ? each[k] : max;
	}
	return max;
}

/* Source routes vary in length, so each frame is assumed to fill its last block. */
static uint32_t frame_bytes(const struct run_config *run)
{
	uint64_t payload = largest_message(run);
	uint32_t bytes = FRAME_HEADER_BYTES + run_config_extra_bytes(run);

	bytes += payload < run->nic.mtu_bytes ? (uint32_t)payload : run->nic.mtu_bytes;
	return run->routing.mode == RUN_ROUTING_SOURCE ? frame_blocks(bytes) * FRAME_BLOCK_BYTES
						       : bytes;
}

/* Returns the time of a frame on the switch's fastest output: buffers cannot drain faster. */
static weft_time output_ps(const struct topology *topology, struct topology_port input,
	uint64_t byte_time, uint32_t wire)
{
	for (unsigned port = 0; port < topology->switch_at[input.device].ports; port++) {
		const struct topology_port at = {DEVICE_SWITCH, input.device, (uint8_t)port};
		const struct topology_link *link = topology_link_at(topology, at);

		if (link != NULL && byte_time_of(link->rate_bps) < byte_time)
			byte_time = byte_time_of(link->rate_bps);
	}
	return bytes_ps(wire, byte_time);
}

static struct credit_loop loop_of(const struct run_config *run, const struct topology *topology,
	struct topology_port from, struct topology_port to, uint64_t rate_bps, weft_time delay_ps)
{
	bool virtual_clock = run->clock == RUN_CLOCK_VIRTUAL;
	uint32_t wire = frame_bytes(run) + FRAME_WIRE_OVERHEAD;
	uint64_t byte_time = byte_time_of(rate_bps);
	uint32_t credit = FRAME_HEADER_BYTES + CONTROL_CREDIT_BYTES(run_config_vcs(run)) +
			  FRAME_WIRE_OVERHEAD;
	struct credit_loop loop = {.vc_blocks = run_config_vc_blocks(run),
		.frame_blocks = frame_blocks(wire - FRAME_WIRE_OVERHEAD),
		.frame_ps = bytes_ps(wire, byte_time),
		.arrive_ps = delay_ps,
		.return_ps = delay_ps,
		.refresh_ps =
			virtual_clock ? WEFT_TIME_NEVER : device_credit_refresh(run->hello_ps),
		.each = run->sw.credits == RUN_CREDITS_EACH};

	if (!link_cuts_through(topology, run->sw.switching, rate_bps, to))
		loop.arrive_ps += loop.frame_ps;
	if (to.kind == DEVICE_SWITCH && virtual_clock)
		loop.arrive_ps += run->sw.routing_delay_ps;
	loop.free_ps = loop.arrive_ps;
	if (to.kind == DEVICE_SWITCH)
		loop.free_ps += output_ps(topology, to, byte_time, wire);
	/* On the virtual clock, credit frames take no time on the link. */
	if (!virtual_clock && !link_cuts_through(topology, run->sw.switching, rate_bps, from))
		loop.return_ps += bytes_ps(credit, byte_time);
	return loop;
}

/* Formats the bound ("at most 52 %"), rounded up. */
static void write_bound(char *text, size_t size, double cover_us, uint64_t rate_bps,
	const char *trip, uint32_t ppm, const char *whom)
{
	uint32_t tenths = (ppm + 999) / 1000;
	char cover[32], whole[32];

	if (tenths >= 100)
		tenths = (tenths + 9) / 10 * 10;
	snprintf(text, size, "%s at %.4g Gbps; the round trip%s is %s: at most %.3g %%%s",
		quantity_time_text((uint64_t)(cover_us * 1e3 + 0.5), 4, cover),
		(double)rate_bps / 1e9, trip,
		quantity_time_text((uint64_t)(cover_us * 1e9 / ppm + 0.5), 4, whole), tenths / 10.0,
		whom);
}

struct kind {
	struct credit_loop loop;
	uint64_t rate_bps;
	uint32_t ppm, alike;
	char port[64];
};

static void tell_kind(
	const struct run_config *run, const struct kind *kind, credit_cover_fn *tell, void *ctx)
{
	const struct credit_loop *loop = &kind->loop;
	double cover_us = (double)(loop->vc_blocks / loop->frame_blocks * loop->frame_ps) / 1e6;
	uint32_t vcs = run_config_vcs(run);
	char text[CREDIT_COVER_TEXT], bound[CREDIT_COVER_TEXT / 2], share[48] = "", alike[48] = "";

	if (vcs > 1)
		snprintf(share, sizeof(share), ", a VC's share of %.4g KiB,",
			(double)run->sw.buffer_bytes / 1024);
	if (kind->alike > 0)
		snprintf(alike, sizeof(alike), " and %u similar input%s", kind->alike,
			kind->alike == 1 ? "" : "s");
	write_bound(bound, sizeof(bound), cover_us, kind->rate_bps, "", kind->ppm,
		vcs > 1 ? " in one VC" : "");
	snprintf(text, sizeof(text), "%s%s: %.4g KiB%s cover %s", kind->port, alike,
		(double)loop->vc_blocks * FRAME_BLOCK_BYTES / 1024, share, bound);
	tell(ctx, text);
}

struct kinds {
	struct kind *at;
	uint32_t count, room;
};

static bool is_alike(const struct kind *a, const struct kind *b)
{
	return a->rate_bps == b->rate_bps && a->loop.arrive_ps == b->loop.arrive_ps &&
	       a->loop.free_ps == b->loop.free_ps && a->loop.return_ps == b->loop.return_ps;
}

/* Evaluates only the first link of each kind. */
static void add_way(const struct run_config *run, const struct topology *topology,
	struct topology_port from, struct topology_port to, const struct topology_link *link,
	struct kinds *kinds)
{
	struct kind way = {.rate_bps = link->rate_bps,
		.loop = loop_of(run, topology, from, to, link->rate_bps, link->delay_ps)};

	if (way.loop.frame_ps == 0)
		return;
	for (uint32_t i = 0; i < kinds->count; i++) {
		if (!is_alike(&kinds->at[i], &way))
			continue;
		kinds->at[i].alike++;
		return;
	}
	if (!array_reserve(&kinds->at, &kinds->room, kinds->count + 1u, sizeof(way)))
		return;
	topology_port_name(topology, to, way.port, sizeof(way.port));
	way.ppm = credit_loop_ppm(&way.loop);
	kinds->at[kinds->count++] = way;
}

/* Kinds with the same rate and bound share a line of output. */
static void join_kinds(struct kinds *kinds, uint32_t into)
{
	for (uint32_t i = into + 1; i < kinds->count; i++) {
		struct kind *kind = &kinds->at[i];

		if (kind->ppm / 1000 != kinds->at[into].ppm / 1000 ||
			kind->rate_bps != kinds->at[into].rate_bps)
			continue;
		kinds->at[into].alike += kind->alike + 1;
		kind->ppm = CREDIT_LOOP_WHOLE_PPM;
	}
}

/* --- windows --- */

/* Sets delay[] to the shortest delays from a host, switches first; WEFT_TIME_NEVER: no path. */
static void spread(const struct topology *topology, uint32_t host, weft_time *delay)
{
	bool changed = true;

	for (uint32_t i = 0; i < topology->switches + topology->hosts; i++)
		delay[i] = WEFT_TIME_NEVER;
	delay[topology->switches + host] = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < 2 * topology->links; i++) {
			const struct topology_link *link = &topology->link_at[i / 2];
			struct topology_port from = i % 2 == 0 ? link->a : link->b;
			struct topology_port to = i % 2 == 0 ? link->b : link->a;
			uint32_t base[] = {[DEVICE_SWITCH] = 0, [DEVICE_HOST] = topology->switches};
			weft_time until = delay[base[from.kind] + from.device];
			weft_time *at = &delay[base[to.kind] + to.device];

			/* Hosts do not forward: no path leads through them. */
			if (until == WEFT_TIME_NEVER || until + link->delay_ps >= *at ||
				(from.kind == DEVICE_HOST && from.device != host))
				continue;
			*at = until + link->delay_ps;
			changed = true;
		}
	}
}

struct pair {
	uint32_t from, to;
	weft_time delay_ps;
};

/* Returns true if the host has the same distances as the previous one: same switch, same delay. */
static bool is_twin(const struct topology *topology, uint32_t host)
{
	const int32_t *link = &topology->host_link[host];
	struct topology_port here, before;

	if (host == 0 || link[0] < 0 || link[-1] < 0)
		return false;
	topology_peer(topology, (struct topology_port){DEVICE_HOST, host, 0}, &here);
	topology_peer(topology, (struct topology_port){DEVICE_HOST, host - 1, 0}, &before);
	return here.kind == before.kind && here.device == before.device &&
	       topology->link_at[link[0]].delay_ps == topology->link_at[link[-1]].delay_ps;
}

static struct pair farthest(const struct topology *topology)
{
	weft_time *delay = calloc(topology->switches + topology->hosts + 1u, sizeof(*delay));
	struct pair max = {0};

	for (uint32_t from = 0; delay != NULL && from < topology->hosts; from++) {
		if (is_twin(topology, from))
			continue;
		spread(topology, from, delay);
		for (uint32_t to = 0; to < topology->hosts; to++) {
			weft_time each = delay[topology->switches + to];

			if (each != WEFT_TIME_NEVER && each > max.delay_ps)
				max = (struct pair){from, to, each};
		}
	}
	free(delay);
	return max;
}

/* Assumes immediate acknowledgements; delayed ones would lower the bound. */
static void tell_window(const struct run_config *run, const struct topology *topology,
	credit_cover_fn *tell, void *ctx)
{
	struct pair pair = farthest(topology);
	int32_t link = topology->hosts > 0 ? topology->host_link[pair.from] : -1;
	uint64_t rate = link >= 0 ? topology->link_at[link].rate_bps : 0;
	weft_time frame_ps = bytes_ps(frame_bytes(run) + FRAME_WIRE_OVERHEAD, byte_time_of(rate));
	weft_time trip = 2 * pair.delay_ps + frame_ps, cover = run->nic.window_frames * frame_ps;
	char text[CREDIT_COVER_TEXT], bound[CREDIT_COVER_TEXT / 2], path[96];

	if (frame_ps == 0 || cover >= trip)
		return;
	snprintf(path, sizeof(path), " from %.32s to %.32s", topology->host_at[pair.from].name,
		topology->host_at[pair.to].name);
	write_bound(bound, sizeof(bound), (double)cover / 1e6, rate, path,
		(uint32_t)((double)cover / (double)trip * 1e6) + 1, "");
	snprintf(text, sizeof(text), "nic.window: %u frame%s cover %s", run->nic.window_frames,
		run->nic.window_frames == 1 ? "" : "s", bound);
	tell(ctx, text);
}

/* --- report --- */

void credit_cover_links(const struct run_config *run, const struct topology *topology,
	const struct topology_link *now, credit_cover_fn *tell, void *ctx)
{
	struct kinds kinds = {0};

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		add_way(run, topology, link->a, link->b, &now[i], &kinds);
		add_way(run, topology, link->b, link->a, &now[i], &kinds);
	}
	for (uint32_t i = 0; i < kinds.count; i++) {
		if (kinds.at[i].ppm == 0 || kinds.at[i].ppm >= ENOUGH_PPM)
			continue;
		join_kinds(&kinds, i);
		tell_kind(run, &kinds.at[i], tell, ctx);
	}
	free(kinds.at);
}

/* Warns if the links differ from the defaults for which the wormhole thresholds were chosen. */
static void tell_wormhole(const struct run_config *run, const struct topology *topology,
	credit_cover_fn *tell, void *ctx)
{
	const struct topology_link *link = &topology->link_at[0];
	char text[CREDIT_COVER_TEXT], rate[2][QUANTITY_TEXT], delay[2][QUANTITY_TEXT];

	if (topology->links == 0 ||
		(link->rate_bps == run->link.rate_bps && link->delay_ps == run->link.delay_ps))
		return;
	quantity_format(QUANTITY_RATE, link->rate_bps, rate[0]);
	quantity_format(QUANTITY_TIME, link->delay_ps, delay[0]);
	quantity_format(QUANTITY_RATE, run->link.rate_bps, rate[1]);
	quantity_format(QUANTITY_TIME, run->link.delay_ps, delay[1]);
	snprintf(text, sizeof(text),
		"topology: the file sets %s and %s for links; the defaults of wormhole switching are %s and %s",
		rate[0], delay[0], rate[1], delay[1]);
	tell(ctx, text);
}

void credit_cover_report(const struct run_config *run, const struct topology *topology,
	credit_cover_fn *tell, void *ctx)
{
	if (run->sw.switching == RUN_SWITCHING_WORMHOLE) {
		tell_wormhole(run, topology, tell, ctx);
		return;
	}
	credit_cover_links(run, topology, topology->link_at, tell, ctx);
	if (run->clock == RUN_CLOCK_REAL)
		tell_window(run, topology, tell, ctx);
}

void credit_cover_warn(void *prefix, const char *text)
{
	if (prefix == NULL)
		printf("# %s\n", text);
	else
		fprintf(stderr, "%s: warning: %s\n", (const char *)prefix, text);
}

uint32_t credit_cover_ppm(
	const struct run_config *run, const struct topology *topology, struct topology_port from)
{
	const struct topology_link *link = topology_link_at(topology, from);
	struct credit_loop loop;
	struct topology_port to;

	topology_peer(topology, from, &to);
	loop = loop_of(run, topology, from, to, link->rate_bps, link->delay_ps);
	return credit_loop_ppm(&loop);
}
