/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Failures: the named items are missing, and everything else is unchanged. */

#include "topology_walk.h"

#include <errno.h>

#include "base/rng.h"
#include "topo/topology.h"

#define NAMES(...) \
	(const char *const[]){__VA_ARGS__}, sizeof(NAMES_LIST(__VA_ARGS__)) / sizeof(char *)
#define NAMES_LIST(...)       \
	(const char *const[]) \
	{                     \
		__VA_ARGS__   \
	}

static struct topology *without(
	const struct topology *topology, const char *const *failed, size_t count)
{
	struct error error = {""};
	struct topology *left = topology_without(topology, failed, count, &error);

	assert_string_equal(error.text, "");
	assert_non_null(left);
	return left;
}

/* Names, sizes and every port, except ports of links that are named as failed. */
static void assert_rest_unchanged(
	const struct topology *before, const struct topology *after, uint32_t links_out)
{
	unsigned freed = 0;

	assert_string_equal(before->name, after->name);
	assert_int_equal(before->switches, after->switches);
	assert_int_equal(before->hosts, after->hosts);
	assert_int_equal(before->links, after->links + links_out);
	for (uint32_t s = 0; s < before->switches; s++) {
		assert_string_equal(before->switch_at[s].name, after->switch_at[s].name);
		assert_int_equal(before->switch_at[s].ports, after->switch_at[s].ports);
		assert_int_equal(before->switch_at[s].stage, after->switch_at[s].stage);
		for (unsigned port = 0; port < before->switch_at[s].ports; port++) {
			struct topology_port was, is;
			bool linked = topology_peer(before, walk_switch(s, port), &was);

			if (!topology_peer(after, walk_switch(s, port), &is)) {
				freed += linked && was.kind == DEVICE_SWITCH ? 1 : 0;
				freed += linked && was.kind == DEVICE_HOST ? 2 : 0;
				continue;
			}
			assert_true(linked);
			assert_int_equal(was.kind, is.kind);
			assert_int_equal(was.device, is.device);
			assert_int_equal(was.port, is.port);
		}
	}
	assert_int_equal(freed, 2 * links_out);
	for (uint32_t h = 0; h < before->hosts; h++)
		assert_string_equal(before->host_at[h].name, after->host_at[h].name);
}

UNIT_TEST(a_link_is_named_by_either_end)
{
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");
	OWNED(topology) *one = without(ring, NAMES("s1:0")), *other = without(ring, NAMES("s2:1"));
	struct topology_port peer;

	assert_rest_unchanged(ring, one, 1);
	assert_rest_unchanged(ring, other, 1);
	assert_false(topology_peer(one, walk_switch(1, 0), &peer));
	assert_false(topology_peer(one, walk_switch(2, 1), &peer));
	assert_false(topology_peer(other, walk_switch(1, 0), &peer));
	assert_int_equal(topology_check_connected(one, "t", NULL), 0);
}

UNIT_TEST(a_failed_switch_stays_without_links)
{
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");
	OWNED(topology) *left = without(ring, NAMES("s3"));

	assert_rest_unchanged(ring, left, 4);
	assert_int_equal(walk_degree(left, 3, DEVICE_SWITCH), 0);
	assert_int_equal(walk_degree(left, 3, DEVICE_HOST), 0);
	for (uint32_t h = 0; h < 10; h++) {
		assert_int_equal(left->host_link[h] < 0, h / 2 == 3);
		assert_int_equal(left->host_at[h].cut_off, h / 2 == 3);
	}
}

UNIT_TEST(a_failed_host_stays_without_link)
{
	static const char *const names[] = {"h7", "h7:0", "s3:3"};
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");

	for (unsigned i = 0; i < 3; i++) {
		OWNED(topology) *left = without(ring, &names[i], 1);

		assert_rest_unchanged(ring, left, 1);
		assert_int_equal(left->host_link[7], -1);
		assert_true(left->host_at[7].cut_off);
		assert_false(left->host_at[6].cut_off);
	}
}

UNIT_TEST(naming_twice_is_naming_once)
{
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");
	OWNED(topology) *left = without(ring, NAMES("s1:0", "s2:1", "s2", "s1:0", "h4"));

	assert_rest_unchanged(ring, left, 4);
}

UNIT_TEST(failures_can_follow_failures)
{
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");
	OWNED(topology) *once = without(ring, NAMES("s3")), *twice = without(once, NAMES("s1:0"));
	struct error error;

	assert_rest_unchanged(ring, twice, 5);
	assert_true(twice->host_at[6].cut_off);
	assert_null(topology_without(once, NAMES("s3:0"), &error));
	assert_string_equal(error.text, "port s3:0 has no link to remove");
}

UNIT_TEST(nothing_named_is_a_copy)
{
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");
	OWNED(topology) *left = without(ring, NULL, 0);

	assert_rest_unchanged(ring, left, 0);
}

UNIT_TEST(what_is_cut_off_is_said)
{
	static const struct {
		const char *failed[3];
		unsigned count;
		const char *message;
	} cases[] = {
		{{"h3"}, 1, "t: host h3 cannot be reached from host h0: host h3 has no link"},
		{{"h0"}, 1,
			"t: host h1 cannot be reached from host h0: host h0 has no link; nor can 8 "
			"others of 10 hosts"},
		{{"s2"}, 1,
			"t: host h4 cannot be reached from host h0: host h4 has no link; nor can 1 "
			"other of 10 hosts"},
		{{"s1:0", "s3:0"}, 2,
			"t: host h4 cannot be reached from host h0: no links lead from switch s2 to "
			"switch s0; nor can 3 others of 10 hosts"},
	};
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(topology) *left = without(ring, cases[i].failed, cases[i].count);
		struct error error = {""};

		assert_int_equal(topology_check_connected(left, "t", &error), -EINVAL);
		assert_string_equal(error.text, cases[i].message);
	}
}

UNIT_TEST(what_does_not_exist_cannot_fail)
{
	static const char *const bad[][2] = {
		{"s9", "'s9' is neither a port such as s0:3, a switch nor a host, nearest is 's0'"},
		{"x", "'x' is neither a port such as s0:3, a switch nor a host"},
		{"s2:", "'s2:' is neither a port such as s0:3, a switch nor a host, nearest is "
			"'s2'"},
		{"", "'' is neither a port such as s0:3, a switch nor a host"},
		{"s2:4", "port s2:4 has no link to remove"},
		{"s2:200", "port s2:200 has no link to remove"},
		{"h2:1", "port h2:1 has no link to remove"},
	};
	OWNED(topology) *ring = walk_generate("ring:switches=5,hosts=2");

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(topology_without(ring, &bad[i][0], 1, &error));
		assert_int_equal(errno, EINVAL);
		assert_string_equal(error.text, bad[i][1]);
	}
}

UNIT_TEST(ports_without_link_are_no_longer_bound)
{
	static const char text[] =
		"weft: topology/1\n"
		"switches: [{name: s0, ports: 2}, {name: s1, ports: 2}]\n"
		"hosts: [{name: h0}, {name: h1}]\n"
		"links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:1}]\n"
		"ports: [{port: s0:1, dpdk: x}, {port: s0:0, dpdk: y}]\n";
	OWNED(topology) *topology = topology_parse(text, sizeof(text) - 1, "t", NULL), *left;

	left = without(topology, NAMES("s1:1"));
	assert_int_equal(left->bindings, 1);
	assert_string_equal(left->binding_at[0].dpdk, "y");
	assert_int_equal(topology->bindings, 2);
}

UNIT_TEST(any_failures_leave_a_topology_that_is_whole_but_for_them)
{
	struct rng rng;

	rng_init(&rng, 11, 0, 0);
	for (unsigned round = 0; round < 100; round++) {
		OWNED(topology) *before = walk_generate("irregular:switches=12,degree=3,hosts=2");
		unsigned count = (unsigned)rng_below(&rng, 8);
		char texts[8][TOPOLOGY_NAME_MAX + 8];
		const char *failed[8];
		OWNED(topology) *after;

		for (unsigned i = 0; i < count; i++) {
			uint32_t link = (uint32_t)rng_below(&rng, before->links);

			failed[i] = texts[i];
			if (rng_below(&rng, 3) == 0)
				snprintf(texts[i], sizeof(texts[i]), "s%u", link % 12);
			else
				topology_port_name(before, before->link_at[link].b, texts[i],
					sizeof(texts[i]));
		}
		after = without(before, failed, count);
		assert_rest_unchanged(before, after, before->links - after->links);
		for (uint32_t h = 0; h < after->hosts; h++)
			assert_int_equal(after->host_at[h].cut_off, after->host_link[h] < 0);
	}
}

UNIT_TEST(what_is_left_can_be_written_and_read_back)
{
	struct error error = {""};
	OWNED(topology) *whole = topology_open("rlft:ports=4,stages=2", &error);
	/* Two hosts with their leaf, and one host whose cable failed. */
	OWNED(topology) *left = without(whole, NAMES("s0", "h7"));
	OWNED(topology) *attached = topology_attached(left, &error);
	OWNED(topology) *again;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(attached);
	assert_int_equal(attached->switches, whole->switches - 1);
	assert_int_equal(attached->hosts, whole->hosts - 3);
	assert_int_equal(attached->links, left->links);
	assert_int_equal(topology_find_host(attached, "h7"), -1);
	assert_string_equal(attached->host_at[0].name, "h2");
	assert_int_equal(topology_write(attached, out), 0);
	fclose(out);
	again = topology_parse(text, length, "text", &error);
	assert_string_equal(error.text, "");
	for (uint32_t i = 0; i < attached->links; i++) {
		char was[64], is[64];

		topology_port_name(left, left->link_at[i].a, was, sizeof(was));
		topology_port_name(again, again->link_at[i].a, is, sizeof(is));
		assert_string_equal(was, is);
		topology_port_name(left, left->link_at[i].b, was, sizeof(was));
		topology_port_name(again, again->link_at[i].b, is, sizeof(is));
		assert_string_equal(was, is);
	}
	free(text);
}
