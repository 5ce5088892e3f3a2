/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Translates the traffic section of a run file into the traffic sources of one host.
 * The same for both clocks. */

#include "run_hosts.h"
#include "traffic/traffic.h"

struct run_source_place {
	uint16_t host;
	uint32_t hosts;
	uint64_t rate_bps;    /* rate of the host's link */
	uint32_t route_bytes; /* length of the route in a frame, used for the load */
	weft_time from_ps;    /* start of the traffic, in time of the run's clock */
	weft_time until_ps;   /* end of the traffic; WEFT_TIME_NEVER: none */
};

/* This host is a sender of the entry. */
bool run_source_sends(const struct run_hosts_entry *entry, uint32_t host);

/* The configuration of this host's source for entry 'which'. The caller sets 'frame_bytes' and
 * 'index', and frees '*list', which the configuration may point to, once it has made the source.
 * Returns 0 or -ENOMEM. */
int run_source_config(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	const struct run_source_place *place, struct traffic_config *config, uint16_t **list);

/* Removes from each entry the hosts to which its pattern assigns no destination: a number that
 * reads the same backwards under bit-reversal, or a host without near ones. Returns 0 or
 * -ENOMEM. */
int run_source_keep_senders(const struct run_config *run, struct run_hosts *traffic);

/* Call it before the run. Returns 0, or -EINVAL with the first entry that this topology does not
 * support, such as a transpose of 12 hosts; -ENOMEM. */
int run_source_check(
	const struct run_config *run, const struct run_hosts *traffic, struct error *error);

/* For devices with room for 'room' sources each, of which an entry uses 'lanes': returns 0,
 * -ENOMEM, or -EINVAL with the first entry that exceeds the room of one of its hosts. */
int run_source_check_room(const struct run_config *run, const struct run_hosts *traffic,
	unsigned lanes, unsigned room, struct error *error);

/* The hosts at most 'links' inter-switch links away from the switch of 'host', including 'host'
 * itself, in ascending order (local traffic of the thesis, 4.5). 0 links: the hosts of the same
 * switch. 'near' has room for all hosts. Returns 0 or -ENOMEM. */
int hosts_within(const struct topology *topology, uint32_t host, uint32_t links, uint16_t *near,
	uint32_t *count);
