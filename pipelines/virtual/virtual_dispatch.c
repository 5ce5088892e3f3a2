/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "virtual_dispatch.h"

#include "sim/event_queue.h"
#include "virtual_faults.h"
#include "virtual_trace.h"

/* Distinguishes events at hosts from those at switches. */
#define AT_HOST 4u

static __attribute__((always_inline)) inline void step(
	struct virtual_fabric *fabric, const struct sim_event event)
{
	const bool at_host = virtual_is_host(fabric, event.order);
	const uint32_t device = VIRTUAL_SWITCH(event.order);
	const uint32_t host = virtual_host_of(fabric, event.order);
	const unsigned port = VIRTUAL_PORT(event.order);
	struct weft_packet *packet = &fabric->pool.packet[event.item];

	switch (VIRTUAL_KIND(event.order) | (at_host ? AT_HOST : 0)) {
	case VIRTUAL_ARRIVE:
		virtual_switch_arrive(fabric, device, port, packet, event.at);
		return;
	case VIRTUAL_DONE:
		virtual_switch_done(fabric, device, port, event.at);
		return;
	case VIRTUAL_CREDIT:
		virtual_switch_credit(fabric, device, port, event.item, event.at);
		return;
	case AT_HOST | VIRTUAL_ARRIVE:
		virtual_host_arrive(fabric, host, packet, event.at);
		return;
	case AT_HOST | VIRTUAL_DONE:
		virtual_host_done(fabric, host, event.at);
		return;
	case AT_HOST | VIRTUAL_WAKE:
		if (__builtin_expect(event.item == 0, 1))
			virtual_host_wake(fabric, host, event.at);
		else if (event.item < VIRTUAL_LOST_ITEM)
			virtual_host_lose(fabric, host, event.at);
		else
			virtual_recovery_take_lost(
				fabric, event.order, packet - VIRTUAL_LOST_ITEM, event.at);
		return;
	case VIRTUAL_WAKE:
		virtual_recovery_take_lost(
			fabric, event.order, packet - VIRTUAL_LOST_ITEM, event.at);
		return;
	case AT_HOST | VIRTUAL_CREDIT:
		virtual_host_credit(fabric, host, event.item, event.at);
		return;
	}
}

static inline void look_ahead(struct virtual_fabric *fabric, unsigned from)
{
	if (from == VIRTUAL_LANE_HOST)
		virtual_prefetch_host(fabric);
	else if (from == VIRTUAL_LANE_END)
		virtual_prefetch_end(fabric);
	else if (event_queue_has_begun(fabric->events))
		virtual_prefetch(fabric);
}

/* Only a schedule can lower the limit during the run. */
static __attribute__((always_inline)) inline bool steps(
	struct virtual_fabric *fabric, uint32_t *max, bool schedule)
{
	struct event_queue *events = fabric->events;
	weft_time limit = fabric->limit;
	struct sim_event event;

	for (uint32_t left = *max; left > 0; left--) {
		unsigned from = event_queue_take(events, limit, &event);

		if (__builtin_expect(from == EVENT_NONE, 0)) {
			*max = left;
			return false;
		}
		fabric->now = event.at;
		fabric->order = event.order;
		/* Switch state exceeds the first-level cache in any relevant fabric. */
		if (from == VIRTUAL_LANE_SWITCH) {
			virtual_prefetch_switch(fabric);
			virtual_switch_arrive(fabric, VIRTUAL_SWITCH(event.order),
				VIRTUAL_PORT(event.order), &fabric->pool.packet[event.item],
				event.at);
			continue;
		}
		if (__builtin_expect(fabric->watch != NULL, 0))
			virtual_trace_in(fabric, &event);
		if (fabric->looks_ahead)
			look_ahead(fabric, from);
		step(fabric, event);
		if (schedule)
			limit = fabric->limit;
	}
	return true;
}

bool virtual_dispatch(struct virtual_fabric *fabric, uint32_t *max)
{
	return fabric->replay != NULL ? steps(fabric, max, true) : steps(fabric, max, false);
}
