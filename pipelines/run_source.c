/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_source.h"

#include <errno.h>
#include <stdlib.h>

bool run_source_sends(const struct run_hosts_entry *entry, uint32_t host)
{
	for (uint32_t i = 0; i < entry->from_count; i++)
		if (entry->from[i] == host)
			return true;
	return false;
}

/* The pattern's destinations in the form of the source. */
static int set_targets(const struct run_config_traffic *traffic,
	const struct run_hosts_entry *entry, struct traffic_config *config, uint16_t **permutation)
{
	bool anybody = traffic->to.kind == RUN_HOSTS_UNSET || traffic->to.kind == RUN_HOSTS_ALL;

	config->pattern = run_pattern_name(traffic->pattern);
	if (traffic->pattern == RUN_PATTERN_UNIFORM && anybody)
		return 0;
	if (traffic->pattern != RUN_PATTERN_PERMUTATION) {
		/* Uniform over some hosts is what a hot spot of several is. */
		config->pattern = run_pattern_name(RUN_PATTERN_HOTSPOT);
		config->targets = entry->to;
		config->targets_count = (uint16_t)entry->to_count;
		return 0;
	}
	*permutation = malloc(config->hosts * sizeof(**permutation));
	if (*permutation == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->hosts; i++)
		(*permutation)[i] = TRAFFIC_NOWHERE;
	for (uint32_t i = 0; i < entry->from_count; i++)
		(*permutation)[entry->from[i]] = entry->to[i];
	config->permutation = *permutation;
	return 0;
}

int run_source_config(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	const struct run_source_place *place, struct traffic_config *config, uint16_t **permutation)
{
	const struct run_config_traffic *entry = &run->traffic.at[which];

	*permutation = NULL;
	*config = (struct traffic_config){
		.host = place->host,
		.hosts = place->hosts,
		.seed = run->seed,
		.rate_bps = place->rate_bps,
		.load_ppm = entry->load_ppm,
		.route_bytes = place->route_bytes,
		.message_bytes = (uint32_t)entry->message_bytes,
		.start_ps = place->from_ps + entry->start_ps,
		.stop_ps = place->until_ps,
	};
	if (entry->stop_ps != WEFT_TIME_NEVER && place->from_ps + entry->stop_ps < config->stop_ps)
		config->stop_ps = place->from_ps + entry->stop_ps;
	return set_targets(entry, &traffic->entry[which], config, permutation);
}
