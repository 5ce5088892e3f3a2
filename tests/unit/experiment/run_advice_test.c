/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Advice to use another algorithm than ud. On drawn saturated runs, it is given if routes are the
 * limit, but not if another limit is closer. */

#include "base/rng.h"
#include "experiment/result/run_result.h"
#include "topo/topology.h"
#include "unit.h"

struct network {
	const char *text, *better; /* NULL: no advice */
};

static const struct network networks[] = {
	{"irregular:switches=16", "try smart"},
	{"dragonfly:a=4,p=2,h=2", "try df-min with switch.vcs: 2"},
	{"irregular:switches=100", "try bmin-itb"},
	{"torus:dims=4x4", "try dor with switch.vcs: 2, or smart"},
	{"torus:dims=9x9", "try dor with switch.vcs: 2"},
	{"mesh:dims=4x4", "try dor"},
	/* One path per pair; a tree; a network that is too large for better algorithms. */
	{"full:switches=2,hosts=4", NULL},
	{"mesh:dims=5,hosts=2", NULL},
	{"rlft:ports=4,stages=2", NULL},
	{"irregular:switches=600,hosts=1", NULL},
};

struct load {
	const char *traffic;
	bool good;
};

static const struct load loads[] = {
	{"{pattern: uniform, load: 80%}", true},
	{"{pattern: uniform, load: 40%}, {pattern: permutation, load: 50%}", true},
	{"{pattern: uniform, load: 60%}, {pattern: uniform, load: 50%}", false},
	{"{pattern: uniform, load: 50%, to: [h1]}", false},
	/* The links of two hosts suffice for the traffic of a few. */
	{"{pattern: uniform, load: 80%, from: [h1, h2], to: [h3, h4]}", true},
	{"{pattern: uniform, load: 50%}, {pattern: hotspot, to: [h1], load: 20%}", false},
};

/* A saturated run, in which a third of the messages stays behind. */
static struct run_result *make_result(const struct run_config *run, uint32_t hosts)
{
	struct run_result *result = calloc(1, sizeof(*result));

	assert_non_null(result);
	result->to_ns = 1000000;
	result->batches = STEADINESS_BATCHES;
	result->offered = 0.8;
	result->accepted = 0.5;
	for (uint32_t k = 0; k < run->traffic.count; k++) {
		struct run_entry *entry = run_result_add_entry(result);

		assert_non_null(entry);
		entry->continuous = true;
		entry->senders = run->traffic.at[k].from.kind == RUN_HOSTS_LIST
					 ? run->traffic.at[k].from.count
					 : hosts;
		entry->offered = 0.8;
		entry->accepted = 0.5;
		for (unsigned i = 0; i < STEADINESS_BATCHES; i++) {
			entry->batch[i].generated = 300;
			entry->batch[i].delivered = entry->batch[i].timed = 200;
			entry->batch[i].latency_sum_ns = 200 * (1000 + i % 3);
			histogram_record_times(&entry->total_ns, 1000, 200);
		}
		histogram_record(&entry->network_ns, 1000);
	}
	histogram_record(&result->network_ns, 1000);
	return result;
}

/* The share of frames that are on time, in per cent. On the virtual clock, all are. */
static void expect(const struct network *network, const struct load *load, unsigned in_time,
	bool real, const char *better)
{
	OWNED(topology) *topology = topology_generate(network->text, NULL);
	char text[600], advice[RUN_ADVICE_MAX] = "";
	struct error error = {""};
	struct run_result *result;
	OWNED(run_config) *run;
	bool given;

	snprintf(text, sizeof(text), "weft: run/1\ntopology: \"%s\"\nclock: %s\ntraffic: [%s]\n",
		network->text, real ? "real" : "virtual", load->traffic);
	run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	if (run == NULL)
		fail_msg("%s", error.text);
	result = make_result(run, topology->hosts);
	if (real) {
		result->fidelity.frames = 1000;
		result->fidelity.within_tenth = 10 * in_time;
	}
	given = run_result_advise(result, run, topology, advice);
	if (given != (better != NULL) || (given && strstr(advice, better) == NULL))
		fail_msg("%s, %s, %u %% in time: '%s'", network->text, load->traffic, in_time,
			advice);
	run_result_free(result);
	free(result);
}

UNIT_TEST(advice_is_given_where_no_other_limit_is_nearer)
{
	struct rng rng;
	unsigned given = 0;

	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < 200; i++) {
		const struct network *network =
			&networks[rng_below(&rng, sizeof(networks) / sizeof(networks[0]))];
		const struct load *load = &loads[rng_below(&rng, sizeof(loads) / sizeof(loads[0]))];
		unsigned in_time = (unsigned)rng_below(&rng, 101);
		bool real = rng_below(&rng, 2) == 0;
		bool good = load->good && (!real || in_time >= 95);

		if (i % 4 == 0) { /* rarely drawn */
			load = &loads[i / 4 % 2];
			good = true;
			in_time = 97;
		}
		expect(network, load, in_time, real, good ? network->better : NULL);
		given += good && network->better != NULL;
	}
	assert_in_range(given, 30, 150);
}

UNIT_TEST(adaptive_switches_in_an_incast_are_told_of_isolation)
{
	static const struct network tree = {"rlft:ports=4,stages=2", NULL};
	static const struct {
		const char *routing, *better;
		unsigned load;
	} cases[] = {
		{"adaptive", "try routing.afi: true", 3},
		{"oblivious", "the incast of traffic[1]", 3},
		{"adaptive", NULL, 0},
		{"none", NULL, 3},
		{"arn", NULL, 3},
		{"adaptive, afi: true", NULL, 3},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[300];
		struct load load = {text, false};

		snprintf(text, sizeof(text), "%s", loads[cases[i].load == 0 ? 0 : 5].traffic);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"]\nswitch: {voq: true, vcs: 2}\nrouting: {algorithm: dmodk, mode: table, "
			"adaptive: %s}\nedges: [",
			cases[i].routing);
		expect(&tree, &load, 100, false, cases[i].better);
	}
}
