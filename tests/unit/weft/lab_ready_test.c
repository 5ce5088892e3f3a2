/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The message of 'weft lab up' about the links of a process that is not ready. */

#include "lab/lab_ready.h"

#include "unit.h"

static json_t *link_of(const char *port, const char *peer, const char *state, int sessions)
{
	return json_pack("{s:s, s:s, s:s, s:i}", "port", port, "peer", peer, "state", state,
		"sessions_seen", sessions);
}

/* In a process with this link and one that is up. */
static void expect(json_t *link, const char *why)
{
	json_t *links = json_pack("[o, o]", link_of("s0:0", "h0:0", "up", 1), link);
	json_t *elsewhere = json_pack("[s, s]", "s7", "h7");
	struct lab_ready ready;

	assert_non_null(links);
	lab_ready_read(links, elsewhere, &ready);
	assert_true(ready.answers);
	assert_int_equal(ready.links, 2);
	assert_int_equal(ready.up, why[0] == '\0' ? 2 : 1);
	assert_string_equal(ready.why, why);
	json_decref(elsewhere);
	json_decref(links);
}

UNIT_TEST(a_process_whose_links_are_up_waits_for_nothing)
{
	expect(link_of("s0:1", "s1:0", "up", 1), "");
}

UNIT_TEST(a_link_at_which_nothing_was_heard_waits)
{
	static const char why[] =
		"link s0:1 - s1:0 is waiting: nothing was received from the other end";

	expect(link_of("s0:1", "s1:0", "waiting", 0), why);
	/* After three hellos that never came. */
	expect(link_of("s0:1", "s1:0", "down", 0), why);
}

UNIT_TEST(a_nic_without_carrier_is_not_said_to_wait)
{
	static const char why[] =
		"link s0:1 - s7:0 is without carrier: is the cable plugged in, and is the other end on? (A kernel interface also has to be up: 'ip link "
		"set NAME up')";

	expect(link_of("s0:1", "s7:0", "no carrier", 0), why);
	expect(link_of("s0:1", "s7:0", "no carrier", 3), why);
}

UNIT_TEST(port_at_the_end_of_a_wrong_cable_is_named)
{
	json_t *link = link_of("s0:1", "s1:0", "wrong port", 0);

	json_object_set_new(link, "neighbour", json_string("s1:3"));
	expect(link, "s0:1 receives hellos of s1:3 instead of s1:0: is the cable in the ports that "
		     "the topology names?");
	expect(link_of("s0:1", "s1:0", "wrong port", 0),
		"s0:1 receives hellos of an unknown port instead of s1:0: is the cable in the ports "
		"that the topology names?");
}

UNIT_TEST(an_end_on_another_machine_is_said_to_be_there)
{
	expect(link_of("s0:1", "s7:0", "down", 0),
		"link s0:1 - s7:0 is waiting: nothing was received from s7, which runs on another machine; is its part of the lab up there, and does the cable connect these two ports?");
}

UNIT_TEST(a_link_that_has_fallen_is_told_from_one_that_was_cut)
{
	expect(link_of("s0:1", "s7:0", "down", 2),
		"link s0:1 - s7:0 is down: the other end stopped sending");
	expect(link_of("s0:1", "s1:0", "cut", 0),
		"link s0:1 - s1:0 is cut: 'weft lab link' restores it");
}

UNIT_TEST(only_links_that_lead_to_other_machines_are_away)
{
	json_t *links = json_pack("[o, o, o]", link_of("s0:0", "h0:0", "down", 0),
		link_of("s0:1", "s7:0", "down", 0), link_of("s0:2", "s7:1", "up", 1));
	json_t *elsewhere = json_pack("[s]", "s7");
	struct lab_ready ready;

	lab_ready_read(links, elsewhere, &ready);
	assert_int_equal(ready.links, 3);
	assert_int_equal(ready.up, 1);
	assert_int_equal(ready.away, 1);
	json_decref(elsewhere);
	json_decref(links);
}
