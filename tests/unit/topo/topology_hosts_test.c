/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts with several ports: files, planes, formats of other programs. */

#include "topo/topology_hosts.h"

#include "unit.h"

#include <errno.h>

#include "base/rng.h"
#include "topo/formats/topology_format.h"
#include "topo/topology.h"

#define PLANES                                                                \
	"weft: topology/1\nname: rails\n"                                     \
	"switches: [{name: plane0, ports: 4}, {name: plane1, ports: 4}]\n"    \
	"hosts: [{name: node1, ports: 2}, {name: node2, ports: 2}]\nlinks:\n" \
	"  - {a: node1:0, b: plane0:0}\n  - {a: node1:1, b: plane1:0}\n"      \
	"  - {a: node2:0, b: plane0:1}\n"

static struct topology *parse(const char *text, struct error *error)
{
	return topology_parse(text, strlen(text), "t.yaml", error);
}

static char *written(const struct topology *topology)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(topology_write(topology, out), 0);
	fclose(out);
	return text;
}

static void assert_same(const struct topology *topology, const struct topology *other)
{
	char *text = written(topology), *again = written(other);

	assert_string_equal(text, again);
	free(text);
	free(again);
}

UNIT_TEST(each_port_of_a_host_is_an_entry)
{
	struct error error = {""};
	OWNED(topology) *topology = parse(PLANES "  - {a: node2:1, b: plane1:1}\n", &error);
	struct topology_port port;
	char name[TOPOLOGY_NAME_MAX + 8];

	assert_string_equal(error.text, "");
	assert_int_equal(topology->nodes, 2);
	assert_int_equal(topology->hosts, 4);
	assert_int_equal(topology_find_host(topology, "node1"), 0);
	assert_int_equal(topology_find_host(topology, "node1:1"), 2);
	assert_int_equal(topology_host_port(topology, 3, 0), 1);
	assert_int_equal(topology_host_port(topology, 1, 1), 3);
	assert_int_equal(topology_host_port(topology, 1, 2), -1);
	assert_int_equal(topology_find_port(topology, "node2:1", &port), 0);
	assert_int_equal(port.device, 3);
	topology_port_name(topology, port, name, sizeof(name));
	assert_string_equal(name, "node2:1");
	assert_int_equal(topology_find_port(topology, "node2", &port), -ENOENT);
	assert_int_equal(topology_check_connected(topology, "t", &error), 0);
	assert_int_equal(topology_plane_count(topology), 2);
	assert_false(topology_apart(topology, 0, 1));
	assert_true(topology_apart(topology, 0, 2));
}

UNIT_TEST(wrong_hosts_are_refused)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{PLANES "  - {a: node2:2, b: plane1:1}\n",
			"t.yaml:9: no port 2 at host node2 in line 4: it has 2, 0 to 1"},
		{PLANES "  - {a: node2, b: plane1:1}\n",
			"t.yaml:9:9: 'node2' is not a port; use a device and a number, such as "
			"node2:0"},
		{PLANES "  - {a: node2:0, b: plane1:1}\n",
			"t.yaml:9: port node2:0 already has a link in line 8"},
		{"weft: topology/1\nswitches: [{name: s, ports: 2}]\n"
		 "hosts: [{name: a, ports: 2}]\nlinks: [{a: 'a:0', b: 'a:1'}]\n",
			"t.yaml:4: hosts a:0 and a:1 are linked directly; one end must be a switch"},
		{"weft: topology/1\nswitches: [{name: a, ports: 2}]\n"
		 "hosts: [{name: a, ports: 2}]\nlinks: []\n",
			"t.yaml:3: a switch and a host with several ports are named 'a'; names must be unique among switches and hosts"},
		{"weft: topology/1\nswitches: []\nhosts: [{name: h, ports: 2}]\nlinks: []\n",
			"t.yaml:3: host h must have a link to a switch"},
		{"weft: topology/1\nswitches: []\nhosts: [{name: h, ports: 9}]\nlinks: []\n",
			"t.yaml:3:26: 'ports: 9': expected a whole number from 1 to 8"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(parse(bad[i].text, &error));
		assert_string_equal(error.text, bad[i].message);
	}
}

UNIT_TEST(a_port_may_have_no_cable_and_hosts_need_one_plane_in_common)
{
	static const char apart[] =
		"weft: topology/1\nswitches: [{name: a, ports: 4}, {name: b, ports: 4}]\n"
		"hosts: [{name: x, ports: 2}, {name: y}, {name: z}]\nlinks:\n"
		"  - {a: x:0, b: a:0}\n  - {a: x:1, b: b:0}\n  - {a: y, b: a:1}\n"
		"  - {a: z, b: b:1}\n";
	struct error error = {""};
	struct topology *topology = parse(PLANES, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(topology_check_connected(topology, "t", &error), 0);
	assert_true(topology_apart(topology, 3, 2));
	topology_destroy(topology);
	topology = parse(apart, &error);
	assert_int_equal(topology_check_connected(topology, "t.yaml", &error), -EINVAL);
	assert_string_equal(error.text,
		"t.yaml:3: host z cannot be reached from host y: no cables lead from a port of one "
		"to a port of the other");
	topology_destroy(topology);
}

/* Hosts with 1 to 8 ports, each at a drawn switch of a ring, or of a second ring without a cable to
 * the first. The first port is in the first ring. */
static struct topology *draw(uint64_t seed)
{
	struct topology *topology;
	uint32_t switches = 3, hosts;
	struct rng rng;
	uint8_t next[6] = {2, 2, 2, 2, 2, 2};

	rng_init(&rng, seed, 0, 0);
	hosts = 2 + (uint32_t)rng_below(&rng, 6);
	topology = topology_create("drawn", 2 * switches, hosts);
	for (uint32_t h = 0; h < hosts; h++)
		topology->host_at[h].ports = (uint8_t)(1 + rng_below(&rng, 8));
	assert_int_equal(topology_split_hosts(topology, "drawn", NULL), 0);
	assert_int_equal(topology_index_names(topology, "drawn", NULL), 0);
	for (uint32_t s = 0; s < 2 * switches; s++) {
		uint32_t to = s / switches * switches + (s + 1) % switches;

		topology_add_link(topology, (struct topology_port){DEVICE_SWITCH, s, 0},
			(struct topology_port){DEVICE_SWITCH, to, 1}, 0, WEFT_TIME_NEVER, 0);
	}
	for (uint32_t h = 0; h < topology->hosts; h++) {
		uint32_t at = (uint32_t)rng_below(&rng, h < hosts ? switches : 2 * switches);

		topology_add_link(topology, (struct topology_port){DEVICE_HOST, h, 0},
			(struct topology_port){DEVICE_SWITCH, at, next[at]++}, 0, WEFT_TIME_NEVER,
			0);
	}
	assert_int_equal(topology_finish(topology, "drawn", NULL), 0);
	assert_int_equal(topology->nodes, hosts);
	return topology;
}

UNIT_TEST(drawn_hosts_are_written_and_read)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct topology *topology = draw(seed), *again, *copy;
		struct error error = {""};
		char *text = written(topology);

		again = parse(text, &error);
		assert_string_equal(error.text, "");
		assert_same(topology, again);
		assert_int_equal(topology_check_connected(again, "drawn", &error), 0);
		for (uint32_t h = 0; h < topology->hosts; h++) {
			assert_string_equal(topology->host_at[h].name, again->host_at[h].name);
			assert_int_equal(topology->host_at[h].owner, again->host_at[h].owner);
			assert_int_equal(topology->host_at[h].plane, again->host_at[h].plane);
			assert_int_equal(topology->host_at[h].next, again->host_at[h].next);
		}
		copy = topology_attached(topology, &error);
		assert_int_equal(copy->nodes, topology->nodes);
		topology_destroy(topology);
		topology_destroy(again);
		topology_destroy(copy);
		free(text);
	}
}

/* A format with ports returns the hosts, the ports and their neighbours. */
UNIT_TEST(drawn_hosts_pass_through_ibnetdiscover)
{
	const struct topology_format *format = topology_format_find("ibnetdiscover");
	unsigned planes = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct topology_import import = {.strict = true};
		struct topology *topology = draw(seed), *again;
		struct error error = {""};
		size_t length;
		char *text = NULL;
		FILE *out = open_memstream(&text, &length);

		assert_int_equal(format->write(topology, out, &error), 0);
		fclose(out);
		again = format->read(text, length, "drawn", &import, &error);
		assert_string_equal(error.text, "");
		assert_int_equal(again->nodes, topology->nodes);
		assert_int_equal(again->hosts, topology->hosts);
		planes += topology_plane_count(again) > 1;
		for (uint32_t h = 0; h < topology->hosts; h++) {
			struct topology_port here, there;
			int32_t found = topology_find_host(again, topology->host_at[h].name);

			assert_true(found >= 0 && topology_host_switch(topology, h, &here) &&
				    topology_host_switch(again, (uint32_t)found, &there));
			assert_string_equal(topology_device_name(topology, here),
				topology_device_name(again, there));
			assert_int_equal(here.port, there.port);
		}
		topology_destroy(topology);
		topology_destroy(again);
		free(text);
	}
	assert_true(planes > 10);
}

UNIT_TEST(a_plane_stays_if_two_hosts_of_the_largest_part_are_in_it)
{
	static const char text[] = "Switch 4 \"a\"\n[1] \"x\"[1]\n[2] \"y\"[1]\n[3] \"z\"[1]\n"
				   "Switch 4 \"b\"\n[1] \"x\"[2]\n[2] \"y\"[2]\n[3] \"alone\"[1]\n"
				   "Switch 4 \"c\"\n[1] \"z\"[2]\n[2] \"other\"[1]\n"
				   "Hca 2 \"x\"\nHca 2 \"y\"\nHca 2 \"z\"\nHca 1 \"alone\"\n"
				   "Hca 1 \"other\"\n";
	struct topology_import import = {.strict = false};
	struct error error = {""};
	OWNED(topology) *topology =
		topology_format_find("ibsim")->read(text, strlen(text), "net", &import, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(topology_check_connected(topology, "net", &error), 0);
	assert_int_equal(topology->switches, 2);
	assert_int_equal(topology->nodes, 3);
	assert_int_equal(topology->hosts, 5);
	assert_int_equal(topology_find_host(topology, "alone"), -1);
	assert_int_equal(topology_find_host(topology, "other"), -1);
	assert_int_equal(import.notes, 1);
}

/* The map that the mapper of a plane writes: hosts with a port there. */
static struct topology *map_of(const char *spec, unsigned rail, unsigned rails)
{
	struct topology *plane = topology_generate(spec, NULL), *attached, *map;
	struct error error = {""};
	uint32_t links = plane->links, kept = 0;
	char *text;

	for (uint32_t i = 0; i < links; i++)
		if (i / (links / rails) == rail)
			plane->link_at[kept++] = plane->link_at[i];
	plane->links = kept;
	for (uint32_t h = 0; h < plane->hosts; h++)
		plane->host_at[h].cut_off = true;
	assert_int_equal(topology_finish(plane, "plane", &error), 0);
	attached = topology_attached(plane, &error);
	assert_string_equal(error.text, "");
	text = written(attached);
	map = parse(text, &error);
	assert_string_equal(error.text, "");
	topology_destroy(plane);
	topology_destroy(attached);
	free(text);
	return map;
}

UNIT_TEST(the_maps_of_planes_join_to_the_whole)
{
	static const char spec[] = "rail:rails=2,ports=4,stages=2";
	OWNED(topology) *first = map_of(spec, 0, 2), *second = map_of(spec, 1, 2);
	OWNED(topology) *whole = topology_generate(spec, NULL), *joined, *again;
	struct error error = {""};
	char *text = written(whole);

	joined = topology_join(first, second, &error);
	assert_string_equal(error.text, "");
	again = parse(text, &error);
	assert_same(joined, again);
	free(text);
}
