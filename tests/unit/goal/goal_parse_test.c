/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal/goal.h"

#include "unit.h"

static const char example[] = "// a comment\n"
			      "num_ranks 2\n"
			      "rank 1 {\n"
			      "l1: recv 4096b from -1 tag -1 cpu 2\n"
			      "calc 7\n"
			      "}\n"
			      "rank 0 { /* another\n one */\n"
			      "  late irequires l1\n"
			      "  l1: calc 100 cpu 1; late: send 8 b to 1 tag 5 cpu 0 nic 3\r\n"
			      "  x: recv 0b from 1\n"
			      "  x requires late; x requires l1 }\n";

UNIT_TEST(operations_are_read_with_all_that_they_say)
{
	struct error error = {""};
	OWNED(goal) *goal = goal_parse(example, strlen(example), "e.goal", &error);
	const struct goal_op *op;

	assert_string_equal(error.text, "");
	assert_int_equal(goal->ranks, 2);
	assert_int_equal(goal->ops, 5);
	assert_int_equal(goal->rank[1].count, 2);
	assert_int_equal(goal->rank[0].count, 3);
	op = &goal->op[goal->rank[1].first];
	assert_int_equal(op[0].kind, GOAL_RECV);
	assert_int_equal(op[0].amount, 4096);
	assert_int_equal(op[0].peer, GOAL_ANY);
	assert_true(op[0].any_tag);
	assert_int_equal(op[0].cpu, 1); /* the second that the rank names */
	assert_int_equal(op[0].line, 4);
	assert_int_equal(op[1].kind, GOAL_CALC);
	assert_int_equal(op[1].amount, 7);
	assert_string_equal(goal_label(goal, goal->rank[1].first + 1), "");
	op = &goal->op[goal->rank[0].first];
	assert_int_equal(op[0].amount, 100);
	assert_int_equal(op[0].cpu, 1);
	assert_int_equal(op[1].kind, GOAL_SEND);
	assert_int_equal(op[1].peer, 1);
	assert_int_equal(op[1].tag, 5);
	assert_false(op[1].any_tag);
	assert_int_equal(goal->nic_line, 10);
	assert_int_equal(op[1].line, 10);
	assert_int_equal(op[2].tag, 0);
	assert_string_equal(goal_label(goal, goal->rank[0].first + 1), "late");
}

UNIT_TEST(dependencies_become_edges_to_those_that_wait)
{
	OWNED(goal) *goal = goal_parse(example, strlen(example), "e.goal", NULL);
	uint32_t l1 = goal->rank[0].first, late = l1 + 1, x = l1 + 2;

	assert_int_equal(goal->edges, 3);
	assert_int_equal(goal->op[l1].waits, 0);
	assert_int_equal(goal->op[late].waits, 1);
	assert_int_equal(goal->op[x].waits, 2);
	assert_int_equal(goal->first_edge[l1 + 1] - goal->first_edge[l1], 2);
	assert_int_equal(goal->edge[goal->first_edge[l1]], late | GOAL_EDGE_STARTED);
	assert_int_equal(goal->edge[goal->first_edge[l1] + 1], x);
	assert_int_equal(goal->first_edge[late + 1] - goal->first_edge[late], 1);
	assert_int_equal(goal->edge[goal->first_edge[late]], x);
	assert_int_equal(goal->first_edge[x + 1], goal->first_edge[x]);
}

#define TWO "num_ranks 2\nrank 1 { }\nrank 0 {\n"

UNIT_TEST(what_is_wrong_is_said_with_its_place)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"", "g:1:1: expected num_ranks, found the end of the file"},
		{"rank 0 {", "g:1:1: expected num_ranks, found 'rank'"},
		{"num_ranks 0", "g:1:11: expected at least one rank, found '0'"},
		{"num_ranks 65535",
			"g:1:11: expected a number of ranks of at most 65534, found 65535"},
		{"num_ranks 2\nrank 2 {", "g:2:6: expected a rank of at most 1, found 2"},
		{"num_ranks 2\nrank 1 {\n",
			"g:3:1: expected a label, send, recv, calc or '}', found the end of the file"},
		{"num_ranks 2\nrank 1 {}\nrank 1 {}\n",
			"g:3:6: duplicate schedule for rank 1; the first one is in line 2"},
		{TWO "l1: sent 8b to 1\n}", "g:4:5: expected send, recv or calc, found 'sent'"},
		{TWO "l1: send 8 to 1\n}", "g:4:12: expected b, found 'to'"},
		{TWO "l1: send 8b from 1\n}", "g:4:13: expected to, found 'from'"},
		{TWO "l1: send 8b to -1\n}", "g:4:16: expected a rank, found '-1'"},
		{TWO "l1: send 8b to 2\n}", "g:4:16: expected a rank of at most 1, found 2"},
		{TWO "l1: send 1099511627777b to 1\n}",
			"g:4:10: expected a number of bytes of at most 1099511627776, found "
			"1099511627777"},
		{TWO "l1: send 8b to 1 tag 99999999999999999999\n}",
			"g:4:22: expected a tag of at most 4294967295, found 99999999999999999999"},
		{TWO "l1: recv 8b from x\n}", "g:4:18: expected a rank, or -1, found 'x'"},
		{TWO "l1: calc 8 tag 1\n}",
			"g:4:12: expected the end of the statement, found 'tag'"},
		{TWO "l1: calc 8 cpu 65536\n}",
			"g:4:16: expected a CPU number of at most 65535, found 65536"},
		{TWO "l1 calc 8\n}", "g:4:4: expected ':', requires or irequires, found 'calc'"},
		{TWO "l1: calc 8\nl1 requires l2\n}", "g:5:13: rank 0 has no operation 'l2'"},
		{TWO "l1: calc 8\nl requires l1\n}", "g:5:1: rank 0 has no operation 'l'"},
		{TWO "l1: calc 8\n\nl1: calc 9\n}",
			"g:6:1: duplicate 'l1' in rank 0; the first one is in line 4"},
		{TWO "a: calc 1\nb: calc 1\nc: calc 1\nb requires c\nc irequires b\na requires "
		     "c\n}",
			"g:6:1: 'c' waits for itself through its dependencies"},
		{TWO "a: calc 1\na requires a\n}",
			"g:4:1: 'a' waits for itself through its dependencies"},
		{TWO "?\n}", "g:4:1: expected a word, a number, ':', '{' or '}', found '?'"},
		{TWO "\1\n}", "g:4:1: expected a word, a number, ':', '{' or '}', found byte 0x01"},
		{TWO "calc 1 /* no end", "g:4:8: an unterminated comment"},
		{TWO "}\nextra", "g:5:1: expected rank, found 'extra'"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(goal_parse(bad[i].text, strlen(bad[i].text), "g", &error));
		assert_string_equal(error.text, bad[i].message);
	}
}

UNIT_TEST(a_label_belongs_to_its_rank)
{
	static const char text[] = "num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\na: calc 2\n"
				   "b: calc 3\nb requires a\n}\n";
	OWNED(goal) *goal = goal_parse(text, strlen(text), "g", NULL);

	assert_non_null(goal);
	assert_int_equal(goal->op[0].waits, 0);
	assert_int_equal(goal->first_edge[1], 0);
	assert_int_equal(goal->op[2].waits, 1);
}

UNIT_TEST(a_file_that_is_not_there_is_named)
{
	struct error error;

	assert_null(goal_load("/nowhere/x.goal", &error));
	assert_string_equal(error.text, "/nowhere/x.goal: No such file or directory");
}

/* As scripts and tracers write them. */
UNIT_TEST(a_rank_may_be_absent_and_send_to_itself_and_labels_may_be_numbers)
{
	static const char text[] =
		"# by a script\nnum_ranks 4 # ranks\nrank 2 {\n1: send 1099511627776b to 2 tag "
		"4294967295\n2: recv 8b from 2 tag 4294967295\n2 requires 1\n"
		"calc 9223372036854775808 cpu 65535\ncalc 1 cpu 300\n}\n";
	struct error error = {""};
	OWNED(goal) *goal = goal_parse(text, strlen(text), "g", &error);

	assert_string_equal(error.text, "");
	assert_int_equal(goal->rank[0].count + goal->rank[1].count + goal->rank[3].count, 0);
	assert_int_equal(goal->op[0].peer, 2);
	assert_int_equal(goal->op[0].tag, UINT32_MAX);
	assert_int_equal(goal->op[1].waits, 1);
	assert_int_equal(goal->op[2].cpu, 2);
	assert_int_equal(goal->op[3].cpu, 1);
}
