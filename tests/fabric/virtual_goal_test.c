/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Schedules in GOAL on the virtual clock. Times are checked to the picosecond, and generated
 * exchanges are run to their end. */

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "goal/goal_generate.h"
#include "virtual_lab.h"
#include "wire/frame.h"

struct outcome {
	struct run_result result;
	struct error judgement;
	int judged;
};

static void write_file(char *path, const char *contents)
{
	int file;

	strcpy(path, "/tmp/weft-virtual-goal-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, contents, strlen(contents)), strlen(contents));
	close(file);
}

/* A fat tree of 32 hosts, 4 per leaf. The schedule may be followed by other entries of the list. */
static void write_text(char text[1024], const char *path, const char *start, const char *beside)
{
	snprintf(text, 1024,
		"weft: run/1\ntopology: \"rlft:ports=8,stages=2\"\nclock: virtual\n"
		"link: {rate: 100Gbps, delay: 30ns}\nswitch: {buffer: 32KiB, mtu: 4KiB}\n"
		"routing: {algorithm: dmodk, mode: table}\n"
		"measure: {duration: 10ms, sample: 100us}\n"
		"traffic: [{pattern: goal, file: %s, start: %s}%s]\n",
		path, start, beside);
}

static struct outcome run_set(const char *schedule, const char *start, const char *beside,
	const char *const *set, unsigned sets)
{
	struct outcome outcome = {.judged = 0};
	struct virtual_lab lab;
	char path[32], text[1024];

	write_file(path, schedule);
	write_text(text, path, start, beside);
	virtual_lab_open(&lab, text, set, sets);
	virtual_lab_run(&lab);
	outcome.judged = virtual_fabric_check_complete(lab.fabric, &outcome.judgement);
	outcome.result = lab.result;
	memset(&lab.result, 0, sizeof(lab.result));
	virtual_lab_close(&lab);
	unlink(path);
	return outcome;
}

static struct outcome run_beside(const char *schedule, const char *start, const char *beside)
{
	return run_set(schedule, start, beside, NULL, 0);
}

static struct outcome run(const char *schedule, const char *start)
{
	return run_beside(schedule, start, "");
}

#define LINK_PS      (30 * PS_PER_NS)
#define FRAME_PS(n)  ((FRAME_HEADER_BYTES + (n) + FRAME_WIRE_OVERHEAD) * (weft_time)80)
#define SAME_LEAF(n) (2 * LINK_PS + FRAME_PS(n)) /* cut-through: host, switch, host */

UNIT_TEST(there_and_back_takes_what_the_formula_says)
{
	static const char schedule[] =
		"num_ranks 2\n"
		"rank 0 {\nc: calc 100\ns: send 1000b to 1 tag 1\ns requires c\n"
		"r: recv 500b from 1 tag 2\n}\n"
		"rank 1 {\nr: recv 1000b from 0 tag 1\nc: calc 70\nc requires r\n"
		"s: send 500b to 0 tag 2\ns requires c\n}\n";
	struct outcome outcome = run(schedule, "0ns");

	assert_int_equal(outcome.judged, 0);
	assert_int_equal(result_counter(&outcome.result, "goal_operations"), 6);
	assert_int_equal(result_counter(&outcome.result, "goal_unfinished"), 0);
	assert_int_equal(result_counter(&outcome.result, "goal_completion_ns"),
		100 + 70 + (SAME_LEAF(1000) + SAME_LEAF(500)) / PS_PER_NS);
	run_result_free(&outcome.result);
	/* Counted from its start. */
	outcome = run(schedule, "3us");
	assert_int_equal(result_counter(&outcome.result, "goal_completion_ns"),
		100 + 70 + (SAME_LEAF(1000) + SAME_LEAF(500)) / PS_PER_NS);
	run_result_free(&outcome.result);
}

/* Runs flows. 'network' contains the lines for topology and routing. */
static void run_flows(struct virtual_lab *lab, const char *network, const char *flows)
{
	char path[32], text[1024];

	write_file(path, flows);
	snprintf(text, sizeof(text),
		"weft: run/1\n%sclock: virtual\n"
		"traffic: [{pattern: flows, file: %s}]\n",
		network, path);
	virtual_lab_open(lab, text, NULL, 0);
	virtual_lab_run(lab);
	unlink(path);
}

UNIT_TEST(flows_that_do_not_complete_are_named_as_flows)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;

	run_flows(&lab,
		"topology: \"rlft:ports=8,stages=2,rate=100Gbps\"\nmeasure: {duration: 20us}\n",
		"h0 h7 0 2000000\n");
	assert_int_equal(virtual_fabric_check_complete(lab.fabric, &error), -EINVAL);
	assert_string_equal(error.text,
		"flows did not complete by the end of the run; use a longer measure.duration");
}

UNIT_TEST(shares_of_flows_are_of_the_links_of_the_hosts_that_send)
{
	OWNED(virtual_lab) lab;
	const struct run_result *result = &lab.result;

	run_flows(&lab, "topology: \"full:switches=1,hosts=8\"\n",
		"h0 h5 0 200000\nh0 h6 0 200000\nh1 h0 0 100000\n");
	assert_int_equal(result->entry[0].senders, 2);
	assert_int_equal(result->entry[0].flows, 2);
	assert_true(result->accepted > 0);
	assert_float_equal(result->entry[0].accepted * 2, result->accepted * 8, 1e-12);
}

/* The formula for the empty network, on which slowdowns are based, is exact. */
UNIT_TEST(a_flow_alone_has_a_slowdown_of_one)
{
	/* With shortest paths and without source routes. */
	static const char *const networks[] = {"topology: \"rlft:ports=8,stages=3,rate=100Gbps\"\n"
					       "routing: {algorithm: dmodk, mode: table}\n",
		"topology: \"mesh:dims=4x4,hosts=2,delay=3us\"\n"
		"routing: {algorithm: dor, mode: table}\nswitch: {routing-delay: 100ns}\n",
		"topology: \"full:switches=8,hosts=4,rate=400Gbps\"\n"
		"routing: {algorithm: ud, mode: table}\n"};
	struct rng rng;

	rng_init(&rng, 20261129, 0, 0);
	for (unsigned i = 0; i < 12; i++) {
		char text[1024] = "";
		OWNED(virtual_lab) lab;

		for (unsigned flow = 0; flow < 12; flow++)
			snprintf(text + strlen(text), 80, "%u %u %ums %u\n",
				(unsigned)rng_below(&rng, 32), (unsigned)rng_below(&rng, 32),
				20 * flow, 1 + (unsigned)rng_below(&rng, 300000));
		run_flows(&lab, networks[i % 3], text);
		assert_int_equal(lab.result.flows, 12);
		for (unsigned flow = 0; flow < 12; flow++) {
			const struct run_result_flow *at = &lab.result.flow[flow];

			assert_int_equal(at->start_ps, 20 * flow * PS_PER_MS);
			assert_true(
				fabs((double)at->completion_ps / PS_PER_NS - at->alone_ns) < 0.01);
		}
	}
}

UNIT_TEST(flows_take_as_long_as_the_schedule_that_says_the_same)
{
	static const char schedule[] =
		"num_ranks 8\nrank 0 {\na: send 2000000b to 7 tag 1\n}\n"
		"rank 1 {\na: calc 50000\nb: send 2000000b to 7 tag 2\nb requires a\n}\n"
		"rank 7 {\nrecv 2000000b from 0 tag 1\nrecv 2000000b from 1 tag 2\n}\n";
	struct outcome outcome = run(schedule, "0ns");
	struct virtual_lab lab;
	weft_time last;

	run_flows(&lab,
		"topology: \"rlft:ports=8,stages=2,rate=100Gbps\"\n"
		"switch: {buffer: 32KiB, mtu: 4KiB}\nrouting: {algorithm: dmodk, mode: table}\n",
		"h0 h7 0 2000000\nh1 h7 50us 2000000\n");
	assert_int_equal(result_counter(&lab.result, "goal_completion_ns"),
		result_counter(&outcome.result, "goal_completion_ns"));
	last = lab.result.flow[1].start_ps + lab.result.flow[1].completion_ps;
	if (lab.result.flow[0].completion_ps > last)
		last = lab.result.flow[0].completion_ps;
	assert_int_equal(ps_to_ns(last), result_counter(&lab.result, "goal_completion_ns"));
	virtual_lab_close(&lab);
	run_result_free(&outcome.result);
}

#define COPY_PS(n) ((n) * (weft_time)100) /* 80 Gbps */

UNIT_TEST(ranks_of_a_host_copy_and_only_others_use_the_network)
{
	static const char schedule[] =
		"num_ranks 3\n"
		"rank 0 {\ns: send 1000b to 1\nt: send 200b to 0 tag 1\nt requires s\n"
		"u: recv 200b from 0 tag 1\nv: send 500b to 2\nv requires u\n}\n"
		"rank 1 {\nrecv 1000b from 0\n}\nrank 2 {\nrecv 500b from 0\n}\n";
	static const char *const set[] = {"traffic.0.ranks-per-host=2"};
	struct outcome outcome = run_set(schedule, "0ns", "", set, 1);

	assert_int_equal(outcome.judged, 0);
	assert_int_equal(outcome.result.messages.delivered, 1);
	assert_int_equal(result_counter(&outcome.result, "goal_completion_ns"),
		ps_to_ns(COPY_PS(1000) + COPY_PS(200) + SAME_LEAF(500)));
	run_result_free(&outcome.result);
}

#define CONTROL_PS SAME_LEAF(16) /* a request or an answer */

/* S of LogGP: the request waits for the recv, and the answer starts the message. */
UNIT_TEST(a_message_above_the_rendezvous_asks_first)
{
	static const char schedule[] =
		"num_ranks 2\nrank 0 {\ns: send 4000b to 1\n}\n"
		"rank 1 {\nc: calc %u\nr: recv 4000b from 0\nr requires c\n}\n";
	static const struct {
		const char *rendezvous, *overhead;
		unsigned calc;
		weft_time ps;
	} cases[] = {
		{"host.rendezvous=3999B", "host.overhead=0ns", 0, 2 * CONTROL_PS + SAME_LEAF(4000)},
		{"host.rendezvous=3999B", "host.overhead=0ns", 9000,
			9000 * PS_PER_NS + CONTROL_PS + SAME_LEAF(4000)},
		{"host.rendezvous=3999B", "host.overhead=100ns", 0,
			2 * CONTROL_PS + SAME_LEAF(4000) + 200 * PS_PER_NS},
		{"host.rendezvous=4000B", "host.overhead=0ns", 0, SAME_LEAF(4000) + COPY_PS(4000)},
		{"host.rendezvous=4000B", "host.overhead=0ns", 9000,
			9000 * PS_PER_NS + COPY_PS(4000)},
		{"host.rendezvous=4000B", "host.overhead=100ns", 0,
			SAME_LEAF(4000) + COPY_PS(4000) + 200 * PS_PER_NS},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const set[] = {cases[i].rendezvous, cases[i].overhead};
		struct outcome outcome;
		char text[256];

		snprintf(text, sizeof(text), schedule, cases[i].calc);
		outcome = run_set(text, "0ns", "", set, 2);
		assert_int_equal(outcome.judged, 0);
		assert_int_equal(result_counter(&outcome.result, "goal_completion_ns"),
			ps_to_ns(cases[i].ps));
		run_result_free(&outcome.result);
	}
}

/* A message longer than RUN_MESSAGE_MAX takes as long as messages of that length and one with the
 * remainder. */
UNIT_TEST(a_message_in_pieces_takes_as_long_as_its_pieces)
{
	static const char whole[] = "num_ranks 2\nrank 0 {\nsend 67118864b to 1\n}\n"
				    "rank 1 {\nrecv 67118864b from 0\n}\n";
	static const char pieces[] =
		"num_ranks 2\nrank 0 {\nsend 67108864b to 1\nsend 10000b to 1\n}\n"
		"rank 1 {\nrecv 67108864b from 0\nrecv 10000b from 0\n}\n";
	struct outcome one = run(whole, "0ns"), two = run(pieces, "0ns");

	assert_int_equal(one.judged, 0);
	assert_int_equal(one.result.messages.delivered, 2);
	assert_int_equal(result_counter(&one.result, "goal_operations"), 2);
	assert_int_equal(result_counter(&one.result, "goal_completion_ns"),
		result_counter(&two.result, "goal_completion_ns"));
	run_result_free(&one.result);
	run_result_free(&two.result);
}

/* A message of several frames has arrived when its last frame has. The next message leaves after
 * it. */
UNIT_TEST(messages_of_several_frames_arrive_with_their_last_one)
{
	static const char schedule[] =
		"num_ranks 2\nrank 0 {\nsend 10000b to 1\nsend 100b to 1 tag 1\n}\n"
		"rank 1 {\nrecv 100b from 0 tag 1\nrecv 10000b from 0\n}\n";
	struct outcome outcome = run(schedule, "0ns");

	assert_int_equal(outcome.judged, 0);
	assert_int_equal(result_counter(&outcome.result, "goal_completion_ns"),
		(2 * LINK_PS + 2 * FRAME_PS(4096) + FRAME_PS(10000 - 2 * 4096) + FRAME_PS(100)) /
			PS_PER_NS);
	run_result_free(&outcome.result);
}

UNIT_TEST(the_generated_exchanges_end_the_same_way_each_time)
{
	static const struct {
		const char *kind;
		uint32_t ranks;
	} exchanges[] = {{"allreduce", 32}, {"allreduce", 27}, {"alltoall", 32}, {"transpose", 25},
		{"halo", 32}, {"sweep", 30}, {"multigrid", 32}, {"ring", 32}};

	for (unsigned i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++) {
		const struct goal_generate_config config = {
			exchanges[i].kind, exchanges[i].ranks, 10000, 2, 500};
		struct outcome first, second;
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		assert_int_equal(goal_generate(&config, out, NULL), 0);
		fclose(out);
		first = run(text, "0ns");
		second = run(text, "0ns");
		assert_int_equal(first.judged, 0);
		assert_int_equal(first.result.messages.generated, first.result.messages.delivered);
		assert_true(first.result.messages.delivered > 0);
		assert_int_equal(first.result.fingerprint, second.result.fingerprint);
		assert_int_equal(result_counter(&first.result, "goal_completion_ns"),
			result_counter(&second.result, "goal_completion_ns"));
		run_result_free(&first.result);
		run_result_free(&second.result);
		free(text);
	}
}

/* Completion time on a crossbar, where the only contention is on the hosts' own links. */
static double complete_on_crossbar(const struct goal_generate_config *config, const char *overhead)
{
	struct virtual_lab lab;
	char path[32], run[1024], *text = NULL;
	struct error error = {""};
	double completion;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(goal_generate(config, out, &error), 0);
	fclose(out);
	write_file(path, text);
	snprintf(run, sizeof(run),
		"weft: run/1\ntopology: \"full:switches=1,hosts=16,rate=100Gbps\"\nclock: virtual\n"
		"switch: {buffer: 128KiB, mtu: 4KiB, voq: true}\nnic: {mtu: 4KiB}\n"
		"host: {overhead: %s}\ntraffic: [{pattern: goal, file: %s}]\n",
		overhead, path);
	virtual_lab_open(&lab, run, NULL, 0);
	virtual_lab_run(&lab);
	assert_int_equal(virtual_fabric_check_complete(lab.fabric, NULL), 0);
	completion = (double)result_counter(&lab.result, "goal_completion_ns");
	virtual_lab_close(&lab);
	unlink(path);
	free(text);
	return completion;
}

/* Time of a message of this size alone: alpha + beta x bytes, in frames. */
static double alone_ns(uint64_t bytes)
{
	const struct goal_generate_config config = {"bcast", 2, bytes, 1, 0};

	return complete_on_crossbar(&config, "0s");
}

/* 16 ranks and a vector of 1,600,000 bytes; groups of 4; 8 microbatches. */
UNIT_TEST(collectives_take_the_time_of_their_alpha_beta_bound)
{
	enum { N = 16, S = 1600000, A = 40000, CALC = 20000, M = 8 };
	uint64_t matrix[N * N];
	double part = alone_ns(S / N), whole = alone_ns(S), activation = alone_ns(A);
	double halves = alone_ns(S / 2) + alone_ns(S / 4) + alone_ns(S / 8) + part;
	const struct {
		struct goal_generate_config config;
		double bound;
	} cases[] = {
		{{"allreduce", N, S, 1, 0}, 4 * whole},
		{{"allreduce-ring", N, S, 1, 0}, 2 * (N - 1) * part},
		{{"allreduce-rabenseifner", N, S, 1, 0}, 2 * halves},
		{{"allreduce-tree", N, S, 1, 0}, 2 * 4 * whole},
		{{"allreduce-two-level", N, S, 1, 0, .group = 4},
			2 * 3 * alone_ns(S / 4) + 2 * 3 * part},
		{{"allgather", N, S / N, 1, 0}, (N - 1) * part},
		{{"reduce-scatter", N, S, 1, 0}, (N - 1) * part},
		{{"bcast", N, S, 1, 0}, 4 * whole},
		{{"alltoall", N, S / N, 1, 0}, (N - 1) * part},
		/* It copies its own part at 80 Gbps. */
		{{"alltoallv", N, 0, 1, 0, .matrix = matrix}, (N - 1) * part + S / N / 10},
		{{"ring", N, S, 3, 0}, 3 * whole},
		{{"pipeline", N, A, 1, CALC, .microbatches = M},
			(M + N - 1) * 3 * CALC + 2 * (N - 1) * activation},
		{{"training", N, A, 1, CALC, 4, 1, 4, .microbatches = M, .gradient_bytes = S},
			(M + 4 - 1) * 3 * CALC + 2 * 3 * activation + 2 * 3 * alone_ns(S / 4)},
		{{"training", N, A, 1, CALC, 2, 8, 1, .microbatches = M, .gradient_bytes = S},
			M * (3 * CALC + 2 * 2 * 7 * alone_ns(A / 8)) + 2 * alone_ns(S / 2)},
	};

	for (unsigned i = 0; i < N * N; i++)
		matrix[i] = S / N;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double took = complete_on_crossbar(&cases[i].config, "0s");

		if (fabs(took / cases[i].bound - 1) > 0.02)
			fail_msg("%s took %.0f ns, the bound is %.0f ns", cases[i].config.kind,
				took, cases[i].bound);
	}
}

/* Each of its 30 steps has two overheads, one for the send and one for the recv. */
UNIT_TEST(a_ring_takes_its_steps_and_their_overheads)
{
	const struct goal_generate_config config = {"allreduce-ring", 16, 16000, 1, 0};
	double bound = 30 * (alone_ns(1000) + 2 * 400);

	assert_true(fabs(complete_on_crossbar(&config, "400ns") / bound - 1) < 0.001);
}

UNIT_TEST(a_schedule_that_does_not_end_is_judged)
{
	struct outcome outcome = run(
		"num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nx: recv 1b from 0 tag 9\n}\n",
		"0ns");

	assert_int_equal(outcome.judged, -EINVAL);
	assert_string_equal(outcome.judgement.text,
		"rank 1: recv 'x' (line 6) from 0 tag 9 received no message; 1 operation has not ended");
	assert_int_equal(result_counter(&outcome.result, "goal_unfinished"), 1);
	/* It ends when nothing can happen any more, not after measure.duration. */
	assert_true(outcome.result.to_ns < 10000000);
	run_result_free(&outcome.result);
}

/* Its hosts have nothing to do for much longer than it takes to find that a schedule is stuck. */
UNIT_TEST(a_schedule_that_only_computes_is_not_stuck)
{
	static const char *const set[] = {"measure.duration=1s", "measure.sample=100ms"};
	struct outcome outcome = run_set(
		"num_ranks 2\nrank 0 {\nc: calc 500000000\ns: send 1b to 1\ns requires c\n}\n"
		"rank 1 {\nrecv 1b from 0\n}\n",
		"0ns", "", set, 2);

	assert_int_equal(outcome.judged, 0);
	assert_int_equal(result_counter(&outcome.result, "goal_unfinished"), 0);
	run_result_free(&outcome.result);
}

static const char one_message[] =
	"num_ranks 2\nrank 0 {\nsend 100000b to 1\n}\nrank 1 {\nrecv 100000b from 0\n}\n";

/* Time of one message from h0 to h1 beside other traffic, in ns. */
static uint64_t completion_beside(const char *beside)
{
	struct outcome outcome = run_beside(one_message, "0ns", beside);
	uint64_t time_ns = result_counter(&outcome.result, "goal_completion_ns");

	assert_int_equal(outcome.judged, 0);
	assert_int_equal(result_counter(&outcome.result, "goal_unfinished"), 0);
	run_result_free(&outcome.result);
	return time_ns;
}

UNIT_TEST(traffic_beside_a_schedule_only_takes_its_share_of_the_links)
{
	uint64_t alone = completion_beside("");

	assert_int_equal(completion_beside(", {pattern: hotspot, from: [h8, h12], to: [h16], "
					   "load: 100%, message: 4KiB}"),
		alone);
	/* It takes half of h1's link. Messages of its senders do not belong to the schedule. */
	assert_in_range(completion_beside(", {pattern: hotspot, from: [h2], to: [h1], load: 100%, "
					  "message: 4KiB}"),
		alone * 18 / 10, alone * 21 / 10);
}

/* The measurement lasts from the first send, at 0, to the last delivery, plus the delay of a
 * link. */
UNIT_TEST(throughput_is_that_of_the_time_that_the_schedule_took)
{
	static const char *const looks[][2] = {{"measure.sample=1us", "watchdog=50ms"},
		{"measure.sample=10ms", "watchdog=1ms"}, {"measure.sample=10ms", "watchdog=off"}};
	weft_time wire = 24 * FRAME_PS(4096) + FRAME_PS(100000 - 24 * 4096);
	double share = (double)wire / (double)(wire + 3 * LINK_PS) / 32;

	for (unsigned i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct outcome outcome = run_set(one_message, "0ns", "", looks[i], 2);

		assert_float_equal(outcome.result.accepted, share, share * 1e-12);
		assert_float_equal(outcome.result.offered, share, share * 1e-12);
		run_result_free(&outcome.result);
	}
}

UNIT_TEST(a_run_ends_with_its_schedule_and_not_with_a_sample)
{
	static const char beside[] =
		", {pattern: hotspot, from: [h2], to: [h3], load: 100%, message: 4KiB}";
	struct outcome few = run_set(one_message, "0ns", beside,
			       VIRTUAL_LAB_SET("measure.sample=10ms", "watchdog=off")),
		       many = run_set(one_message, "0ns", beside,
			       VIRTUAL_LAB_SET("measure.sample=1us", "watchdog=20us"));

	assert_int_equal(few.result.packets.delivered, many.result.packets.delivered);
	assert_int_equal(few.result.fingerprint, many.result.fingerprint);
	/* 25 frames of one flow, during which the other flow sends as many. */
	assert_in_range(few.result.packets.delivered, 48, 51);
	run_result_free(&few.result);
	run_result_free(&many.result);
}

UNIT_TEST(a_message_that_nobody_receives_arrives_before_the_end)
{
	struct outcome outcome =
		run("num_ranks 2\nrank 0 {\nx: send 100000b to 1\n}\nrank 1 {\ncalc 1\n}\n", "0ns");

	assert_int_equal(outcome.judged, -EINVAL);
	assert_int_equal(result_counter(&outcome.result, "goal_unfinished"), 0);
	assert_int_equal(outcome.result.messages.delivered, 1);
	run_result_free(&outcome.result);
}

/* Oblivious routing draws a path for each frame, and beside other traffic, paths take different
 * times. */
UNIT_TEST(a_schedule_ends_where_frames_overtake)
{
	const struct goal_generate_config config = {"alltoall", 16, 60000, 2, 0};
	struct virtual_lab lab;
	struct error error = {""};
	char path[32], text[1024], *schedule = NULL;
	size_t length;
	FILE *out = open_memstream(&schedule, &length);

	assert_int_equal(goal_generate(&config, out, NULL), 0);
	fclose(out);
	write_file(path, schedule);
	write_text(text, path, "0ns",
		", {pattern: uniform, from: [h16, h20, h24, h28, h30, h31], load: 90%, message: "
		"4KiB}");
	virtual_lab_open(&lab, text, VIRTUAL_LAB_SET("routing.adaptive=oblivious"));
	virtual_lab_run(&lab);
	assert_int_equal(virtual_fabric_check_complete(lab.fabric, &error), 0);
	assert_int_equal(result_counter(&lab.result, "goal_unfinished"), 0);
	assert_in_range(result_counter(&lab.result, "host_frames_overtaken"), 1, UINT64_MAX);
	virtual_lab_close(&lab);
	unlink(path);
	free(schedule);
}

UNIT_TEST(who_has_a_rank_sends_nothing_beside_the_schedule)
{
	char path[32], text[1024];
	struct error error = {""};
	struct run_config *config;
	struct topology *topology;

	write_file(path, one_message);
	write_text(text, path, "0ns", ", {pattern: uniform, from: [h5, h1], load: 10%}");
	config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error);
	topology = run_config_open_topology(config, &error);
	assert_null(virtual_fabric_create(topology, config, &error));
	assert_non_null(strstr(error.text,
		"host h1 sends but also has rank 1 of the schedule; use hosts without a rank"));
	topology_destroy(topology);
	run_config_destroy(config);
	unlink(path);
}
