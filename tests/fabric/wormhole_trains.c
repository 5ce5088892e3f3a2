/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Runs a case with the trains of the virtual clock. */

#include <stdlib.h>
#include <string.h>

#include "wormhole/wormhole_net_private.h"
#include "wormhole_case.h"

/* The messages of a host in the order in which it gets them. */
struct queue {
	uint32_t *message;
	uint32_t count, next;
};

struct trains {
	const struct wormhole_case *the_case;
	struct wormhole_outcome *outcome;
	struct queue *queue; /* by host */
	size_t mark_room;
	struct wormhole_net *net;
	uint64_t takes;
};

static uint64_t due(void *ctx, uint32_t host, uint64_t now)
{
	const struct trains *trains = ctx;
	const struct queue *queue = &trains->queue[host];

	(void)now;
	if (queue->next == queue->count)
		return WORMHOLE_NEVER;
	return trains->the_case->message[queue->message[queue->next]].cycle;
}

static uint32_t waiting(void *ctx, uint32_t host, uint64_t now)
{
	const struct trains *trains = ctx;
	const struct queue *queue = &trains->queue[host];
	uint32_t end = queue->next;

	while (end < queue->count && trains->the_case->message[queue->message[end]].cycle <= now)
		end++;
	return end - queue->next;
}

static bool take(void *ctx, uint32_t host, uint64_t now, struct wormhole_offer *offer)
{
	struct trains *trains = ctx;
	struct queue *queue = &trains->queue[host];
	uint32_t number = queue->message[queue->next];
	const struct flit_message *message = &trains->the_case->message[number];

	(void)now;
	/* A second call must change nothing. */
	if (++trains->takes % 11 == 0)
		return false;
	queue->next++;
	*offer = (struct wormhole_offer){
		.route = message->route,
		.generated = message->cycle,
		.tag = number,
		.bytes = message->bytes,
		.destination = (uint16_t)message->destination,
	};
	return true;
}

static void note(struct trains *trains, const struct wormhole_message *message)
{
	struct wormhole_fate *fate = &trains->outcome->fate[message->tag];

	if (message->started < trains->the_case->until)
		fate->left = message->started;
	fate->itbs = message->itbs;
}

static void sent(void *ctx, const struct wormhole_message *message, uint64_t first, uint64_t last)
{
	struct trains *trains = ctx;

	trains->outcome->fate[message->tag].chosen = first;
	trains->outcome->fate[message->tag].sent = last;
}

static void delivered(void *ctx, const struct wormhole_message *message, uint64_t at)
{
	struct trains *trains = ctx;

	note(trains, message);
	/* The start of the cycle after the tail's. */
	if (at - 1 < trains->the_case->until)
		trains->outcome->fate[message->tag].tail = at - 1;
	/* An interruption must change nothing either. */
	if (message->tag % 7 == 0)
		wormhole_net_halt(trains->net);
}

static void discarded(void *ctx, const struct wormhole_message *message, uint64_t now)
{
	struct trains *trains = ctx;

	(void)now;
	note(trains, message);
	trains->outcome->fate[message->tag].discarded = true;
}

static void signal_sent(void *ctx, uint64_t now, struct topology_port sender, bool stop)
{
	struct trains *trains = ctx;
	struct wormhole_outcome *outcome = trains->outcome;

	if (outcome->marks == trains->mark_room) {
		trains->mark_room = trains->mark_room * 2 + 1024;
		outcome->mark = realloc(outcome->mark, trains->mark_room * sizeof(*outcome->mark));
		if (outcome->mark == NULL)
			abort();
	}
	outcome->mark[outcome->marks++] =
		(struct flit_mark){.cycle = now, .sender = sender, .stop = stop};
}

static int compare_marks(const void *left, const void *right)
{
	const struct flit_mark *a = left, *b = right;

	if (a->cycle != b->cycle)
		return a->cycle < b->cycle ? -1 : 1;
	if (a->sender.kind != b->sender.kind)
		return a->sender.kind < b->sender.kind ? -1 : 1;
	if (a->sender.device != b->sender.device)
		return a->sender.device < b->sender.device ? -1 : 1;
	return (int)a->sender.port - (int)b->sender.port;
}

/* Inserts a message in order of cycles. Messages of the same cycle keep their order in the list. */
static void queue_add(const struct wormhole_case *the_case, struct queue *queue, uint32_t number)
{
	uint64_t cycle = the_case->message[number].cycle;
	uint32_t at = queue->count++;

	for (; at > 0 && the_case->message[queue->message[at - 1]].cycle > cycle; at--)
		queue->message[at] = queue->message[at - 1];
	queue->message[at] = number;
}

static struct queue *queues_create(const struct wormhole_case *the_case)
{
	uint32_t hosts = the_case->topology->hosts;
	struct queue *queue = calloc(hosts + 1, sizeof(*queue));

	if (queue == NULL)
		abort();
	for (uint32_t i = 0; i < the_case->messages; i++)
		queue[the_case->message[i].source].count++;
	for (uint32_t i = 0; i < hosts; i++) {
		queue[i].message = calloc(queue[i].count + 1, sizeof(uint32_t));
		if (queue[i].message == NULL)
			abort();
		queue[i].count = 0;
	}
	for (uint32_t i = 0; i < the_case->messages; i++)
		queue_add(the_case, &queue[the_case->message[i].source], i);
	return queue;
}

static struct wormhole_parameters parameters_of(const struct flit_parameters *flits)
{
	struct wormhole_parameters parameters = WORMHOLE_PARAMETERS_DEFAULT;

	parameters.cycle_ps = flits->cycle_ps;
	parameters.routing_cycles = flits->routing;
	parameters.routed_before_grant = flits->routed_before_grant;
	parameters.detection_cycles = flits->detection;
	parameters.programming_cycles = flits->programming;
	parameters.itb_pool_bytes = (uint32_t)flits->pool;
	parameters.marks.slack = flits->slots;
	parameters.marks.stop = flits->stop;
	parameters.marks.go = flits->go;
	return parameters;
}

/* Runs in parts, like a program that shows progress, to 'until' even if nothing happens any more.
 * Returns whether something still may. */
static bool run_in_parts(struct trains *trains, struct wormhole_net *net)
{
	const struct wormhole_case *the_case = trains->the_case;
	uint64_t until = the_case->until == FLIT_NEVER ? FLIT_NEVER >> 8 : the_case->until;
	uint64_t part = 1 + the_case->seed % 97;
	bool more = true;

	while (wormhole_net_now(net) < until) {
		if (part > until)
			part = until;
		more = wormhole_net_run(net, part);
		if (wormhole_net_check(net) != NULL || (!more && the_case->until == FLIT_NEVER))
			return more;
		if (wormhole_net_now(net) >= part)
			part = 3 * part + the_case->seed % 5;
	}
	return more;
}

static void run(struct trains *trains, struct wormhole_net *net)
{
	const struct wormhole_case *the_case = trains->the_case;
	struct wormhole_outcome *outcome = trains->outcome;
	struct wormhole_counters counters;
	bool more = run_in_parts(trains, net);

	for (uint32_t i = 0; i < net->messages; i++)
		if (net->message[i].bytes > 0 && !net->message[i].discarded)
			note(trains, &net->message[i]);
	counters = wormhole_net_counters(net);
	outcome->absorbed = counters.absorbed;
	outcome->discards = counters.discarded;
	outcome->pool_peak = counters.pool_peak_bytes;
	for (uint32_t i = 0; i < 2 * the_case->topology->links; i++) {
		struct topology_port sender = wormhole_case_sender(the_case, i);

		outcome->carried[i] = wormhole_net_carried(net, sender);
		outcome->stopped[i] = wormhole_net_stopped(net, sender);
	}
	outcome->stuck = !more && counters.delivered + counters.discarded < the_case->messages;
	if (wormhole_net_failed(net) || wormhole_net_check(net) != NULL)
		snprintf(outcome->broken, sizeof(outcome->broken), "trains: %s",
			wormhole_net_failed(net) ? "failed" : wormhole_net_check(net));
	else if (outcome->stuck && wormhole_net_deadlock(net, NULL, 0) == 0)
		snprintf(outcome->broken, sizeof(outcome->broken),
			"trains: stuck without a circle of channels");
}

void wormhole_run_trains(const struct wormhole_case *the_case, struct wormhole_outcome *outcome)
{
	static const struct wormhole_ops ops = {.due = due,
		.waiting = waiting,
		.take = take,
		.sent = sent,
		.delivered = delivered,
		.discarded = discarded,
		.signal = signal_sent};
	struct wormhole_parameters parameters = parameters_of(&the_case->parameters);
	struct trains trains = {.the_case = the_case, .outcome = outcome};
	struct error error = {""};
	struct wormhole_net *net;

	wormhole_outcome_begin(the_case, outcome);
	trains.queue = queues_create(the_case);
	net = wormhole_net_create(the_case->topology, &parameters, &ops, &trains, &error);
	if (net == NULL)
		snprintf(outcome->broken, sizeof(outcome->broken), "trains: %s", error.text);
	trains.net = net;
	if (net != NULL)
		run(&trains, net);
	if (outcome->marks > 0)
		qsort(outcome->mark, outcome->marks, sizeof(*outcome->mark), compare_marks);
	wormhole_net_destroy(net);
	for (uint32_t i = 0; i < the_case->topology->hosts; i++)
		free(trains.queue[i].message);
	free(trains.queue);
}
