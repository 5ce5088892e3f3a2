/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing/queuing.h"

#include "unit.h"

#define HOSTS 432 /* the papers' RLFT: 72 leaves of 6 */

static struct queuing *open_on(const char *spec, const char *name, uint32_t queues)
{
	OWNED(topology) *topology = topology_generate(spec, NULL);
	struct queuing *queuing;
	struct error error = {""};

	assert_non_null(topology);
	queuing = queuing_create(topology, name_table_find(&queuing_schemes, name), queues, &error);
	assert_string_equal(error.text, "");
	return queuing;
}

static struct queuing *open(const char *name, uint32_t queues)
{
	return open_on("rlft:ports=12,stages=3", name, queues);
}

UNIT_TEST(leaves_are_numbered_as_the_hosts_on_them)
{
	OWNED(queuing) *queuing = open("vftree", 3);

	assert_int_equal(queuing->leaves, 72);
	for (uint32_t host = 0; host < HOSTS; host++)
		assert_int_equal(queuing->leaf[host], host / 6);
}

/* Here, switches are not numbered in the order of their hosts. */
UNIT_TEST(leaves_are_numbered_by_their_least_host)
{
	static const char text[] = "weft: topology/1\n"
				   "switches: [{name: a, ports: 3}, {name: b, ports: 3}]\n"
				   "hosts: [{name: x}, {name: y}, {name: z}]\n"
				   "links: [{a: x:0, b: b:0}, {a: y:0, b: a:0}, {a: z:0, b: b:1}, "
				   "{a: a:2, b: b:2}]\n";
	OWNED(topology) *topology = topology_parse(text, sizeof(text) - 1, "t", NULL);
	OWNED(queuing) *queuing = queuing_create(topology, &queuing_vftree, 2, NULL);

	assert_int_equal(queuing->leaves, 2);
	assert_int_equal(queuing->leaf[0], 0);
	assert_int_equal(queuing->leaf[1], 1);
	assert_int_equal(queuing->leaf[2], 0);
}

UNIT_TEST(one_queue_has_all_in_vc_0)
{
	struct queuing *queuing = open("1q", 4);

	assert_int_equal(queuing_sl(queuing, 7, 431), 0);
	assert_int_equal(queuing_sl(queuing, 431, 6), 0);
	queuing_destroy(queuing);
	assert_int_equal(queuing_sl(NULL, 1, 2), 0);
}

UNIT_TEST(dbbm_is_the_destination_modulo_q)
{
	OWNED(queuing) *queuing = open("dbbm", 3);

	for (uint32_t to = 1; to < HOSTS; to++) {
		assert_int_equal(queuing_sl(queuing, 0, to), to % 3);
		assert_int_equal(
			queuing_sl(queuing, 0, to), queuing_sl(queuing, to == 5 ? 6 : 5, to));
	}
}

UNIT_TEST(vftree_packets_between_the_same_leaves_share_a_vc)
{
	OWNED(queuing) *queuing = open("vftree", 3);

	for (uint32_t from = 0; from < HOSTS; from += 6)
		for (uint32_t to = 0; to < HOSTS; to++)
			assert_int_equal(queuing_sl(queuing, from, to - to % 6),
				queuing_sl(queuing, from + to % 6, to));
}

UNIT_TEST(vftree_consecutive_destination_leaves_use_consecutive_vcs)
{
	for (uint32_t queues = 2; queues <= 16; queues++) {
		OWNED(queuing) *queuing = open("vftree", queues);

		for (uint32_t from = 0; from < 72; from++)
			for (uint32_t to = 0; to + 1 < 72; to++)
				assert_int_equal(queuing_sl(queuing, 6 * from, 6 * to + 6),
					(queuing_sl(queuing, 6 * from, 6 * to) + 1u) % queues);
		/* The leaf after one's own is the first. */
		assert_int_equal(queuing_sl(queuing, 60, 66), 0);
	}
}

UNIT_TEST(flow2sl_adds_the_groups_of_source_and_destination)
{
	OWNED(queuing) *queuing = open("flow2sl", 3);

	/* Groups 0..143, 144..287, 288..431. */
	assert_int_equal(queuing_sl(queuing, 0, 143), 0);
	assert_int_equal(queuing_sl(queuing, 0, 144), 1);
	assert_int_equal(queuing_sl(queuing, 143, 288), 2);
	assert_int_equal(queuing_sl(queuing, 144, 287), 2);
	assert_int_equal(queuing_sl(queuing, 287, 288), 0);
	assert_int_equal(queuing_sl(queuing, 431, 289), 1);
}

UNIT_TEST(flow2sl_groups_differ_by_one_host_where_q_does_not_divide)
{
	OWNED(queuing) *queuing = open("flow2sl", 5);
	uint32_t count[5] = {0};

	for (uint32_t to = 1; to < HOSTS; to++) {
		count[queuing_sl(queuing, 0, to)]++;
		assert_true(queuing_sl(queuing, 0, to) >= queuing_sl(queuing, 0, to - 1));
	}
	count[0]++; /* host 0 itself */
	for (unsigned i = 0; i < 5; i++)
		assert_true(count[i] == 86 || count[i] == 87);
}

UNIT_TEST(voqnet_has_a_vc_for_each_destination)
{
	OWNED(queuing) *queuing = open_on("rlft:ports=4,stages=2", "voqnet", 8);

	for (uint32_t to = 1; to < 8; to++)
		assert_int_equal(queuing_sl(queuing, 0, to), to);
}

static void assert_refused(const char *spec, const char *name, uint32_t queues, const char *why)
{
	OWNED(topology) *topology = topology_generate(spec, NULL);
	struct error error = {""};

	assert_null(
		queuing_create(topology, name_table_find(&queuing_schemes, name), queues, &error));
	assert_string_equal(error.text, why);
}

UNIT_TEST(what_cannot_be_is_refused)
{
	assert_refused("rlft:ports=4,stages=2", "voqnet", 7,
		"queuing voqnet requires one VC per host, but there are 7 VCs for 8 hosts; use switch.vcs: 8");
	assert_refused("rlft:ports=12,stages=3", "voqnet", 16,
		"queuing voqnet requires a VC for each of the 432 hosts, so at most 16 hosts are allowed");
	assert_refused("rlft:ports=4,stages=2", "dbbm", 17,
		"queuing dbbm: there are 17 VCs, but there must be 1 to 16");
	assert_refused("rlft:ports=4,stages=2", "dbbm", 0,
		"queuing dbbm: there are 0 VCs, but there must be 1 to 16");
}

UNIT_TEST(every_scheme_is_found_by_its_name_and_stays_below_q)
{
	const struct queuing_scheme *scheme;

	for (unsigned i = 0; (scheme = queuing_scheme_at(i)) != NULL; i++) {
		OWNED(queuing) *queuing = open_on("rlft:ports=4,stages=2", scheme->name, 8);

		assert_ptr_equal(name_table_find(&queuing_schemes, scheme->name), scheme);
		assert_non_null(scheme->summary);
		for (uint32_t from = 0; from < 8; from++)
			for (uint32_t to = 0; to < 8; to++)
				assert_true(queuing_sl(queuing, from, to) < 8);
	}
	assert_null(name_table_find(&queuing_schemes, "obqa"));
}
