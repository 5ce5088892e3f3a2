/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The mapping of a schedule's ranks to hosts. */

#include "experiment/workload/run_goal.h"

#include "temporary_file.h"
#include "unit.h"

#define SCHEDULE                                                                          \
	"num_ranks 3\nrank 0 {\nsend 8b to 2\n}\nrank 1 {\ncalc 5\n}\nrank 2 {\nrecv 8b " \
	"from 0\n}\n"

static void write_file(char *path, const char *contents)
{
	strcpy(path, "/tmp/weft-run-goal-XXXXXX");
	temporary_file(path, contents);
}

/* Opens the schedule of a run on 'hosts' hosts. 'ranks' NULL: without a file. In a message, S and R
 * stand for the paths of the files. */
static int open_goal(const char *schedule, const char *ranks, unsigned hosts,
	struct run_goal **goal, char *message, size_t size)
{
	char schedule_path[32], ranks_path[32], text[512], *found;
	OWNED(run_config) *config;
	OWNED(topology) *topology;
	struct error error = {""};
	int result;

	write_file(schedule_path, schedule);
	write_file(ranks_path, ranks != NULL ? ranks : "");
	snprintf(text, sizeof(text),
		"weft: run/1\ntopology: \"full:switches=1,hosts=%u\"\nclock: real\nhost: {rendezvous: 8B}\n"
		"traffic: [{pattern: goal, file: %s, start: 2ms%s%s}]\n",
		hosts, schedule_path, ranks != NULL ? ", ranks: " : "",
		ranks != NULL ? ranks_path : "");
	config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error);
	assert_string_equal(error.text, "");
	assert_int_equal(run_config_supported(config, &error), 0);
	topology = run_config_open_topology(config, &error);
	result = run_goal_open(config, topology, goal, &error);
	found = error.text;
	if (strncmp(found, schedule_path, strlen(schedule_path)) == 0)
		found += strlen(schedule_path);
	else if (strncmp(found, ranks_path, strlen(ranks_path)) == 0)
		found += strlen(ranks_path);
	snprintf(message, size, "%s", found);
	unlink(schedule_path);
	unlink(ranks_path);
	return result;
}

UNIT_TEST(without_a_file_rank_i_is_host_i)
{
	struct run_goal *goal;
	char message[ERROR_TEXT];

	assert_int_equal(open_goal(SCHEDULE, NULL, 5, &goal, message, sizeof(message)), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(goal->host_of[i], i);
		assert_int_equal(goal->rank_of[i], i);
	}
	assert_int_equal(goal->rank_of[3], RUN_GOAL_NO_RANK);
	assert_int_equal(goal->rank_of[4], RUN_GOAL_NO_RANK);
	assert_int_equal(goal->start_ps, 2 * PS_PER_MS);
	run_goal_close(goal);
}

UNIT_TEST(a_file_places_the_ranks)
{
	static const char ranks[] = "# where\n2 h0\n\n0 h4 # here\n1 h3\n";
	struct run_goal *goal;
	char message[ERROR_TEXT];

	assert_int_equal(open_goal(SCHEDULE, ranks, 5, &goal, message, sizeof(message)), 0);
	assert_int_equal(goal->host_of[0], 4);
	assert_int_equal(goal->host_of[1], 3);
	assert_int_equal(goal->host_of[2], 0);
	assert_int_equal(goal->rank_of[0], 2);
	assert_int_equal(goal->rank_of[1], RUN_GOAL_NO_RANK);
	assert_int_equal(goal->rank_of[4], 0);
	run_goal_close(goal);
}

/* Answers to requests for messages above the rendezvous limit do not count. */
UNIT_TEST(each_host_whose_ranks_send_is_one_sender)
{
	static const char schedule[] = "num_ranks 3\nrank 0 {\nsend 9b to 1\n}\n"
				       "rank 1 {\nrecv 9b from 0\nrecv 9b from 2\n}\n"
				       "rank 2 {\nsend 9b to 1\n}\n";
	struct run_goal *goal;
	char message[ERROR_TEXT];

	assert_int_equal(
		open_goal(schedule, "0 h4\n1 h2\n2 h4\n", 5, &goal, message, sizeof(message)), 0);
	assert_int_equal(goal->senders, 1);
	assert_int_equal(goal->sender[0], 4);
	assert_int_equal(goal->rank_of[4], 0);
	assert_int_equal(goal->rank_of[2], 1);
	run_goal_close(goal);
	/* Messages within a host use no link. */
	assert_int_equal(
		open_goal(schedule, "0 h4\n1 h4\n2 h4\n", 5, &goal, message, sizeof(message)), 0);
	assert_int_equal(goal->senders, 0);
	run_goal_close(goal);
}

UNIT_TEST(what_is_wrong_is_said_with_its_place)
{
	static const struct {
		const char *schedule, *ranks;
		unsigned hosts;
		const char *message;
	} bad[] = {
		{SCHEDULE, NULL, 2,
			" has 3 ranks, but topology full-1-2 has only 2 hosts with 1 each; set "
			"ranks-per-host to 2, or use a rank file"},
		{"num_ranks x", NULL, 2, ":1:11: expected a number of ranks, found 'x'"},
		{SCHEDULE, "0 h0\n1 h1\n", 5, ": rank 2 has no host"},
		{SCHEDULE, "0 h0\n3 h1\n", 5, ":2: '3': expected a rank from 0 to 2"},
		{SCHEDULE, "0 h0\nx h1\n", 5, ":2: 'x': expected a rank from 0 to 2"},
		{SCHEDULE, "0 h0\n1 h9\n", 5, ":2: topology full-1-5 has no host 'h9'"},
		{SCHEDULE, "0 h0\n0 h1\n", 5, ":2: rank 0 already has a host from line 1"},
		{SCHEDULE, "0\n", 5, ":1: expected RANK HOST"},
		{SCHEDULE, "0 h0 1 h1\n", 5, ":1: expected RANK HOST"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct run_goal *goal;
		char message[ERROR_TEXT];

		assert_int_equal(open_goal(bad[i].schedule, bad[i].ranks, bad[i].hosts, &goal,
					 message, sizeof(message)),
			-EINVAL);
		assert_null(goal);
		assert_string_equal(message, bad[i].message);
	}
}

UNIT_TEST(short_messages_have_the_least_length_of_the_network)
{
	assert_int_equal(run_goal_bytes(0), RUN_MESSAGE_MIN);
	assert_int_equal(run_goal_bytes(RUN_MESSAGE_MIN), RUN_MESSAGE_MIN);
	assert_int_equal(run_goal_bytes(4097), 4097);
}
