/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Translates the traffic section of a run file into traffic sources of one host, for both clocks.
 */

#include "run_hosts.h"
#include "traffic/traffic.h"

struct run_source_place {
	uint16_t host;
	uint32_t hosts;
	uint64_t rate_bps;    /* host link rate */
	uint32_t route_bytes; /* route length in a frame, used for the load */
	weft_time from_ps;    /* start of the traffic on the run's clock */
	weft_time until_ps;   /* end of the traffic; WEFT_TIME_NEVER: none */
};

/* Returns true if the host is a sender of the entry. */
bool run_source_sends(const struct run_hosts_entry *entry, uint32_t host);

/* Fills in the configuration of this host's source for entry 'which', except 'frame_bytes' and
 * 'index'. The configuration may refer to '*list', which the caller frees after creating the
 * source. Returns 0 or -ENOMEM. */
int run_source_config(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	const struct run_source_place *place, struct traffic_config *config, uint16_t **list);

/* Removes from each entry the hosts without a destination in its pattern: with bit-reversal,
 * numbers that read the same backwards; with local traffic, hosts without near hosts. Returns 0 or
 * -ENOMEM. */
int run_source_keep_senders(const struct run_config *run, struct run_hosts *traffic);

/* Checks the traffic before a run. Returns 0, -ENOMEM, or -EINVAL with an error that names the
 * first entry that this topology does not support, such as a transpose of 12 hosts. */
int run_source_check(
	const struct run_config *run, const struct run_hosts *traffic, struct error *error);

/* Checks that no device needs more than 'room' sources; an entry needs 'lanes' per sender. Returns
 * 0, -ENOMEM, or -EINVAL with an error that names the first entry with too few. */
int run_source_check_room(const struct run_config *run, const struct run_hosts *traffic,
	unsigned lanes, unsigned room, struct error *error);

/* Lists the hosts at most 'links' inter-switch links away from the switch of 'host', including
 * 'host' itself, in ascending order (local traffic of the thesis, 4.5). 0 links: hosts of the same
 * switch. 'near' must hold all hosts. Returns 0 or -ENOMEM. */
int hosts_within(const struct topology *topology, uint32_t host, uint32_t links, uint16_t *near,
	uint32_t *count);
