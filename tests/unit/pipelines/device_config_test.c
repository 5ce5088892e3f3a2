/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "setup/device_config.h"

#include "unit.h"

struct bench {
	struct topology *topology;
	struct run_config run;
	struct fabric_routes routes;
	struct device_config lab, alone, virtual_clock;
};

static void setup(struct bench *bench, weft_time hello_ps)
{
	*bench = (struct bench){.topology = topology_generate("ring:switches=3,hosts=1", NULL)};
	assert_non_null(bench->topology);
	run_config_default(&bench->run);
	bench->run.hello_ps = hello_ps;
	bench->run.nic.selector = &route_choice_first;
	bench->lab = (struct device_config){&bench->run, bench->topology, &bench->routes, 7, false};
	bench->virtual_clock = bench->lab;
	bench->virtual_clock.links_are_up = true;
	bench->alone = (struct device_config){.run = &bench->run, .session = 7};
}

UNIT_TEST(credit_frames_come_four_times_a_hello_wherever_a_device_lives)
{
	struct switch_config lab, alone;
	struct nic_config nic;
	struct bench bench;

	setup(&bench, 2 * PS_PER_MS);
	device_config_switch(&bench.lab, 1, &lab);
	device_config_switch(&bench.alone, 0, &alone);
	device_config_nic(&bench.lab, 1, NULL, 0, &nic);
	assert_int_equal(lab.credit_refresh_ps, 500 * PS_PER_US);
	assert_int_equal(alone.credit_refresh_ps, 500 * PS_PER_US);
	assert_int_equal(nic.link.refresh_ps, 500 * PS_PER_US);
	topology_destroy(bench.topology);
}

UNIT_TEST(credits_for_each_packet_are_granted_by_switches_and_hosts)
{
	for (unsigned each = 0; each < 2; each++) {
		struct switch_config sw;
		struct nic_config nic;
		struct bench bench;

		setup(&bench, PS_PER_MS);
		bench.run.sw.credits = each ? RUN_CREDITS_EACH : RUN_CREDITS_COALESCED;
		device_config_switch(&bench.lab, 1, &sw);
		device_config_nic(&bench.lab, 1, NULL, 0, &nic);
		assert_int_equal(sw.credits_each, each);
		assert_int_equal(nic.link.each, each);
		topology_destroy(bench.topology);
	}
}

UNIT_TEST(rare_hellos_leave_a_credit_frame_each_millisecond)
{
	assert_int_equal(device_credit_refresh(10 * PS_PER_MS), PS_PER_MS);
	assert_int_equal(device_credit_refresh(60 * PS_PER_S), PS_PER_MS);
}

UNIT_TEST(links_that_are_up_from_the_start_say_no_hello_but_refresh_credits)
{
	struct datagram_config datagram;
	struct switch_config config;
	struct link_end_config link;
	struct itb_config itb;
	struct source_control_config control;
	struct bench bench;

	setup(&bench, PS_PER_MS);
	device_config_switch(&bench.virtual_clock, 1, &config);
	device_config_datagram(&bench.virtual_clock, 1, &datagram, &itb, &control, &link);
	assert_int_equal(config.hello_ps, WEFT_TIME_NEVER);
	assert_int_equal(config.credit_refresh_ps, device_credit_refresh(bench.run.hello_ps));
	assert_int_equal(link.hello_ps, WEFT_TIME_NEVER);
	assert_int_equal(link.refresh_ps, device_credit_refresh(bench.run.hello_ps));
	topology_destroy(bench.topology);
}

UNIT_TEST(a_receive_ring_smaller_than_the_buffer_bounds_what_a_host_grants)
{
	struct nic_config all, few;
	struct bench bench;

	setup(&bench, PS_PER_MS);
	bench.run.sw.vcs = 2;
	device_config_nic(&bench.lab, 1, NULL, 0, &all);
	device_config_nic(&bench.lab, 1, NULL, 100, &few);
	assert_int_equal(all.link.vc_blocks, 128 * 1024 / FRAME_BLOCK_BYTES / 2);
	assert_int_equal(few.link.vc_blocks, 50);
	topology_destroy(bench.topology);
}
