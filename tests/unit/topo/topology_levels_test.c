/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_walk.h"

#include "base/rng.h"
#include "topo/topology_levels.h"

static void forget_levels(struct topology *topology)
{
	for (uint32_t s = 0; s < topology->switches; s++)
		topology->switch_at[s].stage = TOPOLOGY_NO_STAGE;
}

/* The generator knows the stages; the search must find the same ones. */
UNIT_TEST(levels_of_trees_are_found)
{
	static const char *const trees[] = {"rlft:ports=4,stages=2", "rlft:ports=8,stages=2",
		"rlft:ports=4,stages=3", "rlft:ports=6,stages=3", "rlft:ports=4,stages=5"};

	for (unsigned i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		OWNED(topology) *tree = walk_generate(trees[i]);
		OWNED(topology) *bare = topology_copy(tree);
		struct error why;

		forget_levels(bare);
		assert_false(topology_has_levels(bare));
		assert_int_equal(topology_levels_find(bare, &why), 0);
		for (uint32_t s = 0; s < tree->switches; s++)
			assert_int_equal(bare->switch_at[s].stage, tree->switch_at[s].stage);
	}
}

static void expect_none(const char *spec, const char *reason)
{
	OWNED(topology) *topology = walk_generate(spec);
	struct error why = {""};

	assert_int_equal(topology_levels_find(topology, &why), -EINVAL);
	assert_non_null(strstr(why.text, reason));
	assert_false(topology_has_levels(topology));
}

UNIT_TEST(other_networks_have_no_levels)
{
	expect_none("torus:dims=4x4,hosts=1", "are both on level 1");
	expect_none("dragonfly:a=4,p=2,h=2", "are both on level 1");
	expect_none("irregular:switches=16,seed=7", "are both on level 1");
	expect_none("full:switches=1,hosts=4", "a tree must have 2 to 255");
}

static struct topology *parse(const char *text)
{
	struct error error = {""};
	struct topology *topology = topology_parse(text, strlen(text), "test.yaml", &error);

	if (topology == NULL)
		fail_msg("%s", error.text);
	return topology;
}

/* Only hosts' switches join c0 and c1: a and b meet in c0, c and d in c1. */
UNIT_TEST(a_ring_of_levels_is_not_a_tree)
{
	OWNED(topology) *topology = parse(
		"weft: topology/1\n"
		"switches: [{name: a, ports: 4}, {name: b, ports: 4}, {name: c, ports: 4},\n"
		"  {name: m, ports: 4}, {name: n, ports: 4}]\n"
		"hosts: [{name: ha}, {name: hb}, {name: hc}]\n"
		"links: [{a: ha, b: a:0}, {a: hb, b: b:0}, {a: hc, b: c:0}, {a: a:1, b: m:0},\n"
		"  {a: b:1, b: m:1}, {a: b:2, b: n:0}, {a: c:1, b: n:1}]\n");
	struct error why = {""};

	assert_false(topology_has_levels(topology));
	assert_int_equal(topology_levels_find(topology, &why), -EINVAL);
	assert_string_equal(
		why.text, "topology: no levels: no path goes up and then down from switch a to c");
}

#define SPINE_WITH_HOST(stage)                                                              \
	"weft: topology/1\n"                                                                \
	"switches: [{name: top, ports: 4" stage "}, {name: a, ports: 4}, {name: b, ports: " \
	"4}]\n"                                                                             \
	"hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}, {name: h4}, {name: h5},\n" \
	"  {name: manager}]\n"                                                              \
	"links: [{a: h0, b: a:0}, {a: h1, b: a:1}, {a: h2, b: b:0}, {a: h3, b: b:1},\n"     \
	"  {a: h4, b: a:3}, {a: h5, b: b:3},\n"                                             \
	"  {a: a:2, b: top:0}, {a: b:2, b: top:1}, {a: manager, b: top:2}]\n"

UNIT_TEST(a_host_on_a_spine_does_not_hide_the_tree)
{
	OWNED(topology) *topology = parse(SPINE_WITH_HOST(""));
	struct topology_level level[UINT8_MAX];
	unsigned count;

	topology_levels_describe(topology, level, &count);
	assert_int_equal(count, 2);
	assert_int_equal(level[0].switches, 2);
	assert_int_equal(level[0].hosts, 6);
	assert_int_equal(level[0].up_max, 1);
	assert_int_equal(level[1].hosts, 1);
	assert_int_equal(level[1].down_min, 2);
}

UNIT_TEST(stages_of_the_file_are_kept)
{
	OWNED(topology) *topology = parse(SPINE_WITH_HOST(", stage: 7"));

	assert_int_equal(topology->switch_at[0].stage, 7);
	assert_int_equal(topology->switch_at[1].stage, TOPOLOGY_NO_STAGE);
}

static void remove_links(struct topology *topology, struct rng *rng, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (uint32_t)rng_below(rng, topology->links);

		if (topology->link_at[at].a.kind == topology->link_at[at].b.kind)
			topology->link_at[at] = topology->link_at[--topology->links];
	}
}

/* Returns whether the switches reach each other through strictly rising, then strictly falling
 * stages. By definition: a walk over (switch, still rising). */
static bool reaches(const struct topology *topology, uint32_t from, uint32_t to)
{
	bool seen[2][512] = {{false}};
	uint32_t queue[1024], head = 0, tail = 0;

	seen[0][from] = true;
	for (queue[tail++] = from * 2; head < tail; head++) {
		uint32_t at = queue[head] / 2;
		bool fell = queue[head] % 2 != 0;

		for (uint32_t i = 0; i < topology->links; i++) {
			const struct topology_link *link = &topology->link_at[i];
			uint32_t next;
			bool falls;

			if (link->a.kind != link->b.kind ||
				(link->a.device != at && link->b.device != at))
				continue;
			next = link->a.device == at ? link->b.device : link->a.device;
			falls = topology->switch_at[next].stage < topology->switch_at[at].stage;
			if ((fell && !falls) || seen[falls][next])
				continue;
			seen[falls][next] = true;
			queue[tail++] = next * 2 + falls;
		}
	}
	return seen[0][to] || seen[1][to];
}

/* Trees that lost links: a network that is called a tree is one. */
UNIT_TEST(damaged_trees_are_checked)
{
	unsigned found = 0, refused = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		OWNED(topology) *tree = walk_generate("rlft:ports=4,stages=3");
		struct topology_port a, b;
		struct error why = {""};
		struct rng rng;
		int result;

		rng_init(&rng, seed, 0, 0);
		forget_levels(tree);
		remove_links(tree, &rng, (uint32_t)rng_below(&rng, 12));
		assert_int_equal(topology_finish(tree, "drawn", &why), 0);
		result = topology_levels_find(tree, &why);
		found += result == 0;
		refused += result == -EINVAL;
		for (uint32_t h = 1; h < tree->hosts && result == 0; h++) {
			assert_true(topology_host_switch(tree, 0, &a));
			assert_true(topology_host_switch(tree, h, &b));
			assert_true(reaches(tree, a.device, b.device));
			assert_true(reaches(tree, b.device, a.device));
		}
	}
	assert_true(found > 5 && refused > 5);
}
