/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <unistd.h>

#include "experiment/lab/lab_config.h"
#include "message_expect.h"

#define HEAD "weft: lab/1\ntopology: \"rlft:ports=4,stages=2\"\n"

static struct lab_config *parse(const char *text)
{
	struct error error = {""};
	struct lab_config *config =
		lab_config_parse(text, strlen(text), "some/l.yaml", NULL, 0, &error);

	assert_string_equal(error.text, "");
	assert_non_null(config);
	return config;
}

static const char full[] = HEAD "name: mine\n"
				"links: veth\n"
				"processes: each\n"
				"groups: {edge: [s0, s1], core: [s4, s5]}\n"
				"eal: [--no-telemetry, \"--log-level=7\"]\n"
				"cores: 2\n"
				"lcores: 3\n"
				"seed: 5\n"
				"switch: {buffer: 64KiB}\n"
				"nic: {window: 32}\n"
				"routing: {mode: table}\n"
				"hello: 5ms\n"
				"watchdog: 20ms\n"
				"mapper: {mode: never, hosts: [h1], key: /fabric.key}\n"
				"edges: [{host: h0, tap: t0}]\n"
				"traffic: [{pattern: uniform, load: 10%}]\n"
				"measure: {duration: 2s}\n";

UNIT_TEST(every_key_is_read)
{
	OWNED(lab_config) *config = parse(full);

	assert_string_equal(config->name, "mine");
	assert_int_equal(config->links, LAB_CONFIG_LINKS_VETH);
	assert_int_equal(config->processes, LAB_CONFIG_PROCESSES_EACH);
	assert_int_equal(config->groups.count, 2);
	assert_string_equal(config->groups.at[1].name, "core");
	assert_string_equal(config->groups.at[1].device[0], "s4");
	assert_int_equal(config->eal.count, 2);
	assert_string_equal(config->eal.at[1], "--log-level=7");
	assert_int_equal(config->cores, 2);
	assert_int_equal(config->lcores, 3);
	assert_int_equal(config->run.clock, RUN_CLOCK_REAL);
	assert_int_equal(config->run.seed, 5);
	assert_int_equal(config->run.sw.buffer_bytes, 65536);
	assert_int_equal(config->run.nic.window_frames, 32);
	assert_int_equal(config->run.routing.mode, RUN_ROUTING_TABLE);
	assert_int_equal(config->run.hello_ps, 5 * PS_PER_MS);
	assert_int_equal(config->run.watchdog_ps, 20 * PS_PER_MS);
	assert_int_equal(config->run.mapper.mode, RUN_MAPPER_NEVER);
	assert_string_equal(config->run.mapper.hosts.name[0], "h1");
	assert_string_equal(config->run.mapper.key, "/fabric.key");
	assert_int_equal(config->run.edges.count, 1);
	assert_int_equal(config->run.traffic.count, 1);
	assert_int_equal(config->run.measure.duration_ps, 2 * PS_PER_S);
}

UNIT_TEST(a_lab_is_called_like_its_file_unless_it_says_otherwise)
{
	OWNED(lab_config) *config = parse(HEAD);

	assert_string_equal(config->name, "l");
	assert_int_equal(config->links, LAB_CONFIG_LINKS_SHARED);
	assert_int_equal(config->processes, LAB_CONFIG_PROCESSES_AUTO);
	assert_int_equal(config->run.mapper.routes, RUN_ROUTES_MAPPER);
	assert_int_equal(config->groups.count, 0);
}

UNIT_TEST(a_topology_file_is_a_lab)
{
	struct error error = {""};
	OWNED(lab_config) *config =
		lab_config_load(SOURCE_ROOT "/topo/two-leaves.yaml", NULL, 0, &error);
	OWNED(topology) *topology;

	assert_string_equal(error.text, "");
	assert_string_equal(config->name, "two-leaves");
	topology = run_config_open_topology(&config->run, &error);
	assert_int_equal(topology->hosts, 4);
}

UNIT_TEST(a_generators_text_is_a_lab)
{
	static const char *const set[] = {"nic.window=16", "links=veth"};
	struct error error = {""};
	OWNED(lab_config) *config = lab_config_load("torus:dims=2x2", set, 2, &error);

	assert_string_equal(error.text, "");
	assert_string_equal(config->name, "torus-dims-2x2");
	assert_string_equal(config->run.topology.spec, "torus:dims=2x2");
	assert_int_equal(config->run.nic.window_frames, 16);
	assert_int_equal(config->links, LAB_CONFIG_LINKS_VETH);
}

UNIT_TEST(the_ready_lab_is_supported_and_its_groups_are_there)
{
	struct error error = {""};
	OWNED(lab_config) *config =
		lab_config_load(SOURCE_ROOT "/topo/lab-two-leaves.yaml", NULL, 0, &error);
	OWNED(topology) *topology;
	struct lab_plan_group *groups;

	assert_string_equal(error.text, "");
	assert_int_equal(lab_config_supported(config, &error), 0);
	topology = run_config_open_topology(&config->run, &error);
	groups = lab_config_groups(config, topology, &error);
	assert_int_equal(groups[1].switch_count, 1);
	assert_int_equal(groups[1].switches[0], 1);
	assert_int_equal(groups[2].host_count, 4);
	assert_string_equal(groups[2].name, "hosts");
	lab_config_groups_free(groups, config->groups.count);
}

UNIT_TEST(groups_may_be_a_list_of_lists)
{
	OWNED(lab_config) *config = parse(HEAD "groups: [[s0, s1], [h0]]\n");

	assert_int_equal(config->groups.count, 2);
	assert_string_equal(config->groups.at[0].name, "s0");
	assert_string_equal(config->groups.at[1].name, "h0");
}

UNIT_TEST(a_group_of_unknown_devices_is_refused_with_its_place)
{
	OWNED(lab_config) *config = parse(HEAD "groups: {edge: [s0, s7]}\n");
	struct error error = {""};
	OWNED(topology) *topology = run_config_open_topology(&config->run, &error);

	assert_null(lab_config_groups(config, topology, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text, "some/l.yaml:3:16: group 'edge': topology rlft-4-2 has no "
					"device 's7', nearest is 's0'");
}

UNIT_TEST(an_explanation_is_a_lab_file_that_says_the_same)
{
	static const char *const texts[] = {full, HEAD, HEAD "groups: [[s0, s1], [h0]]\n"};

	for (unsigned i = 0; i < 3; i++) {
		struct lab_config *config = parse(texts[i]), *again;
		char *text[2] = {NULL, NULL};
		size_t length;
		FILE *out = open_memstream(&text[0], &length);

		assert_int_equal(lab_config_explain(config, out), 0);
		fclose(out);
		again = parse(text[0]);
		out = open_memstream(&text[1], &length);
		assert_int_equal(lab_config_explain(again, out), 0);
		fclose(out);
		assert_string_equal(text[0], text[1]);
		assert_int_equal(again->groups.count, config->groups.count);
		free(text[0]);
		free(text[1]);
		lab_config_destroy(config);
		lab_config_destroy(again);
	}
}

/* "gd": the first link has a given rate or delay ('g'), the second a default one ('d'). */
static void given_of(const struct lab_config *config, char text[3])
{
	struct error error;
	OWNED(topology) *topology = run_config_open_topology(&config->run, &error);

	for (unsigned i = 0; i < 2; i++)
		text[i] = topology->link_at[i].given ? 'g' : 'd';
	text[2] = '\0';
}

#define IN_PLACE                               \
	"weft: lab/1\ntopology:\n"             \
	"  switches: [{name: s0, ports: 4}]\n" \
	"  hosts: [{name: h0}, {name: h1}]\n"  \
	"  links: [{a: h0, b: s0:0, rate: 10Gbps}, {a: h1, b: s0:1}]\n"

UNIT_TEST(a_rate_of_the_file_is_told_from_a_default_by_an_explanation_too)
{
	static const struct {
		const char *text, *given;
	} cases[] = {
		{"weft: lab/1\ntopology: ring:switches=3\n", "dd"},
		{"weft: lab/1\ntopology: ring:switches=3\nlink: {}\n", "dd"},
		{"weft: lab/1\ntopology: \"ring:switches=3,rate=10Gbps\"\n", "gg"},
		{"weft: lab/1\ntopology: \"ring:switches=3,delay=30ns\"\n", "gg"},
		{"weft: lab/1\ntopology: ring:switches=3\nlink: {rate: 10Gbps}\n", "gg"},
		{"weft: lab/1\ntopology: ring:switches=3\nlink: {delay: 5us}\n", "gg"},
		{IN_PLACE, "gd"},
		{IN_PLACE "  link: {rate: 10Gbps}\n", "gg"},
		{IN_PLACE "link: {delay: 1us}\n", "gg"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lab_config *config = parse(cases[i].text), *again;
		char *text = NULL, given[3];
		size_t length;
		FILE *out = open_memstream(&text, &length);

		given_of(config, given);
		assert_string_equal(given, cases[i].given);
		assert_int_equal(lab_config_explain(config, out), 0);
		fclose(out);
		again = parse(text);
		given_of(again, given);
		assert_string_equal(given, cases[i].given);
		free(text);
		lab_config_destroy(config);
		lab_config_destroy(again);
	}
}

UNIT_TEST(what_is_wrong_is_said_in_one_line_with_its_place)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"weft: run/1\n",
			"some/l.yaml:1:7: expected 'weft: lab/1', found 'run/1'; 'weft run' "
			"takes this file"},
		{HEAD "clock: real\n", "some/l.yaml:3:1: unknown key 'clock'; known keys: weft, …"},
		{HEAD "links: mem\n",
			"some/l.yaml:3:8: 'links: mem': expected one of shared, memif, veth, dpdk; nearest is 'memif'"},
		{HEAD "groups: [[s0, s1], [s0]]\n",
			"some/l.yaml:3:20: duplicate group 's0'; the first one is in line 3"},
		{HEAD "groups: s0\n",
			"some/l.yaml:3:9: 'groups' must contain groups of devices, such as {edge: [s0, s1]} or [[s0, s1]]"},
		{HEAD "groups: {edge: []}\n",
			"some/l.yaml:3:16: a group must contain 1 to 65536 devices"},
		{HEAD "name: a-name-that-is-too-long-for-a-lab\n",
			"some/l.yaml:3:7: 'name' is 33 characters long; at most 23 are allowed"},
		{HEAD "eal: --no-pci\n",
			"some/l.yaml:3:6: 'eal': expected a list [...], found a value"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(lab_config_parse(
			bad[i].text, strlen(bad[i].text), "some/l.yaml", NULL, 0, &error));
		assert_int_equal(errno, EINVAL);
		assert_message(error.text, bad[i].message);
	}
}

UNIT_TEST(routes_that_may_deadlock_are_refused)
{
	OWNED(lab_config) *config =
		parse(HEAD "mapper: {routes: static}\nrouting: {algorithm: minhop}\n");
	struct error error = {""};

	assert_int_equal(run_config_supported(&config->run, &error), 0);
	assert_int_equal(lab_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text,
		"some/l.yaml: routing.algorithm minhop may deadlock, which is not allowed in a lab; use a deadlock-free one, such as ud");
}

UNIT_TEST(a_route_file_is_verified_in_any_case)
{
	static const char path[] = "/tmp/weft-lab-config-routes";
	OWNED(lab_config) *config;
	struct error error = {""};
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs("# weft routes/1 topology=any\n", out);
	fclose(out);
	config = parse(HEAD "mapper: {routes: static}\n"
			    "routing: {file: /tmp/weft-lab-config-routes, may-deadlock: true}\n");
	unlink(path);
	assert_int_equal(lab_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text,
		"some/l.yaml: routing.may-deadlock: must be false with routing.file, because a lab's routes must not deadlock");
}

UNIT_TEST(tags_of_data_need_a_link_key)
{
	struct lab_config *config = parse(HEAD "security: {data: true}\n");
	struct error error = {""};

	assert_int_equal(lab_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text, "some/l.yaml: security.data requires security.link-key");
	lab_config_destroy(config);
	config = parse(HEAD "security: {data: true, link-key: /tmp/key}\n");
	assert_int_equal(lab_config_supported(config, &error), 0);
	assert_int_equal(run_config_frame_payload(&config->run), config->run.nic.mtu_bytes + 8);
	lab_config_destroy(config);
}

static void expect_one_lcore(const char *text, const char *said)
{
	OWNED(lab_config) *config = parse(text);
	struct error error = {""};

	assert_int_equal(lab_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text, said);
	config->lcores = 1;
	assert_int_equal(lab_config_supported(config, &error), 0);
}

UNIT_TEST(what_needs_one_lcore_is_refused_with_more)
{
	expect_one_lcore(HEAD "lcores: 2\nswitch: {voq: false}\n",
		"some/l.yaml: switch.voq: false: requires one lcore; remove 'lcores: 2'");
	expect_one_lcore(HEAD "lcores: 4\nswitch: {fecn: 3}\n",
		"some/l.yaml: switch.fecn: requires one lcore; remove 'lcores: 4'");
	expect_one_lcore(HEAD "lcores: 2\nprocesses: one\n",
		"some/l.yaml: lcores: 'processes: one' has a loop per CPU and does not divide switches; use 'cores' to restrict the CPUs");
}

UNIT_TEST(schedules_are_refused_because_their_replay_is_one_process)
{
	OWNED(lab_config) *config = parse(HEAD "traffic:\n  - {pattern: goal, file: /x.goal}\n");
	struct error error = {""};

	assert_int_equal(run_config_supported(&config->run, &error), 0);
	assert_int_equal(lab_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text,
		"some/l.yaml:4:5: pattern goal requires a fabric in one process; use 'weft run'");
}
