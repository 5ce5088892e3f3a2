/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The identity of a lab: which settings two lab files must agree on, and which each machine may
 * choose. */

#include "experiment/lab/lab_config_private.h"

#include "experiment/lab/lab_security.h"
#include "temporary_file.h"
#include "unit.h"

#define SWITCHES "[{name: s0, ports: 3}, {name: s1, ports: 3}]"
#define HOSTS    "[{name: h0}, {name: h1}]"
#define LINKS    "[{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:1}]"
#define FILE_OF(name, switches, hosts, links, more)                                           \
	"weft: lab/1\nname: " name "\nprocesses: each\ntopology:\n  weft: topology/1\n"       \
	"  link: {rate: 10Gbps, delay: 30ns}\n  switches: " switches "\n  hosts: " hosts "\n" \
	"  links: " links "\n" more
#define WITH(more) FILE_OF("two", SWITCHES, HOSTS, LINKS, more)

static struct lab open_text(const char *text)
{
	char path[] = "/tmp/weft-lab-identity-XXXXXX";
	struct error error = {""};
	struct lab lab;

	temporary_file(path, text);
	if (lab_open(&lab, path, "/tmp/weft-no-such-lab", &error) != 0)
		fail_msg("%s", error.text);
	unlink(path);
	return lab;
}

static void expect(const char *text, bool same)
{
	OWNED(lab) one = open_text(WITH("")), other = open_text(text);
	char *first = lab_identity(&one), *second = lab_identity(&other);
	struct lab_security of_one, of_other;

	assert_int_equal(strcmp(first, second) == 0, same);
	assert_int_equal(lab_security_load(&one, &of_one, NULL), 0);
	assert_int_equal(lab_security_load(&other, &of_other, NULL), 0);
	assert_int_equal(of_one.fabric == of_other.fabric, same);
	free(first);
	free(second);
}

UNIT_TEST(the_same_file_is_the_same)
{
	expect(WITH(""), true);
	/* These are the defaults. */
	expect(WITH("hello: 10ms\nswitch: {vcs: 1}\n"), true);
}

UNIT_TEST(each_machine_decides_about_its_processes_and_traffic)
{
	expect(WITH("eal: [\"--no-huge\"]\n"), true);
	expect(WITH("lcores: 2\ncores: 1\n"), true);
	expect(WITH("links: veth\n"), true);
	expect(WITH("groups: {all: [h0, h1]}\n"), true);
	expect(WITH("seed: 7\nmeasure: {duration: 3s}\n"), true);
	expect(WITH("traffic: [{pattern: uniform, from: all, to: all, load: 7%}]\n"), true);
	expect(WITH("mapper: {expect: other.yaml}\n"), true);
	expect(WITH("mapper: {mode: never, hosts: [h1]}\n"), true);
	expect(WITH("security: {sandbox: false}\n"), true);
}

UNIT_TEST(both_ends_of_a_cable_act_alike)
{
	expect(WITH("hello: 20ms\n"), false);
	expect(WITH("switch: {vcs: 2}\n"), false);
	expect(WITH("nic: {mtu: 1KiB}\n"), false);
	expect(WITH("routing: {algorithm: dfs}\n"), false);
	expect(WITH("mapper: {routes: static}\n"), false);
	expect(WITH("watchdog: 1s\n"), false);
}

UNIT_TEST(devices_and_cables_are_the_same_and_in_the_same_order)
{
	expect(FILE_OF("three", SWITCHES, HOSTS, LINKS, ""), false);
	expect(FILE_OF("two", "[{name: s0, ports: 4}, {name: s1, ports: 3}]", HOSTS, LINKS, ""),
		false);
	/* Addresses of hosts depend on their order. */
	expect(FILE_OF("two", SWITCHES, "[{name: h1}, {name: h0}]", LINKS, ""), false);
	expect(FILE_OF("two", SWITCHES, HOSTS,
		       "[{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:2}]", ""),
		false);
}
