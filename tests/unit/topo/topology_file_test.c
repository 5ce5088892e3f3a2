/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <errno.h>

#include "topo/topology.h"

/* Each text is one line, so that messages can be compared. */
#define HEAD                                   \
	"weft: topology/1\n"                   \
	"name: two\n"                          \
	"link: {rate: 1Gbps, delay: 30ns}\n"   \
	"switches:\n"                          \
	"  - {name: s0, ports: 4, stage: 1}\n" \
	"  - {name: s1, ports: 4}\n"           \
	"hosts: [{name: h0}, {name: h1}]\n"    \
	"links:\n"                             \
	"  - {a: h0:0, b: s0:0}\n"             \
	"  - {a: h1:0, b: s1:0}\n"
#define TAIL "  - {a: s0:2, b: s1:2, rate: 40Gbps, delay: 15ns}\n"

static struct topology *parse(const char *text, struct error *error)
{
	return topology_parse(text, strlen(text), "t.yaml", error);
}

static void assert_refused(const char *text, const char *message)
{
	struct error error = {""};

	assert_null(parse(text, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text, message);
	assert_null(strchr(error.text, '\n'));
}

UNIT_TEST(a_file_is_read_in_full)
{
	struct error error = {""};
	OWNED(topology) *topology =
		parse(HEAD TAIL "ports:\n  - {port: s0:0, dpdk: \"0000:3b:00.0\"}\n", &error);

	assert_string_equal(error.text, "");
	assert_string_equal(topology->name, "two");
	assert_int_equal(topology->switches, 2);
	assert_int_equal(topology->hosts, 2);
	assert_int_equal(topology->links, 3);
	assert_int_equal(topology->switch_at[0].stage, 1);
	assert_int_equal(topology->switch_at[1].stage, TOPOLOGY_NO_STAGE);
	assert_int_equal(topology->link_at[0].rate_bps, 1000000000);
	assert_int_equal(topology->link_at[2].rate_bps, 40000000000);
	assert_int_equal(topology->link_at[2].delay_ps, 15000);
	assert_int_equal(topology->link_at[2].line, 11);
	assert_int_equal(topology->bindings, 1);
	assert_string_equal(topology->binding_at[0].dpdk, "0000:3b:00.0");
}

UNIT_TEST(what_is_wrong_is_said_in_one_line_with_its_place)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"weft: run/1\n",
			"t.yaml:1:7: expected 'weft: topology/1', found 'run/1'; 'weft run' "
			"takes this file"},
		{"name: x\n", "t.yaml:1:1: 'weft: topology/1' is missing; it names the kind "
			      "of file"},
		{"weft: topology/1\nswitchs: []\n",
			"t.yaml:2:1: unknown key 'switchs', nearest is switches; known keys: weft, "
			"name, link, switches, hosts, links, ports"},
		{"weft: topology/1\nswitches: []\nhosts: []\n",
			"t.yaml:1:1: key 'links' is missing"},
		{"weft: topology/1\nswitches: 3\nhosts: []\nlinks: []\n",
			"t.yaml:2:11: 'switches': expected a list [...], found a value"},
		{HEAD "  - {a: s0:4, b: s1:2}\n",
			"t.yaml:11: no port 4 at switch s0 in line 5: it has 4, 0 to 3"},
		{HEAD "  - {a: h0:1, b: s1:2}\n",
			"t.yaml:11: no port 1 at host h0 in line 7: it has one port, h0:0"},
		{HEAD "  - {a: s0:0, b: s1:2}\n",
			"t.yaml:11: port s0:0 already has a link in line 9"},
		{HEAD "  - {a: s2:0, b: s1:2}\n",
			"t.yaml:11:9: there is no device 's2', nearest is 's0'"},
		{HEAD "  - {a: s0, b: s1:2}\n",
			"t.yaml:11:9: 's0' is not a port; use a device and a number, such as s0:0"},
		{HEAD "  - {a: s0:2}\n", "t.yaml:11:5: key 'b' is missing"},
		{HEAD "  - {a: s0:2, b: s1:2, rat: 1Gbps}\n",
			"t.yaml:11:24: unknown key 'rat', nearest is rate; known keys: a, b, rate, "
			"delay"},
		{HEAD "  - {a: s0:2, b: s1:2, rate: 10}\n",
			"t.yaml:11:30: 'rate: 10': expected a rate with its unit, such as 10Gbps (bps, kbps, Mbps, Gbps)"},
		{HEAD "  - {a: s0:2, b: s1:2, rate: 10ns}\n",
			"t.yaml:11:30: 'rate: 10ns': expected a rate with its unit, such as 10Gbps (bps, kbps, Mbps, Gbps)"},
		{HEAD "  - {a: s0:2, b: s1:2, rate: 0Gbps}\n",
			"t.yaml:11:30: 'rate: 0Gbps': the value must be from 1kbps to 100000Gbps"},
		{HEAD "  - {a: s0:2, b: s0:3}\n",
			"t.yaml:11: the link leads from switch s0 to itself"},
		{HEAD TAIL "ports: [{port: s0:3, dpdk: x}]\n",
			"t.yaml:12:16: port s0:3 has no link in 'links'"},
		{HEAD TAIL "ports: [{port: s0:2, dpdk: x}, {port: s0:2, dpdk: y}]\n",
			"t.yaml:12:39: port s0:2 is listed twice"},
		{"weft: topology/1\nswitches: [{name: s0, ports: 256}]\nhosts: []\nlinks: []\n",
			"t.yaml:2:30: 'ports: 256': expected a whole number from 1 to 255"},
		{"weft: topology/1\nswitches: [{name: 's 0', ports: 6}]\nhosts: []\nlinks: []\n",
			"t.yaml:2:19: 's 0' is not a name; use letters, digits, '_', '.' and '-', beginning with a letter, digit or '_'"},
		{"weft: topology/1\nswitches: [{name: a, ports: 6}]\nhosts: [{name: a}]\n"
		 "links: []\n",
			"t.yaml:3: a second device is named 'a' (the first one is in line 2); names must be unique among switches and hosts"},
		{"weft: topology/1\nswitches: [{name: s0, ports: 6}]\nhosts: [{name: h0}]\n"
		 "links: []\n",
			"t.yaml:3: host h0 must have a link to a switch"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].text, bad[i].message);
}

UNIT_TEST(hosts_that_cannot_reach_each_other_are_named)
{
	struct error error;
	OWNED(topology) *topology = parse(HEAD, &error);

	assert_int_equal(topology_check_connected(topology, "t.yaml", &error), -EINVAL);
	assert_string_equal(error.text,
		"t.yaml:7: host h1 cannot be reached from host h0 in line 7: no links lead from "
		"switch s1 to switch s0");
}

static char *write_text(const struct topology *topology)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(topology_write(topology, out), 0);
	fclose(out);
	return text;
}

UNIT_TEST(writing_and_reading_gives_the_same)
{
	struct error error;
	OWNED(topology) *topology = parse(
		HEAD TAIL "ports: [{port: s0:0, dpdk: \"net_memif0,id=\\\"1\\\"\"}]\n", &error);
	char *first = write_text(topology), *second;
	OWNED(topology) *again = parse(first, &error);

	assert_non_null(again);
	second = write_text(again);
	assert_string_equal(first, second);
	assert_string_equal(again->binding_at[0].dpdk, "net_memif0,id=\"1\"");
	assert_int_equal(again->link_at[2].delay_ps, 15000);
	free(first);
	free(second);
}

UNIT_TEST(defaults_hold_where_the_file_says_nothing)
{
	struct topology_defaults defaults = {5000000000, 7};
	struct error error;
	OWNED(topology) *topology =
		topology_open_with("ring:switches=3,rate=2Gbps", &defaults, &error);

	assert_int_equal(topology->link_at[0].rate_bps, 2000000000);
	assert_int_equal(topology->link_at[0].delay_ps, 7);
}

UNIT_TEST(the_ready_topologies_are_whole)
{
	static const char *const names[] = {"two-leaves.yaml", "torus-2x2.yaml"};
	struct error error = {""};
	char path[512];

	for (unsigned i = 0; i < 2; i++) {
		OWNED(topology) *topology;

		snprintf(path, sizeof(path), "%s/topo/%s", SOURCE_ROOT, names[i]);
		topology = topology_open(path, &error);
		assert_string_equal(error.text, "");
		assert_int_equal(topology_check_connected(topology, path, &error), 0);
	}
}
