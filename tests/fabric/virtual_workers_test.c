/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * A virtual fabric on several threads gives the bytes that it gives on one: random fabrics, and
 * what threads refuse. Without arguments WORKERS_CASES cases; the long forms, and a single case:
 *
 *     virtual_workers_test CASES
 *     virtual_workers_test seed SEED
 *     WEFT_WORKERS_CASES=CASES meson test --suite fabric virtual_workers -t 100
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "rng.h"
#include "run_config_json.h"
#include "virtual_capture.h"
#include "virtual_lab.h"
#include "virtual_private.h"

#ifndef WORKERS_CASES
#define WORKERS_CASES 24
#endif

#define WORKERS_MAX 8
#define SETS_MAX    40
#define SET_BYTES   96

static const char plain[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=4,stages=3\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 30ns}\n"
	"switch: {buffer: 64KiB, mtu: 2KiB}\n"
	"nic: {mtu: 2KiB}\n"
	"routing: {algorithm: dmodk, mode: table}\n"
	"measure: {warmup: 10us, duration: 50us, sample: 10us, link-series: true}\n"
	"traffic:\n"
	"  - {pattern: uniform, from: all, load: 60%, message: 1000B}\n";

struct drawn {
	char text[SETS_MAX][SET_BYTES];
	const char *set[SETS_MAX];
	unsigned sets, workers;
};

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add(struct drawn *drawn, const char *text)
{
	assert_true(drawn->sets < SETS_MAX);
	snprintf(drawn->text[drawn->sets], SET_BYTES, "%s", text);
	drawn->set[drawn->sets] = drawn->text[drawn->sets];
	drawn->sets++;
}

static void draw_tree(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "topology=rlft:ports=4,stages=3", "topology=rlft:ports=8,stages=2",
			   "topology=rlft:ports=6,stages=3"));
	if (rng_below(rng, 3) == 0) {
		add(drawn, "routing.mode=source");
		add(drawn, PICK(rng, "routing.algorithm=dmodk", "routing.algorithm=ud"));
		return;
	}
	add(drawn, PICK(rng, "queuing=1q", "queuing=dbbm", "queuing=vftree", "queuing=flow2sl"));
	add(drawn, PICK(rng, "switch.vcs=2", "switch.vcs=4"));
	add(drawn, PICK(rng, "routing.adaptive=none", "routing.adaptive=oblivious",
			   "routing.adaptive=adaptive", "routing.adaptive=adaptive-th",
			   "routing.adaptive=arn", "routing.adaptive=arn"));
	if (strcmp(drawn->text[drawn->sets - 1], "routing.adaptive=arn") == 0) {
		add(drawn, PICK(rng, "routing.afi=true", "routing.afi=false"));
		add(drawn, "switch.voq=true"); /* the detector looks at them */
	}
	add(drawn, PICK(rng, "detector.crt=5us", "detector.crt=20us"));
	add(drawn, "detector.arn-refresh=2us");
	add(drawn, "detector.arn-ttl=20us");
}

static void draw_direct(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "topology=torus:dims=4x4,hosts=2", "topology=hypercube:dims=4,hosts=2",
			   "topology=irregular:switches=16,degree=4,hosts=3,seed=7",
			   "topology=ring:switches=9,hosts=2"));
	add(drawn, "routing.mode=source");
	add(drawn, PICK(rng, "routing.algorithm=ud", "routing.algorithm=minhop",
			   "routing.algorithm=dfs"));
	add(drawn, "routing.may-deadlock=true");
	add(drawn, "routing.alternatives=3");
	add(drawn, PICK(rng, "nic.selector=first", "nic.selector=random",
			   "nic.selector=round-robin", "nic.selector=contention"));
	add(drawn, PICK(rng, "switch.fecn=0", "switch.fecn=8"));
	add(drawn, PICK(rng, "watchdog=off", "watchdog=20us"));
}

static void draw_traffic(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "traffic[0].load=10%", "traffic[0].load=60%", "traffic[0].load=100%"));
	add(drawn, PICK(rng, "traffic[0].message=64B", "traffic[0].message=2KiB",
			   "traffic[0].message=5000B"));
	add(drawn, PICK(rng, "traffic[0].arrivals=constant", "traffic[0].arrivals=poisson"));
	if (rng_below(rng, 2) == 0)
		return;
	add(drawn, "traffic[1].pattern=hotspot");
	add(drawn, "traffic[1].from=all");
	add(drawn, "traffic[1].to=[h3]");
	add(drawn, "traffic[1].load=40%");
	add(drawn, "traffic[1].message=2KiB");
	add(drawn, "traffic[1].start=15us");
	add(drawn, PICK(rng, "traffic[1].stop=30us", "traffic[1].stop=45us"));
}

static void draw(struct rng *rng, struct drawn *drawn)
{
	*drawn = (struct drawn){.workers = 2 + (unsigned)rng_below(rng, WORKERS_MAX - 1)};
	add(drawn, "seed=1");
	snprintf(drawn->text[0], SET_BYTES, "seed=%u", 1 + (unsigned)rng_below(rng, 1000));
	add(drawn, PICK(rng, "link.delay=1ns", "link.delay=30ns", "link.delay=400ns"));
	add(drawn, PICK(rng, "switch.buffer=16KiB", "switch.buffer=40KiB", "switch.buffer=128KiB"));
	add(drawn, PICK(rng, "switch.credits=coalesced", "switch.credits=each"));
	add(drawn, PICK(rng, "switch.routing-delay=0ns", "switch.routing-delay=100ns"));
	add(drawn, PICK(rng, "switch.switching=cut-through", "switch.switching=store-and-forward"));
	add(drawn, PICK(rng, "switch.voq=true", "switch.voq=true", "switch.voq=false"));
	add(drawn, PICK(rng, "measure.links=true", "measure.links=false"));
	add(drawn, PICK(rng, "measure.switches=true", "measure.switches=false"));
	add(drawn, PICK(rng, "measure.latencies=true", "measure.latencies=false"));
	if (rng_below(rng, 2) == 0)
		draw_tree(rng, drawn);
	else
		draw_direct(rng, drawn);
	draw_traffic(rng, drawn);
}

/* Everything that a user gets, but for what may differ; NULL: the file cannot be run at all. */
static char *result_of(
	const char *file, const struct drawn *drawn, unsigned workers, struct fault *fault)
{
	struct run_config *config =
		run_config_parse(file, strlen(file), "test", drawn->set, drawn->sets, fault);
	struct topology *topology = NULL;
	struct virtual_fabric *fabric = NULL;
	struct run_result result = {0};
	json_t *document;
	char *text = NULL;

	if (config != NULL && run_config_supported(config, fault) == 0 &&
		(topology = run_config_open_topology(config, fault)) != NULL)
		fabric = virtual_fabric_create(topology, config, fault);
	if (fabric != NULL && virtual_fabric_set_workers(fabric, workers, fault) == 0 &&
		virtual_fabric_run(fabric, NULL, NULL, NULL, fault) == 0) {
		assert_int_equal(virtual_fabric_result(fabric, &result, fault), 0);
		if (virtual_fabric_check(fabric) != NULL)
			fail_msg("%s, %u workers: %s", drawn->text[0], workers,
				virtual_fabric_check(fabric));
		document = run_result_json(&result, run_config_json(config));
		json_object_del(document, "wall");
		text = json_dumps(document, JSON_INDENT(1));
		json_decref(document);
	}
	run_result_free(&result);
	virtual_fabric_destroy(fabric);
	topology_destroy(topology);
	run_config_destroy(config);
	return text;
}

static void expect_same(const char *one, const char *many, unsigned seed, const struct drawn *drawn)
{
	if (strcmp(one, many) != 0) {
		size_t at = 0;

		while (one[at] == many[at])
			at++;
		at = at > 60 ? at - 60 : 0;
		for (unsigned i = 0; i < drawn->sets; i++)
			print_message("--set '%s'\n", drawn->set[i]);
		fail_msg("case %u, %u workers: '%.120s' and '%.120s'", seed, drawn->workers,
			one + at, many + at);
	}
}

/* True if the case could be run. */
static bool run_case(unsigned seed)
{
	struct drawn drawn;
	struct fault fault = {""}, other = {""};
	struct rng rng;
	char *one, *many;

	rng_init(&rng, seed, 0, 0);
	draw(&rng, &drawn);
	one = result_of(plain, &drawn, 1, &fault);
	if (one == NULL) {
		print_message("case %u: %s\n", seed, fault.text);
		return false;
	}
	many = result_of(plain, &drawn, drawn.workers, &other);
	if (many == NULL)
		fail_msg("case %u, %u workers: %s", seed, drawn.workers, other.text);
	expect_same(one, many, seed, &drawn);
	free(one);
	free(many);
	return true;
}

static unsigned first = 1, cases = WORKERS_CASES;

static void any_number_of_workers_gives_the_same_bytes(void **state)
{
	unsigned ran = 0;

	for (unsigned i = 0; i < cases; i++)
		ran += run_case(first + i);
	print_message("%u of %u cases could be run\n", ran, cases);
	assert_int_equal(ran, cases);
}

/* By two workers, and 'sets' ends with NULL. */
static void expect_refused(const char *const *sets, const char *why)
{
	struct drawn drawn = {.sets = 0};
	struct fault fault = {""};
	char *result;

	for (; sets[drawn.sets] != NULL; drawn.sets++)
		drawn.set[drawn.sets] = sets[drawn.sets];
	result = result_of(plain, &drawn, 2, &fault);
	assert_null(result);
	assert_string_equal(fault.text, why);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void what_only_one_worker_can_run_is_refused_by_its_name(void **state)
{
	expect_refused(SETS("routing.mode=source", "nic.control=drb"),
		"--workers 2: congestion control at the source (nic.control): only one worker can "
		"run this");
	expect_refused(SETS("topology=torus:dims=4x4,hosts=1", "routing.algorithm=ud-itb",
			       "routing.mode=source"),
		"--workers 2: routes with in-transit buffers: only one worker can run this");
	expect_refused(SETS("link.delay=0ns"),
		"--workers 2: a link without delay would be cut, and workers need a delay between "
		"them: expected 'delay' above 0ps");
}

static void more_workers_than_switches_or_than_the_limit_are_refused(void **state)
{
	struct drawn drawn = {.sets = 0},
		     large = {.set = {"topology=ring:switches=300,hosts=1",
				      "routing.algorithm=minhop", "routing.may-deadlock=true"},
			     .sets = 3};
	struct fault fault = {""};

	assert_null(result_of(plain, &drawn, 21, &fault));
	assert_string_equal(
		fault.text, "--workers 21: expected 1 to 20, of a fabric with 20 switches");
	assert_null(result_of(plain, &large, 257, &fault));
	assert_string_equal(
		fault.text, "--workers 257: expected 1 to 256, of a fabric with 300 switches");
}

static void captures_are_refused(void **state)
{
	struct fault fault = {""};
	struct virtual_lab lab;

	virtual_lab_open(&lab, plain, VIRTUAL_LAB_SET("measure.duration=20us"));
	assert_int_equal(virtual_fabric_set_workers(lab.fabric, 2, &fault), 0);
	assert_null(virtual_capture_create(lab.fabric, 0, &fault));
	assert_string_equal(
		fault.text, "--workers 2: captures (--pcap): only one worker can run this");
	virtual_lab_close(&lab);
}

/* Where frames overtake each other, and so long links that a host sends more frames in their delay
 * than there is memory for. */
static void frames_on_long_links_that_no_memory_could_hold_are_refused(void **state)
{
	expect_refused(
		SETS("routing.adaptive=adaptive", "link.delay=10ms", "traffic[0].message=64B",
			"measure.duration=50ms", "measure.sample=10ms", "measure.warmup=0us"),
		"--workers 2: in the delay of a cut link, 10000 us, a host sends more frames than "
		"there is memory for where frames can overtake each other: only one worker can run "
		"this");
}

static void frames_on_long_links_that_there_is_memory_for_are_not(void **state)
{
	struct drawn drawn = {.set = {"routing.adaptive=adaptive", "link.delay=20us",
				      "traffic[0].message=2KiB", "measure.duration=200us"},
		.sets = 4};
	struct fault fault = {""};
	char *one = result_of(plain, &drawn, 1, &fault), *two;

	two = result_of(plain, &drawn, 2, &fault);
	assert_non_null(two);
	assert_string_equal(one, two);
	free(one);
	free(two);
}

/* A watchdog that is shorter than the queues of an incast are long, with hosts that wait for frames
 * in their order: a switch of one part discards what a host of another part waits for. */
static void a_discard_for_a_host_of_another_part_ends_the_run(void **state)
{
	expect_refused(
		SETS("routing.adaptive=adaptive", "watchdog=2us", "switch.vcs=2",
			"traffic[0].load=100%", "traffic[1].pattern=hotspot", "traffic[1].from=all",
			"traffic[1].to=[h3]", "traffic[1].load=100%", "traffic[1].message=2KiB"),
		"--workers 2: a switch has discarded a frame for which a host waits: only one "
		"worker can run this");
}

/* Traffic that only one of the parts has, maybe not the first one's. */
static void a_run_of_several_workers_can_be_stopped(void **state)
{
	static const char *const from[] = {"traffic[0].from=[h0]", "traffic[0].from=[h15]"};

	for (unsigned i = 0; i < 2; i++) {
		atomic_bool stop = true;
		struct fault fault = {""};
		struct virtual_lab lab;

		virtual_lab_open(&lab, plain,
			VIRTUAL_LAB_SET("measure.duration=100s", "measure.sample=100s",
				"traffic[0].pattern=hotspot", from[i],
				i == 0 ? "traffic[0].to=[h1]" : "traffic[0].to=[h14]"));
		assert_int_equal(virtual_fabric_set_workers(lab.fabric, 2, &fault), 0);
		assert_int_equal(virtual_fabric_run(lab.fabric, &stop, NULL, NULL, &fault), 0);
		assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &fault), 0);
		assert_true(lab.result.incomplete);
		assert_null(virtual_fabric_check(lab.fabric));
		virtual_lab_close(&lab);
	}
}

/* Nothing happens after the traffic but samples, more than there are events between two looks. */
static void a_run_of_several_workers_can_be_stopped_where_nothing_happens(void **state)
{
	atomic_bool stop = true;
	struct fault fault = {""};
	struct virtual_lab lab;

	virtual_lab_open(&lab, plain,
		VIRTUAL_LAB_SET("measure.duration=100ms", "measure.sample=1us",
			"traffic[0].stop=11us", "traffic[0].from=[h0]", "traffic[0].to=[h1]",
			"traffic[0].pattern=hotspot"));
	assert_int_equal(virtual_fabric_set_workers(lab.fabric, 2, &fault), 0);
	assert_int_equal(virtual_fabric_run(lab.fabric, &stop, NULL, NULL, &fault), 0);
	assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &fault), 0);
	assert_true(lab.result.incomplete);
	virtual_lab_close(&lab);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_run_of_several_workers_can_be_stopped),
	cmocka_unit_test(a_run_of_several_workers_can_be_stopped_where_nothing_happens),
	cmocka_unit_test(any_number_of_workers_gives_the_same_bytes),
	cmocka_unit_test(what_only_one_worker_can_run_is_refused_by_its_name),
	cmocka_unit_test(more_workers_than_switches_or_than_the_limit_are_refused),
	cmocka_unit_test(captures_are_refused),
	cmocka_unit_test(frames_on_long_links_that_no_memory_could_hold_are_refused),
	cmocka_unit_test(frames_on_long_links_that_there_is_memory_for_are_not),
	cmocka_unit_test(a_discard_for_a_host_of_another_part_ends_the_run),
};

int main(int argc, char **argv)
{
	const char *wanted = getenv("WEFT_WORKERS_CASES");

	if (wanted != NULL)
		cases = (unsigned)strtoul(wanted, NULL, 10);
	if (argc == 2)
		cases = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc == 3 && strcmp(argv[1], "seed") == 0) {
		first = (unsigned)strtoul(argv[2], NULL, 10);
		cases = 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
