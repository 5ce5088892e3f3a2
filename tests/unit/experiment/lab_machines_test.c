/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'machines' in lab files: what is refused, and the resulting plan. */

#include "experiment/lab/lab_config.h"

#include "experiment/lab/lab.h"
#include "temporary_file.h"
#include "unit.h"

#define TOPOLOGY                                                                   \
	"weft: lab/1\nname: two\nprocesses: each\ntopology:\n  weft: topology/1\n" \
	"  name: t\n  link: {rate: 10Gbps, delay: 30ns}\n"                         \
	"  switches: [{name: s0, ports: 3}, {name: s1, ports: 3}]\n"               \
	"  hosts: [{name: h0}, {name: h1}, {name: h2}]\n"                          \
	"  links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: h2, b: s1:2}, "         \
	"{a: s0:1, b: s1:1}]\n"
#define PORTS_A   "ports: [{port: s0:1, dpdk: \"0000:01:00.0\"}]"
#define PORTS_B   "ports: [{port: s1:1, dpdk: \"0000:01:00.0\"}]"
#define MACHINE_A "  - {name: a, ssh: root@a, devices: [s0, h0], " PORTS_A "}\n"
#define MACHINE_B "  - {name: b, ssh: root@b, devices: [s1, h1, h2], " PORTS_B "}\n"
#define GOOD      TOPOLOGY "machines:\n" MACHINE_A MACHINE_B

/* Like lab_open() of a file with this text. */
static int open_text(const char *text, struct lab *lab, struct error *error)
{
	char path[] = "/tmp/weft-lab-machines-XXXXXX";
	int result;

	temporary_file(path, text);
	result = lab_open(lab, path, "/tmp/weft-no-such-lab", error);
	unlink(path);
	return result;
}

static void expect_refused(const char *text, const char *part)
{
	struct error error = {""};
	struct lab lab;

	assert_int_equal(open_text(text, &lab, &error), -EINVAL);
	if (strstr(error.text, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, error.text);
}

static void open_good(const char *text, struct lab *lab)
{
	struct error error = {""};

	if (open_text(text, lab, &error) != 0)
		fail_msg("%s", error.text);
}

UNIT_TEST(ports_of_machines_are_ports_of_the_topology)
{
	OWNED(lab) lab;

	open_good(GOOD, &lab);
	assert_int_equal(lab.topology->bindings, 2);
	assert_int_equal(lab.plan->link[3].kind, LAB_LINK_BOUND);
	assert_string_equal(lab.plan->link[3].device[0], "0000:01:00.0");
}

UNIT_TEST(hosts_of_different_machines_share_no_process)
{
	OWNED(lab) lab;

	open_good(GOOD, &lab);
	assert_int_equal(lab.plan->processes, 4);
	assert_int_not_equal(lab_plan_find(lab.plan, "h0"), lab_plan_find(lab.plan, "h1"));
	assert_int_equal(lab_plan_find(lab.plan, "h1"), lab_plan_find(lab.plan, "h2"));
}

UNIT_TEST(a_written_configuration_reads_back)
{
	OWNED(lab) first, second;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	open_good(GOOD, &first);
	assert_int_equal(lab_config_explain(first.config, out), 0);
	fclose(out);
	open_good(text, &second);
	assert_int_equal(second.config->machines.count, 2);
	assert_string_equal(second.config->machines.at[1].ssh, "root@b");
	assert_int_equal(second.topology->bindings, 2);
	free(text);
}

UNIT_TEST(each_device_is_on_one_machine)
{
	expect_refused(TOPOLOGY "machines:\n" MACHINE_A
				"  - {name: b, ssh: b, devices: [s1, h1], " PORTS_B "}\n",
		"machines: h2 is not on any machine; add it to the 'devices' of one");
	expect_refused(GOOD "  - {name: c, ssh: c, devices: [h1]}\n",
		"machine 'c': h1 is already on machine 'b'");
	expect_refused(TOPOLOGY "machines:\n  - {name: a, ssh: a, devices: [s9]}\n",
		"machine 'a': topology t has no device 's9', nearest is 's");
}

UNIT_TEST(a_port_belongs_to_the_machine_of_its_device)
{
	expect_refused(TOPOLOGY "machines:\n  - {name: a, ssh: a, devices: [s0, h0], " PORTS_B
				"}\n  - {name: b, ssh: b, devices: [s1, h1, h2]}\n",
		"machine 'a': port s1:1 belongs to machine b");
	expect_refused(TOPOLOGY "machines:\n  - {name: a, ssh: a, devices: [s0, h0], ports: "
				"[{port: s0:2, dpdk: x}]}\n" MACHINE_B,
		"machine 'a': port s0:2 has no cable");
}

UNIT_TEST(a_link_between_machines_needs_ports)
{
	expect_refused(TOPOLOGY "machines:\n  - {name: a, ssh: a, devices: [s0, h0]}\n"
				"  - {name: b, ssh: b, devices: [s1, h1, h2]}\n",
		"link s0:1 - s1:1 leads from machine 'a' to 'b'; add both ports");
}

UNIT_TEST(a_group_is_on_one_machine)
{
	expect_refused(GOOD "groups: [[h0, h1]]\n",
		"group 'h0': h0 is on machine 'a' and h1 on 'b'; a group's devices must be on one machine");
}

UNIT_TEST(names_and_addresses_are_unlike)
{
	expect_refused(GOOD "  - {name: a, ssh: c, devices: [h1]}\n", "duplicate machine 'a'");
	expect_refused(GOOD "  - {name: c, ssh: root@a, devices: [h1]}\n",
		"machine 'c' has the same address as 'a'");
}

UNIT_TEST(an_address_is_nothing_else_to_a_shell_or_to_ssh)
{
	static const char *const bad[] = {"-oProxyCommand=x", "\"a b\"", "\"a;b\"", "\"$(b)\""};
	char text[2000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text),
			TOPOLOGY "machines: [{name: a, ssh: %s, devices: [s0]}]\n", bad[i]);
		expect_refused(text, "expected");
		snprintf(text, sizeof(text),
			TOPOLOGY "machines: [{name: a, ssh: a, weft: %s, devices: [s0]}]\n",
			bad[i]);
		expect_refused(text, "expected");
	}
}
