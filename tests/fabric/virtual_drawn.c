/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_drawn.h"

#include <inttypes.h>

#include "experiment/result/run_result.h"
#include "goal/goal_generate.h"
#include "virtual/virtual_partitions.h"
#include "virtual_lab.h"

const char drawn_plain[] = "weft: run/1\n"
			   "topology: \"rlft:ports=4,stages=3\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "switch: {buffer: 64KiB, mtu: 2KiB}\n"
			   "nic: {mtu: 2KiB}\n"
			   "routing: {algorithm: dmodk, mode: table}\n"
			   "measure: {warmup: 10us, duration: 50us, sample: 10us}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 60%, message: 1000B}\n";

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add(struct drawn *drawn, const char *text)
{
	assert_true(drawn->sets < DRAWN_SETS_MAX);
	snprintf(drawn->text[drawn->sets], DRAWN_SET_BYTES, "%s", text);
	drawn->set[drawn->sets] = drawn->text[drawn->sets];
	drawn->sets++;
}

/* Control at the source, on the paths of a tree. */
static void draw_control(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "nic.control=iba-cc", "nic.control=drb-cn", "nic.control=drb",
			   "nic.control=pr-drb", "nic.control=drb-cc"));
	add(drawn, "switch.fecn=4");
	if (strcmp(drawn->text[drawn->sets - 2], "nic.control=iba-cc") == 0)
		return;
	add(drawn, "routing.mode=source");
	add(drawn, "routing.algorithm=msp");
}

static void draw_tree(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "topology=rlft:ports=4,stages=3", "topology=rlft:ports=8,stages=2",
			   "topology=rlft:ports=6,stages=3"));
	if (rng_below(rng, 4) == 0) {
		draw_control(rng, drawn);
		return;
	}
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
		add(drawn, "switch.voq=true"); /* times at which the detector checks them */
	}
	add(drawn, PICK(rng, "detector.crt=5us", "detector.crt=20us"));
	add(drawn, "detector.arn-refresh=2us");
	add(drawn, "detector.arn-ttl=20us");
}

/* Control at the source in a grid, where steps of paths end at switches or at hosts. */
static void draw_grid_control(struct rng *rng, struct drawn *drawn)
{
	add(drawn, PICK(rng, "topology=torus:dims=4x4,hosts=1", "topology=mesh:dims=4x3,hosts=2"));
	add(drawn, PICK(rng, "nic.control=drb", "nic.control=pr-drb", "nic.control=drb-cc"));
	add(drawn, "switch.fecn=4");
	add(drawn, "routing.mode=source");
	add(drawn, "routing.algorithm=msp");
	add(drawn, PICK(rng, "routing.steps=next", "routing.steps=itb"));
	add(drawn, PICK(rng, "nic.itb.pool=4KiB", "nic.itb.pool=90KiB"));
	add(drawn, "switch.vcs=4");
}

#define OWN_FROM 64 /* more numbers than a draw takes */

/* Packets that take detours chosen from the credits of the first switch. */
static void draw_dragonfly(struct rng *rng, struct drawn *drawn)
{
	const char *algorithm, *queues;

	add(drawn, PICK(rng, "topology=dragonfly:a=4,p=1,h=2", "topology=dragonfly:a=2,p=2,h=1"));
	add(drawn, "routing.mode=table");
	algorithm = PICK(rng, "routing.algorithm=df-valiant", "routing.algorithm=df-valiant-node",
		"routing.algorithm=df-ugal-l", "routing.algorithm=df-ugal-l-node",
		"routing.algorithm=df-par");
	queues = PICK(rng, "routing.ugal-queues=vc", "routing.ugal-queues=port",
		"routing.ugal-queues=hybrid");
	add(drawn, algorithm);
	if (strstr(algorithm, "valiant") == NULL)
		add(drawn, queues);
	add(drawn, "switch.vcs=4");
}

static void draw_direct(struct rng *rng, struct drawn *drawn)
{
	struct rng own;
	bool ring, minhop;

	if (rng_below(rng, 4) == 0) {
		draw_grid_control(rng, drawn);
		return;
	}
	/* Drawn from separate numbers, so that the other draws are the same as without it. */
	own = *rng;
	for (unsigned i = 0; i < OWN_FROM; i++)
		rng_next(&own);
	if (rng_below(&own, 4) == 0) {
		draw_dragonfly(&own, drawn);
		return;
	}
	add(drawn, PICK(rng, "topology=torus:dims=4x4,hosts=2", "topology=hypercube:dims=4,hosts=2",
			   "topology=irregular:switches=16,degree=4,hosts=3,seed=7",
			   "topology=ring:switches=9,hosts=2"));
	ring = strncmp(drawn->text[drawn->sets - 1], "topology=ring", 13) == 0;
	add(drawn, "routing.mode=source");
	add(drawn, PICK(rng, "routing.algorithm=ud", "routing.algorithm=minhop",
			   "routing.algorithm=dfs", "routing.algorithm=ud-itb",
			   "routing.algorithm=ud-itb"));
	minhop = strcmp(drawn->text[drawn->sets - 1], "routing.algorithm=minhop") == 0;
	if (strcmp(drawn->text[drawn->sets - 1], "routing.algorithm=ud-itb") == 0)
		add(drawn, PICK(rng, "nic.itb.pool=4KiB", "nic.itb.pool=90KiB"));
	add(drawn, minhop ? "routing.may-deadlock=true" : "routing.may-deadlock=false");
	add(drawn, "routing.alternatives=3");
	add(drawn, PICK(rng, "nic.selector=first", "nic.selector=random",
			   "nic.selector=round-robin", "nic.selector=contention"));
	if (ring) /* one shortest path per pair: nothing to select */
		strcpy(drawn->text[drawn->sets - 1], "nic.selector=first");
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

/* Shorter than the delays between switches, longer, or equal. Reports that cross no link take this
 * delay. */
static weft_time draw_host_delay(struct rng *rng)
{
	static const weft_time delays[] = {0, PS_PER_NS, 7 * PS_PER_NS, 150 * PS_PER_NS, PS_PER_US};

	return delays[rng_below(rng, sizeof(delays) / sizeof(delays[0]))];
}

void drawn_draw(unsigned seed, struct drawn *drawn)
{
	struct rng generator, *rng = &generator;

	rng_init(rng, seed, 0, 0);
	*drawn = (struct drawn){.workers = 2 + (unsigned)rng_below(rng, DRAWN_WORKERS_MAX - 1)};
	add(drawn, "seed=1");
	snprintf(drawn->text[0], DRAWN_SET_BYTES, "seed=%u", 1 + (unsigned)rng_below(rng, 1000));
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
	drawn->host_delay_ps = draw_host_delay(rng);
	drawn->hello_ps = (rng_below(rng, 2) == 0 ? 5 : 1000) * PS_PER_US;
}

static void set_host_delay(struct topology *topology, weft_time delay_ps)
{
	for (uint32_t i = 0; i < topology->hosts && delay_ps > 0; i++)
		if (topology->host_link[i] >= 0)
			topology->link_at[topology->host_link[i]].delay_ps = delay_ps;
}

void drawn_schedule(const char *path, const char *kind)
{
	const struct goal_generate_config config = {kind, 12, 3000, 3, 700};
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(goal_generate(&config, out, NULL), 0);
	fclose(out);
}

static void add_schedule(json_t *document, const struct virtual_fabric *fabric)
{
	struct error unfinished = {""};

	virtual_fabric_check_complete(fabric, &unfinished);
	json_object_set_new(document, "unfinished", json_string(unfinished.text));
}

static bool prepare(const struct drawn *drawn, struct virtual_fabric *fabric)
{
	if (fabric->partitions != NULL && drawn->prepare != NULL)
		drawn->prepare(fabric->partitions);
	return true;
}

char *drawn_result(const char *file, const struct drawn *drawn, struct ranks *ranks,
	unsigned workers, struct error *error)
{
	struct run_config *config =
		run_config_parse(file, strlen(file), "test", drawn->set, drawn->sets, error);
	struct topology *topology = NULL;
	struct virtual_fabric *fabric = NULL;
	struct run_result result = {0};
	json_t *document;
	char *text = NULL;

	if (config != NULL && run_config_supported(config, error) == 0 &&
		(topology = run_config_open_topology(config, error)) != NULL) {
		if (drawn->hello_ps > 0)
			config->hello_ps = drawn->hello_ps;
		set_host_delay(topology, drawn->host_delay_ps);
		fabric = virtual_fabric_create(topology, config, error);
	}
	if (fabric != NULL && virtual_fabric_set_ranks(fabric, ranks, workers, error) == 0 &&
		prepare(drawn, fabric) &&
		virtual_fabric_run(fabric, NULL, NULL, NULL, error) == 0 &&
		(ranks == NULL || ranks->own == 0)) {
		assert_int_equal(virtual_fabric_result(fabric, &result, error), 0);
		if (virtual_fabric_check(fabric) != NULL)
			fail_msg("%s, %u workers: %s", drawn->text[0], workers,
				virtual_fabric_check(fabric));
		document = run_result_json(&result, run_config_json(config));
		json_object_del(document, "wall");
		add_schedule(document, fabric);
		text = json_dumps(document, JSON_INDENT(1));
		json_decref(document);
	}
	run_result_free(&result);
	virtual_fabric_destroy(fabric);
	topology_destroy(topology);
	run_config_destroy(config);
	return text;
}

void drawn_expect_same(const char *one, const char *many, unsigned seed, const struct drawn *drawn)
{
	if (strcmp(one, many) != 0) {
		size_t at = 0;

		while (one[at] == many[at])
			at++;
		at = at > 60 ? at - 60 : 0;
		for (unsigned i = 0; i < drawn->sets; i++)
			print_message("--set '%s'\n", drawn->set[i]);
		print_message(
			"host links: %" PRIu64 " ps (0: as the others)\n", drawn->host_delay_ps);
		fail_msg("case %u, %u workers: '%.120s' and '%.120s'", seed, drawn->workers,
			one + at, many + at);
	}
}

const unsigned drawn_workers[] = {2, 3, 7, 0};

void drawn_expect_workers(
	const struct drawn *drawn, unsigned seed, const char *has, const unsigned *workers)
{
	struct error error = {""};
	char *one = drawn_result(drawn_plain, drawn, NULL, 1, &error), *many;

	if (one == NULL)
		fail_msg("case %u: %s", seed, error.text);
	assert_true(has == NULL || strstr(one, has) != NULL);
	for (; *workers != 0; workers++) {
		many = drawn_result(drawn_plain, drawn, NULL, *workers, &error);
		if (many == NULL)
			fail_msg("case %u, %u workers: %s", seed, *workers, error.text);
		drawn_expect_same(one, many, seed, drawn);
		free(many);
	}
	free(one);
}
