/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment/lab/lab_security.h"

#include <sys/stat.h>
#include <unistd.h>

#include "needs.h"

#define OTHER 12345

#define SWITCHES                                                   \
	"switches: [{name: s0, ports: 2}, {name: s1, ports: 2}]\n" \
	"hosts: [{name: h0}, {name: h1}]\n"                        \
	"links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:1}]\n"
#define PORTS                                                        \
	"ports: [{port: s0:1, dpdk: \"net_pcap0,tx_pcap=/tmp/x\"}, " \
	"{port: s1:1, dpdk: \"0000:3b:00.0\"}]\n"
#define TOPOLOGY "weft: topology/1\nname: two\n" SWITCHES
#define LAB      "weft: lab/1\nname: two\ntopology: topology.yaml\n"

static char folder[32], lab_file[64], topology_file[64];
static struct error error;

static int set_up(void **state)
{
	strcpy(folder, "/tmp/weft-trust-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(lab_file, sizeof(lab_file), "%s/lab.yaml", folder);
	snprintf(topology_file, sizeof(topology_file), "%s/topology.yaml", folder);
	error.text[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	unlink(lab_file);
	unlink(topology_file);
	return rmdir(folder);
}

static void write_files(const char *lab, const char *topology)
{
	const char *const path[] = {lab_file, topology_file}, *const text[] = {lab, topology};

	for (unsigned i = 0; i < 2; i++) {
		FILE *out = fopen(path[i], "w");

		assert_non_null(out);
		fputs(text[i], out);
		fclose(out);
		assert_int_equal(chmod(path[i], 0644), 0);
	}
}

static int check(const char *file, const char *trusted)
{
	const struct lab_trust trust = {.file = {trusted}, .count = trusted != NULL};
	OWNED(lab) lab;
	int result;

	assert_int_equal(lab_open(&lab, file, "/run/weft/x", &error), 0);
	result = lab_trust_check(&lab, &trust, &error);
	return result;
}

#define CASE(name) UNIT_WITH(name, set_up, tear_down)

CASE(a_file_that_only_its_user_can_change_is_obeyed)
{
	write_files(LAB "eal: [-d, plugin.so]\n", TOPOLOGY PORTS);
	assert_int_equal(check(lab_file, NULL), 0);
}

CASE(words_for_the_eal_in_a_file_that_others_can_change_are_refused)
{
	char expected[ERROR_TEXT];

	write_files(LAB "eal: [-d, plugin.so]\n", TOPOLOGY);
	assert_int_equal(chmod(lab_file, 0666), 0);
	assert_int_equal(check(lab_file, NULL), -EINVAL);
	snprintf(expected, sizeof(expected),
		"%s:4:6: 'eal' can make DPDK run code and write files, but %s is writable by "
		"other users (mode 666); make sure that only you or root can change the file, "
		"or use '--trust %s' if you trust it",
		lab_file, lab_file, lab_file);
	assert_string_equal(error.text, expected);
}

CASE(words_for_the_eal_of_another_user_are_refused)
{
	need_root();
	write_files(LAB "eal: [-d, plugin.so]\n", TOPOLOGY);
	assert_int_equal(chown(lab_file, OTHER, OTHER), 0);
	assert_int_equal(check(lab_file, NULL), -EINVAL);
	assert_non_null(
		strstr(error.text, "lab.yaml belongs to user 12345, but must belong to user 0"));
}

CASE(a_folder_that_others_can_change_is_no_better_than_the_file)
{
	write_files(LAB "eal: [-d, plugin.so]\n", TOPOLOGY);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(check(lab_file, NULL), -EINVAL);
	assert_non_null(strstr(error.text, "is writable by other users (mode 777)"));
}

CASE(devices_in_a_topology_that_others_can_change_are_refused)
{
	write_files(LAB, TOPOLOGY PORTS);
	assert_int_equal(chmod(topology_file, 0666), 0);
	assert_int_equal(check(lab_file, NULL), -EINVAL);
	assert_int_equal(strncmp(error.text, topology_file, strlen(topology_file)), 0);
	assert_non_null(strstr(error.text, ": 'ports' (s0:1 and others) can make DPDK run code"));
}

CASE(devices_in_the_lab_file_itself_are_refused_as_well)
{
	write_files(
		"weft: lab/1\ntopology:\n  weft: topology/1\n  name: two\n  switches: [{name: s0, "
		"ports: 2}, {name: s1, ports: 2}]\n  hosts: [{name: h0}, {name: h1}]\n  links: "
		"[{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:1}]\n  " PORTS,
		"");
	assert_int_equal(chmod(lab_file, 0666), 0);
	assert_int_equal(check(lab_file, NULL), -EINVAL);
	assert_int_equal(strncmp(error.text, lab_file, strlen(lab_file)), 0);
}

CASE(devices_in_a_topology_that_is_the_lab_are_refused_as_well)
{
	write_files("", TOPOLOGY PORTS);
	assert_int_equal(chmod(topology_file, 0666), 0);
	assert_int_equal(check(topology_file, NULL), -EINVAL);
	assert_int_equal(check(topology_file, topology_file), 0);
}

CASE(a_file_without_such_keys_may_be_anyones)
{
	write_files(LAB, TOPOLOGY);
	assert_int_equal(chmod(lab_file, 0666), 0);
	assert_int_equal(chmod(topology_file, 0666), 0);
	assert_int_equal(check(lab_file, NULL), 0);
}

CASE(the_command_line_can_trust_a_file_and_only_that_one)
{
	char other_way[80];

	write_files(LAB "eal: [-d, plugin.so]\n", TOPOLOGY PORTS);
	assert_int_equal(chmod(lab_file, 0666), 0);
	snprintf(other_way, sizeof(other_way), "%s/./lab.yaml", folder);
	assert_int_equal(check(lab_file, other_way), 0);
	assert_int_equal(check(lab_file, topology_file), -EINVAL);
	assert_non_null(strstr(error.text, "'eal'"));
	assert_int_equal(chmod(topology_file, 0666), 0);
	assert_int_equal(check(lab_file, lab_file), -EINVAL);
	assert_non_null(strstr(error.text, "'ports'"));
}

CASE(trust_in_a_file_that_the_lab_does_not_read_is_a_mistake)
{
	write_files(LAB, TOPOLOGY);
	assert_int_equal(check(lab_file, "/etc/passwd"), -EINVAL);
	assert_non_null(strstr(error.text, "--trust /etc/passwd: only the lab file"));
}
