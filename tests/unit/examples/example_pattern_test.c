/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_pattern.c, works as the page claims. */

#include "traffic/traffic_pattern.h"
#include "unit.h"

extern const struct traffic_pattern traffic_tornado;

static struct traffic *start(uint16_t host, uint16_t hosts)
{
	const struct traffic_config config = {
		.pattern = &traffic_tornado,
		.host = host,
		.hosts = hosts,
		.seed = 1,
		.rate_bps = 10000000000,
		.value.load_ppm = 1000000,
		.frame_bytes = 1000,
		.value.message_bytes = 100,
		.stop_ps = WEFT_TIME_NEVER,
	};
	struct traffic *traffic = traffic_create(&config, NULL);

	assert_non_null(traffic);
	return traffic;
}

UNIT_TEST(every_host_sends_to_the_one_nearly_half_way_round)
{
	for (uint16_t host = 0; host < 9; host++) {
		OWNED(traffic) *traffic = start(host, 9);
		struct traffic_message message;

		for (unsigned i = 0; i < 10; i++) {
			assert_true(traffic_poll(traffic, PS_PER_S, &message));
			assert_int_equal(message.destination, (host + 4) % 9);
			traffic_accept(traffic);
		}
	}
}

UNIT_TEST(of_two_hosts_none_sends)
{
	OWNED(traffic) *traffic = start(1, 2);

	assert_true(traffic_finished(traffic, 0));
}
