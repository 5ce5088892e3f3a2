/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal/goal_replay.h"

#include "goal_loop.h"

/* A hand-written schedule of two ranks. */
static struct goal_replay *replay(struct goal **goal, const char *rank0, const char *rank1)
{
	char text[1024];

	snprintf(text, sizeof(text), "num_ranks 2\nrank 0 {\n%s\n}\nrank 1 {\n%s\n}\n", rank0,
		rank1);
	*goal = goal_loop_parse(text);
	return goal_replay_create(&(struct goal_replay_config){.goal = *goal});
}

static void finish(struct goal_replay *made, struct goal *goal)
{
	goal_replay_destroy(made);
	goal_destroy(goal);
}

#define NS PS_PER_NS

/* Accepts everything that is due now. Returns how many. */
static unsigned send_all(struct goal_replay *made, uint32_t rank, weft_time now)
{
	struct goal_message message;
	unsigned count = 0;

	while (goal_replay_poll(made, rank, now, &message)) {
		goal_replay_accept(made, rank, now);
		count++;
	}
	return count;
}

UNIT_TEST(a_send_is_due_when_the_calc_before_it_has_ended)
{
	struct goal *goal;
	struct goal_replay *made =
		replay(&goal, "c: calc 100\ns: send 4096b to 1 tag 9\ns requires c",
			"r: recv 4096b from 0 tag 9");
	struct goal_message message;

	assert_false(goal_replay_poll(made, 0, 100 * NS - 1, &message));
	assert_int_equal(goal_replay_next(made, 0), 100 * NS);
	/* Polled late, but it was due at that time. */
	assert_true(goal_replay_poll(made, 0, 500 * NS, &message));
	assert_int_equal(message.due_ps, 100 * NS);
	assert_int_equal(goal->op[message.op].tag, 9);
	assert_int_equal(message.bytes, 4096);
	assert_int_equal(message.to, 1);
	assert_int_equal(goal_replay_next(made, 0), 0);
	goal_replay_accept(made, 0, 500 * NS);
	assert_false(goal_replay_poll(made, 0, 500 * NS, &message));
	assert_true(goal_replay_host_done(made, 0));
	assert_false(goal_replay_done(made));
	assert_int_equal(goal_replay_next(made, 1), WEFT_TIME_NEVER);
	assert_true(goal_replay_deliver(made, 1, 0, 700 * NS));
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_ended(made), 700 * NS);
	assert_int_equal(goal_replay_diagnose(made, NULL), 0);
	finish(made, goal);
}

UNIT_TEST(a_cpu_computes_one_thing_at_a_time_and_several_do_at_once)
{
	struct goal *goal;
	struct goal_replay *made = replay(&goal,
		"a: calc 100\nb: calc 50\nc: calc 30 cpu 1\n"
		"x: send 1b to 1 tag 1\nx requires a\ny: send 1b to 1 tag 2\ny requires b\n"
		"z: send 1b to 1 tag 3\nz requires c",
		"");
	struct goal_message message;
	static const struct {
		weft_time at;
		uint32_t tag;
	} due[] = {{30, 3}, {100, 1}, {150, 2}};

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(goal_replay_next(made, 0), due[i].at * NS);
		assert_true(goal_replay_poll(made, 0, due[i].at * NS, &message));
		assert_int_equal(goal->op[message.op].tag, due[i].tag);
		goal_replay_accept(made, 0, due[i].at * NS);
	}
	finish(made, goal);
}

UNIT_TEST(irequires_waits_for_the_beginning_only)
{
	struct goal *goal;
	struct goal_replay *made = replay(&goal,
		"r: recv 1b from 1\ns: send 1b to 1\ns irequires r\nt: send 1b to 1\nt requires r\n"
		"a: calc 10\nb: calc 20\nu: send 1b to 1 tag 7\nu irequires b",
		"");
	struct goal_message message;

	assert_int_equal(send_all(made, 0, 0), 1);
	/* The CPU begins b when a has ended. */
	assert_false(goal_replay_poll(made, 0, 10 * NS - 1, &message));
	assert_true(goal_replay_poll(made, 0, 10 * NS, &message));
	assert_int_equal(goal->op[message.op].tag, 7);
	finish(made, goal);
}

/* Checks the order of the sends by tag, for the recvs of one rank. */
static void check_matching(const char *recvs, const char *ended_after_each)
{
	struct goal *goal;
	struct goal_replay *made = replay(&goal,
		"a: send 1b to 1 tag 1\nb: send 1b to 1 tag 2\nc: send 1b to 1 tag 1\nb requires a\n"
		"c requires b",
		recvs);

	assert_int_equal(send_all(made, 0, 0), 3);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t first = goal->rank[1].first;

		assert_true(goal_replay_deliver(made, 1, 0, (1 + i) * NS));
		for (unsigned j = 0; j < 3; j++)
			assert_int_equal((made->state[first + j] == OP_DONE),
				ended_after_each[4 * i + j] == '#');
	}
	assert_true(goal_replay_done(made));
	finish(made, goal);
}

UNIT_TEST(recvs_take_messages_by_source_and_tag_in_their_order)
{
	check_matching(
		"recv 1b from 0 tag 1\nrecv 1b from 0 tag 2\nrecv 1b from 0 tag 1", "#-- ##- ###");
	check_matching(
		"recv 1b from 0 tag 2\nrecv 1b from 0 tag 1\nrecv 1b from 0 tag 1", "-#- ##- ###");
	check_matching("recv 1b from -1 tag 2\nrecv 1b from -1 tag -1\nrecv 1b from 0 tag -1",
		"-#- ##- ###");
	check_matching("recv 1b from 0 tag -1\nrecv 1b from 0 tag -1\nrecv 1b from -1 tag 1",
		"#-- ##- ###");
	/* The first message waits for a recv that starts later. */
	check_matching("a: recv 1b from 0 tag 2\nb: recv 1b from 0 tag 1\nc: recv 1b from 0 tag 1\n"
		       "b requires a\nc requires b",
		"--- ##- ###");
}

UNIT_TEST(a_recv_from_anywhere_takes_from_whoever_comes_first)
{
	static const char text[] =
		"num_ranks 3\nrank 0 {\nsend 1b to 2\n}\nrank 1 {\nsend 1b to 2\n}\n"
		"rank 2 {\nb: recv 1b from 0\na: recv 1b from -1\n}\n";
	struct goal *goal = goal_loop_parse(text);
	struct goal_replay *made = goal_replay_create(&(struct goal_replay_config){.goal = goal});
	uint32_t first = goal->rank[2].first;

	send_all(made, 0, 0);
	send_all(made, 1, 0);
	goal_replay_deliver(made, 2, 1, NS);
	assert_false((made->state[first] == OP_DONE));
	assert_true((made->state[first + 1] == OP_DONE));
	goal_replay_deliver(made, 2, 0, NS);
	assert_true(goal_replay_done(made));
	finish(made, goal);
}

UNIT_TEST(what_was_not_sent_is_not_delivered)
{
	struct goal *goal;
	struct goal_replay *made = replay(&goal, "send 1b to 1", "recv 1b from 0");

	assert_false(goal_replay_deliver(made, 1, 0, 0)); /* not accepted yet */
	assert_false(goal_replay_deliver(made, 0, 1, 0));
	assert_false(goal_replay_deliver(made, 1, 77, 0));
	send_all(made, 0, 0);
	assert_true(goal_replay_deliver(made, 1, 0, 0));
	assert_false(goal_replay_deliver(made, 1, 0, 0));
	finish(made, goal);
}

UNIT_TEST(what_is_left_at_the_end_is_named)
{
	static const struct {
		const char *rank0, *rank1, *message;
	} left[] = {
		{"send 1b to 1 tag 3", "r1: recv 1b from 0 tag 4\nr2: calc 5\nr2 requires r1",
			"rank 1: recv 'r1' (line 6) from 0 tag 4 received no message; 2 operations have "
			"not ended"},
		{"calc 1", "here: recv 1b from -1 tag -1",
			"rank 1: recv 'here' (line 6) from any tag any received no message; 1 operation "
			"has not ended"},
		{"s1: send 1b to 1 tag 3", "",
			"rank 1: no recv took the message of rank 0's send 's1' (line 3)"},
	};

	for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		struct goal *goal;
		struct goal_replay *made = replay(&goal, left[i].rank0, left[i].rank1);
		struct error error = {""};

		send_all(made, 0, PS_PER_US);
		goal_replay_deliver(made, 1, 0, PS_PER_US);
		assert_int_equal(goal_replay_diagnose(made, &error), -EINVAL);
		assert_string_equal(error.text, left[i].message);
		finish(made, goal);
	}
}

UNIT_TEST(what_still_runs_is_named)
{
	struct goal *goal;
	struct goal_replay *made = replay(&goal, "c: calc 100\nd: calc 1\nd requires c", "");
	struct error error = {""};

	assert_int_equal(goal_replay_diagnose(made, &error), -EINVAL);
	assert_string_equal(error.text,
		"rank 0: calc 'c' (line 3) has not ended; 2 operations have "
		"not ended");
	finish(made, goal);
}

/* Long chains of operations that take no time cause neither recursion nor a wait. */
UNIT_TEST(a_long_chain_begins_at_once)
{
	enum { CHAIN = 200000 };
	char *text = malloc(CHAIN * 64 + 256), *at = text;
	struct goal_message message;
	struct goal_replay *made;
	struct goal *goal;

	at += sprintf(at, "num_ranks 2\nrank 1 { }\nrank 0 {\nl0: calc 0\n");
	for (unsigned i = 1; i < CHAIN; i++)
		at += sprintf(at, "l%u: calc 0\nl%u requires l%u\n", i, i, i - 1);
	sprintf(at, "s: send 1b to 1\ns requires l%u\n}\n", CHAIN - 1);
	goal = goal_loop_parse(text);
	made = goal_replay_create(&(struct goal_replay_config){.goal = goal, .start = 7});
	assert_true(goal_replay_poll(made, 0, 7, &message));
	assert_int_equal(message.due_ps, 7);
	finish(made, goal);
	free(text);
}

/* Random programs. Each rank's operations require some earlier ones. Each send has a recv. No recv
 * can wait for an operation that depends on it, because programs are divided into steps. */
static char *random_program(uint64_t seed, uint32_t ranks, uint32_t steps)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "num_ranks %u\n", ranks);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		struct rng own;
		unsigned label = 0;

		rng_init(&own, seed, rank, 1);
		fprintf(out, "rank %u {\n", rank);
		for (uint32_t step = 0; step < steps; step++) {
			/* All ranks draw the same distance for a step. */
			struct rng common;
			unsigned distance, before = label;

			rng_init(&common, seed, 0, 100 + step);
			distance = 1 + (unsigned)rng_below(&common, ranks - 1);
			fprintf(out, "l%u: send %ub to %u tag %u\n", label++,
				(unsigned)rng_below(&own, 9000), (rank + distance) % ranks,
				step % 3);
			if (rng_below(&own, 3) == 0)
				fprintf(out, "l%u: recv 1b from -1 tag %u\n", label++, step % 3);
			else
				fprintf(out, "l%u: recv 1b from %u tag %u\n", label++,
					(rank + ranks - distance) % ranks, step % 3);
			fprintf(out, "l%u: calc %u cpu %u\n", label++,
				(unsigned)rng_below(&own, 3000), (unsigned)rng_below(&own, 2));
			for (unsigned i = 0; i < 3 && before > 0; i++)
				fprintf(out, "l%u %srequires l%u\n", before + i,
					rng_below(&own, 4) == 0 ? "i" : "", before - 1 - i);
			/* A step ends when all of its operations have ended, so wildcards cannot
			 * take messages of the next one. */
			fprintf(out, "l%u: calc 0\n", label++);
			for (unsigned i = 0; i < 3; i++)
				fprintf(out, "l%u requires l%u\n", label - 1, before + i);
			for (unsigned i = 0; i < 3 && step > 0; i++)
				fprintf(out, "l%u requires l%u\n", before + i, before - 1);
		}
		fputs("}\n", out);
	}
	fclose(out);
	return text;
}

UNIT_TEST(random_programs_end_with_their_order_kept)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		char *text = random_program(seed, 2 + (uint32_t)(seed % 7), 8);
		struct goal *goal = goal_loop_parse(text);
		struct error error = {""};
		struct goal_loop loop;

		goal_loop_init(&loop, goal, seed);
		goal_loop_run(&loop);
		goal_replay_diagnose(loop.replay, &error);
		assert_string_equal(error.text, "");
		assert_int_equal(goal_replay_count(loop.replay), goal->ops);
		goal_loop_fini(&loop);
		goal_destroy(goal);
		free(text);
	}
}

/* Rank 0 sends twice to rank 1, which answers once. */
static struct goal_replay *replay_exchange(struct goal **goal)
{
	return replay(goal, "a: send 8b to 1 tag 1\nb: send 8b to 1 tag 2\nr: recv 8b from 1 tag 3",
		"a: recv 8b from 0 tag 1\nb: recv 8b from 0 tag 2\ns: send 8b to 0 tag 3\n"
		"s requires b");
}

UNIT_TEST(copies_in_two_processes_tell_each_other_what_was_accepted)
{
	struct goal *goal[2];
	struct goal_replay *made[2] = {replay_exchange(&goal[0]), replay_exchange(&goal[1])};
	struct goal_message message;

	assert_int_equal(send_all(made[0], 0, 0), 2);
	assert_false(goal_replay_deliver(made[1], 1, 0, 5 * NS)); /* it does not have them */
	assert_true(goal_replay_accept_elsewhere(made[1], 0));
	assert_true(goal_replay_accept_elsewhere(made[1], 1));
	assert_true(goal_replay_deliver(made[1], 1, 0, 5 * NS));
	assert_true(goal_replay_deliver(made[1], 1, 0, 6 * NS));
	assert_true(goal_replay_poll(made[1], 1, 6 * NS, &message));
	goal_replay_accept(made[1], 1, 6 * NS);
	assert_true(goal_replay_accept_elsewhere(made[0], message.op));
	assert_true(goal_replay_deliver(made[0], 0, 1, 9 * NS));
	assert_true(goal_replay_host_done(made[0], 0));
	assert_true(goal_replay_host_done(made[1], 1));
	for (unsigned i = 0; i < 2; i++)
		finish(made[i], goal[i]);
}

/* The end of a rank of 'from' is copied to the copy. */
static void copy_end(struct goal_replay *from, struct goal_replay *to, uint32_t rank)
{
	struct goal_replay_end end = goal_replay_end(from, rank);
	size_t count, same;
	const uint8_t *states = goal_replay_states(from, rank, &count);

	memcpy(goal_replay_states(to, rank, &same), states, count);
	assert_int_equal(count, same);
	goal_replay_set_end(to, rank, &end);
}

UNIT_TEST(a_copy_names_what_another_process_has_left)
{
	struct goal *goal[2];
	struct goal_replay *made[2] = {replay_exchange(&goal[0]), replay_exchange(&goal[1])};
	struct error error = {""};

	send_all(made[0], 0, 3 * NS);
	goal_replay_accept_elsewhere(made[1], 0);
	goal_replay_deliver(made[1], 1, 0, 5 * NS);
	copy_end(made[1], made[0], 1);
	assert_int_equal(goal_replay_count(made[0]), 3);
	assert_int_equal(goal_replay_ended(made[0]), 5 * NS);
	assert_true(goal_replay_diagnose(made[0], &error) < 0);
	assert_string_equal(error.text,
		"rank 0: recv 'r' (line 5) from 1 tag 3 received no message; 3 operations have not "
		"ended");
	for (unsigned i = 0; i < 2; i++)
		finish(made[i], goal[i]);
}

UNIT_TEST(nothing_is_accepted_elsewhere_that_a_rank_does_not_send)
{
	struct goal *goal;
	struct goal_replay *made = replay_exchange(&goal);

	assert_false(goal_replay_accept_elsewhere(made, goal->ops));
	assert_false(goal_replay_accept_elsewhere(made, 2)); /* a recv */
	assert_true(goal_replay_accept_elsewhere(made, 0));
	assert_true(goal_replay_accept_elsewhere(made, 0));
	assert_false(goal_replay_accept_elsewhere(made, 0)); /* rank 0 sends two */
	finish(made, goal);
}

/* --- several ranks on a host --- */

static struct goal_replay *placed(const struct goal *goal, const uint16_t *host_of, uint32_t hosts,
	uint64_t copy_rate_bps, uint64_t piece_bytes)
{
	const struct goal_replay_config config = {.goal = goal,
		.host_of = host_of,
		.hosts = hosts,
		.copy_rate_bps = copy_rate_bps,
		.piece_bytes = piece_bytes};

	return goal_replay_create(&config);
}

UNIT_TEST(messages_within_a_host_are_copied_one_at_a_time)
{
	static const uint16_t host_of[] = {0, 0, 0};
	struct goal *goal =
		goal_loop_parse("num_ranks 3\nrank 0 {\nsend 1000b to 1\nsend 1000b to 0\n"
				"recv 1000b from 0\n}\nrank 1 {\nrecv 1000b from 0\n}\n"
				"rank 2 {\nrecv 500b from 2\nsend 500b to 2\n}\n");
	struct goal_replay *made = placed(goal, host_of, 1, 8000000000, 0); /* a byte per ns */
	struct goal_message message;

	assert_false(goal_replay_poll(made, 0, 0, &message));
	assert_int_equal(goal_replay_next(made, 0), 1000 * NS);
	assert_false(goal_replay_poll(made, 0, 2500 * NS - 1, &message));
	assert_false(goal_replay_host_done(made, 0));
	assert_false(goal_replay_poll(made, 0, 2500 * NS, &message));
	assert_true(goal_replay_done(made));
	assert_true(goal_replay_host_done(made, 0));
	assert_int_equal(goal_replay_end(made, 1).ended_ps, 1000 * NS);
	assert_int_equal(goal_replay_end(made, 0).ended_ps, 2000 * NS);
	assert_int_equal(goal_replay_end(made, 2).ended_ps, 2500 * NS);
	assert_int_equal(goal_replay_diagnose(made, NULL), 0);
	finish(made, goal);
}

/* The network keeps order between hosts, not between ranks. That order gives a message its rank. */
UNIT_TEST(a_message_finds_its_rank_among_those_of_the_host)
{
	static const uint16_t host_of[] = {2, 2, 5, 5};
	struct goal *goal = goal_loop_parse(
		"num_ranks 4\nrank 0 {\na: calc 10\nb: send 1b to 3\nb requires a\n}\n"
		"rank 1 {\nsend 1b to 2\n}\nrank 2 {\nrecv 1b from 1\n}\nrank 3 {\nrecv 1b from 0\n}\n");
	struct goal_replay *made = placed(goal, host_of, 6, 0, 0);
	struct goal_message message;

	assert_true(goal_replay_poll(made, 2, 0, &message));
	assert_int_equal(message.to, 5);
	goal_replay_accept(made, 2, 0);
	assert_true(goal_replay_poll(made, 2, 10 * NS, &message));
	goal_replay_accept(made, 2, 10 * NS);
	assert_true(goal_replay_deliver(made, 5, 2, 20 * NS));
	assert_int_equal(goal_replay_end(made, 2).ended_ps, 20 * NS);
	assert_int_equal(goal_replay_end(made, 3).ended, 0);
	assert_true(goal_replay_deliver(made, 5, 2, 30 * NS));
	assert_true(goal_replay_done(made));
	assert_true(goal_replay_host_done(made, 0)); /* has no rank */
	finish(made, goal);
}

/* Three operations of one CPU, 10 ns each. d waits once, until the CPU starts b. */
UNIT_TEST(overheads_take_turns_on_their_cpu)
{
	struct goal *goal =
		goal_loop_parse("num_ranks 2\nrank 0 {\na: send 8b to 1\nb: send 8b to 1\n"
				"c: recv 8b from 1\nd: calc 5 cpu 1\nd irequires b\n}\n"
				"rank 1 {\nrecv 8b from 0\nrecv 8b from 0\nsend 8b to 0\n}\n");
	const struct goal_replay_config config = {.goal = goal, .overhead_ps = 10 * NS};
	struct goal_replay *made = goal_replay_create(&config);
	struct goal_message message;

	assert_false(goal_replay_poll(made, 0, 9 * NS, &message));
	assert_int_equal(goal_replay_next(made, 0), 10 * NS);
	assert_true(goal_replay_poll(made, 0, 10 * NS, &message));
	assert_int_equal(message.due_ps, 10 * NS);
	goal_replay_accept(made, 0, 10 * NS);
	assert_true(goal_replay_poll(made, 1, 10 * NS, &message));
	goal_replay_accept(made, 1, 10 * NS);
	/* c gets its message while b has the CPU, and ends after b's overhead and its own. */
	assert_true(goal_replay_deliver(made, 0, 1, 12 * NS));
	assert_true(goal_replay_poll(made, 0, 20 * NS, &message));
	assert_int_equal(message.due_ps, 20 * NS);
	goal_replay_accept(made, 0, 20 * NS);
	assert_false(goal_replay_poll(made, 0, 30 * NS, &message));
	assert_true(goal_replay_host_done(made, 0));
	assert_int_equal(goal_replay_end(made, 0).ended_ps, 30 * NS);
	assert_true(goal_replay_deliver(made, 1, 0, 40 * NS));
	assert_true(goal_replay_deliver(made, 1, 0, 41 * NS));
	assert_false(goal_replay_poll(made, 1, 60 * NS, &message));
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_ended(made), 60 * NS);
	finish(made, goal);
}

UNIT_TEST(a_copy_waits_for_the_overhead_of_its_send_and_ends_with_that_of_its_recv)
{
	struct goal *goal =
		goal_loop_parse("num_ranks 1\nrank 0 {\na: send 100b to 0\nb: recv 100b from 0\n"
				"c: calc 1 cpu 1\nc irequires a\n}\n");
	const struct goal_replay_config config = {
		.goal = goal, .overhead_ps = 10 * NS, .copy_rate_bps = 8000000000};
	struct goal_replay *made = goal_replay_create(&config);
	struct goal_message message;

	assert_false(goal_replay_poll(made, 0, 200 * NS, &message));
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_ended(made), (10 + 100 + 10) * NS);
	assert_int_equal(goal_replay_diagnose(made, NULL), 0);
	finish(made, goal);
}

UNIT_TEST(messages_of_a_host_are_a_gap_apart)
{
	struct goal *goal = goal_loop_parse("num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 8b to 1\n}\n"
					    "rank 1 {\nrecv 8b from 0\nrecv 8b from 0\n}\n");
	const struct goal_replay_config config = {.goal = goal, .gap_ps = 50 * NS};
	struct goal_replay *made = goal_replay_create(&config);
	struct goal_message message;

	assert_true(goal_replay_poll(made, 0, 3 * NS, &message));
	goal_replay_accept(made, 0, 3 * NS);
	assert_int_equal(goal_replay_next(made, 0), 53 * NS);
	assert_false(goal_replay_poll(made, 0, 53 * NS - 1, &message));
	assert_true(goal_replay_poll(made, 0, 53 * NS, &message));
	finish(made, goal);
}

/* A message of 1,000 bytes from rank 0 to 1, whose recv starts after 'calc_ns'. */
static struct goal_replay *asking(struct goal **goal, unsigned calc_ns, uint64_t rendezvous)
{
	char text[256];

	snprintf(text, sizeof(text),
		"num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nc: calc %u\n"
		"r: recv 1000b from 0\nr requires c\n}\n",
		calc_ns);
	*goal = goal_loop_parse(text);
	return goal_replay_create(&(struct goal_replay_config){
		.goal = *goal, .copy_rate_bps = 8000000000, .rendezvous_bytes = rendezvous});
}

/* Accepts what the host must send at 'now', and delivers it 10 ns later. */
static uint64_t pass_on(struct goal_replay *made, uint32_t host, weft_time now)
{
	struct goal_message message;

	assert_true(goal_replay_poll(made, host, now, &message));
	assert_int_equal(message.to, 1 - host);
	goal_replay_accept(made, host, now);
	assert_true(goal_replay_deliver(made, message.to, host, now + 10 * NS));
	return message.bytes;
}

UNIT_TEST(a_long_message_asks_and_leaves_when_a_recv_takes_it)
{
	struct goal_message message;
	struct goal *goal;
	struct goal_replay *made = asking(&goal, 100, 999);

	assert_int_equal(pass_on(made, 0, 0), 0);
	assert_false(goal_replay_poll(made, 0, 50 * NS, &message));
	assert_false(goal_replay_poll(made, 1, 50 * NS, &message));
	assert_int_equal(goal_replay_next(made, 1), 100 * NS);
	assert_int_equal(pass_on(made, 1, 100 * NS), 0);
	assert_int_equal(goal_replay_end(made, 0).ended, 0);
	assert_int_equal(pass_on(made, 0, 110 * NS), 1000);
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_end(made, 0).ended_ps, 110 * NS);
	assert_int_equal(goal_replay_end(made, 1).ended_ps, 120 * NS);
	finish(made, goal);
}

UNIT_TEST(a_short_message_does_not_ask_and_is_copied_when_a_recv_has_it)
{
	struct goal *goal;
	struct goal_replay *made = asking(&goal, 100, 1000);
	struct goal_message message;

	assert_int_equal(pass_on(made, 0, 0), 1000);
	assert_false(goal_replay_poll(made, 1, 1099 * NS, &message));
	assert_false(goal_replay_done(made));
	/* 1,000 bytes at 8 Gbit/s. */
	assert_false(goal_replay_poll(made, 1, 1100 * NS, &message));
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_end(made, 1).ended_ps, 1100 * NS);
	finish(made, goal);
}

UNIT_TEST(requests_of_a_pair_are_answered_in_the_order_of_the_recvs)
{
	struct goal *goal = goal_loop_parse(
		"num_ranks 2\nrank 0 {\nsend 2000b to 1 tag 1\nsend 3000b to 1 tag 2\n}\n"
		"rank 1 {\nb: recv 3000b from 0 tag 2\na: recv 2000b from 0 tag 1\n"
		"a requires b\n}\n");
	struct goal_replay *made = goal_replay_create(
		&(struct goal_replay_config){.goal = goal, .rendezvous_bytes = 1});

	assert_int_equal(pass_on(made, 0, 0), 0);
	assert_int_equal(pass_on(made, 0, 20 * NS), 0);
	assert_int_equal(pass_on(made, 1, 40 * NS), 0);
	assert_int_equal(pass_on(made, 0, 60 * NS), 3000);
	assert_int_equal(pass_on(made, 1, 80 * NS), 0);
	assert_int_equal(pass_on(made, 0, 100 * NS), 2000);
	assert_true(goal_replay_done(made));
	finish(made, goal);
}

/* One piece each. The second message to 1 waits for the first. */
UNIT_TEST(destinations_take_turns)
{
	struct goal *goal =
		goal_loop_parse("num_ranks 3\nrank 0 {\nsend 2500b to 1\nsend 10b to 1\n"
				"send 1500b to 2\n}\nrank 1 {\nrecv 2500b from 0\n"
				"recv 10b from 0\n}\nrank 2 {\nrecv 1500b from 0\n}\n");
	const struct goal_replay_config config = {
		.goal = goal, .piece_bytes = 1000, .interleave = true};
	static const struct {
		uint32_t op, to;
		uint64_t bytes;
	} turn[] = {{0, 1, 1000}, {2, 2, 1000}, {0, 1, 1000}, {2, 2, 500}, {0, 1, 500}, {1, 1, 10}};
	struct goal_replay *made = goal_replay_create(&config);
	struct goal_message message;

	for (unsigned i = 0; i < 6; i++) {
		assert_true(goal_replay_poll(made, 0, i * NS, &message));
		assert_int_equal(message.op, turn[i].op);
		assert_int_equal(message.to, turn[i].to);
		assert_int_equal(message.bytes, turn[i].bytes);
		goal_replay_accept(made, 0, i * NS);
		assert_true(goal_replay_deliver(made, turn[i].to, 0, (i + 5) * NS));
	}
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_end(made, 2).ended_ps, 8 * NS);
	finish(made, goal);
}

UNIT_TEST(a_long_message_goes_in_pieces_and_arrives_with_the_last)
{
	struct goal *goal =
		goal_loop_parse("num_ranks 2\nrank 0 {\na: send 2500b to 1\nb: calc 1\nb "
				"requires a\n}\nrank 1 {\nrecv 2500b from 0\n}\n");
	struct goal_replay *made = placed(goal, NULL, 0, 0, 1000);
	static const uint64_t pieces[] = {1000, 1000, 500};
	struct goal_message message;

	for (unsigned i = 0; i < 3; i++) {
		assert_true(goal_replay_poll(made, 0, i * NS, &message));
		assert_int_equal(message.bytes, pieces[i]);
		assert_int_equal(message.first, i == 0);
		assert_int_equal(message.due_ps, 0);
		goal_replay_accept(made, 0, i * NS);
		assert_false(goal_replay_host_done(made, 1));
		assert_true(goal_replay_deliver(made, 1, 0, (i + 5) * NS));
	}
	assert_false(goal_replay_poll(made, 0, 3 * NS, &message));
	assert_true(goal_replay_done(made));
	assert_int_equal(goal_replay_ended(made), 7 * NS);
	finish(made, goal);
}

UNIT_TEST(a_calc_of_centuries_does_not_overflow)
{
	struct goal *goal = goal_loop_parse("num_ranks 1\nrank 0 {\ncalc 9223372036854775808\n}\n");
	struct goal_replay *made = placed(goal, NULL, 0, 0, 0);
	struct goal_message message;

	assert_int_equal(goal_replay_next(made, 0), WEFT_TIME_NEVER - 1);
	assert_false(goal_replay_poll(made, 0, 1000000 * PS_PER_S, &message));
	assert_false(goal_replay_done(made));
	finish(made, goal);
}

/* A network that keeps the order between two hosts. */
struct pipe_network {
	uint32_t to[4096], from[4096];
	uint64_t bytes[4096];
	uint32_t count;
};

/* Moves everything that is due, and delivers a message drawn from the oldest messages of all
 * hosts. */
static bool pipe_step(struct pipe_network *net, struct goal_replay *replay, struct rng *rng,
	weft_time now, uint64_t *moved)
{
	bool acted = false;
	struct goal_message message;
	uint32_t i;

	for (uint32_t host = 0; host < replay->hosts; host++)
		while (net->count < 4096 && rng_below(rng, 4) != 0 &&
			goal_replay_poll(replay, host, now, &message)) {
			net->from[net->count] = host;
			net->to[net->count] = message.to;
			net->bytes[net->count++] = message.bytes;
			goal_replay_accept(replay, host, now);
			acted = true;
		}
	if (net->count == 0)
		return acted;
	i = (uint32_t)rng_below(rng, net->count);
	for (uint32_t j = 0; j < i; j++)
		if (net->from[j] == net->from[i] && net->to[j] == net->to[i])
			i = j;
	assert_true(goal_replay_deliver(replay, net->to[i], net->from[i], now));
	*moved += net->bytes[i];
	net->count--;
	for (; i < net->count; i++) {
		net->from[i] = net->from[i + 1];
		net->to[i] = net->to[i + 1];
		net->bytes[i] = net->bytes[i + 1];
	}
	return true;
}

/* Bytes of the schedule that leave their host. */
static uint64_t bytes_between_hosts(const struct goal *goal, const uint16_t *host_of)
{
	uint64_t bytes = 0;

	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		for (uint32_t i = 0; i < goal->rank[rank].count; i++) {
			const struct goal_op *op = &goal->op[goal->rank[rank].first + i];

			if (op->kind == GOAL_SEND && host_of[op->peer] != host_of[rank])
				bytes += op->amount;
		}
	return bytes;
}

static char *draw_schedule(struct rng *rng, uint32_t ranks)
{
	char *text = NULL, *lines[16] = {NULL};
	size_t length, lengths[16];
	FILE *out = open_memstream(&text, &length), *rank[16];

	for (uint32_t i = 0; i < ranks; i++)
		rank[i] = open_memstream(&lines[i], &lengths[i]);
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t from = (uint32_t)rng_below(rng, ranks);
		uint32_t to = (uint32_t)rng_below(rng, ranks);
		uint32_t bytes = (uint32_t)rng_below(rng, 5000);

		fprintf(rank[from], "s%u: send %ub to %u tag %u cpu %u\n", i, bytes, to, i,
			(uint32_t)rng_below(rng, 65536));
		fprintf(rank[to],
			"r%u: recv %ub from %u tag %u\nc%u: calc %u cpu %u\nc%u requires r%u\n", i,
			bytes, from, i, i, (uint32_t)rng_below(rng, 900),
			(uint32_t)rng_below(rng, 3) * 9999, i, i);
	}
	fprintf(out, "num_ranks %u\n", ranks);
	for (uint32_t i = 0; i < ranks; i++) {
		fclose(rank[i]);
		if (lengths[i] > 0)
			fprintf(out, "rank %u {\n%s}\n", i, lines[i]);
		free(lines[i]);
	}
	fclose(out);
	return text;
}

UNIT_TEST(any_placement_and_any_piece_ends_the_same_schedule)
{
	struct rng rng;

	rng_init(&rng, 20261129, 0, 0);
	for (unsigned i = 0; i < 300; i++) {
		uint32_t ranks = 1 + (uint32_t)rng_below(&rng, 16);
		uint32_t hosts = 1 + (uint32_t)rng_below(&rng, 6);
		char *text = draw_schedule(&rng, ranks);
		struct goal *goal = goal_loop_parse(text);
		struct pipe_network *net = calloc(1, sizeof(*net));
		uint64_t moved = 0, piece = 1 + rng_below(&rng, 6000);
		uint16_t host_of[16];
		struct goal_replay *made;

		for (uint32_t rank = 0; rank < ranks; rank++)
			host_of[rank] = (uint16_t)rng_below(&rng, hosts);
		made = goal_replay_create(&(struct goal_replay_config){.goal = goal,
			.host_of = host_of,
			.hosts = hosts,
			.copy_rate_bps = 1 + rng_below(&rng, 1000000000),
			.piece_bytes = piece,
			.rendezvous_bytes = rng_below(&rng, 3) * 2000});
		for (weft_time now = 0; !goal_replay_done(made); now += PS_PER_MS) {
			assert_true(now < 60000 * PS_PER_MS);
			pipe_step(net, made, &rng, now, &moved);
		}
		assert_int_equal(net->count, 0);
		assert_int_equal(goal_replay_count(made), goal->ops);
		assert_int_equal(goal_replay_diagnose(made, NULL), 0);
		assert_int_equal(moved, bytes_between_hosts(goal, host_of));
		for (uint32_t host = 0; host < hosts; host++)
			assert_true(goal_replay_host_done(made, host));
		free(net);
		free(text);
		finish(made, goal);
	}
}
