/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch: slack buffers, one message at a time through each output, round robin among inputs
 * (section 1.3.1 of the thesis, 'Conmutadores'). */

#include <string.h>

#include "flit_parts.h"
#include "wire/frame.h"

void flit_switch_take(struct flit_model *model, struct topology_port port, struct flit flit)
{
	struct flit_input *input = &model->switch_at[port.device].input[port.port];

	if (input->used == model->parameters.slots) {
		flit_model_break(model, "a flit came to a full buffer");
		return;
	}
	if (input->used == 0)
		input->front_since = model->cycle;
	input->slot[input->used++] = flit;
	if (input->used > model->fullest)
		model->fullest = input->used;
}

/* Returns the output requested by the message at the front of a buffer; -1 if there is no message,
 * or it already has its output. */
static int wanted(struct flit_model *model, const struct flit_input *input)
{
	const struct flit_message *message;
	struct flit front;

	if (input->used == 0 || input->output >= 0)
		return -1;
	front = input->slot[0];
	message = &model->message[front.message];
	if (front.index != 0) {
		flit_model_break(model, "a message without a header");
		return -1;
	}
	if (front.cursor >= message->route_length ||
		(message->route[front.cursor] & ROUTE_PORT_BIT) == 0) {
		flit_model_break(model, "a route that ends at a switch");
		return -1;
	}
	if (model->parameters.routed_before_grant &&
		model->cycle + 1 < input->front_since + model->parameters.routing)
		return -1;
	return message->route[front.cursor] & ROUTE_PORT_MASK;
}

void flit_switch_grant(struct flit_model *model, uint32_t number)
{
	struct flit_switch *at = &model->switch_at[number];
	int asked[TOPOLOGY_PORTS_MAX];
	bool any = false;

	for (unsigned in = 0; in < at->ports; in++) {
		asked[in] = wanted(model, &at->input[in]);
		any = any || asked[in] >= 0;
	}
	if (!any)
		return;
	for (unsigned out = 0; out < at->ports; out++)
		for (unsigned i = 0; i < at->ports && !at->output[out].busy; i++) {
			unsigned in = (at->output[out].turn + i) % at->ports;

			if (asked[in] != (int)out)
				continue;
			at->output[out].busy = true;
			at->output[out].turn = (in + 1) % at->ports;
			at->input[in].output = (int)out;
			at->input[in].granted = model->cycle;
		}
}

static struct flit buffer_pop(struct flit_input *input)
{
	struct flit front = input->slot[0];

	input->used--;
	memmove(&input->slot[0], &input->slot[1], input->used * sizeof(input->slot[0]));
	return front;
}

static void cross(struct flit_model *model, uint32_t number, struct flit_input *input)
{
	struct flit_output *output = &model->switch_at[number].output[input->output];
	struct topology_port port = {DEVICE_SWITCH, number, (uint8_t)input->output};
	struct flit_link *link = flit_link_of(model, port);
	unsigned wait = model->parameters.routed_before_grant ? 1 : model->parameters.routing;
	struct flit flit;

	if (input->used == 0 || link->stopped || model->cycle < input->granted + wait)
		return;
	flit = buffer_pop(input);
	if (flit.index == 0)
		flit.cursor++;
	flit_link_send(model, link, flit);
	if (flit_is_tail(model, flit)) {
		output->busy = false;
		input->output = -1;
		input->front_since = model->cycle + 1;
	}
}

void flit_switch_cross(struct flit_model *model, uint32_t number)
{
	struct flit_switch *at = &model->switch_at[number];

	for (unsigned in = 0; in < at->ports; in++)
		if (at->input[in].output >= 0)
			cross(model, number, &at->input[in]);
}

enum flit_symbol flit_switch_symbol(struct flit_model *model, struct topology_port port)
{
	struct flit_input *input = &model->switch_at[port.device].input[port.port];

	if (!input->told_stop && input->used > model->parameters.stop) {
		input->told_stop = true;
		return SYMBOL_STOP;
	}
	if (input->told_stop && input->used < model->parameters.go) {
		input->told_stop = false;
		return SYMBOL_GO;
	}
	return SYMBOL_NONE;
}
