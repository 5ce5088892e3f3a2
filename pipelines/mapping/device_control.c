/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "device_control.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_ring.h"
#include "route/route_table.h"

/* Iterations after a frame's arrival until the loop has polled everything that preceded the frame:
 * the rest of the current iteration, and a whole one. */
#define ITERATIONS_BEHIND 2

struct device_frame {
	uint64_t iteration;
	uint32_t port;
	uint32_t reserved;
	uint8_t frame[];
};

struct device_control {
	struct record_ring *up, *down;
	uint32_t frame_bytes;
	void (*ring)(void *ctx); /* NULL: none */
	void *ring_ctx;
	/* Written by the loop. */
	_Alignas(64) atomic_uint_fast64_t iterations;
	atomic_uint_fast64_t linked;
	atomic_bool idle;
	atomic_uint_fast64_t orders_done; /* excludes DEVICE_SEND */
	atomic_bool refused;              /* the last tables were refused */
	atomic_uint_fast64_t refusals;
	atomic_uint_fast64_t dropped_up;
	unsigned news; /* bit i: a frame arrived i iterations ago; loop only */
	/* Written by the control thread only. */
	_Alignas(64) uint64_t orders;
	atomic_uint_fast64_t dropped_down;
};

struct switch_tables *switch_tables_create(uint32_t hosts)
{
	struct switch_tables *tables = calloc(1, sizeof(*tables));

	if (tables == NULL)
		return NULL;
	tables->hosts = hosts;
	tables->port = malloc(hosts + 1u);
	tables->alternatives = calloc(hosts + 1u, sizeof(*tables->alternatives));
	if (tables->port == NULL || tables->alternatives == NULL) {
		switch_tables_destroy(tables);
		return NULL;
	}
	memset(tables->port, ROUTE_TABLE_NONE, hosts);
	return tables;
}

void switch_tables_destroy(struct switch_tables *tables)
{
	if (tables == NULL)
		return;
	free(tables->port);
	free(tables->alternatives);
	vc_rule_destroy(tables->vc_rule);
	free(tables);
}

struct host_tables *host_tables_create(uint16_t hosts)
{
	struct host_tables *tables = calloc(1, sizeof(*tables));

	if (tables == NULL)
		return NULL;
	tables->routes = nic_routes_create(hosts);
	if (tables->routes != NULL)
		return tables;
	free(tables);
	return NULL;
}

void host_tables_destroy(struct host_tables *tables)
{
	if (tables == NULL)
		return;
	nic_routes_destroy(tables->routes);
	queuing_destroy(tables->queuing);
	free(tables);
}

struct device_control *device_control_create(uint32_t frame_bytes, unsigned frames)
{
	struct device_control *control = aligned_alloc(64, sizeof(*control));
	uint32_t order = sizeof(struct device_order);

	if (control == NULL)
		return NULL;
	*control = (struct device_control){
		.frame_bytes = frame_bytes,
		.up = record_ring_create(sizeof(struct device_frame) + frame_bytes, frames),
		.down = record_ring_create(order + frame_bytes, frames + DEVICE_ORDERS_KEPT),
	};
	if (control->up != NULL && control->down != NULL)
		return control;
	device_control_destroy(control);
	return NULL;
}

void device_control_watch(struct device_control *control, void (*ring)(void *ctx), void *ctx)
{
	control->ring = ring;
	control->ring_ctx = ctx;
}

static void free_tables(const struct device_order *order)
{
	switch_tables_destroy(order->of_switch);
	host_tables_destroy(order->of_host);
}

void device_control_destroy(struct device_control *control)
{
	if (control == NULL)
		return;
	if (control->down != NULL) {
		device_control_collect(control);
		for (struct device_order *order; (order = device_control_next(control)) != NULL;
			device_control_done(control))
			free_tables(order);
	}
	record_ring_destroy(control->up);
	record_ring_destroy(control->down);
	free(control);
}

/* Needs no atomic addition: each counter has one writer. */
static void add_one(atomic_uint_fast64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
		memory_order_relaxed);
}

bool device_control_up(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes)
{
	struct device_frame *record = NULL;

	record_ring_reclaim_all(control->up);
	if (bytes <= control->frame_bytes)
		record = record_ring_room(control->up, (uint32_t)sizeof(*record) + bytes, 0, 0);
	if (record == NULL) {
		add_one(&control->dropped_up);
		return false;
	}
	record->iteration = atomic_load_explicit(&control->iterations, memory_order_relaxed);
	record->port = port;
	memcpy(record->frame, frame, bytes);
	record_ring_flush(control->up);
	control->news |= 1;
	return true;
}

void device_control_update(struct device_control *control, uint64_t linked, bool idle)
{
	uint64_t iterations = atomic_load_explicit(&control->iterations, memory_order_relaxed);
	bool changed = linked != device_control_linked(control);

	atomic_store_explicit(&control->linked, linked, memory_order_relaxed);
	atomic_store_explicit(&control->idle, idle, memory_order_relaxed);
	atomic_store_explicit(&control->iterations, iterations + 1, memory_order_release);
	control->news <<= 1;
	if (__builtin_expect(changed || control->news >> ITERATIONS_BEHIND != 0, 0)) {
		control->news &= (1u << ITERATIONS_BEHIND) - 1;
		if (control->ring != NULL)
			control->ring(control->ring_ctx);
	}
}

struct device_order *device_control_next(struct device_control *control)
{
	uint32_t bytes;

	return record_ring_next(control->down, &bytes);
}

void device_control_done(struct device_control *control)
{
	const struct device_order *order = device_control_next(control);

	if (order->kind == DEVICE_COMMIT) {
		atomic_store_explicit(&control->refused, order->refused, memory_order_relaxed);
		if (order->refused)
			add_one(&control->refusals);
	}
	if (order->kind != DEVICE_SEND) {
		uint64_t done = atomic_load_explicit(&control->orders_done, memory_order_relaxed);

		/* The state of the last iteration predates this command. */
		atomic_store_explicit(&control->idle, false, memory_order_relaxed);
		atomic_store_explicit(&control->orders_done, done + 1, memory_order_release);
	}
	record_ring_done(control->down);
}

const uint8_t *device_control_take(struct device_control *control, unsigned *port, unsigned *bytes)
{
	uint32_t length;
	const struct device_frame *record = record_ring_next(control->up, &length);

	if (record == NULL || !device_control_has_iterated(control, record->iteration))
		return NULL;
	*port = record->port;
	*bytes = length - (uint32_t)sizeof(*record);
	return record->frame;
}

void device_control_taken(struct device_control *control)
{
	record_ring_done(control->up);
}

uint64_t device_control_iterations(const struct device_control *control)
{
	return atomic_load_explicit(&control->iterations, memory_order_acquire);
}

bool device_control_has_iterated(const struct device_control *control, uint64_t since)
{
	return device_control_iterations(control) >= since + ITERATIONS_BEHIND;
}

uint64_t device_control_linked(const struct device_control *control)
{
	return atomic_load_explicit(&control->linked, memory_order_relaxed);
}

bool device_control_taken_all(const struct device_control *control)
{
	return record_ring_is_read(control->down);
}

bool device_control_caught_up(const struct device_control *control)
{
	return atomic_load_explicit(&control->orders_done, memory_order_acquire) == control->orders;
}

bool device_control_idle(const struct device_control *control)
{
	return device_control_caught_up(control) &&
	       atomic_load_explicit(&control->idle, memory_order_relaxed);
}

/* Returns space for a command if 'keep' more commands without a frame also fit, or NULL. */
static struct device_order *order_room(
	struct device_control *control, unsigned bytes, unsigned keep)
{
	return record_ring_room(control->down, (uint32_t)sizeof(struct device_order) + bytes, keep,
		sizeof(struct device_order));
}

static bool give(
	struct device_control *control, struct device_order *room, const struct device_order *order)
{
	if (room == NULL) {
		add_one(&control->dropped_down);
		return false;
	}
	*room = *order;
	if (order->kind != DEVICE_SEND)
		control->orders++;
	record_ring_flush(control->down);
	return true;
}

bool device_control_ready(const struct device_control *control)
{
	return record_ring_room(control->down,
		       (uint32_t)sizeof(struct device_order) + control->frame_bytes,
		       DEVICE_ORDERS_KEPT, sizeof(struct device_order)) != NULL;
}

bool device_control_send(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes)
{
	struct device_order order = {.kind = DEVICE_SEND, .port = (uint8_t)port, .bytes = bytes};
	struct device_order *room = NULL;

	if (bytes <= control->frame_bytes)
		room = order_room(control, bytes, DEVICE_ORDERS_KEPT);
	if (room != NULL)
		memcpy(room->frame, frame, bytes);
	return give(control, room, &order);
}

bool device_control_order(struct device_control *control, enum device_order_kind kind)
{
	struct device_order order = {.kind = (uint8_t)kind};

	return give(control, order_room(control, 0, 0), &order);
}

bool device_control_commit(struct device_control *control, struct switch_tables *of_switch,
	struct host_tables *of_host)
{
	struct device_order order = {
		.kind = DEVICE_COMMIT, .of_switch = of_switch, .of_host = of_host};

	return give(control, order_room(control, 0, 0), &order);
}

unsigned device_control_collect(struct device_control *control)
{
	unsigned done = 0;

	for (struct device_order *order; (order = record_ring_reclaim(control->down)) != NULL;
		done++)
		free_tables(order);
	return done;
}

bool device_control_has_refused(const struct device_control *control)
{
	return device_control_caught_up(control) &&
	       atomic_load_explicit(&control->refused, memory_order_relaxed);
}

uint64_t device_control_refusals(const struct device_control *control)
{
	return atomic_load_explicit(&control->refusals, memory_order_relaxed);
}

uint64_t device_control_dropped_up(const struct device_control *control)
{
	return atomic_load_explicit(&control->dropped_up, memory_order_relaxed);
}

uint64_t device_control_dropped_down(const struct device_control *control)
{
	return atomic_load_explicit(&control->dropped_down, memory_order_relaxed);
}
