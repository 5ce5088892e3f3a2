/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-bench-wormhole [MESSAGES [RATIO_MESSAGES]]: the trains of the virtual clock and the model
 * that moves every flit, on networks of 64 switches under uniform traffic of 512-byte messages.
 * Both get the same RATIO_MESSAGES (4000) and have to agree on every cycle; the trains alone get
 * MESSAGES (400000), a run point of the thesis. Processor time; a line a network. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "route/route_algorithm.h"

#include "wormhole_case.h"

#define MESSAGE_BYTES  512
#define RATIO_AIM      100
#define POINT_AIM      3.0 /* seconds for POINT_MESSAGES */
#define POINT_MESSAGES 400000

struct network {
	const char *spec, *algorithm;
	uint32_t load; /* flits per microsecond and switch; the thesis gives flits/ns/switch */
	const char *what;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void give_up(const char *what)
{
	fprintf(stderr, "weft-bench-wormhole: %s\n", what);
	exit(3);
}

static void begin(struct wormhole_case *the_case, const struct network *network)
{
	const struct topology_defaults links = {
		.rate_bps = FLIT_RATE_THESIS_BPS, .delay_ps = FLIT_DELAY_THESIS_PS};
	struct route_options options = {.seed = 1, .alternatives = 1};
	struct error error = {""};

	*the_case =
		(struct wormhole_case){.parameters = FLIT_PARAMETERS_THESIS, .until = FLIT_NEVER};
	snprintf(the_case->name, sizeof(the_case->name), "%s, %s", network->spec,
		network->algorithm);
	the_case->topology = topology_open_with(network->spec, &links, &error);
	if (the_case->topology == NULL)
		give_up(error.text);
	the_case->routes = route_compute(the_case->topology,
		route_algorithm_find(network->algorithm), &options, NULL, &error);
	if (the_case->routes == NULL)
		give_up(error.text);
}

/* Each host has a message at intervals that are evenly distributed from zero to twice the mean. */
static void load(struct wormhole_case *the_case, const struct network *network, uint32_t messages)
{
	uint32_t hosts = the_case->topology->hosts;
	/* Messages a cycle are load * switches * 0.00625 / 512. */
	uint64_t gap = (uint64_t)MESSAGE_BYTES * 160000 * hosts /
		       ((uint64_t)network->load * the_case->topology->switches * 1000);
	uint64_t *next = calloc(hosts, sizeof(*next));
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	free(the_case->message);
	the_case->message = calloc(messages, sizeof(*the_case->message));
	if (next == NULL || the_case->message == NULL)
		give_up("out of memory");
	for (uint32_t i = 0; i < messages; i++) {
		struct flit_message *message = &the_case->message[i];

		message->source = i % hosts;
		message->destination = (uint32_t)rng_below(&rng, hosts - 1);
		message->destination += message->destination >= message->source;
		message->bytes = MESSAGE_BYTES;
		next[message->source] += rng_below(&rng, 2 * gap + 1);
		message->cycle = next[message->source];
		message->route = route_set_get(the_case->routes, message->source,
			message->destination, 0, &message->route_length);
	}
	the_case->messages = messages;
	free(next);
}

typedef void run_fn(const struct wormhole_case *the_case, struct wormhole_outcome *outcome);

static double timed(
	run_fn *run, const struct wormhole_case *the_case, struct wormhole_outcome *outcome)
{
	double before = seconds();

	run(the_case, outcome);
	return seconds() - before;
}

/* Seconds of the trains for the messages; both models take turns. */
static double compare(const struct wormhole_case *the_case, double *flits_seconds)
{
	struct wormhole_outcome flits, trains;
	double best = 0;
	char text[512];

	*flits_seconds = timed(wormhole_run_flits, the_case, &flits);
	for (unsigned turn = 0; turn < 3; turn++) {
		double now = timed(wormhole_run_trains, the_case, &trains);

		best = turn == 0 || now < best ? now : best;
		if (wormhole_differ(the_case, &flits, &trains, text, sizeof(text)))
			give_up(text);
		wormhole_outcome_free(&trains);
	}
	wormhole_outcome_free(&flits);
	return best;
}

static void accepted(
	const struct wormhole_case *the_case, const struct wormhole_outcome *outcome, double took)
{
	uint64_t last = 0, ready = 0, flits = 0;

	for (uint32_t i = 0; i < the_case->messages; i++)
		if (the_case->message[i].cycle > ready)
			ready = the_case->message[i].cycle;
	for (uint32_t i = 0; i < the_case->messages; i++) {
		uint64_t tail = outcome->fate[i].tail;

		if (tail == FLIT_NEVER)
			continue;
		last = tail > last ? tail : last;
		flits += tail <= ready ? MESSAGE_BYTES : 0;
	}
	printf("%9u messages: %.2f s, %.2f us each; accepted %.4f flits/ns/switch, %" PRIu64
	       " ITBs, %" PRIu64 " discarded\n",
		the_case->messages, took, took * 1e6 / the_case->messages,
		(double)flits / ((double)ready * 6.25) / the_case->topology->switches,
		outcome->absorbed, outcome->discards);
}

/* Returns whether the targets are met. */
static bool measure(const struct network *network, uint32_t messages, uint32_t few)
{
	struct wormhole_outcome outcome;
	struct wormhole_case the_case;
	double flits, trains, point;

	begin(&the_case, network);
	printf("%s, %.3f flits/ns/switch offered: %s\n", the_case.name, network->load * 1e-3,
		network->what);
	load(&the_case, network, few);
	trains = compare(&the_case, &flits);
	printf("%9u messages: flit by flit %.1f us each, as trains %.2f us: ratio %.0f\n", few,
		flits * 1e6 / few, trains * 1e6 / few, flits / trains);
	load(&the_case, network, messages);
	point = timed(wormhole_run_trains, &the_case, &outcome);
	accepted(&the_case, &outcome, point);
	wormhole_outcome_free(&outcome);
	free(the_case.message);
	route_set_destroy(the_case.routes);
	topology_destroy(the_case.topology);
	return flits >= RATIO_AIM * trains && point * POINT_MESSAGES < POINT_AIM * messages;
}

int main(int argc, char **argv)
{
	static const struct network networks[] = {
		{"torus:dims=8x8,hosts=8", "ud-itb", 15, "half load"},
		{"torus:dims=8x8,hosts=8", "ud-itb", 29, "the thesis' saturation"},
		{"torus:dims=8x8,hosts=8", "ud", 30, "twice the thesis' saturation"},
		{"irregular:switches=64,degree=4,hosts=4,seed=1", "ud-itb", 40, "loaded"},
	};
	uint32_t messages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : POINT_MESSAGES;
	uint32_t few = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 4000;
	bool met = true;

	for (unsigned i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		met = measure(&networks[i], messages, few) && met;
	printf("aims: %u times as fast, %u messages in %.0f s: %s\n", RATIO_AIM, POINT_MESSAGES,
		POINT_AIM, met ? "met" : "MISSED");
	return met ? 0 : 1;
}
