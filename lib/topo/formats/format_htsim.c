/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A .topo file describes a fat tree of two or three tiers to htsim (fat_tree_topology.cpp):
 *
 *     Nodes 1024
 *     Tiers 3
 *     Podsize 64             hosts per pod
 *     Tier 0                 0: next to the hosts
 *     Downlink_speed_Gbps 100
 *     Radix_Down 8
 *     Radix_Up 8             not in the last tier
 *     Downlink_Latency_ns 1000
 *     Oversubscribed 1       Radix_Down * speed / (Radix_Up * speed of the next tier)
 *     Bundle 1               parallel links down to each switch
 *
 * A switch of tier 0 has Bundle links to each switch of tier 1 in its pod. Switch a of tier 1 in
 * each pod has as many to each switch a + i A of tier 2, where A is the number of tier 1 switches
 * per pod. Latencies of switches and queues are properties of a run and are ignored. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "listing_reader.h"
#include "topo/topology_levels.h"

#define TIERS_MAX 3
/* 1 Gbps */
#define BPS ((uint64_t)1000 * 1000 * 1000)

enum key { NODES, TIERS, PODSIZE, SPEED, DOWN, UP, DELAY, OVER, BUNDLE, KEYS };

static const struct {
	const char *name;
	uint32_t max;
} keys[] = {{"Nodes", TOPOLOGY_HOSTS_MAX}, {"Tiers", TIERS_MAX}, {"Podsize", TOPOLOGY_HOSTS_MAX},
	{"Downlink_speed_Gbps", TOPOLOGY_RATE_MAX_BPS / BPS}, {"Radix_Down", TOPOLOGY_PORTS_MAX},
	{"Radix_Up", TOPOLOGY_PORTS_MAX}, {"Downlink_Latency_ns", UINT32_MAX},
	{"Oversubscribed", UINT16_MAX}, {"Bundle", TOPOLOGY_PORTS_MAX},
	/* Ignored. */
	{"Switch_Latency_ns", UINT32_MAX}, {"Queue_Up", UINT32_MAX}, {"Queue_Down", UINT32_MAX}};

struct tree {
	uint32_t value[TIERS_MAX][KEYS]; /* the first three keys are in tier 0 */
	uint32_t line[TIERS_MAX];        /* line of 'Tier' */
	unsigned tier, tiers_begun;
	/* Numbers of pods, of tier 0 and tier 1 switches per pod, and of tier 2 switches per tier 1
	 * switch. */
	uint32_t pods, lower, upper, above;
};

static bool is_key(struct ib_text word, const char *name)
{
	return word.length == strlen(name) && strncasecmp(word.start, name, word.length) == 0;
}

static int read_value(struct listing_reader *reader, uint32_t max, uint32_t *value)
{
	uint32_t number;
	int result = listing_number(reader, listing_word(reader), 10, max, &number);

	if (result == 0 && !listing_take(reader, "#") && reader->at < reader->end)
		return listing_refuse(reader, "expected the end of the line");
	if (result == 0)
		*value = number;
	return result;
}

static int read_line(struct listing_reader *reader)
{
	struct tree *tree = reader->context;
	struct ib_text word = listing_word(reader);
	uint32_t *value, ignored;
	unsigned key = 0;

	if (is_key(word, "Tier")) {
		tree->tiers_begun++;
		if (read_value(reader, TIERS_MAX - 1, &tree->tier) < 0)
			return -EINVAL;
		tree->line[tree->tier] = reader->number;
		return 0;
	}
	while (key < sizeof(keys) / sizeof(keys[0]) && !is_key(word, keys[key].name))
		key++;
	if (key == sizeof(keys) / sizeof(keys[0]) || (key >= SPEED && tree->tiers_begun == 0)) {
		reader->at = word.start;
		return listing_refuse(reader, "expected an htsim key such as %s, found '%.*s'",
			tree->tiers_begun == 0 ? "Nodes" : "Radix_Down", ib_shown(word),
			word.start);
	}
	value = key < KEYS ? &tree->value[key < SPEED ? 0 : tree->tier][key] : &ignored;
	if (key < KEYS && *value != 0)
		return listing_refuse(reader, "duplicate %s", keys[key].name);
	return read_value(reader, keys[key].max, value);
}

static int check_given(struct listing_reader *reader, struct tree *tree)
{
	uint32_t *head = tree->value[0];

	if (head[NODES] == 0 || head[PODSIZE] == 0 || head[TIERS] < 2)
		return listing_refuse(reader, "expected Nodes, Podsize, and 2 or 3 Tiers");
	for (unsigned tier = 0; tier < head[TIERS]; tier++)
		for (unsigned key = SPEED; key < KEYS; key++) {
			uint32_t *value = &tree->value[tier][key];

			if (*value == 0 && key >= OVER)
				*value = 1;
			if (*value == 0 && (key != UP || tier + 1 < head[TIERS]))
				return listing_refuse(
					reader, "tier %u has no %s", tier, keys[key].name);
		}
	return 0;
}

/* Returns true if a tier below the last has the ratio of bandwidth down to bandwidth up in its key.
 */
static bool is_oversubscribed(const struct tree *tree, unsigned tier)
{
	const uint32_t *value = tree->value[tier];

	return (uint64_t)value[DOWN] * value[SPEED] ==
	       (uint64_t)value[UP] * tree->value[tier + 1][SPEED] * value[OVER];
}

/* htsim exits under the same conditions. They ensure that a missing line never changes the tree. */
static int check_shape(struct listing_reader *reader, struct tree *tree)
{
	const uint32_t *head = tree->value[0], *middle = tree->value[1], *last = tree->value[2];
	bool third = head[TIERS] == 3;

	tree->pods = head[NODES] / head[PODSIZE];
	tree->lower = head[PODSIZE] / head[DOWN];
	tree->upper = head[UP] / middle[BUNDLE];
	tree->above = third ? middle[UP] / last[BUNDLE] : 0;
	const struct {
		bool good;
		unsigned tier;
		const char *expected;
	} rules[] = {{head[NODES] % head[PODSIZE] == 0 && head[PODSIZE] % head[DOWN] == 0, 0,
			     "whole pods of Radix_Down hosts per switch"},
		{third || tree->pods == 1, 1, "one pod in a tree of two tiers"},
		{head[BUNDLE] == 1, 0, "one link per host"},
		{head[UP] == tree->upper * middle[BUNDLE], 0,
			"Radix_Up to be a multiple of Bundle of tier 1"},
		{middle[DOWN] == tree->lower * middle[BUNDLE], 1,
			"Radix_Down to be Bundle times the tier 0 switches per pod"},
		{is_oversubscribed(tree, 0), 0, "Oversubscribed to follow from radices and speeds"},
		{!third || middle[UP] == tree->above * last[BUNDLE], 1,
			"Radix_Up to be a multiple of Bundle of tier 2"},
		{!third || last[DOWN] == tree->pods * last[BUNDLE], 2,
			"Radix_Down to be Bundle times the number of pods"},
		{!third || is_oversubscribed(tree, 1), 1,
			"Oversubscribed to follow from radices and speeds"},
		{(uint64_t)tree->pods * (tree->lower + tree->upper) + tree->upper * tree->above <=
				TOPOLOGY_SWITCHES_MAX,
			0, "fewer switches"}};

	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!rules[i].good) {
			reader->number = tree->line[rules[i].tier];
			return listing_refuse(
				reader, "tier %u: expected %s", rules[i].tier, rules[i].expected);
		}
	return 0;
}

static int add_nodes(struct listing_reader *reader, enum device_kind kind, uint32_t count)
{
	int result = 0;

	for (uint32_t i = 0, node; i < count && result == 0; i++) {
		struct ib_text name;

		result = listing_keep(reader, &name, "%c%u", kind == DEVICE_SWITCH ? 's' : 'h', i);
		if (result == 0)
			result = listing_node(reader, kind, name, name, &node);
	}
	return result;
}

/* Adds the links from a switch down to another device. */
static int add_links(struct listing_reader *reader, unsigned tier, uint32_t below, uint32_t above)
{
	const uint32_t *value = ((const struct tree *)reader->context)->value[tier];
	int result = 0;

	for (uint32_t i = 0; i < value[BUNDLE] && result == 0; i++)
		result = listing_connect(reader, (struct listing_end){below, 0},
			(struct listing_end){above, 0}, value[SPEED] * BPS,
			value[DELAY] * PS_PER_NS);
	return result;
}

/* Numbers the switches of tiers 0, 1 and 2, then the hosts. */
static int add_tree(struct listing_reader *reader, const struct tree *tree)
{
	uint32_t hosts = tree->value[0][NODES], lower = tree->pods * tree->lower;
	uint32_t upper = tree->pods * tree->upper, switches = lower + upper;
	int result;

	switches += tree->upper * tree->above;
	result = add_nodes(reader, DEVICE_SWITCH, switches);
	if (result == 0)
		result = add_nodes(reader, DEVICE_HOST, hosts);
	for (uint32_t h = 0; h < hosts && result == 0; h++)
		result = add_links(reader, 0, switches + h, h / tree->value[0][DOWN]);
	for (uint32_t s = 0; s < lower; s++)
		for (uint32_t i = 0; i < tree->upper && result == 0; i++)
			result = add_links(reader, 1, s, lower + s / tree->lower * tree->upper + i);
	for (uint32_t s = 0; s < upper; s++)
		for (uint32_t i = 0; i < tree->above && result == 0; i++)
			result = add_links(reader, 2, lower + s,
				lower + upper + s % tree->upper + i * tree->upper);
	return result;
}

static int finish(struct listing_reader *reader, struct error *error)
{
	struct tree *tree = reader->context;
	int result;

	reader->at = reader->start;
	result = check_given(reader, tree);
	if (result == 0)
		result = check_shape(reader, tree);
	if (result == 0)
		result = add_tree(reader, tree);
	if (result == -EINVAL && error != NULL)
		*error = reader->odd;
	return result;
}

LISTING_READER(read_htsim, struct tree, .line = read_line, .finish = finish)

/* --- export --- */

/* Returns the tier of a link's upper end. */
static unsigned tier_of(const struct topology *topology, const struct topology_link *link)
{
	unsigned a = link->a.kind == DEVICE_HOST ? 0 : topology->switch_at[link->a.device].stage;
	unsigned b = link->b.kind == DEVICE_HOST ? 0 : topology->switch_at[link->b.device].stage;
	unsigned top = a > b ? a : b;

	return top < 1 || top > TIERS_MAX ? 0 : top - 1;
}

static bool are_parallel(const struct topology_link *x, const struct topology_link *y)
{
	return x->a.kind == y->a.kind && x->a.device == y->a.device && x->b.kind == y->b.kind &&
	       x->b.device == y->b.device;
}

/* Describes a tree with the same number of links. Does not check that the links are the same. */
static void describe(const struct topology *topology, struct tree *tree)
{
	const struct topology_link *first[TIERS_MAX] = {NULL};
	uint32_t links[TIERS_MAX + 1] = {0}, switches[TIERS_MAX] = {0};
	uint32_t *head = tree->value[0];

	for (uint32_t s = 0; s < topology->switches; s++)
		switches[(topology->switch_at[s].stage + 2u) % TIERS_MAX]++;
	head[TIERS] = switches[2] > 0 ? 3 : 2;
	head[NODES] = topology->hosts;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		unsigned tier = tier_of(topology, link);

		links[tier]++;
		first[tier] = first[tier] == NULL ? link : first[tier];
		tree->value[tier][BUNDLE] += are_parallel(first[tier], link);
	}
	for (unsigned tier = 0; tier < head[TIERS]; tier++) {
		uint32_t *value = tree->value[tier];

		if (first[tier] == NULL || switches[tier] == 0)
			continue;
		value[SPEED] = (uint32_t)(first[tier]->rate_bps / BPS);
		value[DELAY] = (uint32_t)(first[tier]->delay_ps / PS_PER_NS);
		value[DOWN] = links[tier] / switches[tier];
		value[UP] = links[tier + 1] / switches[tier];
	}
	for (unsigned tier = 0; tier + 1 < head[TIERS]; tier++) {
		uint64_t up = (uint64_t)tree->value[tier][UP] * tree->value[tier + 1][SPEED];

		if (up > 0)
			tree->value[tier][OVER] = (uint32_t)((uint64_t)tree->value[tier][DOWN] *
							     tree->value[tier][SPEED] / up);
	}
	head[PODSIZE] = head[NODES];
	if (head[TIERS] == 3 && tree->value[1][BUNDLE] > 0)
		head[PODSIZE] = tree->value[1][DOWN] / tree->value[1][BUNDLE] * head[DOWN];
}

static void write_tree(const struct tree *tree, FILE *out)
{
	for (unsigned key = NODES; key < SPEED; key++)
		fprintf(out, "%s %u\n", keys[key].name, tree->value[0][key]);
	for (unsigned tier = 0; tier < tree->value[0][TIERS]; tier++) {
		fprintf(out, "\nTier %u\n", tier);
		for (unsigned key = SPEED; key < KEYS; key++)
			if ((key != UP && key != OVER) || tier + 1 < tree->value[0][TIERS])
				fprintf(out, "%s %u\n", keys[key].name, tree->value[tier][key]);
	}
}

struct cable {
	uint32_t a, b; /* hosts are numbered after switches; the smaller number is first */
	uint64_t rate_bps, delay_ps;
};

static int compare_cables(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cable));
}

static uint32_t number_of(const struct topology *topology, struct topology_port port)
{
	return port.kind == DEVICE_SWITCH ? port.device : topology->switches + port.device;
}

/* Returns the cables in sorted order, or NULL if out of memory. */
static struct cable *cables_of(const struct topology *topology)
{
	struct cable *cable = calloc(topology->links + 1u, sizeof(*cable));

	if (cable == NULL)
		return NULL;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		uint32_t a = number_of(topology, link->a), b = number_of(topology, link->b);

		cable[i] = (struct cable){
			a < b ? a : b, a < b ? b : a, link->rate_bps, link->delay_ps};
	}
	qsort(cable, topology->links, sizeof(*cable), compare_cables);
	return cable;
}

static bool are_equal(const struct topology *topology, const struct topology *other)
{
	struct cable *mine = cables_of(topology), *theirs = cables_of(other);
	bool equal = mine != NULL && theirs != NULL && topology->switches == other->switches &&
		     topology->links == other->links &&
		     memcmp(mine, theirs, topology->links * sizeof(*mine)) == 0;

	free(mine);
	free(theirs);
	return equal;
}

/* Reads the text back, because it must result in the same network. */
static int write_htsim(const struct topology *topology, FILE *out, struct error *error)
{
	struct topology_import strict = {.strict = true};
	struct topology *again = NULL;
	struct tree tree = {.tier = 0};
	struct error why = {"it has no levels"};
	char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);
	int result = 0;

	if (memory == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", topology->name);
	describe(topology, &tree);
	write_tree(&tree, memory);
	if (fclose(memory) == 0 && topology_has_levels(topology))
		again = read_htsim(text, length, topology->name, &strict, &why);
	if (again != NULL && are_equal(topology, again))
		fwrite(text, 1, length, out);
	else
		result = error_set(error, EINVAL,
			"%s: htsim only supports fat trees of two or three tiers with equal pods (%s)",
			topology->name, again != NULL ? "different links" : why.text);
	topology_destroy(again);
	free(text);
	return result;
}

const struct topology_format format_htsim = {
	.name = "htsim",
	.help = "fat trees of htsim (.topo)",
	.write = write_htsim,
	.read = read_htsim,
};
