/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The model: what topology_finish() accepts and refuses, and the queries afterwards. */

#include "unit.h"

#include <errno.h>

#include "topo/topology.h"

#define SWITCH(n, p) ((struct topology_port){DEVICE_SWITCH, n, p})
#define HOST(n)      ((struct topology_port){DEVICE_HOST, n, 0})

/* Two switches of 4 ports with a link between them, and a host at each. Lines are given. */
static struct topology *make(void)
{
	struct topology *topology = topology_create("pair", 2, 2);

	topology->switch_at[0].ports = topology->switch_at[1].ports = 4;
	topology_add_link(topology, HOST(0), SWITCH(0, 0), 0, WEFT_TIME_NEVER, 11);
	topology_add_link(topology, HOST(1), SWITCH(1, 0), 0, WEFT_TIME_NEVER, 12);
	topology_add_link(topology, SWITCH(0, 2), SWITCH(1, 3), 1000, 5, 13);
	return topology;
}

static void assert_refused(struct topology *topology, const char *message)
{
	struct error error = {""};

	assert_int_equal(topology_finish(topology, "t", &error), -EINVAL);
	assert_string_equal(error.text, message);
	topology_destroy(topology);
}

UNIT_TEST(a_finished_topology_knows_the_far_end_of_each_port)
{
	OWNED(topology) *topology = make();
	struct topology_port peer;

	assert_int_equal(topology_finish(topology, "t", NULL), 0);
	assert_true(topology_peer(topology, SWITCH(0, 2), &peer));
	assert_int_equal(peer.device, 1);
	assert_int_equal(peer.port, 3);
	assert_true(topology_peer(topology, SWITCH(1, 3), &peer));
	assert_int_equal(peer.device, 0);
	assert_int_equal(peer.port, 2);
	assert_true(topology_peer(topology, HOST(1), &peer));
	assert_int_equal(peer.kind, DEVICE_SWITCH);
	assert_int_equal(peer.device, 1);
	assert_false(topology_peer(topology, SWITCH(0, 1), &peer));
	assert_false(topology_peer(topology, SWITCH(7, 1), &peer));
	assert_int_equal(topology_link_at(topology, SWITCH(0, 2))->rate_bps, 1000);
	assert_int_equal(topology_link_at(topology, HOST(0))->rate_bps, TOPOLOGY_RATE_BPS);
	assert_int_equal(topology_link_at(topology, HOST(0))->delay_ps, TOPOLOGY_DELAY_PS);
}

UNIT_TEST(ports_are_found_by_name)
{
	OWNED(topology) *topology = make();
	struct topology_port port;
	char name[80];

	for (unsigned indexed = 0; indexed < 2; indexed++) {
		if (indexed)
			assert_int_equal(topology_finish(topology, "t", NULL), 0);
		assert_int_equal(topology_find_port(topology, "s1:3", &port), 0);
		topology_port_name(topology, port, name, sizeof(name));
		assert_string_equal(name, "s1:3");
		assert_int_equal(topology_find_port(topology, "h1", &port), 0);
		topology_port_name(topology, port, name, sizeof(name));
		assert_string_equal(name, "h1:0");
		assert_int_equal(topology_find_port(topology, "s1", &port), -ENOENT);
		assert_int_equal(topology_find_port(topology, "s2:0", &port), -ENOENT);
		assert_int_equal(topology_find_port(topology, "s1:", &port), -ENOENT);
		assert_int_equal(topology_find_port(topology, "s1:-1", &port), -ENOENT);
		assert_int_equal(topology_find_port(topology, "s1:999", &port), -ENOENT);
		assert_int_equal(topology_find_port(topology, ":1", &port), -ENOENT);
		assert_int_equal(topology_find_switch(topology, "h0"), -1);
		assert_int_equal(topology_find_host(topology, "s0"), -1);
	}
}

UNIT_TEST(a_link_to_a_port_that_does_not_exist_is_refused)
{
	struct topology *topology = make();

	topology->switch_at[1].line = 5;
	topology_add_link(topology, SWITCH(0, 1), SWITCH(1, 4), 0, 0, 14);
	assert_refused(topology, "t:14: no port 4 at switch s1 in line 5: it has 4, 0 to 3");
}

UNIT_TEST(a_second_port_of_a_host_is_refused)
{
	struct topology *topology = make();

	topology_add_link(
		topology, (struct topology_port){DEVICE_HOST, 0, 1}, SWITCH(1, 1), 0, 0, 14);
	assert_refused(topology, "t:14: no port 1 at host h0: it has one port, h0:0");
}

UNIT_TEST(two_links_in_one_port_are_refused_with_both_lines)
{
	struct topology *topology = make();

	topology_add_link(topology, SWITCH(0, 2), SWITCH(1, 1), 0, 0, 14);
	assert_refused(topology, "t:14: port s0:2 already has a link in line 13");
}

UNIT_TEST(two_links_at_one_host_are_refused_with_both_lines)
{
	struct topology *topology = make();

	topology_add_link(topology, SWITCH(1, 1), HOST(0), 0, 0, 14);
	assert_refused(topology, "t:14: port h0:0 already has a link in line 11");
}

UNIT_TEST(a_link_from_a_switch_to_itself_is_refused)
{
	struct topology *topology = make();

	topology_add_link(topology, SWITCH(0, 1), SWITCH(0, 3), 0, 0, 14);
	assert_refused(topology, "t:14: the link leads from switch s0 to itself");
}

UNIT_TEST(hosts_linked_directly_are_refused)
{
	struct topology *topology = topology_create("hosts", 0, 2);

	topology_add_link(topology, HOST(0), HOST(1), 0, 0, 3);
	assert_refused(
		topology, "t:3: hosts h0 and h1 are linked directly; one end must be a switch");
}

UNIT_TEST(a_host_without_a_link_is_refused)
{
	struct topology *topology = topology_create("lonely", 1, 2);

	topology->host_at[1].line = 9;
	topology_add_link(topology, HOST(0), SWITCH(0, 0), 0, 0, 3);
	assert_refused(topology, "t:9: host h1 must have a link to a switch");
}

UNIT_TEST(a_device_that_does_not_exist_is_refused)
{
	struct topology *topology = make();

	topology_add_link(topology, SWITCH(9, 1), SWITCH(0, 3), 0, 0, 14);
	assert_refused(topology, "t:14: the link leads to switch number 9, but there are 2");
}

UNIT_TEST(two_devices_of_one_name_are_refused_with_both_lines)
{
	struct topology *topology = make();

	topology->switch_at[1].line = 4;
	topology->host_at[0].line = 7;
	strcpy(topology->host_at[0].name, "s1");
	assert_refused(topology,
		"t:7: a second device is named 's1' (the first one is in line 4); names must be unique among switches and hosts");
}

UNIT_TEST(switches_without_a_number_of_ports_get_what_their_links_need)
{
	OWNED(topology) *topology = make();

	topology->switch_at[1].ports = 0;
	assert_int_equal(topology_finish(topology, "t", NULL), 0);
	assert_int_equal(topology->switch_at[0].ports, 4);
	assert_int_equal(topology->switch_at[1].ports, 4);
}

UNIT_TEST(unreachable_hosts_are_named_with_their_line)
{
	struct topology *topology = topology_create("apart", 2, 2);
	struct error error;

	topology->host_at[0].line = 5;
	topology->host_at[1].line = 6;
	topology_add_link(topology, HOST(0), SWITCH(0, 0), 0, 0, 8);
	topology_add_link(topology, HOST(1), SWITCH(1, 0), 0, 0, 9);
	assert_int_equal(topology_finish(topology, "t", &error), 0);
	assert_int_equal(topology_check_connected(topology, "t", &error), -EINVAL);
	assert_string_equal(error.text, "t:6: host h1 cannot be reached from host h0 in line 5: no "
					"links lead from switch s1 to switch s0");
	topology_destroy(topology);
	topology = make();
	assert_int_equal(topology_finish(topology, "t", &error), 0);
	assert_int_equal(topology_check_connected(topology, "t", &error), 0);
	topology_destroy(topology);
}

UNIT_TEST(too_many_devices_cannot_be_made)
{
	assert_null(topology_create("big", TOPOLOGY_SWITCHES_MAX + 1, 1));
	assert_null(topology_create("big", 1, TOPOLOGY_HOSTS_MAX + 1));
}

UNIT_TEST(a_copy_is_independent)
{
	struct topology *topology = make(), *copy;
	struct topology_port peer;

	assert_int_equal(topology_finish(topology, "t", NULL), 0);
	copy = topology_copy(topology);
	topology_destroy(topology);
	assert_true(topology_peer(copy, SWITCH(0, 2), &peer));
	assert_int_equal(peer.device, 1);
	assert_int_equal(topology_find_host(copy, "h1"), 1);
	assert_int_equal(topology_add_link(copy, SWITCH(0, 1), SWITCH(1, 1), 0, 0, 0), 0);
	assert_int_equal(topology_add_link(copy, SWITCH(0, 3), SWITCH(1, 2), 0, 0, 0), 0);
	assert_int_equal(topology_finish(copy, "t", NULL), 0);
	topology_destroy(copy);
}
