/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The network: links, the order of phases, and the accounts. */

#include <stdlib.h>
#include <string.h>

#include "flit_parts.h"

static uint32_t link_number(const struct flit_model *model, struct topology_port sender)
{
	if (sender.kind == DEVICE_SWITCH)
		return sender.device * model->ports + sender.port;
	return model->topology->switches * model->ports + sender.device;
}

struct flit_link *flit_link_of(struct flit_model *model, struct topology_port sender)
{
	return &model->link[link_number(model, sender)];
}

void flit_link_send(struct flit_model *model, struct flit_link *link, struct flit flit)
{
	if (!link->exists || link->full[link->now]) {
		flit_model_break(model, "two flits at once on a link, or one where no link is");
		return;
	}
	link->flit[link->now] = flit;
	link->full[link->now] = true;
	link->carried++;
	model->moved = model->cycle;
}

void flit_model_break(struct flit_model *model, const char *what)
{
	if (model->broken == NULL)
		model->broken = what;
}

static void link_arrive(struct flit_model *model, struct flit_link *link)
{
	unsigned place = (link->now + 1) % link->flight;

	link->now = place;
	if (link->symbol[place] != SYMBOL_NONE)
		link->stopped = link->symbol[place] == SYMBOL_STOP;
	link->symbol[place] = SYMBOL_NONE;
	link->stopped_cycles += link->stopped;
	if (!link->full[place])
		return;
	link->full[place] = false;
	model->moved = model->cycle;
	if (link->to.kind == DEVICE_SWITCH)
		flit_switch_take(model, link->to, link->flit[place]);
	else
		flit_host_take(model, link->to.device, link->flit[place]);
}

static void mark_note(struct flit_model *model, struct topology_port sender, bool stop)
{
	if (model->marks == model->mark_room) {
		model->mark_room = model->mark_room * 2 + 1024;
		model->mark = realloc(model->mark, model->mark_room * sizeof(*model->mark));
		if (model->mark == NULL)
			abort();
	}
	model->mark[model->marks++] =
		(struct flit_mark){.cycle = model->cycle, .sender = sender, .stop = stop};
}

/* The buffer behind a link returns a symbol. */
static void link_mark(struct flit_model *model, struct flit_link *link)
{
	enum flit_symbol symbol;

	if (link->to.kind != DEVICE_SWITCH)
		return;
	symbol = flit_switch_symbol(model, link->to);
	link->symbol[link->now] = (uint8_t)symbol;
	if (symbol != SYMBOL_NONE)
		mark_note(model, link->from, symbol == SYMBOL_STOP);
}

void flit_model_step(struct flit_model *model)
{
	const struct topology *topology = model->topology;

	for (uint32_t i = 0; i < model->links; i++)
		if (model->link[i].exists)
			link_arrive(model, &model->link[i]);
	for (uint32_t i = 0; i < topology->switches; i++)
		flit_switch_grant(model, i);
	for (uint32_t i = 0; i < topology->hosts; i++)
		flit_host_choose(model, i);
	for (uint32_t i = 0; i < topology->switches; i++)
		flit_switch_cross(model, i);
	for (uint32_t i = 0; i < topology->hosts; i++)
		flit_host_send(model, i);
	for (uint32_t i = 0; i < model->links; i++)
		if (model->link[i].exists)
			link_mark(model, &model->link[i]);
	model->cycle++;
}

bool flit_model_over(const struct flit_model *model)
{
	return model->ended == model->messages;
}

bool flit_model_stuck(const struct flit_model *model)
{
	const struct flit_parameters *parameters = &model->parameters;
	uint64_t longest = parameters->routing + parameters->detection + parameters->programming +
			   2 * FLIT_FLIGHT_MAX;
	uint64_t since = model->moved > model->last ? model->moved : model->last;

	return model->ended < model->messages && model->cycle > since + longest;
}

bool flit_model_run(struct flit_model *model, uint64_t limit)
{
	while (model->ended < model->messages && model->cycle < limit && !flit_model_stuck(model))
		flit_model_step(model);
	return model->ended == model->messages;
}

uint64_t flit_model_cycle(const struct flit_model *model)
{
	return model->cycle;
}

const struct flit_fate *flit_model_fate(const struct flit_model *model, uint32_t message)
{
	return &model->fate[message];
}

size_t flit_model_marks(const struct flit_model *model, const struct flit_mark **marks)
{
	*marks = model->mark;
	return model->marks;
}

uint64_t flit_model_carried(const struct flit_model *model, struct topology_port sender)
{
	return model->link[link_number(model, sender)].carried;
}

uint64_t flit_model_stopped(const struct flit_model *model, struct topology_port sender)
{
	return model->link[link_number(model, sender)].stopped_cycles;
}

unsigned flit_model_fullest(const struct flit_model *model)
{
	return model->fullest;
}

uint64_t flit_model_pool_peak(const struct flit_model *model)
{
	return model->pool_peak;
}

unsigned flit_model_level(
	const struct flit_model *model, struct topology_port sender, bool *stopped)
{
	const struct flit_link *link = &model->link[link_number(model, sender)];

	if (stopped != NULL)
		*stopped = link->stopped;
	return model->switch_at[link->to.device].input[link->to.port].used;
}

static uint64_t link_inside(const struct flit_model *model, const struct flit_link *link)
{
	uint64_t inside = 0;

	for (unsigned i = 0; i < link->flight; i++)
		inside += link->full[i];
	if (link->to.kind == DEVICE_SWITCH)
		inside += model->switch_at[link->to.device].input[link->to.port].used;
	return inside;
}

uint64_t flit_model_inside(const struct flit_model *model)
{
	uint64_t inside = 0;

	for (uint32_t i = 0; i < model->links; i++)
		if (model->link[i].exists)
			inside += link_inside(model, &model->link[i]);
	for (uint32_t i = 0; i < model->topology->hosts; i++) {
		const struct flit_host *host = &model->host_at[i];

		for (uint32_t k = host->visit_next; k < host->visits; k++)
			inside += host->visit[k].received - host->visit[k].sent;
	}
	return inside;
}

const char *flit_model_broken(const struct flit_model *model)
{
	if (model->broken != NULL)
		return model->broken;
	if (model->injected != model->delivered + model->wasted + flit_model_inside(model))
		return "flits injected are not those inside, delivered and discarded";
	return NULL;
}

/* Returns whole cycles on a link; 0 if out of range. */
static unsigned flight_of(const struct flit_model *model, const struct topology_link *link)
{
	uint64_t cycle_ps = model->parameters.cycle_ps;
	uint64_t cycles = (link->delay_ps + cycle_ps - 1) / cycle_ps;

	return cycles <= FLIT_FLIGHT_MAX ? (unsigned)cycles : 0;
}

static bool links_create(struct flit_model *model)
{
	const struct topology *topology = model->topology;

	model->links = topology->switches * model->ports + topology->hosts;
	model->link = calloc(model->links + 1, sizeof(*model->link));
	if (model->link == NULL)
		return false;
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port end[2] = {topology->link_at[i].a, topology->link_at[i].b};

		for (unsigned k = 0; k < 2; k++) {
			struct flit_link *link = flit_link_of(model, end[k]);

			link->exists = true;
			link->from = end[k];
			link->to = end[1 - k];
			link->flight = flight_of(model, &topology->link_at[i]);
			if (link->flight == 0)
				return false;
		}
	}
	return true;
}

static bool switches_create(struct flit_model *model)
{
	const struct topology *topology = model->topology;

	model->switch_at = calloc(topology->switches + 1, sizeof(*model->switch_at));
	if (model->switch_at == NULL)
		return false;
	for (uint32_t i = 0; i < topology->switches; i++) {
		struct flit_switch *at = &model->switch_at[i];

		at->ports = topology->switch_at[i].ports;
		at->input = calloc(at->ports + 1, sizeof(*at->input));
		at->output = calloc(at->ports + 1, sizeof(*at->output));
		if (at->input == NULL || at->output == NULL)
			return false;
		for (unsigned port = 0; port < at->ports; port++)
			at->input[port].output = -1;
	}
	return true;
}

/* Inserts a message into its host's list, in order. */
static void own_add(struct flit_model *model, uint32_t number)
{
	struct flit_host *host = &model->host_at[model->message[number].source];
	uint64_t cycle = model->message[number].cycle;
	uint32_t at = host->own_count++;

	for (; at > 0 && model->message[host->own[at - 1]].cycle > cycle; at--)
		host->own[at] = host->own[at - 1];
	host->own[at] = number;
	if (cycle > model->last)
		model->last = cycle;
}

static bool hosts_create(struct flit_model *model)
{
	uint32_t hosts = model->topology->hosts;

	model->host_at = calloc(hosts + 1, sizeof(*model->host_at));
	model->fate = calloc(model->messages + 1, sizeof(*model->fate));
	if (model->host_at == NULL || model->fate == NULL)
		return false;
	for (uint32_t i = 0; i < model->messages; i++) {
		model->host_at[model->message[i].source].own_count++;
		model->fate[i].chosen = FLIT_NEVER;
		model->fate[i].left = model->fate[i].sent = model->fate[i].first = FLIT_NEVER;
		model->fate[i].tail = model->fate[i].discarded = FLIT_NEVER;
	}
	for (uint32_t i = 0; i < hosts; i++) {
		struct flit_host *host = &model->host_at[i];

		host->own = calloc(host->own_count + 1, sizeof(*host->own));
		if (host->own == NULL)
			return false;
		host->own_count = 0;
	}
	for (uint32_t i = 0; i < model->messages; i++)
		own_add(model, i);
	return true;
}

struct flit_model *flit_model_create(const struct topology *topology,
	const struct flit_parameters *parameters, const struct flit_message *messages,
	uint32_t count)
{
	struct flit_model *model;

	if (parameters->slots > FLIT_SLOTS_MAX)
		return NULL;
	model = calloc(1, sizeof(*model));
	if (model == NULL)
		return NULL;
	model->topology = topology;
	model->parameters = *parameters;
	model->message = messages;
	model->messages = count;
	model->ports = 1;
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].ports > model->ports)
			model->ports = topology->switch_at[i].ports;
	if (!links_create(model) || !switches_create(model) || !hosts_create(model)) {
		flit_model_destroy(model);
		return NULL;
	}
	return model;
}

void flit_model_destroy(struct flit_model *model)
{
	if (model == NULL)
		return;
	for (uint32_t i = 0; model->switch_at != NULL && i < model->topology->switches; i++) {
		free(model->switch_at[i].input);
		free(model->switch_at[i].output);
	}
	for (uint32_t i = 0; model->host_at != NULL && i < model->topology->hosts; i++) {
		free(model->host_at[i].own);
		free(model->host_at[i].visit);
	}
	free(model->switch_at);
	free(model->host_at);
	free(model->fate);
	free(model->link);
	free(model->mark);
	free(model);
}
