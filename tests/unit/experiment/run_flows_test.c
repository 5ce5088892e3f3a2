/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment/workload/run_flows.h"

#include "temporary_file.h"
#include "unit.h"

#include <errno.h>

#define PATH "/tmp/weft-flows-XXXXXX"

struct loaded {
	struct run_flows flows;
	struct goal *goal;
	struct error error;
	int result;
};

/* In a network with the hosts h0 to h4. */
static struct loaded load(const char *text)
{
	OWNED(topology) *topology = topology_generate("full:switches=1,hosts=5", NULL);
	struct loaded loaded = {.error = {""}};
	char path[] = PATH;

	temporary_file(path, text);
	loaded.result = run_flows_load(
		path, topology, RAIL_UNSET, &loaded.flows, &loaded.goal, &loaded.error);
	if (strncmp(loaded.error.text, path, strlen(path)) == 0)
		memmove(loaded.error.text, loaded.error.text + strlen(path),
			strlen(loaded.error.text + strlen(path)) + 1);
	unlink(path);
	return loaded;
}

static void unload(struct loaded *loaded)
{
	goal_destroy(loaded->goal);
	free(loaded->flows.at);
}

UNIT_TEST(hosts_have_names_or_numbers_and_quantities_units_or_none)
{
	struct loaded loaded =
		load("# a comment\n\nh0 h4 0 1000\n1,2,50us,64KiB # another\r\n 3\th0\t7\t1");
	const struct run_flow_request *flow = loaded.flows.at;

	assert_string_equal(loaded.error.text, "");
	assert_int_equal(loaded.flows.count, 3);
	assert_int_equal(flow[0].from, 0);
	assert_int_equal(flow[0].to, 4);
	assert_int_equal(flow[0].bytes, 1000);
	assert_int_equal(flow[1].start_ps, 50 * PS_PER_US);
	assert_int_equal(flow[1].bytes, 65536);
	assert_int_equal(flow[2].start_ps, 7 * PS_PER_NS);
	assert_int_equal(flow[2].line, 5);
	unload(&loaded);
}

UNIT_TEST(every_flow_is_a_send_that_waits_for_its_start_and_a_recv)
{
	struct loaded loaded = load("h0 h1 30 100\nh0 h2 10 200\nh3 h0 0 300\n");
	const struct goal *goal = loaded.goal;
	const struct run_flow_request *flow = loaded.flows.at;

	assert_int_equal(goal->ranks, 4);
	assert_int_equal(goal->ops, 9);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(goal->op[flow[i].op].kind, GOAL_SEND);
		assert_int_equal(goal->op[flow[i].op].amount, flow[i].bytes);
		assert_int_equal(goal->op[flow[i].op].peer, flow[i].to);
		assert_int_equal(goal->op[flow[i].op].waits, 1);
	}
	/* h0's CPU counts to 10 ns, then 20 ns more. */
	assert_int_equal(goal->op[flow[1].op - 1].amount, 10);
	assert_int_equal(goal->op[flow[0].op - 1].amount, 20);
	unload(&loaded);
}

UNIT_TEST(a_flow_begins_after_another_that_its_host_sends_or_gets)
{
	struct loaded loaded = load("h0 h1 0 100\nh1 h2 5 200 0\nh0 h3 0 300 0\n");
	const struct goal *goal = loaded.goal;
	const struct run_flow_request *flow = loaded.flows.at;
	uint32_t reply = flow[1].op - 1, next = flow[2].op - 1, recv = 0;

	assert_string_equal(loaded.error.text, "");
	while (goal->op[recv].kind != GOAL_RECV || goal->op[recv].peer != 0)
		recv++;
	assert_int_equal(goal->op[recv].amount, 100);
	assert_int_equal(goal->edge[goal->first_edge[recv]], reply);
	assert_int_equal(goal->op[reply].amount, 5);
	assert_int_equal(goal->edge[goal->first_edge[flow[0].op]], next);
	unload(&loaded);
}

UNIT_TEST(what_is_wrong_is_said_with_its_line)
{
	static const char *const bad[][2] = {
		{"", ": no flows"},
		{"# nothing\n", ": no flows"},
		{"h0 h1 0\n", ":1: expected SRC DST START BYTES [AFTER]"},
		{"h0 h1 0 1 0 0\n", ":1: expected SRC DST START BYTES [AFTER]"},
		{"h0 h1 0 1\nh0 h5 0 1\n", ":2: topology full-1-5 has no host 'h5'"},
		{"h0 5 0 1\n", ":1: topology full-1-5 has no host '5'"},
		{"h0 h1 -1 1\n", ":1: '-1': expected a time in whole nanoseconds, such as 10us"},
		{"h0 h1 1ps 1\n", ":1: '1ps': expected a time in whole nanoseconds, such as 10us"},
		{"h0 h1 0 0\n", ":1: '0': expected a length of 1 byte to 1 TiB, such as 64KiB"},
		{"h0 h1 0 1099511627777\n",
			":1: '1099511627777': expected a length of 1 byte to 1 TiB, such as 64KiB"},
		{"h0 h1 0 1 0\n",
			":1: '0': expected the number of an earlier flow, counted from 0"},
		{"h0 h1 0 1\nh1 h0 0 1 1\n",
			":2: '1': expected the number of an earlier flow, counted from 0"},
		{"h0 h1 0 1\nh2 h0 0 1 0\n",
			":2: flow 0 (line 1) neither starts nor ends at host h2, so the host cannot wait for it"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct loaded loaded = load(bad[i][0]);

		assert_int_equal(loaded.result, -EINVAL);
		assert_null(loaded.goal);
		assert_string_equal(loaded.error.text, bad[i][1]);
		unload(&loaded);
	}
}
