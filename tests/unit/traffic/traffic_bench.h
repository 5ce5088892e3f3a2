/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One traffic source at half of a 10 Gbps link, for the tests of sources and patterns. */

#include "traffic/traffic_pattern.h"
#include "unit.h"

static inline struct traffic_config traffic_at_half_load(
	const char *pattern, uint16_t host, uint32_t hosts, uint32_t message_bytes)
{
	return (struct traffic_config){
		.pattern = name_table_find(&traffic_patterns, pattern),
		.host = host,
		.hosts = hosts,
		.seed = 9,
		.rate_bps = 10000000000,
		.value.load_ppm = 500000,
		.frame_bytes = 1000,
		.mean_route = 4 * TRAFFIC_ROUTE_BYTE,
		.value.message_bytes = message_bytes,
		.stop_ps = WEFT_TIME_NEVER,
	};
}

static inline struct traffic *start(const struct traffic_config *from)
{
	struct error error = {""};
	struct traffic *traffic = traffic_create(from, &error);

	if (traffic == NULL)
		fail_msg("%s", error.text);
	return traffic;
}
