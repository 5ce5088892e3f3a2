/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_division_control.h"

#include <stdlib.h>
#include <string.h>

#include "poll_control.h"
#include "poll_switch_control.h"

struct poll_division_control *poll_division_control_create(void)
{
	struct poll_division_control *orders = aligned_alloc(64, sizeof(*orders));

	if (orders == NULL)
		return NULL;
	memset(orders, 0, sizeof(*orders));
	for (unsigned shard = 0; shard < SWITCH_SHARDS_MAX; shard++)
		orders->report[shard].idle_from = UINT64_MAX;
	return orders;
}

static void store(uint64_t *place, uint64_t value)
{
	__atomic_store_n(place, value, __ATOMIC_RELEASE);
}

static uint64_t load(const uint64_t *place)
{
	return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/* --- each shard --- */

/* A purge also discards the rest of what other shards had for this one. */
static void purge(struct poll_switch *ps, weft_time now)
{
	poll_switch_accept(ps, now);
	poll_switch_control_purge(ps, now);
}

static void follow(struct poll_switch *ps, weft_time now)
{
	const struct poll_division_control *orders = ps->orders;
	struct poll_part_report *report = &ps->orders->report[ps->shard->number];
	uint64_t given = load(&orders->given);

	if (given == report->done)
		return;
	ps->mapper.paused = orders->paused;
	if (orders->kind == DEVICE_PURGE)
		purge(ps, now);
	else if (orders->kind == DEVICE_COMMIT)
		poll_switch_control_use(ps, orders->tables); /* the first shard could */
	store(&report->done, given);
}

static void tell(struct poll_switch *ps)
{
	struct poll_part_report *report = &ps->orders->report[ps->shard->number];
	bool idle = ps->mapper.paused && poll_switch_control_is_idle(ps) &&
		    switch_shard_is_empty(ps->shard);
	uint64_t iterations = report->iterations + 1;

	if (!idle)
		store(&report->idle_from, UINT64_MAX);
	else if (report->idle_from == UINT64_MAX)
		store(&report->idle_from, iterations);
	store(&report->linked, ps->sw->linked & ps->present);
	store(&report->iterations, iterations);
}

void poll_division_send(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	if ((ps->present & ps->sw->linked & BIT64(at)) == 0 ||
		!tx_queue_has_room(&ps->port[at].tx)) {
		ps->port[at].agent_lost++;
		rte_pktmbuf_free(mbuf);
		return;
	}
	poll_switch_send_own(ps, at, mbuf, now, now);
	ps->port[at].agent_sent++;
}

/* --- the first shard --- */

static void begin_round(struct poll_switch *ps)
{
	for (unsigned shard = 0; shard < ps->shard->division->shards; shard++)
		ps->orders->from[shard] = load(&ps->orders->report[shard].iterations);
}

/* Ends a round if all shards have been through it, and starts the next. */
static void end_round(struct poll_switch *ps)
{
	struct poll_division_control *orders = ps->orders;
	uint64_t linked = 0;
	bool idle = true;

	for (unsigned shard = 0; shard < ps->shard->division->shards; shard++)
		if (load(&orders->report[shard].iterations) < orders->from[shard] + 2)
			return;
	for (unsigned shard = 0; shard < ps->shard->division->shards; shard++) {
		linked |= load(&orders->report[shard].linked);
		idle = idle && load(&orders->report[shard].idle_from) <= orders->from[shard];
	}
	device_control_update(ps->mapper.control, linked, idle);
	orders->rounds++;
	begin_round(ps);
}

/* All shards must execute the current command. */
static void ask(struct poll_switch *ps, const struct device_order *order)
{
	struct poll_division_control *orders = ps->orders;

	orders->kind = order->kind;
	orders->tables = order->of_switch;
	if (order->kind == DEVICE_PAUSE || order->kind == DEVICE_RESUME)
		orders->paused = order->kind == DEVICE_PAUSE;
	orders->asked = true;
	orders->awaited = 0;
	store(&orders->given, orders->given + 1);
}

static bool all_have_done(const struct poll_switch *ps)
{
	for (unsigned shard = 0; shard < ps->shard->division->shards; shard++)
		if (load(&ps->orders->report[shard].done) != ps->orders->given)
			return false;
	return true;
}

/* The previous tables go back with the command: no shard uses them any more. */
static void finish(struct poll_switch *ps, struct device_order *order)
{
	struct switch_tables *tables = order->of_switch;

	ps->orders->asked = false;
	if (order->kind != DEVICE_COMMIT)
		return;
	order->of_switch = ps->mapper.tables;
	ps->mapper.tables = tables;
}

/* A command to all shards is complete when a whole round has passed since each shard executed it,
 * so that the state that the control thread then sees is no older. */
static bool obey_all(struct poll_switch *ps, struct device_order *order)
{
	struct poll_division_control *orders = ps->orders;

	if (!orders->asked && order->kind == DEVICE_COMMIT &&
		poll_switch_control_use(ps, order->of_switch) < 0) {
		order->refused = true;
		return true;
	}
	if (!orders->asked)
		ask(ps, order);
	if (orders->awaited == 0 && all_have_done(ps)) {
		orders->awaited = orders->rounds + 1;
		begin_round(ps);
	}
	if (orders->awaited == 0 || orders->rounds < orders->awaited)
		return false;
	finish(ps, order);
	return true;
}

/* A port of another shard: into the ring, where it takes the place of a control frame. */
static bool send_elsewhere(struct poll_switch *ps, const struct device_order *order)
{
	bool wait = false;
	struct rte_mbuf *mbuf = poll_control_frame(ps->mapper.pool, order, &wait);

	if (mbuf == NULL) {
		ps->port[order->port].agent_lost += !wait;
		return !wait;
	}
	mbuf_packet(mbuf)->in_port = order->port;
	if (switch_shard_hand_own(ps->shard, mbuf_packet(mbuf), order->port))
		return true;
	rte_pktmbuf_free(mbuf);
	return false;
}

static bool obey(void *device, struct device_order *order, weft_time now)
{
	struct poll_switch *ps = device;

	if (order->kind != DEVICE_SEND)
		return obey_all(ps, order);
	if (order->port >= ps->ports || !switch_shard_is_foreign(ps->shard, order->port))
		return poll_switch_control_send(ps, order, now);
	return send_elsewhere(ps, order);
}

void poll_division_control(struct poll_switch *ps, weft_time now)
{
	follow(ps, now);
	tell(ps);
	if (ps->shard->number != 0)
		return;
	end_round(ps);
	poll_control_orders(ps->mapper.control, obey, ps, now);
}
