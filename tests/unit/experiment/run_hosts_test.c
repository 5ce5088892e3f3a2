/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The sources and destinations of a run. */

#include "unit.h"

#include <errno.h>

#include "experiment/workload/run_hosts.h"
#include "temporary_file.h"

struct resolved {
	struct run_config *config;
	struct topology *topology;
	struct run_hosts *hosts;
	struct error error;
};

/* A run of 20 hosts with these traffic rows. */
static void resolve(struct resolved *resolved, const char *seed, const char *rows)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"weft: run/1\ntopology: \"ring:switches=10,hosts=2\"\nclock: real\nseed: %s\n%s",
		seed, rows);
	resolved->error.text[0] = '\0';
	resolved->config =
		run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &resolved->error);
	assert_string_equal(resolved->error.text, "");
	resolved->topology = run_config_open_topology(resolved->config, &resolved->error);
	resolved->hosts =
		run_config_resolve(resolved->config, resolved->topology, &resolved->error);
}

static void finish(struct resolved *resolved)
{
	run_hosts_destroy(resolved->hosts);
	topology_destroy(resolved->topology);
	run_config_destroy(resolved->config);
}
#define resolved_out_of_scope finish

static bool contains(const uint16_t *list, uint32_t count, uint16_t host)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == host)
			return true;
	return false;
}

UNIT_TEST(rest_is_who_no_other_entry_names)
{
	OWNED(resolved) r;

	resolve(&r, "1",
		"traffic:\n  - {pattern: uniform}\n"
		"  - {pattern: hotspot, from: [h3, h1], to: [h4]}\n");
	assert_int_equal(r.hosts->entry[1].from_count, 2);
	assert_int_equal(r.hosts->entry[1].from[0], 1);
	assert_int_equal(r.hosts->entry[1].from[1], 3);
	assert_int_equal(r.hosts->entry[1].to_count, 1);
	assert_int_equal(r.hosts->entry[1].to[0], 4);
	assert_int_equal(r.hosts->entry[0].from_count, 18);
	assert_false(contains(r.hosts->entry[0].from, 18, 1));
	assert_false(contains(r.hosts->entry[0].from, 18, 3));
	assert_int_equal(r.hosts->entry[0].to_count, 20);
}

UNIT_TEST(rest_leaves_out_edges_and_all_does_not)
{
	OWNED(resolved) r;

	resolve(&r, "1",
		"edges: [{host: h0, tap: t0}, {host: h7, tap: t1}]\n"
		"traffic:\n  - {pattern: uniform, from: rest, to: rest}\n"
		"  - {pattern: uniform, from: all, to: all}\n");
	assert_int_equal(r.hosts->edge[0], 0);
	assert_int_equal(r.hosts->edge[1], 7);
	assert_int_equal(r.hosts->entry[0].from_count, 18);
	assert_int_equal(r.hosts->entry[0].to_count, 18);
	assert_false(contains(r.hosts->entry[0].from, 18, 0));
	assert_false(contains(r.hosts->entry[0].to, 18, 7));
	assert_int_equal(r.hosts->entry[1].from_count, 20);
	assert_int_equal(r.hosts->entry[1].to_count, 20);
}

static const char share_rows[] = "edges: [{host: h0, tap: t0}]\ntraffic:\n"
				 "  - {pattern: hotspot, from: 25%, to: [h4]}\n"
				 "  - {pattern: hotspot, from: [h9], to: [h5]}\n"
				 "  - {pattern: hotspot, from: 10%, to: [h6]}\n"
				 "  - {pattern: uniform}\n";

UNIT_TEST(a_share_is_drawn_among_those_that_nothing_names)
{
	static const char *const seeds[] = {"1", "2", "3", "4", "5", "99"};

	for (unsigned s = 0; s < 6; s++) {
		OWNED(resolved) r;
		unsigned times[20] = {0};

		resolve(&r, seeds[s], share_rows);
		assert_string_equal(r.error.text, "");
		for (unsigned e = 0; e < 4; e++)
			for (uint32_t i = 0; i < r.hosts->entry[e].from_count; i++)
				times[r.hosts->entry[e].from[i]]++;
		assert_int_equal(times[0], 0); /* the edge */
		for (unsigned h = 0; h < 20; h++)
			assert_true(times[h] <= 1);
		/* 5 of 20, without the hot spot itself if it was drawn; likewise 2. */
		assert_true(r.hosts->entry[0].from_count >= 4);
		assert_true(r.hosts->entry[0].from_count <= 5);
		assert_true(r.hosts->entry[2].from_count >= 1);
		assert_false(contains(r.hosts->entry[0].from, r.hosts->entry[0].from_count, 4));
		assert_false(contains(r.hosts->entry[0].from, r.hosts->entry[0].from_count, 9));
	}
}

/* With 20 hosts, half of which send, some seed would draw it. */
UNIT_TEST(a_hot_host_is_not_drawn_among_its_senders)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		char text[16];
		OWNED(resolved) r;

		snprintf(text, sizeof(text), "%u", seed);
		resolve(&r, text,
			"traffic:\n  - {pattern: hotspot, from: 50%, to: [h3, h7]}\n"
			"  - {pattern: uniform, from: rest}\n");
		assert_non_null(r.hosts);
		assert_int_equal(r.hosts->entry[0].from_count, 10);
		assert_false(contains(r.hosts->entry[0].from, 10, 3));
		assert_false(contains(r.hosts->entry[0].from, 10, 7));
		assert_true(contains(r.hosts->entry[1].from, r.hosts->entry[1].from_count, 3));
	}
}

/* Draws hosts without a hot host, and with a hot host that is not among them. */
UNIT_TEST(a_hot_host_changes_no_other_draw)
{
	struct resolved plain, hot;
	char rows[128];
	uint16_t spot = 0;

	resolve(&plain, "5", "traffic: [{pattern: uniform, from: 50%}]\n");
	while (contains(plain.hosts->entry[0].from, 10, spot))
		spot++;
	snprintf(
		rows, sizeof(rows), "traffic: [{pattern: hotspot, from: 50%%, to: [h%u]}]\n", spot);
	resolve(&hot, "5", rows);
	assert_memory_equal(plain.hosts->entry[0].from, hot.hosts->entry[0].from, 20);
	finish(&hot);
	/* With a hot host that is among them, all others stay. */
	snprintf(rows, sizeof(rows), "traffic: [{pattern: hotspot, from: 50%%, to: [h%u]}]\n",
		plain.hosts->entry[0].from[4]);
	resolve(&hot, "5", rows);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(
			contains(hot.hosts->entry[0].from, 10, plain.hosts->entry[0].from[i]),
			i != 4);
	finish(&hot);
	finish(&plain);
}

UNIT_TEST(hot_hosts_that_are_drawn_are_none_of_the_senders)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		char text[16];
		OWNED(resolved) r;

		snprintf(text, sizeof(text), "%u", seed);
		resolve(&r, text, "traffic: [{pattern: hotspot, from: 50%, to: 50%}]\n");
		assert_non_null(r.hosts);
		for (unsigned i = 0; i < 10; i++)
			assert_false(contains(r.hosts->entry[0].to, 10, r.hosts->entry[0].from[i]));
	}
}

UNIT_TEST(the_same_seed_draws_the_same_hosts_and_another_one_others)
{
	OWNED(resolved) a, b, c;
	bool same;

	resolve(&a, "1", share_rows);
	resolve(&b, "1", share_rows);
	resolve(&c, "2", share_rows);
	assert_int_equal(a.hosts->entry[0].from_count, b.hosts->entry[0].from_count);
	assert_memory_equal(a.hosts->entry[0].from, b.hosts->entry[0].from,
		a.hosts->entry[0].from_count * sizeof(uint16_t));
	same = a.hosts->entry[0].from_count == c.hosts->entry[0].from_count &&
	       memcmp(a.hosts->entry[0].from, c.hosts->entry[0].from,
		       a.hosts->entry[0].from_count * sizeof(uint16_t)) == 0;
	assert_false(same);
}

UNIT_TEST(a_single_destination_does_not_send_to_itself)
{
	OWNED(resolved) r;

	resolve(&r, "1", "traffic: [{pattern: hotspot, from: all, to: [h4]}]\n");
	assert_int_equal(r.hosts->entry[0].from_count, 19);
	assert_false(contains(r.hosts->entry[0].from, 19, 4));
}

UNIT_TEST(a_permutation_of_the_seed_has_everybody_once)
{
	OWNED(resolved) r;
	unsigned received[20] = {0};

	resolve(&r, "3", "traffic: [{pattern: permutation}]\n");
	assert_int_equal(r.hosts->entry[0].from_count, 20);
	assert_int_equal(r.hosts->entry[0].to_count, 20);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_not_equal(r.hosts->entry[0].from[i], r.hosts->entry[0].to[i]);
		received[r.hosts->entry[0].to[i]]++;
	}
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(received[i], 1);
}

static void resolve_file(struct resolved *r, const char *contents)
{
	char path[] = "/tmp/weft-permutation-XXXXXX", rows[128];

	temporary_file(path, contents);
	snprintf(rows, sizeof(rows), "traffic: [{pattern: permutation, file: %s}]\n", path);
	resolve(r, "1", rows);
	unlink(path);
}

UNIT_TEST(a_permutation_file_names_its_pairs)
{
	OWNED(resolved) r;

	resolve_file(&r, "# pairs\nh0 h5\n\n  h5\th0 # back\nh7 h1");
	assert_int_equal(r.hosts->entry[0].from_count, 3);
	assert_int_equal(r.hosts->entry[0].from[2], 7);
	assert_int_equal(r.hosts->entry[0].to[2], 1);
}

UNIT_TEST(a_bad_permutation_file_is_refused_with_its_line)
{
	static const struct {
		const char *contents, *message;
	} bad[] = {
		{"h0\n", ":1: expected SOURCE DESTINATION"},
		{"h0 h1 h2\n", ":1: expected SOURCE DESTINATION"},
		{"h0 h1\nh0 h2\n", ":2: host h0 is already a source in line 1"},
		{"h0 h1\nh2 h1\n", ":2: host h1 is already a destination in line 1"},
		{"\nh99 h1\n", ":2: topology ring-10-2 has no host 'h99'"},
		{"h1 h1\n", ":1: host h1 would send to itself"},
		{"# nothing\n", ": contains no pairs of hosts"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OWNED(resolved) r;

		resolve_file(&r, bad[i].contents);
		assert_null(r.hosts);
		assert_non_null(strstr(r.error.text, bad[i].message));
	}
}

UNIT_TEST(hosts_that_cannot_be_are_refused_with_their_place)
{
	static const struct {
		const char *rows, *message;
	} bad[] = {
		{"traffic: [{pattern: uniform, from: [h20]}]\n",
			"r.yaml:5:36: topology ring-10-2 has no host 'h20'; its 20 hosts are h0 to "
			"h19"},
		{"traffic: [{pattern: uniform, from: [h1, h1]}]\n",
			"r.yaml:5:36: a host is listed twice"},
		{"edges: [{host: x, tap: t}]\n",
			"r.yaml:5:9: topology ring-10-2 has no host 'x'; its 20 hosts are h0 to h19"},
		{"traffic: [{pattern: uniform, from: 1%}]\n",
			"r.yaml:5:36: the percentage amounts to 0 of 20 hosts, but only 20 are left to "
			"choose "
			"from"},
		{"traffic: [{pattern: uniform, from: 80%}, {pattern: uniform, from: 50%}]\n",
			"r.yaml:5:67: the percentage amounts to 10 of 20 hosts, but only 4 are left to "
			"choose "
			"from"},
		{"traffic: [{pattern: uniform, from: 100%}, {pattern: uniform}]\n",
			"r.yaml:5:43: no host is left for 'rest', the default for 'from'; "
			"list the hosts, or use 'all'"},
		{"traffic: [{pattern: hotspot, from: [h4], to: [h4]}]\n",
			"r.yaml:5:36: a listed source would send only to itself"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OWNED(resolved) r;

		resolve(&r, "1", bad[i].rows);
		assert_null(r.hosts);
		assert_int_equal(errno, EINVAL);
		assert_string_equal(r.error.text, bad[i].message);
	}
}
