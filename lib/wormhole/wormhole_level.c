/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Predicts when a buffer level crosses a mark. The level rises by one per cycle, stays, or falls by
 * one, so the time is known once the runs that fill and drain the buffer are. Code that starts or
 * ends a run at a time that was not predicted must call wormhole_predict() again. A prediction that
 * is too early only costs a check; one that is too late is an error. */

#include "wormhole_net_private.h"

/* Returns the number of the buffer's flits with known cycles. A run ends with the tail. */
static uint64_t known_total(const struct wormhole_channel *buffer)
{
	const struct wormhole_runs *runs = &buffer->runs;

	if (!runs->on)
		return runs->total;
	return runs->run.before + (buffer->tail_at - runs->run.start) + 1;
}

/* Returns the cycle in which draining starts or started; WORMHOLE_NEVER if not known. */
static uint64_t drained_from(const struct wormhole_net *net, const struct wormhole_channel *buffer)
{
	const struct wormhole_channel *out;

	if (buffer->out == WORMHOLE_NONE)
		return WORMHOLE_NEVER;
	out = &net->channel[buffer->out];
	return out->runs.on ? out->runs.run.start : WORMHOLE_NEVER;
}

/* Returns when the level exceeds the stop mark. It can rise only until draining starts. */
static uint64_t predict_stop(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	uint64_t from = drained_from(net, buffer), mark, at;

	if (from <= now)
		return WORMHOLE_NEVER;
	mark = wormhole_drained(net, buffer, now) + net->parameters.marks.stop + 1;
	if (known_total(buffer) < mark)
		return WORMHOLE_NEVER;
	at = wormhole_runs_cycle(&buffer->runs, mark) + buffer->delay;
	return at < from ? at : WORMHOLE_NEVER;
}

/* Returns when 'total' flits have left if the draining run continues. */
static uint64_t drain_cycle(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t total)
{
	const struct wormhole_channel *out = &net->channel[buffer->out];
	uint64_t before = buffer->drained + out->runs.run.before - out->base;

	if (total <= before)
		return out->runs.run.start;
	return out->runs.run.start + (total - before) - 1;
}

/* Searches the gaps before the last run for the first in which the level falls below the mark. */
static uint64_t predict_go_in_gaps(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	const struct wormhole_runs *runs = &buffer->runs;
	const struct wormhole_run *next = &runs->run;
	uint64_t found = WORMHOLE_NEVER;

	for (unsigned i = 0; i <= runs->mask && next->start + buffer->delay > now; i++) {
		uint64_t at = drain_cycle(net, buffer, next->before + 1 - net->parameters.marks.go);

		if (at < now)
			at = now;
		if (at < next->start + buffer->delay)
			found = at;
		next = &runs->earlier[(runs->last - i) & runs->mask];
	}
	return found;
}

/* Returns when the level falls below the go mark. That happens only while the buffer is being
 * drained and no flits arrive. While the sender still emits, STOP has not reached it yet; predict
 * again when it has. */
static uint64_t predict_go(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	uint64_t found = WORMHOLE_NEVER, at;

	if (drained_from(net, buffer) == WORMHOLE_NEVER)
		return WORMHOLE_NEVER;
	if (buffer->runs.run.start + buffer->delay > now)
		found = predict_go_in_gaps(net, buffer, now);
	if (found != WORMHOLE_NEVER || buffer->runs.on)
		return found;
	at = drain_cycle(net, buffer, buffer->runs.total + 1 - net->parameters.marks.go);
	return at < now ? now : at;
}

void wormhole_predict(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *buffer = &net->channel[number];
	uint64_t at =
		buffer->stop_sent ? predict_go(net, buffer, now) : predict_stop(net, buffer, now);

	if (at >= buffer->level_at)
		return;
	buffer->level_at = at;
	wormhole_push(net, at, WORMHOLE_MARK, WORMHOLE_LEVEL, number);
}

static void send_signal(struct wormhole_net *net, uint32_t number, bool stop, uint64_t now)
{
	const struct wormhole_channel *buffer = &net->channel[number];

	*(stop ? &net->count.stops : &net->count.goes) += 1;
	wormhole_push(net, now + buffer->delay, WORMHOLE_SIGNAL, stop ? WORMHOLE_STOP : WORMHOLE_GO,
		number);
	if (net->ops->signal != NULL)
		net->ops->signal(net->ctx, now, net->sender[number], stop);
}

void wormhole_check_level(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *buffer = &net->channel[number];
	enum stop_go_signal signal;

	if (buffer->level_at != now)
		return;
	buffer->level_at = WORMHOLE_NEVER;
	signal = stop_go_update(
		&net->parameters.marks, &buffer->stop_sent, wormhole_level(net, buffer, now));
	if (signal != STOP_GO_NONE)
		send_signal(net, number, signal == STOP_GO_STOPS, now);
	wormhole_predict(net, number, now + 1);
}
