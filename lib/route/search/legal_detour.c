/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "legal_routes.h"

#include <errno.h>
#include <stdlib.h>

/* As in legal_routes.c: at switch s, may still go up (2s), or has gone down (2s + 1). */
#define STATE(at, down) (2u * (at) + (down))
#define NO_STATE        UINT32_MAX

/* Predecessor of a state. Entries of earlier searches are invalid. */
struct step {
	uint32_t search;
	uint32_t from; /* previous state */
	uint32_t arc;
	uint16_t links, itbs;
};

struct legal_detour {
	const struct route_graph *graph;
	const bool *up;
	struct step *step; /* by state */
	uint32_t *queue;   /* states to visit */
	uint32_t *avoided; /* by arc: the round in which it was avoided */
	uint32_t search, round;
	uint32_t tail;
	struct arrays arrays;
};

struct legal_detour *legal_detour_create(const struct route_graph *graph, const bool *up)
{
	struct legal_detour *detour = calloc(1, sizeof(*detour));

	if (detour == NULL)
		return NULL;
	detour->graph = graph;
	detour->up = up;
	ARRAYS_ADD(detour, step, 2u * graph->switches + 1u);
	ARRAYS_ADD(detour, queue, 2u * graph->switches + 1u);
	ARRAYS_ADD(detour, avoided, graph->arcs + 1u);
	detour->round = 1;
	if (!detour->arrays.failed)
		return detour;
	legal_detour_destroy(detour);
	errno = ENOMEM;
	return NULL;
}

void legal_detour_destroy(struct legal_detour *detour)
{
	ARRAYS_DESTROY(detour);
}

void legal_detour_reset(struct legal_detour *detour)
{
	detour->round++;
}

void legal_detour_avoid(struct legal_detour *detour, uint32_t arc)
{
	detour->avoided[arc] = detour->avoided[detour->graph->arc[arc].back] = detour->round;
}

/* Takes one arc if that is legal, with an ITB where needed. Every step is one link long, so a state
 * can only improve in its number of ITBs, and only before it is expanded. */
static inline void try_arc(
	struct legal_detour *detour, uint32_t state, struct step here, bool absorbs, uint32_t arc)
{
	const struct route_arc *out = &detour->graph->arc[arc];
	bool up = detour->up[arc], turns = up && state % 2 == 1;
	uint32_t to = STATE(out->to, up ? 0u : 1u);
	uint16_t links = (uint16_t)(here.links + 1), itbs = (uint16_t)(here.itbs + turns);
	struct step *known = &detour->step[to];

	if (detour->avoided[arc] == detour->round || (turns && !absorbs))
		return;
	if (known->search == detour->search && (known->links != links || known->itbs <= itbs))
		return;
	/* Never turns straight back. The first step has no previous arc. */
	if (here.links > 0 && out->back == here.arc)
		return;
	if (known->search != detour->search)
		detour->queue[detour->tail++] = to;
	*known = (struct step){detour->search, state, arc, links, itbs};
}

/* Returns the better of the destination's two states. All states of this length must be known. */
static uint32_t arrival(const struct legal_detour *detour, uint32_t destination)
{
	const struct step *step = &detour->step[STATE(destination, 0)];
	bool up = step[0].search == detour->search, down = step[1].search == detour->search;

	if (up && down)
		down = step[1].links < step[0].links ||
		       (step[1].links == step[0].links && step[1].itbs < step[0].itbs);
	return up || down ? STATE(destination, down) : NO_STATE;
}

static void expand(struct legal_detour *detour, uint32_t state, uint32_t turn)
{
	const uint32_t first = detour->graph->first_arc[state / 2];
	const uint32_t end = detour->graph->first_arc[state / 2 + 1];
	const bool absorbs = route_graph_hosts_at(detour->graph, state / 2) > 0;
	const struct step here = detour->step[state];
	uint32_t start;

	if (first == end)
		return;
	start = first + turn % (end - first);
	for (uint32_t arc = start; arc < end; arc++)
		try_arc(detour, state, here, absorbs, arc);
	for (uint32_t arc = first; arc < start; arc++)
		try_arc(detour, state, here, absorbs, arc);
}

/* Traces the path from its end to its start. Returns false if it is too long for a frame, or takes
 * a link twice, which can happen if it passes a switch without hosts twice. */
static bool trace(struct legal_detour *detour, uint32_t state, struct route_path *path)
{
	const struct route_arc *arcs = detour->graph->arc;

	path->links = detour->step[state].links;
	path->itb = 0;
	if (path->links + 2u * detour->step[state].itbs > ROUTE_LINKS_MAX)
		return false;
	for (unsigned i = path->links; i-- > 0; state = detour->step[state].from) {
		uint32_t arc = detour->step[state].arc;

		for (unsigned k = i + 1; k < path->links; k++)
			if (path->arc[k] == arc || path->arc[k] == arcs[arc].back)
				return false;
		path->arc[i] = arc;
		if (i > 0 && detour->up[arc] && detour->step[state].from % 2 == 1)
			path->itb |= (uint64_t)1 << (i - 1);
	}
	return true;
}

bool legal_detour_find(struct legal_detour *detour, uint32_t source, uint32_t destination,
	uint32_t turn, struct route_path *path)
{
	uint32_t end = NO_STATE;

	detour->search++;
	detour->tail = 0;
	detour->step[STATE(source, 0)] = (struct step){.search = detour->search};
	detour->queue[detour->tail++] = STATE(source, 0);
	for (uint32_t head = 0; head < detour->tail; head++) {
		uint32_t state = detour->queue[head];

		if (end != NO_STATE && detour->step[state].links >= detour->step[end].links)
			break;
		expand(detour, state, turn);
		if (end == NO_STATE)
			end = arrival(detour, destination);
	}
	end = arrival(detour, destination);
	return end != NO_STATE && trace(detour, end, path);
}
