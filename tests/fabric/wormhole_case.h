/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A network, its routes and a list of messages, to be run by both models of wormhole switching: the
 * trains of the virtual clock (lib/wormhole/wormhole_net.h) and the referee (flit_model.h). Their
 * results must agree in every member of wormhole_outcome. */

#include <stdio.h>

#include "flit_model.h"
#include "route/route_set.h"

struct wormhole_case {
	uint64_t seed;  /* that it was drawn with */
	char name[256]; /* in words */
	struct topology *topology;
	struct route_set *routes;
	struct flit_parameters parameters;
	struct flit_message *message; /* routes point into the set */
	uint32_t messages;
	uint64_t until; /* this cycle and later ones are not compared */
};

/* The history of a message before 'until'. */
struct wormhole_fate {
	uint64_t
		chosen; /* cycle in which it was granted its source's link, if 'sent'; FLIT_NEVER */
	uint64_t left;  /* cycle in which its first flit left the source; FLIT_NEVER */
	uint64_t sent;  /* cycle in which its last flit left the source; FLIT_NEVER */
	uint64_t tail;  /* cycle in which its last flit reached the destination; FLIT_NEVER */
	unsigned itbs;
	bool discarded;
};

struct wormhole_outcome {
	struct wormhole_fate *fate; /* one per message */
	struct flit_mark *mark;     /* by cycle, then sender: kind, device, port */
	size_t marks;
	bool stuck;        /* messages are left that can never move again */
	uint64_t absorbed; /* entries of messages into a pool */
	uint64_t discards;
	uint64_t pool_peak; /* bytes, of the pool that held most */
	/* For both directions of each link, [2 * link] from end a: flits sent, and cycles in which
	 * the sender was stopped. */
	uint64_t *carried, *stopped;
	char broken[160]; /* the first rule found broken by the model itself; or empty */
};

/* Run a case; the caller frees the outcome. */
void wormhole_run_trains(const struct wormhole_case *the_case, struct wormhole_outcome *outcome);
void wormhole_run_flits(const struct wormhole_case *the_case, struct wormhole_outcome *outcome);
void wormhole_outcome_free(struct wormhole_outcome *outcome);
#define wormhole_outcome_out_of_scope wormhole_outcome_free
/* Nothing has happened. */
void wormhole_outcome_begin(const struct wormhole_case *the_case, struct wormhole_outcome *outcome);
/* The sender of direction i of the links. */
static inline struct topology_port wormhole_case_sender(
	const struct wormhole_case *the_case, uint32_t i)
{
	const struct topology_link *link = &the_case->topology->link_at[i / 2];

	return i % 2 == 0 ? link->a : link->b;
}

/* Describes the first difference, the earliest cycle first; or an empty text. Returns true if there
 * is one. */
bool wormhole_differ(const struct wormhole_case *the_case, const struct wormhole_outcome *flits,
	const struct wormhole_outcome *trains, char *text, size_t size);

/* Checks the rules for a single outcome. Returns NULL, or the rule that is violated. */
const char *wormhole_check(
	const struct wormhole_case *the_case, const struct wormhole_outcome *outcome);

/* The case that belongs to a seed. */
void wormhole_case_draw(struct wormhole_case *the_case, uint64_t seed);
void wormhole_case_free(struct wormhole_case *the_case);
#define wormhole_case_out_of_scope wormhole_case_free
/* Prints everything needed to compute the case by hand: parameters, messages with routes, delays of
 * the used links. */
void wormhole_case_print(const struct wormhole_case *the_case, FILE *out);

/* Removes messages and flits while 'bad' says that the case is. */
typedef bool wormhole_bad_fn(const struct wormhole_case *the_case);
void wormhole_case_shrink(struct wormhole_case *the_case, wormhole_bad_fn *bad);
