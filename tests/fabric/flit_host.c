/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A host's interface: its own messages, and in-transit buffers (sections 3.1 and 3.4 of the
 * thesis). It accepts every flit. */

#include <stdlib.h>

#include "flit_parts.h"
#include "wire/frame.h"

static void visit_begin(struct flit_model *model, struct flit_host *host, struct flit header)
{
	if (host->visits == host->visit_room) {
		host->visit_room = host->visit_room * 2 + 16;
		host->visit = realloc(host->visit, host->visit_room * sizeof(*host->visit));
		if (host->visit == NULL)
			abort();
	}
	host->visit[host->visits++] = (struct flit_visit){
		.message = header.message,
		.cursor = (uint8_t)(header.cursor + 1),
		.ready = model->cycle + model->parameters.detection,
	};
	host->pool_used += model->message[header.message].bytes;
	if (host->pool_used > model->pool_peak)
		model->pool_peak = host->pool_used;
	model->fate[header.message].itbs++;
}

/* Decides on a message whose header has arrived. */
static void host_meet(struct flit_model *model, uint32_t number, struct flit header)
{
	const struct flit_message *message = &model->message[header.message];
	struct flit_host *host = &model->host_at[number];
	bool last = header.cursor + 1u >= message->route_length;

	if (header.cursor < message->route_length &&
		message->route[header.cursor] == ROUTE_TYPE_ITB) {
		if (host->pool_used + message->bytes > model->parameters.pool) {
			host->taking = TAKING_WASTE;
			model->fate[header.message].discarded = model->cycle;
		} else {
			host->taking = TAKING_VISIT;
			visit_begin(model, host, header);
		}
		return;
	}
	host->taking = TAKING_DELIVERY;
	model->fate[header.message].first = model->cycle;
	if (!last || number != message->destination)
		flit_model_break(model, "a message at the wrong host");
}

void flit_host_take(struct flit_model *model, uint32_t number, struct flit flit)
{
	struct flit_host *host = &model->host_at[number];

	if (host->taking == TAKING_NOTHING) {
		host_meet(model, number, flit);
		host->taken = 0;
	}
	if (flit.index != host->taken)
		flit_model_break(model, "a flit out of its order");
	host->taken++;
	if (host->taking == TAKING_VISIT)
		host->visit[host->visits - 1].received++;
	else if (host->taking == TAKING_WASTE)
		model->wasted++;
	else
		model->delivered++;
	if (!flit_is_tail(model, flit))
		return;
	if (host->taking == TAKING_DELIVERY)
		model->fate[flit.message].tail = model->cycle;
	if (host->taking != TAKING_VISIT)
		model->ended++;
	host->taking = TAKING_NOTHING;
}

/* Own messages that are due and have not started to leave. */
static uint32_t own_waiting(const struct flit_model *model, const struct flit_host *host)
{
	uint32_t end = host->own_next;

	while (end < host->own_count && model->message[host->own[end]].cycle <= model->cycle)
		end++;
	return end - host->own_next;
}

/* Section 3.1.4: one own message after 4 in transit; after 2 if more than 50 wait, and after 1 if
 * more than 100. */
static bool own_turn(const struct flit_host *host, uint32_t waiting)
{
	if (waiting > 100)
		return host->in_transit_since_own >= 1;
	if (waiting > 50)
		return host->in_transit_since_own >= 2;
	return host->in_transit_since_own >= 4;
}

/* Chooses the next message to send, if there is one and the link is free. The link is held while
 * re-injection is set up (section 3.4.4). */
void flit_host_choose(struct flit_model *model, uint32_t number)
{
	struct flit_host *host = &model->host_at[number];
	uint32_t waiting;
	bool visit;

	if (host->sending != SENDING_NOTHING)
		return;
	waiting = own_waiting(model, host);
	visit = host->visit_next < host->visits &&
		host->visit[host->visit_next].ready <= model->cycle;
	host->sent = 0;
	if (waiting > 0 && (!visit || own_turn(host, waiting))) {
		host->sending = SENDING_OWN;
		model->fate[host->own[host->own_next]].chosen = model->cycle;
		host->may_leave = model->cycle;
		host->in_transit_since_own = 0;
	} else if (visit) {
		host->sending = SENDING_VISIT;
		host->may_leave = model->cycle + model->parameters.programming;
		host->in_transit_since_own++;
	}
}

static struct flit own_flit(struct flit_model *model, struct flit_host *host)
{
	uint32_t message = host->own[host->own_next];

	if (host->sent == 0)
		model->fate[message].left = model->cycle;
	model->injected++;
	return (struct flit){.message = message, .index = host->sent, .cursor = 0};
}

static struct flit visit_flit(struct flit_model *model, struct flit_host *host)
{
	struct flit_visit *visit = &host->visit[host->visit_next];

	if (visit->sent == visit->received)
		flit_model_break(model, "re-injection overtook reception");
	visit->sent++;
	return (struct flit){
		.message = visit->message, .index = host->sent, .cursor = visit->cursor};
}

static void host_end(struct flit_model *model, struct flit_host *host, struct flit tail)
{
	if (host->sending == SENDING_OWN) {
		model->fate[tail.message].sent = model->cycle;
		host->own_next++;
	} else {
		host->visit_next++;
		host->pool_used -= model->message[tail.message].bytes;
	}
	host->sending = SENDING_NOTHING;
}

void flit_host_send(struct flit_model *model, uint32_t number)
{
	struct topology_port port = {DEVICE_HOST, number, 0};
	struct flit_host *host = &model->host_at[number];
	struct flit_link *link;
	struct flit flit;

	if (host->sending == SENDING_NOTHING || model->cycle < host->may_leave)
		return;
	link = flit_link_of(model, port);
	if (link->stopped)
		return;
	flit = host->sending == SENDING_OWN ? own_flit(model, host) : visit_flit(model, host);
	host->sent++;
	flit_link_send(model, link, flit);
	if (flit_is_tail(model, flit))
		host_end(model, host, flit);
}
