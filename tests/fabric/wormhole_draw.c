/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Random cases: small networks, any algorithm, any load, messages of 1 to 512 flits. */

#include <inttypes.h>

#include "random_network.h"
#include "route/route_algorithm.h"

#include "wormhole_case.h"

#define HOSTS_MAX 32

/* Sizes of a case, chosen so that all cases take about as long. */
#define FLITS_MIN    500
#define FLITS_MAX    40000
#define MESSAGES_MAX 1500
#define CYCLES_MAX   20000 /* over which the messages are spread */

static uint64_t between(struct rng *rng, uint64_t min, uint64_t max)
{
	return min + rng_below(rng, max - min + 1);
}

static struct topology *generate(const char *spec)
{
	struct error error = {""};
	struct topology *topology = topology_generate(spec, &error);

	if (topology == NULL)
		fail_msg("%s: %s", spec, error.text);
	return topology;
}

/* A ring for deadlocks. Half of the other networks are as in the thesis, with 4 to 8 switches. */
static struct topology *draw_topology(bool prone, struct rng *rng)
{
	static const char *const regular[] = {"ring:switches=5,hosts=2", "ring:switches=8,hosts=1",
		"mesh:dims=2x3,hosts=2", "mesh:dims=4,hosts=3", "torus:dims=2x4,hosts=2",
		"torus:dims=3x3,hosts=1", "hypercube:dims=2,hosts=3", "hypercube:dims=3,hosts=2",
		"full:switches=4,hosts=3", "full:switches=1,hosts=6"};
	unsigned switches = (unsigned)between(rng, 4, 8), degree = (unsigned)between(rng, 2, 4);
	char spec[128];

	if (prone)
		snprintf(spec, sizeof(spec), "ring:switches=%u,hosts=%u", switches,
			(unsigned)between(rng, 1, 3));
	if (prone)
		return generate(spec);
	if (rng_below(rng, 2) == 0) {
		degree -= degree >= switches || (degree == 3 && switches % 2 == 1);
		snprintf(spec, sizeof(spec), "irregular:switches=%u,degree=%u,hosts=%u,seed=%u",
			switches, degree, (unsigned)between(rng, 1, 4),
			(unsigned)between(rng, 1, 1000000));
		return generate(spec);
	}
	if (rng_below(rng, 2) == 0)
		return random_network(rng_next(rng), 8);
	return generate(regular[rng_below(rng, sizeof(regular) / sizeof(regular[0]))]);
}

/* Unconnected ports would only slow the reference model down. */
static void trim_ports(struct topology *topology)
{
	for (uint32_t i = 0; i < topology->switches; i++) {
		uint8_t *ports = &topology->switch_at[i].ports;

		while (*ports > 1 &&
			topology->switch_port_link[i * TOPOLOGY_PORTS_MAX + *ports - 1] < 0)
			--*ports;
	}
}

static void draw_parameters(struct wormhole_case *the_case, struct rng *rng)
{
	struct flit_parameters *parameters = &the_case->parameters;
	struct topology *topology = the_case->topology;
	uint64_t longest = 8;
	bool mixed;

	*parameters = FLIT_PARAMETERS_THESIS;
	mixed = rng_below(rng, 2) == 0;
	if (mixed) {
		longest = between(rng, 1, rng_below(rng, 6) == 0 ? 50 : 12);
		parameters->routing = (unsigned)between(rng, 1, rng_below(rng, 2) == 0 ? 3 : 40);
		parameters->go = (unsigned)between(rng, 2 * longest + 2, 2 * longest + 20);
		parameters->stop = parameters->go + (unsigned)between(rng, 0, 20);
		parameters->slots = parameters->stop + 2 * (unsigned)longest;
		parameters->slots += (unsigned)between(rng, 0, 8);
		parameters->detection = (unsigned)between(rng, 1, 60);
		parameters->programming = (unsigned)between(rng, 0, 60);
	}
	/* Fractions of a cycle are rounded up. */
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_link *link = &topology->link_at[i];

		link->rate_bps = 8 * PS_PER_S / parameters->cycle_ps;
		link->delay_ps = mixed ? between(rng, 1, longest) * parameters->cycle_ps -
						 rng_below(rng, parameters->cycle_ps)
				       : FLIT_DELAY_THESIS_PS;
	}
	/* One in three cases holds a few messages, one, or none. */
	if (rng_below(rng, 3) == 0)
		parameters->pool = between(rng, 1, rng_below(rng, 2) == 0 ? 150 : 1200);
}

static void draw_routes(struct wormhole_case *the_case, bool prone, struct rng *rng)
{
	static const char *const names[] = {"ud", "ud-random", "ud-itb", "ud-itb", "ud-mitb", "dfs",
		"dfs-itb", "dfs-itb-any", "random-itb", "bmin-itb", "b33-itb", "b66-itb",
		"bmax-itb", "bmax-itb", "minhop", "minhop"};
	const char *name = names[rng_below(rng, sizeof(names) / sizeof(names[0]))];
	bool tiny = the_case->parameters.pool < FLIT_PARAMETERS_THESIS.pool;
	struct route_options options = {.seed = rng_next(rng),
		.root = (uint32_t)rng_below(rng, the_case->topology->switches),
		.alternatives = (unsigned)between(rng, 1, 3)};
	struct error error = {""};

	if (prone)
		name = "minhop";
	else if (tiny && rng_below(rng, 4) != 0)
		name = "bmax-itb";
	the_case->routes = route_compute(
		the_case->topology, route_algorithm_find(name), &options, NULL, &error);
	if (the_case->routes == NULL)
		fail_msg("seed %" PRIu64 ", %s: %s", the_case->seed, name, error.text);
	snprintf(the_case->name, sizeof(the_case->name), "%s, %s", the_case->topology->name, name);
}

/* Pairs of source and destination. */
enum pattern { UNIFORM, MANY_TO_ONE, MANY_TO_TWO, FEW_PAIRS, PATTERNS };
static const char *const pattern_names[] = {"uniform", "many to one", "many to two", "few pairs"};

enum sizes { SIZE_512, SIZE_1, SIZE_ANY, SIZE_SHORT, SIZE_MARKS, SIZE_BIMODAL, SIZE_LONG, SIZES };
static const char *const size_names[] = {
	"512", "1", "1 to 512", "1 to 30", "about the marks", "32 or 512", "1 to 3000"};

static uint32_t draw_size(enum sizes sizes, struct rng *rng)
{
	switch (sizes) {
	case SIZE_512:
		return 512;
	case SIZE_1:
		return 1;
	case SIZE_SHORT:
		return (uint32_t)between(rng, 1, 30);
	case SIZE_MARKS:
		return (uint32_t)between(rng, 20, 100);
	case SIZE_LONG:
		return (uint32_t)between(rng, 1, 3000);
	case SIZE_BIMODAL:
		return rng_below(rng, 10) < 7 ? 32 : 512;
	default:
		return (uint32_t)between(rng, 1, 512);
	}
}

static void draw_pair(enum pattern pattern, uint32_t hosts, uint64_t seed, struct rng *rng,
	uint32_t *source, uint32_t *destination)
{
	uint32_t few = (uint32_t)rng_below(rng, 4);

	do {
		*source = (uint32_t)rng_below(rng, hosts);
		*destination = (uint32_t)rng_below(rng, hosts);
		if (pattern == MANY_TO_ONE)
			*destination = (uint32_t)(seed % hosts);
		if (pattern == MANY_TO_TWO && rng_below(rng, 8) != 0)
			*destination = (uint32_t)((seed + rng_below(rng, 2)) % hosts);
		if (pattern == FEW_PAIRS) {
			struct rng pair;

			rng_init(&pair, seed, few++, 77);
			*source = (uint32_t)rng_below(&pair, hosts);
			*destination = (uint32_t)rng_below(&pair, hosts);
		}
	} while (*source == *destination);
}

/* Mean number of cycles between messages of all hosts, from a load at which messages hardly meet to
 * all at the same time. */
static uint64_t draw_gap(struct rng *rng)
{
	static const uint64_t gaps[] = {0, 0, 5, 20, 60, 150, 400, 1500};

	return gaps[rng_below(rng, sizeof(gaps) / sizeof(gaps[0]))];
}

static void draw_messages(struct wormhole_case *the_case, bool prone, struct rng *rng)
{
	enum pattern pattern = prone ? UNIFORM : (enum pattern)rng_below(rng, PATTERNS);
	enum sizes sizes = prone ? SIZE_512 : (enum sizes)rng_below(rng, SIZES);
	uint64_t flits = between(rng, FLITS_MIN, FLITS_MAX), cycle = 0;
	uint64_t gap = prone ? 0 : draw_gap(rng);
	size_t named = strlen(the_case->name);

	if (!prone && rng_below(rng, 2) == 0)
		flits /= 8;
	the_case->message = calloc(MESSAGES_MAX, sizeof(*the_case->message));
	assert_non_null(the_case->message);
	for (uint64_t sent = 0;
		sent < flits && cycle < CYCLES_MAX && the_case->messages < MESSAGES_MAX;) {
		struct flit_message *message = &the_case->message[the_case->messages];
		unsigned routes;

		draw_pair(pattern, the_case->topology->hosts, the_case->seed, rng, &message->source,
			&message->destination);
		routes = route_set_count(the_case->routes, message->source, message->destination);
		assert_true(routes > 0);
		message->route =
			route_set_get(the_case->routes, message->source, message->destination,
				(unsigned)rng_below(rng, routes), &message->route_length);
		message->bytes = draw_size(sizes, rng);
		/* Not always later than the previous ones in the list. */
		message->cycle = cycle + rng_below(rng, 2 * gap + 1);
		cycle += rng_below(rng, 2 * gap + 1);
		sent += message->bytes;
		the_case->messages++;
	}
	snprintf(the_case->name + named, sizeof(the_case->name) - named,
		", %s, messages of %s, one in %" PRIu64 " cycles", pattern_names[pattern],
		size_names[sizes], gap);
}

void wormhole_case_draw(struct wormhole_case *the_case, uint64_t seed)
{
	bool prone = seed % 10 == 0;
	struct rng rng;

	rng_init(&rng, seed, 0, 1234);
	memset(the_case, 0, sizeof(*the_case));
	the_case->seed = seed;
	do {
		topology_destroy(the_case->topology);
		the_case->topology = draw_topology(prone, &rng);
	} while (the_case->topology->hosts < 2 || the_case->topology->hosts > HOSTS_MAX);
	trim_ports(the_case->topology);
	draw_parameters(the_case, &rng);
	the_case->parameters.routed_before_grant = seed % 3 == 0;
	draw_routes(the_case, prone, &rng);
	draw_messages(the_case, prone, &rng);
	the_case->until = !prone && rng_below(&rng, 4) == 0 ? between(&rng, 1, 8000) : FLIT_NEVER;
}

void wormhole_case_free(struct wormhole_case *the_case)
{
	free(the_case->message);
	route_set_destroy(the_case->routes);
	topology_destroy(the_case->topology);
}
