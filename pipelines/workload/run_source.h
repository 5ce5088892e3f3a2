/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* From the traffic section of a run file to the traffic sources of one host, the same at both
 * clocks. */

#include "run_hosts.h"
#include "traffic.h"

struct run_source_place {
	uint16_t host, hosts;
	uint64_t rate_bps;    /* of the host's link */
	uint32_t route_bytes; /* of route in a frame of this host, for the load's reckoning */
	weft_time from_ps;    /* when the traffic begins, by the run's clock */
	weft_time until_ps;   /* and ends; WEFT_TIME_NEVER: not by itself */
};

/* True if the entry lets this host send. */
bool run_source_sends(const struct run_hosts_entry *entry, uint32_t host);

/* What entry 'which' wants of this host. 'frame_bytes' and 'index' are left to the caller. 0 or
 * -ENOMEM; '*list', to which the configuration may point, is the caller's to free once the source
 * is made. */
int run_source_config(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	const struct run_source_place *place, struct traffic_config *config, uint16_t **list);

/* Before anything runs: 0, or -EINVAL and the first entry that this topology cannot have, such as a
 * transpose of 12 hosts; -ENOMEM. */
int run_source_check(
	const struct run_config *run, const struct run_hosts *traffic, struct fault *fault);

/* For devices that have room for 'room' sources each, of which an entry takes 'lanes': 0, or
 * -EINVAL and the first entry that is too many for one of its hosts; -ENOMEM. */
int run_source_check_room(const struct run_config *run, const struct run_hosts *traffic,
	unsigned lanes, unsigned room, struct fault *fault);
