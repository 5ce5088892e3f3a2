/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment/workload/run_flows.h"

#include "temporary_file.h"
#include "unit.h"

#include <errno.h>
#include <math.h>

#define PATH "/tmp/weft-flow-draw-XXXXXX"

struct drawn {
	struct run_config *run;
	struct topology *topology;
	struct run_flows flows;
	struct error error;
	int result;
};

/* Draws the flows of an entry, in which '%s' stands for a file with 'text'. */
static struct drawn draw(const char *topology, const char *entry, const char *text)
{
	struct drawn drawn = {.error = {""}};
	char path[] = PATH, with_path[512], run[1024];

	temporary_file(path, text);
	snprintf(with_path, sizeof(with_path), entry, path);
	snprintf(run, sizeof(run),
		"weft: run/1\ntopology: \"%s\"\nclock: virtual\nnic: {mtu: 4KiB}\n"
		"traffic: [{pattern: flows, %s}]\n",
		topology, with_path);
	drawn.run = run_config_parse(run, strlen(run), "r.yaml", NULL, 0, &drawn.error);
	assert_string_equal(drawn.error.text, "");
	drawn.topology = run_config_open_topology(drawn.run, &drawn.error);
	drawn.result = flow_draw(drawn.run, 0, drawn.topology, &drawn.flows, &drawn.error);
	if (strncmp(drawn.error.text, path, strlen(path)) == 0)
		memmove(drawn.error.text, drawn.error.text + strlen(path),
			strlen(drawn.error.text + strlen(path)) + 1);
	unlink(path);
	return drawn;
}

static void drop(struct drawn *drawn)
{
	run_config_destroy(drawn->run);
	topology_destroy(drawn->topology);
	free(drawn->flows.at);
}
#define drawn_out_of_scope drop

static double sum_bytes(const struct drawn *drawn)
{
	double sum = 0;

	for (uint32_t i = 0; i < drawn->flows.count; i++)
		sum += (double)drawn->flows.at[i].bytes;
	return sum;
}

/* 16 hosts at 100 Gbps for 2 s send 100 GB in each direction. Three standard deviations of the mean
 * are 1 %. */
UNIT_TEST(flows_take_their_share_of_each_link)
{
	OWNED(drawn) drawn = draw("full:switches=1,hosts=16,rate=100Gbps",
		"sizes: web-search, load: 50%%, stop: 2s", "");
	double share = sum_bytes(&drawn) * 8 / (16 * 2 * 100e9);

	assert_string_equal(drawn.error.text, "");
	/* Headers and gaps of frames take the rest. */
	assert_true(share > 0.48 && share < 0.50);
	assert_true(fabs(drawn.flows.count / (16 * 2 * 50e9 / 8 / 1711250.0) - 1) < 0.03);
	for (uint32_t i = 0; i < drawn.flows.count; i++) {
		const struct run_flow_request *flow = &drawn.flows.at[i];

		assert_true(flow->from != flow->to && flow->from < 16 && flow->to < 16);
		assert_true(flow->bytes >= 1 && flow->bytes <= 30000000);
		assert_true(flow->start_ps < 2 * PS_PER_S && flow->start_ps % PS_PER_NS == 0);
		assert_true(i == 0 || flow->start_ps >= flow[-1].start_ps);
	}
}

/* Each is sent as 16 bytes, with 70 bytes of headers and gap. */
UNIT_TEST(flows_of_a_byte_take_no_more_than_the_load)
{
	OWNED(drawn) drawn = draw("full:switches=1,hosts=16,rate=100Gbps",
		"sizes: 'cdf:%s', load: 30%%, stop: 200us", "1 1\n");
	double share = drawn.flows.count * 86 * 8 / (16 * 200e-6 * 100e9);

	assert_true(fabs(share / 0.3 - 1) < 0.02);
}

/* Checks the share of flows up to each point, and that no flow is larger than the last. */
UNIT_TEST(sizes_have_the_shares_of_their_file)
{
	OWNED(drawn) drawn = draw("full:switches=1,hosts=16,rate=100Gbps",
		"sizes: 'cdf:%s', load: 80%%, stop: 20ms",
		"# two steps\n100 25\n1000,75\n2000 100\n");
	uint32_t smallest = 0, small = 0;

	for (uint32_t i = 0; i < drawn.flows.count; i++) {
		assert_in_range(drawn.flows.at[i].bytes, 100, 2000);
		smallest += drawn.flows.at[i].bytes == 100;
		small += drawn.flows.at[i].bytes <= 1000;
	}
	assert_true(drawn.flows.count > 100000);
	assert_true(fabs((double)smallest / drawn.flows.count - 0.25) < 0.01);
	assert_true(fabs((double)small / drawn.flows.count - 0.75) < 0.01);
}

UNIT_TEST(a_matrix_gives_weights_of_pairs_and_parts_of_the_load)
{
	OWNED(drawn) drawn = draw("full:switches=1,hosts=4,rate=100Gbps",
		"sizes: hadoop, load: 80%%, stop: 200ms, matrix: %s",
		"h0 h1 30\nh0 h2 10\nh3 h0 20\nh2 h0 0\n");
	uint32_t count[4][4] = {{0}};

	assert_string_equal(drawn.error.text, "");
	for (uint32_t i = 0; i < drawn.flows.count; i++)
		count[drawn.flows.at[i].from][drawn.flows.at[i].to]++;
	assert_int_equal(count[0][1] + count[0][2] + count[3][0], drawn.flows.count);
	assert_true(fabs(count[0][1] / (3.0 * count[0][2]) - 1) < 0.05);
	assert_true(fabs(count[3][0] / (2.0 * count[0][2]) - 1) < 0.05);
}

UNIT_TEST(three_pairs_of_hosts_whose_names_are_numbers_are_no_square_matrix)
{
	static const char numbered[] =
		"weft: topology/1\nname: t\nswitches: [{name: s, ports: 4}]\n"
		"hosts: [{name: '1'}, {name: '2'}, {name: '3'}]\n"
		"links: [{a: s:0, b: '1'}, {a: s:1, b: '2'}, {a: s:2, b: '3'}]\n";
	char path[] = PATH;
	OWNED(drawn) drawn;

	temporary_file(path, numbered);
	drawn = draw(
		path, "sizes: hadoop, load: 80%%, stop: 1ms, matrix: %s", "1 2 3\n2 3 1\n3 1 2\n");
	unlink(path);
	assert_string_equal(drawn.error.text, "");
	assert_true(drawn.flows.count > 0);
}

UNIT_TEST(the_seed_decides_and_senders_do_not_depend_on_each_other)
{
	static const char all[] = "sizes: hadoop, load: 50%%, stop: 2ms";
	static const char one[] = "sizes: hadoop, load: 50%%, stop: 2ms, from: [h2]";
	struct drawn drawn[] = {draw("full:switches=1,hosts=5", all, ""),
		draw("full:switches=1,hosts=5", all, ""), draw("full:switches=1,hosts=5", one, "")};
	uint32_t same = 0;

	assert_int_equal(drawn[0].flows.count, drawn[1].flows.count);
	for (uint32_t i = 0; i < drawn[0].flows.count; i++) {
		const struct run_flow_request *flow = &drawn[0].flows.at[i];
		const struct run_flow_request *other = &drawn[2].flows.at[same];

		assert_memory_equal(flow, &drawn[1].flows.at[i], sizeof(*flow));
		if (flow->from != 2)
			continue;
		assert_int_equal(flow->bytes, other->bytes);
		assert_int_equal(flow->to, other->to);
		assert_int_equal(flow->start_ps, other->start_ps);
		same++;
	}
	assert_int_equal(same, drawn[2].flows.count);
	for (unsigned i = 0; i < 3; i++)
		drop(&drawn[i]);
}

UNIT_TEST(bad_files_are_refused_with_their_line)
{
	static const char *const bad[][3] = {
		{"sizes: 'cdf:%s'", "", ": the last line's share must be 1 or 100"},
		{"sizes: 'cdf:%s'", "1 0\n2 50\n", ": the last line's share must be 1 or 100"},
		{"sizes: 'cdf:%s'", "0 0.5\n0 1\n", ": flows must have at least 1 byte"},
		{"sizes: 'cdf:%s'", "1\n", ":1: expected BYTES SHARE"},
		{"sizes: 'cdf:%s'", "1.5 1\n", ":1: '1.5': expected a number of bytes up to 2^40"},
		{"sizes: 'cdf:%s'", "1 -1\n", ":1: '-1': expected a share from 0 to 1, or to 100"},
		{"sizes: 'cdf:%s'", "1 nan\n",
			":1: 'nan': expected a share from 0 to 1, or to 100"},
		{"sizes: 'cdf:%s'", "5 0\n4 1\n",
			":2: the value must be at least the bytes of the previous line"},
		{"sizes: 'cdf:%s'", "4 0.5\n5 0.4\n",
			":2: the value must be at least the share of the previous line"},
		{"sizes: hadoop, matrix: %s", "h0 h1\n",
			":1: expected SRC DST WEIGHT, one pair per line"},
		{"sizes: hadoop, matrix: %s", "0 1 2\n1 0 3\n2 1 0\n",
			": 3 lines of 3 numbers may be a square matrix; write SRC DST WEIGHT with host names, such as h0"},
		{"sizes: hadoop, matrix: %s", "h0 h1 -1\n",
			":1: '-1': expected a weight from 0 to 4294967295"},
		{"sizes: hadoop, matrix: %s", "h0 h0 1\n", ":1: host h0 would send to itself"},
		{"sizes: hadoop, matrix: %s", "h0 h9 1\n",
			":1: topology full-1-4 has no host 'h9'"},
		{"sizes: hadoop, matrix: %s", "h0 h1 0\n", ": no pair with a weight above 0"},
	};
	char entry[128];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OWNED(drawn) drawn;

		snprintf(entry, sizeof(entry), "%s, load: 1%%%%, stop: 1ms", bad[i][0]);
		drawn = draw("full:switches=1,hosts=4", entry, bad[i][1]);
		assert_int_equal(drawn.result, -EINVAL);
		assert_string_equal(drawn.error.text, bad[i][2]);
	}
}

UNIT_TEST(a_window_without_a_flow_is_refused)
{
	struct drawn drawn =
		draw("full:switches=1,hosts=4", "sizes: web-search, load: 1%%, stop: 1ns", "");

	assert_int_equal(drawn.result, -EINVAL);
	assert_string_equal(drawn.error.text,
		"r.yaml:5:11: no flow starts before 'stop'; use a later 'stop' or smaller "
		"'sizes'");
	drop(&drawn);
}
