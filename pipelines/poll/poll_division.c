/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_division.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "poll_control.h"
#include "poll_switch_private.h"
#include "setup/device_config.h"
#include "switch/switch_shard.h"

struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards)
{
	struct poll_division *division = calloc(1, sizeof(*division));

	if (division == NULL)
		return NULL;
	division->orders = poll_division_control_create();
	if (division->orders != NULL)
		division->division = switch_division_create(config, owner, shards);
	if (division->division != NULL)
		return division;
	free(division->orders);
	free(division);
	return NULL;
}

int poll_division_place(
	struct poll_division *division, unsigned number, struct rte_mempool *pool, weft_time now)
{
	int result = switch_shard_create(division->division, number, now);
	struct switch_shard *shard = division->division->shard[number];
	struct poll_switch *ps;

	if (result < 0)
		return result;
	ps = poll_switch_create(shard->sw, pool);
	if (ps == NULL)
		return -ENOMEM;
	ps->shard = shard;
	ps->shards = division->shard;
	ps->orders = division->orders;
	division->shard[number] = ps;
	return 0;
}

void poll_division_connect(struct poll_division *division)
{
	switch_division_connect(division->division);
}

static bool is_complete(const struct poll_division *division)
{
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		if (division->shard[shard] == NULL)
			return false;
	return true;
}

void poll_division_set_control(
	struct poll_division *division, struct device_control *control, struct rte_mempool *pool)
{
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		poll_switch_set_control(division->shard[shard], control, pool);
}

void poll_division_destroy(struct poll_division *division)
{
	if (division == NULL)
		return;
	if (is_complete(division))
		switch_division_drain(division->division);
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		poll_switch_destroy(division->shard[shard]);
	switch_division_destroy(division->division);
	free(division->orders);
	free(division);
}

/* Returns the shard with the fewest ports on 'socket', or on any socket if 'socket' is negative. */
static unsigned min(const unsigned *dealt, const int *part_socket, unsigned shards, int socket)
{
	unsigned found = shards;

	for (unsigned shard = 0; shard < shards; shard++)
		if ((socket < 0 || part_socket[shard] == socket) &&
			(found == shards || dealt[shard] < dealt[found]))
			found = shard;
	return found;
}

/* Gives each shard without a port one from the shard with the most. */
static void fill_empty(uint8_t *owner, unsigned ports, unsigned *dealt, unsigned shards)
{
	for (unsigned shard = 0; shard < shards; shard++) {
		unsigned max = 0, port = ports;

		for (unsigned other = 1; other < shards; other++)
			if (dealt[other] > dealt[max])
				max = other;
		if (dealt[shard] != 0 || dealt[max] < 2)
			continue;
		while (owner[--port] != max)
			;
		owner[port] = (uint8_t)shard;
		dealt[shard]++;
		dealt[max]--;
	}
}

void poll_division_deal(uint8_t *owner, const int *port_socket, unsigned ports,
	const int *part_socket, unsigned shards)
{
	unsigned dealt[SWITCH_SHARDS_MAX] = {0};

	for (unsigned port = 0; port < ports; port++) {
		unsigned shard = min(dealt, part_socket, shards, port_socket[port]);

		if (shard == shards)
			shard = min(dealt, part_socket, shards, -1);
		owner[port] = (uint8_t)shard;
		dealt[shard]++;
	}
	fill_empty(owner, ports, dealt, shards);
}

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

/* --- every shard --- */

/* A purge also discards packets that other shards have passed to this one. */
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
		device_use_tables(ps->sw,
			orders->tables); /* cannot fail: the first shard has already used them */
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
	store(&report->linked, port_set_word(ps->sw->linked & ps->present, 0));
	store(&report->iterations, iterations);
}

/* Sends a frame of the first shard's agent through a port of this shard, or discards it. */
static void poll_division_send(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	if (!port_set_has(ps->present & ps->sw->linked, at) ||
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

/* Ends a round if all shards have completed it, and starts the next. */
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

/* Passes the current command to all shards. */
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

/* Returns the previous tables with the command, because no shard uses them any more. */
static void finish(struct poll_switch *ps, struct device_order *order)
{
	struct switch_tables *tables = order->of_switch;

	ps->orders->asked = false;
	if (order->kind != DEVICE_COMMIT)
		return;
	order->of_switch = ps->mapper.tables;
	ps->mapper.tables = tables;
}

/* A command to all shards is complete when a whole round has passed since each shard executed it.
 * The state that the control thread then reads is therefore not older. */
static bool obey_all(struct poll_switch *ps, struct device_order *order)
{
	struct poll_division_control *orders = ps->orders;

	if (!orders->asked && order->kind == DEVICE_COMMIT &&
		device_use_tables(ps->sw, order->of_switch) < 0) {
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

/* Sends through another shard's port: the frame is passed over the ring, like a control frame. */
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

/* Packets that a shard takes from other shards. */

/* Prefetches the mbuf, which another core wrote and whose fields drivers read. */
static inline void prefetch_mbuf(struct weft_packet *packet)
{
	const struct rte_mbuf *mbuf = packet_mbuf(packet);

	rte_prefetch0(mbuf);
	rte_prefetch0(&mbuf->next);
}

/* Handles an entry as if the packet had arrived in this shard on the same input. */
static inline void accept_entry(
	struct poll_switch *ps, unsigned from, const struct shard_entry *entry, weft_time now)
{
	if (switch_shard_is_own(entry)) {
		switch_shard_take_own(ps->shard, from);
		poll_division_send(ps, entry->output, packet_mbuf(entry->packet), now);
		return;
	}
	if (!switch_shard_pass(ps->shard, entry, ps->direct)) {
		switch_shard_accept(ps->shard, from, entry, now);
		return;
	}
	poll_switch_append(ps, entry->output, packet_mbuf(entry->packet), entry->bytes, entry->vc);
	ps->filled |= port_set_of(entry->output);
}

/* Accepts at most a burst at a time, because the outputs' arrays have that size. */
static void accept_burst(struct poll_switch *ps, unsigned from, unsigned count, weft_time now)
{
	struct shard_ring *ring = &ps->shard->in[from];
	unsigned input = shard_ring_at(ring, 0)->input;

	for (uint32_t i = 0; i < count; i++)
		prefetch_mbuf(shard_ring_at(ring, i)->packet);
	for (uint32_t i = 0; i < count; i++) {
		const struct shard_entry *entry = shard_ring_at(ring, i);

		if (entry->input != input)
			poll_switch_flush(ps, input, now);
		input = entry->input;
		accept_entry(ps, from, entry, now);
	}
	shard_ring_take(ring, count);
	poll_switch_flush(ps, input, now);
}

/* Accepts all waiting entries. Those that arrive meanwhile are left to the next iteration. */
static unsigned accept_ring(struct poll_switch *ps, unsigned from, weft_time now)
{
	unsigned waiting = shard_ring_waiting(&ps->shard->in[from]);

	for (unsigned left = waiting, count; left > 0; left -= count) {
		count = RTE_MIN(left, PORT_BURST);
		accept_burst(ps, from, count, now);
	}
	return waiting;
}

unsigned poll_switch_accept(struct poll_switch *ps, weft_time now)
{
	unsigned shards = ps->shard->division->shards, moved = 0;

	switch_shard_pull(ps->shard);
	for (unsigned from = 0; from < shards; from++)
		if (from != ps->shard->number)
			moved += accept_ring(ps, from, now);
	if (ps->sw->for_agent != NULL)
		poll_switch_control_up(ps);
	return moved;
}
