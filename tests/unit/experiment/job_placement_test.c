/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The hosts that the jobs of a run get. */

#include "experiment/workload/run_hosts.h"

#include "unit.h"

#include "base/rng.h"
#include "temporary_file.h"

struct placed {
	struct run_config *config;
	struct topology *topology;
	struct job_placement placement;
	struct error error;
	int result;
};

static struct placed place(const char *network, const char *jobs)
{
	struct placed placed = {.error = {""}};
	char text[1024];

	snprintf(text, sizeof(text), "weft: run/1\ntopology: \"%s\"\nclock: virtual\njobs: [%s]\n",
		network, jobs);
	placed.config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &placed.error);
	assert_string_equal(placed.error.text, "");
	placed.topology = run_config_open_topology(placed.config, &placed.error);
	assert_non_null(placed.topology);
	placed.result = job_placement_make(
		placed.config, placed.topology, &placed.placement, &placed.error);
	return placed;
}

static void done(struct placed *placed)
{
	free(placed->placement.host);
	topology_destroy(placed->topology);
	run_config_destroy(placed->config);
}

static void expect_hosts(const char *network, const char *jobs, const char *expected)
{
	struct placed placed = place(network, jobs);
	char text[512] = "";
	size_t length = 0;

	assert_int_equal(placed.result, 0);
	for (uint32_t i = 0; i < placed.config->jobs.count; i++)
		for (uint32_t k = placed.placement.first[i]; k < placed.placement.first[i + 1]; k++)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s%u",
				k == placed.placement.first[i] && i > 0 ? "|" : "",
				k == placed.placement.first[i] ? "" : " ",
				placed.placement.host[k]);
	assert_string_equal(text, expected);
	done(&placed);
}

#define JOB(name, hosts, placement) \
	"{name: " name ", schedule: /x, hosts: " hosts ", placement: " placement "}"

UNIT_TEST(packed_jobs_follow_each_other_and_spread_ones_go_round_the_switches)
{
	expect_hosts("rlft:ports=8,stages=2", JOB("a", "5", "packed") "," JOB("b", "3", "packed"),
		"0 1 2 3 4|5 6 7");
	expect_hosts("ring:switches=4,hosts=2", JOB("a", "5", "spread") "," JOB("b", "3", "spread"),
		"0 2 4 6 1|3 5 7");
}

UNIT_TEST(groups_are_those_of_a_dragonfly_the_pods_of_a_tree_or_switches)
{
	/* Groups of 4 switches with 2 hosts each. */
	expect_hosts("dragonfly:a=4,p=2,h=2", JOB("a", "3", "packed") "," JOB("b", "9", "by-group"),
		"0 1 2|8 9 10 11 12 13 14 15 16");
	/* Pods of 2 switches with 2 hosts each. */
	expect_hosts("rlft:ports=4,stages=3",
		JOB("a", "1", "packed") "," JOB("b", "5", "by-group") "," JOB("c", "3", "by-group"),
		"0|4 5 6 7 8|12 13 14");
	/* All switches are linked with each other, so each is a group. */
	expect_hosts("full:switches=4,hosts=3",
		JOB("a", "1", "packed") "," JOB("b", "4", "by-group"), "0|3 4 5 6");
	expect_hosts("rlft:ports=8,stages=2", JOB("a", "1", "packed") "," JOB("b", "5", "by-group"),
		"0|4 5 6 7 8");
}

static const char *const placements[] = {"packed", "random", "by-group", "spread"};

UNIT_TEST(jobs_never_share_a_host_and_the_same_seed_places_them_alike)
{
	static const char *const networks[] = {"rlft:ports=8,stages=2", "dragonfly:a=4,p=2,h=2",
		"ring:switches=7,hosts=5", "full:switches=9,hosts=4"};
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned trial = 0; trial < 80; trial++) {
		char jobs[512] = "";
		size_t length = 0;
		unsigned count = 1 + (unsigned)rng_below(&rng, 4);
		struct placed placed, again;
		bool taken[128] = {false};

		for (unsigned i = 0; i < count; i++)
			length += (size_t)snprintf(jobs + length, sizeof(jobs) - length,
				"%s{name: j%u, schedule: /x, hosts: %u, placement: %s}",
				i > 0 ? ", " : "", i, 1 + (unsigned)rng_below(&rng, 8),
				placements[rng_below(&rng, 4)]);
		placed = place(networks[trial % 4], jobs);
		again = place(networks[trial % 4], jobs);
		assert_int_equal(placed.result, 0);
		for (uint32_t k = 0; k < placed.placement.first[count]; k++) {
			assert_false(taken[placed.placement.host[k]]);
			taken[placed.placement.host[k]] = true;
			assert_int_equal(placed.placement.host[k], again.placement.host[k]);
		}
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(placed.placement.first[i + 1] - placed.placement.first[i],
				placed.config->jobs.at[i].hosts);
		done(&placed);
		done(&again);
	}
}

UNIT_TEST(listed_hosts_are_taken_before_the_jobs_in_front_choose)
{
	char path[] = "/tmp/weft-jobs-XXXXXX", jobs[256];
	static const char lines[] = "# comment\nh1\n  h0 # the second\n\nh5\n";

	temporary_file(path, lines);
	snprintf(jobs, sizeof(jobs),
		JOB("a", "3", "packed") ", {name: b, schedule: /x, placement: \"file:%s\"}", path);
	expect_hosts("ring:switches=4,hosts=2", jobs, "2 3 4|1 0 5");
	snprintf(jobs, sizeof(jobs), "{name: b, schedule: /x, hosts: 2, placement: \"file:%s\"}",
		path);
	expect_hosts("ring:switches=4,hosts=2", jobs, "1 0");
	unlink(path);
}

static void expect_refused(const char *jobs, const char *lines, const char *expected)
{
	char path[] = "/tmp/weft-jobs-XXXXXX", text[256];
	struct placed placed;

	temporary_file(path, lines);
	snprintf(text, sizeof(text), jobs, path, path);
	placed = place("ring:switches=4,hosts=2", text);
	assert_int_equal(placed.result, -EINVAL);
	if (strstr(placed.error.text, expected) == NULL)
		fail_msg("%s", placed.error.text);
	done(&placed);
	unlink(path);
}

UNIT_TEST(hosts_that_do_not_exist_or_are_not_free_are_refused)
{
	expect_refused(JOB("a", "5", "packed") ", " JOB("b", "4", "random"), "", "r.yaml:4:");
	expect_refused(JOB("a", "5", "packed") ", " JOB("b", "4", "random"), "",
		"job b: 3 of its 4 hosts are free in topology ring");
	expect_refused("{name: a, schedule: /x, placement: \"file:%s\"}", "h0\nh9\n",
		":2: topology ring-4-2 has no host 'h9'");
	expect_refused("{name: a, schedule: /x, placement: \"file:%s\"}, "
		       "{name: b, schedule: /x, placement: \"file:%s\"}",
		"h3\n", ":1: job a already has host h3");
	expect_refused("{name: a, schedule: /x, placement: \"file:%s\"}", "h1\nh1\n",
		":2: job a already has host h1");
	expect_refused("{name: a, schedule: /x, placement: \"file:%s\"}", "# none\n",
		"job a: its file contains no hosts");
}
